"""Parts of a page that run again without it: fragments and dialogs. Each run asks who is there, as the page does."""

import functools
from collections.abc import Callable
from typing import Literal, ParamSpec

import streamlit as st
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

from medir.page_kit.guard import guarded
from medir.page_kit.services import drawn_for, may_see
from rag_core.errors import NotPermitted, NotSignedIn

P = ParamSpec("P")
Drawing = Callable[P, None]


def fragment(
    *, run_every: float | None = None, name: str | None = None
) -> Callable[[Drawing[P]], Drawing[P]]:
    """Streamlit's fragment, for whoever may see the page.

    Args:
        run_every: Seconds after which it runs again by itself; None: only when something in it was moved.
        name: Tells it from others that one function draws.
    """

    def decorate(draw: Drawing[P]) -> Drawing[P]:
        return st.fragment(_asking(draw, name), run_every=run_every)

    return decorate


def run_again_every(seconds: float) -> None:
    """From within a fragment with a `run_every`: another pause from now on.

    Streamlit's own way is to declare the fragment anew, by a run of all around it. The browser keeps one clock a
    fragment, and sets it anew only where the pause is another one.
    """
    context, fragment_id = get_script_run_ctx(), ThreadState.get().fragment_id
    if context is None or fragment_id is None:
        return
    message = ForwardMsg()
    message.auto_rerun.interval = seconds
    message.auto_rerun.fragment_id = fragment_id
    context.enqueue(message)


def dialog(
    title: str,
    *,
    icon: str,
    width: Literal["small", "medium", "large"] = "small",
    on_dismiss: Callable[[], None] | Literal["ignore"] = "ignore",
) -> Callable[[Drawing[P]], Drawing[P]]:
    """Streamlit's dialog, for whoever may see the page."""

    def decorate(draw: Drawing[P]) -> Drawing[P]:
        return st.dialog(title, icon=icon, width=width, on_dismiss=on_dismiss)(_asking(draw))

    return decorate


def _asking(draw: Drawing[P], name: str | None = None) -> Drawing[P]:
    @functools.wraps(draw)
    def asked(*args: P.args, **kwargs: P.kwargs) -> None:
        with guarded(f"part-{name or draw.__name__}"):
            try:
                who = may_see()
            except (NotSignedIn, NotPermitted):
                # the page says so in its own place, and shows nothing else
                st.rerun()
            with drawn_for(who):
                draw(*args, **kwargs)

    return asked
