"""What `ts_rank` gives a chunk for how often it holds a term, and for how few terms a chunk can't be among the best.

For terms joined by OR, `ts_rank` is the mean over the terms of 0.1 × (1 + 1/4 + 1/9 + … + 1/n²) / (π²/6), where n
is how often the chunk holds the term (`calc_rank_or` in PostgreSQL's tsrank.c; 0.1 is the weight of an unlabelled
lexeme, and no more than 256 positions of a lexeme are kept). So a term is worth at most 0.1, and a chunk that holds k
of m terms at most k / (10 m).
"""

import itertools

_WEIGHT = 0.1
_LIMIT = 1.64493406685  # π²/6 as PostgreSQL writes it
_MOST_POSITIONS = 256

WORTH: tuple[float, ...] = tuple(
    itertools.accumulate(
        (_WEIGHT / (n * n) / _LIMIT for n in range(1, _MOST_POSITIONS + 1)),
        initial=0.0,
    )
)
"""By how often a chunk holds a term, from 0 to 256 times: what that adds to the sum over the terms."""


def most_for_terms(held: int, terms: int) -> float:
    """No chunk that holds `held` of the terms has a greater `ts_rank(…, 32)`.

    Examples:
        >>> round(most_for_terms(1, 1), 6)
        0.090909
    """
    most = _WEIGHT * held / terms
    return most / (most + 1)


def fewest_terms(score: float, terms: int) -> int:
    """The least number of terms, at least 1, with which a chunk can reach this `ts_rank(…, 32)` or more.

    `most_for_terms` is 0.2 % above what PostgreSQL can reach, more than its single precision can round.
    """
    return next(held for held in range(1, terms + 1) if held == terms or most_for_terms(held, terms) >= score)
