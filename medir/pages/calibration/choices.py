"""What is calibrated for, against what, and with which tag drawn beside: chosen above the picture."""

import streamlit as st

from medir.page_kit.address import Parameter, text_parameter
from medir.page_kit.baselines import baselines_in
from medir.page_kit.choosing import draw_box, known
from medir.page_kit.frame import Frame
from medir.pages.calibration.evidence import PRICE
from medir.pages.calibration.picture import tags_of
from medir.pages.calibration.running import Kept, start_calibration
from medir.pages.calibration.scene import measures_of
from rag_core.errors import InvalidInput
from rag_core.evaluation.baselines import baselines_folder
from rag_core.evaluation.calibrations import Demands
from rag_core.golden.baseline_file import Baseline
from rag_core.metrics.measures import PASSED, Measure, parse_measure


def _measure(text: str) -> str | None:
    try:
        return str(parse_measure(text))
    except InvalidInput:
        return None


METRIC: Parameter[str] = Parameter(
    "metric", str(PASSED), _measure, lambda value: None if value == str(PASSED) else value
)
BASELINE = text_parameter("baseline", at_most=100)
TAG = text_parameter("of-tag", at_most=200)


def draw_choices(view: Frame, kept: Kept | None, measure: Measure) -> Baseline | None:
    """What is calibrated for, and against what; the baseline that is chosen."""
    drawn = [str(each) for each in measures_of(kept.found, measure)] if kept else [str(PASSED)]
    st.selectbox(
        "Work for",
        list(dict.fromkeys([*drawn, str(measure)])),
        key="calibration-metric",
        on_change=METRIC.mirror("calibration-metric"),
        width=150,
        help="The measure that is drawn and chosen by. passed: the share of all cases that pass, as the floor counts.",
    )
    entries = {entry.name: entry for entry in baselines_in(baselines_folder(view.project))}
    sound = [name for name, entry in entries.items() if entry.baseline is not None]
    chosen = known(BASELINE, sound)
    own = "the settings from before" if kept is not None and kept.settings_moved else "today's settings"
    draw_box(
        "Compare with",
        BASELINE,
        sound,
        key="calibration-baseline",
        width=200,
        name_of=lambda name: f"baseline {name}" if name else own,
        told="What is won and lost is counted against it." if sound else "No baseline is frozen yet.",
    )
    return entries[chosen].baseline if chosen else None


def draw_start(view: Frame, kept: Kept | None, measure: Measure) -> None:
    """The button that begins a calibration for the chosen measure."""
    done = kept is not None and not kept.settings_moved and kept.found.demands.measure == measure

    def start() -> None:
        price = PRICE.read()
        demands = Demands(measure=measure) if price is None else Demands(measure=measure, price=price)
        start_calibration(view, demands)

    st.button(
        "Calibrate again" if done else "Calibrate",
        key="calibrate",
        type="secondary" if done else "primary",
        icon=":material/tune:",
        help="Fetches the candidates of every case once, and tries the choice on cases that took no part in it. "
        "Writes no search.",
        on_click=start,
    )


def draw_tags(kept: Kept) -> str:
    """A picker of tags where the set has any; the one that is chosen, empty for none."""
    tags = tags_of(kept.found.golden.cases)
    known(TAG, tags)
    if tags:
        draw_box(
            "Also draw the cases with the tag",
            TAG,
            tags,
            key="calibration-tag",
            width=240,
            name_of=lambda tag: tag or "none",
        )
    return TAG.read()
