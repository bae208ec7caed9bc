"""Chunks: written in bulk by index runs, read as texts and places."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import sql
from psycopg.types.json import Jsonb

from rag_core.database.connecting import Connection
from rag_core.model import Chunk, Origin, Place, Scope, StandingChunk
from rag_core.model.place_names import PlaceNames
from rag_core.ports import Vectors

_STANDING = sql.SQL(
    "select id, scope::text, source_path, session_id, ordinal, content_hash, metadata, embedding_model, language"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRow:
    """A chunk with its id and, where the provider gave one, its vector and that vector's model."""

    id: UUID
    chunk: Chunk
    embedding: Vectors | None
    embedding_model: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedChunk:
    """A standing row by its id, and the chunk that it has become."""

    id: UUID
    chunk: Chunk


def insert_chunks(connection: Connection, project_id: str, rows: Iterable[ChunkRow]) -> None:
    """Write chunks through one COPY."""
    with (
        connection.cursor() as cursor,
        cursor.copy(
            """
            copy chunks (
                project_id, id, scope, session_id, source_path, ordinal, content, content_hash, metadata,
                embedding, embedding_model, language
            ) from stdin
            """
        ) as copy,
    ):
        for row in rows:
            copy.write_row(
                (
                    project_id,
                    row.id,
                    str(row.chunk.scope),
                    _session_of(row.chunk),
                    _path_of(row.chunk),
                    row.chunk.ordinal,
                    row.chunk.content,
                    row.chunk.content_hash,
                    json.dumps(metadata_of(row.chunk.origin), ensure_ascii=False, sort_keys=True),
                    row.embedding,
                    row.embedding_model,
                    row.chunk.language,
                )
            )


def read_standing(
    connection: Connection, project_id: str, scopes: Sequence[Scope], session_id: str | None
) -> list[StandingChunk]:
    """The rows of some scopes, or of one session, without their texts, by place and ordinal."""
    rows = connection.execute(
        sql.SQL("""
        {standing}
        from chunks
        where project_id = %(project)s
          and scope = any(%(scopes)s::chunk_scope[])
          and (%(session)s::text is null or session_id = %(session)s)
        order by scope = 'session', coalesce(source_path, session_id) collate "C", ordinal
        """).format(standing=_STANDING),
        {"project": project_id, "scopes": [str(scope) for scope in scopes], "session": session_id},
    ).fetchall()
    return [_standing(row) for row in rows]


def read_standing_of(
    connection: Connection, project_id: str, content_hashes: Sequence[str]
) -> list[StandingChunk]:
    """The rows that hold any of some texts, without the texts, by place and ordinal."""
    # a row is a chunk, found through chunks_content_hash
    rows = connection.execute(
        sql.SQL("""
        {standing}
        from chunks
        where project_id = %s and content_hash = any(%s::text[])
        order by scope = 'session', coalesce(source_path, session_id) collate "C", ordinal
        """).format(standing=_STANDING),
        (project_id, list(content_hashes)),
    ).fetchall()
    return [_standing(row) for row in rows]


def move_chunks(connection: Connection, project_id: str, moves: Sequence[MovedChunk]) -> None:
    """Bring scope, place, ordinal, metadata and language of standing rows up to date."""
    with connection.cursor() as cursor:
        cursor.executemany(
            """
            update chunks
            set scope = %s, source_path = %s, session_id = %s, ordinal = %s, metadata = %s, language = %s
            where project_id = %s and id = %s
            """,
            [
                (
                    str(move.chunk.scope),
                    _path_of(move.chunk),
                    _session_of(move.chunk),
                    move.chunk.ordinal,
                    Jsonb(metadata_of(move.chunk.origin)),
                    move.chunk.language,
                    project_id,
                    move.id,
                )
                for move in moves
            ],
        )


def fill_vectors(
    connection: Connection, project_id: str, model_id: str | None, vectors: Mapping[UUID, Vectors]
) -> None:
    """Give standing rows the vectors that they lack, by chunk id."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "update chunks set embedding = %s, embedding_model = %s where project_id = %s and id = %s",
            [(vector, model_id, project_id, chunk_id) for chunk_id, vector in vectors.items()],
        )


def delete_chunks(connection: Connection, project_id: str, ids: Sequence[UUID]) -> int:
    """Remove chunks, and with them their votes; returns how many votes went.

    The rows are locked before votes are counted, so no vote can slip in between.
    """
    connection.execute(
        "select from chunks where project_id = %s and id = any(%s) for update", (project_id, list(ids))
    )
    votes = count_votes(connection, project_id, ids)
    connection.execute("delete from chunks where project_id = %s and id = any(%s)", (project_id, list(ids)))
    return votes


def count_votes(connection: Connection, project_id: str, ids: Sequence[UUID]) -> int:
    """How many votes hang on these chunks."""
    row = connection.execute(
        "select count(*) from rag_feedback where project_id = %s and chunk_id = any(%s)",
        (project_id, list(ids)),
    ).fetchone()
    return row[0] if row else 0


def model_of_vectors(connection: Connection, project_id: str) -> str | None:
    """The model that made the project's vectors, None where there is no vector."""
    row = connection.execute(
        """
        select embedding_model from chunks
        where project_id = %s and embedding is not null
        order by embedding_model collate "C" limit 1
        """,
        (project_id,),
    ).fetchone()
    return row[0] if row else None


