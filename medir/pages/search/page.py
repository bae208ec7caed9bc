"""Search: what does it find, and would I cite it? A box, the hits as citations, and other numbers to try."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from medir.page_kit import reads, states
from medir.page_kit.address import choice_parameter, settle
from medir.page_kit.choosing import draw_words
from medir.page_kit.frame import Frame, frame
from medir.page_kit.signs import LOST
from medir.pages.search import asking
from medir.pages.search.asking import ASKED, QUESTION, SCOPE
from medir.pages.search.hit_card import OPENED, draw_hit, draw_opened
from medir.pages.search.states import draw_degraded, draw_empty, draw_notices, draw_origin, draw_summary
from medir.pages.search.trial_numbers import NUMBERS, any_chosen, draw_sliders, moves
from medir.pages.search.voting import draw_vote, votes_of_visitor
from medir.pages.search.whole_set import draw_whole_set
from rag_core.model import Ranking, RankingSettings, Scope
from rag_core.model.limits import MAX_QUESTION_CHARS
from rag_core.ranking.ranking import rank
from rag_core.words.settings import settings_at_a_glance
from rag_core.words.signals import absent

WHOLE = choice_parameter("whole", ("", "shown"))
_SCOPES: Mapping[str, str] = {
    "": "everywhere",
    Scope.DOCS: "documents",
    Scope.ADR: "decisions",
    Scope.SESSION: "sessions",
}


def draw_page() -> None:
    """The page, from its inputs to its address."""
    view = frame()
    if view.overview is None:
        states.draw_not_indexed(view)
    else:
        asking.warm_up(view)
        asking.take_up(view)
        _draw_box()
        asked = asking.answer(view)
        if asked is not None:
            _draw_answer(view, asked)
        else:
            st.text("Ask as you would ask a colleague. Every question asked here is recorded as a search.")
    settle(QUESTION, SCOPE, ASKED, WHOLE, OPENED, *NUMBERS)


def _draw_box() -> None:
    st.text_input(
        "Question",
        key="search_question",
        max_chars=MAX_QUESTION_CHARS,
        placeholder="What do you want to know?",
        icon=":material/search:",
        label_visibility="collapsed",
        on_change=asking.wants(QUESTION.mirror("search_question")),
    )
    draw_words("Where", SCOPE, _SCOPES, key="search-scope", wrap=asking.wants)


def _draw_answer(view: Frame, asked: asking.Asked) -> None:
    answer = asked.answer
    hits, numbers = st.columns([3, 1], gap="large")
    with numbers, st.container(border=True):
        st.markdown("**Try other numbers**")
        st.caption("They rank this very answer again; nothing is asked or recorded.")
        tried = draw_sliders(answer)
    changed = any_chosen() and tried != answer.settings.ranking
    ranking = rank(answer.found, tried) if changed else answer.ranking
    with hits:
        draw_summary(answer, ranking, trial=changed)
        draw_degraded(answer)
        draw_notices(asked)
        draw_origin(view, asked)
        _draw_hits(view, asked, ranking, tried)
        _draw_whole(ranking)
        st.text(f"{'asked' if asked.by_person else 'answered'} under {settings_at_a_glance(answer.settings)}")


def _draw_hits(view: Frame, asked: asking.Asked, ranking: Ranking, tried: RankingSettings) -> None:
    answer = asked.answer
    if not ranking.hits:
        draw_empty(ranking)
    ids = tuple(hit.candidate.chunk_id for hit in ranking.hits)
    missing = tuple(chunk_id for chunk_id in ids if chunk_id not in answer.contents)
    texts = dict(answer.contents)
    if missing:
        texts |= reads.texts(view.project, missing, view.version)
    quoted = tuple(texts.get(chunk_id, "") for chunk_id in ids)
    matched = reads.matched_words(view.project, answer.question, quoted, view.version)
    moved = moves(answer.ranking, ranking)
    voted = votes_of_visitor(view, answer.search_id)
    for hit, text, words in zip(ranking.hits, quoted, matched, strict=True):
        draw_hit(
            hit,
            text=text or "This chunk is no longer in the index.",
            matched=words,
            settings=tried,
            missing=absent(ranking),
            moved=moved.of(hit.candidate.chunk_id, hit.rank),
            draw_vote=partial(draw_vote, view, asked, hit, voted.get(hit.candidate.chunk_id)),
        )
    for citation in moved.left:
        st.text(f"{LOST} left: {citation}")
    draw_opened(view, ranking, dict(zip(ids, matched, strict=True)))


def _draw_whole(ranking: Ranking) -> None:
    if not ranking.whole_set:
        return
    draw_words("Whole set", WHOLE, {"": "hits only", "shown": "with all candidates"}, key="search-whole")
    if WHOLE.read():
        draw_whole_set(ranking)


draw_page()
