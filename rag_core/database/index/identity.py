"""What an index is: its model, versions, counts and fingerprint."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from psycopg.rows import class_row, kwargs_row
from psycopg.types.json import Jsonb

from rag_core.database.connecting import Connection
from rag_core.model import Scope, canonical_digest
from rag_core.model.languages import DEFAULT_LANGUAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexIdentity:
    """A project's index as one snapshot sees it. `generation` grows with every run that wrote."""

    embedding_model: str | None
    chunker_version: str
    text_search_config: str
    generation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeState:
    """What the last index run of one scope read and made."""

    scope: Scope
    commit: str | None
    ref: str | None
    files: int
    chunks: int
    indexed_at: datetime
    skipped: list[dict[str, object]]
    notes: list[dict[str, object]]


def read_identity(connection: Connection, project_id: str) -> IndexIdentity | None:
    """The index's identity, None before the first index run."""
    with connection.cursor(row_factory=class_row(IndexIdentity)) as cursor:
        return cursor.execute(
            """
            select embedding_model, chunker_version, text_search_config, generation
            from indexes where project_id = %s
            """,
            (project_id,),
        ).fetchone()


def write_identity(
    connection: Connection,
    project_id: str,
    *,
    embedding_model: str | None,
    chunker_version: str,
    text_search_config: str,
) -> None:
    """Record what an index run made, and that the index changed."""
    connection.execute(
        """
        insert into indexes (project_id, embedding_model, chunker_version, text_search_config, languages)
        select %(project)s, %(model)s, %(chunker)s, %(config)s,
            coalesce(array_agg(language order by language collate "C"), '{}')
        from (select distinct language::text from chunks where project_id = %(project)s) held
        on conflict (project_id) do update
        set embedding_model = excluded.embedding_model,
            chunker_version = excluded.chunker_version,
            text_search_config = excluded.text_search_config,
            languages = excluded.languages,
            generation = indexes.generation + 1
        """,
        {
            "project": project_id,
            "model": embedding_model,
            "chunker": chunker_version,
            "config": text_search_config,
        },
    )


def read_languages(connection: Connection, project_id: str) -> tuple[str, ...]:
    """The languages of the project's chunks, at least one; before the first index run the project's own."""
    row = connection.execute(
        """
        select case when cardinality(i.languages) > 0 then i.languages else array[p.language::text] end
        from projects p left join indexes i using (project_id)
        where p.project_id = %s
        """,
        (project_id,),
    ).fetchone()
    return tuple(row[0]) if row else (DEFAULT_LANGUAGE,)


def write_scope_state(connection: Connection, project_id: str, state: ScopeState) -> None:
    """Record what a run read and made in one scope."""
    connection.execute(
        """
        insert into index_scopes (project_id, scope, commit, ref, files, chunks, indexed_at, skipped, notes)
        values (
            %(project)s, %(scope)s, %(commit)s, %(ref)s, %(files)s, %(chunks)s, %(indexed_at)s, %(skipped)s, %(notes)s
        )
        on conflict (project_id, scope) do update
        set commit = excluded.commit, ref = excluded.ref, files = excluded.files, chunks = excluded.chunks,
            indexed_at = excluded.indexed_at, skipped = excluded.skipped, notes = excluded.notes
        """,
        asdict(state)
        | {"project": project_id, "scope": str(state.scope)}
        | {"skipped": Jsonb(state.skipped), "notes": Jsonb(state.notes)},
    )


def read_scope_states(connection: Connection, project_id: str) -> dict[Scope, ScopeState]:
    """The state of each scope that was ever indexed."""
    # a row is a scope; the enum's own order is that of ALL_SCOPES
    with connection.cursor(row_factory=kwargs_row(_scope_state)) as cursor:
        states = cursor.execute(
            """
            select scope::text, commit, ref, files, chunks, indexed_at, skipped, notes
            from index_scopes where project_id = %s order by scope
            """,
            (project_id,),
        ).fetchall()
    return {state.scope: state for state in states}


def _scope_state(*, scope: str, **values: Any) -> ScopeState:
    return ScopeState(scope=Scope(scope), **values)


def has_vectors(connection: Connection, project_id: str, scopes: Sequence[Scope]) -> tuple[bool, bool]:
    """Whether some chunk in scope has a vector, and whether some chunk lacks one."""
    row = connection.execute(
        """
        select
            exists (
                select from chunks
                where project_id = %(project)s and scope = any(%(scopes)s::chunk_scope[]) and embedding is not null
            ),
            exists (
                select from chunks
                where project_id = %(project)s and scope = any(%(scopes)s::chunk_scope[]) and embedding is null
            )
        """,
        {"project": project_id, "scopes": [str(scope) for scope in scopes]},
    ).fetchone()
    return (bool(row[0]), bool(row[1])) if row else (False, False)


def count_chunks(connection: Connection, project_id: str, scopes: Sequence[Scope]) -> tuple[int, int]:
    """Chunks in scope, and how many of them have no vector."""
    row = connection.execute(
        """
        select count(*), count(*) filter (where embedding is null)
        from chunks where project_id = %(project)s and scope = any(%(scopes)s::chunk_scope[])
        """,
        {"project": project_id, "scopes": [str(scope) for scope in scopes]},
    ).fetchone()
    return (row[0], row[1]) if row else (0, 0)


def fingerprint(connection: Connection, project_id: str, *, query_version: str) -> str:
    """Sixteen hex digits over what decides a search's answer.

    Covers each chunk's place, ordinal, content hash, model and language, the chunker version, the text search
    configuration and the lexical query version. Ids and times play no part, so a full reindex of the same
    text under the same model keeps it.
    """
    identity = read_identity(connection, project_id)
    row = connection.execute(
        """
        select encode(sha256(convert_to(coalesce(string_agg(
            concat_ws(
                E'\\x1f', scope, coalesce(source_path, session_id), ordinal, content_hash, metadata,
                coalesce(embedding_model, ''), language
            ),
            E'\\x1e' order by scope = 'session', coalesce(source_path, session_id) collate "C", ordinal
        ), ''), 'UTF8')), 'hex')
        from chunks where project_id = %s
        """,
        (project_id,),
    ).fetchone()
    return canonical_digest(
        {
            "chunks": row[0] if row else "",
            "chunkerVersion": identity.chunker_version if identity else None,
            "textSearchConfig": identity.text_search_config if identity else None,
            "queryVersion": query_version,
        }
    )[:16]
