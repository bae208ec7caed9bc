"""How the report's latencies are spread: percentiles by step, and the cumulative curve."""

import plotly.graph_objects as go

from rag_core.figures.layout import lay_out, say_empty
from rag_core.figures.palette import BASELINE, LEXICAL, VECTOR, Theme
from rag_core.report.making import LatencyCurve
from rag_core.report.numbers import STEPS, Part

_NO_SEARCH = "Not measured: no search that was not degraded"
_SIGNS = (("p50", "circle"), ("p95", "diamond"), ("p99", "line-ns-open"))
STEP_NAMES = {
    "total": "total",
    "embed": "embedding",
    "vector": "vector",
    "lexical": "lexical",
    "rank": "ranking",
}


def latency_by_step(part: Part, theme: Theme) -> go.Figure:
    """p50, p95 and p99 of each step on one scale; a percentile of too few searches has no point."""
    figure = go.Figure()
    inks = {"total": theme.ink, "embed": BASELINE, "vector": VECTOR, "lexical": LEXICAL, "rank": theme.ink}
    for percentile, symbol in _SIGNS:
        values = [getattr(part.latency[step], percentile) for step in STEPS]
        if all(value is None for value in values):
            continue
        figure.add_scatter(
            x=values,
            y=[STEP_NAMES[step] for step in STEPS],
            customdata=[part.latency[step].n for step in STEPS],
            mode="markers",
            name=percentile,
            marker={
                "size": 11,
                "symbol": symbol,
                "color": [inks[step] for step in STEPS],
                "line": {"width": 2, "color": [inks[step] for step in STEPS]},
            },
            hovertemplate=f"%{{y}} {percentile} %{{x:.1f}} ms of %{{customdata:,}} searches<extra></extra>",
        )
    lay_out(figure, title="Latency of each step", theme=theme, height=300, legend=True)
    figure.update_xaxes(title="milliseconds", rangemode="tozero")
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=[STEP_NAMES[step] for step in reversed(STEPS)]
    )
    return figure if figure.data else say_empty(figure, _NO_SEARCH, theme)


def cumulative_latency(curve: LatencyCurve, theme: Theme) -> go.Figure:
    """The share of searches that took no longer than so many milliseconds, with the median and p95 named."""
    figure = go.Figure()
    figure.add_scatter(
        x=[milliseconds for milliseconds, _ in curve.points],
        y=[share for _, share in curve.points],
        # markers can be selected, and a line can't
        mode="lines+markers",
        line={"color": theme.ink},
        marker={"size": 4, "color": theme.ink},
        hovertemplate="%{y:.0%} took no longer than %{x:.1f} ms<extra></extra>",
    )
    lay_out(
        figure,
        title=f"Searches answered within so many milliseconds (n = {curve.n:,})",
        theme=theme,
        height=300,
    )
    figure.update_xaxes(title="milliseconds", rangemode="tozero")
    figure.update_yaxes(title="share of searches", range=[0, 1.02], tickformat=".0%")
    if not curve.points:
        return say_empty(figure, _NO_SEARCH, theme)
    for share, name in ((0.5, "p50"), (0.95, "p95")):
        figure.add_hline(
            y=share,
            line={"color": theme.ink, "dash": "dot", "width": 0.7},
            annotation={"text": name, "font": {"color": theme.ink}},
            annotation_position="bottom right",
        )
    return figure
