"""What the ranks of useful and irrelevant votes look like: a poor index and wrong weights look different. Pure."""

from typing import Literal

from rag_core.metrics.intervals import wilson
from rag_core.report.numbers import Report

Pattern = Literal["not measured", "too few", "poor index", "wrong weights", "right order", "no pattern"]

FEWEST_VOTES = 20
# an index is called poor when even the upper end of the useful share is below this
POOR_BELOW = 0.5
_TOP = 1


def rank_pattern(report: Report) -> Pattern:
    """The pattern that the window's votes show, and `no pattern` where chance could have made it.

    Few useful votes at any rank: the right text is not there, so the index is poor. Otherwise the share of useful
    votes on the first hit is held against that on all others: lower, and the right text is found but stands too
    low, so the weights are wrong; higher, and the order is right. Shares differ when their 95 % intervals part,
    which is stricter than a test; whoever votes only on what is good hides a poor index from it.
    """
    counts = {
        verdict: {entry.rank: entry.votes for entry in entries} for verdict, entries in report.ranks.items()
    }
    useful, irrelevant = counts["util"], counts["irrelevante"]
    total = sum(useful.values()) + sum(irrelevant.values())
    if total == 0:
        return "not measured"
    if total < FEWEST_VOTES:
        return "too few"
    whole = wilson(sum(useful.values()), total)
    if whole is not None and whole.high < POOR_BELOW:
        return "poor index"
    top_useful = useful.get(_TOP, 0)
    top_all = top_useful + irrelevant.get(_TOP, 0)
    top = wilson(top_useful, top_all)
    rest = wilson(sum(useful.values()) - top_useful, total - top_all)
    if top is None or rest is None:
        return "no pattern"
    if top.high < rest.low:
        return "wrong weights"
    return "right order" if rest.high < top.low else "no pattern"
