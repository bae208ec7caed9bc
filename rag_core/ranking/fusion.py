"""From two signals to one score. Pure; each function maps parallel lists to one list of fused scores.

`None` means that a signal did not find the chunk, and adds nothing. Scores are finite floats; ranks are
1-based. Only the weighted sum uses the scale that thresholds are set on; the others are there to be compared.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence

from rag_core.model import Candidate, Fusion, RankingSettings


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
    return [
        sum(
            1.0 / (settings.rrf_k + rank)
            for rank in (candidate.vector_rank, candidate.lexical_rank)
            if rank is not None
        )
        for candidate in candidates
    ]


def min_max(candidates: Sequence[Candidate], settings: RankingSettings) -> list[float]:
    """The weighted sum of scores scaled to [0, 1] within each signal's own list.

    A list whose scores are all equal (a lone candidate among them) scales to 1, so that a lone find is not
    erased. Source: Fox and Shaw 1994 (TREC-2), the usual normalisation before their CombSUM.
    """
    return _normalised(candidates, settings, Fusion.MIN_MAX)


def z_score(candidates: Sequence[Candidate], settings: RankingSettings) -> list[float]:
    """The weighted sum of standard scores within each signal's own list (population deviation).

    A list without spread scores 0 for all. What a signal did not find takes that list's lowest standard
    score, since 0 would be the list's mean, better than half of what it did find. Source: Montague and
    Aslam 2001, doi:10.1145/502585.502657; the rule for what is missing is ours.
    """
    return _normalised(candidates, settings, Fusion.Z_SCORE)


def fuse(candidates: Sequence[Candidate], settings: RankingSettings) -> list[float]:
    """The fused score of each candidate, in the order given, by `settings.fusion`."""
    return _FUSIONS[settings.fusion](candidates, settings)


def scale_scores(scores: Sequence[float | None], fusion: Fusion) -> list[float]:
    """One signal's list of scores as a fusion scales it before weighing; None where it did not find a candidate.

    Raises:
        ValueError: The fusion scales nothing.
    """
    scale = SCALES[fusion]
    if scale is None:
        raise ValueError(f"{fusion} takes scores as they are")
    return scale(scores)


def _normalised(candidates: Sequence[Candidate], settings: RankingSettings, fusion: Fusion) -> list[float]:
    vector = scale_scores([candidate.vector_score for candidate in candidates], fusion)
    lexical = scale_scores([candidate.lexical_score for candidate in candidates], fusion)
    return [
        settings.weight_vector * v + settings.weight_lexical * x for v, x in zip(vector, lexical, strict=True)
    ]


def _to_unit_interval(scores: Sequence[float | None]) -> list[float]:
    found = [score for score in scores if score is not None]
    if not found:
        return [0.0] * len(scores)
    low, high = min(found), max(found)
    if low == high:
        return [0.0 if score is None else 1.0 for score in scores]
    return [0.0 if score is None else (score - low) / (high - low) for score in scores]


def _to_standard_scores(scores: Sequence[float | None]) -> list[float]:
    # fmean and pstdev round once over exact sums, so that the order of candidates changes nothing
    found = [score for score in scores if score is not None]
    if not found:
        return [0.0] * len(scores)
    mean, spread = statistics.fmean(found), statistics.pstdev(found)
    if spread == 0:
        return [0.0] * len(scores)
    lowest = (min(found) - mean) / spread
    return [lowest if score is None else (score - mean) / spread for score in scores]


SCALES: Mapping[Fusion, Callable[[Sequence[float | None]], list[float]] | None] = {
    Fusion.WEIGHTED_SUM: None,
    Fusion.RRF: None,
    Fusion.MIN_MAX: _to_unit_interval,
    Fusion.Z_SCORE: _to_standard_scores,
}
"""How each fusion scales a signal's list; None where it takes the list as it is."""

_FUSIONS: Mapping[Fusion, Callable[[Sequence[Candidate], RankingSettings], list[float]]] = {
    Fusion.WEIGHTED_SUM: weighted_sum,
    Fusion.RRF: reciprocal_rank,
    Fusion.MIN_MAX: min_max,
    Fusion.Z_SCORE: z_score,
}
