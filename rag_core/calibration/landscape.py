"""A measure over all weights and thresholds of one family of settings, prepared once and read at any point of them.

What a picture or a slider asks for: the curve over the weight at a threshold, the safe weights there, and for each
case how far its verdict is from turning. Every answer is exact; single weights at which a tie decides are left out
of curves.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from rag_core.calibration.choice.families import Variant, curve_at
from rag_core.calibration.exact.ceilings import CeilingMap, ceiling_map, flat_map
from rag_core.calibration.exact.exact import build_exact
from rag_core.calibration.exact.thresholds import threshold_tolerances
from rag_core.calibration.replay import FATES, FateCode, Replay, carry_over, prepare_fusion, replay
from rag_core.calibration.table import CandidateTable, Flags, Floats, Judgements
from rag_core.metrics.comparison import SAME
from rag_core.metrics.intervals import Interval
from rag_core.metrics.kernels import measure_hits
from rag_core.metrics.measures import PASSED, Measure
from rag_core.model import Fate, RankingSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A step function of the weight: `inside[i]` is the value between `ends[i]` and `ends[i + 1]`, from 0 to 1."""

    ends: Floats
    inside: Floats

    def value_at(self, weight: float) -> float:
        """The value at a weight; at an end, that of the interval that begins there."""
        before = int(np.searchsorted(self.ends, weight, side="right")) - 1
        return float(self.inside[min(max(before, 0), len(self.inside) - 1)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """How far each case's verdict is from turning, shape (cases,) each.

    `below` and `above` are the nearest weights on both sides at which it turns while the threshold stays, NaN where
    it never does. `threshold` is where it turns while the weight stays: a case with an answer passes up to it, one
    without only above it; NaN where no threshold turns it.
    """

    passes: Flags
    below: Floats
    above: Floats
    threshold: Floats

    def distances(self, weight: float, threshold: float | None, *, low: float, high: float) -> Floats:
        """How far away the nearest turn is, as a share of the weights or of the thresholds from `low` to `high`.

        Infinite for a case whose verdict turns nowhere. No threshold counts as `low`.
        """
        level = low if threshold is None else max(low, threshold)
        span = high - low if high > low else 1.0
        ways = np.stack(
            [weight - self.below, self.above - weight, np.abs(np.maximum(self.threshold, low) - level) / span]
        )
        return np.where(np.isnan(ways), np.inf, ways).min(axis=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one setting gives: the values of each case by measure, and what became of each case's best right chunk.

    Values have shape (cases,), NaN where a measure does not judge the case. A fate is None where no chunk of an
    expected place is a candidate, and for every case that expects no answer.
    """

    values: Mapping[Measure, Floats]
    fates: tuple[Fate | None, ...]

    @property
    def passes(self) -> Flags:
        """Which cases pass."""
        return self.values[PASSED] == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Landscape:
    """All weights and thresholds over one variant's candidates with one depth, cap, limit and fusion.

    `settings` fixes those; its weights and threshold play no part. `table` is cut at their depth and scaled for
    their fusion, `judged` belongs to it. `map` holds the measure's ceilings, `passed` those of the verdicts.
    """

    settings: RankingSettings
    measure: Measure
    table: CandidateTable
    judged: Judgements
    map: CeilingMap
    passed: CeilingMap

    @property
    def thresholds(self) -> Interval:
        """The thresholds between which something changes, from 0 where no score lies below it."""
        heights = np.concatenate([self.map.at_low, self.map.at_high])
        heights = heights[np.isfinite(heights)]
        if not heights.size:
            return Interval(0.0, 1.0)
        return Interval(min(0.0, float(heights.min())), max(0.0, float(heights.max())))

    def outcome(self, settings: RankingSettings, measures: Iterable[Measure]) -> Outcome:
        """One replay under settings of this family, judged by every measure and by `passed`."""
        replayed = replay(self.table, settings)
        judged = carry_over(self.judged, self.table, replayed.table)
        hits = replayed.hits(judged)
        return Outcome(
            values={measure: measure_hits(hits, measure) for measure in dict.fromkeys((PASSED, *measures))},
            fates=_fates(replayed, judged),
        )

    def curve(self, threshold: float | None, *, cases: Flags | None = None) -> Outline | None:
        """The measure's mean over the weight at a threshold; None where it judges no case.

        Args:
            threshold: None for none.
            cases: Only these of them, shape (cases,).
        """
        entering = self.map.judged if cases is None else self.map.judged & cases
        if not entering.any():
            return None
        return _outline(self.map, threshold, entering.astype(np.float64), total=float(entering.sum()))

    def safe_weights(self, threshold: float | None, keep: Flags) -> tuple[Interval, ...]:
        """The weights at which every case of `keep` passes at a threshold, in order; all without a case to keep.

        The ends are crossings, at which a tie may decide.
        """
        if not keep.any():
            return (Interval(0.0, 1.0),)
        kept = _outline(self.passed, threshold, keep.astype(np.float64), total=float(keep.sum()))
        good = kept.inside >= 1 - SAME
        edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(np.int8)))
        return tuple(
            Interval(float(kept.ends[low]), float(kept.ends[high])) for low, high in edges.reshape(-1, 2)
        )

    def turns(self, weight: float, threshold: float | None) -> Turns:
        """How far every case is from turning at a weight and a threshold."""
        found, level = self.passed, _level(threshold)
        below, above = np.full((2, len(found.judged)), np.nan)
        curve = curve_at(found, level)
        # what leaves and comes at one weight, as where the best chunk changes, turns nothing
        places, at = np.unique(np.stack([curve.case, curve.position]), axis=1, return_inverse=True)
        moves = np.abs(np.bincount(at.ravel(), weights=curve.gain, minlength=places.shape[1])) > SAME
        case, ends = places[0][moves], curve.ends[places[1][moves]]
        inner = (ends > 0) & (ends < 1)
        case, ends = case[inner], ends[inner]
        before, after = ends <= weight, ends >= weight
        np.fmax.at(below, case[before], ends[before])
        np.fmin.at(above, case[after], ends[after])
        return Turns(
            passes=found.values_of_cases(weight, level) == 1,
            below=below,
            above=above,
            threshold=found.heights(weight),
        )


def build_landscape(variant: Variant, settings: RankingSettings, measure: Measure) -> Landscape:
    """Follow every case over all weights and thresholds.

    Args:
        variant: The candidates, at least as deep as the settings ask for.
        settings: Depth, cap, limit and fusion; under one that weighs nothing, nothing depends on the weight.
        measure: What is drawn.
    """
    free = dataclasses.replace(settings, threshold=None)
    table = prepare_fusion(variant.table, free)
    judged = carry_over(variant.judged, variant.table, table)
    if free.fusion.weighs:
        exact = build_exact(table, judged, free, places=measure.uses_places)
        own, passed = ceiling_map(exact, measure), ceiling_map(exact, PASSED)
    else:
        own, passed = (
            flat_map(threshold_tolerances(table, judged, free, each)) for each in (measure, PASSED)
        )
    return Landscape(settings=free, measure=measure, table=table, judged=judged, map=own, passed=passed)


def _fates(replayed: Replay, judged: Judgements) -> tuple[Fate | None, ...]:
    marked = np.take_along_axis(judged.relevant, replayed.order, axis=1)
    if not marked.shape[1]:
        return (None,) * len(marked)
    codes = np.take_along_axis(replayed.fates, marked.argmax(axis=1)[:, None], axis=1)[:, 0]
    found = np.flatnonzero(marked.any(axis=1))
    fates: list[Fate | None] = [None] * len(marked)
    for case in found.tolist():
        fates[case] = FATES[FateCode(int(codes[case]))]
    return tuple(fates)


def _outline(found: CeilingMap, threshold: float | None, multiplicity: Floats, *, total: float) -> Outline:
    curve = curve_at(found, _level(threshold))
    values = curve.values(multiplicity) / total
    changes = np.concatenate([[True], np.abs(np.diff(values)) > SAME])
    return Outline(ends=np.concatenate([curve.ends[:-1][changes], [1.0]]), inside=values[changes])


def _level(threshold: float | None) -> float:
    return -np.inf if threshold is None else threshold
