"""What an index contains, as it is browsed: its places, a place's chunks, and the searches that showed a chunk."""

from dataclasses import dataclass
from datetime import datetime

from psycopg import sql
from psycopg.rows import class_row

from rag_core.database.connecting import Connection
from rag_core.database.index.chunks import place_of
from rag_core.database.index.sessions import PLAIN, READABLE
from rag_core.model import Place, Scope
from rag_core.model.place_names import forms_of
from rag_core.model.session_events import INDEXED_EVENT_TYPES, spoken_text


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedPlace:
    """A file or session with chunks. `chars` counts their texts, overlaps twice."""

    place: Place
    scope: Scope
    title: str | None
    chunks: int
    chars: int
    without_vector: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """A search that had a chunk among its hits. The votes are those on this chunk in that search."""

    search_id: str
    asked_at: datetime
    question: str
    rank: int
    score: float
    useful: int
    irrelevant: int
    synthetic: bool


def read_indexed_places(
    connection: Connection, project_id: str, *, scope: Scope | None, containing: str, count: int
) -> tuple[tuple[IndexedPlace, ...], int]:
    """The first `count` places whose path, id or title contains some text, and how many there are.

    Case plays no part; an empty text is contained in all. Files stand before sessions, by code point.
    """
    # a row is a place, in the order of ties; reads the project's chunks once, by the index on (project_id, scope)
    rows = connection.execute(
        """
        select scope, source_path, session_id, title, chunks, chars, without_vector, count(*) over ()
        from (
            select scope::text as scope, source_path, session_id, min(metadata ->> 'title') as title,
                count(*) as chunks, sum(length(content)) as chars,
                count(*) filter (where embedding_model is null) as without_vector
            from chunks
            where project_id = %(project)s
              and (%(scope)s::chunk_scope is null or scope = %(scope)s::chunk_scope)
            group by scope, source_path, session_id
        ) places
        where exists (
            select from unnest(%(containing)s::text[]) sought
            where strpos(lower(concat_ws(' ', source_path, session_id, title)), lower(sought)) > 0
        )
        order by session_id is not null, coalesce(source_path, session_id) collate "C"
        limit %(count)s
        """,
        {
            "project": project_id,
            "scope": None if scope is None else str(scope),
            "containing": forms_of(containing),
            "count": count,
        },
    ).fetchall()
    places = tuple(
        IndexedPlace(
            place=place_of(row[1], row[2]),
            scope=Scope(row[0]),
            title=row[3],
            chunks=row[4],
            chars=int(row[5]),
            without_vector=row[6],
        )
        for row in rows
    )
    return places, rows[0][7] if rows else 0


def read_showings(
    connection: Connection, project_id: str, chunk_id: str, *, among: int, count: int
) -> tuple[Showing, ...]:
    """The newest `count` searches that showed a chunk, of the last `among` that were asked.

    Empty where none did, and for an id that no chunk ever had.
    """
    # a row is a search, newest first; looks at `among` rows at most, by the index on (project_id, created_at)
    with connection.cursor(row_factory=class_row(Showing)) as cursor:
        return tuple(
            cursor.execute(
                """
                select recent.id::text as search_id, recent.created_at as asked_at, recent.question,
                    (hit ->> 'rank')::int as rank, (hit ->> 'score')::float8 as score, votes.useful, votes.irrelevant,
                    recent.synthetic
                from (
                    select id, created_at, question, hits, synthetic
                    from rag_searches where project_id = %(project)s
                    order by created_at desc, id limit %(among)s
                ) recent
                cross join lateral jsonb_array_elements(recent.hits) as hit
                cross join lateral (
                    select count(*) filter (where verdict = 'util') as useful,
                        count(*) filter (where verdict = 'irrelevante') as irrelevant
                    from rag_feedback
                    where project_id = %(project)s and search_id = recent.id and chunk_id::text = %(chunk)s
                ) votes
                where hit ->> 'chunkId' = %(chunk)s
                order by recent.created_at desc, recent.id
                limit %(count)s
                """,
                {"project": project_id, "chunk": chunk_id, "among": among, "count": count},
            )
        )


def sessions_by_state(connection: Connection, project_id: str) -> tuple[int, int, int]:
    """Sessions whose every message is in the index, sessions without any text, and those with more to index."""
    # a row is a session; a message is in the index when a chunk of its session names its event
    rows = connection.execute(
        sql.SQL("""
        with indexed as (
            select distinct session_id, metadata ->> 'sourceRef' as event_id
            from chunks where project_id = %(project)s and scope = 'session'
        )
        select count(e.id) filter (where i.event_id is not null) > 0,
            count(e.id) filter (where i.event_id is null and plain) > 0,
            coalesce(jsonb_agg(e.payload) filter (where e.id is not null and i.event_id is null and not plain), '[]')
        from sessions s
        left join session_events e on e.project_id = s.project_id and e.session_id = s.id
          and e.type = any(%(types)s::text[])
        left join indexed i on i.session_id = e.session_id and i.event_id = e.id
        cross join lateral (select coalesce({plain}, false) as plain) told
        where s.project_id = %(project)s
        group by s.id
        """).format(plain=PLAIN),
        {"project": project_id, "types": list(INDEXED_EVENT_TYPES), "readable": READABLE},
    ).fetchall()
    waiting = [missing or any(map(spoken_text, unclear)) for _, missing, unclear in rows]
    covered = sum(read and not more for (read, _, _), more in zip(rows, waiting, strict=True))
    return covered, len(rows) - covered - sum(waiting), sum(waiting)
