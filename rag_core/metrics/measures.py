"""The names of measures: parsed from text, compared by value, spelled in one way, and their means in words."""

import math
import re
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from rag_core.errors import InvalidInput
from rag_core.metrics.intervals import Interval
from rag_core.words.numbers import DASH, measured, percentage, points, signed

MAX_CUTOFF = 1000


class MeasureKind(StrEnum):
    """What is measured, without its cut-off."""

    PASSED = "passed"
    REJECTED = "rejected"
    HIT = "hit"
    MRR = "mrr"
    NDCG = "ndcg"
    PRECISION = "p"
    RECALL = "recall"


_WITHOUT_CUTOFF = (MeasureKind.PASSED, MeasureKind.REJECTED, MeasureKind.MRR)
_OF_PLACES = (MeasureKind.NDCG, MeasureKind.PRECISION, MeasureKind.RECALL)


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure by its kind and, where it has one, its cut-off k. `str` gives the canonical spelling.

    Examples:
        >>> str(Measure(MeasureKind.HIT, 5))
        'hit@5'
    """

    kind: MeasureKind
    cutoff: int | None = None

    def __post_init__(self) -> None:
        if (self.cutoff is None) != (self.kind in _WITHOUT_CUTOFF):
            raise ValueError(f"{self.kind} and the cut-off {self.cutoff} do not go together")
        if self.cutoff is not None and not 1 <= self.cutoff <= MAX_CUTOFF:
            raise ValueError(f"a cut-off lies between 1 and {MAX_CUTOFF}")

    def __str__(self) -> str:
        return str(self.kind) if self.cutoff is None else f"{self.kind}@{self.cutoff}"

    @property
    def uses_places(self) -> bool:
        """Whether hits are reduced to the first chunk of each place before they are judged."""
        return self.kind in _OF_PLACES

    @property
    def is_share_of_cases(self) -> bool:
        """Whether each case counts as 0 or 1, so that the mean is a share with a Wilson interval."""
        return self.kind in (MeasureKind.PASSED, MeasureKind.REJECTED, MeasureKind.HIT)

    def told(self, mean: float | None, cases: int) -> str:
        """A mean in words: a share as a percentage; a dash where it was not measured."""
        if mean is None or math.isnan(mean):
            return DASH
        return percentage(mean, cases) if self.is_share_of_cases else measured(mean)

    def told_span(self, interval: Interval | None, cases: int) -> str:
        """`58% to 86%`, both ends as `told` tells them; empty where nothing was judged."""
        if interval is None:
            return ""
        return f"{self.told(interval.low, cases)} to {self.told(interval.high, cases)}"

    def told_difference(self, difference: float, cases: int) -> str:
        """With its sign, a share in points."""
        return f"{points(difference, cases)} points" if self.is_share_of_cases else signed(difference, 3)

    def enters(self, no_answer: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which cases this measure judges, and so its denominator: shape as given.

        `passed` judges all, `rejected` those without an answer, every other one those with an answer.
        """
        if self.kind is MeasureKind.PASSED:
            return np.ones_like(no_answer)
        return no_answer.copy() if self.kind is MeasureKind.REJECTED else ~no_answer


PASSED = Measure(MeasureKind.PASSED)
REJECTED = Measure(MeasureKind.REJECTED)
MRR = Measure(MeasureKind.MRR)


def parse_measure(text: str) -> Measure:
    """The measure of that name: `passed`, `rejected`, `mrr`, `hit@k`, `ndcg@k`, `p@k` or `recall@k`.

    Case and surrounding white space are ignored, so are leading zeros of k.

    Raises:
        InvalidInput: There is no such measure, or its k is missing, superfluous or out of range.
    """
    match = re.fullmatch(r"([a-z]+)(?:@([0-9]{1,6}))?", text.strip().lower())
    kinds = {str(kind): kind for kind in MeasureKind}
    if match is None or match[1] not in kinds:
        raise InvalidInput(
            f"There is no measure {text!r}.",
            hint="Measures: passed, rejected, mrr, hit@k, ndcg@k, p@k, recall@k, for example hit@5.",
        )
    try:
        return Measure(kinds[match[1]], int(match[2]) if match[2] else None)
    except ValueError as error:
        raise InvalidInput(
            f"The measure {text!r} does not fit: {error}.",
            hint=f"hit, ndcg, p and recall take a k from 1 to {MAX_CUTOFF}, as in hit@5; the others take none.",
        ) from error
