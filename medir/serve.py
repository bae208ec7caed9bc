"""The ASGI app: the Streamlit workbench behind its door, with the HTTP API beside it, served by uvicorn."""

import functools
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import uvicorn

from medir.configuration import Configuration
from medir.door.unread_body import UnreadBody
from medir.http_api.desk import Desk
from medir.local import is_loopback
from rag_core.errors import MedirError, Refused, Unavailable, UsageError
from rag_core.tokens import tokens_asked_for

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = "127.0.0.1"
_API = "/api"
# what a page sends at once; more than Streamlit is told to take, so that it says so itself
_MAX_STREAM_BYTES = 2 * 1024 * 1024


def make_app(configuration: Configuration) -> "ASGIApp":
    """The workbench with `/api` beside it; services are opened by whoever needs them first."""
    # loading Streamlit takes a second that no other verb of the command line should pay
    import streamlit as st  # noqa: PLC0415

    from medir.deep_links import SCRIPT, DeepLinks  # noqa: PLC0415
    from medir.door.answer_headers import AnswerHeaders, page_policy  # noqa: PLC0415
    from medir.door.pages_door import PagesDoor  # noqa: PLC0415
    from medir.door.provider_away import ProviderAway  # noqa: PLC0415
    from medir.http_api.app import make_api  # noqa: PLC0415
    from medir.page_kit.streamlit_options import inline_scripts, settle_options  # noqa: PLC0415
    from medir.pages import ENTRY, PAGES  # noqa: PLC0415

    settle_options()
    streamlit = st.App(ENTRY, secrets={"auth": dict(configuration.oidc)} if configuration.oidc else None)
    pages = PagesDoor(
        ProviderAway(DeepLinks(streamlit)),
        pages=[page.path for page in PAGES],
        asks_who=functools.partial(_asks_who, Desk(configuration)),
        signs_in=configuration.signs_in,
    )
    return _Fork(
        pages=AnswerHeaders(pages, policy=page_policy((*inline_scripts(), SCRIPT))),
        api=AnswerHeaders(make_api(configuration)),
    )


async def _asks_who(desk: Desk) -> bool:
    """Whether callers are asked who they are."""
    if desk.configuration.signs_in:
        return True
    try:
        return await desk.run(lambda opened: tokens_asked_for(opened.services.database), lane="probes")
    except MedirError:
        # the page that is let through asks again, and tells of the outage in its own words
        return True


class _Fork:
    """Requests below `/api` go to the API, all others on to the workbench.

    As a route beside Streamlit's it would stand behind middleware of the pages, which answers for itself.
    """

    def __init__(self, *, pages: "ASGIApp", api: "ASGIApp") -> None:
        self._pages = pages
        self._api = api

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Lead one request."""
        path = str(scope.get("path", ""))
        if scope["type"] == "http" and (path == _API or path.startswith(f"{_API}/")):
            await self._api({**scope, "root_path": f"{scope.get('root_path', '')}{_API}"}, receive, send)
        else:
            await self._pages(scope, receive, send)


@contextmanager
def listening(
    host: str, port: int, *, tokens_exist: Callable[[], bool] | None = None
) -> Iterator[socket.socket]:
    """A socket that listens, taken before any work, so that an occupied port is known at once.

    Args:
        host: An address, or `localhost`.
        port: 0 lets the system choose.
        tokens_exist: Tells whether a token is in force, which an address beyond this machine takes; None where there
            is none.

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
    run_until_stopped(make_app(configuration), listener)


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
