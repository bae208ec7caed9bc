"""Exact step functions: of the weight on [0, 1], and of the threshold on the whole line."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.calibration.exact.lines import RESOLUTION
from rag_core.metrics.comparison import SAME

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A part of [0, 1] on which a function is constant: a point, or the open interval between two points."""

    low: float
    high: float
    value: float

    @property
    def is_point(self) -> bool:
        """Whether the piece is one weight."""
        return self.low == self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightSteps:
    """A step function of the weight: points and the open intervals between them, from 0 to 1.

    `ends` has m + 1 points in order, 0 first and 1 last, `at` the value at each, `inside` the m values between.
    The value at a point can differ from both its neighbours: there, a tie decides.
    """

    ends: Floats
    at: Floats
    inside: Floats

    def __post_init__(self) -> None:
        if not len(self.ends) == len(self.at) == len(self.inside) + 1:
            raise ValueError("there is one value a point and one between two points")
        if self.ends[0] != 0 or self.ends[-1] != 1 or np.any(np.diff(self.ends) <= 0):
            raise ValueError("points rise from 0 to 1")

    def values(self, weights: Floats) -> Floats:
        """The value at each weight, shape as given.

        Raises:
            ValueError: A weight lies outside [0, 1].
        """
        if np.any((weights < 0) | (weights > 1)):
            raise ValueError("a weight lies between 0 and 1")
        before = np.searchsorted(self.ends, weights, side="right") - 1
        on_point = self.ends[before] == weights
        return np.where(on_point, self.at[before], self.inside[np.minimum(before, len(self.inside) - 1)])

    def pieces(self) -> tuple[Stretch, ...]:
        """All points and intervals in order: a partition of [0, 1]."""
        points = [
            Stretch(low=end, high=end, value=value)
            for end, value in zip(self.ends.tolist(), self.at.tolist(), strict=True)
        ]
        between = [
            Stretch(low=low, high=high, value=value)
            for low, high, value in zip(
                self.ends[:-1].tolist(), self.ends[1:].tolist(), self.inside.tolist(), strict=True
            )
        ]
        alternating = (piece for both in zip(points, between, strict=False) for piece in both)
        return (*alternating, points[-1])

    def to_json(self) -> list[dict[str, float]]:
        """The contract's `weights`."""
        return [{"from": piece.low, "to": piece.high, "value": piece.value} for piece in self.pieces()]


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdSteps:
    """A step function of the threshold: `inside[i]` is the value on `(ends[i - 1], ends[i]]`.

    `ends` has m numbers in order, `inside` m + 1 values; the first holds from -inf (no threshold), the last for
    every threshold above the last end. Closed above, since a score equal to the threshold is kept.
    """

    ends: Floats
    inside: Floats

    def __post_init__(self) -> None:
        if len(self.inside) != len(self.ends) + 1 or np.any(np.diff(self.ends) <= 0):
            raise ValueError("ends rise, and there is one value more than there are ends")

    def values(self, thresholds: Floats) -> Floats:
        """The value at each threshold, shape as given; -inf stands for none."""
        return self.inside[np.searchsorted(self.ends, thresholds, side="left")]

    def to_json(self) -> list[dict[str, float | None]]:
        """The contract's `thresholds`."""
        ends = [None, *self.ends.tolist(), None]
        return [
            {"from": low, "to": high, "value": value}
            for low, high, value in zip(ends[:-1], ends[1:], self.inside.tolist(), strict=True)
        ]


def tidy(ends: Floats, at: Floats, inside: Floats) -> WeightSteps:
    """A step function without superfluous ends: equal neighbours are one, so are ends within `RESOLUTION`.

    Of ends that close, the one is kept whose value its neighbours do not have, else the first that changes
    anything.
    """
    ends, at, inside = _without_slivers(ends, at, inside)
    before, after = inside[:-1], inside[1:]
    changes = (np.abs(before - after) > SAME) | (np.abs(at[1:-1] - before) > SAME)
    stays = np.concatenate([[True], changes, [True]])
    return WeightSteps(ends=ends[stays], at=at[stays], inside=inside[stays[:-1]])


def tidy_thresholds(ends: Floats, inside: Floats) -> ThresholdSteps:
    """A threshold function without ends at which nothing changes."""
    changes = np.abs(np.diff(inside)) > SAME
    return ThresholdSteps(ends=ends[changes], inside=inside[np.concatenate([[True], changes])])


def _without_slivers(ends: Floats, at: Floats, inside: Floats) -> tuple[Floats, Floats, Floats]:
    slivers = np.flatnonzero(np.diff(ends) <= RESOLUTION)
    if not slivers.size:
        return ends, at, inside
    dropped = np.zeros(len(ends), dtype=bool)
    for run in np.split(slivers, np.flatnonzero(np.diff(slivers) > 1) + 1):
        cluster = np.arange(run[0], run[-1] + 2)
        dropped[cluster] = True
        dropped[_representative(cluster, len(ends) - 1, at, inside)] = False
    stays = ~dropped
    # an interval survives with the end on its left; slivers go with the ends that they joined
    wide = np.diff(ends) > RESOLUTION
    return ends[stays], at[stays], inside[wide]


def _representative(cluster: NDArray[np.intp], last: int, at: Floats, inside: Floats) -> int:
    if cluster[0] == 0:
        return 0
    if cluster[-1] == last:
        return last
    left, right = inside[cluster[0] - 1], inside[cluster[-1]]
    apart = (np.abs(at[cluster] - left) > SAME).astype(int) + (np.abs(at[cluster] - right) > SAME)
    return int(cluster[np.argmax(apart)])
