"""Every measure as an exact step function of the weight, at the threshold in force.

The value on an interval is what `rag_core.ranking.ranking.rank` gives in its middle, the value at a point what it gives
at that float. Within `RESOLUTION` of a point, or within eight last places of the score over the difference of
the two slopes where that is more, rounding decides which side a weight belongs to.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.calibration.exact.field import (
    Field,
    best_of_all_expected,
    best_of_each_place,
    best_of_everything,
    build_field,
)
from rag_core.calibration.exact.steps import WeightSteps, tidy
from rag_core.calibration.exact.trajectories import Trajectories, follow
from rag_core.calibration.replay import carry_over
from rag_core.calibration.table import CandidateTable, Flags, Floats, Judgements
from rag_core.metrics.kernels import worth_of_hit, worth_of_place
from rag_core.metrics.measures import Measure
from rag_core.model import RankingSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What targets add to their cases' values, state by state, in the order of the trajectories.

    `case` is the case of each state, `gain` what it adds where its threshold is met: reached by the best
    chunk, or missed by it where `below`. `start` marks the first state of a target.
    """

    case: NDArray[np.intp]
    gain: Floats
    below: bool
    trajectories: Trajectories

    @property
    def in_force(self) -> Floats:
        """The gains at the threshold in force."""
        return np.where(self.trajectories.kept != self.below, self.gain, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """The states of all cases over all weights, from which every measure's function is summed.

    `table` is cut at the settings' depth, `judged` belongs to it. `expected`, `by_place` and `everything`
    follow the best chunk of all expected places, of each of them, and of all candidates of `no_answer` cases;
    each has its targets' cases beside it.
    """

    table: CandidateTable
    judged: Judgements
    settings: RankingSettings
    field: Field
    expected: Trajectories
    expected_case: NDArray[np.intp]
    everything: Trajectories
    everything_case: NDArray[np.intp]
    by_place: Trajectories | None
    by_place_case: NDArray[np.intp]

    def shares(self, measure: Measure) -> tuple[Share, ...]:
        """What adds up to the measure's value of each case.

        Raises:
            ValueError: The measure is of places, and they were not followed.
        """
        found: list[Share] = []
        if measure.uses_places:
            if self.by_place is None:
                raise ValueError(f"{measure} needs places, which were not followed")
            case = self.by_place_case[self.by_place.target]
            gain = self._gain_of_places(measure, self.by_place, case)
            found.append(Share(case=case, gain=gain, below=False, trajectories=self.by_place))
        elif measure.judges_answers:
            case = self.expected_case[self.expected.target]
            gain = worth_of_hit(measure, self.expected.rank, self.settings.limit)
            found.append(Share(case=case, gain=gain, below=False, trajectories=self.expected))
        if measure.judges_silence:
            case = self.everything_case[self.everything.target]
            found.append(Share(case=case, gain=np.ones(len(case)), below=True, trajectories=self.everything))
        return tuple(found)

    def constants(self, measure: Measure) -> Floats:
        """The value of each case that no weight or threshold changes: 1 for `no_answer` without candidates."""
        silent = self.judged.no_answer & ~self.table.present.any(axis=1)
        return np.where(silent & measure.judges_silence, 1.0, 0.0)

    def weights(self, measure: Measure, *, cases: Flags | None = None) -> WeightSteps | None:
        """The mean over the cases that the measure judges; None where it judges none.

        Args:
            measure: What is measured.
            cases: Only these of them, shape (cases,), for example those with one tag.
        """
        entering = measure.enters(self.judged.no_answer)
        if cases is not None:
            entering &= cases
        return self.weighted(measure, entering.astype(np.float64)) if entering.any() else None

    def weighted(self, measure: Measure, multiplicity: Floats) -> WeightSteps:
        """The weighted mean over cases, shape (cases,), as a resample has them.

        Raises:
            ValueError: The weights add up to 0.
        """
        total = float(multiplicity.sum())
        if not total > 0:
            raise ValueError("a mean is over at least one case")
        first = float(self.constants(measure) @ multiplicity)
        return _sum_up(self.shares(measure), multiplicity, first, total)

    def _gain_of_places(self, measure: Measure, states: Trajectories, case: NDArray[np.intp]) -> Floats:
        limit = self.settings.limit
        expected = self.judged.expected[case]
        worth = worth_of_place(measure, np.maximum(states.place_rank, 1), expected, limit)
        return np.where(states.rank <= limit, worth, 0.0)


def build_exact(
    table: CandidateTable, judged: Judgements, settings: RankingSettings, *, places: bool
) -> Exact:
    """Follow every case over all weights under the settings' depth, cap, limit, fusion and threshold.

    Args:
        table: The candidates, at least as deep as the settings ask for.
        judged: What the cases expect, of this table.
        settings: Their weights play no part.
        places: Whether measures of places will be asked for.

    Raises:
        ValueError: The fusion has no weights.
    """
    cut = table.cut(settings.candidates_per_signal)
    judged = carry_over(judged, table, cut)
    field = build_field(cut, settings)
    expected, everything = best_of_all_expected(judged), best_of_everything(cut, judged)
    by_place = best_of_each_place(cut, judged) if places else None
    return Exact(
        table=cut,
        judged=judged,
        settings=settings,
        field=field,
        expected=follow(field, expected, places=False),
        expected_case=expected.case,
        everything=follow(field, everything, places=False),
        everything_case=everything.case,
        by_place=follow(field, by_place, places=True) if by_place else None,
        by_place_case=by_place.case if by_place else np.zeros(0, dtype=np.intp),
    )


def _sum_up(shares: tuple[Share, ...], multiplicity: Floats, constant: float, total: float) -> WeightSteps:
    first_point, first_inside, last_point = constant, constant, constant
    weights: list[Floats] = []
    onto: list[Floats] = []
    across: list[Floats] = []
    for share in shares:
        states = share.trajectories
        value = share.in_force * multiplicity[share.case]
        first, last = states.weight == 0, states.weight == 1
        first &= states.point
        last &= states.point
        starts = np.flatnonzero(first)
        first_point += float(value[starts].sum())
        first_inside += float(value[starts + 1].sum())
        last_point += float(value[last & states.point].sum())
        inner = np.flatnonzero(states.point & ~first & ~last)
        jump, blip = value[inner + 1] - value[inner - 1], value[inner] - value[inner - 1]
        moving = (jump != 0) | (blip != 0)
        weights.append(states.weight[inner[moving]])
        onto.append(blip[moving])
        across.append(jump[moving])
    inner_ends, position = np.unique(np.concatenate(weights), return_inverse=True)
    jumps = np.bincount(position, weights=np.concatenate(across), minlength=len(inner_ends))
    blips = np.bincount(position, weights=np.concatenate(onto), minlength=len(inner_ends))
    inside = first_inside + np.concatenate([[0.0], np.cumsum(jumps)])
    at = np.concatenate([[first_point], inside[:-1] + blips, [last_point]])
    ends = np.concatenate([[0.0], inner_ends, [1.0]])
    return tidy(ends, at / total, inside / total)
