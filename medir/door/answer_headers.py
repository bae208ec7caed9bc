"""What every answer tells a browser: not to guess, not to frame, not to fetch from elsewhere."""

import base64
import hashlib
from collections.abc import Iterable, Mapping

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # addresses of pages hold questions
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""The content policy of answers that are no page."""


class AnswerHeaders:
    """ASGI: sets the headers of every answer of an app.

    `policy` is the content policy of its answers that bring none of their own.
    """

    def __init__(self, app: ASGIApp, *, policy: str = NOTHING) -> None:
        self._app = app
        self._headers = {**_HEADERS, "Content-Security-Policy": policy}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, with them."""

        async def with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, with_headers)


def page_policy(inline_scripts: Iterable[str]) -> str:
    """The content policy of pages: everything is of this server.

    `inline_scripts` are those that stand in the page itself; no other may.
    """
    hashes = " ".join(_hash_source(script) for script in inline_scripts)
    return "; ".join(
        (
            "default-src 'none'",
            # figures on WebGL and programs that drive a browser compile scripts; none gets in from a text
            f"script-src 'self' blob: 'unsafe-eval' {hashes}".rstrip(),
            # what draws the pages writes styles as it goes, and figures bring their own
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "media-src 'self'",
            "manifest-src 'self'",
            "worker-src 'self' blob:",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )


def _hash_source(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
