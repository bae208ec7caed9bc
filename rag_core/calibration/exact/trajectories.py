"""How the rank of what is expected moves over the weight, exactly, for many cases at once.

A target is a set of a case's chunks of which the best counts: all chunks of expected places, or those of one
place. Its best chunk's score is the upper envelope of their lines, convex over the weight, so each rival is
above it in at most one interval. From these intervals come the few weights at which the target's rank, cap
included, can change within reach of the limit. The state at each of them and between them is then not
derived but computed, from scores as `rag_core.ranking.fusion` computes them, ties and rounding included.
"""

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.calibration.exact.events import Events, find_events
from rag_core.calibration.exact.field import Field, Targets
from rag_core.calibration.exact.lines import RESOLUTION, score_at
from rag_core.calibration.table import Flags, Floats

_CELLS_AT_ONCE = 400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectories:
    """The states of all targets, one target after the other, each as point, interval, point, ..., point.

    `target` and `weight` say whose state it is and where it was computed: at the point, or in the middle of the
    interval. `point` tells the two apart. `rank` is among chunks after the cap and before the limit,
    `place_rank` among places; `best` is the column of the best chunk and `kept` whether it reaches the
    threshold. Without a rank within the limit, ranks may be any number beyond it.
    """

    target: NDArray[np.intp]
    weight: Floats
    point: Flags
    rank: NDArray[np.int64]
    place_rank: NDArray[np.int64]
    best: NDArray[np.intp]
    kept: Flags


def follow(field: Field, targets: Targets, *, places: bool) -> Trajectories:
    """The states of every target over all weights.

    Args:
        field: The candidates and the rules of ranking. A threshold only decides `kept`.
        targets: What is followed. None gives trajectories without a state.
        places: Also compute `place_rank`; otherwise it is all 0.
    """
    events = find_events(field, targets)
    events = dataclasses.replace(events, weight=_together(events.weight))
    target, weight, point = _samples(events, len(targets.case))
    rank, place_rank, best = (np.zeros(len(target), dtype=np.int64) for _ in range(3))
    kept = np.zeros(len(target), dtype=bool)
    block = max(1, _CELLS_AT_ONCE // max(1, field.place.shape[1]))
    for start in range(0, len(target), block):
        part = slice(start, start + block)
        rank[part], place_rank[part], best[part], kept[part] = _states(
            field, targets, target[part], weight[part], places=places
        )
    return Trajectories(
        target=target,
        weight=weight,
        point=point,
        rank=rank,
        place_rank=place_rank,
        best=best,
        kept=kept,
    )


def _together(weight: Floats) -> Floats:
    """The weights with those within `RESOLUTION` of each other as one, that which most of them have.

    Ranks of many cases cross at one weight, but for its last bits. Every case that changes there is then computed
    at the same float, and their sum is what ranking gives at it.
    """
    if not weight.size:
        return weight
    distinct, at, often = np.unique(weight, return_inverse=True, return_counts=True)
    group = np.cumsum(np.diff(distinct, prepend=distinct[0]) > RESOLUTION)
    order = np.lexsort((-often, group))
    first = np.flatnonzero(np.diff(group[order], prepend=-1))
    return distinct[order[first]][group][at]


def _samples(events: Events, count: int) -> tuple[NDArray[np.intp], Floats, Flags]:
    """Every point and every interval's middle, in order, of each target."""
    everyone = np.arange(count)
    target = np.concatenate([everyone, events.target, everyone])
    weight = np.concatenate([np.zeros(count), events.weight, np.ones(count)])
    order = np.lexsort((weight, target))
    target, weight = target[order], weight[order]
    distinct = np.ones(len(target), dtype=bool)
    distinct[1:] = (target[1:] != target[:-1]) | (weight[1:] != weight[:-1])
    target, weight = target[distinct], weight[distinct]
    followed = np.flatnonzero(target[:-1] == target[1:]) if len(target) else np.zeros(0, dtype=np.intp)
    middle = weight[followed] + (weight[followed + 1] - weight[followed]) / 2
    all_targets = np.insert(target, followed + 1, target[followed])
    all_weights = np.insert(weight, followed + 1, middle)
    is_point = np.insert(np.ones(len(target), dtype=bool), followed + 1, False)
    return all_targets, all_weights, is_point


def _states(
    field: Field, targets: Targets, target: NDArray[np.intp], weight: Floats, *, places: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.intp], Flags]:
    case, members = targets.case[target], targets.members[target]
    vector, lexical = (signal[case[:, None], members] for signal in (field.vector, field.lexical))
    own = np.where(members >= 0, score_at(weight[:, None], vector, lexical), -np.inf)
    first = own.argmax(axis=1)
    rows = np.arange(len(target))
    score, best = own[rows, first], members[rows, first]
    above = _above(field, case, weight, score, best)
    rank, place_rank = _ranks(field, case, above, places=places)
    return rank, place_rank, best, score >= field.thresholds[case]


def _above(
    field: Field, case: NDArray[np.intp], weight: Floats, score: Floats, best: NDArray[np.intp]
) -> Flags:
    """Which candidates stand above the best chunk of the target, ties broken by column."""
    scores = weight[:, None] * field.vector[case]
    rest = (1.0 - weight)[:, None] * field.lexical[case]
    scores += rest
    above = scores > score[:, None]
    level = scores == score[:, None]
    tied = np.flatnonzero(np.count_nonzero(level, axis=1) > 1)
    above[tied] |= level[tied] & (np.arange(above.shape[1]) < best[tied, None])
    above &= field.present[case]
    return above


def _ranks(
    field: Field, case: NDArray[np.intp], above: Flags, *, places: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    plain = np.count_nonzero(above, axis=1) + 1
    if field.cap is None and not places:
        return plain, np.zeros_like(plain)
    rank, place_rank = plain.copy(), np.where(plain == 1, 1, 0)
    # only what has company above it needs to be counted place by place
    rows = np.flatnonzero(plain > 1)
    counted = np.cumsum(above[rows], axis=1, dtype=np.int32)
    starts = field.group_start[case[rows]]
    before = np.take_along_axis(counted, np.maximum(starts - 1, 0), axis=1)
    within = counted - np.where(starts > 0, before, 0)
    if field.cap is not None:
        shown = above[rows] & ((within <= field.cap) | ~field.capped[case[rows]])
        rank[rows] = np.count_nonzero(shown, axis=1) + 1
    if places:
        place_rank[rows] = np.count_nonzero(above[rows] & (within == 1), axis=1) + 1
    return rank, place_rank
