"""The ASGI app: the Streamlit workbench with the HTTP API mounted, served by uvicorn."""

import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from medir.configuration import Configuration
from medir.local import is_loopback
from rag_core.errors import Refused, Unavailable, UsageError

if TYPE_CHECKING:
    import streamlit as st
    from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = "127.0.0.1"
_API = "/api"
_APP = Path(__file__).resolve().parent.parent / "app.py"


def make_app(configuration: Configuration) -> "st.App":
    """The workbench with `/api` beside it; services are opened by whoever needs them first."""
    # loading Streamlit takes a second that no other verb of the command line should pay
    import streamlit as st  # noqa: PLC0415
    from starlette.middleware import Middleware  # noqa: PLC0415

    from medir.deep_links import DeepLinks  # noqa: PLC0415
    from medir.http_api.app import make_api  # noqa: PLC0415

    return st.App(
        _APP,
        middleware=[Middleware(_Fork, api=make_api(configuration)), Middleware(DeepLinks)],
        secrets={"auth": dict(configuration.oidc)} if configuration.oidc else None,
    )


class _Fork:
    """Requests below `/api` go to the API, all others on to the workbench.

    As a route beside Streamlit's it would stand behind middleware of the pages, which answers for itself.
    """

    def __init__(self, app: "ASGIApp", *, api: "ASGIApp") -> None:
        self._app = app
        self._api = api

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Lead one request."""
        path = str(scope.get("path", ""))
        if scope["type"] == "http" and (path == _API or path.startswith(f"{_API}/")):
            await self._api({**scope, "root_path": f"{scope.get('root_path', '')}{_API}"}, receive, send)
        else:
            await self._app(scope, receive, send)


@contextmanager
def listening(
    host: str, port: int, *, tokens_exist: Callable[[], bool] | None = None
) -> Iterator[socket.socket]:
    """A socket that listens, taken before any work, so that an occupied port is known at once.

    Args:
        host: An address, or `localhost`.
        port: 0 lets the system choose.
        tokens_exist: Tells whether callers are asked for tokens, which an address beyond this machine takes; None
            where they are not.

    Raises:
        UsageError: No address was given.
        Refused: The address is beyond this machine, where everybody could read the index.
        Unavailable: The address can't be listened on, or it can't be told whether there are tokens.
    """
    if not host.strip():
        raise UsageError("--host has no address.", hint=f"Leave it out to listen on {LOOPBACK}.")
    if not is_loopback(host) and (tokens_exist is None or not tokens_exist()):
        raise Refused(
            f"{host} is reachable from other machines, and this server asks nobody who they are.",
            hint=f"Make a token first (medir token create), or listen on {LOOPBACK} and reach it through a tunnel.",
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
    listener: socket.socket,
    configuration: Configuration,
    *,
    announce: Callable[[str], None],
    open_browser: bool,
) -> None:
    """Serve the workbench and the API until Ctrl-C or a termination signal."""
    host, port = listener.getsockname()[:2]
    address = f"http://{'[' + host + ']' if ':' in host else host}:{port}"
    announce(f"Workbench: {address}  (Ctrl-C stops it)")
    if open_browser:
        threading.Timer(1.0, webbrowser.open, args=(address,)).start()
    config = uvicorn.Config(
        make_app(configuration),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=3,
    )
    # uvicorn shuts down first and then passes the signal on
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])
