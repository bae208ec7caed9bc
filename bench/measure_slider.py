"""How long a slider of the Calibration page takes to answer: one replay with every measure, curve, turns, figures.

python bench/measure_slider.py
"""

import argparse
import os
from datetime import UTC, datetime

import numpy as np

from material import TOP
from measure_exact_curve import REPEATS, fastest, synthetic
from rag_core.calibration.choice.families import Variant
from rag_core.calibration.findings import measures_shown
from rag_core.calibration.landscape import build_landscape
from rag_core.calibration.regions import draw_regions, sample_map
from rag_core.calibration.table import build_table, judge_places
from rag_core.figures.palette import LIGHT
from rag_core.figures.setting_marks import SettingMark
from rag_core.figures.threshold_map import Grid, threshold_map
from rag_core.figures.weight_curve import NamedCurve, weight_curve
from rag_core.metrics.intervals import Interval
from rag_core.metrics.measures import PASSED
from rag_core.model import LexicalWay, RankingSettings

LIMIT_S = 0.1


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--questions", type=int, default=1000)
    arguments.add_argument("--candidates", type=int, default=200)
    given = arguments.parse_args()
    found, expected = synthetic(given.questions, given.candidates)
    table = build_table(found)
    variant = Variant(
        lexical=LexicalWay(),
        table=table,
        judged=judge_places(table, expected),
    )
    settings = RankingSettings(
        weight_vector=0.6, weight_lexical=0.4, threshold=0.1, candidates_per_signal=given.candidates
    )
    landscape = build_landscape(variant, settings, PASSED)
    span = Interval(0.0, landscape.thresholds.high)
    regions = draw_regions(landscape.map, low=span.low, high=span.high)
    weights, thresholds = np.linspace(0, 1, 51), np.linspace(span.low, span.high, 21)
    grid = Grid(weights=weights, thresholds=thresholds, values=sample_map(landscape.map, weights, thresholds))
    mark = SettingMark(role="at hand", name="at hand", weight=0.6, threshold=0.1, value=0.5)
    measures = measures_shown(settings.limit, PASSED)

    def curve() -> NamedCurve:
        steps = landscape.curve(0.1)
        if steps is None:
            raise SystemExit("no case is judged")
        return NamedCurve(name="all cases", steps=steps, cases=given.questions)

    def figures() -> None:
        weight_curve(PASSED, curve(), [], safe=[], marks=[mark], theme=LIGHT)
        threshold_map(PASSED, regions, grid, shown=span, marks=[mark], margins=None, theme=LIGHT)

    moving = (
        ("one replay, judged by all nine measures", lambda: landscape.outcome(settings, measures)),
        ("the exact curve over the weight", curve),
        ("where every case turns", lambda: landscape.turns(0.6, 0.1)),
    )
    times = [(name, fastest(work)) for name, work in moving]
    answer_s = sum(seconds for _, seconds in times)
    once = (
        (
            "following every case (another depth, cap, limit or fusion)",
            lambda: build_landscape(variant, settings, PASSED),
        ),
        ("the regions of the map", lambda: draw_regions(landscape.map, low=span.low, high=span.high)),
    )
    rows = [
        *times,
        ("**the answer to a slider**", answer_s),
        ("both figures, built for the browser", fastest(figures)),
        *((f"once a family: {name}", fastest(work)) for name, work in once),
    ]
    lines = [
        "# A slider of the Calibration page",
        "",
        f"Written by `bench/measure_slider.py` on {datetime.now(UTC):%Y-%m-%d}: {given.questions:,} cases,",
        f"{given.candidates} candidates a signal, the fastest of {REPEATS} runs on {os.cpu_count()} cores.",
        "",
        "| what | ms |",
        "|---|---|",
        *(f"| {name} | {1000 * seconds:,.1f} |" for name, seconds in rows),
    ]
    text = "\n".join(lines) + "\n"
    (TOP / "bench" / "results" / "slider.md").write_text(text, encoding="utf-8")
    print(text)
    return int((given.questions, given.candidates) == (1000, 200) and answer_s >= LIMIT_S)


if __name__ == "__main__":
    raise SystemExit(main())
