"""Who is let in: before a route is looked for and before a body is read."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from medir.door.callers import caller_of
from medir.door.origin import may_send, sits_here
from medir.http_api.desk import Desk
from medir.http_api.problems import Problem
from medir.workbench import Workbench
from rag_core.errors import MedirError
from rag_core.project.access import PREFIX, Caller

PUBLIC = ("/health", "/ready", "/openapi.json")
PUBLIC_BELOW = "/problems/"
_TOKEN_NAMES = frozenset({"token", "access_token", "api_key", "authorization", "bearer"})


class ApiDoor:
    """ASGI middleware that keeps who calls in the request's state, as `caller`."""

    def __init__(self, app: ASGIApp, *, desk: Desk) -> None:
        self._app = app
        self._desk = desk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, or refuse it.

        Raises:
            Problem: It is refused.
        """
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            _check_address(scope)
            _check_origin(scope, headers)
            path = str(scope["path"]).removeprefix(str(scope.get("root_path", "")))
            if path not in PUBLIC and not path.startswith(PUBLIC_BELOW):
                scope["state"]["caller"] = await self._caller(scope, headers)
        await self._app(scope, receive, send)

    async def _caller(self, scope: Scope, headers: Headers) -> Caller:
        peer = scope.get("client")
        here = peer is not None and sits_here(peer[0], headers) and not self._desk.configuration.signs_in

        def admit(opened: Workbench) -> Caller:
            return caller_of(headers, opened.services.database, opened.services.clock, here=here)

        try:
            return await self._desk.run(admit)
        except MedirError as error:
            raise Problem.of(error) from error


def _check_address(scope: Mapping[str, object]) -> None:
    path, query = str(scope["path"]), scope.get("query_string", b"")
    if "\\" in path or "\x00" in path or {"..", "."} & set(path.split("/")):
        raise Problem(
            "invalid-request", "The address has parts that lead elsewhere.", hint="Write it plainly."
        )
    pairs = parse_qsl(query.decode("latin-1") if isinstance(query, bytes) else "", keep_blank_values=True)
    if any(name.lower() in _TOKEN_NAMES or value.startswith(PREFIX) for name, value in pairs):
        raise Problem(
            "token-in-query",
            "A token in the address is not read.",
            hint="Send the header Authorization: Bearer TOKEN, and revoke the token that stood in the address.",
        )


def _check_origin(scope: Mapping[str, object], headers: Headers) -> None:
    if not may_send(headers, scheme=str(scope.get("scheme", "http"))):
        raise Problem(
            "cross-origin",
            "A page of another site may not call this API.",
            hint="Call it from a program, or from a page of this server.",
        )
