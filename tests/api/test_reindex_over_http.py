"""Index runs over HTTP: begun, followed, refused."""

import time
import uuid
from pathlib import Path

import pytest
from api_material import ApiInstallation, client_of
from starlette.testclient import TestClient
from test_callers import QUESTION, SEARCH, problem

from material import Repository
from medir.work.work import work_key
from medir.workbench import open_workbench
from rag_core.model import Actor
from rag_core.project.runs import running

REINDEX = "/api/projects/entrega/rag/reindex"
ANOTHER = Actor(kind="human", id="bia", surface="cli")


@pytest.fixture
def maintainer(client: TestClient, installation: ApiInstallation) -> TestClient:
    client.headers.update(installation.bearer("maintainer"))
    return client


def ended(client: TestClient, where: str) -> dict[str, object]:
    """The run at an address, once it goes on no more."""
    deadline = time.monotonic() + 60
    while (run := client.get(where).json())["state"] in ("waiting", "running"):
        assert time.monotonic() < deadline, run
        time.sleep(0.02)
    return run


def test_a_run_is_answered_at_once_and_can_be_followed_to_its_end(maintainer: TestClient) -> None:
    begun = maintainer.post(REINDEX, json={"mode": "full", "scopes": ["docs"]})
    assert begun.status_code == 202
    where = begun.headers["location"]
    assert where == f"{REINDEX}/{begun.json()['runId']}"
    run = ended(maintainer, where)
    assert (run["state"], run["actor"], run["error"]) == ("done", "human:a-maintainer", None)
    result = run["result"]
    assert isinstance(result, dict)
    assert (result["runId"], result["mode"], set(result["scopes"])) == (
        begun.json()["runId"],
        "full",
        {"docs"},
    )
    assert result["votesLost"] == 0


def test_a_run_needs_no_body(maintainer: TestClient) -> None:
    begun = maintainer.post(REINDEX)
    assert begun.status_code == 202
    assert ended(maintainer, begun.headers["location"])["state"] == "done"


def test_votes_at_risk_are_a_conflict_until_somebody_agrees_to_lose_them(maintainer: TestClient) -> None:
    asked = maintainer.post(SEARCH, json=QUESTION).json()
    vote = {"searchId": asked["searchId"], "chunkId": asked["hits"][0]["chunkId"], "verdict": "util"}
    maintainer.post("/api/projects/entrega/rag/feedback", json=vote).raise_for_status()

    refused = maintainer.post(REINDEX, json={"mode": "full"})
    told = problem(refused, 409, "votes-at-risk")
    assert told["votes"] == 1
    assert "confirmVotesLost" in str(told["hint"])
    assert "retry-after" in refused.headers
    assert maintainer.post("/api/projects/entrega/rag/feedback", json=vote).status_code == 200

    assert maintainer.post(REINDEX, json={"mode": "incremental"}).status_code == 202
    agreed = maintainer.post(REINDEX, json={"mode": "full", "confirmVotesLost": True})
    while agreed.status_code == 409:
        time.sleep(0.05)
        agreed = maintainer.post(REINDEX, json={"mode": "full", "confirmVotesLost": True})
    result = ended(maintainer, agreed.headers["location"])["result"]
    assert isinstance(result, dict)
    assert result["votesLost"] == 1


def test_documents_that_are_gone_are_a_conflict_until_somebody_says_that_they_were_meant_to_go(
    own_installation: ApiInstallation,
) -> None:
    address = "/api/projects/outra/rag/reindex"
    repository = Repository.at(Path(own_installation.other.repo))
    repository.commit({"docs/multa.md": "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n"})
    with client_of(own_installation.configuration) as client:
        client.headers.update(own_installation.bearer("maintainer"))
        for body in ({}, {"mode": "full", "confirmVotesLost": True}):
            told = problem(client.post(address, json=body), 409, "sources-gone")
            assert "1 LFS pointer (docs/multa.md)" in str(told["detail"])
            assert "confirmEmptied" in str(told["hint"])
        agreed = client.post(address, json={"confirmEmptied": True})
        result = ended(client, agreed.headers["location"])["result"]
    assert isinstance(result, dict)
    assert result["changes"] == {"kept": 0, "moved": 0, "added": 0, "removed": 1}


def test_a_run_of_another_process_is_a_conflict_with_a_time_to_come_back(
    maintainer: TestClient, installation: ApiInstallation
) -> None:
    database = open_workbench(installation.configuration).services.database
    with running(database, "entrega", "index", actor=ANOTHER, parameters={}, exclusive=True):
        refused = maintainer.post(REINDEX, json={})
        told = problem(refused, 409, "busy")
        assert refused.headers["retry-after"] == "5"
        assert "human:bia" in str(told["detail"])
        # another project is another matter
        assert maintainer.post("/api/projects/outra/rag/reindex", json={}).status_code == 202
    work = open_workbench(installation.configuration).work
    assert work.failure(work_key("index", "entrega")) is None


def test_what_a_run_needs_and_does_not_find_is_told(
    maintainer: TestClient, installation: ApiInstallation
) -> None:
    problem(maintainer.post(REINDEX, json={"sessionId": "nowhere"}), 404, "not-found")
    repository = Path(installation.project.repo)
    moved = repository.rename(repository.with_name("gone"))
    try:
        problem(maintainer.post(REINDEX, json={}), 404, "not-found")
    finally:
        moved.rename(repository)


def test_one_session_can_be_indexed_alone(maintainer: TestClient) -> None:
    begun = maintainer.post(REINDEX, json={"sessionId": "s-1", "mode": "full"})
    result = ended(maintainer, begun.headers["location"])["result"]
    assert isinstance(result, dict)
    assert result["scopes"] == {"session": {"sessions": 1, "chunks": 1}}


def test_a_run_that_is_not_there_is_not_found(maintainer: TestClient) -> None:
    problem(maintainer.get(f"{REINDEX}/{uuid.UUID(int=1)}"), 404, "not-found")


def test_searches_go_on_while_the_index_is_made_anew(maintainer: TestClient) -> None:
    begun = maintainer.post(REINDEX, json={"mode": "full"})
    answers = [maintainer.post(SEARCH, json=QUESTION).json() for _ in range(5)]
    assert ended(maintainer, begun.headers["location"])["state"] == "done"
    assert {answer["hits"][0]["origin"]["sourcePath"] for answer in answers} == {"docs/frete.md"}
