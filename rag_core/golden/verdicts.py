"""Judge rankings by golden cases. Ranks are 1-based; None means that there is no such rank.

The ranking shown is the ranking judged: nothing here sorts. Every count is over all cases of the set, those
whose search found nothing among them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from rag_core.golden.cases import GoldenCase, GoldenSet
from rag_core.model import Fate, RankedCandidate, Ranking
from rag_core.model.shape import Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseVerdict:
    """How one case came out.

    Each rank is the best that any chunk of any expected place has, each taken by itself: the chunk that is
    first in the vector signal need not be the one that is first in the whole set. `removed_by` is what became
    of the expected chunk that stands best in the whole set, `candidates` where none is in it; None where the
    case passed. A `no_answer` case passes without hits, and has no ranks and no `removed_by`.

    `decided_by_tie` is true when chunks of equal fused score stand on both sides of the limit, so that
    another order among equals (another file name, say) would have turned the verdict. Only the fused order
    is looked at, not ties at the depth to which a signal was cut.
    """

    case: GoldenCase
    passed: bool
    rank: int | None
    whole_rank: int | None
    vector_rank: int | None
    lexical_rank: int | None
    removed_by: Fate | None
    decided_by_tie: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictShape(Shape):
    """A case and how it came out: the contract's case without its hits, and with `decidedByTie`."""

    id: str
    question: str
    expected: tuple[str, ...]
    tags: tuple[str, ...]
    must_pass: bool
    passed: bool
    rank: int | None
    whole_rank: int | None
    vector_rank: int | None
    lexical_rank: int | None
    removed_by: Literal["candidates", "threshold", "fileCap", "limit"] | None
    decided_by_tie: bool

    @classmethod
    def of(cls, verdict: CaseVerdict, **rest: Any) -> Self:
        """The verdict, with what else the shape holds."""
        case, removed = verdict.case, verdict.removed_by
        return cls.drawn(
            case,
            verdict,
            expected=tuple(map(str, case.expected)),
            removed_by=None if removed is None or removed is Fate.HIT else removed.value,
            **rest,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenOutcome:
    """How a whole set came out: one verdict a case, in the order of the set, none left out."""

    golden: GoldenSet
    verdicts: tuple[CaseVerdict, ...]

    def __post_init__(self) -> None:
        if tuple(verdict.case for verdict in self.verdicts) != self.golden.cases:
            raise ValueError("an outcome holds exactly one verdict for each case of the set, in its order")

    @property
    def passed(self) -> int:
        """How many cases passed."""
        return sum(verdict.passed for verdict in self.verdicts)

    @property
    def total(self) -> int:
        """How many cases there are."""
        return len(self.golden.cases)

    @property
    def floor(self) -> int:
        """How many must pass."""
        return self.golden.floor

    @property
    def share(self) -> float:
        """Passed over all cases, from 0 to 1."""
        return self.passed / self.total

    @property
    def lost_must_pass(self) -> tuple[str, ...]:
        """The ids of `must_pass` cases that failed, in the order of the set."""
        return tuple(
            verdict.case.id for verdict in self.verdicts if verdict.case.must_pass and not verdict.passed
        )

    @property
    def gate_passed(self) -> bool:
        """Whether at least the floor passed and no `must_pass` case failed."""
        return self.passed >= self.floor and not self.lost_must_pass


def judge(case: GoldenCase, ranking: Ranking) -> CaseVerdict:
    """Judge one ranking by one case.

    The case's scope plays no part here, it has shaped the search already. An empty ranking loses a case that
    expects places, with `removed_by` `candidates`, and wins a `no_answer` case.
    """
    if case.no_answer:
        return CaseVerdict(
            case=case,
            passed=not ranking.hits,
            rank=None,
            whole_rank=None,
            vector_rank=None,
            lexical_rank=None,
            removed_by=None,
            decided_by_tie=False,
        )
    expected = expected_entries(case, ranking)
    rank = _least(entry.rank for entry in expected)
    removed_by = None
    if rank is None:
        removed_by = expected[0].fate if expected else Fate.CANDIDATES
    return CaseVerdict(
        case=case,
        passed=rank is not None,
        rank=rank,
        whole_rank=_least(entry.whole_rank for entry in expected),
        vector_rank=_least(entry.candidate.vector_rank for entry in expected),
        lexical_rank=_least(entry.candidate.lexical_rank for entry in expected),
        removed_by=removed_by,
        decided_by_tie=bool(expected) and _is_decided_by_tie(expected[0], case, ranking),
    )


def judge_all(golden: GoldenSet, rankings: Sequence[Ranking]) -> GoldenOutcome:
    """Judge one ranking a case, in the order of the set.

    Raises:
        ValueError: There are more or fewer rankings than cases.
    """
    verdicts = tuple(judge(case, ranking) for case, ranking in zip(golden.cases, rankings, strict=True))
    return GoldenOutcome(golden=golden, verdicts=verdicts)


def expected_entries(case: GoldenCase, ranking: Ranking) -> tuple[RankedCandidate, ...]:
    """The chunks of expected places in the whole set, best first; empty for a `no_answer` case."""
    places = frozenset(case.expected)
    return tuple(entry for entry in ranking.whole_set if entry.candidate.origin.place in places)


def _least(ranks: Iterable[int | None]) -> int | None:
    return min((rank for rank in ranks if rank is not None), default=None)


def _is_decided_by_tie(best: RankedCandidate, case: GoldenCase, ranking: Ranking) -> bool:
    """Whether the best expected chunk is within the limit in one order of its equals, beyond it in another.

    The cap keeps as many chunks of a file whatever their order, so what survived it above and beside the best
    expected chunk can be counted as it stands. Where the limit cut nothing, no order matters.
    """
    in_line = [entry for entry in ranking.whole_set if entry.fate in (Fate.HIT, Fate.LIMIT)]
    limit = len(ranking.hits)
    if best.fate not in (Fate.HIT, Fate.LIMIT) or limit == len(in_line):
        return False
    places = frozenset(case.expected)
    above = sum(entry.score > best.score for entry in in_line)
    beside = sum(
        entry.score == best.score and entry.candidate.origin.place not in places for entry in in_line
    )
    return above < limit <= above + beside
