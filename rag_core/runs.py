"""Long work: one start, one way to follow it, one way to stop it, for every kind.

A run is a row. Its process renews the row's heartbeat; one that stops renewing died, and its run is shown as
interrupted. One run of a kind holds a project at a time, by an advisory lock that dies with its connection.
"""

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Self
from uuid import UUID

from rag_core.database.connections import Connection, Database, translated_errors
from rag_core.database.runs import (
    Run,
    RunKind,
    finish_run,
    insert_run,
    interrupt_run,
    mark_interrupted,
    recent_runs,
    update_progress,
)
from rag_core.errors import Busy, MedirError, Refused
from rag_core.model import Actor
from rag_core.ports import Clock

HEARTBEAT_S = 5.0
STALE_AFTER = timedelta(seconds=30)

Progress = Callable[[str, int, int], None]
"""Called with the step's name, how much is done and the total; raises `Cancelled` when asked to stop."""


class Cancelled(Refused):
    """Somebody asked the run to stop; nothing of it is visible."""

    code = "cancelled"


@dataclass(slots=True)
class RunHandle:
    """A run in progress. `result` is written into its row when it ends well.

    `confirm` raises `DatabaseUnavailable` where the server went away meanwhile, and with it the hold on the project;
    to be called before anything is written that no other run may write too.
    """

    id: UUID
    progress: Progress
    confirm: Callable[[], None]
    result: dict[str, object] | None = None


@contextmanager
def running(
    database: Database,
    clock: Clock,
    project_id: str,
    kind: RunKind,
    *,
    actor: Actor,
    parameters: dict[str, object],
    exclusive: bool,
    listener: Progress | None = None,
    run_id: UUID | None = None,
) -> Iterator[RunHandle]:
    """Hold the project, record the run, beat its heart, and record how it ended.

    Args:
        database: Where the row lies.
        clock: For the row's times.
        project_id: The project.
        kind: What sort of work; `exclusive` work waits for no other of its kind but refuses.
        actor: Who started it.
        parameters: What was asked for, in JSON.
        exclusive: Whether a second run of the kind must not begin meanwhile.
        listener: Also told of the progress, e.g. a terminal.
        run_id: Given where the caller has promised an id already.

    Raises:
        Busy: Another run of this kind holds the project; the message says since when.
        Cancelled: Someone asked it to stop.
    """
    with database.connection() as holder:

        def confirm() -> None:
            with translated_errors():
                holder.execute("select 1")

        if exclusive and not _try_lock(holder, project_id, kind):
            raise _busy(database, project_id, kind)
        try:
            if exclusive:
                mark_interrupted(holder, project_id, kind, before=clock.now())
            identifier = run_id or uuid.uuid4()
            insert_run(
                holder,
                project_id,
                run_id=identifier,
                kind=kind,
                parameters=parameters,
                actor=actor,
                at=clock.now(),
            )
            with _Heart(database, clock, project_id, identifier, listener) as heart:
                yield from _guarded(
                    database, clock, project_id, RunHandle(identifier, heart.report, confirm), heart
                )
        finally:
            if exclusive and not holder.broken:
                _unlock(holder, project_id, kind)


def close_interrupted(database: Database, clock: Clock, project_id: str, kind: RunKind) -> None:
    """Mark the runs whose process died."""
    with database.connection() as connection:
        mark_interrupted(connection, project_id, kind, before=clock.now() - STALE_AFTER)


def last_run(database: Database, clock: Clock, project_id: str, kind: RunKind) -> Run | None:
    """The run of a kind that was started last; one whose process died is closed as interrupted first.

    Whoever looks on asks this over and over, so it reads one row, and writes only where a process died.
    """
    with database.connection() as connection:
        last = next(iter(recent_runs(connection, project_id, kind, count=1)), None)
        stale_before = clock.now() - STALE_AFTER
        if last is None or last.state != "running" or last.heartbeat_at >= stale_before:
            return last
        mark_interrupted(connection, project_id, kind, before=stale_before)
        return next(iter(recent_runs(connection, project_id, kind, count=1)), None)


