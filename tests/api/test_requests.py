"""What a request may be, and what the answers are: shapes, bounds, ids."""

import asyncio
import http.client
import json
import re
import uuid
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from api_material import SESSION, ApiInstallation, client_of, mounted, served
from starlette.testclient import TestClient
from test_callers import QUESTION, SEARCH, problem

from medir.http_api.app import make_api
from medir.http_api.bounds import Bounds
from medir.http_api.problems import PROBLEMS

FEEDBACK = "/api/projects/entrega/rag/feedback"
DOCUMENTATION = Path(__file__).resolve().parents[2] / "docs" / "http-api.md"


@pytest.fixture
def viewer(client: TestClient, installation: ApiInstallation) -> TestClient:
    client.headers.update(installation.bearer("viewer"))
    return client


def test_a_search_answers_as_the_command_line_does(viewer: TestClient) -> None:
    answer = viewer.post(SEARCH, json={**QUESTION, "scopes": ["docs", "adr"], "limit": 2})
    assert answer.status_code == 200
    found = answer.json()
    assert found["projectId"] == "entrega"
    assert found["question"] == "Quando o frete é calculado?"
    assert found["scopes"] == ["docs", "adr"]
    assert found["settings"]["limit"] == 2
    assert found["settings"]["source"] == "preset"
    first = found["hits"][0]
    assert (first["rank"], first["origin"]["kind"], first["origin"]["sourcePath"]) == (
        1,
        "file",
        "docs/frete.md",
    )
    assert len(found["hits"]) <= 2


def test_a_session_is_cited_as_one(viewer: TestClient) -> None:
    found = viewer.post(SEARCH, json={"query": "A que horas abre a doca três?", "scopes": ["session"]}).json()
    assert found["hits"][0]["origin"] == {
        "kind": "session",
        "sessionId": SESSION,
        "eventId": "e-1",
        "title": "Docas",
    }


def test_a_search_can_be_read_again_with_the_votes_on_it(viewer: TestClient) -> None:
    asked = viewer.post(SEARCH, json=QUESTION).json()
    hit = asked["hits"][0]
    vote = {"searchId": asked["searchId"], "chunkId": hit["chunkId"], "verdict": "irrelevante"}
    viewer.post(FEEDBACK, json=vote).raise_for_status()
    changed = viewer.post(FEEDBACK, json=vote | {"verdict": "util"}).json()
    assert changed["changed"] is True
    read = viewer.get(f"/api/projects/entrega/rag/searches/{asked['searchId']}").json()
    assert read["question"] == asked["question"]
    assert [entry["chunkId"] for entry in read["hits"]] == [entry["chunkId"] for entry in asked["hits"]]
    assert read["hits"][0]["citation"] == hit["citation"]
    assert [(one["verdict"], one["rank"], one["actor"]) for one in read["votes"]] == [
        ("util", 1, "human:a-viewer")
    ]


def test_the_report_counts_what_was_asked(viewer: TestClient) -> None:
    viewer.post(SEARCH, json=QUESTION).raise_for_status()
    report = viewer.get("/api/projects/entrega/rag/report", params={"since": "1h"}).json()
    assert report["searches"] >= 1
    assert report["verdict"]["passed"] is True
    assert {part["key"] for part in report["splits"]["surface"]} == {"api"}


