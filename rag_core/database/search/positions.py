"""Where the chunks of one place stand in each signal, however deep: the ground of an explanation."""

from dataclasses import dataclass

from psycopg import sql

from rag_core.database.connecting import Connection
from rag_core.database.index.chunks import origin_of
from rag_core.database.search.candidates import LEXICAL_SCORE
from rag_core.database.search.posted import chunk_ids_of, posted_scores
from rag_core.lexical.tsquery import NOTHING_ASKED, LexicalQuery
from rag_core.model import CandidateSettings, Origin, Place, Scope
from rag_core.ports import Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkPosition:
    """A chunk and its exact 1-based position in each signal's full order; None where that signal lacks it."""

    chunk_id: str
    scope: Scope
    origin: Origin
    ordinal: int
    content_hash: str
    vector_position: int | None
    lexical_position: int | None


def read_positions(
    connection: Connection,
    project_id: str,
    place: Place,
    *,
    vector: Vectors | None,
    query: LexicalQuery | None,
    settings: CandidateSettings,
) -> list[ChunkPosition]:
    """The chunks of `place`, by ordinal, with their positions among all chunks in scope.

    A chunk out of scope has no position. Reads every chunk in scope; for explanations, not for serving.
    """
    rare = query is not None and query.way.function.knows_rarity
    posted = _posted_positions(connection, project_id, query, settings) if query and rare else {}
    # a row is a chunk of the place; the windows number all chunks in scope by the orders of the two signals
    rows = connection.execute(
        sql.SQL("""
        with scoped as (
            select id, scope = 'session' as is_session, coalesce(source_path, session_id) collate "C" as place_key,
                ordinal, search_vector, case when embedding_model = %(model)s then embedding end as embedding
            from chunks
            where project_id = %(project)s and scope = any(%(scopes)s::chunk_scope[])
        ), vector_order as (
            select id, row_number() over (order by embedding <=> %(vector)s::vector, is_session, place_key, ordinal)
                as position
            from scoped where embedding is not null and %(vector)s::vector is not null
        ), lexical_order as (
            select id, row_number() over (order by score desc, is_session, place_key, ordinal) as position
            from (
                select id, is_session, place_key, ordinal,
                    {score} as score
                from scoped where search_vector @@ %(query)s::tsquery
            ) matching
        )
        select c.id::text, c.scope::text, c.metadata, c.ordinal, c.content_hash, v.position, l.position
        from chunks c
            left join vector_order v on v.id = c.id
            left join lexical_order l on l.id = c.id
        where c.project_id = %(project)s
          and case %(kind)s when 'file' then c.source_path = %(key)s else c.session_id = %(key)s end
        order by c.ordinal
        """).format(score=LEXICAL_SCORE),
        {
            "project": project_id,
            "scopes": [str(scope) for scope in settings.scopes],
            "vector": vector,
            "model": settings.embedding_model,
            **(query.score_parts if query and not rare else NOTHING_ASKED),
            "kind": place.kind,
            "key": place.key,
        },
    ).fetchall()
    return [
        ChunkPosition(
            chunk_id=row[0],
            scope=Scope(row[1]),
            origin=origin_of(place, row[2]),
            ordinal=row[3],
            content_hash=row[4],
            vector_position=row[5],
            lexical_position=posted.get(row[0]) if rare else row[6],
        )
        for row in rows
    ]


def _posted_positions(
    connection: Connection, project_id: str, query: LexicalQuery, settings: CandidateSettings
) -> dict[str, int]:
    numbers, _ = posted_scores(connection, project_id, query, settings.scopes)
    ids = chunk_ids_of(connection, project_id, numbers)
    return {chunk_id: position for position, chunk_id in enumerate(ids, start=1)}


def place_of_chunk(connection: Connection, project_id: str, chunk_id: str) -> Place | None:
    """The place of a chunk, None when there is no such chunk."""
    row = connection.execute(
        "select source_path, session_id from chunks where project_id = %s and id::text = %s",
        (project_id, chunk_id),
    ).fetchone()
    if row is None:
        return None
    return Place("file", row[0]) if row[0] is not None else Place("session", row[1])
