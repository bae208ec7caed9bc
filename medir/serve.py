"""The ASGI app: the Streamlit workbench behind its door, with the HTTP API beside it, served by uvicorn."""

import functools
import socket
import threading
import webbrowser
from collections.abc import Callable
from typing import TYPE_CHECKING

from medir.configuration import Configuration
from medir.http_api.desk import Desk
from medir.listening import run_until_stopped
from rag_core.errors import MedirError
from rag_core.project.access import tokens_asked_for

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_API = "/api"


def make_app(configuration: Configuration) -> "ASGIApp":
    """The workbench with `/api` beside it; services are opened by whoever needs them first."""
    # loading Streamlit takes a second that no other verb of the command line should pay
    import streamlit as st  # noqa: PLC0415

    from medir.door.answer_headers import AnswerHeaders, page_policy  # noqa: PLC0415
    from medir.door.deep_links import DeepLinks, line_of  # noqa: PLC0415
    from medir.door.pages_door import PagesDoor  # noqa: PLC0415
    from medir.door.provider_away import ProviderAway  # noqa: PLC0415
    from medir.http_api.app import make_api  # noqa: PLC0415
    from medir.page_kit.streamlit_options import inline_scripts, settle_options  # noqa: PLC0415
    from medir.pages import ENTRY, PAGES  # noqa: PLC0415

    settle_options()
    streamlit = st.App(ENTRY, secrets={"auth": dict(configuration.oidc)} if configuration.oidc else None)
    paths = [page.path for page in PAGES]
    line = line_of(paths)
    pages = PagesDoor(
        ProviderAway(DeepLinks(streamlit, line=line)),
        pages=paths,
        asks_who=functools.partial(_asks_who, Desk(configuration)),
        signs_in=configuration.signs_in,
    )
    return _Fork(
        pages=AnswerHeaders(pages, policy=page_policy((*inline_scripts(), line))),
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
