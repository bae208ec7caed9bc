"""The honest choice: elected on some cases, scored once on others, and kept as it is unless evidence says otherwise."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rag_core.calibration.choice.contenders import TODAY, Ballot, Contender
from rag_core.calibration.table import Flags, Floats
from rag_core.errors import InvalidInput
from rag_core.golden.cases import GoldenCase
from rag_core.metrics.comparison import SAME, Comparison, compare
from rag_core.metrics.intervals import Interval, bootstrap_mean, wilson
from rag_core.metrics.measures import Measure
from rag_core.metrics.significance import ALPHA, holm, least_detectable
from rag_core.words.plurals import counted

FOLDS = 10
RESAMPLES = 200
_ELECTED = "elected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Electorate:
    """The cases of a choice: their ids, which are held out, and which must not be lost, shape (cases,) each.

    Without any held-out case the election is held ten times, each time without a tenth of the cases, which it
    is then scored on.
    """

    ids: tuple[str, ...]
    holdout: Flags
    must_pass: Flags

    @classmethod
    def of(cls, cases: Sequence[GoldenCase]) -> "Electorate":
        """The ground of golden cases; those without a split are chosen on where any is held out."""
        return cls(
            ids=tuple(case.id for case in cases),
            holdout=np.array([case.split == "holdout" for case in cases], dtype=bool),
            must_pass=np.array([case.must_pass for case in cases], dtype=bool),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredContender:
    """A contender on the held-out cases: its mean with a 95 % interval, against today's settings.

    `adjusted_p_value` is Holm's over all rows of the table; None for today's own row, as `against_today` is.
    """

    contender: Contender
    value: float
    interval: Interval
    against_today: Comparison | None
    adjusted_p_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What was elected and the evidence for it.

    `value_where_chosen` is the elected contender's mean on the cases of the election, `resampled` the mean
    held-out value of elections on resamples of them, None where a resample left nothing out; `optimism` is the
    difference. `table` holds today, the proposal and every rival. `split` says whether cases were held out of every
    election; without them each of the `n` was left out of its own. `winnable` of them are better under some numbers
    that were tried than under today's. The election was on `chosen_on` cases, and whatever came within `slack` of the
    best mean there counted as no worse.
    """

    measure: Measure
    proposal: Contender
    verdict: Literal["keep", "adopt"]
    reason: str
    held_out: ScoredContender
    n: int
    value_where_chosen: float
    resampled: float | None
    table: tuple[ScoredContender, ...]
    split: bool
    winnable: int
    chosen_on: int
    slack: float

    @property
    def optimism(self) -> float | None:
        """By how much the cases of the election flatter what they elected."""
        return None if self.resampled is None else self.value_where_chosen - self.resampled

    @property
    def detectable_cases(self) -> int:
        """The least number of held-out cases won, none lost, that could be told from chance."""
        return least_detectable()

    @property
    def decidable(self) -> bool:
        """Whether enough cases can still be won that the difference could ever be told from chance."""
        return self.winnable >= self.detectable_cases

    @property
    def more_cases(self) -> int:
        """How many cases more, at the least, it takes to decide: such as today's numbers fail and others could win."""
        return max(0, self.detectable_cases - self.winnable)

    @property
    def cases_told(self) -> str:
        """The cases that scored the choice, in words."""
        return _told_cases(self.n, split=self.split)

    @property
    def scored_on(self) -> str:
        """What those cases are called: `held out`, or `left out in turn` where no case is held out."""
        return "held out" if self.split else "left out in turn"

    @property
    def detectable_points(self) -> float:
        """The same as a share of the held-out cases; 1 where they are fewer than that."""
        return min(1.0, self.detectable_cases / self.n)

    def to_json(self) -> dict[str, object]:
        """The part of the contract's `proposal` that the choice alone knows; the others stand in `Findings`."""
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "metric": str(self.measure),
            "heldOut": {
                "value": self.held_out.value,
                "low": self.held_out.interval.low,
                "high": self.held_out.interval.high,
                "n": self.n,
            },
            "optimism": self.optimism,
            "detectable": {"cases": self.detectable_cases, "points": self.detectable_points},
            "rivals": [_row_to_json(row) for row in self.table],
        }


