"""Candidates as lines over the weight: a fused score is `w * vector + (1 - w) * lexical`.

A crossing is computed in twice the precision of a float and rounded once, so it is the float nearest to where
the lines meet.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESOLUTION = 1e-12
"""Crossings closer than this are one: between them, the rounding of scores decides, not the lines."""

_SPLITTER = 134217729.0  # 2**27 + 1, Dekker's constant for 53 bits


def score_at(weight: Floats, vector: Floats, lexical: Floats) -> Floats:
    """The fused score, to the last bit as `rag_core.ranking.fusion.weighted_sum` computes it; shapes broadcast."""
    return weight * vector + (1.0 - weight) * lexical


def crossings(vector: Floats, lexical: Floats, other_vector: Floats, other_lexical: Floats) -> Floats:
    """The weight at which two lines meet, in [0, 1]; for lines that meet there and nowhere else.

    Source of the doubled precision: Dekker 1971, doi:10.1007/BF01397083.
    """
    numerator = _difference(other_lexical, lexical)
    rest = _difference(vector, other_vector)
    return _quotient(numerator, _sum(numerator, rest))


def level_crossings(vector: Floats, lexical: Floats, level: Floats) -> Floats:
    """The weight at which a line reaches a level, in [0, 1]; for lines that do so there and nowhere else."""
    return _quotient(_difference(level, lexical), _difference(vector, lexical))


def undominated(vector: Floats, lexical: Floats, present: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which lines are the highest of their row at some weight inside (0, 1), shape (rows, lines) as given.

    A few that nearly are may be among them. Of equal lines the first counts, as ties do.
    """
    index = np.arange(vector.shape[1])
    stays = present.copy()
    for other in range(vector.shape[1]):
        v, x = vector[:, other, None], lexical[:, other, None]
        beaten = (v >= vector) & (x >= lexical) & ((v > vector) | (x > lexical) | (other < index))
        stays &= ~(beaten & present[:, other, None])
    return stays


def _difference(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """`a - b` as a float and what it lacks, without error."""
    high = a - b
    back = high - a
    return high, (a - (high - back)) - (b + back)


def _sum(a: tuple[Floats, Floats], b: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    high, low = _difference(a[0], -b[0])
    return high, low + a[1] + b[1]


def _quotient(a: tuple[Floats, Floats], b: tuple[Floats, Floats]) -> Floats:
    with np.errstate(all="ignore"):
        first = a[0] / b[0]
        product = first * b[0]
        f_high = first * _SPLITTER - (first * _SPLITTER - first)
        b_high = b[0] * _SPLITTER - (b[0] * _SPLITTER - b[0])
        f_low, b_low = first - f_high, b[0] - b_high
        lacking = ((f_high * b_high - product) + f_high * b_low + f_low * b_high) + f_low * b_low
        rest = (((a[0] - product) - lacking) + a[1]) - first * b[1]
        quotient = first + rest / b[0]
    # next to underflow the correction is lost; the plain quotient is as near as such numbers allow
    return np.clip(np.where(np.isfinite(quotient), quotient, np.nan_to_num(first)), 0.0, 1.0)
