"""From a number of the report to the searches behind it, and from a search to its hits and votes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from rag_core.database.connections import Database
from rag_core.database.index.chunks import origin_of, place_of
from rag_core.database.report.recorded_searches import (
    HitLine,
    SearchFilter,
    SearchLine,
    find_recorded_search,
    hits_of_search,
    page_of_searches,
)
from rag_core.database.search.votes import StoredVote, list_votes
from rag_core.errors import UsageError
from rag_core.model import Origin, Window

__all__ = ["RecordedHit", "RecordedSearch", "SearchFilter", "SearchLine", "list_searches", "read_search"]

MOST_AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedHit:
    """A hit as it was shown. `origin` is None where a reindex has removed its chunk since."""

    rank: int
    chunk_id: str
    score: float
    vector_score: float | None
    lexical_score: float | None
    origin: Origin | None


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
    question, asked_at, settings, degraded, reason, vector_available = found
    return RecordedSearch(
        id=search_id,
        question=question,
        asked_at=asked_at,
        settings=settings,
        degraded=degraded,
        degraded_reason=reason,
        vector_available=vector_available,
        hits=tuple(_hit(line) for line in hits),
        votes=tuple(votes),
    )


def _hit(line: HitLine) -> RecordedHit:
    standing = line.source_path is not None or line.session_id is not None
    return RecordedHit(
        rank=line.rank,
        chunk_id=line.chunk_id,
        score=line.score,
        vector_score=line.vector_score,
        lexical_score=line.lexical_score,
        origin=origin_of(place_of(line.source_path, line.session_id), line.metadata or {})
        if standing
        else None,
    )