def decide(
    ballot: Ballot, ground: Electorate, measure: Measure, *, seed: int = 0, resamples: int = RESAMPLES
) -> Choice:
    """Elect, score on what was held out, and say whether to adopt.

    Adopt only when the proposal is better than today's settings on held-out cases by more than chance makes
    (paired randomisation test, two-sided, p < 0.05), gains on held-out cases of the resamples too, and loses no
    case that must pass. Otherwise keep.

    Args:
        ballot: Who can be elected.
        ground: The cases.
        measure: What `ballot` was built for.
        seed: The same seed gives the same choice.
        resamples: How many bootstrap resamples tell the optimism.

    Raises:
        InvalidInput: The measure judges no case on one of the two sides.
    """
    judged = ~np.isnan(ballot.today.values)
    held_out, electing = _sides(ground, judged)
    elected = ballot.elect(electing.astype(np.float64))
    values = _held_out_values(ballot, elected, ground, judged, seed=seed)
    running = ballot.contenders(electing.astype(np.float64))
    rows = _score(values, running, elected, held_out, measure=measure, seed=seed)
    own = next(row for row in rows if row.contender.name == elected.name)
    resampled, gain = _resample(ballot, electing, seed=seed, resamples=resamples)
    lost = _lost_must_pass(ballot.today, elected, ground)
    ceiling = ballot.most(measure)[held_out]
    winnable = int(np.count_nonzero(ceiling > ballot.today.values[held_out] + SAME))
    split, n = bool(ground.holdout.any()), int(held_out.sum())
    verdict, reason = _judge(own, n, split=split, winnable=winnable, gain=gain, lost=lost)
    multiplicity = electing.astype(np.float64)
    return Choice(
        measure=measure,
        proposal=elected,
        verdict=verdict,
        reason=reason,
        held_out=own,
        n=n,
        value_where_chosen=elected.mean(multiplicity),
        resampled=resampled,
        table=rows,
        split=split,
        winnable=winnable,
        chosen_on=int(electing.sum()),
        slack=ballot.slack(multiplicity),
    )


def _sides(ground: Electorate, judged: Flags) -> tuple[Flags, Flags]:
    """Which cases are scored and which elect; all of both where none is held out."""
    held_out = ground.holdout & judged if ground.holdout.any() else judged
    electing = ~ground.holdout & judged
    if not (held_out.any() and electing.any()):
        raise InvalidInput(
            "There is no case to choose on, or none to score the choice on.",
            hint="Give cases of both splits, or leave `split` out of all of them.",
        )
    return held_out, electing


def _held_out_values(
    ballot: Ballot, elected: Contender, ground: Electorate, judged: Flags, *, seed: int
) -> dict[str, Floats]:
    """Each contender's value of each case, chosen without that case; the elected one's under its own name."""
    if ground.holdout.any():
        running = ballot.contenders((judged & ~ground.holdout).astype(np.float64))
        return {contender.name: contender.values for contender in running} | {_ELECTED: elected.values}
    cases = np.flatnonzero(judged)
    folds = np.array_split(np.random.default_rng(seed).permutation(cases), min(FOLDS, len(cases)))
    names = [contender.name for contender in ballot.contenders(judged.astype(np.float64))]
    values = {name: np.full(len(judged), np.nan) for name in (*names, _ELECTED)}
    for fold in folds:
        others = judged.astype(np.float64)
        others[fold] = 0
        if not others.any():
            # a lone case elects what it is scored on; nothing is decided by fewer than six
            others[fold] = 1
        for contender in ballot.contenders(others):
            values[contender.name][fold] = contender.values[fold]
        values[_ELECTED][fold] = ballot.elect(others).values[fold]
    return values


def _score(
    values: dict[str, Floats],
    running: Sequence[Contender],
    elected: Contender,
    held_out: Flags,
    *,
    measure: Measure,
    seed: int,
) -> tuple[ScoredContender, ...]:
    today = running[0]
    rows = [(today, today.values[held_out])]
    if elected.name != TODAY:
        rows.append((elected, values[_ELECTED][held_out]))
    rows += [
        (rival, values[rival.name][held_out]) for rival in running if rival.name not in (TODAY, elected.name)
    ]
    compared = [compare(own, rows[0][1], seed=seed) for _, own in rows]
    p_values = [comparison.p_value if comparison else 1.0 for comparison in compared[1:]]
    adjusted = [None, *holm(p_values)]
    return tuple(
        ScoredContender(
            contender=contender,
            value=float(own.mean()),
            interval=_interval(own, measure, seed),
            against_today=comparison if index else None,
            adjusted_p_value=adjusted[index],
        )
        for index, ((contender, own), comparison) in enumerate(zip(rows, compared, strict=True))
    )


def _interval(values: Floats, measure: Measure, seed: int) -> Interval:
    shares = measure.is_share_of_cases
    found = wilson(int(values.sum()), len(values)) if shares else bootstrap_mean(values, seed=seed)
    return found or Interval(0.0, 1.0)


