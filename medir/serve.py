"""The ASGI app: the Streamlit workbench with the HTTP API mounted, served by uvicorn."""

import ipaddress
import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

import streamlit as st
import uvicorn
from starlette.routing import Mount

from medir.http_api.app import make_api
from rag_core.errors import Refused, Unavailable

LOOPBACK = "127.0.0.1"
_APP = Path(__file__).resolve().parent.parent / "app.py"


def make_app() -> st.App:
    """The workbench with `/api` beside it."""
    return st.App(_APP, routes=[Mount("/api", app=make_api())])


def serve_until_stopped(*, host: str, port: int, announce: Callable[[str], None], open_browser: bool) -> None:
    """Serve until Ctrl-C or a termination signal.

    Raises:
        Refused: The address is beyond this machine, where everybody could read the index.
        Unavailable: The address can't be listened on.
    """
    if not _is_loopback(host):
        raise Refused(
            f"{host} is reachable from other machines, and this server asks nobody who they are.",
            hint=f"Listen on {LOOPBACK}, and reach it through a tunnel or a proxy that signs people in.",
        )
    with _listen(host, port) as listener:
        address = f"http://{'[' + host + ']' if ':' in host else host}:{listener.getsockname()[1]}"
        announce(f"Workbench: {address}  (Ctrl-C stops it)")
        if open_browser:
            threading.Timer(1.0, webbrowser.open, args=(address,)).start()
        config = uvicorn.Config(make_app(), log_level="warning", timeout_graceful_shutdown=3)
        uvicorn.Server(config).run(sockets=[listener])


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise Unavailable(
            f"Port {port} of {host} can't be used: {error.strerror}.",
            hint="Stop what uses it, or choose another: --port N, or MEDIR_PORT.",
        ) from error
    return listener
