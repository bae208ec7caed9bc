"""A fusion as people see it: its name, and the thresholds that are worth trying on its scale."""

from collections.abc import Mapping

from rag_core.model import Fusion

FUSION_NAMES: Mapping[str, str] = {
    Fusion.WEIGHTED_SUM: "weighted sum",
    Fusion.RRF: "RRF",
    Fusion.MIN_MAX: "min-max",
    Fusion.Z_SCORE: "z-score",
}

THRESHOLD_SCALES: Mapping[Fusion, tuple[float, float]] = {
    Fusion.WEIGHTED_SUM: (1.0, 0.005),
    Fusion.RRF: (0.05, 0.0005),
    Fusion.MIN_MAX: (1.0, 0.005),
    Fusion.Z_SCORE: (5.0, 0.01),
}
"""The highest threshold that is worth trying on each fusion's scale, and how finely."""
