"""A body that nobody reads ends its connection: a server would else go on taking it, however long it is."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class UnreadBody:
    """ASGI: closes the connection after an answer that was given before its request's body had come to its end."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and watch how much of the body is read."""
        if scope["type"] != "http" or not _has_body(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        complete = False

        async def received() -> Message:
            nonlocal complete
            message = await receive()
            complete = complete or (message["type"] == "http.request" and not message.get("more_body", False))
            return message

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and not complete:
                MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        await self._app(scope, received, sent)


def _has_body(headers: Headers) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
