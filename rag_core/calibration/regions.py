"""The map of weight and threshold as regions: polygons on which a measure falls equally far short of its best.

Between two neighbouring ends or crossings of ceilings the order of the ceilings stays, so there the plane is cut into
strips between two straight lines. Strips of one band are joined upwards at once, and sideways where their edges meet.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.calibration.exact.ceilings import CeilingMap, reaches
from rag_core.calibration.exact.lines import RESOLUTION
from rag_core.calibration.table import Flags, Floats
from rag_core.metrics.comparison import SAME

BANDS = (0, 1, 2, 3, 5, 8, 13, 21)
"""A band holds what falls short of the best by at least so many cases, and by less than the next."""

MOST_REGIONS = 2_000
_MOST_LINES, _MOST_CELLS = 2_000, 4_000_000
_COLUMNS = 200
_CELLS_AT_ONCE = 400_000
_FLOOR, _CEILING = -1, -2


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A polygon of the plane, its corners in order, and its band: the number of the entry of `BANDS`."""

    band: int
    weights: tuple[float, ...]
    thresholds: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionMap:
    """All regions of a measure between the thresholds `low` and `high`; they cover the plane and do not overlap.

    `best` is the highest mean anywhere, of `judged` cases. Where not `exact`, each of some columns of weights has
    the exact thresholds of its middle.
    """

    regions: tuple[Region, ...]
    best: float
    judged: int
    low: float
    high: float
    exact: bool

    def height(self, band: int) -> float:
        """The highest threshold at which some weight is still in that band or a better one; `low` where none is."""
        tops = [max(region.thresholds) for region in self.regions if region.band <= band]
        return max(tops, default=self.low)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lines:
    """Ceilings over an interval of weights, parallel arrays: where, how high at both ends, what crossing one adds.

    `base` holds the intervals and gains of what counts below every line.
    """

    low: Floats
    high: Floats
    at_low: Floats
    at_high: Floats
    gain: Floats
    base_low: Floats
    base_high: Floats
    base_gain: Floats
    constant: float

    def heights(self, line: NDArray[np.intp], weight: Floats) -> Floats:
        """The height of each line at a weight of its interval."""
        low, high = self.low[line], self.high[line]
        along = (weight - low) / (high - low)
        return self.at_low[line] + along * (self.at_high[line] - self.at_low[line])


def draw_regions(found: CeilingMap, *, low: float, high: float) -> RegionMap | None:
    """The regions of a map; None where the measure judges no case.

    Exact up to `MOST_REGIONS` regions, simplified beyond, and where there are too many ceilings to count them.

    Args:
        found: The ceilings. Single weights, where ties decide, are left out.
        low: The threshold that stands for none; no ceiling lies below it.
        high: The highest threshold that is drawn.
    """
    judged = int(np.count_nonzero(found.judged))
    if not judged:
        return None
    lines = _lines_of(found)
    ends = _ends(lines)
    exact = ends is not None
    best, regions = _regions(lines, _columns() if ends is None else ends, low=low, high=high, exact=exact)
    if exact and len(regions) > MOST_REGIONS:
        exact = False
        best, regions = _regions(lines, _columns(), low=low, high=high, exact=False)
    return RegionMap(
        regions=tuple(regions), best=best / judged, judged=judged, low=low, high=high, exact=exact
    )


def sample_map(found: CeilingMap, weights: Floats, thresholds: Floats) -> Floats:
    """The measure's mean at each weight and threshold, shape (weights, thresholds); -inf is no threshold.

    Raises:
        ValueError: The measure judges no case.
    """
    judged = int(np.count_nonzero(found.judged))
    if not judged:
        raise ValueError("a mean is over at least one case")
    values = np.empty((len(weights), len(thresholds)))
    for row, weight in enumerate(weights.tolist()):
        covers, lines = found.lines_at(weight)
        counts = np.stack([reaches(lines, threshold) for threshold in thresholds.tolist()])
        values[row] = ((counts != found.below[covers]) * found.value[covers]).sum(axis=1)
    return (values + np.count_nonzero(found.always)) / judged


