"""The report's numbers for parts of the window: by settings, model, actor, surface or scope."""

from typing import cast

import pandas as pd
import streamlit as st

from medir.page_kit.address import choice_parameter
from medir.page_kit.choosing import draw_rows, draw_words
from medir.page_kit.figures import draw_figure
from medir.page_kit.signs import theme
from medir.pages.report import words
from medir.pages.report.filters import KEYS, key_name
from rag_core.figures.report import precision_by_part
from rag_core.report.numbers import Part, Report, SplitName
from rag_core.report.words import undivided
from rag_core.words.numbers import measured, share

_NAMES: tuple[SplitName, ...] = ("settings", "model", "actor", "surface", "scope")
BY = choice_parameter("by", _NAMES)
_DRAWN = 20


def draw_splits(report: Report) -> None:
    """One split as a figure and a table; a selected row lists its searches."""
    st.subheader("Parts of the window", anchor=False)
    draw_words("By", BY, {name: name for name in _NAMES}, key="report-by")
    name = cast("SplitName", BY.read())
    parts = report.splits[name]
    if not report.is_parted(name):
        st.text(undivided(name, [key_name(name, key, report) for key, _ in parts]))
        return
    # the largest first: of forty actors, those whose numbers say most
    largest = sorted(parts, key=lambda entry: (-entry[1].searches, entry[0]))
    figure, table = st.columns([3, 5], gap="large")
    with figure:
        drawn = [(key_name(name, key, report), part) for key, part in largest[:_DRAWN]]
        draw_figure(
            precision_by_part(drawn, theme(), title=f"Precision@5 by {name}"), key="report-split-figure"
        )
    with table:
        _draw_table(name, largest, report)
    if name == "scope":
        st.caption("A search counts in each scope that it asked for.")


def _draw_table(name: SplitName, parts: list[tuple[str, Part]], report: Report) -> None:
    keys, chosen = [key for key, _ in parts], KEYS[name]
    draw_rows(
        pd.DataFrame([{name: key_name(name, key, report)} | _cells(part) for key, part in parts]),
        keys,
        chosen,
        name=f"report-split-{name}",
        columns={
            counts: st.column_config.NumberColumn(format="localized") for counts in ("searches", "votes")
        },
    )
    st.caption("Select a row to list its searches below.")


def _cells(part: Part) -> dict[str, object]:
    five, total = part.precision[5], part.latency["total"]
    return {
        "searches": part.searches,
        "precision@5": measured(five.value, 2),
        "95 %": words.from_to(five),
        "votes": five.votes,
        "no hit": share(part.no_hit, part.searches),
        "degraded": share(part.degraded, part.searches),
        "p50 ms": measured(total.p50, 1),
        "p95 ms": measured(total.p95, 1),
    }
