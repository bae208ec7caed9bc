"""Baselines: what one stood on and how it came out, the list of them, and whether one is sound."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from medir.contract.hits import ScopeName
from rag_core.evaluation.baselines import BaselineEntry
from rag_core.golden.baseline_file import Baseline
from rag_core.model import Candidate
from rag_core.model.shape import Shape
from rag_core.search.origins import OriginShape, shape_of


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenCandidate(Shape):
    """A candidate as it was fetched; enough to rank anew."""

    chunk_id: str
    vector_score: float | None
    lexical_score: float | None
    vector_rank: int | None
    lexical_rank: int | None
    scope: ScopeName
    origin: OriginShape
    citation: str
    ordinal: int
    content_hash: str

    @classmethod
    def of(cls, candidate: Candidate) -> "FrozenCandidate":
        """One candidate of a case."""
        return cls.drawn(candidate, origin=shape_of(candidate.origin), citation=candidate.origin.citation)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenCase(Shape):
    """The candidates of one case."""

    id: str
    vector_available: bool
    degraded: bool
    candidates: tuple[FrozenCandidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineAnswer(Shape):
    """A baseline as it was frozen. `run` is a golden run, `identity` what it stood on."""

    name: str
    frozen_at: str
    identity: Mapping[str, object]
    run: Mapping[str, object]
    candidates: tuple[FrozenCase, ...]
    checksum: str

    @classmethod
    def of(cls, found: Baseline) -> "BaselineAnswer":
        """As its file has it."""
        return cls.drawn(
            found,
            candidates=tuple(
                FrozenCase(
                    id=case.id,
                    vector_available=each.vector_available,
                    degraded=each.degraded,
                    candidates=tuple(map(FrozenCandidate.of, each.candidates)),
                )
                for case, each in zip(found.cases, found.found, strict=True)
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenAnswer(Shape):
    """A baseline that was just frozen, and the file to commit."""

    name: str
    frozen_at: str
    file: str
    passed: int
    total: int
    checksum: str

    @classmethod
    def of(cls, frozen: Baseline, file: Path) -> "FrozenAnswer":
        """With how many of its cases pass."""
        return cls.drawn(frozen, file=str(file), passed=sum(frozen.passed.values()), total=len(frozen.cases))


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineLine(Shape):
    """One baseline of the list; where it is not valid, `reason` says why and the rest is null."""

    name: str
    valid: bool
    reason: str | None
    frozen_at: str | None
    passed: int | None
    total: int | None
    checksum: str | None

    @classmethod
    def of(cls, entry: BaselineEntry) -> "BaselineLine":
        """One file of the folder."""
        found = entry.baseline
        return cls(
            name=entry.name,
            valid=found is not None,
            reason=entry.reason,
            frozen_at=found and found.frozen_at,
            passed=None if found is None else sum(found.passed.values()),
            total=None if found is None else len(found.cases),
            checksum=found and found.checksum,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineList(Shape):
    """The baselines beside a golden set."""

    baselines: tuple[BaselineLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineVerified(Shape):
    """Whether a baseline is as it was frozen, and still gives its results."""

    name: str
    valid: bool
    reason: str | None
