"""One question, one search: the answer stays with the session until something else is asked."""

from dataclasses import dataclass

import streamlit as st

from medir.page_kit.frame import Frame
from medir.page_kit.services import visitor, workbench
from rag_core.answer import Answer
from rag_core.model import ALL_SCOPES, Scope

_ASKED = "asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """An answer and what it answers. `index_generation` is the index's when it was asked."""

    project_id: str
    question: str
    scopes: tuple[Scope, ...]
    index_generation: int
    answer: Answer


def ask(view: Frame, question: str, scopes: tuple[Scope, ...]) -> Asked:
    """The answer to this question: the one at hand, or a new search, which is recorded as one.

    Raises:
        InvalidInput: The question is blank or too long.
        DatabaseUnavailable: The database does not answer.
    """
    asked: Asked | None = st.session_state.get(_ASKED)
    project_id = view.project.project_id
    if asked is not None and (asked.project_id, asked.question, asked.scopes) == (
        project_id,
        question,
        scopes,
    ):
        return asked
    answer = workbench().services.search.ask(
        project_id, question, actor=visitor(), scopes=scopes or ALL_SCOPES
    )
    asked = Asked(
        project_id=project_id,
        question=question,
        scopes=scopes,
        index_generation=view.version.index_generation,
        answer=answer,
    )
    st.session_state[_ASKED] = asked
    return asked


def warm_up(view: Frame) -> None:
    """Make the index's encoder ready before the first question needs it; once a process, beside the page."""
    opened, model_id = workbench(), view.overview.model_id if view.overview else None
    if model_id is not None:
        opened.work.start_once(f"warm {model_id}", lambda: opened.services.search.embed("medir", model_id))


def forget() -> None:
    """The next run asks anew."""
    st.session_state.pop(_ASKED, None)
