"""`HEAD` wherever `GET` is taken: answered as that would be, without its body."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Heads:
    """ASGI middleware: uptime monitors and crawlers ask so."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, as `GET` where the head of an answer was asked for."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        head = scope["method"] == "HEAD"

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if "GET" in headers.get("allow", "").split(", "):
                    headers["allow"] = f"{headers['allow']}, HEAD"
            elif head and message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET"} if head else scope, receive, sent)
