"""The report in words: numbers with what they are of, differences that count, what changed. Pure."""

from collections.abc import Sequence

from rag_core.metrics.intervals import difference_of_shares
from rag_core.report.changes import Change
from rag_core.report.numbers import Percentiles, Precision
from rag_core.words import numbers
from rag_core.words.numbers import DASH, NOT_MEASURED, signed
from rag_core.words.plurals import counted

FEWEST_TO_COMPARE = 20
_TOLD_CHANGES = 2


def of_votes(precision: Precision) -> str:
    """`0.80 of 5 votes`, or that nothing was judged."""
    if precision.value is None:
        return NOT_MEASURED
    return f"{precision.value:.2f} of {counted(precision.votes, 'vote')}"


def interval(precision: Precision) -> str:
    """`95 % interval 0.38 to 0.96`; empty where nothing was judged."""
    return "" if precision.interval is None else f"95 % interval {from_to(precision)}"


def from_to(precision: Precision) -> str:
    """`0.38 to 0.96`; a dash of nothing."""
    found = precision.interval
    return DASH if found is None else numbers.from_to(found.low, found.high, 2)


def difference(now: int, of_now: int, then: int, of_then: int) -> str | None:
    """`+12 points (95 %: +3 to +21)`; None where chance explains the difference, or too little was counted."""
    if min(of_now, of_then) < FEWEST_TO_COMPARE:
        return None
    found = difference_of_shares(now, of_now, then, of_then)
    if found is None or found.low <= 0 <= found.high:
        return None
    told, low, high = (
        signed(100 * share, 0) for share in (now / of_now - then / of_then, found.low, found.high)
    )
    return f"{told} points (95 %: {low} to {high})"


def compared(of_now: int, of_then: int, told: str | None) -> str:
    """Why no difference is told; empty where one is, or where there was nothing to compare with."""
    if told is not None or not min(of_now, of_then):
        return ""
    return (
        "too few to compare" if min(of_now, of_then) < FEWEST_TO_COMPARE else "chance explains the difference"
    )


def joined(*parts: str) -> str:
    """What there is to say, in one line."""
    return "; ".join(part for part in parts if part)


def why_missing(latency: Percentiles) -> str:
    """Why p95 is missing; empty where it is there."""
    return "" if latency.p95 is not None or latency.why is None else latency.why.rstrip(".")


def changed(found: Sequence[Change]) -> str:
    """One sentence on what changed in this window and the one before, the newest first; older ones are counted."""
    if not found:
        return "Nothing changed: the same settings, model and index in this window and the one before."
    newest = [f"{change.told}, {change.at:%d %b %H:%M} UTC" for change in reversed(found[-_TOLD_CHANGES:])]
    rest = len(found) - len(newest)
    more = f"; and {rest} more before" if rest > 0 else ""
    return f"What changed: {'; '.join(newest)}{more}."
