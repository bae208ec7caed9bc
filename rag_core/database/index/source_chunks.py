"""A place's chunks as they are read in a row, and which words of a text a question's terms match."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.database.connecting import Connection
from rag_core.database.index.chunks import origin_of, place_of
from rag_core.lexical.tsquery import LexicalQuery
from rag_core.model import Origin, Place


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChunk:
    """A chunk in its place.

    `number` counts from 1 in the order of the source; `model_id` is None without a vector.
    """

    chunk_id: str
    number: int
    origin: Origin
    content: str
    model_id: str | None


def read_source_chunks(
    connection: Connection, project_id: str, place: Place, *, first: int, last: int
) -> tuple[tuple[SourceChunk, ...], int]:
    """The chunks of `place` numbered `first` to `last`, and how many it has; empty where it has none."""
    # a row is a chunk, in the order of its source, by the unique index on (project_id, place, ordinal)
    rows = connection.execute(
        """
        select id, metadata, content, embedding_model, number, total from (
            select id::text, metadata, content, embedding_model, row_number() over (order by ordinal) as number,
                count(*) over () as total
            from chunks
            where project_id = %(project)s
              and case %(kind)s when 'file' then source_path = %(key)s else session_id = %(key)s end
        ) numbered
        where number between %(first)s and %(last)s
        order by number
        """,
        {"project": project_id, "kind": place.kind, "key": place.key, "first": first, "last": last},
    ).fetchall()
    chunks = tuple(
        SourceChunk(
            chunk_id=row[0], number=row[4], origin=origin_of(place, row[1]), content=row[2], model_id=row[3]
        )
        for row in rows
    )
    return chunks, rows[0][5] if rows else 0


def locate_chunk(connection: Connection, project_id: str, chunk_id: str) -> tuple[Place, int] | None:
    """The place of a chunk and its number there, counted from 1; None where there is no such chunk."""
    # one row: the chunk, with the count of its place's chunks up to it, by the unique index on (place, ordinal)
    row = connection.execute(
        """
        select c.source_path, c.session_id, (
            select count(*) from chunks before
            where before.project_id = c.project_id and before.ordinal <= c.ordinal
              and case when c.session_id is null then before.source_path = c.source_path
                  else before.session_id = c.session_id end
        )
        from chunks c where c.project_id = %s and c.id::text = %s
        """,
        (project_id, chunk_id),
    ).fetchone()
    return None if row is None else (place_of(row[0], row[1]), int(row[2]))


def matching_words(connection: Connection, words: Sequence[str], query: LexicalQuery) -> frozenset[str]:
    """Those of the words that the query would find, each taken for itself."""
    rows = connection.execute(
        """
        select word from unnest(%(words)s::text[]) as word
        where to_tsvector('portuguese', medir_plain(word)) @@ %(query)s::tsquery
        """,
        {"words": list(words), "query": query.tsquery},
    ).fetchall()
    return frozenset(row[0] for row in rows)
