"""A search's answer as a value. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rag_core.model import (
    CandidateSet,
    Origin,
    RankedCandidate,
    Ranking,
    Scope,
    SearchSettings,
    Timings,
)
from rag_core.search.origins import shape_of

Notice = Literal["noSearchableTerms", "notIndexed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedChunk:
    """A chunk of the place that was asked about.

    `entry` is its line in the whole set, None when it was in neither signal's list. Positions are exact and
    as deep as the index, None where a signal does not have the chunk at all.
    """

    chunk_id: str
    scope: Scope
    origin: Origin
    ordinal: int
    content_hash: str
    entry: RankedCandidate | None
    vector_position: int | None
    lexical_position: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Every chunk of one place, by ordinal; empty when the place is not indexed.

    `left_out` are the question's words that were not searched for.
    """

    place: str
    left_out: tuple[str, ...]
    chunks: tuple[ExplainedChunk, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """All that one search found. `search_id` None: nothing to attach a vote to, and `not_recorded` says why.

    `contents` holds the texts of the hits by chunk id. `provider_reason` says in a sentence why the question
    has no vector, `settings_problem` why the project's `settings.yaml` is not heeded. `notice` is
    `noSearchableTerms` or `notIndexed`.
    """

    search_id: str | None
    project_id: str
    question: str
    settings: SearchSettings
    found: CandidateSet
    ranking: Ranking
    contents: Mapping[str, str]
    timings: Timings
    provider_reason: str | None
    notice: Notice | None
    explanation: Explanation | None
    settings_problem: str | None = None
    not_recorded: str | None = None


def golden_hits_to_json(hits: Sequence[RankedCandidate]) -> list[dict[str, object]]:
    """A golden run's hits: without `content`, with `contentHash`, which a later run is explained by."""
    return [
        {
            "rank": hit.rank,
            "chunkId": hit.candidate.chunk_id,
            "score": hit.score,
            "vectorScore": hit.candidate.vector_score,
            "lexicalScore": hit.candidate.lexical_score,
            "scope": str(hit.candidate.scope),
            "origin": shape_of(hit.candidate.origin).to_json(),
            "citation": hit.candidate.origin.citation,
            "contentHash": hit.candidate.content_hash,
        }
        for hit in hits
    ]
