"""The searches behind a number, page by page, and one of them with its hits and votes."""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

import pandas as pd
import streamlit as st

from medir.page_kit.address import id_parameter
from medir.page_kit.choosing import draw_rows
from medir.page_kit.frame import Frame
from medir.page_kit.signs import DASH, WON
from medir.pages.report import reads as report_reads
from medir.pages.report.filters import chosen_filter
from medir.pages.report.one_search import draw_search
from medir.pages.report.window import FROM, LAST, TO
from rag_core.model import Window
from rag_core.report.searches import SearchFilter, SearchLine
from rag_core.search.excerpts import cut_short

_PAGE = 25
_CELL_CHARS = 160
_ROW_PX = 35
_TURNED = "report-pages"


SEARCH = id_parameter("search")


def draw_list(view: Frame, window: Window) -> None:
    """A page of the searches that are chosen, the newest first; a selected one below it."""
    chosen = chosen_filter()
    turned = _pages_turned(view, chosen, synthetic=window.synthetic)
    # one more than is shown tells whether there is another page
    found = report_reads.page(view, window, chosen, turned[-1] if turned else None, count=_PAGE + 1)
    lines = found[:_PAGE]
    if lines:
        _draw_table(lines, ZoneInfo(window.zone))
    else:
        st.text("No search is like that.")
    _draw_turning(turned, lines, window.zone, more=len(found) > _PAGE)
    if SEARCH.read():
        draw_search(view, SEARCH, window.zone)


def _pages_turned(view: Frame, chosen: SearchFilter, *, synthetic: bool) -> list[SearchLine]:
    """The last line of each page that was turned over; none once something else is chosen."""
    context = (view.project.project_id, FROM.read(), TO.read(), LAST.read(), synthetic, chosen)
    kept: tuple[object, list[SearchLine]] | None = st.session_state.get(_TURNED)
    if kept is None or kept[0] != context:
        kept = (context, [])
        st.session_state[_TURNED] = kept
    return kept[1]


def _draw_turning(
    turned: list[SearchLine], lines: Sequence[SearchLine], zone_name: str, *, more: bool
) -> None:
    first = len(turned) * _PAGE + 1
    with st.container(horizontal=True, vertical_alignment="center"):
        if turned:
            st.button(
                "Newer",
                key="report-newer",
                icon=":material/chevron_left:",
                type="tertiary",
                on_click=_turn_back,
                args=(turned,),
            )
        if lines:
            st.caption(
                f"{first} to {first + len(lines) - 1}, the newest first; times in {zone_name}. "
                "Select one to see its hits."
            )
        if more:
            st.button(
                "Older",
                key="report-older",
                icon=":material/chevron_right:",
                type="tertiary",
                on_click=turned.append,
                args=(lines[-1],),
            )


def _turn_back(turned: list[SearchLine]) -> None:
    turned.pop()


def _draw_table(lines: Sequence[SearchLine], zone: ZoneInfo) -> None:
    draw_rows(
        pd.DataFrame([_cells(line, zone) for line in lines]),
        [str(line.id) for line in lines],
        SEARCH,
        name="report-searches",
        height=_ROW_PX * (len(lines) + 1) + 3,
        columns={
            "asked": st.column_config.TextColumn("asked", width=150),
            "question": st.column_config.TextColumn("question", width=360),
            "state": st.column_config.TextColumn("state", width=130),
            "useful": st.column_config.TextColumn(
                f"{WON} useful", help="Useful votes of all votes on its hits"
            ),
        },
    )


def _cells(line: SearchLine, zone: ZoneInfo) -> dict[str, object]:
    states = [
        name
        for name, holds in (
            ("degraded", line.degraded),
            ("no hit", not line.hit_count),
            ("synthetic", line.synthetic),
        )
        if holds
    ]
    return {
        "asked": f"{line.asked_at.astimezone(zone):%Y-%m-%d %H:%M:%S}",
        "question": cut_short(line.question, at_most=_CELL_CHARS),
        "hits": line.hit_count,
        "useful": f"{line.useful} of {line.votes}" if line.votes else DASH,
        "ms": round(line.latency_ms, 1),
        "state": ", ".join(states),
        "actor": line.actor,
        "surface": line.surface,
        "scopes": ", ".join(line.scopes),
        "settings": line.settings_id[:8],
    }
