"""Where nothing is lost, and how far the nearest loss is."""

import dataclasses
from dataclasses import dataclass

import numpy as np

from rag_core.calibration.exact.events import NEVER_FROM, find_overtaking, leading_members
from rag_core.calibration.exact.exact import Exact
from rag_core.calibration.exact.field import Targets
from rag_core.calibration.exact.lines import RESOLUTION
from rag_core.calibration.exact.steps import ThresholdSteps, WeightSteps
from rag_core.calibration.exact.thresholds import threshold_tolerances
from rag_core.calibration.replay import measure_replay
from rag_core.calibration.table import CandidateTable, Flags, Judgements
from rag_core.metrics.comparison import SAME
from rag_core.metrics.intervals import Interval
from rag_core.metrics.measures import PASSED
from rag_core.model import Candidate, RankingSettings

_STEPS_INWARD = tuple(RESOLUTION * 10.0**power for power in range(7))


@dataclass(frozen=True, slots=True, kw_only=True)
class Overtake:
    """A rival that stands above the right file on the open interval from `begins` to `ends`.

    At `begins` (none above 0 where it does so from the start) it overtakes the right file, at `ends` (1 where it
    stays above) the right file overtakes it.
    """

    rival: Candidate
    begins: float
    ends: float


def passing(table: CandidateTable, judged: Judgements, settings: RankingSettings) -> Flags:
    """Which cases pass under the settings, shape (cases,)."""
    return measure_replay(table, judged, settings, PASSED) == 1


def safe_weights(exact: Exact, keep: Flags) -> tuple[Interval, ...]:
    """All weights at which every case of `keep` passes, as intervals with both ends, in order.

    Where an interval is bounded by a crossing at which a case is lost, its end is inset by `RESOLUTION`, or by
    as much as rounding needs. Without a case to keep, all weights are safe.

    Args:
        exact: The cases at the threshold in force.
        keep: Shape (cases,), for example what passes today or in a baseline.
    """
    if not keep.any():
        return (Interval(0.0, 1.0),)
    steps = exact.weighted(PASSED, keep.astype(np.float64))
    found: list[Interval] = []
    for low, high, low_open, high_open in _spans_of_all(steps):
        inner_low = _inset(exact, keep, low, 1.0 if low_open else 0.0, high)
        inner_high = _inset(exact, keep, high, -1.0 if high_open else 0.0, low)
        if inner_low is not None and inner_high is not None and inner_low <= inner_high:
            found.append(Interval(inner_low, inner_high))
    return tuple(found)


def safe_thresholds(
    table: CandidateTable, judged: Judgements, settings: RankingSettings, keep: Flags
) -> Interval | None:
    """All thresholds at which every case of `keep` passes at the settings' weight; None where there is none.

    An end of minus infinity stands for no threshold. Without a case to keep, all thresholds are safe.
    """
    if not keep.any():
        return Interval(-np.inf, np.inf)
    tolerances = threshold_tolerances(table, judged, settings, PASSED)
    steps = tolerances.weighted(keep.astype(np.float64))
    safe = np.flatnonzero(steps.inside >= 1 - SAME)
    if not safe.size:
        return None
    # what is answered sets one bound from above, what is refused one from below: the safe thresholds are one run
    ends = np.concatenate([[-np.inf], steps.ends, [np.inf]])
    low, high = ends[safe[0]], ends[safe[-1] + 1]
    return Interval(float(low if np.isinf(low) else np.nextafter(low, np.inf)), float(high))


def widest_thresholds(steps: ThresholdSteps, at_least: float) -> Interval | None:
    """The widest run of thresholds whose value is at least that; None where it is nowhere reached.

    A run that reaches to minus infinity comes before all others, since no threshold at all lies in it; one that
    reaches to infinity, where nothing is shown, comes last.
    """
    ends = np.concatenate([[-np.inf], steps.ends, [np.inf]])
    good = steps.inside >= at_least - SAME
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(np.int8)))
    runs = [Interval(float(ends[low]), float(ends[high])) for low, high in edges.reshape(-1, 2)]
    return max(runs, key=_preference, default=None)


def _preference(run: Interval) -> tuple[bool, bool, float]:
    return bool(np.isneginf(run.low)), bool(np.isfinite(run.high)), run.high - run.low


def overtakes(exact: Exact, case: int) -> tuple[Overtake, ...]:
    """Every rival that stands above the right file of a case at some weight inside (0, 1), in order of ties.

    The right file is the best chunk of all expected places. Nothing for a case without an expected candidate.
    """
    members = np.flatnonzero(exact.judged.relevant[case])
    if not members.size:
        return ()
    target = Targets(case=np.array([case]), members=members[None, :])
    found = find_overtaking(exact.field, target, leading_members(exact.field, target))
    begins, ends = found.begins[0], found.ends[0]
    return tuple(
        Overtake(
            rival=exact.table.candidate(case, int(column)),
            begins=max(0.0, float(begins[column])),
            ends=min(1.0, float(ends[column])),
        )
        for column in np.flatnonzero((begins < ends) & (begins != NEVER_FROM))
    )


def _spans_of_all(steps: WeightSteps) -> list[tuple[float, float, bool, bool]]:
    """Runs of pieces at which every case passes: low, high, and whether each end is open."""
    good = [piece for piece in steps.pieces() if piece.value >= 1 - SAME]
    spans: list[tuple[float, float, bool, bool]] = []
    for piece in good:
        is_open = not piece.is_point
        # a point joins an interval that it bounds; two intervals never meet without their point
        if spans and spans[-1][1] == piece.low and spans[-1][3] != is_open:
            spans[-1] = (spans[-1][0], piece.high, spans[-1][2], is_open)
        else:
            spans.append((piece.low, piece.high, is_open, is_open))
    return spans


def _inset(exact: Exact, keep: Flags, end: float, direction: float, other: float) -> float | None:
    if direction == 0:
        return end
    for step in _STEPS_INWARD:
        weight = end + direction * step
        if (other - weight) * direction < 0:
            return None
        settings = dataclasses.replace(exact.settings, weight_vector=weight, weight_lexical=1.0 - weight)
        if passing(exact.table, exact.judged, settings)[keep].all():
            return weight
    return None
