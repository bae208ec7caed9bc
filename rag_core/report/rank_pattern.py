"""What the votes of a window say of index and order, where they can carry it. Pure."""

from typing import Literal

from rag_core.metrics.intervals import wilson
from rag_core.report.numbers import JudgedSearches

Pattern = Literal["not measured", "too few", "poor index", "wrong weights", "right order", "no pattern"]

FEWEST_SEARCHES = 20
# an end of a 95 % interval has to lie on this side of it before anything is said
_HALF = 0.5


def rank_pattern(judged: JudgedSearches) -> Pattern:
    """The pattern that the window's votes show, and `no pattern` where chance could have made it.

    Searches are counted, not ranks: a question with one answer has four irrelevant hits of five under the best of
    orders. Two shares are read, each of 20 searches at least, each by its 95 % interval:

    - searches with any useful hit, of those of which votes tell: clearly under half, and the index is poor, since
      no order of its hits would help;
    - searches whose first hit is useful, of those with a useful hit and a first hit that was judged: clearly under
      half, and the right text is found but stands too low; clearly over, and the order is right.

    Whoever votes only on what is good hides a poor index from it.

    Examples:
        Of 30 searches 27 with a useful hit, always the first: right order. 5 of 30: poor index, up to 0.34. 27 of 30,
        of which 8 first: wrong weights, up to 0.49.
    """
    if not judged.known and not judged.first_judged:
        return "not measured"
    found = wilson(judged.answered, judged.known)
    if judged.known >= FEWEST_SEARCHES and found is not None and found.high < _HALF:
        return "poor index"
    first = wilson(judged.first_useful, judged.first_judged)
    if judged.first_judged < FEWEST_SEARCHES or first is None:
        return "too few"
    if first.high < _HALF:
        return "wrong weights"
    return "right order" if first.low > _HALF else "no pattern"


def told_pattern(judged: JudgedSearches) -> str:
    """The pattern in a sentence with its counts; where votes can't carry one, that nothing is said."""
    pattern = rank_pattern(judged)
    found = f"{judged.answered:,} of {judged.known:,} judged searches had a useful hit"
    first = f"of {judged.first_judged:,} of them whose first hit was judged, it was useful in {judged.first_useful:,}"
    return {
        "not measured": "Not measured: too little was judged of any search.",
        "too few": f"Nothing is said of index or order: fewer than {FEWEST_SEARCHES} searches were judged so far that "
        "votes could tell.",
        "poor index": f"{found}. This looks like a poor index: look at what is indexed, not at weights.",
        "wrong weights": f"{found}; {first}. This looks like wrong weights: the right text is found and stands "
        "too low.",
        "right order": f"{found}; {first}: the order looks right.",
        "no pattern": f"{found}; {first}: nothing that chance could not have made.",
    }[pattern]
