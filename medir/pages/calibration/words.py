"""A calibration in words: means with what they are of, and whose numbers they are. Pure."""

import math

from rag_core.calibration.choice.verdict import Choice
from rag_core.metrics.intervals import Interval
from rag_core.metrics.measures import Measure
from rag_core.words.numbers import DASH, percentage, points, signed

_TODAYS = "today's numbers"


def value(number: float | None, measure: Measure, cases: int) -> str:
    """A mean: a share as a percentage, without decimals for fewer than 200 cases; a dash where not measured."""
    if number is None or math.isnan(number):
        return DASH
    return percentage(number, cases) if measure.is_share_of_cases else f"{number:.3f}"


def span(interval: Interval | None, measure: Measure, cases: int) -> str:
    """`58 % to 86 %`, both ends as `value` tells them; empty where nothing was judged."""
    if interval is None:
        return ""
    return f"{value(interval.low, measure, cases)} to {value(interval.high, measure, cases)}"


def difference(number: float, measure: Measure, cases: int) -> str:
    """With its sign, a share in points."""
    return f"{points(number, cases)} points" if measure.is_share_of_cases else signed(number, 3)


def whose_numbers(*, moved: bool) -> str:
    """What the numbers are called that a calibration started from; `moved` where others are in force now."""
    return "the numbers from before" if moved else _TODAYS


def of_then(sentence: str, *, moved: bool) -> str:
    """A sentence of a calibration, which calls today's the numbers of its day, in the words of now."""
    if not moved:
        return sentence
    then = whose_numbers(moved=True)
    return sentence.replace(_TODAYS, then).replace(_TODAYS.capitalize(), then.capitalize())


def scored_on(choice: Choice) -> str:
    """What the cases are called that scored a choice: `held out`, or `left out in turn` where no case is held out."""
    return "held out" if choice.split else "left out in turn"
