"""A voted chunk, written straight into the tables."""

import uuid

import psycopg
from psycopg.types.json import Jsonb


def voted_chunk(connection: psycopg.Connection, project_id: str, *, path: str) -> None:
    """A chunk of a file, a search that showed it, and a vote on it."""
    chunk_id, search_id = uuid.uuid4(), uuid.uuid4()
    settings_id = "f" * 16
    connection.execute(
        """
        insert into chunks (project_id, id, scope, source_path, ordinal, content, content_hash, embedding,
            embedding_model)
        select %s, %s, 'docs', %s, 0, 'Apagado.', repeat('0', 64), embedding, embedding_model
        from chunks where embedding is not null limit 1
        """,
        (project_id, chunk_id, path),
    )
    connection.execute(
        "insert into search_settings (project_id, id, settings) values (%s, %s, '{}')",
        (project_id, settings_id),
    )
    connection.execute(
        """
        insert into rag_searches (project_id, id, created_at, question, hits, hit_count, weights, settings_id,
            degraded, vector_available, latency_ms, embed_ms, vector_ms, lexical_ms, rank_ms, scopes, actor_kind,
            actor_id, surface)
        values (%s, %s, now(), 'apagado?', %s, 1, '{}', %s, false, true, 1, 1, 1, 1, 1, '{docs}', 'human', 'ana', 'cli')
        """,
        (project_id, search_id, Jsonb([{"chunkId": str(chunk_id), "rank": 1}]), settings_id),
    )
    connection.execute(
        """
        insert into rag_feedback (project_id, search_id, chunk_id, rank, verdict, actor_kind, actor_id, searched_at,
            settings_id)
        values (%s, %s, %s, 1, 'util', 'human', 'ana', now(), %s)
        """,
        (project_id, search_id, chunk_id, settings_id),
    )


def counts(connection: psycopg.Connection) -> tuple[int, ...]:
    """Chunks and votes."""
    row = connection.execute(
        "select (select count(*) from chunks), (select count(*) from rag_feedback)"
    ).fetchone()
    assert row is not None
    return tuple(row)
