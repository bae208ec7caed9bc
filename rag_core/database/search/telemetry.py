"""Telemetry rows: one a search, its settings frozen beside it, its whole set as parallel arrays.

A search goes under the id of the settings in force. The limit that its caller chose stands in its frozen copy alone.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.types.json import Jsonb

from rag_core.database.connecting import Connection
from rag_core.model import Actor, CandidateSet, Ranking, SearchSettings, Timings


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRecord:
    """What is kept of one search."""

    id: UUID
    project_id: str
    asked_at: datetime
    question: str
    settings: SearchSettings
    found: CandidateSet
    ranking: Ranking
    timings: Timings
    actor: Actor
    session_id: str | None
    synthetic: bool


def insert_search(connection: Connection, record: SearchRecord) -> None:
    """Write the search, its settings where they are new, and its whole set."""
    settings, hits = record.settings, record.ranking.hits
    connection.execute(
        """
        insert into search_settings (project_id, id, settings) values (%s, %s, %s)
        on conflict (project_id, id) do nothing
        """,
        (record.project_id, settings.id, Jsonb(settings.in_force.to_json())),
    )
    connection.execute(
        """
        insert into rag_searches (
            project_id, id, created_at, question, hits, hit_count, weights, settings_id, degraded,
            degraded_reason, vector_available, latency_ms, embed_ms, vector_ms, lexical_ms, rank_ms, scopes,
            actor_kind, actor_id, surface, session_id, synthetic
        ) values (
            %(project_id)s, %(id)s, %(created_at)s, %(question)s, %(hits)s, %(hit_count)s, %(weights)s,
            %(settings_id)s, %(degraded)s, %(degraded_reason)s, %(vector_available)s, %(latency_ms)s,
            %(embed_ms)s, %(vector_ms)s, %(lexical_ms)s, %(rank_ms)s, %(scopes)s::chunk_scope[],
            %(actor_kind)s, %(actor_id)s, %(surface)s, %(session_id)s, %(synthetic)s
        )
        """,
        {
            "project_id": record.project_id,
            "id": record.id,
            "created_at": record.asked_at,
            "question": record.question,
            "hits": Jsonb(
                [
                    {
                        "chunkId": hit.candidate.chunk_id,
                        "rank": hit.rank,
                        "score": hit.score,
                        "vectorScore": hit.candidate.vector_score,
                        "lexicalScore": hit.candidate.lexical_score,
                    }
                    for hit in hits
                ]
            ),
            "hit_count": len(hits),
            "weights": Jsonb(settings.to_json()),
            "settings_id": settings.id,
            "degraded": record.found.degraded,
            "degraded_reason": None
            if record.found.degraded_reason is None
            else str(record.found.degraded_reason),
            "vector_available": record.found.vector_available,
            "latency_ms": record.timings.total_ms,
            "embed_ms": record.timings.embed_ms,
            "vector_ms": record.timings.vector_ms,
            "lexical_ms": record.timings.lexical_ms,
            "rank_ms": record.timings.rank_ms,
            "scopes": [str(scope) for scope in settings.candidates.scopes],
            "actor_kind": record.actor.kind,
            "actor_id": record.actor.id,
            "surface": record.actor.surface,
            "session_id": record.session_id,
            "synthetic": record.synthetic,
        },
    )
    _insert_candidates(connection, record)


def _insert_candidates(connection: Connection, record: SearchRecord) -> None:
    candidates = [entry.candidate for entry in record.ranking.whole_set]
    connection.execute(
        """
        insert into rag_candidates (
            project_id, search_id, places, ordinals, content_hashes, vector_scores, vector_ranks, lexical_scores,
            lexical_ranks
        ) values (
            %s, %s, %s::text[], %s::integer[], %s::text[], %s::float8[], %s::integer[], %s::float8[], %s::integer[]
        )
        """,
        (
            record.project_id,
            record.id,
            [str(candidate.origin.place) for candidate in candidates],
            [candidate.ordinal for candidate in candidates],
            [candidate.content_hash for candidate in candidates],
            [candidate.vector_score for candidate in candidates],
            [candidate.vector_rank for candidate in candidates],
            [candidate.lexical_score for candidate in candidates],
            [candidate.lexical_rank for candidate in candidates],
        ),
    )
