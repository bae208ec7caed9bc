"""Two settings on the same questions: who won which, by how much, and whether chance could have done it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.metrics.intervals import Interval, bootstrap_mean
from rag_core.metrics.significance import randomisation_test

# two values of a measure that differ by less are the same value summed in another order
SAME = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A new setting against an old one over `n` paired questions.

    `difference` is the new mean less the old: positive is better. Its interval is the paired bootstrap's at
    95 %. `p_value` is the paired randomisation test's.
    """

    n: int
    won: int
    lost: int
    tied: int
    new: float
    old: float
    difference: float
    interval: Interval
    p_value: float


def compare(
    new: NDArray[np.float64], old: NDArray[np.float64], *, seed: int, resamples: int = 10_000
) -> Comparison | None:
    """Compare the values of the same questions, shape (questions,) each; None without a judged question.

    A question that is NaN, not judged by the measure, is left out; it must be so in both.

    Raises:
        ValueError: The shapes differ, or one of a pair is judged and the other is not.
    """
    if new.shape != old.shape or np.any(np.isnan(new) != np.isnan(old)):
        raise ValueError("values are compared question by question, judged in both or in neither")
    judged = ~np.isnan(new)
    new, old = new[judged], old[judged]
    differences = np.where(np.abs(new - old) < SAME, 0.0, new - old)
    interval = bootstrap_mean(differences, seed=seed, resamples=resamples)
    if interval is None:
        return None
    won, lost = int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    return Comparison(
        n=len(differences),
        won=won,
        lost=lost,
        tied=len(differences) - won - lost,
        new=float(new.mean()),
        old=float(old.mean()),
        difference=float(differences.mean()),
        interval=interval,
        p_value=randomisation_test(differences, seed=seed, resamples=resamples),
    )
