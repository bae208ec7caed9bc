"""The edge of a page: what goes wrong is said in a sentence with what to do, and never as a traceback."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from medir.page_kit.services import revive
from rag_core.errors import FaultyGoldenSet, FaultySettings, InvalidInput, MedirError, Refused, Unavailable

_logger = logging.getLogger(__name__)
_REFUSED = "refused"
_HEADINGS: tuple[tuple[type[MedirError], str], ...] = (
    (Unavailable, "A service does not answer"),
    (FaultyGoldenSet, "The golden set has faults"),
    (FaultySettings, "settings.yaml has faults"),
    (InvalidInput, "This can't be read"),
    (Refused, "Not carried out"),
    (MedirError, "This can't be shown"),
)


@contextmanager
def guarded(part: str) -> Iterator[None]:
    """Draw a banner for an error inside; `part` names the part of the page, and so the banner's key."""
    try:
        yield
    except MedirError as error:
        draw_banner(error, key=part)
    except Exception as error:
        _logger.exception("a fault in %s", part)
        st.error("A fault of Medir's own", icon=":material/bug_report:")
        st.text(f"{type(error).__name__} in {part}. The log has the details; please report it.")
        _draw_retry(part)


@contextmanager
def refusal_told() -> Iterator[None]:
    """Around what a click does: a refusal is kept, and said when the page is drawn."""
    try:
        yield
    except MedirError as error:
        st.session_state[_REFUSED] = error


def draw_refusal() -> None:
    """What the last click was refused, once."""
    refused: MedirError | None = st.session_state.pop(_REFUSED, None)
    if refused is not None:
        draw_banner(refused, key="refused", retry=False)


def draw_banner(error: MedirError, *, key: str, retry: bool = True) -> None:
    """The error's message and hint as text, under a heading of ours; a retry where one could help."""
    heading = next(words for kind, words in _HEADINGS if isinstance(error, kind))
    if isinstance(error, Unavailable):
        st.error(heading, icon=":material/cloud_off:")
    else:
        st.warning(heading, icon=":material/error:")
    st.text(error.message)
    if error.hint:
        st.text(error.hint)
    if retry:
        _draw_retry(key)


def _draw_retry(part: str) -> None:
    if st.button("Retry", key=f"retry-{part}", icon=":material/refresh:"):
        with st.spinner("Trying again…"):
            revive()
        st.rerun()
