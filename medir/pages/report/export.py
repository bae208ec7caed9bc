"""The report as files: what the page shows, in forms that other programs and people read."""

import json
from collections.abc import Callable

import streamlit as st

from medir.contract.report import ReportAnswer
from medir.page_kit.services import asks_again
from rag_core.formats.report_csv import report_csv
from rag_core.formats.report_html import report_html
from rag_core.report.numbers import Report

_FORMS: tuple[tuple[str, str, str, Callable[[Report], str]], ...] = (
    (
        "JSON",
        "json",
        "application/json",
        lambda report: json.dumps(ReportAnswer.of(report).to_json(), ensure_ascii=False, indent=2),
    ),
    ("CSV, one number a row", "csv", "text/csv", report_csv),
    ("HTML, one file with its figures", "html", "text/html", report_html),
)


def draw_export(report: Report) -> None:
    """A download for each form, made when it is asked for."""
    name = f"medir-rag-{report.project_id}-{report.start:%Y%m%d%H%M}-{report.end:%Y%m%d%H%M}"
    with st.popover("Export", icon=":material/download:", key="report-export"):
        for label, ending, mime, make in _FORMS:
            st.download_button(
                label,
                data=_maker(make, report),
                file_name=f"{name}.{ending}",
                mime=mime,
                key=f"export-{ending}",
                on_click="ignore",
                width="stretch",
            )
        st.caption("The address holds these times and choices: pass it on to show the same.")


def _maker(make: Callable[[Report], str], report: Report) -> Callable[[], str]:
    ask = asks_again()

    def made() -> str:
        ask()
        return make(report)

    return made
