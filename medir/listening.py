"""A socket taken before any work, and an ASGI app served on it by uvicorn until it is stopped."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import uvicorn

from medir.door.unread_body import UnreadBody
from medir.local import is_loopback
from rag_core.errors import Refused, Unavailable, UsageError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

LOOPBACK = "127.0.0.1"
# what a page sends at once; more than Streamlit is told to take, so that it says so itself
_MAX_STREAM_BYTES = 2 * 1024 * 1024


@contextmanager
def listening(
    host: str, port: int, *, tokens_exist: Callable[[], bool] | None = None
) -> Iterator[socket.socket]:
    """A socket that listens, taken before any work, so that an occupied port is known at once.

    With the port 0 the system chooses one. `tokens_exist` tells whether a token is in force, which an address
    beyond this machine takes; None where there is none.

    Raises:
        UsageError: No address was given.
        Refused: The address is beyond this machine, and nobody there could be told from anybody.
        Unavailable: The address can't be listened on, or it can't be told whether there are tokens.
    """
    if not host.strip():
        raise UsageError("--host has no address.", hint=f"Leave it out to listen on {LOOPBACK}.")
    if not is_loopback(host) and (tokens_exist is None or not tokens_exist()):
        raise Refused(
            f"{host} is reachable from other machines, and this server asks nobody who they are.",
            hint=f"Make a token first (medir token create), or listen on {LOOPBACK} and reach it through a tunnel.",
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # the protocol by its number: of a socket whose protocol is left open, the event loop does not know that it may send
    # small answers at once, and each then waits for the caller's delayed acknowledgement
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen()
        except OSError as error:
            raise Unavailable(
                f"Port {port} of {host} can't be used: {error.strerror}.",
                hint="Stop what uses it, or choose another: --port N, or MEDIR_PORT.",
            ) from error
        yield listener


def run_until_stopped(app: "ASGIApp", listener: socket.socket) -> None:
    """Serve an app on a socket that listens, until Ctrl-C or a termination signal."""
    config = uvicorn.Config(
        UnreadBody(app),
        log_level="warning",
        access_log=False,
        server_header=False,
        # who is there is told by the connection; what headers say of it is weighed at the door
        proxy_headers=False,
        ws_max_size=_MAX_STREAM_BYTES,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=3,
    )
    # uvicorn shuts down first and then passes the signal on
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])
