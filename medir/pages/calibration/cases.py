"""Cases that the setting at hand loses, wins, or nearly loses, each with the exact numbers at which it turns."""

import numpy as np
import pandas as pd
import streamlit as st

from medir.page_kit.signs import DASH, FATES, LOST, PASSED, WON
from medir.pages.calibration.scene import Scene
from rag_core.calibration.landscape import Turns
from rag_core.figures.palette import BAD, GOOD
from rag_core.search.excerpts import cut_short
from rag_core.words.numbers import percentage

_NEAREST = 12
_CELL_CHARS = 200
_ROW_PX, _ROWS_AT_ONCE = 35, 16
_INKS = {WON: GOOD, PASSED: GOOD, LOST: BAD}


def draw_cases(scene: Scene) -> None:
    """Lost cases, then won ones, then those nearest to being lost, the smallest margin first."""
    ranking, span = scene.at_hand.ranking, scene.plane.shown
    turns = scene.plane.landscape.turns(ranking.weight_vector, ranking.threshold)
    distances = turns.distances(ranking.weight_vector, ranking.threshold, low=span.low, high=span.high)
    by_distance: list[int] = np.argsort(distances, kind="stable").tolist()
    lost = [case for case in by_distance if scene.lost[case]]
    won = [case for case in by_distance if scene.won[case]]
    near = [
        case
        for case in by_distance
        if scene.outcome.passes[case] and not scene.won[case] and np.isfinite(distances[case])
    ]
    if not lost and not won:
        st.text("No case is won or lost against what it is compared with.")
    else:
        rows = [_row(scene, turns, float(distances[case]), case, LOST) for case in lost]
        rows += [_row(scene, turns, float(distances[case]), case, WON) for case in won]
        _draw("calibration-turned", rows)
    st.markdown("**Nearly lost**, the smallest margin first")
    if near:
        _draw(
            "calibration-near",
            [_row(scene, turns, float(distances[case]), case, PASSED) for case in near[:_NEAREST]],
        )
    else:
        st.text("No passing case turns at any weight or threshold.")
    st.caption(
        "A case turns at the weight named while the threshold stays, and at the threshold named while the weight "
        "stays. The margin is the nearer of the two, as a share of the map's width or height."
    )


def _draw(key: str, rows: list[dict[str, object]]) -> None:
    st.dataframe(
        pd.DataFrame(rows).style.map(_ink, subset=[""]),
        key=key,
        hide_index=True,
        placeholder=DASH,
        height=_ROW_PX * (min(len(rows), _ROWS_AT_ONCE) + 1) + 3,
        column_config={
            "": st.column_config.TextColumn("", width=50),
            "case": st.column_config.TextColumn("case", width=170),
            "margin": st.column_config.TextColumn("margin", width=70),
            "turns at weight": st.column_config.TextColumn(
                "turns at weight", width=120, help="The nearest weight at which its verdict turns."
            ),
            "turns at threshold": st.column_config.TextColumn(
                "turns at threshold",
                width=130,
                help="With an answer it passes up to there, without one only above.",
            ),
            "now": st.column_config.TextColumn("now", width=100, help="What became of its best right chunk."),
            "question": st.column_config.TextColumn("question", width="large"),
        },
    )


def _row(scene: Scene, turns: Turns, distance: float, case: int, sign: str) -> dict[str, object]:
    golden, weight = scene.found.golden.cases[case], scene.at_hand.ranking.weight_vector
    return {
        "": {LOST: f"{LOST} lost", WON: f"{WON} won"}.get(sign, sign),
        "case": golden.id,
        "margin": percentage(distance, 200) if np.isfinite(distance) else DASH,
        "turns at weight": _nearest(weight, float(turns.below[case]), float(turns.above[case])),
        "turns at threshold": DASH if np.isnan(turns.threshold[case]) else f"{turns.threshold[case]:.5f}",
        "now": _fate(scene, case),
        "question": cut_short(golden.question, at_most=_CELL_CHARS),
    }


def _nearest(weight: float, below: float, above: float) -> str:
    """The nearer of two weights and on which side it lies; a dash where the verdict turns at none."""
    ways = [(abs(weight - end), sign, end) for sign, end in (("↓", below), ("↑", above)) if not np.isnan(end)]
    if not ways:
        return DASH
    _, sign, end = min(ways)
    return f"{sign} {end:.5f}"


def _fate(scene: Scene, case: int) -> str:
    if scene.found.golden.cases[case].no_answer:
        return "nothing shown" if scene.outcome.passes[case] else "has hits"
    fate = scene.outcome.fates[case]
    return "in neither list" if fate is None else FATES[fate]


def _ink(sign: str) -> str:
    colour = _INKS.get(sign[:1])
    return f"color: {colour}; font-weight: 600" if colour else ""
