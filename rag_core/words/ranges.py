"""Ranges of weights and thresholds in words: one way to tell them, wherever they are told. Pure.

Ends are rounded into the range, so that what is read holds too.
"""

import math
from collections.abc import Iterable
from typing import Protocol

_DIGITS, _MOST_DIGITS = 4, 17


class Range(Protocol):
    """Two ends, the lower first."""

    @property
    def low(self) -> float:
        """The lower end."""
        ...

    @property
    def high(self) -> float:
        """The upper end."""
        ...


def tell_span(low: float, high: float) -> str:
    """Two numbers, or one where they are the same: `0.3 to 0.4251`.

    Four decimals, and as many more as it takes for the two to lie within the span.
    """
    for digits in range(_DIGITS, _MOST_DIGITS):
        first, last = _up(low, digits), _down(high, digits)
        if low <= first <= last <= high:
            return (
                _plain(first, digits)
                if first == last
                else f"{_plain(first, digits)} to {_plain(last, digits)}"
            )
    return repr(low)


def tell_weights(runs: Iterable[Range]) -> str:
    """Weights from 0 to 1: `any weight`, `0.0786 to 0.2235`, `0 to 0.1 and 0.4 to 1`, `no weight`."""
    told = [
        "any weight" if (run.low, run.high) == (0.0, 1.0) else tell_span(run.low, run.high) for run in runs
    ]
    return " and ".join(told) or "no weight"


def tell_thresholds(runs: Iterable[Range]) -> str:
    """Thresholds, of which an end of minus infinity stands for none at all and one of infinity for no upper end.

    `0.0274 to 0.0458`, `up to 0.0535, or none at all`, `0.2 and above`, `any, or none at all`; `no threshold can be
    named` for an empty union.
    """
    return " and ".join(_tell_threshold(run.low, run.high) for run in runs) or "no threshold can be named"


def tell_outside(begins: float, ends: float) -> str:
    """Weights below `begins` and above `ends`, where those lie in (0, 1): `below 0.1 or above 0.4313`, `no weight`."""
    parts = [f"below {_inside_down(begins)}"] if begins > 0 else []
    parts += [f"above {_inside_up(ends)}"] if ends < 1 else []
    return " or ".join(parts) or "no weight"


def _tell_threshold(low: float, high: float) -> str:
    if math.isinf(low):
        return "any, or none at all" if math.isinf(high) else f"up to {_inside_down(high)}, or none at all"
    return f"{_inside_up(low)} and above" if math.isinf(high) else tell_span(low, high)


def _inside_up(number: float) -> str:
    """The number rounded up where it has more digits than are told."""
    return _plain(_up(number, _DIGITS), _DIGITS)


def _inside_down(number: float) -> str:
    """The number rounded down; in full where nothing would be left of it."""
    rounded = _down(number, _DIGITS)
    return _plain(rounded, _DIGITS) if rounded or not number else repr(number)


def _up(number: float, digits: int) -> float:
    return -_down(-number, digits)


def _down(number: float, digits: int) -> float:
    """The highest number of so many decimals that is not above the number."""
    nearest = round(number, digits)
    # a number that has no more decimals than these stays what it is
    return nearest if nearest <= number else round(math.floor(number * 10**digits) / 10**digits, digits)


def _plain(number: float, digits: int) -> str:
    text = f"{number:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
