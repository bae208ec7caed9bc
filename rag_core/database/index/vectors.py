"""Vectors kept by model and text, so that no text is embedded twice."""

from collections.abc import Mapping, Sequence

import numpy as np

from rag_core.database.connecting import Connection
from rag_core.ports import EmbeddingRole, Vectors


def read_vectors(
    connection: Connection, project_id: str, model: str, role: EmbeddingRole, text_hashes: Sequence[str]
) -> dict[str, Vectors]:
    """The known vectors among these texts, each of shape (768,), by text hash."""
    rows = connection.execute(
        """
        select text_hash, embedding from embedding_cache
        where project_id = %s and model = %s and role = %s and text_hash = any(%s::text[])
        """,
        (project_id, model, role, list(text_hashes)),
    ).fetchall()
    return {text_hash: embedding.to_numpy().astype(np.float32) for text_hash, embedding in rows}


def keep_vectors(
    connection: Connection, project_id: str, model: str, role: EmbeddingRole, vectors: Mapping[str, Vectors]
) -> None:
    """Keep vectors by text hash; a known one stays as it is."""
    with connection.cursor() as cursor:
        cursor.executemany(
            """
            insert into embedding_cache (project_id, model, role, text_hash, embedding)
            values (%s, %s, %s, %s, %s)
            on conflict do nothing
            """,
            [(project_id, model, role, text_hash, vector) for text_hash, vector in vectors.items()],
        )


def drop_unused_vectors(connection: Connection, project_id: str) -> int:
    """Forget document vectors that no chunk of the project uses, a month after they were made; returns how many.

    Until then they serve a branch that comes back, and the next run of one that was killed.
    """
    return connection.execute(
        """
        delete from embedding_cache k
        where k.project_id = %s and k.role = 'document' and k.created_at < now() - interval '30 days' and not exists (
            select from chunks c
            where c.project_id = k.project_id and c.content_hash = k.text_hash and c.embedding_model = k.model
        )
        """,
        (project_id,),
    ).rowcount
