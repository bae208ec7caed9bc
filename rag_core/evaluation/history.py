"""What golden runs left behind: the row of each, and the history of a cases file. Reads, and one request to stop."""

from uuid import UUID

from rag_core.database.connections import Database
from rag_core.database.golden_history import GoldenRecord, read_golden_history
from rag_core.database.runs import find_run, request_cancel
from rag_core.errors import UsageError
from rag_core.model import Project, Run
from rag_core.project.runs import last_run

__all__ = ["GoldenRecord", "Run", "golden_history", "golden_result", "last_golden_run", "stop_golden_run"]

HISTORY_LENGTH = 60


def golden_history(
    database: Database, project: Project, *, cases: str, count: int = HISTORY_LENGTH
) -> list[GoldenRecord]:
    """The finished runs over the file `cases`, newest first, trials left out."""
    with database.connection() as connection:
        return read_golden_history(connection, project.project_id, cases=cases, count=count)


def golden_result(database: Database, project_id: str, run_id: str) -> dict[str, object]:
    """The contract's golden run, as it was recorded.

    Raises:
        UsageError: There is no finished run of that id.
    """
    try:
        identifier = UUID(run_id)
    except ValueError:
        identifier = None
    with database.connection() as connection:
        run = find_run(connection, project_id, identifier) if identifier else None
    if run is None or run.result is None:
        raise UsageError(f"There is no finished run {run_id!r}.", hint="Choose one of the history.")
    return run.result


def last_golden_run(database: Database, project: Project) -> Run | None:
    """The golden run started last; one whose process died is closed as interrupted first."""
    return last_run(database, project.project_id, "golden")


def stop_golden_run(database: Database, project: Project, run: Run) -> bool:
    """Ask a run to stop at its next step; false when it has ended."""
    with database.connection() as connection:
        return request_cancel(connection, project.project_id, run.id)
