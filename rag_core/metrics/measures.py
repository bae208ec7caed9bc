"""The names of measures: parsed from text, compared by value, spelled in one way, and their means in words."""

import math
import re
from collections.abc import Iterable, Mapping
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
    PRECISION = "p"
    RECALL = "recall"
    NDCG = "ndcg"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Nature:
    """Whether a measure takes a cut-off, which cases it judges, whether by places, and whether each as 0 or 1."""

    cutoff: bool
    answers: bool = True
    silence: bool = False
    places: bool = False
    share: bool = False


_NATURES: Mapping[MeasureKind, _Nature] = {
    MeasureKind.PASSED: _Nature(cutoff=False, silence=True, share=True),
    MeasureKind.REJECTED: _Nature(cutoff=False, answers=False, silence=True, share=True),
    MeasureKind.HIT: _Nature(cutoff=True, share=True),
    MeasureKind.MRR: _Nature(cutoff=False),
    MeasureKind.PRECISION: _Nature(cutoff=True, places=True),
    MeasureKind.RECALL: _Nature(cutoff=True, places=True),
    MeasureKind.NDCG: _Nature(cutoff=True, places=True),
}


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
        if (self.cutoff is None) == _NATURES[self.kind].cutoff:
            raise ValueError(f"{self.kind} and the cut-off {self.cutoff} do not go together")
        if self.cutoff is not None and not 1 <= self.cutoff <= MAX_CUTOFF:
            raise ValueError(f"a cut-off lies between 1 and {MAX_CUTOFF}")

    def __str__(self) -> str:
        return str(self.kind) if self.cutoff is None else f"{self.kind}@{self.cutoff}"

    @property
    def uses_places(self) -> bool:
        """Whether hits are reduced to the first chunk of each place before they are judged."""
        return _NATURES[self.kind].places

    @property
    def judges_answers(self) -> bool:
        """Whether cases with an answer count, by what was found of it."""
        return _NATURES[self.kind].answers

    @property
    def judges_silence(self) -> bool:
        """Whether cases without an answer count, each as 1 where nothing is shown."""
        return _NATURES[self.kind].silence

    @property
    def is_share_of_cases(self) -> bool:
        """Whether each case counts as 0 or 1, so that the mean is a share with a Wilson interval."""
        return _NATURES[self.kind].share

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
        """Which cases this measure judges, and so its denominator: shape as given."""
        return (no_answer & self.judges_silence) | (~no_answer & self.judges_answers)


PASSED = Measure(MeasureKind.PASSED)
REJECTED = Measure(MeasureKind.REJECTED)
MRR = Measure(MeasureKind.MRR)


def measures_at(cutoffs: Iterable[int], limit: int) -> tuple[Measure, ...]:
    """Every kind of measure once: shares at each of the cut-offs, all others that take one at the limit."""
    return tuple(
        Measure(kind, cutoff)
        for kind, nature in _NATURES.items()
        for cutoff in ((None,) if not nature.cutoff else cutoffs if nature.share else (limit,))
    )


def measure_names(cutoff: str) -> list[str]:
    """How all measures are spelled, those without a cut-off first: `passed`, …, `hit@k`, … for `k`."""
    spelled = [f"{kind}@{cutoff}" if nature.cutoff else str(kind) for kind, nature in _NATURES.items()]
    return sorted(spelled, key=lambda name: "@" in name)


def parse_measure(text: str) -> Measure:
    """The measure of that name, as `measure_names` has them.

    Case and surrounding white space are ignored, so are leading zeros of k.

    Raises:
        InvalidInput: There is no such measure, or its k is missing, superfluous or out of range.
    """
    match = re.fullmatch(r"([a-z]+)(?:@([0-9]{1,6}))?", text.strip().lower())
    kinds = {str(kind): kind for kind in MeasureKind}
    names = sorted(measure_names("k"), key=lambda name: name if "@" in name else "")
    if match is None or match[1] not in kinds:
        raise InvalidInput(
            f"There is no measure {text!r}.",
            hint=f"Measures: {', '.join(names)}, for example hit@5.",
        )
    try:
        return Measure(kinds[match[1]], int(match[2]) if match[2] else None)
    except ValueError as error:
        *taking, last = (name.partition("@")[0] for name in names if "@" in name)
        raise InvalidInput(
            f"The measure {text!r} does not fit: {error}.",
            hint=f"{', '.join(taking)} and {last} take a k from 1 to {MAX_CUTOFF}, as in hit@5; "
            "the others take none.",
        ) from error
