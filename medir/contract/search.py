"""A search's answer, as every surface gives it."""

from dataclasses import dataclass, replace
from typing import Literal, Self

from medir.contract.hits import Candidate, Explained, Hit, ScopeName
from rag_core.model import Timings
from rag_core.model.settings import SettingsShape
from rag_core.model.shape import Shape
from rag_core.search.answer import Answer, Explanation, Notice

ReasonName = Literal["modelMismatch", "provider", "noVectors", "someVectorsMissing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer(Shape):
    """A search's answer. `searchId` null: it was not recorded, and there is nothing to attach a vote to."""

    search_id: str | None
    project_id: str
    question: str
    scopes: tuple[ScopeName, ...]
    vector_available: bool
    degraded: bool
    degraded_reason: ReasonName | None
    threshold: float | None
    settings: SettingsShape
    timings: Timings
    hits: tuple[Hit, ...]
    notice: Notice | None = None
    provider_reason: str | None = None
    settings_problem: str | None = None
    not_recorded: str | None = None

    @classmethod
    def of(cls, answer: Answer) -> Self:
        """What one search found."""
        found, ranking = answer.found, answer.ranking
        return cls.drawn(
            answer,
            found,
            ranking,
            scopes=tuple(scope.value for scope in answer.settings.candidates.scopes),
            settings=answer.settings.shape,
            hits=tuple(Hit.of(hit, answer.contents[hit.candidate.chunk_id]) for hit in ranking.hits),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedPlace(Shape):
    """One place's way through a search; no chunks where it is not indexed.

    `leftOut` are the question's words that were not searched for.
    """

    place: str
    left_out: tuple[str, ...]
    chunks: tuple[Explained, ...]

    @classmethod
    def of(cls, explanation: Explanation) -> "ExplainedPlace":
        """Every chunk of the place, by ordinal."""
        return cls(
            place=explanation.place,
            left_out=explanation.left_out,
            chunks=tuple(Explained.of(chunk) for chunk in explanation.chunks),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FullSearchAnswer(SearchAnswer):
    """The same as the command line gives it, with the whole set or one place's way where those were asked for."""

    whole_set: tuple[Candidate, ...] | None = None
    explanation: ExplainedPlace | None = None

    @classmethod
    def in_full(cls, answer: Answer, *, whole_set: bool) -> "FullSearchAnswer":
        """What one search found."""
        return replace(
            cls.of(answer),
            whole_set=tuple(map(Candidate.of, answer.ranking.whole_set)) if whole_set else None,
            explanation=answer.explanation and ExplainedPlace.of(answer.explanation),
        )
