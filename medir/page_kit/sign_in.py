"""Signing in: the form that stands in a page's place until somebody has, and who is signed in above every page."""

import importlib.util

import streamlit as st

from medir.page_kit.guard import draw_banner
from medir.page_kit.services import caller, forget_token, may_see, signed_in_with_token, take_token, workbench
from medir.page_kit.signs import draw_badge
from rag_core.errors import MedirError, NotPermitted, NotSignedIn
from rag_core.project.access import Caller, ends_soon

_FIELD = "sign-in-token"
_FAILED = "sign-in-failed"


def require_sign_in() -> None:
    """Let a page go on for whoever may see it; for everybody else, draw the form and stop.

    Raises:
        DatabaseUnavailable: It can't be told who that is.
    """
    try:
        may_see()
    except (NotSignedIn, NotPermitted) as refusal:
        _draw_form(refusal)
        st.stop()


def draw_role() -> None:
    """Who is signed in and as what, with a way out; `local` where nobody is asked."""
    who = caller()
    if who.role == "local":
        draw_badge("local")
        return
    st.badge(who.role, color="blue", icon=":material/person:", help=_permissions_told(who))
    st.text(who.name)
    if ends_soon(who.expires_at, now=workbench().services.clock.now()):
        st.text(f"This token ends on {who.expires_at:%d %b %Y, %H:%M} UTC: ask for a new one.")
    if st.button("Sign out", key="sign-out", type="tertiary"):
        if signed_in_with_token():
            forget_token()
            st.rerun()
        st.logout()


def _permissions_told(who: Caller) -> str:
    if who.role == "maintainer":
        return "May search, vote and read, reindex, adopt settings and raise the floor."
    return "May search, vote and read."


def _draw_form(refusal: MedirError) -> None:
    st.header("Sign in", anchor=False)
    st.markdown("This workbench asks who you are. Whoever keeps this installation makes a token for you.")
    # a token that was revoked meanwhile is said; having none yet is no news
    if signed_in_with_token() or isinstance(refusal, NotPermitted):
        draw_banner(refusal, key="sign-in-refused", retry=False)
        if st.button("Sign out", key="sign-out"):
            was_token = signed_in_with_token()
            forget_token()
            if not was_token:
                st.logout()
            st.rerun()
        return
    st.text(refusal.message)
    st.text_input("Token", key=_FIELD, type="password", placeholder="medir_…", max_chars=200)
    st.button("Sign in", key="sign-in", type="primary", on_click=_take)
    failed: MedirError | None = st.session_state.pop(_FAILED, None)
    if failed is not None:
        draw_banner(failed, key="sign-in-failed", retry=False)
    if workbench().services.configuration.signs_in:
        _draw_provider()


def _draw_provider() -> None:
    if importlib.util.find_spec("authlib") is None:
        st.text("Signing in with the provider of medir.toml needs the package authlib beside Medir.")
        return
    st.button("Sign in with your provider", key="sign-in-provider", on_click=st.login)


def _take() -> None:
    """What the button does; the token leaves the field at once."""
    text = str(st.session_state.get(_FIELD, "")).strip()
    st.session_state[_FIELD] = ""
    try:
        take_token(text)
    except MedirError as error:
        st.session_state[_FAILED] = error
