"""A recorded search as the answer that it was: ranked again from its whole set, with the texts that still stand."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid5

from rag_core.database.connecting import Connection
from rag_core.database.connections import Database
from rag_core.database.index.chunks import read_contents, read_standing_of
from rag_core.database.report.replays import AskedSearch, candidates_of, find_asked_search
from rag_core.database.search.lexical_query import build_lexical_query
from rag_core.errors import InvalidInput, UsageError
from rag_core.model import (
    ALL_SCOPES,
    Candidate,
    CandidateSet,
    DegradedReason,
    Origin,
    Place,
    SearchSettings,
    StandingChunk,
    Timings,
)
from rag_core.ranking.ranking import rank
from rag_core.search.answer import Answer

_Key = tuple[Place, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledSearch:
    """A search that was asked before. `asked_by` is `kind:id`.

    `gone` are the chunk ids of those hits that a reindex has removed or made anew since.
    """

    answer: Answer
    asked_at: datetime
    asked_by: str
    gone: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Restored:
    """A whole set whose chunks have their ids; `texts` are by chunk id, of the hits whose text stands."""

    found: CandidateSet
    texts: Mapping[str, str]
    gone: frozenset[str]


def recall(database: Database, project_id: str, search_id: UUID) -> RecalledSearch:
    """One search of the project as it was answered. Asks nothing and writes nothing.

    Raises:
        UsageError: The project has none of that id, or too little of it was kept to show it as it was.
        DatabaseUnavailable: The database does not answer.
    """
    with database.snapshot() as connection:
        asked = find_asked_search(connection, project_id, search_id)
        if asked is None:
            raise UsageError(
                f"There is no search {search_id} in {project_id}.", hint="It may have been purged."
            )
        settings, hits = _ranked_again(asked, search_id)
        restored = _restore(connection, project_id, asked, hits=hits, search_id=search_id)
        query = build_lexical_query(
            connection, asked.question, settings.candidates.lexical, project_id=project_id
        )
    terms = len(query.terms) if query else 0
    found = dataclasses.replace(restored.found, searchable_terms=terms)
    answer = Answer(
        search_id=str(search_id),
        project_id=project_id,
        question=asked.question,
        settings=settings,
        found=found,
        ranking=rank(found, settings.ranking),
        contents=restored.texts,
        timings=Timings(
            embed_ms=asked.embed_ms,
            vector_ms=asked.vector_ms,
            lexical_ms=asked.lexical_ms,
            rank_ms=asked.rank_ms,
            total_ms=asked.latency_ms,
        ),
        provider_reason=None,
        notice=None if terms else "noSearchableTerms",
        explanation=None,
    )
    return RecalledSearch(answer=answer, asked_at=asked.asked_at, asked_by=asked.asked_by, gone=restored.gone)


def _ranked_again(asked: AskedSearch, search_id: UUID) -> tuple[SearchSettings, dict[_Key, str]]:
    """The settings in force then, and the ids of the hits' chunks by where they stood.

    Raises:
        UsageError: What was kept does not give the hits that were recorded.
    """
    try:
        settings = _settings(asked)
    except (InvalidInput, ValueError):
        settings = None
    found = candidates_of(asked)
    if settings is not None and found is not None:
        hits = rank(found, settings.ranking).hits
        if len(hits) == len(asked.chunk_ids) and all(
            math.isclose(hit.score, score, rel_tol=1e-9)
            for hit, score in zip(hits, asked.scores, strict=True)
        ):
            ids = zip(hits, asked.chunk_ids, strict=True)
            return settings, {hit.candidate.tie_key: chunk_id for hit, chunk_id in ids}
    raise UsageError(
        f"The search {search_id} can't be shown as it was: too little of it was kept.",
        hint="The page Report lists its hits; ask again for what is found now.",
    )


def _settings(asked: AskedSearch) -> SearchSettings:
    return SearchSettings.from_json(
        asked.weights,
        source=str(asked.weights.get("source") or "settings"),
        model_id=asked.weights.get("embeddingModel"),
        scopes=tuple(scope for scope in ALL_SCOPES if scope in asked.scopes) or ALL_SCOPES,
    )


def _restore(
    connection: Connection, project_id: str, asked: AskedSearch, *, hits: Mapping[_Key, str], search_id: UUID
) -> _Restored:
    standing = read_standing_of(connection, project_id, asked.content_hashes or [])
    by_id = {str(chunk.id): chunk for chunk in standing}
    by_position = {(chunk.origin.place, chunk.ordinal, chunk.content_hash): chunk for chunk in standing}
    kept = candidates_of(asked)
    candidates: list[Candidate] = []
    sources: dict[str, str] = {}
    for candidate in kept.candidates if kept else ():
        same = by_position.get((*candidate.tie_key, candidate.content_hash))
        chunk_id = hits.get(candidate.tie_key)
        if chunk_id is None:
            free = same is not None and str(same.id) not in hits.values()
            # an id of its own, that no chunk has
            chunk_id = str(same.id) if same and free else str(uuid5(search_id, candidate.chunk_id))
        source = by_id.get(chunk_id) or same
        candidates.append(_named(candidate, chunk_id, source))
        if source is not None and candidate.tie_key in hits:
            sources[chunk_id] = str(source.id)
    contents = read_contents(connection, project_id, list(sources.values()))
    return _Restored(
        found=CandidateSet(
            candidates=tuple(candidates),
            vector_available=asked.vector_available,
            degraded=asked.degraded,
            degraded_reason=next(
                (reason for reason in DegradedReason if reason == asked.degraded_reason), None
            ),
            searchable_terms=0,
        ),
        texts={chunk_id: contents[source] for chunk_id, source in sources.items()},
        gone=frozenset(asked.chunk_ids) - by_id.keys(),
    )


def _named(candidate: Candidate, chunk_id: str, source: StandingChunk | None) -> Candidate:
    """The candidate with its chunk's id, and what that chunk says of itself; its place stays the recorded one."""
    if source is None:
        return dataclasses.replace(candidate, chunk_id=chunk_id)
    place, told = candidate.origin.place, source.origin
    # the headings of another file would make a citation that nobody can follow
    origin = told if told.place == place else Origin(place=place, title=told.title)
    return dataclasses.replace(candidate, chunk_id=chunk_id, scope=source.scope, origin=origin)
