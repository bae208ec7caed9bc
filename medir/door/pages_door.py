"""What stands before Streamlit: the addresses that the pages use, asked for by this server's own pages."""

from collections.abc import Awaitable, Callable, Iterable

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from medir.door.origin import is_forwarded, is_own_origin, may_send
from medir.local import is_local_host_header

STREAM = "/_stcore/stream"
_READING = ("GET", "HEAD")
_FILES = frozenset({"/", "/favicon.png", "/manifest.json", "/_stcore/health", "/_stcore/host-config"})
# files of Streamlit's own, and what a page offers for download
_BELOW = ("/static/", "/media/")
_SIGN_IN = frozenset({"/auth/login", "/auth/logout", "/oauth2callback"})
_POLICY_VIOLATION = 1008
_Refusal = tuple[int, str]


class PagesDoor:
    """ASGI: lets through to the pages what they use themselves, and answers everything else here.

    `pages` are their addresses below `/`; `asks_who` tells whether callers are asked who they are, `signs_in`
    whether people sign in with a provider.
    """

    def __init__(
        self, app: ASGIApp, *, pages: Iterable[str], asks_who: Callable[[], Awaitable[bool]], signs_in: bool
    ) -> None:
        self._app = app
        self._pages = frozenset(f"/{page}" for page in pages)
        self._files = _FILES | (_SIGN_IN if signs_in else frozenset())
        self._asks_who = asks_who

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through, or refuse it."""
        if scope["type"] == "websocket":
            if not await self._lets_stream(scope):
                await receive()
                await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
                return
        elif scope["type"] == "http":
            refusal = await self._refusal(scope)
            if refusal is not None:
                await _answer(refusal)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _lets_stream(self, scope: Scope) -> bool:
        """Whether a page may open its stream; a browser always says whose page it is, so without that, none may."""
        headers = Headers(scope=scope)
        return (
            scope["path"] == STREAM
            and is_own_origin(headers, scheme=_scheme(scope))
            and await self._is_known_as(headers)
        )

    async def _refusal(self, scope: Scope) -> _Refusal | None:
        headers, path = Headers(scope=scope), str(scope["path"])
        if not self._is_used(path):
            return 404, "There is nothing at this address. The workbench begins at /."
        if scope["method"] not in _READING:
            return 405, "This address is read only."
        if "transfer-encoding" in headers or headers.get("content-length", "0") != "0":
            return 413, "This address takes no body."
        if not may_send(headers, scheme=_scheme(scope)):
            return 403, "A page of another site may not ask for this."
        if not path.startswith("/static/") and not await self._is_known_as(headers):
            return 403, (
                "This workbench is for its own machine alone, by the name localhost or 127.0.0.1. "
                "To reach it by another name, make a token first: medir token create NAME --role maintainer"
            )
        return None

    def _is_used(self, path: str) -> bool:
        if "\\" in path or "\x00" in path or {"..", "."} & set(path.split("/")):
            return False
        return (
            path in self._files
            # a page's address with a slash at its end leads to the one without
            or path.rstrip("/") in self._pages
            or any(path.startswith(folder) and len(path) > len(folder) for folder in _BELOW)
        )

    async def _is_known_as(self, headers: Headers) -> bool:
        """Whether a request may name this server so: any name will do where callers are asked who they are."""
        hosts = headers.getlist("host")
        if len(hosts) != 1:
            return False
        local = is_local_host_header(hosts[0]) and not is_forwarded(headers)
        return local or await self._asks_who()


def _scheme(scope: Scope) -> str:
    return "https" if scope.get("scheme") in ("https", "wss") else "http"


def _answer(refusal: _Refusal) -> PlainTextResponse:
    status, words = refusal
    headers = {"Cache-Control": "no-store", "Connection": "close"}
    if status == 405:
        headers["Allow"] = ", ".join(_READING)
    return PlainTextResponse(f"{words}\n", status_code=status, headers=headers)
