"""The map of weight and threshold as regions: clear where a measure is best, greyer the more cases are lost."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from rag_core.calibration.regions import BANDS, Region, RegionMap
from rag_core.calibration.table import Floats
from rag_core.figures.layout import lay_out, say_empty, unseen_points
from rag_core.figures.palette import GOOD, Theme
from rag_core.figures.setting_marks import LEGEND, SettingMark, marker_of
from rag_core.metrics.intervals import Interval
from rag_core.metrics.measures import Measure

HEIGHT = 430
# of the ink in the paper, a band each
_GREYS = (0.0, 0.10, 0.17, 0.24, 0.31, 0.38, 0.45, 0.52)
_SIDE, _SHOWN_PX = 4000, 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Places of the map that can be hovered over and clicked on: means, shape (weights, thresholds)."""

    weights: Floats
    thresholds: Floats
    values: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """How far a setting can move, one number at a time; None for a threshold that was not chosen."""

    weight: Interval
    threshold: Interval | None


def threshold_map(
    measure: Measure,
    regions: RegionMap | None,
    grid: Grid | None,
    *,
    shown: Interval,
    marks: Sequence[SettingMark],
    margins: Box | None,
    theme: Theme,
) -> go.Figure:
    """The regions as one picture of vectors, settings as marks, the proposal's margins as a green box.

    `regions` is None where the measure judges no case, which the figure then says; `grid` is what hovering
    tells and clicking chooses. `shown` are the thresholds between the lower and the upper edge, a part of those
    that the regions cover. Marks that do not lie in this plane are left out, as are margins; no threshold is
    the lower edge.
    """
    figure = go.Figure()
    title = f"{measure} over weight and threshold: the clearer, the better"
    lay_out(figure, title=title, theme=theme, height=HEIGHT, legend=True)
    figure.update_layout(
        margin_t=40, legend=LEGEND, clickmode="event+select", dragmode=False, hoverdistance=-1
    )
    figure.update_xaxes(title="weight of the vector signal", range=[-0.015, 1.015], showgrid=False)
    figure.update_yaxes(title="threshold (lower edge: none)", showgrid=False)
    if regions is None or grid is None:
        return say_empty(figure, f"Not measured: no case for {measure}", theme)
    air = (shown.high - shown.low) * 0.02
    figure.update_yaxes(range=[shown.low - air, shown.high + air])
    figure.add_layout_image(
        source=regions_picture(regions, theme),
        xref="x",
        yref="y",
        x=0,
        y=regions.high,
        sizex=1,
        sizey=regions.high - regions.low,
        sizing="stretch",
        layer="below",
    )
    _draw_grid(figure, grid)
    if margins is not None:
        _draw_margins(figure, margins, shown)
    for mark in marks:
        if mark.on_map:
            _draw_mark(figure, mark, shown, theme)
    return figure


def regions_picture(regions: RegionMap, theme: Theme) -> str:
    """The regions as an SVG in a data address, made of numbers alone; the best regions have an outline of ink."""
    paths = []
    for band, grey in enumerate(_GREYS):
        shapes = "".join(_path(region, regions) for region in regions.regions if region.band == band)
        if not shapes:
            continue
        fill = mixed(theme.paper, theme.ink, grey)
        # the stroke hides the seams between neighbours
        stroke = f'stroke="{fill}" stroke-width="1"' if band else f'stroke="{theme.ink}" stroke-width="1.6"'
        paths.append(
            (band, f'<path d="{shapes}" fill="{fill}" {stroke} vector-effect="non-scaling-stroke"/>')
        )
    drawn = "".join(path for _, path in sorted(paths, reverse=True))
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_SHOWN_PX}" height="{_SHOWN_PX}" '
        f'viewBox="0 0 {_SIDE} {_SIDE}" preserveAspectRatio="none">{drawn}</svg>'
    )
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def mixed(paper: str, ink: str, share: float) -> str:
    """Two colours mixed, `share` of the second.

    Examples:
        >>> mixed("#000000", "#FFFFFF", 0.5)
        '#808080'
    """
    parts = (
        round(int(paper[at : at + 2], 16) * (1 - share) + int(ink[at : at + 2], 16) * share)
        for at in (1, 3, 5)
    )
    return "#" + "".join(f"{part:02X}" for part in parts)


def told_of_bands(regions: RegionMap, measure: Measure) -> str:
    """What the greys mean, in a sentence."""
    cases = round(regions.best * regions.judged)
    best = (
        f"{cases:,} of {regions.judged:,}"
        if measure.is_share_of_cases
        else f"{regions.best:.3f} (n = {regions.judged:,})"
    )
    fewer = ", ".join(str(band) for band in BANDS[1:])
    unit = "cases fewer" if measure.is_share_of_cases else "cases' worth less"
    return f"Clear, with an outline: {best}, the best anywhere here. Each shade greyer: {fewer} {unit}."


def _path(region: Region, regions: RegionMap) -> str:
    span = regions.high - regions.low
    corners = [
        f"{round(weight * _SIDE)} {round((regions.high - threshold) / span * _SIDE)}"
        for weight, threshold in zip(region.weights, region.thresholds, strict=True)
    ]
    return "M" + "L".join(dict.fromkeys(corners)) + "Z"


def _draw_grid(figure: go.Figure, grid: Grid) -> None:
    figure.add_scatter(
        x=np.repeat(grid.weights, len(grid.thresholds)),
        y=np.tile(grid.thresholds, len(grid.weights)),
        customdata=grid.values.ravel(),
        **unseen_points(size=6),
        name="map",
        hovertemplate="weight %{x:.3f}, threshold %{y:.3f}: %{customdata:.3f}<extra></extra>",
    )


def _draw_margins(figure: go.Figure, margins: Box, shown: Interval) -> None:
    low, high = shown.low, shown.high
    if margins.threshold is not None:
        low, high = max(low, margins.threshold.low), min(high, margins.threshold.high)
    left, right = margins.weight.low, margins.weight.high
    figure.add_scatter(
        x=[left, right, right, left, left],
        y=[low, low, high, high, low],
        mode="lines",
        name="margins of the proposal",
        line={"color": GOOD, "width": 2},
        hoverinfo="skip",
        unselected={"marker": {"opacity": 1}},
    )


def _draw_mark(figure: go.Figure, mark: SettingMark, shown: Interval, theme: Theme) -> None:
    level = shown.low if mark.threshold is None else mark.threshold
    figure.add_scatter(
        x=[mark.weight],
        y=[min(max(level, shown.low), shown.high)],
        mode="markers",
        name=mark.name,
        marker=marker_of(mark.role, theme),
        unselected={"marker": {"opacity": 1}},
        cliponaxis=False,
        hoverinfo="skip",
    )