@pytest.mark.parametrize(
    "window",
    [
        {"since": "1h", "from": "2026-01-01T00:00:00Z"},
        {"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"},
        {"from": "2026-01-01T00:00:00"},
        {"from": "yesterday"},
        {"since": "soon"},
        {"tz": "Atlantis/Centre"},
        {"synthetic": "perhaps"},
    ],
)
def test_a_window_that_is_none_is_refused(viewer: TestClient, window: dict[str, str]) -> None:
    problem(viewer.get("/api/projects/entrega/rag/report", params=window), 400, "invalid-request")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": " \t\u00a0"}, "query"),
        ({"query": "\x00"}, "query"),
        ({"query": "x" * 2001}, "query"),
        ({"query": 7}, "query"),
        ({"query": None}, "query"),
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "limit": 51}, "limit"),
        ({"query": "x", "limit": "5"}, "limit"),
        ({"query": "x", "limit": True}, "limit"),
        ({"query": "x", "scopes": ["docs"] * 4}, "scopes"),
        ({"query": "x", "scopes": ["code"]}, "scopes.0"),
        ({"query": "x", "sessionId": "a\x00b"}, "sessionId"),
        ({"query": "x", "agent": "planner"}, "agent"),
        ({"query": "x", "threshold": 0.9}, "threshold"),
    ],
)
def test_a_body_is_held_to_the_document_and_the_field_is_named(
    viewer: TestClient, body: dict[str, object], field: str
) -> None:
    told = problem(viewer.post(SEARCH, json=body), 400, "invalid-request")
    assert told["where"] == {"field": field}


def test_no_scopes_are_all_of_them(viewer: TestClient) -> None:
    for scopes in ({}, {"scopes": None}, {"scopes": []}):
        assert viewer.post(SEARCH, json={"query": "frete"} | scopes).json()["scopes"] == [
            "docs",
            "adr",
            "session",
        ]


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("/api/health", "_=1", "_"),
        ("/api/ready", "verbose", "verbose"),
        ("/api/openapi.json", "format=yaml", "format"),
        ("/api/problems/busy", "lang=pt", "lang"),
        ("/api/projects/entrega/rag/coverage", "scope=docs", "scope"),
        ("/api/projects/entrega/rag/report", "since=7d&start=x", "start"),
        ("/api/projects/entrega/rag/report", "since=7d&since=8d", "since"),
        (SEARCH, "limit=3", "limit"),
    ],
)
def test_a_parameter_that_an_address_does_not_take_is_refused_by_name(
    viewer: TestClient, path: str, query: str, field: str
) -> None:
    address = f"{path}?{query}"
    sent = viewer.post(address, json={"query": "frete"}) if path == SEARCH else viewer.get(address)
    assert problem(sent, 400, "invalid-request")["where"] == {"field": field}


@pytest.mark.parametrize(
    "path",
    [
        "/api/health",
        "/api/ready",
        "/api/openapi.json",
        "/api/problems/busy",
        "/api/problems/none",
        "/api/projects/entrega/rag/coverage",
        "/api/projects/entrega/rag/report",
    ],
)
def test_the_head_of_whatever_can_be_read_is_answered_as_its_whole(viewer: TestClient, path: str) -> None:
    whole, head = viewer.get(path), viewer.head(path)
    assert (head.status_code, head.content) == (whole.status_code, b"")
    for name in ("content-type", "content-length", "cache-control"):
        assert head.headers[name] == whole.headers[name]
    refused = problem(viewer.put(path), 405, "method-not-allowed")
    assert refused["status"] == 405
    assert viewer.put(path).headers["allow"] == "GET, HEAD"


def test_where_nothing_can_be_read_there_is_no_head_either(viewer: TestClient) -> None:
    refused = viewer.head(SEARCH)
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")


def test_what_was_sent_is_not_sent_back(viewer: TestClient) -> None:
    refused = viewer.post(SEARCH, json={"query": "x", "secret-looking": "hunter2"})
    assert "hunter2" not in refused.text


def test_two_thousand_characters_are_a_question_and_nul_bytes_are_left_out(viewer: TestClient) -> None:
    assert viewer.post(SEARCH, json={"query": "ã" * 2000}).status_code == 200
    assert viewer.post(SEARCH, json={"query": "fre\x00te"}).json()["question"] == "frete"


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 30_000,
        b'{"query": ' + b"[" * 30_000,
        b"",
        b"{",
        b'{"query": "\\ud800"}',
        b"\xff\xfe",
        b"[]",
        b"null",
        b'"x"',
    ],
)
def test_what_is_no_request_is_refused(viewer: TestClient, content: bytes) -> None:
    sent = viewer.post(SEARCH, content=content, headers={"Content-Type": "application/json"})
    problem(sent, 400, "invalid-request")


