"""How many golden cases passed, run after run, over the floor that they may not fall under."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import plotly.graph_objects as go

from rag_core.figures.layout import lay_out, say_empty
from rag_core.figures.palette import BAD, BASELINE, GOOD, Theme


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorPoint:
    """One run: when, how many passed of how many, and the floor it was held to."""

    at: datetime
    passed: int
    total: int
    floor: int
    gate_passed: bool


def floor_history(points: Sequence[FloorPoint], theme: Theme) -> go.Figure:
    """A line of cases passed over time (UTC), oldest first, with the floor as a grey dashed step under it."""
    figure = go.Figure()
    times = [point.at for point in points]
    figure.add_scatter(
        x=times,
        y=[point.floor for point in points],
        mode="lines+markers" if len(points) == 1 else "lines",
        name="floor",
        line={"color": BASELINE, "dash": "dash", "shape": "hv"},
        hovertemplate="floor %{y}<extra></extra>",
    )
    figure.add_scatter(
        x=times,
        y=[point.passed for point in points],
        mode="lines+markers",
        name="passed",
        line={"color": theme.ink},
        marker={
            "size": 9,
            "color": [GOOD if point.gate_passed else BAD for point in points],
            "symbol": ["circle" if point.gate_passed else "x" for point in points],
        },
        customdata=[point.total for point in points],
        hovertemplate="%{y} of %{customdata} pass<br>%{x}<extra></extra>",
    )
    lay_out(figure, title="Cases passed in each run, over the floor", theme=theme, height=280, legend=True)
    figure.update_xaxes(title="time of the run (UTC)", range=_span(times))
    highest = max((max(point.total, point.floor) for point in points), default=1)
    figure.update_yaxes(title="cases", range=[0, highest * 1.06], rangemode="tozero", tickformat="d")
    return figure if points else say_empty(figure, "No run yet", theme)


def _span(times: Sequence[datetime]) -> list[datetime] | None:
    """From before the first run to after the last, at least an hour, so that a lone run has a date to stand on."""
    if not times:
        return None
    edge = max((times[-1] - times[0]) * 0.04, timedelta(minutes=30))
    return [times[0] - edge, times[-1] + edge]
