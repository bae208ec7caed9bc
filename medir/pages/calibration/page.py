"""Calibration: which numbers, and how sure can I be? Verdict first, then numbers and the picture that they move."""

from pathlib import Path

import streamlit as st

from medir.page_kit import reads, states
from medir.page_kit.address import choice_parameter, settle
from medir.page_kit.choosing import draw_words
from medir.page_kit.frame import Frame, frame
from medir.page_kit.guard import guarded
from medir.page_kit.parts import fragment
from medir.page_kit.settings_differ import draw_settings_differ
from medir.pages.calibration.adopting import (
    draw_adopt_button,
    draw_adopting,
    draw_freeze,
    draw_freezing_failure,
    draw_told,
)
from medir.pages.calibration.cases import draw_cases
from medir.pages.calibration.choices import BASELINE, METRIC, TAG, draw_choices, draw_start, draw_tags
from medir.pages.calibration.evidence import PRICE, draw_measures, draw_rivals, draw_signals
from medir.pages.calibration.numbers import NUMBERS, draw_numbers
from medir.pages.calibration.picture import draw_at_hand, draw_curve, draw_map
from medir.pages.calibration.running import (
    CALIBRATION,
    Kept,
    draw_failure,
    ended,
    ground_of,
    is_for,
    kept_for,
    prepare_calibration,
    runs_for,
)
from medir.pages.calibration.scene import build_scene
from medir.pages.calibration.states import draw_made_from, draw_not_calibrated, draw_recorded
from medir.pages.calibration.verdict import draw_verdict
from rag_core.golden.baseline_file import Baseline
from rag_core.metrics.measures import Measure, parse_measure
from rag_core.model import SearchSettings
from rag_core.settings.golden_folder import cases_file

_PARTS = {"cases": "Cases", "measures": "Measures", "rivals": "Rivals", "signals": "Signals and threshold"}
PART = choice_parameter("evidence", tuple(_PARTS))
CHOSEN = (METRIC, BASELINE, TAG, PART, PRICE, *NUMBERS)


def draw_page() -> None:
    """The page, from its inputs to its address."""
    view = frame()
    file = cases_file(view.project)
    draw_told()
    if view.overview is None:
        states.draw_not_indexed(view)
    elif not file.is_file():
        states.draw_no_cases(file)
    else:
        _draw_calibration(view, file, view.overview.in_force.settings)
    settle(*CHOSEN)


def _draw_calibration(view: Frame, file: Path, in_force: SearchSettings) -> None:
    golden, faults = reads.golden_set(view.project, file, view.version)
    if faults or golden is None:
        states.draw_faults(faults, file)
        return
    measure = parse_measure(METRIC.read())
    ground = ground_of(view, golden)
    prepare_calibration()
    runs = runs_for(view, ground, measure)
    kept = kept_for(runs, ground)
    if kept is not None and kept.found.demands.measure == measure:
        draw_made_from(view, kept.run, ground)
        draw_verdict(kept, in_force)
    elif kept is None and runs and is_for(runs[0], measure):
        draw_made_from(view, runs[0], ground)
        draw_recorded(runs[0], ground)
    else:
        draw_not_calibrated(measure, kept, next(iter(ended(view)), None), ground)
    draw_settings_differ(view)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        baseline = draw_choices(view, kept, measure)
        draw_freeze(view)
    _draw_run(view, kept, measure)
    draw_freezing_failure(view)
    if kept is not None:
        _draw_workspace(kept, measure, baseline, in_force)
        with guarded("calibration-adopting"):
            draw_adopting(view, build_scene(kept, measure, baseline, in_force), in_force, floor=golden.floor)


@fragment()
def _draw_run(view: Frame, kept: Kept | None, measure: Measure) -> None:
    """The button that begins a calibration, or the progress of one: a run of its own, which draws nothing else."""
    with guarded("calibration-run"):
        last = CALIBRATION.last(view)
        if CALIBRATION.is_going(view, last):
            CALIBRATION.follow(view)
            return
        draw_start(view, kept, measure)
        draw_failure(view, last)


@fragment()
def _draw_workspace(
    kept: Kept, measure: Measure, baseline: Baseline | None, in_force: SearchSettings
) -> None:
    """Numbers and picture: a run of its own, so that a slider moves nothing else."""
    with guarded("calibration-workspace"):
        scene = build_scene(kept, measure, baseline, in_force)
        numbers, picture = st.columns([2, 5], gap="large")
        with numbers, st.container(border=True, key="calibration-numbers"):
            draw_numbers(kept.found, scene.at_hand, scene.starts, scene.shown)
            draw_adopt_button(scene, in_force)
        with picture:
            with st.container(
                horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"
            ):
                draw_at_hand(scene)
                tag = draw_tags(kept)
            draw_curve(scene, tag)
            draw_map(scene)
        draw_words("Evidence", PART, _PARTS, key="calibration-part")
        with guarded(PART.read()):
            draw = {"measures": draw_measures, "rivals": draw_rivals, "signals": draw_signals}
            draw.get(PART.read(), draw_cases)(scene)
    settle(*CHOSEN)


draw_page()
