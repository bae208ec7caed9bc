"""The table of long work: index runs, golden runs, calibrations."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Cursor, sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from rag_core.database.connecting import Connection
from rag_core.model import Actor, Run, RunError, RunKind, RunProgress, RunState

_RUN = sql.SQL("""
    id, kind::text, state::text, parameters, progress, result, error, actor_kind::text, actor_id, started_at,
    heartbeat_at, finished_at
""")


def insert_run(
    connection: Connection,
    project_id: str,
    *,
    run_id: UUID,
    kind: RunKind,
    parameters: dict[str, object],
    actor: Actor,
) -> None:
    """Record that work has begun. All times of a run are the server's: clocks of those who look on differ."""
    connection.execute(
        """
        insert into runs (project_id, id, kind, state, parameters, actor_kind, actor_id, surface, started_at,
            heartbeat_at)
        values (%s, %s, %s, 'running', %s, %s, %s, %s, clock_timestamp(), clock_timestamp())
        """,
        (project_id, run_id, kind, Jsonb(parameters), actor.kind, actor.id, actor.surface),
    )


def update_progress(connection: Connection, project_id: str, run_id: UUID, progress: RunProgress) -> bool:
    """Write progress and heartbeat; true when someone asked the run to stop."""
    row = connection.execute(
        """
        update runs set progress = %s, heartbeat_at = clock_timestamp()
        where project_id = %s and id = %s
        returning cancel_requested
        """,
        (Jsonb(progress.to_json()), project_id, run_id),
    ).fetchone()
    return bool(row and row[0])


def finish_run(
    connection: Connection,
    project_id: str,
    run_id: UUID,
    *,
    state: RunState,
    progress: RunProgress,
    result: dict[str, object] | None = None,
    error: RunError | None = None,
) -> None:
    """Record how the work ended, and how far it had come."""
    connection.execute(
        """
        update runs set state = %s, progress = %s, result = %s, error = %s, finished_at = clock_timestamp(),
            heartbeat_at = clock_timestamp()
        where project_id = %s and id = %s
        """,
        (
            state,
            Jsonb(progress.to_json()),
            None if result is None else Jsonb(result),
            None if error is None else Jsonb(error.to_json()),
            project_id,
            run_id,
        ),
    )


def hold_run(connection: Connection, run_id: UUID) -> None:
    """Take the lock that proves the run alive, until the transaction at hand ends."""
    connection.execute("select pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"medir:run:{run_id}",))


def try_hold_project(connection: Connection, project_id: str, kind: RunKind) -> bool:
    """Hold the project against other runs of the kind until the transaction ends; false where another does."""
    row = connection.execute(
        "select pg_try_advisory_xact_lock(hashtextextended(%s, 0))", (f"medir:{kind}:{project_id}",)
    ).fetchone()
    return bool(row and row[0])


def dead_runs(
    connection: Connection, project_id: str, kind: RunKind, *, silent_for: timedelta = timedelta(0)
) -> list[UUID]:
    """Runs that count as running, whose lock nobody holds and whose heart is still for so long. Writes nothing."""
    # a row is a run; to try a shared lock disturbs nobody else who tries, and it goes with the statement
    rows = connection.execute(
        """
        with going as materialized (
            select id from runs
            where project_id = %s and kind = %s and state = 'running' and heartbeat_at <= clock_timestamp() - %s
        )
        select id from going
        where pg_try_advisory_xact_lock_shared(hashtextextended('medir:run:' || id::text, 0))
        """,
        (project_id, kind, silent_for),
    ).fetchall()
    return [run_id for (run_id,) in rows]


def mark_interrupted(connection: Connection, project_id: str, run_ids: Sequence[UUID]) -> None:
    """Close runs whose process died."""
    connection.execute(
        """
        update runs set state = 'interrupted', finished_at = heartbeat_at
        where project_id = %s and id = any(%s) and state = 'running'
        """,
        (project_id, list(run_ids)),
    )


def request_cancel(connection: Connection, project_id: str, run_id: UUID) -> bool:
    """Ask a running run to stop at its next step; false when it is not running."""
    cursor = connection.execute(
        "update runs set cancel_requested = true where project_id = %s and id = %s and state = 'running'",
        (project_id, run_id),
    )
    return cursor.rowcount == 1


def find_run(connection: Connection, project_id: str, run_id: UUID) -> Run | None:
    """One run by its id."""
    with connection.cursor(row_factory=_runs) as cursor:
        return cursor.execute(
            sql.SQL("""
            select {run}
            from runs where project_id = %s and id = %s
            """).format(run=_RUN),
            (project_id, run_id),
        ).fetchone()


def last_started(
    connection: Connection, project_id: str, kind: RunKind, *, silent_for: timedelta
) -> tuple[Run | None, bool]:
    """The run of a kind that was started last, and whether it counts as running while its heart is still for so long.

    The server compares: clocks of those who look on differ.
    """
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(
            sql.SQL("""
            select {run},
                state = 'running' and heartbeat_at <= clock_timestamp() - %s as silent
            from runs where project_id = %s and kind = %s
            order by started_at desc, id limit 1
            """).format(run=_RUN),
            (silent_for, project_id, kind),
        ).fetchone()
    if row is None:
        return None, False
    silent = bool(row.pop("silent"))
    return _run(row), silent


def recent_runs(connection: Connection, project_id: str, kind: RunKind, *, count: int) -> list[Run]:
    """The last runs of a kind, newest first."""
    with connection.cursor(row_factory=_runs) as cursor:
        return cursor.execute(
            sql.SQL("""
            select {run}
            from runs where project_id = %s and kind = %s
            order by started_at desc, id limit %s
            """).format(run=_RUN),
            (project_id, kind, count),
        ).fetchall()


def _runs(cursor: Cursor[Any]) -> Callable[[Sequence[Any]], Run]:
    as_dict = dict_row(cursor)
    return lambda values: _run(as_dict(values))


def _run(row: dict[str, Any]) -> Run:
    error = row["error"]
    return Run(
        **row
        | {
            "progress": RunProgress.from_row(row["progress"]),
            "error": None if error is None else RunError.read(error),
        }
    )
