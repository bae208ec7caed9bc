"""Searches as they can be replayed: frozen settings and the whole set, read as a stream."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg import sql
from psycopg.rows import class_row

from rag_core.database.connecting import Connection
from rag_core.database.report.window import ASKED, parameters_of
from rag_core.model import Candidate, CandidateSet, Origin, Place, Scope, Window

_BATCH = 500

# of a search `s`: how it was ranked, and its whole set where one was kept
_REPLAYABLE = sql.SQL("""
    s.weights, t.settings -> 'limit' as limit_in_force, s.hit_count, s.vector_available, s.degraded, c.places,
    c.ordinals, c.content_hashes, c.vector_scores, c.vector_ranks, c.lexical_scores, c.lexical_ranks
""")
_ITS_PARTS = sql.SQL("""
    join search_settings t on t.project_id = s.project_id and t.id = s.settings_id
    left join rag_candidates c on c.project_id = s.project_id and c.search_id = s.id
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayableSearch:
    """One search. The lists run in parallel, one entry a candidate; all None where no whole set was kept.

    `limit_in_force` is what its settings say, where `weights` has the limit that its caller may have chosen.
    """

    weights: dict[str, object]
    limit_in_force: object
    hit_count: int
    vector_available: bool
    degraded: bool
    places: list[str] | None
    ordinals: list[int] | None
    content_hashes: list[str] | None
    vector_scores: list[float | None] | None
    vector_ranks: list[int | None] | None
    lexical_scores: list[float | None] | None
    lexical_ranks: list[int | None] | None


def stream_searches(connection: Connection, project_id: str, window: Window) -> Iterator[ReplayableSearch]:
    """The window's searches in the order they were asked, a batch at a time; takes part in a transaction."""
    with connection.cursor(name="medir_replays", row_factory=class_row(ReplayableSearch)) as cursor:
        cursor.itersize = _BATCH
        # a row is a search, by time and id through rag_searches_report, with its whole set by key
        cursor.execute(
            sql.SQL("""
            select {replayable}
            from rag_searches s
                {its_parts}
            where {asked}
            order by s.created_at, s.id
            """).format(replayable=_REPLAYABLE, its_parts=_ITS_PARTS, asked=ASKED),
            parameters_of(project_id, window),
        )
        yield from cursor


@dataclass(frozen=True, slots=True, kw_only=True)
class VotedSearch(ReplayableSearch):
    """A search that was voted on: the rank that each vote was for, and what it said, in parallel."""

    voted_ranks: list[int]
    verdicts: list[str]


def read_voted_searches(connection: Connection, project_id: str, *, most: int) -> list[VotedSearch]:
    """The latest searches that people or agents voted on, synthetic ones left out."""
    with connection.cursor(row_factory=class_row(VotedSearch)) as cursor:
        # a row is a voted search, found through its votes, with its whole set by key
        return cursor.execute(
            sql.SQL("""
            select {replayable}, v.voted_ranks, v.verdicts
            from (
                select search_id, max(searched_at) as searched_at,
                    array_agg(rank::integer order by rank, actor_kind, actor_id) as voted_ranks,
                    array_agg(verdict::text order by rank, actor_kind, actor_id) as verdicts
                from rag_feedback
                where project_id = %(project)s
                group by search_id
                order by searched_at desc, search_id
                limit %(most)s
            ) v
                join rag_searches s on s.project_id = %(project)s and s.id = v.search_id and not s.synthetic
                {its_parts}
            order by v.searched_at desc, v.search_id
            """).format(replayable=_REPLAYABLE, its_parts=_ITS_PARTS),
            {"project": project_id, "most": most},
        ).fetchall()


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedSearch(ReplayableSearch):
    """One search with all that was kept of it; of its hits, in rank order, the chunks' ids and the scores."""

    question: str
    asked_at: datetime
    asked_by: str
    scopes: list[str]
    degraded_reason: str | None
    chunk_ids: list[str]
    scores: list[float]
    embed_ms: float
    vector_ms: float
    lexical_ms: float
    rank_ms: float
    latency_ms: float


def find_asked_search(connection: Connection, project_id: str, search_id: UUID) -> AskedSearch | None:
    """One search of the project; None where there is none of that id."""
    with connection.cursor(row_factory=class_row(AskedSearch)) as cursor:
        # one row: the search with its whole set, both by key, and its hits taken apart in rank order
        return cursor.execute(
            sql.SQL("""
            select {replayable}, s.question,
                s.created_at as asked_at, s.actor_kind::text || ':' || s.actor_id as asked_by,
                s.scopes::text[] as scopes, s.degraded_reason, h.chunk_ids, h.scores, s.embed_ms, s.vector_ms,
                s.lexical_ms, s.rank_ms, s.latency_ms
            from rag_searches s
                {its_parts}
                cross join lateral (
                    select coalesce(array_agg(hit."chunkId" order by hit."rank"), '{{}}') as chunk_ids,
                        coalesce(array_agg(hit.score order by hit."rank"), '{{}}') as scores
                    from jsonb_to_recordset(s.hits) hit ("rank" int, "chunkId" text, score float8)
                ) h
            where s.project_id = %s and s.id = %s
            """).format(replayable=_REPLAYABLE, its_parts=_ITS_PARTS),
            (project_id, search_id),
        ).fetchone()


def find_settings(connection: Connection, project_id: str, settings_id: str) -> dict[str, object] | None:
    """Settings that a search ran under, by id."""
    row = connection.execute(
        "select settings from search_settings where project_id = %s and id = %s", (project_id, settings_id)
    ).fetchone()
    return row[0] if row else None


def candidates_of(search: ReplayableSearch) -> CandidateSet | None:
    """The whole set that was kept, each chunk named by place and ordinal; None where none was, or it can't be read."""
    columns = (
        search.places,
        search.ordinals,
        search.content_hashes,
        search.vector_scores,
        search.vector_ranks,
        search.lexical_scores,
        search.lexical_ranks,
    )
    if any(column is None for column in columns):
        return None
    rows = zip(*(column for column in columns if column is not None), strict=True)
    try:
        candidates = tuple(
            Candidate(
                chunk_id=f"{place} {ordinal}",
                scope=Scope.SESSION if place.startswith("session:") else Scope.DOCS,
                origin=Origin(place=Place.parse(place)),
                ordinal=ordinal,
                content_hash=content_hash,
                vector_score=vector_score,
                lexical_score=lexical_score,
                vector_rank=vector_rank,
                lexical_rank=lexical_rank,
            )
            for place, ordinal, content_hash, vector_score, vector_rank, lexical_score, lexical_rank in rows
        )
        return CandidateSet(
            candidates=candidates,
            vector_available=search.vector_available,
            degraded=search.degraded,
            degraded_reason=None,
            searchable_terms=0,
        )
    except ValueError:
        # a row that no search of ours can have written
        return None