def read_contents(connection: Connection, project_id: str, ids: Sequence[str]) -> dict[str, str]:
    """The texts of some chunks, by id."""
    rows = connection.execute(
        "select id::text, content from chunks where project_id = %s and id = any(%s::uuid[])",
        (project_id, list(ids)),
    ).fetchall()
    return dict(rows)


def indexed_places(connection: Connection, project_id: str) -> dict[Place, Scope]:
    """Every place that has at least one chunk, with its scope."""
    rows = connection.execute(
        "select distinct scope::text, source_path, session_id from chunks where project_id = %s",
        (project_id,),
    ).fetchall()
    return {place_of(path, session): Scope(scope) for scope, path, session in rows}


def read_place_texts(connection: Connection, project_id: str, place: Place) -> list[tuple[Origin, str]]:
    """The origin and content hash of every chunk of a place, by ordinal."""
    # a row is a chunk of one file or of one session
    rows = connection.execute(
        """
        select metadata, content_hash from chunks
        where project_id = %(project)s
          and case when %(kind)s::text = 'session' then session_id else source_path end = %(key)s::text
        order by ordinal
        """,
        {"project": project_id, "kind": place.kind, "key": place.key},
    ).fetchall()
    return [(origin_of(place, metadata), content_hash) for metadata, content_hash in rows]


def find_text(connection: Connection, project_id: str, content_hash: str) -> Origin | None:
    """Where a text stands, the first of several in the order of ties; None where it is nowhere."""
    row = connection.execute(
        """
        select source_path, session_id, metadata from chunks
        where project_id = %(project)s and content_hash = %(hash)s
        order by scope = 'session', coalesce(source_path, session_id) collate "C", ordinal
        limit 1
        """,
        {"project": project_id, "hash": content_hash},
    ).fetchone()
    return None if row is None else origin_of(place_of(row[0], row[1]), row[2])


def read_texts_with(connection: Connection, project_id: str, wanted: str) -> list[tuple[Origin, str]]:
    """The origin and content of every chunk that a text is a part of, in the order of ties."""
    rows = connection.execute(
        """
        select source_path, session_id, metadata, content from chunks
        where project_id = %(project)s and position(%(wanted)s::text in content) > 0
        order by scope = 'session', coalesce(source_path, session_id) collate "C", ordinal
        """,
        {"project": project_id, "wanted": wanted},
    ).fetchall()
    return [(origin_of(place_of(row[0], row[1]), row[2]), str(row[3])) for row in rows]


def place_meant(connection: Connection, project_id: str, place: Place) -> Place:
    """The indexed place of that name in any Unicode form, where only one can be meant; else as given."""
    # a name without accents has one form, and nothing is to be read for it
    return place if place.key.isascii() else PlaceNames(indexed_places(connection, project_id)).meant(place)


def place_of(source_path: str | None, session_id: str | None) -> Place:
    """The place of a row; exactly one of the two is set."""
    return Place("file", source_path) if source_path is not None else Place("session", session_id or "")


def metadata_of(origin: Origin) -> dict[str, object]:
    """What a chunk's jsonb `metadata` holds: `headingPath`, `title`, `sourceRef`."""
    metadata: dict[str, object] = {}
    if origin.heading_path:
        metadata["headingPath"] = list(origin.heading_path)
    if origin.title is not None:
        metadata["title"] = origin.title
    if origin.event_id is not None:
        metadata["sourceRef"] = origin.event_id
    return metadata


def origin_of(place: Place, metadata: dict[str, object]) -> Origin:
    """The inverse of `metadata_of`."""
    headings = metadata.get("headingPath")
    title, event_id = metadata.get("title"), metadata.get("sourceRef")
    return Origin(
        place=place,
        heading_path=tuple(str(heading) for heading in headings) if isinstance(headings, list) else (),
        title=None if title is None else str(title),
        event_id=None if event_id is None else str(event_id),
    )


def _standing(row: tuple[Any, ...]) -> StandingChunk:
    return StandingChunk(
        id=row[0],
        scope=Scope(row[1]),
        origin=origin_of(place_of(row[2], row[3]), row[6]),
        ordinal=row[4],
        content_hash=row[5],
        embedding_model=row[7],
        language=row[8],
    )


def _path_of(chunk: Chunk) -> str | None:
    return chunk.origin.place.key if chunk.origin.place.kind == "file" else None


def _session_of(chunk: Chunk) -> str | None:
    return chunk.origin.place.key if chunk.origin.place.kind == "session" else None
