"""Rows for tests of the schema and of reports, written straight into the tables."""

import hashlib
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime

from psycopg import sql
from psycopg.types.json import Jsonb

from rag_core.database.connecting import Connection

SETTINGS_ID = "0123456789abcdef"
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def insert(connection: Connection, table: str, values: Mapping[str, object]) -> None:
    """One row."""
    connection.execute(
        sql.SQL("insert into {} ({}) values ({})").format(
            sql.Identifier(table),
            sql.SQL(", ").join(map(sql.Identifier, values)),
            sql.SQL(", ").join([sql.Placeholder()] * len(values)),
        ),
        list(values.values()),
    )


def project(connection: Connection, project_id: str) -> str:
    insert(connection, "projects", {"project_id": project_id, "name": project_id, "repo": "/nowhere"})
    insert(
        connection, "search_settings", {"project_id": project_id, "id": SETTINGS_ID, "settings": Jsonb({})}
    )
    return project_id


def session(connection: Connection, project_id: str, session_id: str) -> str:
    insert(connection, "sessions", {"project_id": project_id, "id": session_id, "created_at": NOON})
    return session_id


def chunk_values(project_id: str, **changes: object) -> dict[str, object]:
    content = str(changes.get("content", "O frete é congelado na coleta."))
    return {
        "project_id": project_id,
        "id": uuid.uuid4(),
        "scope": "docs",
        "source_path": "docs/a.md",
        "session_id": None,
        "ordinal": 0,
        "content": content,
        "content_hash": hashlib.sha256(content.encode()).hexdigest(),
        "embedding": None,
        "embedding_model": None,
    } | changes


def chunk(connection: Connection, project_id: str, **changes: object) -> uuid.UUID:
    values = chunk_values(project_id, **changes)
    insert(connection, "chunks", values)
    return uuid.UUID(str(values["id"]))


def search(connection: Connection, project_id: str, **changes: object) -> uuid.UUID:
    values: dict[str, object] = {
        "project_id": project_id,
        "id": uuid.uuid4(),
        "created_at": NOON,
        "question": "frete?",
        "hits": Jsonb([]),
        "hit_count": 0,
        "weights": Jsonb({}),
        "settings_id": SETTINGS_ID,
        "degraded": False,
        "vector_available": True,
        "latency_ms": 5,
        "embed_ms": 1,
        "vector_ms": 1,
        "lexical_ms": 1,
        "rank_ms": 1,
        "scopes": ["docs", "adr", "session"],
        "actor_kind": "human",
        "actor_id": "ana",
        "surface": "cli",
    } | changes
    scopes = sql.SQL("insert into rag_searches ({}) values ({})").format(
        sql.SQL(", ").join(map(sql.Identifier, values)),
        sql.SQL(", ").join(
            sql.SQL("%s::chunk_scope[]") if name == "scopes" else sql.Placeholder() for name in values
        ),
    )
    connection.execute(scopes, list(values.values()))
    return uuid.UUID(str(values["id"]))


def vote(
    connection: Connection, project_id: str, search_id: uuid.UUID, chunk_id: uuid.UUID, **changes: object
) -> None:
    insert(
        connection,
        "rag_feedback",
        {
            "project_id": project_id,
            "search_id": search_id,
            "chunk_id": chunk_id,
            "rank": 1,
            "verdict": "util",
            "actor_kind": "human",
            "actor_id": "ana",
            "searched_at": NOON,
            "settings_id": SETTINGS_ID,
        }
        | changes,
    )


def count(connection: Connection, table: str) -> int:
    row = connection.execute(sql.SQL("select count(*) from {}").format(sql.Identifier(table))).fetchone()
    assert row is not None
    return int(row[0])