@pytest.mark.parametrize("media", ["text/plain", "application/x-www-form-urlencoded", "application/xml", ""])
def test_a_body_that_is_not_sent_as_json_is_refused(viewer: TestClient, media: str) -> None:
    sent = viewer.post(SEARCH, content=b'{"query": "frete"}', headers={"Content-Type": media})
    problem(sent, 415, "not-json")


def test_a_body_of_more_than_64_kilobytes_is_not_read(viewer: TestClient) -> None:
    announced = viewer.post(SEARCH, content=b" " * 65_537, headers={"Content-Type": "application/json"})
    problem(announced, 413, "body-too-large")

    def parts() -> Iterator[bytes]:
        for _ in range(9):
            yield b" " * 8192

    streamed = viewer.post(SEARCH, content=parts(), headers={"Content-Type": "application/json"})
    problem(streamed, 413, "body-too-large")
    full = b'{"query": "frete"' + b" " * (65_536 - 18) + b"}"
    assert viewer.post(SEARCH, content=full, headers={"Content-Type": "application/json"}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/api/projects/../rag/coverage",
        "/api/projects/entrega/rag/searches/..",
        "/api/projects/%2e%2e/rag/coverage",
        "/api/projects/entrega/rag/../../../../etc/passwd",
        "/api/projects/..%5c..%5cx/rag/coverage",
        "/api/./health",
    ],
)
def test_an_address_that_leads_elsewhere_is_refused(installation: ApiInstallation, path: str) -> None:
    # sent as it stands: most clients would write it plainly of their own accord
    with served(mounted(make_api(installation.configuration))) as address:
        connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=30)
        connection.request("GET", path, headers=installation.bearer("viewer"))
        response = connection.getresponse()
        told = json.loads(response.read())
        connection.close()
    assert (response.status, told["type"]) == (400, "/api/problems/invalid-request")


@pytest.mark.parametrize("name", ["ENTREGA", "a_b", "-", "x" * 64, "%00", "entrega%20"])
def test_what_is_no_project_id_is_refused(viewer: TestClient, name: str) -> None:
    problem(viewer.get(f"/api/projects/{name}/rag/coverage"), 400, "invalid-request")


def test_a_project_that_is_not_there_is_not_found(viewer: TestClient) -> None:
    problem(viewer.get("/api/projects/nowhere/rag/coverage"), 404, "not-found")
    problem(viewer.post("/api/projects/nowhere/rag/search", json=QUESTION), 404, "not-found")


def test_ids_of_another_project_are_refused(
    viewer: TestClient, client: TestClient, installation: ApiInstallation
) -> None:
    here = viewer.post(SEARCH, json=QUESTION).json()
    there = viewer.post("/api/projects/outra/rag/search", json={"query": "De quanto é a multa?"}).json()
    for search_id, chunk_id, field in (
        (there["searchId"], there["hits"][0]["chunkId"], "searchId"),
        (here["searchId"], there["hits"][0]["chunkId"], "chunkId"),
    ):
        vote = {"searchId": search_id, "chunkId": chunk_id, "verdict": "util"}
        told = problem(viewer.post(FEEDBACK, json=vote), 400, "invalid-request")
        assert told["where"] == {"field": field}
    problem(viewer.get(f"/api/projects/entrega/rag/searches/{there['searchId']}"), 404, "not-found")
    begun = client.post(
        "/api/projects/outra/rag/reindex", json={}, headers=installation.bearer("maintainer")
    ).json()
    problem(viewer.get(f"/api/projects/entrega/rag/reindex/{begun['runId']}"), 404, "not-found")
    assert viewer.get(f"/api/projects/outra/rag/reindex/{begun['runId']}").status_code == 200


@pytest.mark.parametrize(
    "change", [{"searchId": "x"}, {"chunkId": "x"}, {"verdict": "good"}, {"searchId": None}, {"agent": ""}]
)
def test_a_vote_that_is_none_is_refused_with_400(viewer: TestClient, change: dict[str, object]) -> None:
    vote = {"searchId": str(uuid.UUID(int=1)), "chunkId": str(uuid.UUID(int=2)), "verdict": "util"}
    told = problem(viewer.post(FEEDBACK, json=vote | change), 400, "invalid-request")
    assert told["where"] == {"field": next(iter(change))}


