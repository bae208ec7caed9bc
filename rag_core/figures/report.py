"""The report's figures: precision at depth, ranks of votes, latency over time and by part, health over time."""

from collections.abc import Sequence
from datetime import datetime
from html import escape

import plotly.graph_objects as go

from rag_core.figures.layout import lay_out, say_empty
from rag_core.figures.palette import BAD, BASELINE, GOOD, LEXICAL, VECTOR, Theme
from rag_core.report.numbers import DEPTHS, Part, Report, SettingsInForce

_NOTHING_JUDGED = "Not measured: no vote in the window"
_NO_SEARCH = "Not measured: no search in the window"


def precision_at_depth(part: Part, theme: Theme) -> go.Figure:
    """Precision at ranks 1, 3, 5 and 10 with 95 % intervals; a depth without a vote has no point."""
    figure = go.Figure()
    # the number of votes stands under the depth, where a narrow page has room for it
    labels = {depth: f"{depth}<br>n = {part.precision[depth].votes:,}" for depth in DEPTHS}
    for depth in DEPTHS:
        precision = part.precision[depth]
        value, interval = precision.value, precision.interval
        if value is None or interval is None:
            continue
        figure.add_scatter(
            x=[labels[depth]],
            y=[value],
            mode="markers",
            marker={"size": 11, "color": GOOD},
            error_y={
                "type": "data",
                "array": [interval.high - value],
                "arrayminus": [value - interval.low],
                "color": GOOD,
            },
            hovertemplate=f"precision@{depth} %{{y:.3f}}<br>{interval.low:.3f} to {interval.high:.3f}"
            f"<br>{precision.useful:,} useful of {precision.votes:,} votes<extra></extra>",
        )
    lay_out(figure, title="Useful votes of all votes, by rank reached", theme=theme, height=300)
    figure.update_xaxes(
        title="hits of this rank or better, and the votes on them",
        type="category",
        categoryorder="array",
        categoryarray=list(labels.values()),
        range=[-0.5, len(DEPTHS) - 0.5],
    )
    figure.update_yaxes(title="useful votes / votes", range=[-0.02, 1.02])
    return figure if figure.data else say_empty(figure, _NOTHING_JUDGED, theme)


def votes_by_rank(report: Report, theme: Theme) -> go.Figure:
    """How many votes fell on each rank, useful above the line, irrelevant below it."""
    figure = go.Figure()
    for verdict, name, colour, sign in (
        ("util", "▲ useful", GOOD, 1),
        ("irrelevante", "▼ irrelevant", BAD, -1),
    ):
        entries = report.ranks[verdict]
        figure.add_bar(
            x=[entry.rank for entry in entries],
            y=[sign * entry.votes for entry in entries],
            customdata=[entry.votes for entry in entries],
            name=name,
            marker={"color": colour},
            hovertemplate=f"rank %{{x}}: %{{customdata:,}} {name[2:]}<extra></extra>",
        )
    lay_out(figure, title="Votes by rank of the hit", theme=theme, height=300, legend=True)
    figure.update_layout(barmode="relative")
    figure.update_xaxes(title="rank among the hits", dtick=1)
    figure.update_yaxes(title="votes: useful up, irrelevant down", zeroline=True, zerolinecolor=theme.ink)
    voted = any(report.ranks[verdict] for verdict in report.ranks)
    return figure if voted else say_empty(figure, _NOTHING_JUDGED, theme)


