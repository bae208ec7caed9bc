"""Any ranking settings over many candidate sets at once, equal to `rag_core.ranking.ranking.rank` to the last bit."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from rag_core.calibration.table import CandidateTable, Flags, Floats, Judgements, SmallIntegers
from rag_core.metrics.kernels import JudgedHits, measure_hits
from rag_core.metrics.measures import Measure
from rag_core.model import Fate, RankingSettings
from rag_core.ranking.fusion import SCALES


class FateCode(IntEnum):
    """A fate as a small number; `ABSENT` where a column holds no candidate."""

    ABSENT = -1
    HIT = 0
    THRESHOLD = 1
    FILE_CAP = 2
    LIMIT = 3


FATES = {
    FateCode.HIT: Fate.HIT,
    FateCode.THRESHOLD: Fate.THRESHOLD,
    FateCode.FILE_CAP: Fate.FILE_CAP,
    FateCode.LIMIT: Fate.LIMIT,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Every case's whole set in order, shape (cases, positions) each.

    `order` is the column of `table` (cut at the settings' depth) at each position, `scores` its fused score,
    `fates` a `FateCode`, `ranks` the rank among the hits or 0. Positions past the last candidate have the
    fate `ABSENT` and the score -inf. `thresholds` is what was in force, -inf where none was.
    """

    table: CandidateTable
    settings: RankingSettings
    order: NDArray[np.int64]
    scores: Floats
    fates: NDArray[np.int8]
    ranks: SmallIntegers
    thresholds: Floats

    def hits(self, judged: Judgements) -> JudgedHits:
        """The hits with their judgements, as measures take them. `judged` must be of this replay's `table`."""
        rows, positions = np.nonzero(self.fates == FateCode.HIT)
        width = int(self.ranks.max(initial=0))
        columns = self.order[rows, positions]
        at = self.ranks[rows, positions] - 1
        relevant = np.zeros((self.table.cases, width), dtype=bool)
        places = np.full((self.table.cases, width), -1, dtype=np.int64)
        relevant[rows, at] = judged.relevant[rows, columns]
        places[rows, at] = self.table.place[rows, columns]
        return JudgedHits(
            relevant=relevant, places=places, expected=judged.expected, limit=self.settings.limit
        )


def replay(table: CandidateTable, settings: RankingSettings) -> Replay:
    """Rank every question of the table as `rag_core.ranking.ranking.rank` would.

    A question without candidates has no position. The table may be deeper than the settings ask for; the
    replay's own table is cut at their depth.
    """
    cut = table.cut(settings.candidates_per_signal)
    present = cut.present
    scores = np.where(present, fused_scores(cut, settings), -np.inf)
    order = np.argsort(-scores, axis=1, kind="stable")
    scores = np.take_along_axis(scores, order, axis=1)
    present = np.take_along_axis(present, order, axis=1)
    thresholds = thresholds_in_force(cut, settings)

    above = present & (scores >= thresholds[:, None])
    kept = above & ~_folded(cut, order, settings.max_per_file)
    ranks = np.cumsum(kept, axis=1, dtype=np.int32) * kept
    fates = np.full(scores.shape, FateCode.HIT, dtype=np.int8)
    fates[ranks > settings.limit] = FateCode.LIMIT
    fates[above & ~kept] = FateCode.FILE_CAP
    fates[~above] = FateCode.THRESHOLD
    fates[~present] = FateCode.ABSENT
    return Replay(
        table=cut,
        settings=settings,
        order=order,
        scores=scores,
        fates=fates,
        ranks=np.where(fates == FateCode.HIT, ranks, 0).astype(np.int32),
        thresholds=thresholds,
    )


def prepare_fusion(table: CandidateTable, settings: RankingSettings) -> CandidateTable:
    """The table cut at the settings' depth with both signals as their fusion scales them.

    Scaling each question's list takes a millisecond or two a question; a table prepared for its scale is replayed
    under any weights as fast as the weighted sum.
    """
    cut = table.cut(settings.candidates_per_signal)
    if SCALES[settings.fusion] is None or settings.scale in cut.scaled:
        return cut
    return cut.with_scaled(settings.scale, *_signals(cut, settings))


