"""The ASGI app: the Streamlit workbench with the HTTP API mounted, served by uvicorn."""

import ipaddress
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from rag_core.errors import Refused, Unavailable

if TYPE_CHECKING:
    import streamlit as st

LOOPBACK = "127.0.0.1"
_APP = Path(__file__).resolve().parent.parent / "app.py"


def make_app() -> "st.App":
    """The workbench with `/api` beside it."""
    # loading Streamlit takes a second that no other verb of the command line should pay
    import streamlit as st  # noqa: PLC0415
    from starlette.routing import Mount  # noqa: PLC0415

    from medir.http_api.app import make_api  # noqa: PLC0415

    return st.App(_APP, routes=[Mount("/api", app=make_api())])


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that listens, taken before any work, so that an occupied port is known at once.

    Raises:
        Refused: The address is beyond this machine, where everybody could read the index.
        Unavailable: The address can't be listened on.
    """
    if not _is_loopback(host):
        raise Refused(
            f"{host} is reachable from other machines, and this server asks nobody who they are.",
            hint=f"Listen on {LOOPBACK}, and reach it through a tunnel or a proxy that signs people in.",
        )
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as listener:
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


def serve_until_stopped(
    listener: socket.socket, *, announce: Callable[[str], None], open_browser: bool
) -> None:
    """Serve the workbench and the API until Ctrl-C or a termination signal."""
    host, port = listener.getsockname()[:2]
    address = f"http://{'[' + host + ']' if ':' in host else host}:{port}"
    announce(f"Workbench: {address}  (Ctrl-C stops it)")
    if open_browser:
        threading.Timer(1.0, webbrowser.open, args=(address,)).start()
    config = uvicorn.Config(make_app(), log_level="warning", access_log=False, timeout_graceful_shutdown=3)
    # uvicorn shuts down first and then passes the signal on
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
