"""A place's chunks as they are read in a row, and which words of a text a question's terms match."""

from collections.abc import Collection, Mapping, Sequence
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


def matching_words(
    connection: Connection, words: Mapping[str, Collection[str]], query: LexicalQuery
) -> dict[str, frozenset[str]]:
    """Those words of each language that the query would find, each taken for itself."""
    asked = [(language, word) for language, each in words.items() for word in each]
    rows = connection.execute(
        """
        select language, word from unnest(%(languages)s::text[], %(words)s::text[]) as asked (language, word)
        where medir_tsvector(language, word) @@ %(query)s::tsquery
        """,
        {
            "languages": [language for language, _ in asked],
            "words": [word for _, word in asked],
            "query": query.tsquery,
        },
    ).fetchall()
    return {language: frozenset(word for of, word in rows if of == language) for language in words}


def languages_of_texts(
    connection: Connection, project_id: str, content_hashes: Sequence[str]
) -> dict[str, str]:
    """The language of each text by its hash; a text that no chunk holds any more is left out."""
    # a row is a chunk, found through chunks_content_hash
    rows = connection.execute(
        "select content_hash, language from chunks where project_id = %s and content_hash = any(%s::text[])",
        (project_id, list(content_hashes)),
    ).fetchall()
    return dict(rows)
