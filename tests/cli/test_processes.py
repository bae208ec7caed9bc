"""The program as a process: its streams, its start from nothing, and what a signal leaves behind."""

import json
import resource
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import rows_of_votes as votes
import shapes
from command_line import Installation

from material import DOCUMENTS, Repository
from ollama_server import Fault, OllamaServer
from rag_core.database.connections import Database
from rag_core.database.runs import recent_runs
from rag_core.database.server.server import EmbeddedServer
from rag_core.project.projects import add_project


@pytest.fixture(scope="module")
def from_nothing(open_home: Path) -> Installation:
    """An installation of an empty home folder: an embedded server, and an embedded encoder."""
    return Installation(home=open_home, environment={"MEDIR_EMBEDDING": "embedded"})


def is_running(installation: Installation) -> bool:
    return EmbeddedServer(installation.home).status().running


def test_up_makes_everything_from_nothing_and_a_second_time_is_quick(from_nothing: Installation) -> None:
    # two who begin at once: one makes the sample, the other waits for it, and neither fails
    processes = [from_nothing.start("up", "--no-serve", "--json") for _ in range(2)]
    ends = [process.communicate(timeout=180) for process in processes]
    for process, (stdout, stderr) in zip(processes, ends, strict=True):
        assert process.returncode in (0, 1), stderr
        assert shapes.mismatches(json.loads(stdout), shapes.GOLDEN_RUN) == []
    told = sorted(stderr for _, stderr in ends)
    assert sum("Indexing the sample: for the first time." in stderr for stderr in told) == 1, told
    assert sum("The sample is indexed and up to date." in stderr for stderr in told) == 1, told
    assert not is_running(from_nothing)

    first = json.loads(ends[0][0])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    second = from_nothing.execute("up", "--no-serve")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # of the processor, since others may be at work on the machine
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 20
    assert second.code == processes[0].returncode
    assert "The sample is indexed and up to date." in second.stderr
    assert f"{first['passed']} of {first['total']} pass" in second.stdout
    assert not is_running(from_nothing)


def test_up_never_deletes_a_vote_and_says_what_it_left_undone(from_nothing: Installation) -> None:
    with EmbeddedServer(from_nothing.home) as url, psycopg.connect(url, autocommit=True) as connection:
        # a chunk that the sample's files no longer hold, with a vote on it, in an index of another commit
        votes.voted_chunk(connection, "sample", path="docs/apagado.md")
        connection.execute("update index_scopes set commit = 'another'")
        before = votes.counts(connection)
    ended = from_nothing.execute("up", "--no-serve", "--json")
    assert ended.code in (0, 1), ended.stderr
    assert "The sample keeps its old index. This run would delete 1 vote." in ended.stderr
    with EmbeddedServer(from_nothing.home) as url, psycopg.connect(url, autocommit=True) as connection:
        assert votes.counts(connection) == before


def test_ctrl_c_ends_the_workbench_and_the_server_behind_it(from_nothing: Installation) -> None:
    process = from_nothing.start("serve", "--port", "0")
    try:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("Workbench: http://127.0.0.1:")
        assert "Make a token before a proxy is put in front" in process.stderr.readline()
        assert is_running(from_nothing)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert not is_running(from_nothing)


@pytest.fixture
def slow(database_url: str, tmp_path: Path) -> Iterator[Installation]:
    """A project whose provider takes the first texts and then says nothing more."""
    with Database(database_url) as database:
        add_project(database, "entrega", repo=Repository(tmp_path / "repository").folder)
    with OllamaServer() as ollama:
        ollama.fault = Fault.HANG
        yield Installation(
            home=tmp_path,
            environment={
                "DATABASE_URL": database_url,
                "MEDIR_EMBEDDING": "ollama",
                "OLLAMA_HOST": ollama.host,
            },
        )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_an_index_run_leaves_no_half_index_and_is_recorded(
    slow: Installation, number: signal.Signals, code: int
) -> None:
    process = slow.start("index", "--json")
    try:
        with Database(slow.environment["DATABASE_URL"]) as database, database.connection() as connection:
            deadline = time.monotonic() + 60
            while not connection.execute("select 1 from runs where state = 'running'").fetchone():
                assert time.monotonic() < deadline
                time.sleep(0.05)
            # the run waits for the provider by now, or will in a moment
            time.sleep(0.5)
            process.send_signal(number)
            stdout, _ = process.communicate(timeout=60)
            assert process.returncode == code
            assert shapes.mismatches(json.loads(stdout), shapes.ERROR) == []
            (ended,) = recent_runs(connection, "entrega", "index", count=5)
            assert ended.state == "cancelled"
            assert connection.execute("select count(*) from chunks").fetchone() == (0,)
    finally:
        process.kill()
        process.wait()


def test_json_and_everything_else_keep_to_their_streams_in_a_plain_locale(
    database_url: str, tmp_path: Path
) -> None:
    installation = Installation(
        home=tmp_path,
        environment={"DATABASE_URL": database_url, "LC_ALL": "C", "MEDIR_EMBEDDING": "embedded"},
    )
    repository = Repository(tmp_path / "repositório", DOCUMENTS)
    added = installation.execute("project", "add", "Operação", "--repo", str(repository.folder), "--json")
    assert (added.code, added.stderr) == (0, "")
    assert (added.document["project"], added.document["name"]) == ("operacao", "Operação")
    wrong = installation.execute("search", "--json", "?", "--limit", "zero")
    assert (wrong.code, wrong.stderr) == (2, "")
    assert shapes.mismatches(wrong.document, shapes.ERROR) == []
