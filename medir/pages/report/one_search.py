"""One recorded search: its question, what it ran under, its hits as they were shown, and the votes on them."""

from collections.abc import Mapping, Sequence
from uuid import UUID
from zoneinfo import ZoneInfo

import streamlit as st

from medir.page_kit import reads
from medir.page_kit.address import Parameter, refuse
from medir.page_kit.frame import Frame
from medir.page_kit.plain_text import draw_text
from medir.page_kit.signs import LOST, WON, draw_badge
from medir.pages.report import reads as report_reads
from rag_core.errors import InvalidInput, UsageError
from rag_core.model import SearchSettings
from rag_core.report.searches import RecordedHit, RecordedSearch
from rag_core.search.votes import StoredVote
from rag_core.words.degraded import why_recorded
from rag_core.words.numbers import measured
from rag_core.words.settings import settings_at_a_glance

_SAID = {"util": f"{WON} useful", "irrelevante": f"{LOST} irrelevant"}


def draw_search(view: Frame, chosen: Parameter[str], zone: str) -> None:
    """The chosen search under its list; one that is not there is said."""
    try:
        found = report_reads.search(view, UUID(chosen.read()))
    except UsageError:
        refuse(chosen, chosen.read())
        return
    with st.container(border=True, key="report-search"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(found.question)
            if found.degraded:
                draw_badge("degraded")
            st.button(
                "Close",
                key="report-search-close",
                icon=":material/close:",
                type="tertiary",
                on_click=chosen.choose,
                args=("",),
            )
        st.caption(f"{found.asked_at.astimezone(ZoneInfo(zone)):%d %b %Y %H:%M:%S} {zone}, search {found.id}")
        st.text(f"asked under {_settings(found.settings)}")
        if found.degraded_reason:
            st.text(f"Degraded: {why_recorded(found.degraded_reason)}")
        _draw_hits(view, found)


def _draw_hits(view: Frame, found: RecordedSearch) -> None:
    if not found.hits:
        st.text("It showed no hit.")
        return
    texts = reads.texts(view.project, tuple(hit.chunk_id for hit in found.hits), view.version)
    for hit in found.hits:
        with st.container(key=f"citation-recorded-{hit.rank}", gap=None):
            st.text(f"{hit.rank}.  {hit.origin.citation if hit.origin else 'A chunk that is gone'}")
        said = [vote for vote in found.votes if vote.chunk_id == hit.chunk_id]
        st.text(f"{_scores(hit, found)}  ·  {_votes(said)}")
        draw_text(
            texts.get(hit.chunk_id, "This chunk is no longer in the index."), key=f"recorded-{hit.chunk_id}"
        )


def _scores(hit: RecordedHit, found: RecordedSearch) -> str:
    # whether the question had a word to search for is not recorded; a hit by words tells that it had
    by_words = any(other.lexical_score is not None for other in found.hits)
    without_vector = "not found" if found.vector_available else "not run"
    without_lexical = "not found" if by_words else "none"
    vector = without_vector if hit.vector_score is None else measured(hit.vector_score)
    lexical = without_lexical if hit.lexical_score is None else measured(hit.lexical_score)
    return f"score {measured(hit.score, 4)}, vector {vector}, lexical {lexical}"


def _votes(said: Sequence[StoredVote]) -> str:
    if not said:
        return "not judged"
    return ", ".join(f"{_SAID[vote.verdict]} ({vote.actor})" for vote in said)


def _settings(settings: Mapping[str, object]) -> str:
    try:
        return settings_at_a_glance(SearchSettings.from_json(settings, source="settings", model_id=None))
    except InvalidInput:
        # a row of an older kind, or of a bench
        return "settings that are not told in full"