def latency_over_time(report: Report, theme: Theme) -> go.Figure:
    """p50 and p95 of the whole and p50 of each step, a point a day; marks where settings began."""
    figure = go.Figure()
    days = report.splits["day"]
    lines = (
        ("total", "p50", "total p50", theme.ink, "solid"),
        ("total", "p95", "total p95", theme.ink, "dot"),
        ("embed", "p50", "embedding p50", BASELINE, "solid"),
        ("vector", "p50", "vector p50", VECTOR, "solid"),
        ("lexical", "p50", "lexical p50", LEXICAL, "solid"),
    )
    for step, percentile, name, colour, dash in lines:
        figure.add_scatter(
            x=[key for key, _ in days],
            y=[getattr(part.latency[step], percentile) for _, part in days],
            customdata=[part.latency[step].n for _, part in days],
            mode="lines+markers",
            name=name,
            line={"color": colour, "dash": dash},
            hovertemplate=f"{name} %{{y:.1f}} ms of %{{customdata:,}} searches<br>%{{x}}<extra></extra>",
        )
    lay_out(figure, title="Latency by day", theme=theme, height=320, legend=True)
    figure.update_xaxes(title=f"day ({report.zone})", type="date")
    figure.update_yaxes(title="milliseconds", rangemode="tozero")
    if not days:
        return say_empty(figure, _NO_SEARCH, theme)
    mark_settings(figure, report.mixed_settings, theme)
    return figure


def health_over_time(report: Report, theme: Theme) -> go.Figure:
    """The shares of searches that were degraded and that showed nothing, a point a day."""
    figure = go.Figure()
    days = report.splits["day"]
    for name, colour, symbol, counts in (
        ("degraded", BAD, "x", [part.degraded for _, part in days]),
        ("no hit", BASELINE, "circle", [part.no_hit for _, part in days]),
    ):
        totals = [part.searches for _, part in days]
        figure.add_scatter(
            x=[key for key, _ in days],
            y=[count / total for count, total in zip(counts, totals, strict=True)],
            customdata=list(zip(counts, totals, strict=True)),
            mode="lines+markers",
            name=name,
            line={"color": colour},
            marker={"symbol": symbol},
            hovertemplate=f"{name}: %{{customdata[0]:,}} of %{{customdata[1]:,}}<br>%{{x}}<extra></extra>",
        )
    lay_out(
        figure,
        title="Degraded and no-hit searches, by day",
        theme=theme,
        height=280,
        legend=True,
    )
    figure.update_xaxes(title=f"day ({report.zone})", type="date")
    figure.update_yaxes(title="share of the day's searches", rangemode="tozero", tickformat=".0%")
    if not days:
        return say_empty(figure, _NO_SEARCH, theme)
    mark_settings(figure, report.mixed_settings, theme)
    return figure


def precision_by_part(
    parts: Sequence[tuple[str, Part]], theme: Theme, *, title: str, depth: int = 5
) -> go.Figure:
    """Precision at one depth for each key of a split, with intervals; keys without a vote are named with a dash."""
    figure = go.Figure()
    # Plotly reads a label's < as the beginning of a tag, and a key is somebody's text
    judged = [(escape(key), part.precision[depth]) for key, part in parts]
    labels = [
        f"{key}  (n = {precision.votes:,})" if precision.votes else f"{key}  — not measured"
        for key, precision in judged
    ]
    values = [precision.value for _, precision in judged]
    intervals = [precision.interval for _, precision in judged]
    figure.add_scatter(
        x=values,
        y=labels,
        mode="markers",
        marker={"size": 10, "color": GOOD},
        error_x={
            "type": "data",
            "array": [
                0 if value is None or interval is None else interval.high - value
                for value, interval in zip(values, intervals, strict=True)
            ],
            "arrayminus": [
                0 if value is None or interval is None else value - interval.low
                for value, interval in zip(values, intervals, strict=True)
            ],
            "color": GOOD,
        },
        hovertemplate="%{y}: %{x:.3f}<extra></extra>",
    )
    lay_out(figure, title=title, theme=theme, height=110 + 28 * max(1, len(parts)))
    figure.update_xaxes(title=f"precision@{depth}", range=[-0.02, 1.02])
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=list(reversed(labels)))
    return figure if any(value is not None for value in values) else say_empty(figure, _NOTHING_JUDGED, theme)


def mark_settings(figure: go.Figure, settings: Sequence[SettingsInForce], theme: Theme) -> None:
    """A thin line where each settings' first search lies; nothing for none."""
    for entry in settings:
        figure.add_vline(
            x=_milliseconds(entry.first_at), line={"color": theme.faint, "dash": "dash", "width": 1}
        )


def _milliseconds(time: datetime) -> float:
    return time.timestamp() * 1000.0
