"""The agent tools over streamable HTTP: who is let in, and the serving.

Every call is complete in itself: no session of the protocol is kept and nothing is pushed, so a restart is noticed by
nobody and a client that vanishes leaves nothing behind.
"""

import socket

from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.types import ASGIApp

from medir.agent_tools.gate import AgentDoor, admitted
from medir.agent_tools.server import Context, agent_actor, make_server
from medir.agent_tools.tools import AgentTools
from medir.door.answer_headers import AnswerHeaders
from medir.listening import run_until_stopped
from rag_core.model import Actor

PATH = "/mcp"
_MAX_BODY_BYTES = 64 * 1024


def make_app(tools: AgentTools, *, agent: str | None, trusts_machine: bool = True) -> ASGIApp:
    """The ASGI app, with the tools at `/mcp`.

    `agent` is who calls without a token; None: whoever the client says it is. A call with a token is its
    holder's. `trusts_machine` is false where a caller on this machine needs a token even while there is none.
    """

    def identify(context: Context) -> Actor:
        known = admitted(context.request.scope) if isinstance(context.request, Request) else None
        return known or agent_actor(agent, context)

    app = make_server(tools, identify).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=_MAX_BODY_BYTES,
        # the gate has checked a caller without a token, and a token is nothing that a foreign page could send
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    gate = AgentDoor(app, database=tools.database, clock=tools.clock, trusts_machine=trusts_machine)
    return AnswerHeaders(gate)


def serve_http(app: ASGIApp, listener: socket.socket) -> None:
    """Serve on a socket that listens, until Ctrl-C or a termination signal."""
    run_until_stopped(app, listener)
