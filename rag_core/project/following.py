"""Runs of any kind as those see them who look on: the last, the earlier ones, one by its id; and a request to stop.

A run whose process died is closed as interrupted before it is shown.
"""

from uuid import UUID

from rag_core.database.connections import Database
from rag_core.database.runs import find_run, last_started, recent_runs, request_cancel
from rag_core.model import Run, RunKind
from rag_core.project.runs import STALE_AFTER, close_interrupted

RUNS_LISTED = 50


def last_run(database: Database, project_id: str, kind: RunKind) -> Run | None:
    """The run of a kind that was started last.

    Whoever looks on asks this over and over, so it is one statement, and looks for the dead only where one is silent.
    """
    with database.connection() as connection:
        last, silent = last_started(connection, project_id, kind, silent_for=STALE_AFTER)
    if not silent:
        return last
    return next(iter(last_runs(database, project_id, kind, count=1)), None)


def last_runs(database: Database, project_id: str, kind: RunKind, *, count: int = RUNS_LISTED) -> list[Run]:
    """The last runs of a kind, newest first."""
    close_interrupted(database, project_id, kind)
    with database.connection() as connection:
        return recent_runs(connection, project_id, kind, count=count)


def run_of(database: Database, project_id: str, kind: RunKind, run_id: UUID) -> Run | None:
    """One run of a kind; None where the project has none of that id."""
    close_interrupted(database, project_id, kind)
    with database.connection() as connection:
        run = find_run(connection, project_id, run_id)
    return run if run is not None and run.kind == kind else None


def stop_run(database: Database, project_id: str, run_id: UUID) -> bool:
    """Ask a run to stop at its next step; false when it has ended."""
    with database.connection() as connection:
        return request_cancel(connection, project_id, run_id)
