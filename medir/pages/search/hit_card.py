"""A hit as a citation: where it comes from, its text with the matched words marked, its two signals."""

from collections.abc import Callable, Mapping

import streamlit as st

from medir.page_kit import reads
from medir.page_kit.address import refuse, text_parameter
from medir.page_kit.figures import draw_figure
from medir.page_kit.frame import Frame
from medir.page_kit.guard import guarded
from medir.page_kit.parts import dialog
from medir.page_kit.plain_text import draw_quoted, draw_text
from medir.page_kit.signs import theme
from rag_core.figures.signal_bars import signal_bars
from rag_core.model import RankedCandidate, Ranking, RankingSettings
from rag_core.search.citations import NEIGHBOURS
from rag_core.words.numbers import measured
from rag_core.words.signals import Absent

OPENED = text_parameter("open", at_most=36)
_MORE = 10
_WIDER = "source-wider"


def draw_hit(
    hit: RankedCandidate,
    *,
    text: str,
    matched: frozenset[str],
    settings: RankingSettings,
    missing: Absent,
    moved: str,
    draw_vote: Callable[[], None],
) -> None:
    """One card.

    `settings` are those that ranked it, `missing` what is said of a signal without it, `moved` says how it moved;
    `draw_vote` draws what judges it.
    """
    candidate, rank = hit.candidate, hit.rank
    with st.container(border=True, key=f"hit-{rank}"):
        with st.container(key=f"citation-{rank}", gap=None):
            st.text(f"{rank}.  {candidate.origin.citation}" + (f"   {moved}" if moved else ""))
            if candidate.origin.title and not candidate.origin.heading_path:
                st.text(candidate.origin.title)
        body, signals = st.columns([5, 2], gap="medium")
        with body:
            draw_quoted(text, matched, key=f"{rank}-{candidate.chunk_id}")
        with signals:
            draw_figure(signal_bars(candidate, settings, theme(), missing), key=f"signals-{rank}")
            st.text(f"score {measured(hit.score, 4)}")
        with st.container(horizontal=True, vertical_alignment="center"):
            draw_vote()
            st.button(
                "Open the source",
                key=f"open-{rank}",
                icon=":material/menu_book:",
                type="tertiary",
                on_click=OPENED.choose,
                args=(candidate.chunk_id,),
            )
            with st.popover(
                "Copy as citation", icon=":material/format_quote:", type="tertiary", key=f"cite-{rank}"
            ):
                st.code(f"{text}\n— {candidate.origin.citation}", language=None, wrap_lines=True)


def draw_opened(view: Frame, ranking: Ranking, matched: Mapping[str, frozenset[str]]) -> None:
    """The source of the candidate that was opened, in a dialog, at its place; nothing where none was.

    `matched` are the words that the question asked for, by the chunk id of the hits.
    """
    chunk_id = OPENED.read()
    if not chunk_id:
        return
    if all(entry.candidate.chunk_id != chunk_id for entry in ranking.whole_set):
        refuse(OPENED, chunk_id)
        return
    everywhere = frozenset().union(*matched.values())
    _draw_source(view, chunk_id, matched.get(chunk_id, everywhere))


def _close() -> None:
    OPENED.choose("")
    st.session_state.pop(_WIDER, None)


@dialog("The source, at its place", width="large", icon=":material/menu_book:", on_dismiss=_close)
def _draw_source(view: Frame, chunk_id: str, matched: frozenset[str]) -> None:
    with guarded("source"):
        wider = st.session_state.get(_WIDER, 0)
        found = reads.surroundings(view.project, chunk_id, NEIGHBOURS + wider, view.version)
        st.text(f"{found.place}  ·  chunk {found.number} of {found.total}")
        for chunk in found.chunks:
            here = chunk.chunk_id == chunk_id
            with st.container(border=here, key=f"source-{chunk.number}"):
                tail = chunk.origin.heading_path or (
                    (chunk.origin.event_id,) if chunk.origin.event_id else ()
                )
                st.text(f"{chunk.number}.  {' › '.join(tail)}" + ("   ← cited" if here else ""))
                if here:
                    draw_quoted(chunk.content, matched, key=f"source-{chunk_id}")
                else:
                    draw_text(chunk.content, key=f"source-{chunk.number}")
        if len(found.chunks) < found.total and st.button("Show more around it", key="source-more"):
            st.session_state[_WIDER] = wider + _MORE
            st.rerun(scope="fragment")
