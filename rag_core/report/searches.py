"""From a number of the report to the searches behind it, and from a search to its hits and votes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from rag_core.database.connections import Database
from rag_core.database.report.recorded_searches import (
    RecordedHit,
    SearchFilter,
    SearchLine,
    find_recorded_search,
    hits_of_search,
    page_of_searches,
)
from rag_core.database.search.votes import StoredVote, list_votes
from rag_core.errors import UsageError
from rag_core.model import Window

__all__ = ["RecordedHit", "RecordedSearch", "SearchFilter", "SearchLine", "list_searches", "read_search"]

MOST_AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSearch:
    """One search with its hits in rank order and the votes on them."""

    id: UUID
    question: str
    asked_at: datetime
    settings: Mapping[str, object]
    degraded: bool
    degraded_reason: str | None
    vector_available: bool
    hits: tuple[RecordedHit, ...]
    votes: tuple[StoredVote, ...]


def list_searches(
    database: Database,
    project_id: str,
    window: Window,
    chosen: SearchFilter,
    *,
    after: SearchLine | None = None,
    count: int = 50,
) -> list[SearchLine]:
    """A page of the window's searches, the newest first: at most 200, those before `after`."""
    last = (after.asked_at, after.id) if after else None
    with database.connection() as connection:
        return page_of_searches(
            connection, project_id, window, chosen, after=last, count=min(count, MOST_AT_ONCE)
        )


def read_search(database: Database, project_id: str, search_id: UUID) -> RecordedSearch:
    """One search as it was recorded.

    Raises:
        UsageError: The project has none of that id.
    """
    with database.snapshot() as connection:
        found = find_recorded_search(connection, project_id, search_id)
        if found is None:
            raise UsageError(
                f"There is no search {search_id} in {project_id}.", hint="It may have been purged."
            )
        hits = hits_of_search(connection, project_id, search_id)
        votes = list_votes(connection, project_id, [search_id]).get(search_id, [])
    return RecordedSearch(**found, hits=tuple(hits), votes=tuple(votes))
