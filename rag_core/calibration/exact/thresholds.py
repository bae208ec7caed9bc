"""Every measure as an exact step function of the threshold, at the weight and fusion in force.

Nothing is approximated: the ends are fused scores as floats, and a score equal to the threshold is kept.
"""

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.calibration.exact.steps import ThresholdSteps, tidy_thresholds
from rag_core.calibration.replay import FateCode, Replay, carry_over, replay
from rag_core.calibration.table import CandidateTable, Flags, Floats, Judgements
from rag_core.metrics.kernels import (
    first_of_each_place,
    first_relevant_rank,
    measure_hits,
    worth_of_hit,
    worth_of_place,
)
from rag_core.metrics.measures import Measure
from rag_core.model import RankingSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerances:
    """Up to which threshold what adds to cases' values is kept, parallel arrays of shape (parts,).

    A part adds `value` to `case` where the threshold is at most `score`, with `below` where it is more.
    `constant`, shape (cases,), is what no threshold changes.
    """

    case: NDArray[np.intp]
    score: Floats
    value: Floats
    below: Flags
    constant: Floats
    judged: Flags

    def steps(self, *, cases: Flags | None = None) -> ThresholdSteps | None:
        """The mean over the judged cases; None where there is none.

        Args:
            cases: Only these of them, shape (cases,).
        """
        entering = self.judged if cases is None else self.judged & cases
        return self.weighted(entering.astype(np.float64)) if entering.any() else None

    def weighted(self, multiplicity: Floats) -> ThresholdSteps:
        """The weighted mean over cases, shape (cases,), as a resample has them.

        Raises:
            ValueError: The weights add up to 0.
        """
        total = float(multiplicity.sum())
        if not total > 0:
            raise ValueError("a mean is over at least one case")
        value = self.value * multiplicity[self.case]
        ends, position = np.unique(self.score, return_inverse=True)
        leaving = np.bincount(position, weights=np.where(self.below, -value, value), minlength=len(ends))
        start = float(self.constant @ multiplicity) + float(value[~self.below].sum())
        inside = start - np.concatenate([[0.0], np.cumsum(leaving)])
        return tidy_thresholds(ends, inside / total)


def threshold_tolerances(
    table: CandidateTable, judged: Judgements, settings: RankingSettings, measure: Measure
) -> Tolerances:
    """What each case adds to a measure and up to which threshold; the settings' own threshold plays no part.

    Cases whose vector signal is not available keep to `threshold_when_degraded` and are constant.
    """
    replayed = replay(table, dataclasses.replace(settings, threshold=None))
    judged = carry_over(judged, table, replayed.table)
    entering = measure.enters(judged.no_answer)
    available = replayed.table.available
    value_now = np.nan_to_num(measure_hits(replayed.hits(judged), measure))
    empty = ~replayed.table.present.any(axis=1)
    fixed = ~available | (judged.no_answer & empty)
    parts = [
        part
        for part in (
            _parts_of_hits(replayed, judged, measure, available & ~judged.no_answer),
            _parts_below(replayed, entering & judged.no_answer & available & ~empty),
        )
        if len(part[0])
    ]
    case, score, value, below = (
        (np.concatenate(column) for column in zip(*parts, strict=True))
        if parts
        else (np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0))
    )
    return Tolerances(
        case=case.astype(np.intp),
        score=score,
        value=value,
        below=below.astype(bool),
        constant=np.where(entering & fixed, value_now, 0.0),
        judged=entering,
    )


_Parts = tuple[NDArray[np.intp], Floats, Floats, Floats]


def _parts_of_hits(replayed: Replay, judged: Judgements, measure: Measure, cases: Flags) -> _Parts:
    """For each expected hit that counts, its case, its score and what it adds."""
    if not measure.judges_answers:
        return np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros(0), np.zeros(0)
    hits = replayed.hits(judged)
    scores = np.full(hits.places.shape, -np.inf)
    rows, positions = np.nonzero(replayed.fates == FateCode.HIT)
    scores[rows, replayed.ranks[rows, positions] - 1] = replayed.scores[rows, positions]
    if measure.uses_places:
        first = first_of_each_place(hits.places)
        case, at = np.nonzero(first & hits.relevant)
        rank = np.cumsum(first, axis=1, dtype=np.int64)[case, at]
        worth = worth_of_place(measure, rank, judged.expected[case], hits.limit)
    else:
        first_hit = first_relevant_rank(hits.relevant)
        case = np.flatnonzero(first_hit)
        at = first_hit[case] - 1
        worth = worth_of_hit(measure, first_hit[case], hits.limit)
    counts = cases[case] & (worth > 0)
    case, at = case[counts], at[counts]
    return case, scores[case, at], worth[counts], np.zeros(len(case))


def _parts_below(replayed: Replay, cases: Flags) -> _Parts:
    case = np.flatnonzero(cases)
    top = replayed.scores.max(axis=1, initial=-np.inf)
    return case, top[case], np.ones(len(case)), np.ones(len(case))
