"""The map of weight and threshold together: for each case, up to which threshold it counts at each weight.

The threshold cuts a prefix of the order, and cap and limit look only at what stands above, so a right chunk's
rank among the hits does not depend on the threshold: it only has to reach it. Each case is then one piecewise
linear ceiling over the weight, for `no_answer` the top score, which the threshold has to exceed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.calibration.exact.exact import Exact, Share
from rag_core.calibration.exact.lines import score_at
from rag_core.calibration.exact.thresholds import Tolerances
from rag_core.calibration.table import Flags, Floats
from rag_core.metrics.measures import Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class CeilingMap:
    """All pieces of a measure, parallel arrays of shape (pieces,), and the cases that it judges.

    A piece belongs to `case` and covers the weights of the open interval (`low`, `high`), or the one weight
    where both are equal. It adds `value` to its case where the line from `at_low` to `at_high` is at least
    the threshold, with `below` where it is less. A line of infinity counts at every threshold, where `below`
    a line of minus infinity does. `judged` and `always` have shape (cases,): which cases the measure judges, and
    which count 1 whatever the numbers, without a piece here.
    """

    case: NDArray[np.intp]
    low: Floats
    high: Floats
    at_low: Floats
    at_high: Floats
    value: Floats
    below: Flags
    judged: Flags
    always: Flags

    def value_at(self, weight: float, threshold: float | None) -> float | None:
        """The measure's mean under both numbers; None where it judges no case.

        Raises:
            ValueError: The weight lies outside [0, 1].
        """
        level = -np.inf if threshold is None else threshold
        values = self.values_of_cases(weight, level)
        return float(values[self.judged].mean()) if self.judged.any() else None

    def values_of_cases(self, weight: float, threshold: float) -> Floats:
        """The value of each case, shape (cases,), NaN where the measure does not judge it; -inf is no threshold.

        Raises:
            ValueError: The weight lies outside [0, 1].
        """
        covers, lines = self.lines_at(weight)
        counts = reaches(lines, threshold) != self.below[covers]
        values = np.bincount(
            self.case[covers], weights=np.where(counts, self.value[covers], 0.0), minlength=len(self.judged)
        )
        return np.where(self.judged, values + self.always, np.nan)

    def heights(self, weight: float) -> Floats:
        """The threshold at which each case's value changes at a weight, shape (cases,); the highest of several.

        NaN where no threshold changes it.

        Raises:
            ValueError: The weight lies outside [0, 1].
        """
        covers, lines = self.lines_at(weight)
        case = self.case[covers]
        found = np.full(len(self.judged), np.nan)
        met = np.isfinite(lines)
        np.fmax.at(found, case[met], lines[met])
        return found

    def to_json(self, ids: tuple[str, ...]) -> list[dict[str, object]]:
        """The contract's `ceilings`: every case that the measure judges, those without a piece among them."""
        pieces: dict[int, list[dict[str, object]]] = {int(case): [] for case in np.flatnonzero(self.judged)}
        below = set(self.case[self.below].tolist()) | set(np.flatnonzero(self.always).tolist())
        columns = (self.case, self.low, self.high, self.at_low, self.at_high, self.value)
        for case, low, high, at_low, at_high, value in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            ends = [end if np.isfinite(end) else None for end in (at_low, at_high)]
            pieces[case].append({"from": low, "to": high, "threshold": ends, "value": value})
        for case in np.flatnonzero(self.always).tolist():
            pieces[case] = [{"from": 0.0, "to": 1.0, "threshold": [None, None], "value": 1.0}]
        found: list[dict[str, object]] = []
        for case, own in pieces.items():
            entry: dict[str, object] = {"id": ids[case]}
            if case in below:
                entry["below"] = True
            found.append(entry | {"pieces": own})
        return found

    def lines_at(self, weight: float) -> tuple[Flags, Floats]:
        """Which pieces cover a weight, shape (pieces,), and the height of each of these.

        Raises:
            ValueError: The weight lies outside [0, 1].
        """
        if not 0 <= weight <= 1:
            raise ValueError("a weight lies between 0 and 1")
        covers = ((self.low < weight) & (weight < self.high)) | ((self.low == weight) & (self.high == weight))
        low, high = self.low[covers], self.high[covers]
        at_low, at_high = self.at_low[covers], self.at_high[covers]
        width = high - low
        along = np.where(width > 0, (weight - low) / np.where(width > 0, width, 1.0), 0.0)
        with np.errstate(invalid="ignore"):
            line = at_low + along * (at_high - at_low)
        return covers, np.where(np.isfinite(at_low), line, at_low)


