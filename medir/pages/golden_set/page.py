"""Golden set: did something break, and why? Verdict first, then the cases, then one case explained."""

from pathlib import Path

import streamlit as st

from medir.page_kit import reads, states
from medir.page_kit.address import choice_parameter, settle, text_parameter
from medir.page_kit.choosing import draw_box, draw_words, known
from medir.page_kit.frame import Frame, frame
from medir.page_kit.guard import guarded
from medir.page_kit.settings_differ import draw_settings_differ
from medir.page_kit.signs import LOST, WON
from medir.pages.golden_set.against import Against, choose_baseline, draw_choice, held_against
from medir.pages.golden_set.explanation import draw_explanation
from medir.pages.golden_set.floor import draw_history, draw_raise
from medir.pages.golden_set.rows import SHOWN, CaseRow, RunInView, case_rows, filtered
from medir.pages.golden_set.running import GOLDEN, draw_controls
from medir.pages.golden_set.table import draw_table
from medir.pages.golden_set.verdict import draw_ground, draw_verdict
from rag_core.evaluation.history import GoldenRecord
from rag_core.golden.baseline_file import Baseline
from rag_core.golden.cases import SPLITS, GoldenSet
from rag_core.project.staleness import is_of_today, told_standing
from rag_core.settings.golden_folder import cases_file
from rag_core.words.plurals import counted

SHOW = choice_parameter("show", SHOWN)
SPLIT = choice_parameter("split", ("", *SPLITS))
TAG = text_parameter("tag", at_most=200)
CASE = text_parameter("case", at_most=200)
RUN = text_parameter("run", at_most=36)
AGAINST = text_parameter("against", at_most=100)
_SHOWN_AS = {show: {"lost": f"{LOST} lost", "won": f"{WON} won"}.get(show, show) for show in SHOWN}


def draw_page() -> None:
    """The page, from its inputs to its address."""
    view = frame()
    file = cases_file(view.project)
    if view.overview is None:
        states.draw_not_indexed(view)
    elif not file.is_file():
        states.draw_no_cases(file)
    else:
        _draw_set(view, file)
    settle(SHOW, SPLIT, TAG, CASE, RUN, AGAINST)


def _draw_set(view: Frame, file: Path) -> None:
    golden, faults = reads.golden_set(view.project, file, view.version)
    if faults:
        states.draw_faults(faults, file)
    records = reads.golden_history(view.project, str(file), view.version)
    entry = choose_baseline(view, AGAINST)
    baseline = entry.baseline if entry else None
    record = _record_in_view(records) if records else None
    against = held_against(view, record, records, golden, baseline) if record else None
    seen = _in_view(view, record, golden, against) if record else None
    if seen is None:
        states.draw_no_run()
        draw_settings_differ(view)
    else:
        draw_verdict(seen, against)
        draw_ground(view, golden, seen, against)
    draw_controls(view, GOLDEN.last(view), baseline, can_run=not faults)
    if seen is not None:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            _draw_runs(records)
            draw_choice(view, AGAINST)
        _draw_cases(view, file, seen, baseline)
        draw_history(records)
        if seen.run is records[0]:
            draw_raise(view, file, passed=seen.run.passed, floor=seen.floor)


def _record_in_view(records: list[GoldenRecord]) -> GoldenRecord:
    by_id = {str(record.id): record for record in records}
    chosen = known(RUN, by_id)
    return by_id[chosen] if chosen else records[0]


def _in_view(view: Frame, run: GoldenRecord, golden: GoldenSet | None, against: Against | None) -> RunInView:
    result = reads.golden_result(view.project, str(run.id))
    return RunInView(
        run=run,
        rows=case_rows(
            result,
            against.passed if against else None,
            golden,
            changed=against.changed if against else (),
        ),
        floor=golden.floor if golden else run.floor,
        standing=told_standing(result),
        of_today=is_of_today(result),
    )


def _draw_filters(rows: tuple[CaseRow, ...]) -> tuple[CaseRow, ...]:
    tags = sorted({tag for row in rows for tag in row.tags})
    known(TAG, tags)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        draw_words("Show", SHOW, _SHOWN_AS, key="show-cases", labelled=True)
        for label, parameter, options in (("Tag", TAG, tags), ("Split", SPLIT, SPLITS)):
            key = f"{parameter.name}-cases"
            draw_box(label, parameter, options, key=key, width=180, name_of=lambda option: option or "all")
    return filtered(rows, show=SHOW.read(), tag=TAG.read(), split=SPLIT.read())


def _draw_cases(view: Frame, file: Path, seen: RunInView, baseline: Baseline | None) -> None:
    shown = _draw_filters(seen.rows)
    passed = {row.id: row.passed for row in seen.rows}
    chosen = known(CASE, passed)
    table, beside = st.columns([6, 5], gap="large") if chosen else (st.container(), None)
    with table:
        if shown:
            draw_table(shown, CASE, limit=seen.limit, vector_ran=seen.vector_ran, beside=bool(chosen))
        else:
            st.text("No case is like that.")
        st.caption(f"{len(shown)} of {counted(len(seen.rows), 'case')}. Select a row to see why.")
    if beside is not None:
        with beside, guarded("case-explanation"):
            draw_explanation(
                reads.explanation(view.project, chosen, file, view.version, baseline),
                recorded=passed[chosen],
            )


def _draw_runs(records: list[GoldenRecord]) -> None:
    names = {
        str(record.id): f"{record.started_at:%d %b %H:%M:%S} UTC, {record.passed} of {record.total}"
        for record in records
    }
    draw_box(
        "Run in view",
        RUN,
        names,
        key="run-in-view",
        width=320,
        name_of=lambda run_id: names.get(run_id, "the last one"),
    )


draw_page()
