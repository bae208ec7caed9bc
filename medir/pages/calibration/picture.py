"""The picture: the exact curve over the weight, and the map of weight and threshold. A click goes there."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np
import pandas as pd
import streamlit as st

from medir.page_kit.figures import draw_figure
from medir.page_kit.plain_text import escaped
from medir.page_kit.signs import DASH, LOST, WON, theme
from medir.pages.calibration.numbers import NO_THRESHOLD, NUMBERS, are_same
from medir.pages.calibration.scene import Scene, marks_of, share_plane
from rag_core.calibration.regions import MOST_REGIONS
from rag_core.calibration.shortfall import fall_short
from rag_core.figures.threshold_map import Box, threshold_map, told_of_bands
from rag_core.figures.weight_curve import NamedCurve, weight_curve
from rag_core.golden.cases import GoldenCase
from rag_core.metrics.intervals import bootstrap_mean, wilson
from rag_core.metrics.kernels import mean
from rag_core.words.plurals import counted
from rag_core.words.ranges import tell_weights
from rag_core.words.settings import threshold_told

Point = Mapping[str, object]
_CURVE, _MAP = "calibration-curve", "calibration-map"
_TABLE_WEIGHTS, _TABLE_THRESHOLDS = 21, 11


def draw_at_hand(scene: Scene) -> None:
    """What the setting at hand reaches, and what it wins and loses, in two lines."""
    measure, values = scene.measure, scene.outcome.values[scene.measure]
    judged = values[~np.isnan(values)]
    n = len(judged)
    interval = None
    if n:
        shares = measure.is_share_of_cases
        interval = wilson(round(float(judged.sum())), n) if shares else bootstrap_mean(judged, seed=0)
    reached = measure.told(mean(values), n)
    count = f"{round(float(judged.sum()))} of {n}, " if measure.is_share_of_cases and n else f"n = {n}, "
    name = next((name for name, start in scene.starts.items() if are_same(start, scene.at_hand)), "a trial")
    with st.container(gap="xxsmall", width="content"):
        st.markdown(
            f"**{LOST} {int(scene.lost.sum())} lost, {WON} {int(scene.won.sum())} won** against {_named(scene)}"
        )
        st.text(
            f"At hand ({name}): {measure} {reached} ({count}95 % {measure.told_span(interval, n)})"
            if n
            else f"At hand ({name}): {measure} not measured, it judges no case"
        )
        unknown = int((~scene.reference.known).sum())
        if unknown:
            st.caption(f"The baseline does not have {counted(unknown, 'case')} of today's set.")


def draw_curve(scene: Scene, tag: str) -> None:
    """The curve with held-out cases as a thin line, the chosen tag as a dotted one, and a table behind it."""
    landscape, threshold = scene.plane.landscape, scene.at_hand.ranking.threshold
    cases = scene.found.golden.cases
    whole = _curve(scene, "all cases", [True] * len(cases))
    held_out = _curve(scene, "held out", [case.split == "holdout" for case in cases])
    tagged = _curve(scene, f"tag {tag}", [tag in case.tags for case in cases]) if tag else None
    safe = landscape.safe_weights(threshold, scene.reference.passes)
    figure = weight_curve(
        scene.measure,
        whole,
        [curve for curve in (held_out, tagged) if curve is not None],
        safe=safe,
        marks=marks_of(scene),
        theme=theme(),
    )
    draw_figure(figure, key=_CURVE, on_point=_take_weight)
    parts = [
        f"At a threshold of {threshold_told(threshold)}. Safe weights, at which nothing is lost that passes in "
        f"{escaped(scene.reference.name)}: {tell_weights(safe)}."
        if scene.baseline is not None
        else f"At a threshold of {threshold_told(threshold)}. Safe weights, at which nothing is lost that passes "
        f"{scene.kept.today}: {tell_weights(safe)}.",
        "Click the curve to go there.",
    ]
    if held_out is None:
        parts.append(
            "No case is held out, so there is no held-out curve: each was left out of one choice in turn."
        )
    st.caption(" ".join(parts))
    if whole is not None and scene.proposal is not None:
        below = fall_short(whole.steps, scene.found.findings.choice)
        if below is not None:
            st.caption(f"Why the proposal is not the highest point: {escaped(below.reason)}")
    if whole is not None:
        curves = [curve for curve in (whole, held_out, tagged) if curve is not None]
        _draw_table("calibration-curve-table", lambda: _curve_rows(curves))


def draw_map(scene: Scene) -> None:
    """The regions, the settings that lie among them, the proposal's margins, and a table behind it."""
    plane, proposal = scene.plane, scene.proposal
    chosen = scene.found.findings.choice.proposal
    lies_here = proposal is not None and share_plane(proposal, scene.at_hand)
    margins = None
    if lies_here and chosen.weight_margin is not None:
        margins = Box(weight=chosen.weight_margin, threshold=chosen.threshold_margin)
    figure = threshold_map(
        scene.measure,
        plane.regions,
        plane.grid,
        shown=scene.shown,
        marks=marks_of(scene),
        margins=margins,
        theme=theme(),
    )
    draw_figure(figure, key=_MAP, on_point=lambda: _take_place(scene))
    if plane.regions is None or plane.grid is None:
        return
    parts = [told_of_bands(plane.regions, scene.measure), "Click to go there."]
    if not plane.regions.exact:
        parts.append(
            f"Simplified, since there are more than {MOST_REGIONS:,} regions: exact in the middle of each of 200 "
            "columns of weights."
        )
    if proposal is not None and not lies_here:
        parts.append(
            "The proposal differs in more than these two numbers, so it lies on another map: start from it."
        )
    st.caption(" ".join(parts))
    _draw_table("calibration-map-table", lambda: _map_rows(scene))


