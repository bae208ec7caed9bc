"""`medir mcp`: the agent tools, on standard input and output or over HTTP."""

import functools
import socket
import sys
from contextlib import AbstractContextManager, nullcontext

import click

from medir.cli.frame import Output, chosen_project, project_option, services, with_output
from medir.configuration import port_number
from medir.listening import LOOPBACK, listening
from medir.wiring import Services
from rag_core.errors import UsageError
from rag_core.project.access import tokens_exist


@click.command("mcp")
@project_option
@click.option(
    "--agent", metavar="NAME", help="Who searches and votes; default: the name the client gives itself."
)
@click.option("--session", "session_id", metavar="ID", help="The session that the searches belong to.")
@click.option("--http", "over_http", is_flag=True, help="Serve over HTTP, not on standard input and output.")
@click.option("--host", metavar="H", help=f"Address for --http; default {LOOPBACK}.")
@click.option("--port", metavar="N", help="Port for --http; default the one after MEDIR_PORT.")
@with_output
def mcp(
    output: Output,
    *,
    project_id: str | None,
    agent: str | None,
    session_id: str | None,
    over_http: bool,
    host: str | None,
    port: str | None,
) -> None:
    """Serve the tools rag_search and rag_feedback to agents (Model Context Protocol)."""
    if not over_http and (host is not None or port is not None):
        raise UsageError("--host and --port are for HTTP.", hint="Add --http, or leave them out.")
    # loading the protocol takes most of a second that `medir --help` should not pay
    from medir.agent_tools.http import PATH, make_app, serve_http  # noqa: PLC0415
    from medir.agent_tools.server import agent_actor, make_server  # noqa: PLC0415
    from medir.agent_tools.stdio import serve_stdio  # noqa: PLC0415
    from medir.agent_tools.tools import AgentTools  # noqa: PLC0415

    with services() as opened, _listener(opened, over_http, host, port) as listener:
        tools = AgentTools(
            database=opened.database,
            search=opened.search,
            clock=opened.clock,
            project_id=chosen_project(opened, project_id).project_id,
            session_id=session_id,
        )
        if listener is not None:
            output.note(f"Agent tools: {_address(listener)}{PATH}  (Ctrl-C stops it)")
            trusts = not opened.configuration.signs_in
            serve_http(make_app(tools, agent=agent, trusts_machine=trusts), listener)
            return
        if sys.stdin.isatty():
            output.note("This speaks the Model Context Protocol; an agent's client is to start it.")
        serve_stdio(make_server(tools, functools.partial(agent_actor, agent)))


def _listener(
    opened: Services, over_http: bool, host: str | None, port: str | None
) -> AbstractContextManager[socket.socket | None]:
    if not over_http:
        return nullcontext()
    if port is None:
        workbench = opened.configuration.port
        port = str(workbench + 1 if workbench else 0)
    return listening(
        host or LOOPBACK,
        port_number(port, name="--port"),
        tokens_exist=lambda: tokens_exist(opened.database, opened.clock),
    )


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{'[' + host + ']' if ':' in host else host}:{port}"
