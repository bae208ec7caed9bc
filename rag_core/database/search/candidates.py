"""The two independent queries of a search, each on the index made for it.

Ties are cut by the key that ranking uses: files before sessions, path or session id by code point, ordinal.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from psycopg import sql

from rag_core.database.connecting import Connection
from rag_core.database.index.chunks import origin_of, place_of
from rag_core.database.search.posted import chunk_ids_of, posted_scores
from rag_core.lexical.rank import fewest_terms
from rag_core.lexical.tsquery import LexicalQuery, at_least
from rag_core.model import Candidate, CandidateSettings, LexicalFunction, LexicalOperator, Origin, Scope
from rag_core.ports import Vectors

# raised whenever the same question would find other chunks or score them otherwise
QUERY_VERSION = "3"

# up to so many matching rows for each one wanted, reading them all takes less than looking for the best
_FEW = 10

# of a chunk that matches the query, by `ScoreParts`
LEXICAL_SCORE = sql.SQL("""
    case
        when %(function)s = 'coverage' then (
            select count(*) from unnest(%(terms)s::tsquery[]) term where search_vector @@ term
        )::float8 / cardinality(%(terms)s::tsquery[])
        when %(function)s = 'ts_rank_cd' then ts_rank_cd(search_vector, %(query)s::tsquery, 32)::float8
        when cardinality(%(spelled)s::tsquery[]) = 0
            then ts_rank(search_vector, %(query)s::tsquery, 32)::float8
        else (
            -- ts_rank_cd counts: each position of a term adds 0.1
            select rank / (rank + 1)
            from (
                select (
                    coalesce(ts_rank(search_vector, %(plain)s::tsquery), 0)::float8 * %(plain_terms)s
                    + sum((%(worth)s::float8[])[
                        1 + least(256, round(10 * ts_rank_cd(search_vector, term)))::integer
                    ])
                ) / cardinality(%(terms)s::tsquery[]) as rank
                from unnest(%(spelled)s::tsquery[]) term
            ) mean
        )
    end
""")

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


def lexical_candidates(
    connection: Connection, project_id: str, query: LexicalQuery, settings: CandidateSettings
) -> list[SignalRow]:
    """The best chunks by the lexical function, at most `settings.fetch_depth`.

    `ts_rank` and `ts_rank_cd` use normalisation 32 (rank / (rank + 1)). Spellings of one term count as one lexeme:
    `ts_rank` is what it would be if the chunk used one of them throughout. `coverage` is the share of the
    question's terms that the chunk holds.

    Where any term may match, chunks that hold too few terms to be among the best are never read. That changes no
    score and no order: what was left out is proved to score less than the last row.

    Functions that know rarity are scored from the project's word statistics instead (`rag_core.lexical.postings`).
    """
    if query.way.function.knows_rarity:
        return _signal_rows(_posted(connection, project_id, query, settings))
    # the planner does not know what it costs to read a long tsvector, and would scan the whole table
    connection.execute("select set_config('enable_seqscan', 'off', true)")
    rows = _best(connection, project_id, query, settings)
    connection.execute("select set_config('enable_seqscan', 'on', true)")
    return _signal_rows(rows)


def _best(
    connection: Connection, project_id: str, query: LexicalQuery, settings: CandidateSettings
) -> list[tuple[object, ...]]:
    few = query.matching is not None and query.matching <= _FEW * settings.fetch_depth
    terms_of = _FEWEST_TERMS[query.way.function]
    if few or terms_of is None or query.way.operator is LexicalOperator.ALL:
        return _ranked(connection, project_id, query, settings, matching=query.tsquery)
    count = len(query.terms)
    needed = count
    while needed > 1:
        rows = _ranked(connection, project_id, query, settings, matching=at_least(needed, query.terms))
        if len(rows) == settings.fetch_depth:
            enough = terms_of(float(str(rows[-1][-1])), count)
            if enough >= needed:
                return rows
            needed = enough
            break
        needed = max(1, needed * 3 // 4)
    return _ranked(connection, project_id, query, settings, matching=at_least(needed, query.terms))


def _posted(
    connection: Connection, project_id: str, query: LexicalQuery, settings: CandidateSettings
) -> list[tuple[object, ...]]:
    numbers, scores = posted_scores(
        connection, project_id, query, settings.scopes, at_most=settings.fetch_depth
    )
    best = chunk_ids_of(connection, project_id, numbers)
    # a row is a chunk by its id, in the order of the ids
    return connection.execute(
        """
        select c.id::text, c.scope::text, source_path, session_id, ordinal, content_hash, metadata, best.score
        from unnest(%(ids)s::uuid[], %(scores)s::float8[]) with ordinality best (id, score, position)
            join chunks c on c.project_id = %(project)s and c.id = best.id
        order by best.position
        """,
        {"project": project_id, "ids": best, "scores": scores.tolist()},
    ).fetchall()


def _terms_covered(last_score: float, terms: int) -> int:
    return max(1, math.ceil(last_score * terms - 1e-9))


# how many terms a chunk must hold to score no less than the last row found so far; None where no number tells
_FEWEST_TERMS: Mapping[LexicalFunction, Callable[[float, int], int] | None] = {
    LexicalFunction.TS_RANK: fewest_terms,
    LexicalFunction.TS_RANK_CD: None,
    LexicalFunction.COVERAGE: _terms_covered,
    LexicalFunction.BM25: None,
    LexicalFunction.COVERAGE_IDF: None,
}


def _ranked(
    connection: Connection,
    project_id: str,
    query: LexicalQuery,
    settings: CandidateSettings,
    *,
    matching: str,
) -> list[tuple[object, ...]]:
    # a row is a matching chunk, best first, found through the GIN index on search_vector
    return connection.execute(
        sql.SQL("""
        select id::text, scope::text, source_path, session_id, ordinal, content_hash, metadata,
            {score} as score
        from chunks
        where project_id = %(project)s
          and scope = any(%(scopes)s::chunk_scope[])
          and search_vector @@ %(matching)s::tsquery
        order by score desc, scope = 'session', coalesce(source_path, session_id) collate "C", ordinal
        limit %(depth)s
        """).format(score=LEXICAL_SCORE),
        {
            **query.score_parts,
            "matching": matching,
            "project": project_id,
            "scopes": [str(scope) for scope in settings.scopes],
            "depth": settings.fetch_depth,
        },
    ).fetchall()


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


def unite(vector_rows: Sequence[SignalRow], lexical_rows: Sequence[SignalRow]) -> tuple[Candidate, ...]:
    """The union of both signals; what a signal did not find is marked None."""
    in_vector = {row.chunk_id: row for row in vector_rows}
    in_lexical = {row.chunk_id: row for row in lexical_rows}
    united: list[Candidate] = []
    for chunk_id, row in (in_lexical | in_vector).items():
        vector, lexical = in_vector.get(chunk_id), in_lexical.get(chunk_id)
        united.append(
            Candidate(
                chunk_id=chunk_id,
                scope=row.scope,
                origin=row.origin,
                ordinal=row.ordinal,
                content_hash=row.content_hash,
                vector_score=vector.score if vector else None,
                lexical_score=lexical.score if lexical else None,
                vector_rank=vector.rank if vector else None,
                lexical_rank=lexical.rank if lexical else None,
            )
        )
    return tuple(united)


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