def _resample(
    ballot: Ballot, electing: Flags, *, seed: int, resamples: int
) -> tuple[float | None, float | None]:
    """The mean value and gain over today, on what each bootstrap resample left out."""
    generator = np.random.default_rng(seed)
    cases = np.flatnonzero(electing)
    values: list[float] = []
    gains: list[float] = []
    for _ in range(resamples):
        drawn = np.bincount(generator.choice(cases, size=len(cases)), minlength=len(electing))
        left_out = electing & (drawn == 0)
        if not left_out.any():
            continue
        own = ballot.elect(drawn.astype(np.float64)).values[left_out]
        values.append(float(own.mean()))
        gains.append(float(own.mean() - ballot.today.values[left_out].mean()))
    if not values:
        return None, None
    return math.fsum(values) / len(values), math.fsum(gains) / len(gains)


def _lost_must_pass(today: Contender, elected: Contender, ground: Electorate) -> tuple[str, ...]:
    lost = ground.must_pass & (elected.values < today.values)
    return tuple(ground.ids[case] for case in np.flatnonzero(lost))


def _judge(
    own: ScoredContender, n: int, *, split: bool, winnable: int, gain: float | None, lost: Sequence[str]
) -> tuple[Literal["keep", "adopt"], str]:
    against, told = own.against_today, _told_cases(n, split=split)
    untold = _cannot_tell(own, n, split=split, winnable=winnable)
    if untold is not None or against is None:
        return "keep", f"Keep: {untold}"
    outcome = f"{against.won} won and {against.lost} lost of {told}"
    if against.difference < 0:
        return "keep", f"Keep: the proposal does worse than today's numbers, with {outcome}."
    if gain is None or gain <= 0:
        return (
            "keep",
            f"Keep: {outcome} look better, but the gain does not hold when the cases are resampled.",
        )
    if lost:
        named = ", ".join(lost)
        return "keep", f"Keep: {outcome} are better, but a case that must pass would be lost: {named}."
    return "adopt", (
        f"Adopt: {outcome}, {100 * against.difference:.1f} points above today's numbers, which chance does not "
        f"explain (p = {against.p_value:.2g})."
    )


def _cannot_tell(own: ScoredContender, n: int, *, split: bool, winnable: int) -> str | None:
    """Why the cases can't tell the proposal from today's settings; None where they can."""
    needed = least_detectable()
    against, told = own.against_today, _told_cases(n, split=split)
    never = f" {_never(needed, winnable, n)}" if winnable < needed else ""
    if n < needed:
        return (
            f"the set can't tell; {needed} cases won and none lost are the least that chance would not explain, "
            f"and only {n} {'is' if n == 1 else 'are'} {'held out' if split else 'there'}.{never}"
        )
    if against is None:
        return (
            f"nothing that was tried is clearly better than today's numbers; with {told} the set "
            f"can't tell a difference of fewer than {needed} cases from chance.{never}"
        )
    if against.p_value >= ALPHA:
        return (
            f"the set can't tell; {against.won} won and {against.lost} lost of {told} can come from "
            f"chance (p = {against.p_value:.2g}), {needed} won and none lost would not.{never}"
        )
    return None


def _told_cases(n: int, *, split: bool) -> str:
    if split:
        return counted(n, "held-out case")
    return f"{counted(n, 'case')} (each left out of its own choice)"


def _never(needed: int, winnable: int, n: int) -> str:
    """That a set can't decide as long as it is as it is, and what it lacks: at the least, and at its own rate."""
    least = needed - winnable
    lacks = f"it lacks at least {counted(least, 'case')} that today's numbers fail and others could win"
    if not winnable:
        return (
            f"This set can never decide: no number that was tried does better in any of its cases; {lacks}."
        )
    likely = math.ceil(needed * n / winnable) - n
    return (
        f"This set can never decide: only {winnable} of {n} could still be won; {lacks}, about {likely:,} more if new "
        "cases are like these."
    )


def _row_to_json(row: ScoredContender) -> dict[str, object]:
    settings, against = row.contender.settings, row.against_today
    return {
        "name": row.contender.name,
        "fusion": str(settings.fusion),
        **({"rrfK": settings.rrf_k} if settings.fusion.takes_k else {}),
        "weightVector": settings.weight_vector,
        "threshold": settings.threshold,
        "candidatesPerSignal": settings.candidates_per_signal,
        "maxPerFile": settings.max_per_file,
        "value": row.value,
        "low": row.interval.low,
        "high": row.interval.high,
        "difference": against.difference if against else None,
        "won": against.won if against else None,
        "lost": against.lost if against else None,
        "pValue": against.p_value if against else None,
        "adjustedPValue": row.adjusted_p_value,
    }
