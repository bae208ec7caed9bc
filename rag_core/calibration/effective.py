"""How much each signal decides, which the nominal weight does not say."""

from dataclasses import dataclass

import numpy as np

from rag_core.calibration.replay import replay
from rag_core.calibration.table import CandidateTable, Floats
from rag_core.model import RankingSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveWeight:
    """The share of disputed pairs that the fused order decides the vector signal's way.

    `by_case` has shape (cases,), NaN where the signals dispute no pair; `vector` is the mean of the others, None
    where there is none. The lexical signal's is the rest.
    """

    by_case: Floats
    vector: float | None

    @property
    def lexical(self) -> float | None:
        """The lexical signal's share."""
        return None if self.vector is None else 1.0 - self.vector


def effective_weight(table: CandidateTable, settings: RankingSettings) -> EffectiveWeight:
    """Count, over pairs of candidates that the two signals order differently, whose way the fusion goes.

    A signal that did not find a candidate counts as 0; pairs that one signal ties are not disputed. The order
    is that of the whole set, before threshold, cap and limit, with ties broken as ranking breaks them.

    Examples:
        Two candidates, cosines 0.5 and 0.3, lexical 0 and 0.1: at weight 0.6 the fused scores are 0.30 and
        0.22, so the one disputed pair goes the vector's way, and its effective weight is 1.
    """
    replayed = replay(table, settings)
    by_case = np.full(table.cases, np.nan)
    for case in range(table.cases):
        order = replayed.order[case][: int(replayed.table.present[case].sum())]
        vector, lexical = replayed.table.vector[case][order], replayed.table.lexical[case][order]
        # row before column in the fused order: the vector's way when the row has the higher cosine
        vector_way = np.triu(np.sign(vector[:, None] - vector), k=1)
        disputed = vector_way * np.sign(lexical[:, None] - lexical) < 0
        if disputed.any():
            by_case[case] = np.count_nonzero(disputed & (vector_way > 0)) / np.count_nonzero(disputed)
    counted = by_case[~np.isnan(by_case)]
    return EffectiveWeight(by_case=by_case, vector=float(counted.mean()) if counted.size else None)
