"""Who is let in to the agent tools over HTTP.

While there are no tokens, and nobody signs in to the workbench either, whoever is on this machine; else whoever
holds a token of the role engine.
"""

from http import HTTPStatus

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from medir.door.callers import caller_of
from medir.door.origin import is_forwarded, may_send
from medir.local import is_local_host_header, is_loopback
from rag_core.database.connections import Database
from rag_core.errors import MedirError, NotPermitted, NotSignedIn
from rag_core.model import Actor
from rag_core.ports import Clock

_ACTOR = "medir.actor"


class AgentDoor:
    """ASGI: lets a request through to the app, with who makes it, or answers it here.

    `trusts_machine` is false where a caller on this machine needs a token too.
    """

    def __init__(self, app: ASGIApp, *, database: Database, clock: Clock, trusts_machine: bool) -> None:
        self._app = app
        self._trusts_machine = trusts_machine
        self._database = database
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is admitted."""
        refusal = await self._admit(Request(scope)) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    async def _admit(self, request: Request) -> Response | None:
        """Write who calls into the request's scope; a response where the request goes no further."""
        try:
            actor = await anyio.to_thread.run_sync(self.authenticated, request)
        except MedirError as error:
            return _turned_away(error)
        if actor is not None:
            request.scope[_ACTOR] = actor
        elif (foreign := _foreign(request)) is not None:
            return foreign
        if request.method != "POST":
            # a GET would wait for what the server has to say by itself, which is nothing
            return Response(status_code=405, headers={"Allow": "POST"})
        return None

    def authenticated(self, request: Request) -> Actor | None:
        """The holder of the request's token; None for this machine while there are no tokens.

        Raises:
            NotSignedIn: A token is needed, or the one that came is not valid.
            NotPermitted: Its role is not engine.
            DatabaseUnavailable: It can't be told.
        """
        peer = request.client.host if request.client else ""
        here = self._trusts_machine and is_loopback(peer) and not is_forwarded(request.headers)
        caller = caller_of(request.headers, self._database, self._clock, here=here)
        if caller.role == "local":
            return None
        caller.require("engine")
        return caller.actor("mcp")


def admitted(scope: Scope) -> Actor | None:
    """Who the gate let in with this request; None where it asked nobody."""
    found = scope.get(_ACTOR)
    return found if isinstance(found, Actor) else None


def _foreign(request: Request) -> Response | None:
    """The answer to another site's page that calls without a token, through its visitor's browser."""
    if not is_local_host_header(", ".join(request.headers.getlist("host"))):
        return PlainTextResponse("This machine is asked for by another name.\n", status_code=421)
    if not may_send(request.headers, scheme=request.url.scheme):
        return PlainTextResponse("A page of another site may not call the tools.\n", status_code=403)
    return None


def _turned_away(error: MedirError) -> Response:
    status, headers = HTTPStatus.SERVICE_UNAVAILABLE, {"Retry-After": "5"}
    if isinstance(error, NotSignedIn):
        status, headers = HTTPStatus.UNAUTHORIZED, {"WWW-Authenticate": 'Bearer realm="medir"'}
    elif isinstance(error, NotPermitted):
        status, headers = HTTPStatus.FORBIDDEN, {}
    problem = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status,
        "detail": error.message,
        "hint": error.hint,
        "code": error.code,
    }
    return JSONResponse(problem, status_code=status, headers=headers, media_type="application/problem+json")
