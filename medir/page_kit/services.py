"""The workbench's services, shared by every session of this process, and who sits before a page."""

import streamlit as st
from starlette.datastructures import Headers

from medir.configuration import Configuration, load_configuration
from medir.door.origin import sits_here
from medir.local import account_name
from medir.workbench import Identity, Workbench, close_workbench, identity_of, open_workbench
from rag_core.errors import MedirError, NotPermitted, NotSignedIn
from rag_core.model import Actor
from rag_core.tokens import Caller, admit, admit_by_id, id_of

__all__ = [
    "Workbench",
    "caller",
    "forget_token",
    "may_maintain",
    "revive",
    "signed_in_with_token",
    "take_token",
    "visitor",
    "workbench",
]

# the session alone remembers it: not the browser, not the address, and never the secret
_TOKEN_ID = "signed-in-token"  # noqa: S105  the name of a key


def workbench() -> Workbench:
    """This installation's services.

    Raises:
        Unavailable: The database can't be started or reached; the next call tries again.
    """
    configuration = load_configuration()
    return _open(identity_of(configuration), configuration)


def revive() -> None:
    """Start the embedded database again where it has gone away; a database of another kind is left alone."""
    try:
        server = workbench().services.server
        if server is not None:
            server.acquire()
            server.release()
    except MedirError:
        # whoever asked to retry meets the same outage in the next line, and shows it
        return


def caller() -> Caller:
    """Who sits before the page, checked anew at each call.

    Raises:
        NotSignedIn: Nobody can tell: there are tokens and none was given, or it has been revoked since.
        NotPermitted: The address of the person who is signed in has no role here.
        DatabaseUnavailable: It can't be told.
    """
    services = workbench().services
    token_id: str | None = st.session_state.get(_TOKEN_ID)
    if token_id is not None:
        return admit_by_id(services.database, services.clock, token_id)
    roles = services.configuration.sign_in
    person = _person() if roles else None
    if person is not None:
        role = roles.get(person)
        if role is None:
            raise NotPermitted(
                f"{person} has no role in this installation.",
                hint="Whoever keeps it can name one in [sign_in] of medir.toml.",
            )
        return Caller(kind="human", name=person, role=role)
    if roles:
        raise NotSignedIn("Nobody is signed in.", hint="Sign in with your provider, or with a token.")
    local = Caller.local(account_name()) if _sits_here() else None
    return admit(services.database, services.clock, None, local=local)


def visitor() -> Actor:
    """Who sits before the page, as the actor of what is done there; in local mode, the account that runs it.

    Raises:
        NotSignedIn: As `caller`.
    """
    return caller().actor("app")


def may_maintain() -> bool:
    """Whether who sits before the page may change what others rely on: reindex, adopt, raise the floor."""
    return caller().may("maintainer")


def take_token(text: str) -> None:
    """Sign in with a token, for this session.

    Raises:
        NotSignedIn: It is not valid.
        NotPermitted: It is an engine's, which has no business on a page.
    """
    services = workbench().services
    admit(services.database, services.clock, text, local=None).require("viewer", "maintainer")
    st.session_state[_TOKEN_ID] = id_of(text)


def signed_in_with_token() -> bool:
    """Whether this session was given a token, be it in force still or not."""
    return _TOKEN_ID in st.session_state


def forget_token() -> None:
    """Sign out."""
    st.session_state.pop(_TOKEN_ID, None)


def _sits_here() -> bool:
    """Whether this page's browser is on this machine and knows it."""
    try:
        told, address = st.context.headers, st.context.ip_address
    except RuntimeError:
        # no server runs in this process, so nobody can have come from anywhere
        return True
    headers = Headers({name: ", ".join(told.get_all(name)) for name in told})
    # there are none only where there is no connection; a loopback address is given as None
    return not headers or sits_here(address if isinstance(address, str) else None, headers)


def _person() -> str | None:
    """The address of whoever signed in with the provider; None where nobody did, or it is not confirmed."""
    user = st.user.to_dict()
    address = user.get("email")
    confirmed = user.get("email_verified", True)
    return (
        address.lower()
        if user.get("is_logged_in") and isinstance(address, str) and confirmed is True
        else None
    )


@st.cache_resource(show_spinner="Starting the database…", on_release=close_workbench)
def _open(identity: Identity, _configuration: Configuration) -> Workbench:  # noqa: ARG001  the cache reads it
    return open_workbench(_configuration)
