"""Candidates of a question before and after ranking.

Ranks and positions are 1-based. A score of a signal that did not find a chunk is `None`, never 0. Pure.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

from rag_core.model.shape import Shape
from rag_core.model.words import Origin, Place, Scope


class DegradedReason(StrEnum):
    """Why a search was degraded; where several hold, the first in this order is given."""

    MODEL_MISMATCH = "modelMismatch"
    PROVIDER = "provider"
    NO_VECTORS = "noVectors"
    SOME_VECTORS_MISSING = "someVectorsMissing"


class Fate(StrEnum):
    """What became of a candidate: the step that removed it, or `hit`."""

    HIT = "hit"
    THRESHOLD = "threshold"
    FILE_CAP = "fileCap"
    LIMIT = "limit"
    CANDIDATES = "candidates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A chunk that at least one signal returned, before fusion.

    `vector_score` is a cosine similarity in [-1, 1]; `lexical_score` depends on the lexical function and
    lies in [0, 1]. Score and rank of a signal are both given or both `None`.
    """

    chunk_id: str
    scope: Scope
    origin: Origin
    ordinal: int
    content_hash: str
    vector_score: float | None
    lexical_score: float | None
    vector_rank: int | None
    lexical_rank: int | None

    def __post_init__(self) -> None:
        for score, rank in (
            (self.vector_score, self.vector_rank),
            (self.lexical_score, self.lexical_rank),
        ):
            if (score is None) != (rank is None):
                raise ValueError("a signal's score and rank are given together or not at all")
            if score is not None and not math.isfinite(score):
                raise ValueError("a signal's score is finite")

    @property
    def tie_key(self) -> tuple[Place, int]:
        """Unique within a project, and the same after a reindex: place, then ordinal."""
        return (self.origin.place, self.ordinal)


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSet:
    """The union of both signals' candidates for one question, in no particular order.

    `vector_available` and `degraded` are two facts, never one derived from the other: a search with some
    vectors missing is degraded although its vector signal ran.
    """

    candidates: tuple[Candidate, ...]
    vector_available: bool
    degraded: bool
    degraded_reason: DegradedReason | None
    searchable_terms: int

    def __post_init__(self) -> None:
        keys = [candidate.tie_key for candidate in self.candidates]
        if len(set(keys)) != len(keys):
            raise ValueError("no chunk is a candidate twice")

    @property
    def vector_ran(self) -> bool:
        """Whether there was a vector to search with."""
        return self.vector_available

    @property
    def lexical_ran(self) -> bool:
        """Whether the question has a word to search for."""
        return self.searchable_terms > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCandidate:
    """A candidate after ranking: fused score, place in the whole set, rank among the hits, fate."""

    candidate: Candidate
    score: float
    whole_rank: int
    rank: int | None
    fate: Fate


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The outcome of one ranking: the whole set in order, the threshold that was in force, which signals were run."""

    whole_set: tuple[RankedCandidate, ...]
    threshold: float | None
    vector_ran: bool = True
    lexical_ran: bool = True

    @property
    def hits(self) -> tuple[RankedCandidate, ...]:
        """The survivors, best first; `rank` counts from 1 without gaps."""
        return tuple(entry for entry in self.whole_set if entry.fate is Fate.HIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings(Shape):
    """Where a search's time went, in milliseconds; `total_ms` is measured, not the sum of the others."""

    embed_ms: float
    vector_ms: float
    lexical_ms: float
    rank_ms: float
    total_ms: float