def close_died(database: Database, project_id: str, run_id: UUID) -> None:
    """Mark a run as interrupted whose process is known to have died; one that ended before is left alone."""
    with database.connection() as connection:
        interrupt_run(connection, project_id, run_id)


def _guarded(
    database: Database, clock: Clock, project_id: str, handle: RunHandle, heart: "_Heart"
) -> Iterator[RunHandle]:
    try:
        yield handle
    except BaseException as error:
        state = "cancelled" if isinstance(error, Cancelled | KeyboardInterrupt) else "failed"
        told = error if isinstance(error, MedirError) else None
        detail: dict[str, object] = {
            "code": told.code if told else "fault",
            "message": told.message if told else f"An internal fault: {type(error).__name__}.",
            "hint": told.hint if told else "",
        }
        _try_finish(database, clock, project_id, heart, state=state, detail=detail)
        raise
    with database.connection() as connection:
        finish_run(
            connection,
            project_id,
            handle.id,
            state="done",
            at=clock.now(),
            progress=heart.progress,
            result=handle.result,
        )


def _try_finish(
    database: Database,
    clock: Clock,
    project_id: str,
    heart: "_Heart",
    *,
    state: str,
    detail: dict[str, object],
) -> None:
    # the failure that ended the run may well be the database's; the stale heartbeat then tells the story
    try:
        with database.connection() as connection:
            finish_run(
                connection,
                project_id,
                heart.run_id,
                state="cancelled" if state == "cancelled" else "failed",
                at=clock.now(),
                progress=heart.progress,
                error=detail,
            )
    except MedirError:
        return


class _Heart:
    """Writes progress and heartbeat from a thread of its own, so that slow work never looks dead."""

    def __init__(
        self, database: Database, clock: Clock, project_id: str, run_id: UUID, listener: Progress | None
    ) -> None:
        self._database = database
        self._clock = clock
        self._project_id = project_id
        self.run_id = run_id
        self._listener = listener
        self._stop = threading.Event()
        self._cancelled = threading.Event()
        self.progress: dict[str, object] = {}
        self._thread = threading.Thread(target=self._beat, name="medir-heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._stop.set()
        self._thread.join()

    def report(self, step: str, done: int, total: int) -> None:
        """Take note of progress; the thread writes it with the next beat."""
        if self._cancelled.is_set():
            raise Cancelled("The run was cancelled.", hint="Start it again when you want it.")
        changed_step = self.progress.get("step") != step
        self.progress = {"step": step, "done": done, "total": total}
        if self._listener is not None:
            self._listener(step, done, total)
        if changed_step:
            self._write()

    def _beat(self) -> None:
        wait = 0.5
        while not self._stop.wait(wait):
            self._write()
            wait = min(HEARTBEAT_S, wait * 1.5)

    def _write(self) -> None:
        try:
            with self._database.connection() as connection:
                if update_progress(
                    connection, self._project_id, self.run_id, self.progress, self._clock.now()
                ):
                    self._cancelled.set()
        except MedirError:
            # progress is for the eye; the work itself meets the same outage and reports it
            return


def _busy(database: Database, project_id: str, kind: RunKind) -> Busy:
    with database.connection() as connection:
        current = next(
            (run for run in recent_runs(connection, project_id, kind, count=5) if run.state == "running"),
            None,
        )
    since = (
        f" since {current.started_at:%H:%M:%S} UTC, by {current.actor_kind}:{current.actor_id}"
        if current
        else ""
    )
    return Busy(
        f"Another {kind} run of {project_id} is at work{since}.", hint="Wait for it to end, then try again."
    )


def _try_lock(connection: Connection, project_id: str, kind: RunKind) -> bool:
    row = connection.execute(
        "select pg_try_advisory_lock(hashtextextended(%s, 0))", (f"medir:{kind}:{project_id}",)
    ).fetchone()
    return bool(row and row[0])


def _unlock(connection: Connection, project_id: str, kind: RunKind) -> None:
    connection.execute("select pg_advisory_unlock(hashtextextended(%s, 0))", (f"medir:{kind}:{project_id}",))
