"""The settings that a choice is made among: families that share all but weight and threshold."""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.calibration.exact.ceilings import CeilingMap, ceiling_map, reaches
from rag_core.calibration.exact.exact import build_exact
from rag_core.calibration.table import CandidateTable, Floats, Judgements
from rag_core.metrics.measures import Measure
from rag_core.model import Fusion, LexicalWay, RankingSettings

_QUANTILES = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Candidates fetched in one way, with what the cases expect of them."""

    lexical: LexicalWay
    table: CandidateTable
    judged: Judgements


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """All weights and thresholds over one variant's candidates with one depth, cap, limit and fusion.

    `settings` fixes those; its weights and threshold play no part. `map` is the measure's ceilings over all
    cases, `thresholds` what may be chosen, -inf for none.
    """

    variant: Variant
    settings: RankingSettings
    map: CeilingMap
    thresholds: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyCurve:
    """A family's measure over the weight at one threshold, ready to be summed over any cases.

    Between neighbours of `ends` nothing changes. Step i adds `gain[i]` of the case `case[i]` from the end
    number `position[i]` on.
    """

    ends: Floats
    position: NDArray[np.intp]
    case: NDArray[np.intp]
    gain: Floats

    def values(self, multiplicity: Floats) -> Floats:
        """The sum over cases on each interval between ends, shape (ends - 1,)."""
        gains = self.gain * multiplicity[self.case]
        steps: Floats = np.bincount(self.position, weights=gains, minlength=len(self.ends)).astype(np.float64)
        return np.cumsum(steps)[:-1]


def variant_of(variants: Sequence[Variant], lexical: LexicalWay) -> int | None:
    """The number of the candidates that were fetched in a lexical way; None where none were."""
    return next((number for number, each in enumerate(variants) if each.lexical == lexical), None)


def build_family(
    variant: Variant, settings: RankingSettings, measure: Measure, *, today: float | None
) -> Family:
    """Follow all cases once; the result serves every choice among its weights and thresholds.

    Thresholds other than today's and none are offered only where the measure judges `no_answer` cases: without
    them nothing speaks for a threshold, and the set can't say where one belongs.

    Raises:
        ValueError: The fusion has no weights.
    """
    exact = build_exact(
        variant.table,
        variant.judged,
        dataclasses.replace(settings, threshold=None),
        places=measure.uses_places,
    )
    found = ceiling_map(exact, measure)
    offered = {-np.inf}
    if settings.fusion is Fusion.WEIGHTED_SUM:
        offered.add(-np.inf if today is None else today)
        offered.update(_offered_thresholds(found))
    return Family(variant=variant, settings=settings, map=found, thresholds=tuple(sorted(offered)))


def vary(
    today: RankingSettings, *, depths: Iterable[int] = (), caps: Iterable[int | None] = ()
) -> tuple[RankingSettings, ...]:
    """Today's settings, and with one of depth or cap changed at a time, each once and in that order."""
    varied = [
        today,
        *(dataclasses.replace(today, candidates_per_signal=depth) for depth in depths),
        *(dataclasses.replace(today, max_per_file=cap) for cap in caps),
    ]
    return tuple(dict.fromkeys(varied))


def curve_at(found: CeilingMap, threshold: float) -> FamilyCurve:
    """What each case adds over the weight at a threshold, -inf for none. Points, where ties decide, are left out."""
    wide = found.high > found.low
    case, value, below = found.case[wide], found.value[wide], found.below[wide]
    low, high = found.low[wide], found.high[wide]
    at_low, at_high = found.at_low[wide], found.at_high[wide]
    starts, ends = reaches(at_low, threshold), reaches(at_high, threshold)
    with np.errstate(invalid="ignore", divide="ignore"):
        along = (threshold - at_low) / (at_high - at_low)
    met = np.where(starts != ends, low + np.clip(np.nan_to_num(along), 0.0, 1.0) * (high - low), high)
    # up to where the line is met it counts if it started so, beyond if it ends so
    before = np.where(starts != below, value, 0.0)
    after = np.where(ends != below, value, 0.0)
    always = np.flatnonzero(found.always)
    weights = np.concatenate([low, met, high, np.zeros(len(always))])
    gains = np.concatenate(
        [before, np.where(met < high, after - before, 0.0), np.zeros(len(low)), np.ones(len(always))]
    )
    leaving = np.where(met < high, after, before)
    gains[2 * len(low) : 3 * len(low)] = -leaving
    cases = np.concatenate([case, case, case, always])
    moving = gains != 0
    distinct, position = np.unique(np.concatenate([[0.0, 1.0], weights[moving]]), return_inverse=True)
    return FamilyCurve(ends=distinct, position=position[2:], case=cases[moving], gain=gains[moving])


def _offered_thresholds(found: CeilingMap) -> Sequence[float]:
    """Evenly spread among the scores that no_answer cases and right files reach; none without `below`."""
    if not found.below.any():
        return ()
    scores = np.concatenate([found.at_low, found.at_high])
    scores = scores[np.isfinite(scores)]
    return np.quantile(scores, np.arange(1, _QUANTILES) / _QUANTILES).tolist() if scores.size else ()
