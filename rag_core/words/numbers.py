"""Numbers as people read them: what was not measured is said and never 0, few things have no decimals. Pure."""

from typing import Final

DASH: Final = "—"
NOT_MEASURED: Final = "— not measured"
_DECIMALS_FROM = 200


def measured(number: float | None, digits: int = 3, *, missing: str = DASH) -> str:
    """A number, or in its place what is `missing`."""
    return missing if number is None else f"{number:.{digits}f}"


def milliseconds(number: float | None) -> str:
    """`1,240 ms`, `12.3 ms` below a hundred, or that it was not measured."""
    return NOT_MEASURED if number is None else f"{number:,.0f} ms" if number >= 100 else f"{number:.1f} ms"


def share(count: int, total: int) -> str:
    """How many of how many as a percentage; a dash of nothing."""
    return percentage(count / total, total) if total else DASH


def percentage(fraction: float, total: int) -> str:
    """`57%`; with a decimal where it is of 200 or more."""
    return f"{fraction:.{_decimals(total)}%}"


def points(difference: float, total: int) -> str:
    """A difference of percentages with its sign, without the word: `+3`, `0`, `-1.5` where it is of 200 or more."""
    return signed(100 * difference, _decimals(total))


def signed(number: float, digits: int) -> str:
    """With its sign, which 0 has not."""
    text = f"{number:+.{digits}f}"
    return text if float(text) else "0"


def from_to(low: float, high: float, digits: int = 3) -> str:
    """`0.380 to 0.957`, with one more decimal where the two would be told as one number."""
    first, last = f"{low:.{digits}f}", f"{high:.{digits}f}"
    return (
        f"{first} to {last}"
        if first != last or low == high
        else f"{low:.{digits + 1}f} to {high:.{digits + 1}f}"
    )


def p_value(number: float | None) -> str:
    """A p-value with two digits; empty for none."""
    return "" if number is None else "< 0.001" if number < 0.001 else f"{number:.2g}"


def _decimals(total: int) -> int:
    return 0 if total < _DECIMALS_FROM else 1
