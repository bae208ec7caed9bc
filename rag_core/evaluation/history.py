"""What golden runs left behind: the row of each, and the history of a cases file. Reads only."""

from uuid import UUID

from rag_core.database.connections import Database
from rag_core.database.golden_history import GoldenRecord, read_golden_history
from rag_core.database.runs import find_run
from rag_core.errors import UsageError
from rag_core.model import Project

__all__ = ["GoldenRecord", "golden_history", "golden_result"]

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
