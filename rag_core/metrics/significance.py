"""Paired tests: could chance alone have made this difference? All are two-sided; p-values lie in (0, 1]."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

ALPHA = 0.05
_EXACT_UP_TO = 13
_CELLS_AT_ONCE = 4_000_000


def sign_test(won: int, lost: int) -> float:
    """The exact two-sided sign test: how likely so uneven a split is when winning and losing are equally so.

    Ties play no part. Without a won or lost case the p-value is 1.

    Raises:
        ValueError: A count is negative.

    Examples:
        Six won and none lost: 2 / 2**6 = 0.03125. Two won and one lost: 1.
    """
    if won < 0 or lost < 0:
        raise ValueError("counts are not negative")
    total, fewer = won + lost, min(won, lost)
    term, tail = 1, 0
    for count in range(fewer + 1):
        tail += term
        term = term * (total - count) // (count + 1)
    # a ratio of integers is rounded once, however long they are
    return min(1.0, 2 * tail / 2**total)


def least_detectable(alpha: float = ALPHA) -> int:
    """The least number of cases won, none lost, that `sign_test` calls p < alpha: 6 at 0.05.

    Raises:
        ValueError: `alpha` lies outside (0, 1].
    """
    if not 0 < alpha <= 1:
        raise ValueError("alpha lies in (0, 1]")
    won = 1
    while sign_test(won, 0) >= alpha:
        won += 1
    return won


def randomisation_test(differences: NDArray[np.float64], *, seed: int, resamples: int = 10_000) -> float:
    """The paired randomisation test of a mean difference: each sign is flipped by a fair coin.

    Up to thirteen questions that differ, all flips are tried and the p-value is exact; beyond, flips are drawn
    and the p-value is (1 + those at least as far from 0) / (1 + resamples), so it is never 0. Without any
    difference it is 1. Source: Smucker, Allan and Carterette 2007, doi:10.1145/1321440.1321528.

    Args:
        differences: One number a question, shape (questions,); zeros play no part.
        seed: The same seed gives the same p-value.
        resamples: How many flips are drawn.
    """
    moved = np.abs(differences[differences != 0])
    if moved.size == 0:
        return 1.0
    # sums in another order differ in their last bits; what is as far from 0 must count as such
    observed = abs(float(differences.sum())) * (1 - 1e-12)
    if moved.size <= _EXACT_UP_TO:
        flips = np.arange(2**moved.size)[:, None] >> np.arange(moved.size) & 1
        return float(np.mean(np.abs((1 - 2 * flips) @ moved) >= observed))
    generator = np.random.default_rng(seed)
    as_far, block = 0, max(1, _CELLS_AT_ONCE // moved.size)
    for start in range(0, resamples, block):
        flips = generator.integers(0, 2, size=(min(block, resamples - start), moved.size), dtype=np.int8)
        as_far += int(np.count_nonzero(np.abs((1 - 2 * flips) @ moved) >= observed))
    return (1 + as_far) / (1 + resamples)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """p-values adjusted for having tried that many variants, in the order given; none gives none.

    An adjusted value below alpha holds with a chance of alpha for any false find among all of them. Source:
    Holm 1979, Scandinavian Journal of Statistics 6, 65-70.

    Examples:
        >>> holm((0.01, 0.04, 0.03))
        (0.03, 0.06, 0.06)
    """
    count = len(p_values)
    adjusted = [1.0] * count
    highest = 0.0
    for step, index in enumerate(sorted(range(count), key=lambda index: p_values[index])):
        highest = max(highest, min(1.0, (count - step) * p_values[index]))
        adjusted[index] = highest
    return tuple(adjusted)
