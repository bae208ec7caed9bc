"""Stopping work that goes on: one's own, or as a maintainer anybody's."""

from collections.abc import Callable

import streamlit as st

from medir.page_kit.services import caller, onlooker
from rag_core.model import Run
from rag_core.project.access import Caller


def draw_stop(run: Run, stop: Callable[[], object], *, label: str, key: str, stopping: bool = False) -> bool:
    """The button, for whoever may press it; whether it was pressed and the run was told.

    Args:
        run: What goes on.
        stop: Tells it.
        label: What the button says.
        key: The button's.
        stopping: Whether it was told already.

    Raises:
        NotPermitted: It was pressed by somebody who may not, any more.
    """
    if not _may_stop(onlooker(), run):
        return False
    if not st.button(label, key=key, disabled=stopping):
        return False
    who = caller()
    if not _may_stop(who, run):
        who.require("maintainer")
    stop()
    return True


def _may_stop(who: Caller, run: Run) -> bool:
    return who.may("maintainer") or (who.kind, who.name) == (run.actor_kind, run.actor_id)
