"""An HTTP transport whose calls end: by their size, and by their time in all.

A client's own time-outs start anew with each byte, and it reads an answer to its end, however long that is. Here the
connection itself is cut, so that a call that nobody waits for any more leaves nothing behind.
"""

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress

import httpx


class AnswerTooLong(httpx.TransportError):
    """The answer has more bytes than are read."""


class TimeIsUp(httpx.ReadTimeout):
    """There was no whole answer in the time of a call; the message says within how long."""


class BoundedTransport(httpx.BaseTransport):
    """One connection a call, over `httpx`'s own transport; safe to share between threads.

    `at_most` counts the bytes of an answer's body; `within_s` is from the beginning of a call to the last byte
    of its answer.
    """

    def __init__(self, *, at_most: int, within_s: float, verify: bool) -> None:
        self._at_most = at_most
        self._within_s = within_s
        # no connection outlives its call: one that the server closed while it was idle would look like an outage
        self._inner = httpx.HTTPTransport(
            verify=verify, trust_env=False, limits=httpx.Limits(max_keepalive_connections=0)
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the answer's body is read within the bounds.

        Raises:
            AnswerTooLong: It announces more than is read.
            httpx.TransportError: The call failed, or its time is up (`TimeIsUp`).
        """
        # what arrives packed could unpack to anything
        request.headers["Accept-Encoding"] = "identity"
        call = _Call(self._within_s)
        request.extensions = {**request.extensions, "trace": call.trace}
        try:
            response = self._inner.handle_request(request)
        except httpx.TransportError as error:
            call.end()
            if call.late:
                raise call.too_late() from error
            raise
        body = _Body(response.stream, call, at_most=self._at_most)
        if response.headers.get("content-encoding", "identity") != "identity":
            body.close()
            raise httpx.RemoteProtocolError("the answer is packed, though that was not asked for")
        return httpx.Response(
            response.status_code, headers=response.headers, stream=body, extensions=response.extensions
        )

    def close(self) -> None:
        """Close the connections."""
        self._inner.close()


class _Call:
    """The time of one call; at its end the connection is cut under whoever reads from it."""

    def __init__(self, within_s: float) -> None:
        self.late = False
        self._within_s = within_s
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(within_s, self._cut)
        self._timer.daemon = True
        self._timer.start()

    def trace(self, event: str, info: Mapping[str, object]) -> None:
        """Told by the transport of what it does; keeps the socket."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            extra = getattr(info.get("return_value"), "get_extra_info", None)
            found = extra("socket") if callable(extra) else None
            self._socket = found if isinstance(found, socket.socket) else None
            if self.late:
                self._cut()

    def too_late(self) -> TimeIsUp:
        """The error of a call whose time is up, whatever it looked like."""
        return TimeIsUp(f"within {self._within_s:g} s")

    def end(self) -> None:
        """The call is over."""
        self._timer.cancel()

    def _cut(self) -> None:
        self.late = True
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


class _Body(httpx.SyncByteStream):
    def __init__(self, stream: object, call: _Call, *, at_most: int) -> None:
        if not isinstance(stream, httpx.SyncByteStream):
            raise TypeError("the transport's answer is no stream")
        self._stream = stream
        self._call = call
        self._at_most = at_most

    def __iter__(self) -> Iterator[bytes]:
        taken = 0
        try:
            for piece in self._stream:
                taken += len(piece)
                if taken > self._at_most:
                    raise AnswerTooLong(f"more than {self._at_most:,} bytes")
                yield piece
        except httpx.TransportError as error:
            if self._call.late:
                raise self._call.too_late() from error
            raise
        if self._call.late:
            raise self._call.too_late()

    def close(self) -> None:
        self._call.end()
        self._stream.close()
