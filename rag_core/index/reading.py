"""Reading an index as it stands, and the pace of the runs that made it. Reads only; nothing is a search."""

from dataclasses import dataclass
from datetime import timedelta

from rag_core.database.connections import Database
from rag_core.database.index.chunks import place_meant
from rag_core.database.index.contents import (
    IndexedPlace,
    Showing,
    read_indexed_places,
    read_showings,
)
from rag_core.database.index.source_chunks import SourceChunk, locate_chunk, read_source_chunks
from rag_core.model import Place, Run, Scope

__all__ = ["ChunkPage", "IndexedPlace", "Showing", "SourceChunk"]

PAGE_CHUNKS = 20
PLACES_LISTED = 500
SEARCHES_LISTED = 50
SEARCHES_LOOKED_AT = 20_000
# of fewer chunks the rest of the run would be taken for embedding
_ENOUGH_FOR_A_PACE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkPage:
    """Chunks of one place in a row: `PAGE_CHUNKS` of them, fewer at its end; `total` is how many it has."""

    place: Place
    chunks: tuple[SourceChunk, ...]
    total: int


def list_places(
    database: Database, project_id: str, *, scope: Scope | None, containing: str
) -> tuple[tuple[IndexedPlace, ...], int]:
    """The first places of the index whose name or title contains a text, and how many there are."""
    with database.connection() as connection:
        return read_indexed_places(
            connection, project_id, scope=scope, containing=containing, count=PLACES_LISTED
        )


def read_chunk_page(database: Database, project_id: str, place: Place, *, first: int) -> ChunkPage:
    """The chunks of a place from number `first` on; empty where it has none there."""
    with database.connection() as connection:
        place = place_meant(connection, project_id, place)
        chunks, total = read_source_chunks(
            connection, project_id, place, first=first, last=first + PAGE_CHUNKS - 1
        )
    return ChunkPage(place=place, chunks=chunks, total=total)


def locate(database: Database, project_id: str, chunk_id: str) -> tuple[Place, int] | None:
    """A chunk's place and its number there, counted from 1; None where it is gone."""
    with database.connection() as connection:
        return locate_chunk(connection, project_id, chunk_id)


def first_of_page(number: int) -> int:
    """The number of the first chunk of the page that shows chunk `number`."""
    return (number - 1) // PAGE_CHUNKS * PAGE_CHUNKS + 1


def searches_with(database: Database, project_id: str, chunk_id: str) -> tuple[Showing, ...]:
    """The newest searches that showed a chunk, of the last `SEARCHES_LOOKED_AT`."""
    with database.connection() as connection:
        return read_showings(
            connection, project_id, chunk_id, among=SEARCHES_LOOKED_AT, count=SEARCHES_LISTED
        )


def time_left(run: Run) -> timedelta | None:
    """How long the step at hand will still take at the run's pace so far; None where nothing can be said.

    The pace is counted from the run's start, since what comes before the embedding is quick beside it.
    """
    done, total = run.progress.counted or (0, 0)
    if not 0 < done <= total:
        return None
    return (run.heartbeat_at - run.started_at) * ((total - done) / done)


def time_to_embed(runs: list[Run], chunks: int) -> timedelta | None:
    """How long embedding so many chunks will take at the pace of the last run that embedded; None without one."""
    for run in runs:
        embedding = run.result.get("embedding") if run.result else None
        made = embedding.get("embedded") if isinstance(embedding, dict) else None
        dry = bool(run.result and run.result.get("dryRun"))
        if run.finished_at is not None and isinstance(made, int) and made >= _ENOUGH_FOR_A_PACE and not dry:
            return (run.finished_at - run.started_at) * (chunks / made)
    return None
