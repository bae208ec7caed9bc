"""Both errors over the threshold: answers missed, and citations where there is nothing to cite."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from rag_core.calibration.exact.steps import ThresholdSteps
from rag_core.calibration.trade import Trade
from rag_core.figures.layout import lay_out, say_empty
from rag_core.figures.palette import BAD, GOOD, Theme
from rag_core.figures.setting_marks import LEGEND

HEIGHT = 340


def threshold_errors(trade: Trade, *, threshold: float | None, high: float, theme: Theme) -> go.Figure:
    """Two step lines in vermilion, their cost in ink, the cheapest thresholds as a green band, the one at hand.

    An error without a case of its kind is left out. No threshold is the left edge; `high` is where the axis
    ends.
    """
    figure = go.Figure()
    low = min(0.0, float(trade.cost.ends.min(initial=0.0)))
    for name, steps, total, dash in (
        ("✗ answers missed", trade.missed, trade.answerable, "solid"),
        ("✗ wrong citations", trade.wrong, trade.no_answer, "dot"),
    ):
        if total:
            line = {"color": BAD, "dash": dash, "width": 2}
            _draw(figure, f"{name}, of {total:,}", steps, span=(low, high), line=line)
    both = bool(trade.answerable and trade.no_answer)
    if both:
        cost = f"cost at a price of {trade.price:g}"
        line = {"color": theme.ink, "dash": "solid", "width": 1.2}
        _draw(figure, cost, trade.cost, span=(low, high), line=line)
    lay_out(figure, title="Both errors over the threshold", theme=theme, height=HEIGHT, legend=True)
    figure.update_layout(margin_t=40, legend=LEGEND)
    figure.update_xaxes(title="threshold (left edge: none)", range=[low, high])
    figure.update_yaxes(title="cases", rangemode="tozero")
    if both and trade.separable:
        left, right = max(low, trade.best.low), min(high, trade.best.high)
        figure.add_vrect(x0=left, x1=right, fillcolor=GOOD, opacity=0.15, line_width=0, layer="below")
    figure.add_vline(x=low if threshold is None else threshold, line={"color": theme.ink, "width": 1})
    return figure if figure.data else say_empty(figure, "Not measured: no case", theme)


def _draw(
    figure: go.Figure,
    name: str,
    steps: ThresholdSteps,
    *,
    span: tuple[float, float],
    line: Mapping[str, object],
) -> None:
    low, high = span
    ends = steps.ends[(steps.ends > low) & (steps.ends < high)]
    edges = np.concatenate([[low], ends, [high]])
    # the value on an interval is the value at its upper end
    values = steps.values(edges[1:]).tolist()
    figure.add_scatter(
        x=edges.tolist(),
        y=[*values, values[-1]],
        mode="lines",
        name=name,
        line={**line, "shape": "hv"},
        hovertemplate=f"{name}: %{{y:g}} at %{{x:.4g}}<extra></extra>",
    )
