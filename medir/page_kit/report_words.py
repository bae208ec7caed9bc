"""The report in words: numbers with what they are of, the pattern of ranks, what changed. Pure."""

from collections.abc import Sequence

from medir.page_kit.signs import DASH, NOT_MEASURED
from rag_core.plurals import counted
from rag_core.report.changes import Change
from rag_core.report.numbers import Part, Percentiles, Precision
from rag_core.report.rank_pattern import FEWEST_VOTES, Pattern

_DECIMALS_FROM = 200
_TOLD_CHANGES = 2

PATTERNS: dict[Pattern, str] = {
    "not measured": "Nothing was judged, so nothing can be said about index or weights.",
    "too few": f"Fewer than {FEWEST_VOTES} votes: too few to tell a poor index from wrong weights.",
    "poor index": "This looks like a poor index: few useful hits at any rank. Look at what is indexed, not at weights.",
    "wrong weights": "This looks like wrong weights: hits further down are useful more often than the first. "
    "The right text is found and stands too low.",
    "right order": "The order looks right: the first hit is useful more often than those below it.",
    "no pattern": "The first hit and those below it are useful about as often: no sign of a poor index or of "
    "wrong weights that chance could not have made.",
}


def share(count: int, total: int) -> str:
    """A percentage, without decimals for fewer than 200; a dash of nothing."""
    if not total:
        return DASH
    return f"{count / total:.{0 if total < _DECIMALS_FROM else 1}%}"


def milliseconds(value: float | None) -> str:
    """A time, or that it was not measured."""
    return NOT_MEASURED if value is None else f"{value:,.0f} ms" if value >= 100 else f"{value:.1f} ms"


def of_votes(precision: Precision) -> str:
    """`0.80 of 5 votes`, or that nothing was judged."""
    if precision.value is None:
        return NOT_MEASURED
    return f"{precision.value:.2f} of {counted(precision.votes, 'vote')}"


def interval(precision: Precision) -> str:
    """`95 % interval 0.38 to 0.96`; empty where nothing was judged."""
    return "" if precision.interval is None else f"95 % interval {from_to(precision)}"


def from_to(precision: Precision) -> str:
    """`0.38 to 0.96`, with a third decimal where two would show one number twice; a dash of nothing."""
    found = precision.interval
    if found is None:
        return DASH
    low, high = f"{found.low:.2f}", f"{found.high:.2f}"
    return f"{low} to {high}" if low != high else f"{found.low:.3f} to {found.high:.3f}"


def judged(part: Part) -> str:
    """Of how many hits shown any vote speaks."""
    if not part.shown:
        return "no hit was shown"
    return f"{part.judged:,} of {part.shown:,} hits judged ({share(part.judged, part.shown)})"


def within_chance(now: Precision, before: Precision) -> bool:
    """Whether two precisions can't be told apart: their intervals meet, or one was not measured."""
    first, second = now.interval, before.interval
    return first is None or second is None or (first.low <= second.high and second.low <= first.high)


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
