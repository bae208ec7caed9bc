"""Why a proposal may stand below a point of the curve beside it: it was not chosen for the highest point."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rag_core.calibration.choice.contenders import TODAY
from rag_core.calibration.choice.verdict import Choice
from rag_core.calibration.table import Floats
from rag_core.metrics.comparison import SAME
from rag_core.metrics.intervals import Interval
from rag_core.metrics.measures import Measure
from rag_core.words.plurals import counted
from rag_core.words.ranges import tell_weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """A curve over all its cases that reaches more than the proposal: `best` at `weights`, its widest such run."""

    value: float
    best: float
    weights: Interval
    reason: str

    def to_json(self) -> dict[str, object]:
        """The contract's `shortfall` of a proposal."""
        return {
            "value": self.value,
            "best": self.best,
            "from": self.weights.low,
            "to": self.weights.high,
            "reason": self.reason,
        }


class StepFunction(Protocol):
    """A step function of the weight: one value between every two neighbouring ends."""

    @property
    def ends(self) -> Floats:
        """From 0 to 1."""
        ...

    @property
    def inside(self) -> Floats:
        """One value fewer than there are ends."""
        ...


def fall_short(curve: StepFunction, choice: Choice) -> Shortfall | None:
    """Where a curve of the choice's measure lies above the proposal, and why that is; None where it nowhere does.

    Args:
        curve: Over all cases; points at which two scores tie play no part.
        choice: Its proposal is held against it.
    """
    value = float(np.nanmean(choice.proposal.values))
    best = float(curve.inside.max())
    if best <= value + SAME:
        return None
    top = np.flatnonzero(curve.inside >= best - SAME)
    widest = int(top[np.argmax(np.diff(curve.ends)[top])])
    weights = Interval(float(curve.ends[widest]), float(curve.ends[widest + 1]))
    cases = int(np.count_nonzero(~np.isnan(choice.proposal.values)))
    return Shortfall(
        value=value,
        best=best,
        weights=weights,
        reason=_reason(choice, best=best, value=value, weights=weights, cases=cases),
    )


def _reason(choice: Choice, *, best: float, value: float, weights: Interval, cases: int) -> str:
    measure = choice.measure
    where = f"weights {tell_weights((weights,))}"
    own = "today's numbers reach" if choice.proposal.name == TODAY else "the best found reaches"
    slack = f"{100 * choice.slack:.1f} points" if measure.is_share_of_cases else f"{choice.slack:.3f}"
    electing = counted(choice.chosen_on, "case")
    why = (
        "today's numbers stay where they are that near to the best"
        if choice.proposal.name == TODAY
        else "among those the widest run of weights was taken, not the highest point"
    )
    reached, own_value = _value_told(best, measure, cases), _value_told(value, measure, cases)
    parts = [
        f"On all {cases} cases the curve reaches {reached} at {where}, {own} {own_value}.",
        f"On the {electing} of the choice everything within {slack} of the best counts as no worse, and {why}.",
    ]
    if choice.split:
        parts.append(f"The {choice.cases_told} took no part in it.")
    return " ".join(parts)


def _value_told(value: float, measure: Measure, cases: int) -> str:
    return f"{round(value * cases)}" if measure.is_share_of_cases else f"{value:.3f}"
