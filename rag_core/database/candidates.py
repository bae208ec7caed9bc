"""The two independent queries of a search, each on the index made for it.

Ties are cut by the key that ranking uses: files before sessions, path or session id by code point, ordinal.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.database.chunks import origin_of, place_of
from rag_core.database.connections import Connection
from rag_core.model import CandidateSettings, LexicalOperator, Origin, Scope
from rag_core.ports import Vectors

# raised whenever the same question would find other chunks or score them otherwise
QUERY_VERSION = "1"
TEXT_SEARCH_CONFIG = "portuguese"

_HNSW_MAX_DEPTH = 1000
_HNSW_DEFAULT_DEPTH = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRow:
    """One row of one signal, best first; `rank` counts from 1."""

    chunk_id: str
    scope: Scope
    origin: Origin
    ordinal: int
    content_hash: str
    score: float
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalQuery:
    """A question as a tsquery in its text form, and how many distinct terms it asks for."""

    tsquery: str
    lexemes: tuple[str, ...]


def build_lexical_query(
    connection: Connection, question: str, operator: LexicalOperator
) -> LexicalQuery | None:
    """The question's lexemes joined by OR or AND; None when it has no searchable word.

    PostgreSQL takes the question apart with the configuration that made the index; the text itself never
    becomes part of a query, and each lexeme is quoted as a tsquery literal.
    """
    row = connection.execute(
        r"""
        select
            array_agg(lexeme order by lexeme collate "C"),
            string_agg(
                '''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''',
                case %(operator)s when 'all' then ' & ' else ' | ' end
                order by lexeme collate "C"
            )
        from unnest(to_tsvector('portuguese', %(question)s::text))
        """,
        {"question": question, "operator": str(operator)},
    ).fetchone()
    if row is None or row[1] is None:
        return None
    return LexicalQuery(tsquery=row[1], lexemes=tuple(row[0]))


def lexical_candidates(
    connection: Connection, project_id: str, query: LexicalQuery, settings: CandidateSettings
) -> list[SignalRow]:
    """The best chunks by the lexical function, at most `settings.fetch_depth`.

    `ts_rank` and `ts_rank_cd` use normalisation 32 (rank / (rank + 1)); `coverage` is the share of the
    question's distinct terms that the chunk holds.
    """
    # a row is a matching chunk, best first, found through the GIN index on search_vector
    rows = connection.execute(
        """
        select id::text, scope::text, source_path, session_id, ordinal, content_hash, metadata,
            case %(function)s
                when 'ts_rank' then ts_rank(search_vector, %(query)s::tsquery, 32)::float8
                when 'ts_rank_cd' then ts_rank_cd(search_vector, %(query)s::tsquery, 32)::float8
                else (
                    select count(*) from unnest(%(lexemes)s::text[]) lexeme
                    where lexeme = any(tsvector_to_array(search_vector))
                )::float8 / cardinality(%(lexemes)s::text[])
            end as score
        from chunks
        where project_id = %(project)s
          and scope = any(%(scopes)s::chunk_scope[])
          and search_vector @@ %(query)s::tsquery
        order by score desc, scope = 'session', coalesce(source_path, session_id) collate "C", ordinal
        limit %(depth)s
        """,
        {
            "project": project_id,
            "query": query.tsquery,
            "lexemes": list(query.lexemes),
            "function": str(settings.lexical_function),
            "scopes": [str(scope) for scope in settings.scopes],
            "depth": settings.fetch_depth,
        },
    ).fetchall()
    return _signal_rows(rows)


def vector_candidates(
    connection: Connection,
    project_id: str,
    vector: Vectors,
    settings: CandidateSettings,
    *,
    exact: bool,
) -> list[SignalRow]:
    """The nearest chunks by cosine similarity, at most `settings.fetch_depth`.

    Args:
        connection: An open transaction; planner settings last until its end.
        project_id: The project.
        vector: The question's vector, shape (768,), made by `settings.embedding_model`.
        settings: Scopes, depth and model; a chunk whose vector another model made is never compared.
        exact: Compare all rows. Otherwise HNSW with iterative scans serves, and what it returns short of
            what exists is fetched again exactly, so that the number of rows never depends on the plan.
    """
    if exact or settings.fetch_depth > _HNSW_MAX_DEPTH:
        return _nearest(connection, project_id, vector, settings, exact=True)
    found = _nearest(connection, project_id, vector, settings, exact=False)
    if len(found) < settings.fetch_depth:
        return _nearest(connection, project_id, vector, settings, exact=True)
    return found


def _nearest(
    connection: Connection, project_id: str, vector: Vectors, settings: CandidateSettings, *, exact: bool
) -> list[SignalRow]:
    _plan(connection, exact=exact, depth=settings.fetch_depth)
    # a row is a chunk with a vector, nearest first; HNSW on embedding unless index scans are off
    rows = connection.execute(
        """
        select id::text, scope::text, source_path, session_id, ordinal, content_hash, metadata,
            1 - (embedding <=> %(vector)s) as score
        from chunks
        where project_id = %(project)s
          and scope = any(%(scopes)s::chunk_scope[])
          and embedding is not null
          and embedding_model = %(model)s
        order by embedding <=> %(vector)s, scope = 'session', coalesce(source_path, session_id) collate "C", ordinal
        limit %(depth)s
        """,
        {
            "project": project_id,
            "vector": vector,
            "model": settings.embedding_model,
            "scopes": [str(scope) for scope in settings.scopes],
            "depth": settings.fetch_depth,
        },
    ).fetchall()
    return _signal_rows(rows)


def _plan(connection: Connection, *, exact: bool, depth: int) -> None:
    connection.execute(
        """
        select
            set_config('enable_indexscan', case when %(exact)s then 'off' else 'on' end, true),
            set_config('hnsw.iterative_scan', 'strict_order', true),
            set_config('hnsw.max_scan_tuples', '200000', true),
            set_config('hnsw.ef_search', %(ef)s, true)
        """,
        {"exact": exact, "ef": str(max(_HNSW_DEFAULT_DEPTH, min(depth, _HNSW_MAX_DEPTH)))},
    )


def _signal_rows(rows: Sequence[tuple[object, ...]]) -> list[SignalRow]:
    found: list[SignalRow] = []
    for rank, (chunk_id, scope, path, session, ordinal, content_hash, metadata, score) in enumerate(
        rows, start=1
    ):
        place = place_of(None if path is None else str(path), None if session is None else str(session))
        found.append(
            SignalRow(
                chunk_id=str(chunk_id),
                scope=Scope(str(scope)),
                origin=origin_of(place, metadata if isinstance(metadata, dict) else {}),
                ordinal=int(str(ordinal)),
                content_hash=str(content_hash),
                score=float(str(score)) if not isinstance(score, float) else score,
                rank=rank,
            )
        )
    return found
