"""The page that carries the workbench, told where its server is.

Streamlit's front end takes the address of a page for the server's, asks there, and is answered 404 before it tries one
step up: two errors in the console of whoever opens a link to a page. A line in the document says where to ask.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# the document that Streamlit's front end starts in, and no file that a page offers for download
_SHELL, _HEAD_ENDS = b'<div id="root">', b"</head>"
# the document comes whole and as it is: not packed, nor "as you have it"
_NOT_ASKED = (b"accept-encoding", b"if-none-match", b"if-modified-since")
# an answer that is changed is not the one that these describe
_DROPPED = (b"content-length", b"etag", b"last-modified")


def line_of(pages: Sequence[str]) -> str:
    """The line, which a content policy must name; `pages` are the pages' paths below `/`."""
    # these alone are cut off, so that a proxy may serve the workbench below a path of its own
    return (
        "window.__streamlit = {BACKEND_BASE_URL: location.origin + location.pathname.replace("
        f"new RegExp('/(?:' + {json.dumps('|'.join(pages))} + ')?/*$'), '/')}}"
    )


class DeepLinks:
    """ASGI middleware: puts that line into the document, whatever the path that it is answered at."""

    def __init__(self, app: "ASGIApp", *, line: str) -> None:
        self._app = app
        self._line = line

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Lead one request, and change its answer where that is the document."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        headers = scope["headers"]
        if _wants_html(scope):
            headers = [(name, value) for name, value in headers if name not in _NOT_ASKED]
        await self._app({**scope, "headers": headers}, receive, _Document(send, self._line).send)


class _Document:
    """An answer on its way; an HTML document is held back until it is whole."""

    def __init__(self, send: "Send", line: str) -> None:
        self._send = send
        self._line = line
        self._start: Message | None = None
        self._body = b""

    async def send(self, message: "Message") -> None:
        if message["type"] == "http.response.start" and _is_document(message):
            self._start = message
            return
        if self._start is None or message["type"] != "http.response.body":
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if message.get("more_body"):
            return
        start, body = self._start, self._body
        if _SHELL in body:
            body = body.replace(_HEAD_ENDS, f"<script>{self._line}</script>".encode() + _HEAD_ENDS, 1)
            kept = [pair for pair in start["headers"] if pair[0].lower() not in _DROPPED]
            start = {**start, "headers": [*kept, (b"content-length", str(len(body)).encode())]}
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})


def _wants_html(scope: "Scope") -> bool:
    return any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])


def _is_document(start: "Message") -> bool:
    headers = {name.lower(): value for name, value in start["headers"]}
    return (
        start["status"] == 200
        and headers.get(b"content-type", b"").startswith(b"text/html")
        and b"content-encoding" not in headers
    )
