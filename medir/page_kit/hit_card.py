"""A hit as a citation: where it comes from, its text with the matched words marked, its two signals."""

import streamlit as st

from medir.page_kit import reads
from medir.page_kit.frame import Frame
from medir.page_kit.guard import guarded
from medir.page_kit.plain_text import draw_quoted, draw_text
from medir.page_kit.signs import measured, theme
from rag_core.citations import NEIGHBOURS
from rag_core.figures.layout import CONFIG
from rag_core.figures.signal_bars import signal_bars
from rag_core.model import RankedCandidate, RankingSettings

_MORE = 10


def draw_hit(
    view: Frame,
    hit: RankedCandidate,
    *,
    text: str,
    matched: frozenset[str],
    settings: RankingSettings,
    moved: str,
) -> None:
    """One card. `settings` are those that ranked it, `moved` says how it moved under them."""
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
            st.plotly_chart(
                signal_bars(candidate, settings, theme()), key=f"signals-{rank}", config=CONFIG, theme=None
            )
            st.text(f"score {measured(hit.score, 4)}")
        with st.container(horizontal=True):
            if st.button("Open the source", key=f"open-{rank}", icon=":material/menu_book:", type="tertiary"):
                st.session_state["source-wider"] = 0
                _open_source(view, hit, matched)
            with st.popover(
                "Copy as citation", icon=":material/format_quote:", type="tertiary", key=f"cite-{rank}"
            ):
                st.code(f"{text}\n— {candidate.origin.citation}", language=None, wrap_lines=True)


@st.dialog("The source, at its place", width="large", icon=":material/menu_book:")
def _open_source(view: Frame, hit: RankedCandidate, matched: frozenset[str]) -> None:
    with guarded("source"):
        place, chunk_id = hit.candidate.origin.place, hit.candidate.chunk_id
        wider = st.session_state.get("source-wider", 0)
        found = reads.surroundings(view.project, place, chunk_id, NEIGHBOURS + wider, view.version)
        st.text(f"{place}  ·  chunk {found.number} of {found.total}")
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
            st.session_state["source-wider"] = wider + _MORE
            st.rerun(scope="fragment")