def _lines_of(found: CeilingMap) -> _Lines:
    wide = found.high > found.low
    met = wide & np.isfinite(found.at_low)
    # below every line there counts what has an answer, and what no threshold concerns
    base = wide & ~(found.below & np.isfinite(found.at_low))
    return _Lines(
        low=found.low[met],
        high=found.high[met],
        at_low=found.at_low[met],
        at_high=found.at_high[met],
        gain=np.where(found.below[met], found.value[met], -found.value[met]),
        base_low=found.low[base],
        base_high=found.high[base],
        base_gain=found.value[base],
        constant=float(np.count_nonzero(found.always)),
    )


def _ends(lines: _Lines) -> Floats | None:
    """All weights at which a line begins, ends or meets another; None where there are too many."""
    count = len(lines.low)
    if count > _MOST_LINES:
        return None
    slope = (lines.at_high - lines.at_low) / (lines.high - lines.low)
    start = lines.at_low - slope * lines.low
    found = [np.array([0.0, 1.0]), lines.low, lines.high, lines.base_low, lines.base_high]
    block = max(1, _CELLS_AT_ONCE // max(1, count))
    for first in range(0, count, block):
        part = slice(first, first + block)
        with np.errstate(invalid="ignore", divide="ignore"):
            met = (start - start[part, None]) / (slope[part, None] - slope)
        begins = np.maximum(lines.low[part, None], lines.low)
        found.append(met[(met > begins) & (met < np.minimum(lines.high[part, None], lines.high))])
    ends = np.unique(np.concatenate(found))
    ends = ends[np.concatenate([[True], np.diff(ends) > RESOLUTION])]
    ends[-1] = 1.0
    return ends if len(ends) * count <= _MOST_CELLS else None


def _columns() -> Floats:
    return np.linspace(0.0, 1.0, _COLUMNS + 1)


def _regions(
    lines: _Lines, ends: Floats, *, low: float, high: float, exact: bool
) -> tuple[float, list[Region]]:
    """The best sum and the regions between neighbouring ends; level between them unless `exact`."""
    best = max(float(values[counts].max()) for _, values, counts in _sums(lines, ends))
    cells = [_cells(order, values, counts, best) for order, values, counts in _sums(lines, ends)]
    starts = np.cumsum([0, *(int(each[0].max()) + 1 for each in cells[:-1])])
    column = np.concatenate([each[0] + start for each, start in zip(cells, starts, strict=True)])
    lower, upper, band = (np.concatenate([each[part] for each in cells]) for part in (1, 2, 3))
    if exact:
        column, last, lower, upper, band = _runs(column, lower, upper, band)
    else:
        last = column
    middle = (ends[:-1] + ends[1:]) / 2
    corners = []
    for line in (lower, upper):
        outer = low if line is lower else high
        sides = (ends[column], ends[last + 1]) if exact else (middle[column], middle[column])
        corners.append([_height(lines, line, side, outer, low=low, high=high) for side in sides])
    return best, _joined(ends[column], ends[last + 1], corners[0], corners[1], band)


def _sums(lines: _Lines, ends: Floats) -> Iterable[tuple[NDArray[np.intp], Floats, Flags]]:
    """For blocks of columns: the lines in order of height, the sum above each (the first: below all), what counts."""
    middle = (ends[:-1] + ends[1:]) / 2
    count = len(lines.low)
    block = max(1, _CELLS_AT_ONCE // max(1, count))
    everyone = np.arange(count)
    for first in range(0, len(middle), block):
        at = middle[first : first + block, None]
        covers = (lines.low < at) & (at < lines.high)
        heights = np.where(covers, lines.heights(everyone, at), np.inf)
        order = np.argsort(heights, axis=1, kind="stable")
        there = np.take_along_axis(covers, order, axis=1)
        based = ((lines.base_low < at) & (at < lines.base_high)) @ lines.base_gain + lines.constant
        gains = np.where(there, lines.gain[order], 0.0)
        values = np.concatenate([based[:, None], based[:, None] + np.cumsum(gains, axis=1)], axis=1)
        yield order, values, np.concatenate([np.ones((len(at), 1), dtype=bool), there], axis=1)


def _cells(
    order: NDArray[np.intp], values: Floats, counts: Flags, best: float
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Column, lower line, upper line and band of every cell, from the lowest up, bands joined."""
    band = np.searchsorted(BANDS, best - values + SAME, side="right") - 1
    moves = counts[:, 1:] & (np.diff(band, axis=1) != 0)
    row, position = np.nonzero(moves)
    line = order[row, position]
    total = len(row) + len(order)
    lower, upper = np.full(total, _FLOOR), np.full(total, _CEILING)
    column = np.sort(np.concatenate([row, np.arange(len(order))]))
    # each column before has one cell more than it has lines that part two
    at = np.arange(len(row)) + row
    upper[at], lower[at + 1] = line, line
    first = np.searchsorted(column, np.arange(len(order)))
    bands = np.empty(total, dtype=np.intp)
    bands[first] = band[:, 0]
    bands[at + 1] = band[row, position + 1]
    return column, lower, upper, bands


def _runs(
    column: NDArray[np.intp], lower: NDArray[np.intp], upper: NDArray[np.intp], band: NDArray[np.intp]
) -> tuple[NDArray[np.intp], ...]:
    """Neighbouring cells between the same two lines as one: first column, last column, lines, band."""
    order = np.lexsort((column, band, upper, lower))
    column, lower, upper, band = column[order], lower[order], upper[order], band[order]
    new = np.ones(len(column), dtype=bool)
    new[1:] = (np.diff(column) != 1) | (np.diff(lower) != 0) | (np.diff(upper) != 0) | (np.diff(band) != 0)
    first = np.flatnonzero(new)
    last = np.concatenate([first[1:] - 1, [len(column) - 1]])
    return column[first], column[last], lower[first], upper[first], band[first]


def _height(
    lines: _Lines, line: NDArray[np.intp], weight: Floats, outer: float, *, low: float, high: float
) -> Floats:
    real = line >= 0
    heights = np.full(len(line), outer)
    heights[real] = lines.heights(line[real], weight[real])
    return np.clip(heights, low, high)


def _joined(
    begins: Floats, stops: Floats, bottoms: list[Floats], tops: list[Floats], band: NDArray[np.intp]
) -> list[Region]:
    """Strips of one band whose edges are the same stand side by side in one region."""
    order = np.lexsort((bottoms[0], begins))
    columns = (begins, stops, bottoms[0], tops[0], bottoms[1], tops[1], band)
    open_ended: dict[tuple[float, float, float, int], list[tuple[float, float, float]]] = {}
    chains: list[tuple[int, list[tuple[float, float, float]]]] = []
    for begin, stop, bottom, top, far_bottom, far_top, number in zip(
        *(column[order].tolist() for column in columns), strict=True
    ):
        if max(top - bottom, far_top - far_bottom) <= RESOLUTION:
            continue
        chain = open_ended.pop(_edge(begin, bottom, top, number), None)
        if chain is None:
            chain = [(begin, bottom, top)]
            chains.append((number, chain))
        chain.append((stop, far_bottom, far_top))
        if far_top - far_bottom > RESOLUTION:
            open_ended[_edge(stop, far_bottom, far_top, number)] = chain
    return [_polygon(number, chain) for number, chain in chains]


def _edge(weight: float, bottom: float, top: float, band: int) -> tuple[float, float, float, int]:
    # lines that meet at a bend are computed from both sides, and differ in their last bits
    return (round(weight, 12), round(bottom, 10), round(top, 10), band)


def _polygon(band: int, chain: list[tuple[float, float, float]]) -> Region:
    there = [(weight, bottom) for weight, bottom, _ in chain]
    back = [(weight, top) for weight, _, top in reversed(chain)]
    corners = [*there, *back]
    return Region(
        band=band,
        weights=tuple(weight for weight, _ in corners),
        thresholds=tuple(threshold for _, threshold in corners),
    )
