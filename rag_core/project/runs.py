"""Long work: one way to begin it and to record how it ends, for every kind.

A run is a row, and a lock that its process holds in a transaction kept open for it: the lock is the proof of life, and
goes with the process, also behind a pooler. A run whose lock is free is shown as interrupted. One run of a kind holds a
project at a time, by a lock in the same transaction. Where the database lets itself be read only, work that writes
nothing else goes on without a row, and says so.
"""

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Self
from uuid import UUID

import psycopg

from rag_core.database.connecting import Connection
from rag_core.database.connections import Database, set_known_parameters, translated_errors
from rag_core.database.runs import (
    dead_runs,
    finish_run,
    hold_run,
    insert_run,
    mark_interrupted,
    recent_runs,
    try_hold_project,
    update_progress,
)
from rag_core.errors import Busy, MedirError, OperatorNeeded, Refused
from rag_core.model import Actor, RunError, RunKind, RunProgress

HEARTBEAT_S = 5.0
# a run of an earlier version holds no lock of its own, and a heartbeat is all that tells of it
STALE_AFTER = timedelta(seconds=30)
# what would end a transaction that stays open as long as its run; some are unknown to older servers
_UNENDING = {
    "idle_in_transaction_session_timeout": "0",
    "transaction_timeout": "0",
    "statement_timeout": "0",
}

Progress = Callable[[str, int, int], None]
"""Called with the step's name, how much is done and the total; raises `Cancelled` when asked to stop."""


class Cancelled(Refused):
    """Somebody asked the run to stop; nothing of it is visible."""

    code = "cancelled"


@dataclass(slots=True)
class RunHandle:
    """A run in progress. `result` is written into its row when it ends well.

    `confirm` raises `DatabaseUnavailable` where the server went away meanwhile, and with it the hold on the project;
    to be called before anything is written that no other run may write too. `not_recorded` says why there is no row.
    """

    id: UUID
    progress: Progress
    confirm: Callable[[], None]
    result: dict[str, object] | None = None
    not_recorded: str | None = None


@contextmanager
def running(
    database: Database,
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

    `exclusive`: no second run of the kind may begin meanwhile; it refuses, and waits for none. `listener` is
    told of the progress too, and `run_id` is given where the caller has promised an id already.

    Raises:
        Busy: Another run of this kind holds the project; the message says since when.
        OperatorNeeded: Exclusive work can't be recorded.
        Cancelled: Someone asked it to stop.
    """
    identifier = run_id or uuid.uuid4()
    with _held(database, project_id, kind, identifier, exclusive=exclusive) as holder:

        def confirm() -> None:
            with translated_errors():
                holder.execute("select 1")

        if exclusive:
            # whoever else was at work would hold the project
            close_interrupted(database, project_id, kind, silent_for=timedelta(0))
        refusal = _record(database, project_id, identifier, kind, parameters=parameters, actor=actor)
        if refusal is not None:
            if exclusive:
                raise refusal
            reason = f"{refusal.message} {refusal.hint}"
            yield RunHandle(identifier, _unrecorded(listener), confirm, not_recorded=reason)
            return
        with _Heart(database, project_id, identifier, listener, confirm) as heart:
            yield from _guarded(database, project_id, RunHandle(identifier, heart.report, confirm), heart)


def close_interrupted(
    database: Database, project_id: str, kind: RunKind, *, silent_for: timedelta = STALE_AFTER
) -> None:
    """Mark the runs whose process died; where that can't be written down, they stay as they are."""
    with database.connection() as connection:
        dead = dead_runs(connection, project_id, kind, silent_for=silent_for)
    if not dead:
        return
    try:
        with database.connection() as connection:
            mark_interrupted(connection, project_id, dead)
    except OperatorNeeded:
        return


def close_died(database: Database, project_id: str, run_id: UUID) -> None:
    """Mark a run as interrupted whose process is known to have died; one that ended before is left alone."""
    with database.connection() as connection:
        mark_interrupted(connection, project_id, [run_id])


@contextmanager
def _held(
    database: Database, project_id: str, kind: RunKind, run_id: UUID, *, exclusive: bool
) -> Iterator[Connection]:
    """A connection whose open transaction holds the run's locks."""
    with database.connection() as holder:
        holder.execute("begin")
        try:
            set_known_parameters(holder, _UNENDING)
            if exclusive and not try_hold_project(holder, project_id, kind):
                raise _busy(database, project_id, kind)
            hold_run(holder, run_id)
            yield holder
        finally:
            # a server that has gone away has let go by itself
            with suppress(psycopg.Error):
                holder.execute("rollback")


def _record(
    database: Database,
    project_id: str,
    run_id: UUID,
    kind: RunKind,
    *,
    parameters: dict[str, object],
    actor: Actor,
) -> OperatorNeeded | None:
    """Write the run's row; the refusal where the database lets itself be read only."""
    try:
        with database.connection() as connection:
            insert_run(connection, project_id, run_id=run_id, kind=kind, parameters=parameters, actor=actor)
    except OperatorNeeded as error:
        return error
    return None


def _unrecorded(listener: Progress | None) -> Progress:
    def report(step: str, done: int, total: int) -> None:
        if listener is not None:
            listener(step, done, total)

    return report


def _guarded(database: Database, project_id: str, handle: RunHandle, heart: "_Heart") -> Iterator[RunHandle]:
    try:
        yield handle
    except BaseException as error:
        state = "cancelled" if isinstance(error, Cancelled | KeyboardInterrupt) else "failed"
        told = error if isinstance(error, MedirError) else None
        detail = RunError(
            code=told.code if told else "fault",
            message=told.message if told else f"An internal fault: {type(error).__name__}.",
            hint=told.hint if told else "",
        )
        _try_finish(database, project_id, heart, state=state, detail=detail)
        raise
    with database.connection() as connection:
        finish_run(
            connection,
            project_id,
            handle.id,
            state="done",
            progress=heart.progress,
            result=handle.result,
        )


def _try_finish(
    database: Database,
    project_id: str,
    heart: "_Heart",
    *,
    state: str,
    detail: RunError,
) -> None:
    # the failure that ended the run may well be the database's; the lock that nobody holds then tells the story
    try:
        with database.connection() as connection:
            finish_run(
                connection,
                project_id,
                heart.run_id,
                state="cancelled" if state == "cancelled" else "failed",
                progress=heart.progress,
                error=detail,
            )
    except MedirError:
        return


class _Heart:
    """Writes progress from a thread of its own, and keeps the connection busy that holds the run's lock."""

    def __init__(
        self,
        database: Database,
        project_id: str,
        run_id: UUID,
        listener: Progress | None,
        keep_alive: Callable[[], None],
    ) -> None:
        self._database = database
        self._keep_alive = keep_alive
        self._project_id = project_id
        self.run_id = run_id
        self._listener = listener
        self._stop = threading.Event()
        self._cancelled = threading.Event()
        self.progress = RunProgress()
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
        changed_step = self.progress.step != step
        self.progress = RunProgress(step=step, done=done, total=total)
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
            self._keep_alive()
            with self._database.connection() as connection:
                if update_progress(connection, self._project_id, self.run_id, self.progress):
                    self._cancelled.set()
        except MedirError:
            # progress is for the eye; the work itself meets the same outage and reports it
            return


def _busy(database: Database, project_id: str, kind: RunKind) -> Busy:
    with database.connection() as connection:
        current = next(
            (run for run in recent_runs(connection, project_id, kind, count=5) if run.is_going),
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
