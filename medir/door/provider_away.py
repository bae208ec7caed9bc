"""What a browser is told that was sent to sign in with a provider, and the provider is away."""

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOGIN = "/auth/login"
_WORDS = (
    "The provider that people sign in with does not answer, or not as it should. Go back and try again in a moment; "
    "meanwhile a token opens the workbench. Whoever keeps this installation finds the reason in the server's log."
)


class ProviderAway:
    """ASGI: a sentence in the place of Streamlit's own answer, which names no cause."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, with it where the sign-in could not begin."""
        if scope["type"] != "http" or scope["path"] != LOGIN:
            await self._app(scope, receive, send)
            return
        failed = False

        async def passed(message: Message) -> None:
            nonlocal failed
            if message["type"] == "http.response.start" and message["status"] >= 400:
                failed = True
            if not failed:
                await send(message)

        await self._app(scope, receive, passed)
        if failed:
            headers = {"Cache-Control": "no-store", "Retry-After": "5"}
            await PlainTextResponse(f"{_WORDS}\n", status_code=503, headers=headers)(scope, receive, send)
