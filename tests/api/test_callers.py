"""Who is let in, as what, and what everybody else is told."""

import uuid
from collections.abc import Mapping

import psycopg
import pytest
from api_material import ApiInstallation, client_of
from httpx import Response
from starlette.testclient import TestClient

from medir.workbench import open_workbench
from rag_core.model import Actor
from rag_core.project.access import create_token, revoke_token

SEARCH = "/api/projects/entrega/rag/search"
QUESTION = {"query": "Quando o frete é calculado?"}
VIEWED = (
    "/api/projects/entrega/rag/coverage",
    "/api/projects/entrega/rag/report",
    f"/api/projects/entrega/rag/searches/{uuid.UUID(int=1)}",
    f"/api/projects/entrega/rag/reindex/{uuid.UUID(int=1)}",
)
"""Routes that read, for viewers and maintainers."""


def problem(response: Response, status: int, name: str) -> Mapping[str, object]:
    """The problem of a response, which must be of that status and type."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    told = response.json()
    assert told["type"] == f"/api/problems/{name}"
    assert told["status"] == status
    assert told["requestId"] == response.headers["x-request-id"]
    assert told["detail"]
    return told


def test_without_a_token_nothing_but_the_state_is_answered(client: TestClient) -> None:
    refused = client.post(SEARCH, json=QUESTION)
    problem(refused, 401, "not-signed-in")
    assert refused.headers["www-authenticate"] == 'Bearer realm="medir"'
    for path in (*VIEWED, "/api/projects/nowhere/rag/coverage", "/api/nothing-here"):
        problem(client.get(path), 401, "not-signed-in")
    for path in ("/api/health", "/api/ready", "/api/openapi.json", "/api/problems/busy"):
        assert client.get(path).status_code == 200, path


def test_a_revoked_token_opens_nothing(client: TestClient, installation: ApiInstallation) -> None:
    problem(
        client.post(SEARCH, json=QUESTION, headers={"Authorization": f"Bearer {installation.revoked}"}),
        401,
        "not-signed-in",
    )


def test_a_token_opens_nothing_from_the_request_after_its_end(own_installation: ApiInstallation) -> None:
    services = open_workbench(own_installation.configuration).services
    operator = Actor(kind="human", id="ana", surface="cli")
    made = create_token(services.database, services.clock, name="short", role="viewer", actor=operator)
    bearer = {"Authorization": f"Bearer {made.text}"}
    with client_of(own_installation.configuration) as client:
        assert client.post(SEARCH, json=QUESTION, headers=bearer).status_code == 200
        revoke_token(services.database, services.clock, "short", actor=operator)
        problem(client.post(SEARCH, json=QUESTION, headers=bearer), 401, "not-signed-in")


@pytest.mark.parametrize(
    "given",
    [
        "Bearer",
        "Bearer ",
        "Bearer medir_000000000000_" + "A" * 43,
        "Bearer medir_000000000000",
        "Bearer {viewer}x",
        "Bearer {viewer_but_last}",
        "Basic {viewer}",
        "{viewer}",
        "Bearer é",
    ],
)
def test_what_is_no_token_in_force_is_none(
    client: TestClient, installation: ApiInstallation, given: str
) -> None:
    viewer = installation.tokens["viewer"]
    text = given.replace("{viewer}", viewer).replace("{viewer_but_last}", viewer[:-1])
    sent = {"Authorization": text.encode("latin-1")}
    problem(client.post(SEARCH, json=QUESTION, headers=sent), 401, "not-signed-in")


def test_the_secret_of_one_token_does_not_open_another(
    client: TestClient, installation: ApiInstallation
) -> None:
    prefix, viewer_id, _ = installation.tokens["viewer"].split("_", 2)
    secret = installation.tokens["maintainer"].split("_", 2)[2]
    mixed = {"Authorization": f"Bearer {prefix}_{viewer_id}_{secret}"}
    problem(client.post(SEARCH, json=QUESTION, headers=mixed), 401, "not-signed-in")


@pytest.mark.parametrize("name", ["token", "access_token", "TOKEN", "authorization", "x"])
def test_a_token_in_the_address_is_refused_also_beside_a_good_one(
    client: TestClient, installation: ApiInstallation, name: str
) -> None:
    refused = client.get(
        "/api/projects/entrega/rag/coverage",
        params={name: installation.tokens["viewer"]},
        headers=installation.bearer("viewer"),
    )
    told = problem(refused, 400, "token-in-query")
    assert installation.tokens["viewer"] not in refused.text
    assert "revoke" in str(told["hint"])


def test_each_role_is_let_through_where_it_belongs_and_nowhere_else(
    client: TestClient, installation: ApiInstallation
) -> None:
    internal = {"projectId": "entrega", **QUESTION}
    vote = {"searchId": str(uuid.UUID(int=1)), "chunkId": str(uuid.UUID(int=2)), "verdict": "util"}
    allowed = {
        "viewer": {"search", "feedback", "read"},
        "maintainer": {"search", "feedback", "read", "reindex"},
        "engine": {"internal", "feedback"},
    }
    for role, doors in allowed.items():
        bearer = installation.bearer(role)
        tried = {
            "search": [client.post(SEARCH, json=QUESTION, headers=bearer)],
            "internal": [client.post("/api/internal/rag/search", json=internal, headers=bearer)],
            "feedback": [client.post("/api/projects/entrega/rag/feedback", json=vote, headers=bearer)],
            "reindex": [client.post("/api/projects/nowhere/rag/reindex", json={}, headers=bearer)],
            "read": [client.get(path, headers=bearer) for path in VIEWED],
        }
        for door, responses in tried.items():
            for response in responses:
                if door in doors:
                    assert response.status_code in (200, 400, 404), (role, door, response.text)
                else:
                    problem(response, 403, "not-permitted")


def test_only_an_engine_speaks_for_an_agent(client: TestClient, installation: ApiInstallation) -> None:
    vote = {
        "searchId": str(uuid.UUID(int=1)),
        "chunkId": str(uuid.UUID(int=2)),
        "verdict": "util",
        "agent": "planner",
    }
    path = "/api/projects/entrega/rag/feedback"
    problem(client.post(path, json=vote, headers=installation.bearer("maintainer")), 403, "not-permitted")
    problem(client.post(path, json=vote, headers=installation.bearer("engine")), 400, "invalid-request")


def test_searches_and_votes_keep_surfaces_and_actors_apart(own_installation: ApiInstallation) -> None:
    with client_of(own_installation.configuration) as client:
        asked = client.post(SEARCH, json=QUESTION, headers=own_installation.bearer("viewer")).json()
        for extra in ({}, {"agent": "planner", "sessionId": "s-1"}):
            client.post(
                "/api/internal/rag/search",
                json={"projectId": "entrega", **QUESTION, **extra},
                headers=own_installation.bearer("engine"),
            ).raise_for_status()
        vote = {
            "searchId": asked["searchId"],
            "chunkId": asked["hits"][0]["chunkId"],
            "verdict": "util",
        }
        path = "/api/projects/entrega/rag/feedback"
        for role, extra in (("viewer", {}), ("engine", {"agent": "planner"}), ("engine", {})):
            given = client.post(path, json=vote | extra, headers=own_installation.bearer(role))
            given.raise_for_status()
            assert given.json() == vote | {"rank": 1, "changed": False}
    url = own_installation.configuration.database_url
    assert url is not None
    with psycopg.connect(url) as connection:
        searches = connection.execute(
            "select surface::text, actor_kind::text, actor_id, session_id from rag_searches order by created_at"
        ).fetchall()
        votes = connection.execute(
            "select actor_kind::text, actor_id from rag_feedback order by actor_kind, actor_id"
        ).fetchall()
        told = connection.execute(
            "select type, actor_id from session_events where session_id = 's-1' and type like 'rag.%'"
        ).fetchall()
    assert searches == [
        ("api", "human", "a-viewer", None),
        ("engine", "agent", "a-engine", None),
        ("engine", "agent", "planner", "s-1"),
    ]
    assert votes == [("agent", "a-engine"), ("agent", "planner"), ("human", "a-viewer")]
    assert told == [("rag.search", "planner")]


def test_while_there_is_no_token_the_operator_of_this_machine_may_do_everything(
    open_installation: ApiInstallation,
) -> None:
    with client_of(open_installation.configuration) as client:
        assert client.post(SEARCH, json=QUESTION).status_code == 200
        assert client.get("/api/projects/entrega/rag/coverage").status_code == 200
        internal = {"projectId": "entrega", **QUESTION, "agent": "planner"}
        assert client.post("/api/internal/rag/search", json=internal).status_code == 200


@pytest.mark.parametrize(
    ("peer", "host"),
    [
        ("192.0.2.7", "127.0.0.1:8501"),
        ("192.0.2.7", "medir.example.org"),
        # a name that leads to this machine, under which a page of another site calls
        ("127.0.0.1", "rebound.example.org:8501"),
        ("127.0.0.1", "127.0.0.1.example.org"),
        ("127.0.0.1", "localhost.example.org:8501"),
    ],
)
def test_nobody_else_is_let_in_without_one(open_installation: ApiInstallation, peer: str, host: str) -> None:
    with client_of(open_installation.configuration, peer=peer, host=host) as client:
        told = problem(client.post(SEARCH, json=QUESTION), 401, "not-signed-in")
        assert "only this machine" in str(told["detail"])


@pytest.mark.parametrize(
    ("peer", "host"),
    [
        ("127.0.0.1", "localhost:8501"),
        ("127.8.8.8", "127.0.0.1"),
        ("::1", "[::1]:8501"),
        ("::1", "LOCALHOST"),
    ],
)
def test_this_machine_has_several_names(open_installation: ApiInstallation, peer: str, host: str) -> None:
    with client_of(open_installation.configuration, peer=peer) as client:
        assert client.post(SEARCH, json=QUESTION, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("name", ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"])
def test_whom_a_proxy_asks_for_is_not_this_machine(open_installation: ApiInstallation, name: str) -> None:
    with client_of(open_installation.configuration) as client:
        told = problem(client.post(SEARCH, json=QUESTION, headers={name: "127.0.0.1"}), 401, "not-signed-in")
        assert "only this machine" in str(told["detail"])


def test_the_end_of_the_last_token_opens_nothing(own_installation: ApiInstallation) -> None:
    with psycopg.connect(str(own_installation.configuration.database_url)) as connection:
        connection.execute(
            "update access_tokens set revoked_at = now(), revoked_by_kind = 'human', revoked_by_id = 'ana'"
            " where revoked_at is null"
        )
    with client_of(own_installation.configuration) as client:
        problem(client.post(SEARCH, json=QUESTION), 401, "not-signed-in")


def test_a_token_is_checked_also_where_none_is_needed(open_installation: ApiInstallation) -> None:
    with client_of(open_installation.configuration) as client:
        bearer = {"Authorization": "Bearer medir_000000000000_" + "A" * 43}
        problem(client.post(SEARCH, json=QUESTION, headers=bearer), 401, "not-signed-in")


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://127.0.0.1:3000",
        "http://localhost:8501",
        "null",
        "http://[::1",
        "https://127.0.0.1:8501",
    ],
)
def test_a_page_of_another_site_may_not_call(open_installation: ApiInstallation, origin: str) -> None:
    with client_of(open_installation.configuration) as client:
        problem(client.post(SEARCH, json=QUESTION, headers={"Origin": origin}), 403, "cross-origin")


def test_a_page_of_this_server_may_call(open_installation: ApiInstallation) -> None:
    with client_of(open_installation.configuration) as client:
        own = {"Origin": "http://127.0.0.1:8501"}
        assert client.post(SEARCH, json=QUESTION, headers=own).status_code == 200
