"""The workbench's services, shared by every session of this process, and who sits before a page."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import streamlit as st
from starlette.datastructures import Headers

from medir.configuration import Configuration, load_configuration
from medir.door.origin import sits_here
from medir.local import account_name
from medir.people import Person
from medir.workbench import Identity, Workbench, close_workbench, identity_of, open_workbench
from rag_core.errors import MedirError, NotSignedIn
from rag_core.model import Actor, Role
from rag_core.project.access import Caller, admit, admit_by_id, id_of

_SEEING: tuple[Role, ...] = ("viewer", "maintainer")
# the session alone remembers it: not the browser, not the address, and never the secret
_TOKEN_ID = "signed-in-token"  # noqa: S105  the name of a key
_drawn_for: ContextVar[Caller | None] = ContextVar("drawn_for", default=None)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Presence:
    """What a page's session tells of who sits before it."""

    token_id: str | None
    person: Person | None
    sits_here: bool

    def caller(self) -> Caller:
        services = workbench().services
        if self.token_id is not None:
            return admit_by_id(services.database, services.clock, self.token_id)
        if services.configuration.signs_in:
            if self.person is not None:
                # the file's word now: who was taken out of it since the start is out
                role = load_configuration().people.role_of(self.person, now=services.clock.now())
                return Caller(kind="human", name=self.person.address, role=role)
            raise NotSignedIn("Nobody is signed in.", hint="Sign in with your provider, or with a token.")
        local = Caller.local(account_name()) if self.sits_here else None
        return admit(services.database, services.clock, None, local=local)


def caller() -> Caller:
    """Who sits before the page, checked anew at each call.

    Raises:
        NotSignedIn: Nobody can tell: there are tokens and none was given, or it has ended since.
        NotPermitted: The address of the person who is signed in has no role here.
        DatabaseUnavailable: It can't be told.
    """
    return _presence().caller()


def may_see() -> Caller:
    """Who sits before the page, where that is somebody who may see it.

    Raises:
        NotSignedIn: As `caller`.
        NotPermitted: As `caller`, or it is an engine, which has no business on a page.
    """
    found = caller()
    found.require(*_SEEING)
    return found


@contextmanager
def drawn_for(who: Caller) -> Iterator[None]:
    """Around the drawing of a part of the page, for whom it was just asked."""
    before = _drawn_for.set(who)
    try:
        yield
    finally:
        _drawn_for.reset(before)


def onlooker() -> Caller:
    """Whom the part at hand is drawn for, as was asked when it began; for what is drawn, never for what is done.

    Raises:
        NotSignedIn: As `caller`, which is asked outside of a part.
        NotPermitted: As `caller`.
    """
    return _drawn_for.get() or caller()


def asks_again() -> Callable[[], None]:
    """The same check for what Streamlit does for this page outside of its runs, such as making a file to download."""
    presence = _presence()
    return lambda: presence.caller().require(*_SEEING)


def visitor() -> Actor:
    """Who sits before the page, as the actor of what is done there; in local mode, the account that runs it.

    Raises:
        NotSignedIn: As `may_see`.
        NotPermitted: As `may_see`.
    """
    return may_see().actor("app")


def maintainer() -> Actor:
    """The same where it is a maintainer, for what others rely on.

    Raises:
        NotSignedIn: As `caller`.
        NotPermitted: It is none.
    """
    who = caller()
    who.require("maintainer")
    return who.actor("app")


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
    admit(services.database, services.clock, text, local=None).require(*_SEEING)
    st.session_state[_TOKEN_ID] = id_of(text)


def signed_in_with_token() -> bool:
    """Whether this session was given a token, be it in force still or not."""
    return _TOKEN_ID in st.session_state


def forget_token() -> None:
    """Sign out."""
    st.session_state.pop(_TOKEN_ID, None)


def _presence() -> _Presence:
    signs_in = workbench().services.configuration.signs_in
    return _Presence(
        token_id=st.session_state.get(_TOKEN_ID),
        person=Person.of(st.user.to_dict()) if signs_in else None,
        sits_here=_sits_here(),
    )


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


@st.cache_resource(show_spinner="Starting the database…", on_release=close_workbench)
def _open(identity: Identity, _configuration: Configuration) -> Workbench:  # noqa: ARG001  the cache reads it
    return open_workbench(_configuration)
