"""Who calls: the holder of the token that a request's headers carry, or whoever is at this machine."""

from starlette.datastructures import Headers

from medir.local import account_name
from rag_core.database.connections import Database
from rag_core.ports import Clock
from rag_core.project.access import Caller, admit

_SCHEME = "bearer "


def caller_of(headers: Headers, database: Database, clock: Clock, *, here: bool) -> Caller:
    """Who sent a request; `here` says that one without a token may be this machine's operator.

    Raises:
        MedirError: As `admit` does.
    """
    local = Caller.local(account_name()) if here else None
    return admit(database, clock, _bearer_token(headers), local=local)


def _bearer_token(headers: Headers) -> str | None:
    """None where nothing was sent; "" where what was sent is no token, so that it is not taken for nothing."""
    given = headers.getlist("authorization")
    if not given:
        return None
    if len(given) > 1 or not given[0].lower().startswith(_SCHEME):
        return ""
    return given[0][len(_SCHEME) :].strip()
