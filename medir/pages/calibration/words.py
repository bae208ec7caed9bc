"""A calibration in words: numbers with what they are of, settings in a line. Pure."""

import math

from medir.page_kit.signs import DASH
from rag_core.calibration.choice.verdict import Choice
from rag_core.metrics.intervals import Interval
from rag_core.metrics.measures import Measure
from rag_core.model import SearchSettings
from rag_core.words.fusions import FUSION_NAMES

_DECIMALS_FROM = 200
_TODAYS = "today's numbers"


def value(number: float | None, measure: Measure, cases: int) -> str:
    """A mean: a share as a percentage, without decimals for fewer than 200 cases; a dash where not measured."""
    if number is None or math.isnan(number):
        return DASH
    return share(number, cases) if measure.is_share_of_cases else f"{number:.3f}"


def share(number: float, cases: int) -> str:
    """A percentage, without decimals for fewer than 200 cases."""
    return f"{number:.{0 if cases < _DECIMALS_FROM else 1}%}"


def span(interval: Interval | None, measure: Measure, cases: int) -> str:
    """`58 % to 86 %`, both ends as `value` tells them; empty where nothing was judged."""
    if interval is None:
        return ""
    return f"{value(interval.low, measure, cases)} to {value(interval.high, measure, cases)}"


def difference(number: float, measure: Measure, cases: int) -> str:
    """With its sign, a share in points."""
    if not measure.is_share_of_cases:
        return _signed(number, 3)
    return f"{_signed(100 * number, 0 if cases < _DECIMALS_FROM else 1)} points"


def p_value(number: float | None) -> str:
    """A p-value with two digits; empty for none."""
    return "" if number is None else "< 0.001" if number < 0.001 else f"{number:.2g}"


def threshold(number: float | None) -> str:
    """A threshold, or the word none."""
    return "none" if number is None else f"{number:.4g}"


def numbers(settings: SearchSettings) -> str:
    """Every number of a setting in one line."""
    ranking, candidates = settings.ranking, settings.candidates
    cap = "no cap a file" if ranking.max_per_file is None else f"{ranking.max_per_file} a file"
    return (
        f"{FUSION_NAMES[ranking.fusion]}, vector weight {ranking.weight_vector:.4g}, "
        f"threshold {threshold(ranking.threshold)}, {ranking.candidates_per_signal} candidates a signal, {cap}, "
        f"{ranking.limit} hits, terms {candidates.lexical.operator}, {candidates.lexical.function}"
    )


def whose_numbers(*, moved: bool) -> str:
    """What the numbers are called that a calibration started from; `moved` where others are in force now."""
    return "the numbers from before" if moved else _TODAYS


def of_then(sentence: str, *, moved: bool) -> str:
    """A sentence of a calibration, which calls today's the numbers of its day, in the words of now."""
    if not moved:
        return sentence
    then = whose_numbers(moved=True)
    return sentence.replace(_TODAYS, then).replace(_TODAYS.capitalize(), then.capitalize())


def _signed(number: float, digits: int) -> str:
    text = f"{number:+.{digits}f}"
    return text if float(text) else "0"


def scored_on(choice: Choice) -> str:
    """What the cases are called that scored a choice: `held out`, or `left out in turn` where no case is held out."""
    return "held out" if choice.split else "left out in turn"
