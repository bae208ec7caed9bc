"""One question, one search: recorded when a person asks, and never when a page is opened, reloaded or gone back to.

The address of what was asked holds the search's id, and shows that search as it was to whoever opens it. An address
with a question alone is answered without a record, until somebody asks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import streamlit as st

from medir.page_kit.address import choice_parameter, id_parameter, refuse, text_parameter
from medir.page_kit.frame import Frame
from medir.page_kit.services import visitor, workbench
from rag_core.errors import UsageError
from rag_core.model import ALL_SCOPES, Scope
from rag_core.model.limits import MAX_QUESTION_CHARS
from rag_core.search.answer import Answer
from rag_core.search.recalling import recall

QUESTION = text_parameter("q", at_most=MAX_QUESTION_CHARS)
SCOPE = choice_parameter("scope", ("", *map(str, ALL_SCOPES)))
ASKED = id_parameter("asked")

_AT_HAND = "answer-at-hand"
_WANTED = "asking"
_ONCE, _AGAIN = "once", "again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """An answer and what it answers; `scope` is the page's choice, empty for any other.

    `by_person` is false for a question that came with an address. `index_generation` is the index's when it was
    answered, None for a search that was asked before: then `asked_at` and `asked_by` are given, and `gone` are its
    hits' chunks that are no longer there.
    """

    project_id: str
    question: str
    scope: str
    answer: Answer
    by_person: bool
    index_generation: int | None = None
    asked_at: datetime | None = None
    asked_by: str | None = None
    gone: frozenset[str] = frozenset()

    def is_before_index(self, view: Frame) -> bool:
        """Whether the index was made again since."""
        if self.index_generation is not None:
            return self.index_generation != view.version.index_generation
        indexed_at = view.overview.indexed_at if view.overview else None
        return indexed_at is not None and self.asked_at is not None and indexed_at > self.asked_at

    def why_not_judged(self, chunk_id: str) -> str | None:
        """Why a hit can't be voted on; None where it can."""
        if not self.by_person:
            return "nobody has asked this yet"
        if self.answer.search_id is None:
            return "this search was not recorded"
        if all(hit.candidate.chunk_id != chunk_id for hit in self.answer.ranking.hits):
            return "the search itself did not show it"
        return "a reindex has removed its chunk since" if chunk_id in self.gone else None


def wants(take: Callable[[], None] | None = None) -> Callable[[], None]:
    """What a control calls whose use is a question, after it has taken its choice with `take`."""

    def want() -> None:
        if take is not None:
            take()
        ASKED.choose("")
        st.session_state[_WANTED] = _ONCE

    return want


def want_again() -> None:
    """Ask the same question once more."""
    wants()()
    st.session_state[_WANTED] = _AGAIN


def take_up(view: Frame) -> None:
    """Bring the recorded search that the address names to hand, with its question and scope; before they are drawn.

    A search that is not this project's is said to be unknown. An address whose question or scope is not the
    search's own means that question.
    """
    chosen = ASKED.read()
    if not chosen or _WANTED in st.session_state:
        return
    at_hand: Asked | None = st.session_state.get(_AT_HAND)
    if at_hand is not None and at_hand.answer.search_id == chosen:
        if at_hand.project_id != view.project.project_id:
            # another project was picked; the question stays
            ASKED.take_over("")
            return
        found = at_hand
    else:
        try:
            found = _recalled(view, UUID(chosen))
        except UsageError:
            refuse(ASKED, chosen)
            return
    if QUESTION.read().strip() not in ("", found.question) or SCOPE.read() not in ("", found.scope):
        ASKED.take_over("")
        return
    QUESTION.take_over(found.question)
    SCOPE.take_over(found.scope)
    st.session_state[_AT_HAND] = found


def answer(view: Frame) -> Asked | None:
    """The answer to what is chosen: the one at hand, a new search where a person wants it, else one without a record.

    None without a question.

    Raises:
        InvalidInput: The question is blank or too long.
        DatabaseUnavailable: The database does not answer.
    """
    wanted: str | None = st.session_state.pop(_WANTED, None)
    question, scope, project_id = QUESTION.read().strip(), SCOPE.read(), view.project.project_id
    if not question:
        ASKED.take_over("")
        return None
    at_hand: Asked | None = st.session_state.get(_AT_HAND)
    if at_hand is not None and (at_hand.project_id, at_hand.question, at_hand.scope) == (
        project_id,
        question,
        scope,
    ):
        if wanted is None:
            return at_hand
        if wanted == _ONCE and at_hand.by_person:
            ASKED.take_over(at_hand.answer.search_id or "")
            return at_hand
    search, scopes = workbench().services.search, (Scope(scope),) if scope else ALL_SCOPES
    if wanted is None:
        found = search.look(project_id, question, scopes=scopes)
    else:
        found = search.ask(project_id, question, actor=visitor(), scopes=scopes)
    ASKED.take_over(found.search_id or "")
    asked = Asked(
        project_id=project_id,
        question=question,
        scope=scope,
        answer=found,
        by_person=wanted is not None,
        index_generation=view.version.index_generation,
    )
    st.session_state[_AT_HAND] = asked
    return asked


def warm_up(view: Frame) -> None:
    """Make the index's encoder ready before the first question needs it; once a process, beside the page."""
    opened, model_id = workbench(), view.overview.model_id if view.overview else None
    if model_id is not None:
        opened.work.start_once(f"warm {model_id}", lambda: opened.services.search.embed("medir", model_id))


def _recalled(view: Frame, search_id: UUID) -> Asked:
    """A recorded search of the project.

    Raises:
        UsageError: There is none of that id, or it can't be shown as it was.
    """
    project_id = view.project.project_id
    found = recall(workbench().services.database, project_id, search_id)
    scopes = found.answer.settings.candidates.scopes
    return Asked(
        project_id=project_id,
        question=found.answer.question,
        scope=str(scopes[0]) if len(scopes) == 1 else "",
        answer=found.answer,
        by_person=True,
        asked_at=found.asked_at,
        asked_by=found.asked_by,
        gone=found.gone,
    )