def test_another_method_is_refused_with_the_one_that_is_taken(viewer: TestClient) -> None:
    refused = viewer.get(SEARCH)
    problem(refused, 405, "method-not-allowed")
    assert refused.headers["allow"] == "POST"


def test_a_request_keeps_the_id_that_it_came_with(client: TestClient) -> None:
    assert (
        client.get("/api/health", headers={"X-Request-Id": "trace-1.a_B"}).headers["x-request-id"]
        == "trace-1.a_B"
    )
    for unfit in ("", "x" * 65, "a b", "<script>"):
        given = client.get("/api/health", headers={"X-Request-Id": unfit}).headers["x-request-id"]
        assert re.fullmatch(r"[0-9a-f]{32}", given)


def test_no_answer_is_kept_by_anybody_between(client: TestClient) -> None:
    for path in ("/api/health", "/api/projects/entrega/rag/coverage"):
        headers = client.get(path).headers
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers


def test_each_problem_is_explained_at_its_address_and_in_the_documentation(client: TestClient) -> None:
    written = DOCUMENTATION.read_text(encoding="utf-8")
    for name, kind in PROBLEMS.items():
        assert client.get(kind.type).json() == kind.to_json()
        assert f"| `{name}` | {kind.status} |" in written
    problem(client.get("/api/problems/none-such"), 404, "not-found")


def test_the_document_has_an_example_of_every_request_and_answer(client: TestClient) -> None:
    document = client.get("/api/openapi.json").json()
    assert document["servers"] == [{"url": "/api"}]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            good = operation["responses"]["202" if path.endswith("/reindex") else "200"]
            assert "example" in good["content"]["application/json"], path
            assert "422" not in operation["responses"], path
            private = path.startswith(("/projects", "/internal"))
            assert operation.get("security") == ([{"token": []}] if private else None), path
            if method == "post":
                assert "400" in operation["responses"], path


Message = dict[str, Any]


async def _call(
    app: Callable[..., Awaitable[None]], *, bounds: dict[str, Any], body: list[Message]
) -> tuple[list[Message], float]:
    """One request to an app behind the bounds: what was sent back, and how long that took."""
    sent: list[Message] = []
    coming = iter(body)

    async def receive() -> Message:
        message = next(coming, None)
        if message is None:
            await asyncio.sleep(60)
        return message or {}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/x", "headers": [], "query_string": b""}
    loop = asyncio.get_running_loop()
    began = loop.time()
    await Bounds(app, **bounds)(scope, receive, send)
    return sent, loop.time() - began


async def _slow(scope: Message, receive: Callable[[], Awaitable[Message]], send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    await asyncio.sleep(60)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ([{"type": "http.request", "body": b"{}"}], 504),
        ([{"type": "http.request", "body": b"{", "more_body": True}], 408),
    ],
)
def test_a_request_is_given_up_when_its_time_is_over(body: list[Message], status: int) -> None:
    sent, took = asyncio.run(_call(_slow, bounds={"seconds": 0.05}, body=body))
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert sent[0]["status"] == status
    assert took < 5


def test_a_fault_is_answered_without_what_happened(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(scope: Message, receive: Any, send: Any) -> None:
        raise RuntimeError("the secret of the house")

    sent, _ = asyncio.run(_call(broken, bounds={}, body=[]))
    assert sent[0]["status"] == 500
    assert b"secret" not in sent[1]["body"]
    assert b"/api/problems/fault" in sent[1]["body"]
    assert "a fault in request" in caplog.text


def test_more_requests_than_are_answered_at_once_are_told_to_come_back(installation: ApiInstallation) -> None:
    with client_of(installation.configuration, at_once=0) as client:
        refused = client.get("/api/health")
        problem(refused, 503, "overloaded")
        assert refused.headers["retry-after"] == "1"
