"""Long work in one table: one run of a kind a project, a heart that beats, an end that is recorded."""

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import rows

from material import ANA
from rag_core.clock import SystemClock
from rag_core.database.connections import Database
from rag_core.database.runs import Run, find_run, recent_runs, request_cancel
from rag_core.errors import Busy, InvalidInput
from rag_core.runs import Cancelled, RunHandle, close_interrupted, running


@pytest.fixture
def projects(module_database: Database) -> Iterator[Database]:
    """Projects `a` and `b`, with no runs."""
    with module_database.connection() as connection:
        rows.project(connection, "a")
        rows.project(connection, "b")
    yield module_database
    with module_database.connection() as connection:
        connection.execute("delete from projects")


def run_of(database: Database, handle: RunHandle, project_id: str = "a") -> Run:
    with database.connection() as connection:
        found = find_run(connection, project_id, handle.id)
    assert found is not None
    return found


def start(database: Database, project_id: str = "a", *, kind: str = "index", exclusive: bool = True):
    return running(
        database,
        SystemClock(),
        project_id,
        kind,  # type: ignore[arg-type]
        actor=ANA,
        parameters={"mode": "full"},
        exclusive=exclusive,
    )


def test_a_run_is_running_while_it_runs_and_done_with_its_result_after(projects: Database) -> None:
    with start(projects) as handle:
        during = run_of(projects, handle)
        handle.result = {"chunks": 7}
    after = run_of(projects, handle)
    assert (during.state, during.finished_at, during.result) == ("running", None, None)
    assert (after.state, after.result, after.error) == ("done", {"chunks": 7}, None)
    assert (after.kind, after.actor_kind, after.actor_id, after.parameters) == (
        "index",
        "human",
        "ana",
        {"mode": "full"},
    )
    assert after.finished_at is not None
    assert after.started_at <= after.finished_at


def test_progress_is_written_when_a_step_begins(projects: Database) -> None:
    with start(projects) as handle:
        handle.progress("embed", 3, 10)
        assert run_of(projects, handle).progress == {"step": "embed", "done": 3, "total": 10}


def test_a_refusal_is_recorded_with_its_code_and_reaches_the_caller(projects: Database) -> None:
    with pytest.raises(InvalidInput), start(projects) as handle:
        raise InvalidInput("The file is wrong.", hint="Mend it.")
    ended = run_of(projects, handle)
    assert ended.state == "failed"
    assert ended.error == {"code": "invalidInput", "message": "The file is wrong.", "hint": "Mend it."}


def test_a_fault_of_ours_is_recorded_without_its_inner_text(projects: Database) -> None:
    with pytest.raises(ZeroDivisionError), start(projects) as handle:
        raise ZeroDivisionError("a secret")
    error = run_of(projects, handle).error
    assert error is not None
    assert error["code"] == "fault"
    assert "secret" not in str(error)


def test_ctrl_c_is_recorded_as_cancelled(projects: Database) -> None:
    with pytest.raises(KeyboardInterrupt), start(projects) as handle:
        raise KeyboardInterrupt
    assert run_of(projects, handle).state == "cancelled"


def test_a_run_that_is_asked_to_stop_stops_at_a_step_soon_after(projects: Database) -> None:
    def work() -> None:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            handle.progress("embed", 0, 10)

    with pytest.raises(Cancelled), start(projects) as handle:
        with projects.connection() as connection:
            assert request_cancel(connection, "a", handle.id)
        work()
    ended = run_of(projects, handle)
    assert ended.state == "cancelled"
    with projects.connection() as connection:
        assert not request_cancel(connection, "a", handle.id)


def test_one_run_of_a_kind_holds_a_project_and_no_other_project_or_kind(projects: Database) -> None:
    with start(projects):
        with pytest.raises(Busy, match="index run of a .* by human:ana"), start(projects):
            pytest.fail("a second run began")
        with start(projects, "b"), start(projects, kind="calibration"):
            pass
    with start(projects):
        pass


def test_golden_runs_may_go_side_by_side(projects: Database) -> None:
    with start(projects, kind="golden", exclusive=False), start(projects, kind="golden", exclusive=False):
        pass
    with projects.connection() as connection:
        assert [run.state for run in recent_runs(connection, "a", "golden", count=5)] == ["done", "done"]


def test_the_last_runs_come_newest_first(projects: Database) -> None:
    with start(projects) as first:
        pass
    with start(projects) as second:
        pass
    with projects.connection() as connection:
        assert [run.id for run in recent_runs(connection, "a", "index", count=5)] == [second.id, first.id]
        assert [run.id for run in recent_runs(connection, "a", "index", count=1)] == [second.id]


@pytest.fixture
def died(projects: Database) -> None:
    """A run whose process was killed a minute ago: its row says running, its heart has stopped."""
    minute_ago = datetime.now(UTC) - timedelta(minutes=1)
    with projects.connection() as connection:
        rows.insert(
            connection,
            "runs",
            {
                "project_id": "a",
                "id": "00000000-0000-4000-8000-000000000001",
                "kind": "index",
                "state": "running",
                "actor_kind": "human",
                "actor_id": "ana",
                "surface": "cli",
                "started_at": minute_ago,
                "heartbeat_at": minute_ago,
            },
        )


def states(database: Database) -> list[str]:
    with database.connection() as connection:
        return [run.state for run in recent_runs(connection, "a", "index", count=5)]


@pytest.mark.usefixtures("died")
def test_a_dead_run_is_shown_as_interrupted_and_a_living_one_is_not(projects: Database) -> None:
    with start(projects, exclusive=False):
        close_interrupted(projects, SystemClock(), "a", "index")
        assert states(projects) == ["running", "interrupted"]


@pytest.mark.usefixtures("died")
def test_a_dead_run_does_not_hold_the_project(projects: Database) -> None:
    with start(projects):
        pass
    assert states(projects) == ["done", "interrupted"]


def test_the_heart_beats_while_the_work_says_nothing(projects: Database) -> None:
    with start(projects) as handle:
        first = run_of(projects, handle).heartbeat_at
        deadline = time.monotonic() + 10
        while run_of(projects, handle).heartbeat_at == first and time.monotonic() < deadline:
            time.sleep(0.05)
        assert run_of(projects, handle).heartbeat_at > first


def test_no_thread_is_left_when_a_run_ends(projects: Database) -> None:
    with start(projects):
        pass
    assert "medir-heartbeat" not in {thread.name for thread in threading.enumerate()}
