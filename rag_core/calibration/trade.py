"""The two errors that a threshold trades: an answer missed, and a citation where there is nothing to cite."""

from dataclasses import dataclass

import numpy as np

from rag_core.calibration.exact.steps import ThresholdSteps, tidy_thresholds
from rag_core.calibration.exact.thresholds import Tolerances, threshold_tolerances
from rag_core.calibration.safety import widest_thresholds
from rag_core.calibration.table import CandidateTable, Judgements
from rag_core.errors import InvalidInput
from rag_core.metrics.comparison import SAME
from rag_core.metrics.intervals import Interval
from rag_core.metrics.measures import PASSED
from rag_core.model import RankingSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Trade:
    """Both errors over the threshold, counted in cases, and the point for a stated price.

    `cost` is missed answers plus `price` times wrong citations. `best` are the thresholds of least cost, the
    widest run of them; `threshold` lies in its middle, None where no threshold at all is as good. `order` is
    the share of pairs of an answerable and a `no_answer` case in which the right file scores above what the
    other would cite (ties half), 0.5 being chance; None without both kinds.
    """

    missed: ThresholdSteps
    wrong: ThresholdSteps
    cost: ThresholdSteps
    price: float
    best: Interval
    threshold: float | None
    least_cost: float
    answerable: int
    no_answer: int
    order: float | None

    @property
    def separable(self) -> bool:
        """Whether some threshold costs less than showing everything and less than showing nothing."""
        extremes = min(self.cost.inside[0], self.cost.inside[-1])
        return bool(self.least_cost < extremes - SAME)

    @property
    def sentence(self) -> str:
        """What the trade says, for people."""
        if not (self.answerable and self.no_answer):
            lacking = "without an answer" if self.answerable else "with an answer"
            return f"The set has no case {lacking}, so it can't say where a threshold belongs."
        if not self.separable:
            return (
                "No threshold separates questions with an answer from those without: at this price each "
                "one costs as much as showing everything or nothing."
            )
        missed = int(self._at_best(self.missed))
        wrong = int(self._at_best(self.wrong))
        where = "Without a threshold" if self.threshold is None else f"At a threshold of {self.threshold:.4g}"
        return (
            f"{where}, {missed} of {self.answerable} answers are missed and {wrong} of {self.no_answer} "
            "questions without an answer get a citation."
        )

    def _at_best(self, steps: ThresholdSteps) -> float:
        threshold = -np.inf if self.threshold is None else self.threshold
        return float(steps.values(np.array([threshold]))[0])


def weigh_errors(
    table: CandidateTable, judged: Judgements, settings: RankingSettings, *, price: float
) -> Trade:
    """Draw both errors over the threshold at the settings' weight, and propose a threshold for a price.

    Args:
        table: The candidates.
        judged: What the cases expect.
        settings: Their threshold plays no part.
        price: What a wrong citation costs, in missed answers.

    Raises:
        InvalidInput: The price is negative or no finite number.
    """
    if not (np.isfinite(price) and price >= 0):
        raise InvalidInput(
            f"The price of a wrong citation is {price}.",
            hint="Give a number of missed answers, such as 0.25.",
        )
    parts = threshold_tolerances(table, judged, settings, PASSED)
    no_answer = judged.no_answer
    missed = _lost(parts, ~no_answer)
    wrong = _lost(parts, no_answer)
    ends = np.union1d(missed.ends, wrong.ends)
    # the value on an interval is the value at its upper end
    probes = np.concatenate([ends, [np.inf]])
    cost = tidy_thresholds(ends, missed.values(probes) + price * wrong.values(probes))
    least = float(cost.inside.min())
    best = _cheapest(cost, least)
    return Trade(
        missed=missed,
        wrong=wrong,
        cost=cost,
        price=price,
        best=best,
        threshold=_middle(best),
        least_cost=least,
        answerable=int(np.count_nonzero(~no_answer)),
        no_answer=int(np.count_nonzero(no_answer)),
        order=_order(parts, judged),
    )


def _lost(parts: Tolerances, cases: np.ndarray) -> ThresholdSteps:
    total = int(np.count_nonzero(cases))
    steps = parts.steps(cases=cases)
    if steps is None:
        return ThresholdSteps(ends=np.zeros(0), inside=np.zeros(1))
    return ThresholdSteps(ends=steps.ends, inside=np.rint((1.0 - steps.inside) * total))


def _cheapest(cost: ThresholdSteps, least: float) -> Interval:
    gain = ThresholdSteps(ends=cost.ends, inside=-cost.inside)
    return widest_thresholds(gain, -least) or Interval(-np.inf, np.inf)


def _middle(run: Interval) -> float | None:
    if np.isneginf(run.low):
        return None
    if np.isposinf(run.high):
        return float(np.nextafter(run.low, np.inf))
    return run.low + (run.high - run.low) / 2


def _order(parts: Tolerances, judged: Judgements) -> float | None:
    answered = np.full(len(judged.expected), -np.inf)
    cited = np.full(len(judged.expected), -np.inf)
    answered[parts.case[~parts.below]] = parts.score[~parts.below]
    cited[parts.case[parts.below]] = parts.score[parts.below]
    right, other = answered[~judged.no_answer], cited[judged.no_answer]
    if not (right.size and other.size):
        return None
    above = (right[:, None] > other).mean()
    return float(above + (right[:, None] == other).mean() / 2)
