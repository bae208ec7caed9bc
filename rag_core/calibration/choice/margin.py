"""Choosing a setting on given cases: among those near the best, the one with the widest margin."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.calibration.choice.families import Family, FamilyCurve, curve_at
from rag_core.calibration.exact.ceilings import CeilingMap
from rag_core.calibration.exact.steps import ThresholdSteps, tidy_thresholds
from rag_core.calibration.table import Floats
from rag_core.metrics.comparison import SAME
from rag_core.metrics.intervals import Interval
from rag_core.model import RankingSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A setting, its mean on the cases it was chosen on, and how far it can move and stay near the best.

    `family` is its number. The margins hold one at a time, the other number staying; `threshold_margin` is None
    where no threshold was chosen.
    """

    family: int
    settings: RankingSettings
    value: float
    weight_margin: Interval
    threshold_margin: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Menu:
    """All families with their curves at every threshold on offer, prepared once for many choices."""

    families: tuple[Family, ...]
    curves: tuple[tuple[FamilyCurve, ...], ...]


def prepare(families: Sequence[Family]) -> Menu:
    """Prepare families for `choose`."""
    return Menu(
        families=tuple(families),
        curves=tuple(
            tuple(curve_at(family.map, threshold) for threshold in family.thresholds) for family in families
        ),
    )


def choose(menu: Menu, multiplicity: Floats) -> Chosen:
    """The setting with the widest run of weights that stay near the best of the whole menu, in its middle.

    Near means within half a standard error of the best mean: what is that close is luck among these cases.
    Equal margins are decided in the menu's order, families first.

    Args:
        menu: At least one family.
        multiplicity: How often each case counts, shape (cases,), not all 0; cases that the measure does not
            judge count 0.

    Raises:
        ValueError: There is nothing to choose among or on.
    """
    total = float(multiplicity.sum())
    if not (menu.families and total > 0):
        raise ValueError("a choice is made among families, on cases")
    sums = [[curve.values(multiplicity) for curve in curves] for curves in menu.curves]
    best = max(float(values.max()) for each in sums for values in each)
    enough = best - nearness(best / total, total) * total
    widest: tuple[float, int, int, Interval] | None = None
    for number, curves in enumerate(menu.curves):
        for index, curve in enumerate(curves):
            run = _widest_run(curve.ends, sums[number][index], enough)
            if run is not None and (widest is None or run.high - run.low > widest[0] + SAME):
                widest = (run.high - run.low, number, index, run)
    if widest is None:
        raise ValueError("the best is near itself")
    _, number, index, run = widest
    settings, margin = _settle(
        menu.families[number], run, menu.families[number].thresholds[index], multiplicity, enough
    )
    reached = values_of_each(menu.families[number].map, settings)
    return Chosen(
        family=number,
        settings=settings,
        value=float(np.nan_to_num(reached) @ multiplicity) / total,
        weight_margin=run,
        threshold_margin=margin,
    )


def best_of(menu: Menu, multiplicity: Floats) -> float:
    """The highest mean of the whole menu on the given cases; arguments as of `choose`."""
    sums = (curve.values(multiplicity).max() for curves in menu.curves for curve in curves)
    return max(float(each) for each in sums) / float(multiplicity.sum())


def values_of_each(found: CeilingMap, settings: RankingSettings) -> Floats:
    """The value of each case under weight and threshold of the settings, NaN where the measure does not judge it."""
    threshold = -math.inf if settings.threshold is None else settings.threshold
    return found.values_of_cases(settings.weight_vector, threshold)


def nearness(mean: float, total: float) -> float:
    """Half a standard error of a share, and no less than nothing."""
    return 0.5 * math.sqrt(max(0.0, mean * (1 - mean)) / total)


def tolerances_at(found: CeilingMap, weight: float, multiplicity: Floats) -> ThresholdSteps:
    """The sum over cases as a function of the threshold at a weight inside (0, 1) that is no crossing."""
    covers = (found.low < weight) & (weight < found.high)
    low, high = found.low[covers], found.high[covers]
    at_low, at_high = found.at_low[covers], found.at_high[covers]
    with np.errstate(invalid="ignore"):
        line = np.where(
            np.isfinite(at_low), at_low + (weight - low) / (high - low) * (at_high - at_low), at_low
        )
    value = found.value[covers] * multiplicity[found.case[covers]]
    below = found.below[covers]
    finite = np.isfinite(line)
    start = float(multiplicity[found.always].sum()) + float(value[~below | ~finite].sum())
    ends, position = np.unique(line[finite], return_inverse=True)
    leaving = np.where(below, -value, value)[finite]
    steps = np.bincount(position, weights=leaving, minlength=len(ends))
    return tidy_thresholds(ends, start - np.concatenate([[0.0], np.cumsum(steps)]))


def _settle(
    family: Family, run: Interval, threshold: float, multiplicity: Floats, enough: float
) -> tuple[RankingSettings, Interval | None]:
    """The middle of the weights, and of the thresholds where cases bound them on both sides."""
    weight = _middle(run)
    settings = dataclasses.replace(
        family.settings, weight_vector=weight, weight_lexical=1.0 - weight, threshold=None
    )
    if not math.isfinite(threshold):
        return settings, None
    margin = _run_around(tolerances_at(family.map, weight, multiplicity), threshold, enough)
    if math.isfinite(margin.low) and math.isfinite(margin.high):
        threshold = _middle(margin)
    return dataclasses.replace(settings, threshold=threshold), margin


def _widest_run(ends: Floats, values: Floats, enough: float) -> Interval | None:
    good = values >= enough - SAME
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(np.int8)))
    if not edges.size:
        return None
    lows, highs = ends[edges[::2]], ends[edges[1::2]]
    widest = int(np.argmax(highs - lows))
    return Interval(float(lows[widest]), float(highs[widest]))


def _run_around(steps: ThresholdSteps, threshold: float, enough: float) -> Interval:
    ends = np.concatenate([[-np.inf], steps.ends, [np.inf]])
    good = steps.inside >= enough - SAME
    at = int(np.searchsorted(steps.ends, threshold, side="left"))
    low, high = at, at
    while low > 0 and good[low - 1]:
        low -= 1
    while high + 1 < len(good) and good[high + 1]:
        high += 1
    return Interval(float(ends[low]), float(ends[high + 1]))


def _middle(run: Interval) -> float:
    return run.low + (run.high - run.low) / 2
