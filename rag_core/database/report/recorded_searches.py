"""Searches as they were recorded: a page of those behind a number, and one with its hits and votes."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import sql
from psycopg.rows import class_row, dict_row, kwargs_row

from rag_core.database.connecting import Connection
from rag_core.database.index.chunks import origin_of, place_of
from rag_core.database.report.window import ASKED, parameters_of
from rag_core.model import Origin, Window


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLine:
    """A recorded search in a line. `question` is its first 300 characters; `actor` is `kind:id`.

    `votes` and `useful` count all votes on its hits.
    """

    id: UUID
    asked_at: datetime
    question: str
    hit_count: int
    degraded: bool
    degraded_reason: str | None
    vector_available: bool
    latency_ms: float
    settings_id: str
    actor: str
    surface: str
    scopes: list[str]
    session_id: str | None
    synthetic: bool
    votes: int
    useful: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilter:
    """Which of a window's searches; None does not filter.

    `settings_id`, `model`, `actor`, `surface`, `scope` and `day` are keys of the report's splits. `verdict`, `rank`
    and `rank_at_most` want a vote of that verdict, on a hit of that rank, on one of that rank or better. `took_ms`
    wants a `step` (total, embed, vector, lexical or rank) that took at least so long, and leaves out degraded
    searches, as all that is told of latency does.
    """

    settings_id: str | None = None
    model: str | None = None
    actor: str | None = None
    surface: str | None = None
    scope: str | None = None
    day: str | None = None
    degraded: bool | None = None
    no_hit: bool | None = None
    verdict: str | None = None
    rank: int | None = None
    rank_at_most: int | None = None
    step: str = "total"
    took_ms: float | None = None


def page_of_searches(
    connection: Connection,
    project_id: str,
    window: Window,
    chosen: SearchFilter,
    *,
    after: tuple[datetime, UUID] | None,
    count: int,
) -> list[SearchLine]:
    """At most `count` searches, the newest first, that were asked before `after` (a line's time and id)."""
    with connection.cursor(row_factory=class_row(SearchLine)) as cursor:
        # a row is a search, newest first, through rag_searches_report read backwards; votes by their key
        return cursor.execute(
            sql.SQL("""
            select s.id, s.created_at as asked_at, left(s.question, 300) as question, s.hit_count, s.degraded,
                s.degraded_reason, s.vector_available, s.latency_ms, s.settings_id,
                s.actor_kind::text || ':' || s.actor_id as actor, s.surface::text as surface,
                s.scopes::text[] as scopes, s.session_id, s.synthetic, v.votes, v.useful
            from rag_searches s
                cross join lateral (
                    select count(*) as votes, count(*) filter (where f.verdict = 'util') as useful
                    from rag_feedback f where f.project_id = s.project_id and f.search_id = s.id
                ) v
            where {asked}
              and (%(after_at)s::timestamptz is null or (s.created_at, s.id) < (%(after_at)s, %(after_id)s::uuid))
              and (%(settings_id)s::text is null or s.settings_id = %(settings_id)s)
              and (%(model)s::text is null or s.settings_id in (
                select t.id from search_settings t
                where t.project_id = %(project)s and coalesce(t.settings ->> 'embeddingModel', 'none') = %(model)s
              ))
              and (%(actor)s::text is null or s.actor_kind::text || ':' || s.actor_id = %(actor)s)
              and (%(surface)s::text is null or s.surface::text = %(surface)s)
              and (%(scope)s::text is null or %(scope)s = any(s.scopes::text[]))
              and (%(day)s::text is null or ((s.created_at at time zone %(zone)s::text)::date)::text = %(day)s)
              and (%(degraded)s::boolean is null or s.degraded = %(degraded)s)
              and (%(no_hit)s::boolean is null or (s.hit_count = 0) = %(no_hit)s)
              and (%(took_ms)s::float8 is null or (
                not s.degraded and %(took_ms)s <= case %(step)s
                    when 'total' then s.latency_ms when 'embed' then s.embed_ms when 'vector' then s.vector_ms
                    when 'lexical' then s.lexical_ms when 'rank' then s.rank_ms
                end
              ))
              and (num_nonnulls(%(verdict)s::text, %(rank)s::int, %(rank_at_most)s::int) = 0 or exists (
                select from rag_feedback f
                where f.project_id = s.project_id and f.search_id = s.id
                  and (%(verdict)s::text is null or f.verdict::text = %(verdict)s)
                  and (%(rank)s::int is null or f.rank = %(rank)s)
                  and (%(rank_at_most)s::int is null or f.rank <= %(rank_at_most)s)
              ))
            order by s.created_at desc, s.id desc
            limit %(count)s
            """).format(asked=ASKED),
            parameters_of(project_id, window)
            | asdict(chosen)
            | {"after_at": after and after[0], "after_id": after and after[1], "count": count},
        ).fetchall()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedHit:
    """A hit as it was shown. `origin` is None where a reindex has removed its chunk since."""

    rank: int
    chunk_id: str
    score: float
    vector_score: float | None
    lexical_score: float | None
    origin: Origin | None


def find_recorded_search(connection: Connection, project_id: str, search_id: UUID) -> dict[str, Any] | None:
    """A search's question, time, frozen settings, whether it was degraded, why, and whether its vector signal ran.

    None where there is none.
    """
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(
            """
            select id, question, created_at as asked_at, weights as settings, degraded, degraded_reason,
                vector_available
            from rag_searches where project_id = %s and id = %s
            """,
            (project_id, search_id),
        ).fetchone()


def hits_of_search(connection: Connection, project_id: str, search_id: UUID) -> list[RecordedHit]:
    """A search's hits in rank order."""
    with connection.cursor(row_factory=kwargs_row(_hit)) as cursor:
        return cursor.execute(
            """
            select h."rank", h."chunkId" as chunk_id, h.score, h."vectorScore" as vector_score,
                h."lexicalScore" as lexical_score, c.source_path, c.session_id, c.metadata
            from rag_searches s
                cross join lateral jsonb_to_recordset(s.hits) h (
                    "rank" int, "chunkId" text, score float8, "vectorScore" float8, "lexicalScore" float8
                )
                left join chunks c on c.project_id = s.project_id and c.id = h."chunkId"::uuid
            where s.project_id = %s and s.id = %s
            order by h."rank"
            """,
            (project_id, search_id),
        ).fetchall()


def _hit(
    *,
    source_path: str | None,
    session_id: str | None,
    metadata: dict[str, object] | None,
    **values: Any,
) -> RecordedHit:
    standing = source_path is not None or session_id is not None
    origin = origin_of(place_of(source_path, session_id), metadata or {}) if standing else None
    return RecordedHit(origin=origin, **values)
