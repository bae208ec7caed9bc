"""The weights at which a target's state can change, found from lines alone.

Too many are harmless, since the state is computed on both sides of each; none that changes it may be missing.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.calibration.exact.field import Field, Targets
from rag_core.calibration.exact.lines import RESOLUTION, crossings, level_crossings, score_at, undominated
from rag_core.calibration.table import Flags, Floats

# where a rival's interval begins or ends when no member's line is crossed there
ALWAYS_FROM, ALWAYS_TO, NEVER_FROM = -1.0, 2.0, 3.0
_UNCAPPED = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """Weights inside (0, 1), in no order, each with the target whose state can change there."""

    target: NDArray[np.intp]
    weight: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Overtaking:
    """When each rival stands above a target: on the open interval (`begins`, `ends`), shape (targets, columns).

    `ALWAYS_FROM` and `ALWAYS_TO` where it is above from 0 on and up to 1; `begins` > `ends` where never, among
    them the target's own members and columns without a candidate.
    """

    begins: Floats
    ends: Floats


def find_events(field: Field, targets: Targets) -> Events:
    """All weights at which a target can come into or go out of reach of the limit, or change its rank there.

    Besides rivals within reach: weights at which another member becomes the best, and at which the best
    reaches the threshold.
    """
    members = leading_members(field, targets)
    overtaking = find_overtaking(field, targets, members)
    parts = [
        _within_reach(field, targets, overtaking),
        _touches(overtaking),
        _changes_of_best(field, targets, members),
        _threshold_crossings(field, targets, members),
    ]
    target = np.concatenate([part.target for part in parts])
    weight = np.concatenate([part.weight for part in parts])
    inside = (weight > 0) & (weight < 1)
    return Events(target=target[inside], weight=weight[inside])


def leading_members(field: Field, targets: Targets) -> NDArray[np.intp]:
    """The members that are a target's best at some weight inside (0, 1), -1 past the last."""
    vector, lexical = _lines(field, targets.case, targets.members)
    leads = undominated(vector, lexical, targets.members >= 0)
    width = int(leads.sum(axis=1).max(initial=0))
    columns = np.argsort(~leads, axis=1, kind="stable")[:, :width]
    members = np.take_along_axis(targets.members, columns, axis=1)
    return np.where(np.take_along_axis(leads, columns, axis=1), members, -1)


def find_overtaking(field: Field, targets: Targets, members: NDArray[np.intp]) -> Overtaking:
    """When each rival is above all `members`, and so above the target."""
    vector, lexical = field.vector[targets.case], field.lexical[targets.case]
    column = np.arange(vector.shape[1])
    rival = field.present[targets.case].copy()
    rows, slots = np.nonzero(targets.members >= 0)
    rival[rows, targets.members[rows, slots]] = False
    begins, ends = np.full(vector.shape, ALWAYS_FROM), np.full(vector.shape, ALWAYS_TO)
    for member in members.T:
        own_vector, own_lexical = _lines(field, targets.case, member)
        by_vector, by_lexical = vector - own_vector[:, None], lexical - own_lexical[:, None]
        real = (member >= 0)[:, None]
        equal = (by_vector == 0) & (by_lexical == 0)
        never = (by_vector <= 0) & (by_lexical <= 0) & ~(equal & (column < member[:, None]))
        begins[real & never] = NEVER_FROM
        rising = rival & real & (by_lexical < 0) & (by_vector > 0)
        falling = rival & real & (by_lexical > 0) & (by_vector < 0)
        for moving, bound, nearer in ((rising, begins, np.maximum), (falling, ends, np.minimum)):
            at = np.nonzero(moving)
            met = crossings(vector[at], lexical[at], own_vector[at[0]], own_lexical[at[0]])
            bound[at] = nearer(bound[at], met)
    begins[~rival] = NEVER_FROM
    return Overtaking(begins=begins, ends=ends)


def _lines(field: Field, case: NDArray[np.intp], columns: NDArray[np.intp]) -> tuple[Floats, Floats]:
    rows = case if columns.ndim == 1 else case[:, None]
    return field.vector[rows, columns], field.lexical[rows, columns]


def _within_reach(field: Field, targets: Targets, overtaking: Overtaking) -> Events:
    """Rivals' comings and goings near which the target's rank, cap included, is within the limit."""
    above = overtaking.begins < overtaking.ends
    from_start = np.nonzero(above & (overtaking.begins <= 0))
    comes = np.nonzero(above & (overtaking.begins > 0))
    goes = np.nonzero(above & (overtaking.ends < 1))
    target = np.concatenate([from_start[0], comes[0], goes[0]])
    column = np.concatenate([from_start[1], comes[1], goes[1]])
    weight = np.concatenate(
        [np.full(len(from_start[0]), ALWAYS_FROM), overtaking.begins[comes], overtaking.ends[goes]]
    )
    step = np.ones(len(target), dtype=np.int64)
    step[len(target) - len(goes[0]) :] = -1
    if field.cap is not None:
        step = _capped_steps(field, targets.case[target], target, column, weight=weight, step=step)
    moves = (step != 0) & (weight != ALWAYS_FROM)
    base = np.bincount(target[~moves], weights=step[~moves], minlength=len(targets.case)).astype(np.int64)
    target, weight, step = target[moves], weight[moves], step[moves]
    order = np.lexsort((weight, target))
    target, weight, step = target[order], weight[order], step[order]
    reached = _best_reach(target, weight, step, base) <= field.limit
    return Events(target=target[reached], weight=weight[reached])


