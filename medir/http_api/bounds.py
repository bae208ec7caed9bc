"""Around every request: an id, a bound on its size, its time and the number of others, and the last word on faults."""

import asyncio
import logging
import re
import uuid
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from medir.http_api.problems import Problem

MAX_BODY_BYTES = 64 * 1024
MAX_SECONDS = 30.0
MAX_AT_ONCE = 256
REQUEST_ID = "X-Request-Id"

_logger = logging.getLogger("medir.http")
# what a caller sends comes back and goes into the log, so it is held to what can do no harm there
_GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_FIXED_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class Bounds:
    """ASGI middleware, to be the outermost of the API."""

    def __init__(self, app: ASGIApp, *, seconds: float = MAX_SECONDS, at_once: int = MAX_AT_ONCE) -> None:
        self._app = app
        self._seconds = seconds
        self._at_once = at_once
        self._going: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer within the bounds, whatever happens inside."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send, _request_id(Headers(scope=scope)))
        state: MutableMapping[str, Any] = scope.setdefault("state", {})
        state["request_id"] = answer.request_id
        body = _Body(receive)
        if len(self._going) >= self._at_once:
            await answer.refuse(scope, _overloaded())
            return
        if _announced_bytes(Headers(scope=scope)) > MAX_BODY_BYTES:
            await answer.refuse(scope, too_large())
            return
        task = asyncio.create_task(self._work(scope, body, answer))
        self._going.add(task)
        task.add_done_callback(self._going.discard)
        try:
            _, late = await asyncio.wait({task}, timeout=self._seconds)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if late:
            # a thread at work can't be stopped; it ends by the bounds of what it waits for
            _logger.warning("request %s took too long", answer.request_id)
            await answer.refuse(scope, _too_late(complete=body.complete))

    async def _work(self, scope: Scope, body: "_Body", answer: "_Answer") -> None:
        try:
            await self._app(scope, body.receive, answer.send)
        except Problem as problem:
            await answer.refuse(scope, problem)
        except Exception:
            # the edge of the API: nobody above would tell the caller
            _logger.exception("a fault in request %s", answer.request_id)
            await answer.refuse(
                scope, Problem("fault", "This request met a fault of Medir's own.", hint="Please report it.")
            )


class _Answer:
    """What is sent back: once, with the headers that every answer has."""

    def __init__(self, send: Send, request_id: str) -> None:
        self.request_id = request_id
        self._send = send
        self._begun = False
        self._closed = False

    async def send(self, message: Message) -> None:
        """Pass a message on; dropped once the caller has been told that it took too long."""
        if self._closed:
            return
        if message["type"] == "http.response.start":
            self._begun = True
            headers = MutableHeaders(scope=message)
            headers[REQUEST_ID] = self.request_id
            for name, value in _FIXED_HEADERS.items():
                headers.setdefault(name, value)
        await self._send(message)

    async def refuse(self, scope: Scope, problem: Problem) -> None:
        """Answer with a problem, unless an answer has begun; nothing is sent after it."""
        if not self._begun:
            await problem.response(self.request_id)(scope, _nothing, self.send)
        self._closed = True


class _Body:
    """The body as it comes in, counted."""

    def __init__(self, receive: Receive) -> None:
        self.complete = False
        self._receive = receive
        self._bytes = 0

    async def receive(self) -> Message:
        """The next part.

        Raises:
            Problem: More has come than is read.
        """
        message = await self._receive()
        if message["type"] == "http.request":
            self._bytes += len(message.get("body", b""))
            self.complete = not message.get("more_body", False)
            if self._bytes > MAX_BODY_BYTES:
                raise too_large()
        return message


def too_large() -> Problem:
    """More than is read."""
    return Problem(
        "body-too-large",
        f"The body has more than {MAX_BODY_BYTES:,} bytes.",
        hint="Send less.",
        # what is left of it is not read, so the connection can't be used again
        headers={"Connection": "close"},
    )


def _overloaded() -> Problem:
    return Problem(
        "overloaded",
        "Too many requests are being answered.",
        hint="Try again in a moment.",
        headers={"Retry-After": "1"},
    )


def _too_late(*, complete: bool) -> Problem:
    if complete:
        return Problem(
            "timeout", "The answer was not ready in time.", hint="Ask for less, or look at `medir doctor`."
        )
    return Problem(
        "slow-body",
        "The request did not arrive in time.",
        hint="Send it again.",
        headers={"Connection": "close"},
    )


def _request_id(headers: Headers) -> str:
    given = headers.get(REQUEST_ID, "")
    return given if _GIVEN_ID.fullmatch(given) else uuid.uuid4().hex


def _announced_bytes(headers: Headers) -> int:
    announced = headers.get("content-length", "0")
    return int(announced) if announced.isascii() and announced.isdigit() and len(announced) < 20 else 0


async def _nothing() -> Message:
    return {"type": "http.disconnect"}
