"""A search as it was recorded, with the votes on its hits."""

from collections.abc import Mapping
from dataclasses import dataclass

from rag_core.model.shape import Shape
from rag_core.report.searches import RecordedHit, RecordedSearch
from rag_core.search.origins import OriginShape, shape_of
from rag_core.search.votes import StoredVote, VoteVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class HitShown(Shape):
    """A hit as it was shown; the last two are null where a reindex has removed its chunk since."""

    rank: int
    chunk_id: str
    score: float
    vector_score: float | None
    lexical_score: float | None
    origin: OriginShape | None
    citation: str | None

    @classmethod
    def of(cls, hit: RecordedHit) -> "HitShown":
        """Of a recorded search."""
        return cls.drawn(
            hit, origin=hit.origin and shape_of(hit.origin), citation=hit.origin and hit.origin.citation
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteGiven(Shape):
    """A vote on a hit; `actor` is `kind:id`."""

    chunk_id: str
    rank: int
    verdict: VoteVerdict
    actor: str
    updated_at: str

    @classmethod
    def of(cls, vote: StoredVote) -> "VoteGiven":
        """As it stands."""
        return cls.drawn(vote)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSearchAnswer(Shape):
    """A search as it was recorded, with the votes on its hits."""

    search_id: str
    project_id: str
    question: str
    asked_at: str
    degraded: bool
    degraded_reason: str | None
    settings: Mapping[str, object]
    hits: tuple[HitShown, ...]
    votes: tuple[VoteGiven, ...]

    @classmethod
    def of(cls, project_id: str, search: RecordedSearch) -> "RecordedSearchAnswer":
        """Of one project."""
        return cls.drawn(
            search,
            search_id=str(search.id),
            project_id=project_id,
            hits=tuple(map(HitShown.of, search.hits)),
            votes=tuple(map(VoteGiven.of, search.votes)),
        )
