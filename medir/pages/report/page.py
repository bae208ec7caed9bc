"""Report: how is the search doing? Its answer and four numbers, then figures, parts, and the searches behind them."""

import dataclasses

import streamlit as st

from medir.page_kit import states
from medir.page_kit.address import choice_parameter, settle
from medir.page_kit.frame import Frame, frame
from medir.page_kit.guard import guarded
from medir.pages.report import reads as report_reads
from medir.pages.report.export import draw_export
from medir.pages.report.figures import draw_figures
from medir.pages.report.filters import FILTERS, draw_filters
from medir.pages.report.head import draw_changes, draw_headline, draw_nothing, draw_numbers
from medir.pages.report.searches import SEARCH, draw_list
from medir.pages.report.splits import BY, draw_splits
from medir.pages.report.window import TIMES, draw_window, window_in_view
from rag_core.model import Window
from rag_core.report.changes import changes
from rag_core.report.numbers import Report

SYNTHETIC = choice_parameter("synthetic", ("", "counted"))


def draw_page() -> None:
    """The page, from its inputs to its address."""
    view = frame()
    window = window_in_view()
    if view.overview is None and view.version.asked_at is None:
        states.draw_not_indexed(view)
    else:
        _draw_report(view, window)
    settle(*TIMES, SYNTHETIC, BY, *FILTERS, SEARCH)


def _draw_report(view: Frame, window: Window) -> None:
    above, controls = st.container(), st.container(horizontal=True, vertical_alignment="center")
    with controls:
        draw_window(window)
        window = dataclasses.replace(window, synthetic=_draw_synthetic())
    report = report_reads.report(view, window)
    with controls:
        draw_export(report)
    with above:
        draw_headline(report)
    if not report.whole.searches:
        draw_nothing(view.project.project_id, synthetic_left_out=not window.synthetic)
        return
    with guarded("numbers"):
        before = report_reads.report(view, window.before)
        draw_numbers(report, before)
        if report_reads.is_slow():
            st.caption("A window of many searches: its numbers are read once a minute at most.")
        draw_changes(changes(report, before, report_reads.index_times(view)), before)
    with guarded("figures"):
        draw_figures(report, report_reads.curve(view, window))
    with guarded("splits"):
        draw_splits(report)
    with guarded("searches"):
        _draw_searches(view, window, report)


def _draw_searches(view: Frame, window: Window, report: Report) -> None:
    st.subheader("Searches", anchor=False)
    draw_filters(report)
    draw_list(view, window)


def _draw_synthetic() -> bool:
    st.session_state["report-synthetic-on"] = SYNTHETIC.read() == "counted"

    def flip() -> None:
        SYNTHETIC.choose("counted" if st.session_state["report-synthetic-on"] else "")

    st.toggle(
        "Count synthetic rows",
        key="report-synthetic-on",
        on_change=flip,
        help="Rows made by benches and demonstrations; left out unless asked for.",
    )
    return SYNTHETIC.read() == "counted"


draw_page()