def reaches(lines: Floats, threshold: float) -> Flags:
    """Whether each score is kept at a threshold, -inf for none; a line of minus infinity never is."""
    return (lines >= threshold) & ~np.isneginf(lines)


def ceiling_map(exact: Exact, measure: Measure) -> CeilingMap:
    """The pieces of every case, in order of case and weight; each case's own are as few as they can be.

    Cases whose vector signal is not available keep to `threshold_when_degraded`, so no threshold of the map
    concerns them: their pieces are those of that threshold, with a line without end.

    Raises:
        ValueError: The measure is of places, and they were not followed.
    """
    parts = [_pieces_of(exact, share) for share in exact.shares(measure)]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.lexsort((columns[2], columns[1], columns[0]))
    case, low, high, at_low, at_high, value, below = (column[order] for column in columns)
    return CeilingMap(
        case=case.astype(np.intp),
        low=low,
        high=high,
        at_low=at_low,
        at_high=at_high,
        value=value,
        below=below.astype(bool),
        judged=measure.enters(exact.judged.no_answer),
        always=exact.constants(measure) > 0,
    )


def flat_map(tolerances: Tolerances) -> CeilingMap:
    """The map under a fusion without weights: level lines, at both ends of the weight and between them."""
    constant = np.flatnonzero(tolerances.constant)
    case = np.repeat(np.concatenate([tolerances.case, constant]), 3)
    score = np.repeat(np.concatenate([tolerances.score, np.full(len(constant), np.inf)]), 3)
    value = np.repeat(np.concatenate([tolerances.value, tolerances.constant[constant]]), 3)
    below = np.repeat(np.concatenate([tolerances.below, np.zeros(len(constant), dtype=bool)]), 3)
    parts = len(tolerances.case) + len(constant)
    return CeilingMap(
        case=case.astype(np.intp),
        low=np.tile([0.0, 0.0, 1.0], parts),
        high=np.tile([0.0, 1.0, 1.0], parts),
        at_low=score,
        at_high=score,
        value=value,
        below=below,
        judged=tolerances.judged,
        always=np.zeros(len(tolerances.judged), dtype=bool),
    )


_Columns = tuple[Floats, Floats, Floats, Floats, Floats, Floats, Floats]


def _pieces_of(exact: Exact, share: Share) -> _Columns:
    states = share.trajectories
    available = exact.table.available[share.case]
    gain = np.where(available, share.gain, share.in_force)
    first, last = _runs(states.target, gain, states.best)
    counts = gain[first] != 0
    first, last = first[counts], last[counts]
    starts = first[states.point[first]]
    stops = last[states.point[last] & (last > first)]
    wide = (last > first) | ~states.point[first]
    left, right = first[wide], last[wide]
    index = np.concatenate([starts, stops, left])
    # the state before or after an interval is the point that bounds it
    low = states.weight[np.where(states.point[left], left, left - 1)]
    high = states.weight[np.where(states.point[right], right, right + 1)]
    lows = np.concatenate([states.weight[starts], states.weight[stops], low])
    highs = np.concatenate([states.weight[starts], states.weight[stops], high])
    case, best = share.case[index], states.best[index]
    vector, lexical = exact.field.vector[case, best], exact.field.lexical[case, best]
    endless = -np.inf if share.below else np.inf
    at_low, at_high = (
        np.where(available[index], score_at(ends, vector, lexical), endless) for ends in (lows, highs)
    )
    below = np.full(len(index), float(share.below))
    return case.astype(np.float64), lows, highs, at_low, at_high, gain[index], below


def _runs(
    target: NDArray[np.intp], gain: Floats, best: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first and last state of each run over which a target's gain and best chunk stay the same."""
    if not len(target):
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    new = (np.diff(target) != 0) | (np.diff(gain) != 0) | (np.diff(best) != 0)
    first = np.concatenate([[0], np.flatnonzero(new) + 1])
    return first, np.concatenate([first[1:] - 1, [len(target) - 1]])
