"""From two signals to one score. Pure; each function maps parallel lists to one list of fused scores.

`None` means that a signal did not find the chunk, and adds nothing. Scores are finite floats; ranks are
1-based. Only the weighted sum uses the scale that thresholds are set on; the others are there to be compared.
Every other fusion first turns each signal's list into values, from its scores or from its ranks, and then adds
the two values of a candidate, weighed or not.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence

from rag_core.model import Candidate, Fusion, RankingSettings

Scale = Callable[[Sequence[float | None], Sequence[int | None], RankingSettings], list[float]]
"""One signal's scores and ranks, both None where it did not find a candidate, to what the fusion adds."""


def weighted_sum(candidates: Sequence[Candidate], settings: RankingSettings) -> list[float]:
    """`weight_vector * vector_score + weight_lexical * lexical_score` for each candidate.

    Examples:
        A cosine of 0.5 and a lexical score of 0.1 under 0.6 and 0.4 give 0.3 + 0.04 = 0.34.
    """
    return [
        settings.weight_vector * (candidate.vector_score or 0.0)
        + settings.weight_lexical * (candidate.lexical_score or 0.0)
        for candidate in candidates
    ]


def reciprocal_rank(candidates: Sequence[Candidate], settings: RankingSettings) -> list[float]:
    """Sum of `1 / (k + rank)` over the signals that found the candidate; weights play no part.

    Source: Cormack, Clarke, Büttcher 2009, doi:10.1145/1571941.1572114; their k is 60.
    """
    vector, lexical = _values(candidates, settings, _to_reciprocal_ranks)
    return [v + x for v, x in zip(vector, lexical, strict=True)]


def weighted_reciprocal_rank(candidates: Sequence[Candidate], settings: RankingSettings) -> list[float]:
    """Sum of `weight / (k + rank)` over the signals that found the candidate.

    The lower k, the more the first ranks count. Scores are not scaled: the best possible is `1 / (k + 1)` where
    the weights add up to 1. Source: the formula of `reciprocal_rank` with a weight for each list, as search
    engines offer it (Upstash's `$rrf`, Google's `ReciprocalRankFusion`).

    Examples:
        Rank 1 by vector and 3 lexically under 0.75 and 0.25 with k = 1 give 0.75 / 2 + 0.25 / 4 = 0.4375.
    """
    return _weighed(candidates, settings, _to_reciprocal_ranks)


def min_max(candidates: Sequence[Candidate], settings: RankingSettings) -> list[float]:
    """The weighted sum of scores scaled to [0, 1] within each signal's own list.

    A list whose scores are all equal (a lone candidate among them) scales to 1, so that a lone find is not
    erased. Source: Fox and Shaw 1994 (TREC-2), the usual normalisation before their CombSUM.
    """
    return _weighed(candidates, settings, _to_unit_interval)


def z_score(candidates: Sequence[Candidate], settings: RankingSettings) -> list[float]:
    """The weighted sum of standard scores within each signal's own list (population deviation).

    A list without spread scores 0 for all. What a signal did not find takes that list's lowest standard
    score, since 0 would be the list's mean, better than half of what it did find. Source: Montague and
    Aslam 2001, doi:10.1145/502585.502657; the rule for what is missing is ours.
    """
    return _weighed(candidates, settings, _to_standard_scores)


def fuse(candidates: Sequence[Candidate], settings: RankingSettings) -> list[float]:
    """The fused score of each candidate, in the order given, by `settings.fusion`."""
    return _FUSIONS[settings.fusion](candidates, settings)


def _weighed(candidates: Sequence[Candidate], settings: RankingSettings, scale: Scale) -> list[float]:
    vector, lexical = _values(candidates, settings, scale)
    return [
        settings.weight_vector * v + settings.weight_lexical * x for v, x in zip(vector, lexical, strict=True)
    ]


def _values(
    candidates: Sequence[Candidate], settings: RankingSettings, scale: Scale
) -> tuple[list[float], list[float]]:
    vector = scale(
        [candidate.vector_score for candidate in candidates],
        [candidate.vector_rank for candidate in candidates],
        settings,
    )
    lexical = scale(
        [candidate.lexical_score for candidate in candidates],
        [candidate.lexical_rank for candidate in candidates],
        settings,
    )
    return vector, lexical


def _to_reciprocal_ranks(
    _scores: Sequence[float | None], ranks: Sequence[int | None], settings: RankingSettings
) -> list[float]:
    return [0.0 if rank is None else 1.0 / (settings.rrf_k + rank) for rank in ranks]


def _to_unit_interval(
    scores: Sequence[float | None], _ranks: Sequence[int | None], _settings: RankingSettings
) -> list[float]:
    found = [score for score in scores if score is not None]
    if not found:
        return [0.0] * len(scores)
    low, high = min(found), max(found)
    if low == high:
        return [0.0 if score is None else 1.0 for score in scores]
    return [0.0 if score is None else (score - low) / (high - low) for score in scores]


def _to_standard_scores(
    scores: Sequence[float | None], _ranks: Sequence[int | None], _settings: RankingSettings
) -> list[float]:
    # fmean and pstdev round once over exact sums, so that the order of candidates changes nothing
    found = [score for score in scores if score is not None]
    if not found:
        return [0.0] * len(scores)
    mean, spread = statistics.fmean(found), statistics.pstdev(found)
    if spread == 0:
        return [0.0] * len(scores)
    lowest = (min(found) - mean) / spread
    return [lowest if score is None else (score - mean) / spread for score in scores]


SCALES: Mapping[Fusion, Scale | None] = {
    Fusion.WEIGHTED_SUM: None,
    Fusion.RRF: _to_reciprocal_ranks,
    Fusion.WEIGHTED_RRF: _to_reciprocal_ranks,
    Fusion.MIN_MAX: _to_unit_interval,
    Fusion.Z_SCORE: _to_standard_scores,
}
"""What each fusion makes of a signal's list before it adds; None where it adds the scores as they are."""

_FUSIONS: Mapping[Fusion, Callable[[Sequence[Candidate], RankingSettings], list[float]]] = {
    Fusion.WEIGHTED_SUM: weighted_sum,
    Fusion.RRF: reciprocal_rank,
    Fusion.WEIGHTED_RRF: weighted_reciprocal_rank,
    Fusion.MIN_MAX: min_max,
    Fusion.Z_SCORE: z_score,
}
