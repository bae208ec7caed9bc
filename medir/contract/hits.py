"""A hit, and a candidate of the whole set, wherever a search's answer is told."""

from dataclasses import dataclass
from typing import Literal

from rag_core.model import Fate, RankedCandidate
from rag_core.model.shape import Shape
from rag_core.search.answer import ExplainedChunk
from rag_core.search.origins import OriginShape, shape_of

ScopeName = Literal["docs", "adr", "session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Shape):
    """A passage that was found. A signal that did not find it has null for its score, never 0."""

    rank: int
    chunk_id: str
    content: str
    score: float
    vector_score: float | None
    lexical_score: float | None
    scope: ScopeName
    origin: OriginShape
    citation: str

    @classmethod
    def of(cls, hit: RankedCandidate, content: str) -> "Hit":
        """A ranked candidate that has a rank, with its text."""
        candidate = hit.candidate
        return cls.drawn(
            hit,
            candidate,
            rank=hit.rank or 0,
            content=content,
            origin=shape_of(candidate.origin),
            citation=candidate.origin.citation,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Followed(Shape):
    rank: int | None
    chunk_id: str
    score: float | None
    vector_score: float | None
    lexical_score: float | None
    scope: ScopeName
    origin: OriginShape
    citation: str
    ordinal: int
    content_hash: str
    whole_rank: int | None
    vector_rank: int | None
    lexical_rank: int | None
    fate: Literal["hit", "threshold", "fileCap", "limit", "candidates"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(_Followed):
    """A chunk that a signal found, and its way through the ranking."""

    score: float
    whole_rank: int

    @classmethod
    def of(cls, entry: RankedCandidate) -> "Candidate":
        """An entry of the whole set."""
        candidate = entry.candidate
        return cls.drawn(
            entry, candidate, origin=shape_of(candidate.origin), citation=candidate.origin.citation
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained(_Followed):
    """A chunk of the place that was asked about, with its exact position in each signal, however deep."""

    vector_position: int | None
    lexical_position: int | None

    @classmethod
    def of(cls, chunk: ExplainedChunk) -> "Explained":
        """Without ranks and scores where it is in neither signal's list."""
        entry = chunk.entry
        candidate = entry and entry.candidate
        return cls(
            rank=entry and entry.rank,
            chunk_id=chunk.chunk_id,
            score=entry and entry.score,
            vector_score=candidate and candidate.vector_score,
            lexical_score=candidate and candidate.lexical_score,
            scope=chunk.scope.value,
            origin=shape_of(chunk.origin),
            citation=chunk.origin.citation,
            ordinal=chunk.ordinal,
            content_hash=chunk.content_hash,
            whole_rank=entry and entry.whole_rank,
            vector_rank=candidate and candidate.vector_rank,
            lexical_rank=candidate and candidate.lexical_rank,
            fate=entry.fate.value if entry else Fate.CANDIDATES.value,
            vector_position=chunk.vector_position,
            lexical_position=chunk.lexical_position,
        )
