"""Long work: one run of a kind at a time a project, dead ones are noticed, and one that stops leaves the old index."""

import os
import signal
import subprocess
import sys
import time
import uuid
from datetime import timedelta
from pathlib import Path

import pytest

import rag_core
from bag_of_words import BagOfWords
from material import ANA, DOCUMENTS, Fixed, Repository, Services, services
from rag_core.database.connecting import Connection
from rag_core.database.connections import Database
from rag_core.database.runs import find_run, insert_run, recent_runs, request_cancel
from rag_core.errors import Busy, DatabaseUnavailable, Refused
from rag_core.model import Actor, Project, Run, RunKind, RunProgress
from rag_core.project.projects import add_project
from rag_core.project.runs import STALE_AFTER, Cancelled, close_interrupted, running

BIA = Actor(kind="agent", id="bia", surface="api")

_HOLDER = """
import sys
from rag_core.database.connections import Database
from rag_core.model import Actor
from rag_core.project.runs import running
with Database(sys.argv[1]) as database:
    actor = Actor(kind="agent", id="bia", surface="api")
    with running(database, sys.argv[2], "index", actor=actor, parameters={}, exclusive=True):
        print("holding", flush=True)
        sys.stdin.readline()
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository", DOCUMENTS)


@pytest.fixture
def project(database: Database, repository: Repository) -> Project:
    return add_project(database, "entrega", repo=repository.folder)


@pytest.fixture
def use(database: Database) -> Services:
    return services(database)


def hold(database: Database, project: Project, kind: RunKind = "index"):
    return running(database, project.project_id, kind, actor=BIA, parameters={}, exclusive=True)


def last(database: Database, project: Project) -> Run:
    with database.connection() as connection:
        return recent_runs(connection, project.project_id, "index", count=1)[0]


def rows_of(database: Database) -> list[tuple[object, ...]]:
    with database.connection() as connection:
        return connection.execute(
            "select id, source_path, ordinal, content, embedding::text from chunks order by id"
        ).fetchall()


def test_a_second_run_is_refused_and_told_who_holds_the_project_since_when(
    database: Database, use: Services, project: Project
) -> None:
    with hold(database, project):
        since = last(database, project).started_at
        with pytest.raises(Busy) as refusal:
            use.indexing.run(project, actor=ANA)

    assert refusal.value.message == (
        f"Another index run of entrega is at work since {since:%H:%M:%S} UTC, by agent:bia."
    )
    assert use.indexing.run(project, actor=ANA).complete


def test_another_project_and_another_kind_of_work_are_not_held(
    database: Database, use: Services, project: Project, tmp_path: Path
) -> None:
    other = add_project(database, "outra", repo=Repository(tmp_path / "outra", DOCUMENTS).folder)
    with hold(database, project), hold(database, project, "golden"):
        assert use.indexing.run(other, actor=ANA).complete


def test_a_refused_second_run_leaves_no_row(database: Database, use: Services, project: Project) -> None:
    with hold(database, project):
        with pytest.raises(Busy):
            use.indexing.run(project, actor=ANA)
        with database.connection() as connection:
            assert len(recent_runs(connection, project.project_id, "index", count=9)) == 1


def test_a_killed_run_holds_nothing_and_the_next_one_marks_it_interrupted(
    database: Database, use: Services, project: Project
) -> None:
    path = os.pathsep.join([str(Path(rag_core.__file__).parents[1]), *filter(None, sys.path)])
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, database.url, project.project_id],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"holding\n"
        with pytest.raises(Busy, match="by agent:bia"):
            use.indexing.run(project, actor=ANA)
        process.send_signal(signal.SIGKILL)
    killed = last(database, project)
    wait_until_nobody_holds(database)

    use.indexing.run(project, actor=ANA)

    with database.connection() as connection:
        found = find_run(connection, project.project_id, killed.id)
    assert killed.state == "running"
    assert found is not None
    assert (found.state, found.finished_at) == ("interrupted", killed.heartbeat_at)


def test_a_run_without_a_lock_counts_as_interrupted_once_its_heart_has_been_still_for_half_a_minute(
    database: Database, project: Project
) -> None:
    identifiers = {name: uuid.uuid4() for name in ("still", "alive")}
    with database.connection() as connection:
        for identifier in identifiers.values():
            insert_run(
                connection,
                project.project_id,
                run_id=identifier,
                kind="index",
                parameters={},
                actor=ANA,
            )
        let_stand_still(connection, identifiers["still"], STALE_AFTER + timedelta(seconds=1))

    close_interrupted(database, project.project_id, "index")

    with database.connection() as connection:
        states = {
            name: run.state
            for name, identifier in identifiers.items()
            if (run := find_run(connection, project.project_id, identifier))
        }
    assert states == {"still": "interrupted", "alive": "running"}


def let_stand_still(connection: Connection, run_id: uuid.UUID, span: timedelta) -> None:
    connection.execute(
        "update runs set heartbeat_at = clock_timestamp() - %s::interval where id = %s", (span, run_id)
    )


def test_a_run_whose_lock_is_held_lives_however_old_its_heartbeat_looks(
    database: Database, project: Project
) -> None:
    with hold(database, project, "golden") as run:
        with database.connection() as connection:
            let_stand_still(connection, run.id, timedelta(hours=1))
        close_interrupted(database, project.project_id, "golden")
        with database.connection() as connection:
            found = find_run(connection, project.project_id, run.id)
        assert found is not None
        assert found.state == "running"


def test_a_run_outlives_a_server_that_ends_what_is_idle(database: Database, project: Project) -> None:
    with database.connection() as connection:
        connection.execute(
            """
            do $$ begin
                execute format($q$alter database %I set idle_session_timeout = '1s'$q$, current_database());
                execute format(
                    $q$alter database %I set idle_in_transaction_session_timeout = '1s'$q$, current_database()
                );
            end $$
            """
        )
    with Database(database.url, max_size=4) as fresh, hold(fresh, project) as run:
        time.sleep(2.5)
        run.confirm()
        with pytest.raises(Busy), hold(database, project):
            pass
    assert last(database, project).state == "done"


def test_the_times_of_a_run_are_the_servers(database: Database, project: Project) -> None:
    with database.connection() as connection:
        before = connection.execute("select clock_timestamp()").fetchone()
        with hold(database, project):
            pass
        after = connection.execute("select clock_timestamp()").fetchone()
    run = last(database, project)
    assert before is not None
    assert after is not None
    assert run.finished_at is not None
    assert before[0] < run.started_at < run.heartbeat_at <= run.finished_at < after[0]


def test_a_cancelled_run_leaves_the_old_index_and_says_so_in_its_row(
    database: Database, use: Services, repository: Repository, project: Project
) -> None:
    use.indexing.run(project, actor=ANA)
    before = rows_of(database)
    repository.commit({"docs/frete.md": "# Frete\n\nMudou.\n"})
    promised = uuid.uuid4()

    def cancel(step: str, _done: int, _total: int) -> None:
        if step == "chunk":
            with database.connection() as connection:
                request_cancel(connection, project.project_id, promised)

    with pytest.raises(Cancelled):
        use.indexing.run(project, actor=ANA, listener=cancel, run_id=promised)

    run = last(database, project)
    assert (run.id, run.state) == (promised, "cancelled")
    assert run.error.to_json() == {
        "code": "cancelled",
        "message": "The run was cancelled.",
        "hint": "Start it again when you want it.",
    }
    assert rows_of(database) == before
    assert use.indexing.run(project, actor=ANA).changes.added == 1


def test_only_a_run_at_work_can_be_cancelled(database: Database, use: Services, project: Project) -> None:
    use.indexing.run(project, actor=ANA)
    with database.connection() as connection:
        assert not request_cancel(connection, project.project_id, last(database, project).id)
        assert not request_cancel(connection, project.project_id, uuid.uuid4())


@pytest.mark.parametrize("step", ["read", "chunk", "embed", "write"])
def test_a_run_that_is_stopped_at_any_step_leaves_the_old_index_and_its_project_free(
    database: Database, use: Services, repository: Repository, project: Project, step: str
) -> None:
    use.indexing.run(project, actor=ANA)
    before = rows_of(database)
    repository.commit({"docs/novo.md": "# Novo\n\nTexto.\n"})

    def interrupt(now: str, _done: int, _total: int) -> None:
        if now == step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        use.indexing.run(project, actor=ANA, mode="full", listener=interrupt)

    assert rows_of(database) == before
    assert last(database, project).state == "cancelled"
    assert use.indexing.run(project, actor=ANA).changes.added == 1


def test_a_run_that_fails_writes_what_it_said_into_its_row(
    database: Database, use: Services, project: Project
) -> None:
    with pytest.raises(Exception, match="has no commit 'nenhum'"):
        use.indexing.run(project, actor=ANA, ref="nenhum")

    run = last(database, project)
    assert run.state == "failed"
    assert run.error is not None
    assert (run.error.code, run.parameters["ref"]) == ("usage", "nenhum")
    assert "Name a branch" in run.error.hint


def test_a_good_run_keeps_its_report_in_its_row(database: Database, use: Services, project: Project) -> None:
    report = use.indexing.run(project, actor=ANA)

    run = last(database, project)
    assert (run.state, run.result, str(run.id)) == ("done", report.to_json(), report.run_id)
    assert (run.actor_kind, run.actor_id) == ("human", "ana")
    assert run.finished_at is not None


def test_a_run_that_lost_its_hold_with_the_servers_connection_writes_nothing(
    database: Database, use: Services, repository: Repository, project: Project
) -> None:
    """The server went away and came back: by then another run may be at work."""
    use.indexing.run(project, actor=ANA)
    before = rows_of(database)
    repository.commit({"docs/novo.md": "# Novo\n\nTexto.\n"})

    def lose(step: str, done: int, _total: int) -> None:
        if step == "embed" and done == 1:
            with database.connection() as connection:
                connection.execute(
                    """
                    select pg_terminate_backend(l.pid) from pg_locks l join pg_database d on d.oid = l.database
                    where l.locktype = 'advisory' and d.datname = current_database()
                    """
                )

    with pytest.raises(DatabaseUnavailable):
        use.indexing.run(project, actor=ANA, listener=lose)

    assert rows_of(database) == before
    assert last(database, project).state == "failed"
    assert use.indexing.run(project, actor=ANA).changes.added == 1


def test_what_a_run_embedded_before_it_was_stopped_is_not_embedded_again(
    database: Database, repository: Repository, project: Project
) -> None:
    bag = BagOfWords()
    use = services(database, providers=Fixed(bag))

    def stop(step: str, _done: int, _total: int) -> None:
        if step == "write":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        use.indexing.run(project, actor=ANA, listener=stop)
    made = len(set(bag.embedded))
    bag.embedded.clear()

    report = use.indexing.run(project, actor=ANA)

    assert made == 6
    assert bag.embedded == []
    assert (report.embedding.embedded, report.embedding.reused) == (0, 6)


def test_a_vote_that_would_be_lost_is_a_refusal_and_the_row_says_so(
    database: Database, use: Services, repository: Repository, project: Project
) -> None:
    use.indexing.run(project, actor=ANA)
    use.search.ask(project.project_id, "O frete é calculado na coleta?", actor=ANA)
    repository.commit(dict.fromkeys(DOCUMENTS, "# Outro\n\nTexto.\n"))
    vote_for_everything(database, project)

    with pytest.raises(Refused, match="would delete 6 votes"):
        use.indexing.run(project, actor=ANA)

    assert last(database, project).state == "failed"


def vote_for_everything(database: Database, project: Project) -> None:
    with database.transaction() as connection:
        connection.execute(
            """
            insert into rag_feedback (project_id, search_id, chunk_id, rank, verdict, actor_kind, actor_id, searched_at,
                settings_id)
            select c.project_id, s.id, c.id, 1, 'util', 'human', 'ana', s.created_at, s.settings_id
            from chunks c cross join (select * from rag_searches limit 1) s where c.project_id = %s
            """,
            (project.project_id,),
        )


def wait_until_nobody_holds(database: Database) -> None:
    with database.connection() as connection:
        connection.execute(
            """
            do $$ begin
                for i in 1..500 loop
                    exit when not exists (
                        select from pg_locks l join pg_database d on d.oid = l.database
                        where l.locktype = 'advisory' and d.datname = current_database()
                    );
                    perform pg_sleep(0.01);
                end loop;
            end $$
            """
        )


def test_a_run_that_ended_says_how_far_it_had_come(database: Database, project: Project) -> None:
    ids: list[uuid.UUID] = []

    def embed(*, up_to: int) -> None:
        with hold(database, project) as run:
            ids.append(run.id)
            for done in range(up_to + 1):
                run.progress("embed", done, 3)
            if up_to < 3:
                raise Refused("Enough.", hint="")

    embed(up_to=3)
    with pytest.raises(Refused):
        embed(up_to=2)
    with database.connection() as connection:
        ended = [find_run(connection, project.project_id, run_id) for run_id in ids]
    assert [run and (run.state, run.progress) for run in ended] == [
        ("done", RunProgress(step="embed", done=3, total=3)),
        ("failed", RunProgress(step="embed", done=2, total=3)),
    ]
