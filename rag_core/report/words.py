"""What the report says in words, the same on every surface: its answer, its gate as a small sign, its gaps. Pure."""

from collections.abc import Sequence

from rag_core.report.numbers import P95_FROM, Part, Report
from rag_core.words.numbers import NOT_MEASURED, percentage, share
from rag_core.words.plurals import counted

PASSED, FAILED = "✓", "✗"
_DEPTH = 5


def headline(report: Report) -> tuple[str, ...]:
    """What votes, hits and latency say, each with what it is of; where there is nothing, that it is not measured.

    There is no limit that a number could keep or break, so nothing here is good or bad.
    """
    whole = report.whole
    if not whole.searches:
        return ("Not measured: the window holds no search.",)
    return (_useful(whole), f"{_no_hit(whole)}; {_latency(whole)}.")


def gate(report: Report) -> str:
    """`Vector signal ✓ 60 of 60`: in how many searches it ran. The gate fails where that is none of them."""
    verdict, whole = report.verdict, report.whole
    if not verdict.measured:
        return f"Vector signal {NOT_MEASURED}"
    ran = whole.searches - whole.vector_unavailable
    return f"Vector signal {PASSED if verdict.passed else FAILED} {ran:,} of {whole.searches:,}"


def gate_broken(report: Report) -> str:
    """What a gate that failed means and what to do; empty where it did not fail."""
    if report.verdict.passed:
        return ""
    return f"{report.verdict.reason} Start the embedding provider, or index with one that runs."


def no_vote(part: Part) -> str:
    """Why nothing is known of votes; those on degraded searches are left out, so they may be there."""
    if not part.not_degraded and part.searches:
        return "every search was degraded"
    return "no vote on a search that was not degraded" if part.degraded else "no vote"


def hits_judged(part: Part) -> str:
    """Of how many hits shown any vote speaks, degraded searches left out."""
    if part.shown:
        return f"{part.judged:,} of {part.shown:,} hits judged ({share(part.judged, part.shown)})"
    if not part.searches:
        return "no search"
    if not part.not_degraded:
        return "every search was degraded, so their hits are left out"
    return "the searches that were not degraded showed no hit" if part.degraded else "no hit was shown"


def undivided(name: str, keys: Sequence[str]) -> str:
    """In place of a split that would repeat the whole in each of its lines."""
    return f"By {name}: the same in every search ({', '.join(keys)})."


def _useful(part: Part) -> str:
    found, interval = part.precision[_DEPTH], part.precision[_DEPTH].interval
    if interval is None:
        return f"Useful share of votes: not measured, {no_vote(part)}."
    low, high = (percentage(end, found.votes) for end in (interval.low, interval.high))
    return (
        f"{share(found.useful, found.votes)} of {counted(found.votes, 'vote')} on the first five hits "
        f"{'says' if found.votes == 1 else 'say'} useful (95 % interval {low} to {high})."
    )


def _no_hit(part: Part) -> str:
    return (
        f"{share(part.no_hit, part.searches)} of {counted(part.searches, 'search', 'searches')} showed no hit"
    )


def _latency(part: Part) -> str:
    total = part.latency["total"]
    if total.p95 is not None:
        return f"p95 latency {total.p95:,.0f} ms (n = {total.n:,})"
    if not total.n:
        return "p95 latency not measured, every search was degraded"
    return f"p95 latency not measured (n = {total.n:,}, and it needs {P95_FROM})"
