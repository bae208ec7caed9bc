"""How far a number may be from the truth: intervals of a share and of a mean difference."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Z_95 = 1.959964
_CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """Two numbers, the lower first, both part of the interval."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError("an interval's lower end comes first")


def wilson(successes: int, total: int) -> Interval | None:
    """The 95 % interval of a share; None where nothing was counted.

    Source: Wilson 1927, doi:10.1080/01621459.1927.10502953, with z = 1.959964 and no continuity correction.

    Raises:
        ValueError: There are more successes than there were trials, or fewer than none.

    Examples:
        0 of 10 lies between 0 and 0.2775; 10 of 10 between 0.7225 and 1.
    """
    if not 0 <= successes <= total:
        raise ValueError(f"{successes} successes of {total}")
    if total == 0:
        return None
    share, z2 = successes / total, Z_95 * Z_95
    centre = (share + z2 / (2 * total)) / (1 + z2 / total)
    reach = Z_95 / (1 + z2 / total) * ((share * (1 - share) + z2 / (4 * total)) / total) ** 0.5
    low = 0.0 if successes == 0 else max(0.0, centre - reach)
    high = 1.0 if successes == total else min(1.0, centre + reach)
    return Interval(low, high)


def difference_of_shares(successes: int, total: int, before: int, of: int) -> Interval | None:
    """The 95 % interval of a share less another, independent one; None where either counted nothing.

    The two Wilson intervals combined. Source: Newcombe 1998, Statistics in Medicine 17, 873 to 890, method 10, without
    continuity correction. Fair from about 20 of each; of fewer it is too sure of itself.

    Examples:
        56 of 70 less 48 of 80 lies between 0.0524 and 0.3339, as in Newcombe's table II.
    """
    now, then = wilson(successes, total), wilson(before, of)
    if now is None or then is None:
        return None
    share, other = successes / total, before / of
    below = ((share - now.low) ** 2 + (then.high - other) ** 2) ** 0.5
    above = ((now.high - share) ** 2 + (other - then.low) ** 2) ** 0.5
    return Interval(share - other - below, share - other + above)


def bootstrap_mean(
    values: "NDArray[np.float64]", *, seed: int, resamples: int = 10_000, level: float = 0.95
) -> Interval | None:
    """The percentile bootstrap interval of a mean; None for no value.

    Given the differences of paired questions it is the paired bootstrap: a question is drawn with both its
    values. Source: Efron and Tibshirani 1993, chapter 13; for retrieval Sakai 2006,
    doi:10.1145/1148170.1148261.

    Args:
        values: One number a question, shape (questions,).
        seed: The same seed gives the same interval.
        resamples: How often as many questions are drawn with replacement.
        level: The share of resampled means that lie within.
    """
    # a tenth of a second to load, which a report of votes, with Wilson's intervals alone, does not wait for
    import numpy as np  # noqa: PLC0415

    if values.size == 0:
        return None
    generator = np.random.default_rng(seed)
    means = np.empty(resamples)
    block = max(1, _CELLS_AT_ONCE // values.size)
    for start in range(0, resamples, block):
        count = min(block, resamples - start)
        drawn = generator.integers(0, values.size, size=(count, values.size))
        means[start : start + count] = values[drawn].mean(axis=1)
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(low), float(high))