def _capped_steps(
    field: Field,
    case: NDArray[np.intp],
    target: NDArray[np.intp],
    column: NDArray[np.intp],
    *,
    weight: Floats,
    step: NDArray[np.int64],
) -> NDArray[np.int64]:
    """By how much each coming and going changes what the cap leaves of its file above the target."""
    place = field.place[case, column]
    cap = np.where(field.capped[case, column], field.cap or _UNCAPPED, _UNCAPPED)
    order = np.lexsort((step, weight, place, target))
    running = np.cumsum(step[order])
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = (np.diff(target[order]) != 0) | (np.diff(place[order]) != 0)
    before = running - step[order]
    offset = before[begins][np.cumsum(begins) - 1]
    after, before = running - offset, before - offset
    capped = np.empty_like(step)
    capped[order] = np.minimum(after, cap[order]) - np.minimum(before, cap[order])
    return capped


def _best_reach(
    target: NDArray[np.intp], weight: Floats, step: NDArray[np.int64], base: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The best rank that the target can have at or beside each event; events are in order of target, weight.

    Events that coincide are taken together, those that help first, since a tie may favour the target in each.
    """
    if not len(target):
        return np.zeros(0, dtype=np.int64)
    new_target = np.ones(len(target), dtype=bool)
    new_target[1:] = np.diff(target) != 0
    new_cluster = new_target.copy()
    new_cluster[1:] |= np.diff(weight) > RESOLUTION
    running = np.cumsum(step) - step
    before = 1 + base[target] + running - running[new_target][np.cumsum(new_target) - 1]
    starts = np.flatnonzero(new_cluster)
    help_ = np.add.reduceat(np.minimum(step, 0), starts)
    return (before[starts] + help_)[np.cumsum(new_cluster) - 1]


def _touches(overtaking: Overtaking) -> Events:
    """Rivals that only touch the target, where one of its members follows another."""
    gap = overtaking.begins - overtaking.ends
    touching = np.nonzero((gap >= 0) & (gap <= RESOLUTION))
    return Events(target=touching[0], weight=overtaking.begins[touching])


def _changes_of_best(field: Field, targets: Targets, members: NDArray[np.intp]) -> Events:
    vector, lexical = _lines(field, targets.case, members)
    found: list[tuple[NDArray[np.intp], Floats]] = []
    for one in range(members.shape[1]):
        for other in range(one + 1, members.shape[1]):
            by_vector = vector[:, one] - vector[:, other]
            by_lexical = lexical[:, one] - lexical[:, other]
            rows = np.flatnonzero((members[:, other] >= 0) & (np.sign(by_vector) * np.sign(by_lexical) < 0))
            weight = crossings(
                vector[rows, one], lexical[rows, one], vector[rows, other], lexical[rows, other]
            )
            highest = _is_highest(vector[rows], lexical[rows], members[rows] >= 0, one, weight)
            found.append((rows[highest], weight[highest]))
    return _joined(found)


def _threshold_crossings(field: Field, targets: Targets, members: NDArray[np.intp]) -> Events:
    vector, lexical = _lines(field, targets.case, members)
    level = field.thresholds[targets.case]
    found: list[tuple[NDArray[np.intp], Floats]] = []
    for one in range(members.shape[1]):
        below, beyond = lexical[:, one] < level, vector[:, one] < level
        rows = np.flatnonzero((members[:, one] >= 0) & (below != beyond) & np.isfinite(level))
        weight = level_crossings(vector[rows, one], lexical[rows, one], level[rows])
        highest = _is_highest(vector[rows], lexical[rows], members[rows] >= 0, one, weight)
        found.append((rows[highest], weight[highest]))
    return _joined(found)


def _is_highest(vector: Floats, lexical: Floats, real: Flags, one: int, weight: Floats) -> Flags:
    scores = np.where(real, score_at(weight[:, None], vector, lexical), -np.inf)
    top = scores.max(axis=1, initial=-np.inf)
    return scores[:, one] >= top - RESOLUTION * (1 + np.abs(top))


def _joined(found: list[tuple[NDArray[np.intp], Floats]]) -> Events:
    if not found:
        return Events(target=np.zeros(0, dtype=np.intp), weight=np.zeros(0))
    return Events(
        target=np.concatenate([target for target, _ in found]),
        weight=np.concatenate([weight for _, weight in found]),
    )
