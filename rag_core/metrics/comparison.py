"""Two settings on the same questions: who won which, by how much, and whether chance could have done it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.metrics.intervals import Interval, bootstrap_mean
from rag_core.metrics.significance import ALPHA, randomisation_test, sign_test

# two values of a measure that differ by less are the same value summed in another order
SAME = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A new setting against an old one over `n` paired questions.

    `difference` is the new mean less the old: positive is better. Its interval is the paired bootstrap's at
    95 %. `p_value` is the paired randomisation test's, `sign_p_value` the exact sign test's over `won` and
    `lost`.
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
    sign_p_value: float

    @property
    def distinguishable(self) -> bool:
        """Whether chance alone would make such a difference in fewer than 5 of 100 cases."""
        return self.p_value < ALPHA


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """The values of questions that two runs share, by id, and the ids that only one of them has."""

    ids: tuple[str, ...]
    new: NDArray[np.float64]
    old: NDArray[np.float64]
    only_new: tuple[str, ...]
    only_old: tuple[str, ...]


def pair(new: Mapping[str, float], old: Mapping[str, float]) -> Paired:
    """Pair two runs by question. A difference is taken over pairs only, never of two different averages.

    The order is that of `new`. Ids must name the same question in both: use `GoldenCase.digest`, or ids that
    were checked.
    """
    ids = tuple(key for key in new if key in old)
    return Paired(
        ids=ids,
        new=np.array([new[key] for key in ids], dtype=np.float64),
        old=np.array([old[key] for key in ids], dtype=np.float64),
        only_new=tuple(key for key in new if key not in old),
        only_old=tuple(key for key in old if key not in new),
    )


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
        sign_p_value=sign_test(won, lost),
    )