def measure_replay(
    table: CandidateTable, judged: Judgements, settings: RankingSettings, measure: Measure
) -> Floats:
    """The value of each case under the settings, shape (cases,); NaN where the measure does not judge it.

    `judged` is of `table`, whatever its depth.
    """
    replayed = replay(table, settings)
    return measure_hits(replayed.hits(carry_over(judged, table, replayed.table)), measure)


def carry_over(judged: Judgements, table: CandidateTable, cut: CandidateTable) -> Judgements:
    """The judgements of `table` for a cut of it."""
    if cut is table:
        return judged
    # a position in a candidate set may lie beyond the columns: what has no evidence has none
    by_source = np.zeros((table.cases, int(table.source.max(initial=0)) + 1), dtype=bool)
    rows, columns = np.nonzero(judged.relevant)
    by_source[rows, table.source[rows, columns]] = True
    relevant = np.take_along_axis(by_source, np.maximum(cut.source, 0), axis=1) & cut.present
    return Judgements(places=judged.places, expected=judged.expected, relevant=relevant)


def thresholds_in_force(table: CandidateTable, settings: RankingSettings) -> Floats:
    """The threshold of each case, -inf where none is in force, shape (cases,)."""
    usual, degraded = (
        -np.inf if threshold is None else threshold
        for threshold in (settings.threshold, settings.threshold_when_degraded)
    )
    return np.where(table.available, usual, degraded)


def fused_scores(table: CandidateTable, settings: RankingSettings) -> Floats:
    """The fused score of every column; columns without a candidate hold a number without meaning.

    The table must be cut at the settings' depth already.
    """
    vector, lexical = _signals(table, settings)
    if not settings.fusion.weighs:
        return vector + lexical
    return settings.weight_vector * vector + settings.weight_lexical * lexical


def linear_signals(table: CandidateTable, settings: RankingSettings) -> tuple[Floats, Floats]:
    """What the fusion weighs: both signals as it scales them, shape (cases, columns) each.

    The table must be cut at the settings' depth already.

    Raises:
        ValueError: The fusion weighs nothing.
    """
    if not settings.fusion.weighs:
        raise ValueError(f"{settings.fusion.name} has no weights")
    return _signals(table, settings)


def _signals(table: CandidateTable, settings: RankingSettings) -> tuple[Floats, Floats]:
    scale = SCALES[settings.fusion]
    if scale is None:
        return table.vector, table.lexical
    if settings.scale in table.scaled:
        return table.scaled[settings.scale]
    vector, lexical = np.zeros(table.place.shape), np.zeros(table.place.shape)
    for case in range(table.cases):
        columns = np.nonzero(table.present[case])[0]
        for scaled, scores, ranks in (
            (vector, table.vector, table.vector_rank),
            (lexical, table.lexical, table.lexical_rank),
        ):
            found = [rank or None for rank in ranks[case, columns].tolist()]
            told = zip(scores[case, columns].tolist(), found, strict=True)
            scaled[case, columns] = scale(
                [None if rank is None else score for score, rank in told], found, settings
            )
    return vector, lexical


def _folded(table: CandidateTable, order: NDArray[np.int64], cap: int | None) -> Flags:
    """Which positions the per-file cap removes: those with `cap` better chunks of their file."""
    columns = np.arange(table.columns, dtype=np.int32)
    if cap is None or not np.any(table.capped & (columns - table.group_start >= cap)):
        return np.zeros(order.shape, dtype=bool)
    # sorted by place again, stably, chunks of a place stand side by side, the best first, where the table's do
    place = np.take_along_axis(table.place, order, axis=1)
    by_place = np.argsort(place, axis=1, kind="stable")
    folded = np.zeros(order.shape, dtype=bool)
    np.put_along_axis(folded, by_place, table.capped & (columns - table.group_start >= cap), axis=1)
    return folded
