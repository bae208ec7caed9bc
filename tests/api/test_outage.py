"""The database away and back: 503 with a time to come back, then answers again, by the same process."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from api_material import api_installation, client_of
from test_callers import QUESTION, SEARCH, problem

from medir.configuration import load_configuration
from rag_core.database.migration import migrate
from rag_core.database.server.server import EmbeddedServer


@pytest.fixture
def server(open_home: Path) -> Iterator[EmbeddedServer]:
    """A server that the API does not start by itself, as one that DATABASE_URL names."""
    used = EmbeddedServer(open_home)
    yield used
    used.release()


def test_an_outage_is_503_and_passes_without_a_restart(
    server: EmbeddedServer, open_home: Path, tmp_path: Path
) -> None:
    url = server.acquire()
    migrate(url)
    with api_installation(url, tmp_path, tokens=False) as made, client_of(made.configuration) as client:
        before = client.post(SEARCH, json=QUESTION)
        assert before.status_code == 200

        EmbeddedServer(open_home).stop()
        for response in (client.post(SEARCH, json=QUESTION), client.get("/api/ready")):
            problem(response, 503, "database-unavailable")
            assert response.headers["retry-after"] == "5"
        assert client.get("/api/health").status_code == 200

        server.acquire()
        server.release()
        after = client.post(SEARCH, json=QUESTION)
        assert after.status_code == 200
        found = [[hit["chunkId"] for hit in answer.json()["hits"]] for answer in (before, after)]
        assert found[0] == found[1]
        assert client.get("/api/ready").json() == {"status": "ready"}


def test_a_database_that_is_away_at_the_start_is_waited_for_by_the_callers(
    server: EmbeddedServer, open_home: Path, tmp_path: Path
) -> None:
    url = server.acquire()
    EmbeddedServer(open_home).stop()
    configuration = load_configuration(
        {"DATABASE_URL": url, "MEDIR_HOME": str(tmp_path), "MEDIR_EMBEDDING": "embedded"}
    )
    with client_of(configuration) as client:
        problem(client.get("/api/ready"), 503, "database-unavailable")
        problem(client.get("/api/projects/entrega/rag/coverage"), 503, "database-unavailable")