def _named(scene: Scene) -> str:
    if scene.baseline is not None:
        return "the baseline"
    return "the settings from before" if scene.kept.settings_moved else "today's settings"


def _curve(scene: Scene, name: str, chosen: Sequence[bool]) -> NamedCurve | None:
    flags = np.array(chosen, dtype=bool)
    steps = scene.plane.landscape.curve(scene.at_hand.ranking.threshold, cases=flags)
    if steps is None:
        return None
    judged = scene.plane.landscape.map.judged & flags
    return NamedCurve(name=name, steps=steps, cases=int(judged.sum()))


def _curve_rows(curves: Sequence[NamedCurve]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"cases": curve.name, "from weight": low, "to weight": high, "value": value}
            for curve in curves
            for low, high, value in zip(
                curve.steps.ends[:-1].tolist(),
                curve.steps.ends[1:].tolist(),
                curve.steps.inside.tolist(),
                strict=True,
            )
        ]
    )


def _map_rows(scene: Scene) -> pd.DataFrame:
    grid = scene.plane.grid
    if grid is None:
        return pd.DataFrame()
    every_weight = (len(grid.weights) - 1) // (_TABLE_WEIGHTS - 1) or 1
    every_threshold = (len(grid.thresholds) - 1) // (_TABLE_THRESHOLDS - 1) or 1
    names = ["none", *(f"{each:.4g}" for each in grid.thresholds[every_threshold::every_threshold].tolist())]
    table = pd.DataFrame(grid.values[::every_weight, ::every_threshold], columns=pd.Index(names))
    table.insert(0, "weight \\ threshold", grid.weights[::every_weight])
    return table


def _draw_table(key: str, make: Callable[[], pd.DataFrame]) -> None:
    """Made only while it is open: a slider waits for no table that nobody looks at."""
    label, icon = "As a table", ":material/table:"
    with st.popover(label, type="tertiary", icon=icon, key=key, on_change="rerun") as opened:
        if opened.open:
            st.dataframe(make(), key=f"{key}-rows", hide_index=True, placeholder=DASH)


def _points(key: str) -> Sequence[Point]:
    return cast("Sequence[Point]", st.session_state[key]["selection"]["points"])


def _take_weight() -> None:
    """The weight of the point; a second press on the same point changes nothing."""
    points = _points(_CURVE)
    if points:
        NUMBERS.weight.choose(float(cast("float", points[0]["x"])))


def _take_place(scene: Scene) -> None:
    points = _points(_MAP)
    if points:
        weight, threshold = (float(cast("float", points[0][axis])) for axis in ("x", "y"))
        NUMBERS.weight.choose(round(weight, 6))
        NUMBERS.threshold.choose(NO_THRESHOLD if threshold <= scene.shown.low else round(threshold, 6))


def tags_of(cases: Sequence[GoldenCase]) -> list[str]:
    """Every tag of the set, in order."""
    return sorted({tag for case in cases for tag in case.tags})
