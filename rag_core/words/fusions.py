"""A fusion as people see it: its name, and the thresholds that are worth trying on its scale."""

import math
from collections.abc import Mapping

from rag_core.model import Fusion, RankingSettings

FUSION_NAMES: Mapping[str, str] = {
    Fusion.WEIGHTED_SUM: "weighted sum",
    Fusion.RRF: "RRF",
    Fusion.WEIGHTED_RRF: "weighted RRF",
    Fusion.MIN_MAX: "min-max",
    Fusion.Z_SCORE: "z-score",
}

K_HELP = "A rank is worth 1 / (k + rank): the lower k, the more the first ranks count."

THRESHOLD_SCALES: Mapping[Fusion, tuple[float, float]] = {
    Fusion.WEIGHTED_SUM: (1.0, 0.005),
    Fusion.RRF: (2.0, 0.02),
    Fusion.WEIGHTED_RRF: (1.0, 0.01),
    Fusion.MIN_MAX: (1.0, 0.005),
    Fusion.Z_SCORE: (5.0, 0.01),
}
"""The highest threshold that is worth trying on each fusion's scale, and how finely.

Those of a fusion with a k are in units of what a first rank is worth, `1 / (k + 1)`.
"""


def threshold_scale(settings: RankingSettings) -> tuple[float, float]:
    """The highest threshold that is worth trying, and a round step.

    Examples:
        >>> threshold_scale(RankingSettings(weight_vector=1, weight_lexical=0, threshold=None, fusion=Fusion.RRF))
        (0.0328, 0.0001)
    """
    highest, step = THRESHOLD_SCALES[settings.fusion]
    if not settings.fusion.takes_k:
        return highest, step
    digits = math.ceil(-math.log10(step / (settings.rrf_k + 1)))
    return round(highest / (settings.rrf_k + 1), digits), 10.0**-digits
