"""What the index contains: its files and sessions, one of them with its chunks, and who was shown a chunk."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from medir.page_kit.address import Parameter, choice_parameter, refuse, text_parameter
from medir.page_kit.choosing import draw_rows, draw_table, draw_words
from medir.page_kit.frame import Frame
from medir.page_kit.signs import DASH, FAILED, LOST, WON, model_name
from medir.pages.index import reads as index_reads
from medir.pages.index.coverage import SCOPE_NAMES
from medir.pages.index.document_outline import draw_outline, told_of, trail_of
from rag_core.index.reading import (
    PAGE_CHUNKS,
    SEARCHES_LOOKED_AT,
    ChunkPage,
    IndexedPlace,
    first_of_page,
)
from rag_core.model import ALL_SCOPES, Place, Scope
from rag_core.search.excerpts import cut_short

_CELL_CHARS = 300
_LIST_HEIGHT = 460
_ROWS_SEEN = 12


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 9 and int(text) > 0 else None


SCOPE = choice_parameter("within", ("", *map(str, ALL_SCOPES)))
FIND = text_parameter("find", at_most=200)
PLACE = text_parameter("place", at_most=4096)
CHUNK = text_parameter("chunk", at_most=36)
FIRST = Parameter("first", 1, _number, lambda number: None if number == 1 else str(number))
BROWSED = (SCOPE, FIND, PLACE, CHUNK, FIRST)


def draw_browser(view: Frame) -> None:
    """The list of places, and beside it the one that was chosen."""
    _follow_chunk(view)
    _draw_filters()
    scope = Scope(SCOPE.read()) if SCOPE.read() else None
    places, total = index_reads.places(view.project, scope, FIND.read().strip(), view.version)
    page = _chosen_page(view)
    listed, beside = st.columns([4, 6], gap="large") if page else (st.container(), None)
    with listed:
        _draw_places(places, total, narrow=page is not None)
    if page is not None and beside is not None:
        with beside:
            _draw_place(view, page)


def _follow_chunk(view: Frame) -> None:
    """A link may name a chunk alone: its place and page are found for it. Another place that stands goes first."""
    chosen = CHUNK.read()
    if not chosen:
        return
    found = index_reads.location(view.project, chosen, view.version)
    if found is None:
        refuse(CHUNK, chosen)
        return
    place, number = found
    asked = PLACE.read()
    if asked not in ("", str(place)) and _page(view, asked, 1).chunks:
        CHUNK.choose("")
    elif (asked, FIRST.read()) != (str(place), first_of_page(number)):
        PLACE.choose(str(place))
        FIRST.choose(first_of_page(number))


def _draw_filters() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        draw_words("Scope", SCOPE, {"": "everything", **SCOPE_NAMES}, key="browser-scope", labelled=True)
        st.text_input(
            "Name contains",
            key="browser-find",
            max_chars=200,
            icon=":material/filter_list:",
            on_change=FIND.mirror("browser-find"),
            width=320,
        )


def _chosen_page(view: Frame) -> ChunkPage | None:
    chosen = PLACE.read()
    if not chosen:
        return None
    page = _page(view, chosen, first_of_page(FIRST.read()))
    if not page.chunks and FIRST.read() > 1:
        FIRST.choose(1)
        page = _page(view, chosen, 1)
    if not page.chunks:
        refuse(PLACE, chosen)
        return None
    return page


def _page(view: Frame, place: str, first: int) -> ChunkPage:
    return index_reads.chunk_page(view.project, Place.parse(place), first, view.version)


def _draw_places(places: Sequence[IndexedPlace], total: int, *, narrow: bool) -> None:
    if not places:
        st.text("No file or session of the index is named like that.")
        return
    names = [str(entry.place) for entry in places]

    def begin() -> None:
        CHUNK.choose("")
        FIRST.choose(1)

    draw_rows(
        pd.DataFrame(
            [
                {
                    "place": name,
                    "title": cut_short(entry.title or "", at_most=_CELL_CHARS),
                    "chunks": entry.chunks,
                    "characters": entry.chars,
                    "no vector": f"{FAILED} {entry.without_vector}" if entry.without_vector else "",
                }
                for name, entry in zip(names, places, strict=True)
            ]
        ),
        names,
        PLACE,
        name="browser-places",
        height=_LIST_HEIGHT if len(places) > _ROWS_SEEN else "content",
        order=("place", "chunks", "no vector") if narrow else None,
        also=begin,
        columns={
            "place": st.column_config.TextColumn("file or session", width="medium" if narrow else "large"),
            "title": st.column_config.TextColumn("title", width="medium"),
            "chunks": st.column_config.NumberColumn("chunks", width=70),
            "characters": st.column_config.NumberColumn(
                "characters",
                format="localized",
                width=100,
                help="Of all its chunks; what they repeat counts twice",
            ),
            "no vector": st.column_config.TextColumn("no vector", width=80),
        },
    )
    more = f" of {total:,}; filter to see others" if total > len(places) else ""
    st.caption(f"Listed: {len(places):,}{more}. Select a row to see its chunks.")


def _draw_place(view: Frame, page: ChunkPage) -> None:
    first, last = page.chunks[0].number, page.chunks[-1].number
    st.text(str(page.place))
    title = page.chunks[0].origin.title
    if title:
        st.text(title)
    _draw_chunk(view, page)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"chunks {first:,} to {last:,} of {page.total:,}" if page.total > 1 else "1 chunk")
        if page.total > PAGE_CHUNKS:
            _draw_turn("Earlier", first - PAGE_CHUNKS, disabled=first == 1)
            _draw_turn("Later", last + 1, disabled=last == page.total)
    draw_outline(page.chunks, chosen=CHUNK.read(), pick=_pick)


def _draw_turn(label: str, first: int, *, disabled: bool) -> None:
    def turn() -> None:
        CHUNK.choose("")
        FIRST.choose(max(1, first))

    st.button(label, key=f"browser-{label.lower()}", on_click=turn, disabled=disabled)


def _pick(chunk_id: str) -> None:
    CHUNK.choose("" if CHUNK.read() == chunk_id else chunk_id)


def _draw_chunk(view: Frame, page: ChunkPage) -> None:
    chunk = next((chunk for chunk in page.chunks if chunk.chunk_id == CHUNK.read()), None)
    if chunk is None:
        st.caption("Select a chunk's head to see which searches showed it.")
        return
    with st.container(border=True, key="chosen-chunk"):
        st.text(f"Chunk {chunk.number:,} of {page.total:,}  {trail_of(chunk)}".rstrip())
        st.text(f"{told_of(chunk)}{f' by {model_name(chunk.model_id)}' if chunk.model_id else ''}")
        shown = index_reads.searches_with(view.project, chunk.chunk_id)
        if not shown:
            st.text(f"None of the last {SEARCHES_LOOKED_AT:,} searches showed it.")
        else:
            st.text(f"Shown by {len(shown):,} of the last {SEARCHES_LOOKED_AT:,} searches:")
            draw_table(
                [
                    {
                        "asked (UTC)": f"{showing.asked_at:%Y-%m-%d %H:%M}",
                        "question": cut_short(showing.question, at_most=_CELL_CHARS)
                        + (" (synthetic)" if showing.synthetic else ""),
                        "rank": showing.rank,
                        "votes": _votes(showing.useful, showing.irrelevant),
                    }
                    for showing in shown
                ],
                key="chunk-searches",
                columns={
                    "asked (UTC)": st.column_config.TextColumn("asked (UTC)", width=130),
                    "question": st.column_config.TextColumn("question", width="medium"),
                    "rank": st.column_config.NumberColumn("rank", width=50),
                    "votes": st.column_config.TextColumn(
                        "votes", width=70, help="Useful and irrelevant, on this chunk"
                    ),
                },
            )


def _votes(useful: int, irrelevant: int) -> str:
    return f"{WON}{useful} {LOST}{irrelevant}" if useful or irrelevant else DASH
