"""What the tests of the API share: an installation with two projects and a token of each role, and ways to call it."""

import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from material import ANA, DOCUMENTS, Repository
from medir.configuration import Configuration, load_configuration
from medir.http_api.app import make_api
from medir.workbench import close_workbench, open_workbench
from rag_core.index.session_import import import_sessions
from rag_core.model import Project
from rag_core.project.access import ROLES, create_token, revoke_token
from rag_core.project.projects import add_project

SESSION = "s-1"
_TALK = (
    '{"sessionId": "s-1", "eventId": "e-1", "type": "chat.message", "createdAt": "2026-03-01T10:00:00Z", '
    '"actor": {"kind": "human", "id": "ana"}, "title": "Docas", "payload": {"text": "A doca três abre às seis."}}\n'
)
OTHER = {"docs/multa.md": "# Multa\n\nA multa por atraso é de dois por cento.\n"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiInstallation:
    """An installation with the projects `entrega` and `outra`. `tokens` holds a token's text by role."""

    configuration: Configuration
    project: Project
    other: Project
    tokens: Mapping[str, str]
    revoked: str

    def bearer(self, role: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[role]}"}


@contextmanager
def api_installation(url: str, folder: Path, *, tokens: bool = True) -> Iterator[ApiInstallation]:
    """Makes both projects and indexes them; without tokens, the installation is open to its own machine."""
    configuration = load_configuration(
        {
            "HOME": os.devnull,
            "DATABASE_URL": url,
            "MEDIR_HOME": str(folder / "home"),
            "MEDIR_EMBEDDING": "embedded",
        }
    )
    opened = open_workbench(configuration)
    try:
        services = opened.services
        project = add_project(
            services.database, "entrega", repo=Repository(folder / "entrega", DOCUMENTS).folder
        )
        other = add_project(services.database, "outra", repo=Repository(folder / "outra", OTHER).folder)
        talk = folder / "talk.jsonl"
        talk.write_text(_TALK, encoding="utf-8")
        import_sessions(services.database, project.project_id, talk)
        for one in (project, other):
            services.indexing.run(one, actor=ANA)
        made: dict[str, str] = {}
        revoked = ""
        if tokens:
            for role in ROLES:
                made[role] = create_token(
                    services.database, services.clock, name=f"a-{role}", role=role, actor=ANA
                ).text
            revoked = create_token(
                services.database, services.clock, name="gone", role="maintainer", actor=ANA
            ).text
            revoke_token(services.database, services.clock, "gone", actor=ANA)
        yield ApiInstallation(
            configuration=configuration, project=project, other=other, tokens=made, revoked=revoked
        )
    finally:
        close_workbench(opened)


@contextmanager
def client_of(
    configuration: Configuration,
    *,
    peer: str = "127.0.0.1",
    host: str = "127.0.0.1:8501",
    **options: Any,
) -> Iterator[TestClient]:
    """Calls the API in this process, as if it were mounted and the caller came from `peer`."""
    with TestClient(
        mounted(make_api(configuration, **options)), base_url=f"http://{host}", client=(peer, 50_000)
    ) as client:
        yield client


@contextmanager
def served(app: ASGIApp) -> Iterator[str]:
    """A real server on a free port of this machine, for as long as the context lasts; its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(30)


def mounted(api: ASGIApp) -> ASGIApp:
    """The API under `/api`, as the workbench serves it."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope = {**scope, "root_path": "/api"}
        await api(scope, receive, send)

    return app
