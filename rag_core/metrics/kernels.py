"""The arithmetic of measures on arrays. Nothing here sorts: the ranking shown is the ranking judged.

`relevant` and `places` have shape (questions, hits), in the order shown; a row with fewer hits than the widest
is filled with False and -1. A row without hits is worth 0 wherever an answer is expected.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.metrics.measures import Measure, MeasureKind

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedHits:
    """The hits of many questions with the judgement of each.

    `relevant` says which hits are chunks of an expected place, `places` which hits share one (equal numbers,
    -1 where there is no hit), `expected` how many places each question expects, of which any are enough to
    pass; 0 exactly where nothing should be found. `limit` is how many hits could have been shown.
    """

    relevant: Flags
    places: Integers
    expected: Integers
    limit: int

    def __post_init__(self) -> None:
        if self.relevant.shape != self.places.shape or len(self.expected) != len(self.relevant):
            raise ValueError("there is one judgement a hit and one number of expected places a question")
        if self.relevant.shape[1] > self.limit:
            raise ValueError("no question has more hits than the limit")

    @property
    def no_answer(self) -> Flags:
        """Which questions expect nothing, shape (questions,)."""
        return self.expected == 0


def measure_hits(hits: JudgedHits, measure: Measure) -> Floats:
    """The value of each question, from 0 to 1, shape (questions,); NaN where the measure does not judge it.

    Examples:
        One question that expects one place, found at rank 2 of 3 hits: hit@1 0, hit@5 1, mrr 0.5, p@5 0.2.
    """
    values = _value_of_each(hits, measure)
    return np.where(measure.enters(hits.no_answer), values, np.nan)


def mean(values: Floats) -> float | None:
    """The mean over the questions that are judged, those that are not NaN; None where there is none."""
    judged = values[~np.isnan(values)]
    return float(judged.mean()) if judged.size else None


def first_relevant_rank(relevant: Flags) -> Integers:
    """The rank of the first relevant hit, 0 where there is none, shape (questions,)."""
    if relevant.shape[1] == 0:
        return np.zeros(len(relevant), dtype=np.int64)
    return np.where(relevant.any(axis=1), relevant.argmax(axis=1) + 1, 0)


def gains_of_places(relevant: Flags, places: Integers) -> Flags:
    """The hits reduced to the first chunk of each place with ranks closed up; True for an expected place.

    Shape as given: position j is the place of rank j + 1. Positions past the last place are False.

    Examples:
        Hits of the places a, a, b with b expected: b has rank 2 among places, not 3.
    """
    first = first_of_each_place(places)
    rank = np.cumsum(first, axis=1) - 1
    gains = np.zeros_like(relevant)
    rows, columns = np.nonzero(first & relevant)
    gains[rows, rank[rows, columns]] = True
    return gains


def first_of_each_place(places: Integers) -> Flags:
    """Which hits are the first of their place, shape as given; never where there is no hit."""
    earlier = np.tri(places.shape[1], k=-1, dtype=bool)
    repeated = ((places[:, :, None] == places[:, None, :]) & earlier).any(axis=2)
    return ~repeated & (places >= 0)


def worth_of_hit(measure: Measure, rank: Integers, limit: int) -> Floats:
    """What the first relevant hit at its rank is worth to a measure of hits, shape as given; 0 for rank 0, none.

    Raises:
        ValueError: The measure does not go by the first hit.
    """
    match measure.kind:
        case MeasureKind.PASSED | MeasureKind.HIT:
            worth = np.ones(rank.shape)
        case MeasureKind.MRR:
            worth = 1.0 / np.maximum(rank, 1)
        case MeasureKind.REJECTED | MeasureKind.PRECISION | MeasureKind.RECALL | MeasureKind.NDCG:
            raise ValueError(f"{measure} does not go by the first hit")
    return np.where((rank > 0) & (rank <= min(limit, measure.cutoff or limit)), worth, 0.0)


def worth_of_place(measure: Measure, rank: Integers, expected: Integers, limit: int) -> Floats:
    """What one expected place at its rank among places adds to a measure of places, shape as given.

    The sum over a question's places is the measure's value.

    Args:
        measure: One of places.
        rank: Ranks among places, from 1.
        expected: How many places the question of each expects, at least 1.
        limit: Stands in where the measure has no cut-off.

    Raises:
        ValueError: The measure is none of places.
    """
    k = measure.cutoff or limit
    match measure.kind:
        case MeasureKind.PRECISION:
            worth = np.full(rank.shape, 1.0 / k)
        case MeasureKind.RECALL:
            worth = np.divide(1.0, expected)
        case MeasureKind.NDCG:
            worth = np.divide(np.take(discounts(k), np.minimum(rank, k) - 1), ideal_gain(expected, k))
        case MeasureKind.PASSED | MeasureKind.REJECTED | MeasureKind.HIT | MeasureKind.MRR:
            raise ValueError(f"{measure} does not go by places")
    return np.where(rank <= k, worth, 0.0)


def precision_at(gains: Flags, k: int) -> Floats:
    """Expected places among the first k, divided by k, however few were shown."""
    return gains[:, :k].sum(axis=1) / k


def recall_at(gains: Flags, expected: Integers, k: int) -> Floats:
    """Expected places among the first k, divided by all expected places; 0 where none is expected."""
    return gains[:, :k].sum(axis=1) / np.maximum(expected, 1)


def ndcg_at(gains: Flags, expected: Integers, k: int) -> Floats:
    """Discounted gain of the first k places over that of the ideal order; 0 where none is expected.

    Gain 1, discount log2(rank + 1); the ideal order has all expected places first and is cut at k, whether
    they were found or not. Source: Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418, with the discount
    of Burges et al. 2005, doi:10.1145/1102351.1102363, which for binary gains is that of trec_eval.
    """
    shown = gains[:, :k]
    found = (shown * discounts(shown.shape[1])).sum(axis=1)
    return np.divide(found, ideal_gain(expected, k))


def discounts(count: int) -> Floats:
    """`1 / log2(rank + 1)` for the ranks 1 to `count`."""
    return 1.0 / np.log2(np.arange(2, count + 2))


def ideal_gain(expected: Integers, k: int) -> Floats:
    """Discounted gain of the ideal order cut at k, shape as given; 1 where nothing is expected."""
    reached: Floats = np.concatenate([np.ones(1), np.cumsum(discounts(k))])
    return np.take(reached, np.minimum(expected, k))


def ceilings(measure: Measure, expected: Integers, limit: int) -> Floats:
    """The best value that each question could reach with `limit` hits; NaN where it is not judged.

    Examples:
        One expected place: p@5 reaches 0.2 at most. Three expected places: recall@2 reaches 2/3 at most.
    """
    width = max(1, min(limit, measure.cutoff or limit))
    perfect = np.arange(width)[None, :] < expected[:, None]
    best = JudgedHits(
        relevant=perfect,
        places=np.where(perfect, np.arange(width)[None, :], -1),
        expected=expected,
        limit=limit,
    )
    return measure_hits(best, measure)


def _value_of_each(hits: JudgedHits, measure: Measure) -> Floats:
    silent = np.where((hits.places >= 0).any(axis=1), 0.0, 1.0)
    if not measure.judges_answers:
        return silent
    if measure.uses_places:
        found = _value_of_places(hits, measure)
    else:
        found = worth_of_hit(measure, first_relevant_rank(hits.relevant), hits.limit)
    return np.where(hits.no_answer, silent, found)


def _value_of_places(hits: JudgedHits, measure: Measure) -> Floats:
    gains, k = gains_of_places(hits.relevant, hits.places), measure.cutoff or hits.limit
    match measure.kind:
        case MeasureKind.PRECISION:
            return precision_at(gains, k)
        case MeasureKind.RECALL:
            return recall_at(gains, hits.expected, k)
        case MeasureKind.NDCG:
            return ndcg_at(gains, hits.expected, k)
        case MeasureKind.PASSED | MeasureKind.REJECTED | MeasureKind.HIT | MeasureKind.MRR:
            raise ValueError(f"{measure} does not go by places")
