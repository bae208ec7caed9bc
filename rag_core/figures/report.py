"""The report's figures: precision at depth, ranks of votes, latency over time and by part, health over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from html import escape
from zoneinfo import ZoneInfo

import plotly.graph_objects as go

from rag_core.figures.layout import lay_out, say_empty
from rag_core.figures.palette import BAD, BASELINE, GOOD, LEXICAL, VECTOR, Theme
from rag_core.report.numbers import DEPTHS, Part, Report
from rag_core.report.words import no_vote
from rag_core.words.numbers import NOT_MEASURED, from_to
from rag_core.words.plurals import counted

_NO_SEARCH = "Not measured: no search in the window"
_ALL_DEGRADED = "Not measured: no search that was not degraded"
# the legend of five lines takes three rows on a narrow page; the two figures stand side by side
_OVER_TIME_PX, _LEGEND_PX = 360, 92
_DAY_MS = 86_400_000
# as many days can each be named
_NAMED_DAYS = timedelta(days=7)


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
            cliponaxis=False,
            error_y={
                "type": "data",
                "array": [interval.high - value],
                "arrayminus": [value - interval.low],
                "color": GOOD,
            },
            hovertemplate=f"precision@{depth} %{{y:.3f}}<br>{from_to(interval.low, interval.high)}"
            f"<br>{precision.useful:,} useful of {counted(precision.votes, 'vote')}<extra></extra>",
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
    return figure if figure.data else say_empty(figure, f"Not measured: {no_vote(part)}", theme)


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
    most = max((entry.votes for entries in report.ranks.values() for entry in entries), default=0)
    # votes are counted, also below the line: whole numbers, without a sign
    step = _about_a_third(most)
    ticks = [step * number for number in range(-(most // step), most // step + 1)]
    figure.update_yaxes(tickvals=ticks, ticktext=[f"{abs(tick):,}" for tick in ticks])
    voted = any(report.ranks[verdict] for verdict in report.ranks)
    return figure if voted else say_empty(figure, f"Not measured: {no_vote(report.whole)}", theme)


def _about_a_third(count: int) -> int:
    """With one digit that is not zero; at least 1."""
    third = max(1, count // 3)
    power = 10 ** (len(str(third)) - 1)
    return third // power * power


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLine:
    """A line of the figure of latency over time: a step's percentile. `colour` None is the page's ink."""

    step: str
    percentile: str
    name: str
    colour: str | None = None
    dash: str = "solid"


OVER_TIME = (
    TimeLine(step="total", percentile="p50", name="total p50"),
    TimeLine(step="total", percentile="p95", name="total p95", dash="dot"),
    TimeLine(step="embed", percentile="p50", name="embedding p50", colour=BASELINE),
    TimeLine(step="vector", percentile="p50", name="vector p50", colour=VECTOR),
    TimeLine(step="lexical", percentile="p50", name="lexical p50", colour=LEXICAL),
)


def latency_over_time(report: Report, theme: Theme) -> go.Figure:
    """p50 and p95 of the whole and p50 of each step, a point a day; marks where settings began."""
    figure = go.Figure()
    days = report.splits["day"]
    for line in OVER_TIME:
        figure.add_scatter(
            x=[key for key, _ in days],
            y=[getattr(part.latency[line.step], line.percentile) for _, part in days],
            customdata=[part.latency[line.step].n for _, part in days],
            mode="lines+markers",
            name=line.name,
            line={"color": line.colour or theme.ink, "dash": line.dash},
            hovertemplate=f"{line.name} %{{y:.1f}} ms of %{{customdata:,}} searches<br>%{{x}}<extra></extra>",
        )
    lay_out(figure, title="Latency by day", theme=theme, height=_OVER_TIME_PX, legend=True)
    figure.update_yaxes(title="milliseconds", rangemode="tozero")
    _over_days(figure, report, theme)
    measured = any(part.latency["total"].n for _, part in days)
    return figure if measured or not days else say_empty(figure, _ALL_DEGRADED, theme)


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
        height=_OVER_TIME_PX,
        legend=True,
    )
    figure.update_yaxes(title="share of the day's searches", rangemode="tozero", tickformat=".2~%")
    return _over_days(figure, report, theme)


def precision_by_part(
    parts: Sequence[tuple[str, Part]], theme: Theme, *, title: str, depth: int = 5
) -> go.Figure:
    """Precision at one depth for each key of a split, with intervals; keys without a vote are named with a dash."""
    figure = go.Figure()
    # Plotly reads a label's < as the beginning of a tag, and a key is somebody's text
    judged = [(escape(key), part.precision[depth]) for key, part in parts]
    labels = [
        f"{key}  (n = {precision.votes:,})" if precision.votes else f"{key}  {NOT_MEASURED}"
        for key, precision in judged
    ]
    values = [precision.value for _, precision in judged]
    reach = [
        (value - interval.low, interval.high - value)
        if value is not None and interval is not None
        else (0, 0)
        for value, interval in zip(values, (precision.interval for _, precision in judged), strict=True)
    ]
    figure.add_scatter(
        x=values,
        y=labels,
        mode="markers",
        marker={"size": 10, "color": GOOD},
        cliponaxis=False,
        error_x={
            "type": "data",
            "array": [high for _, high in reach],
            "arrayminus": [low for low, _ in reach],
            "color": GOOD,
        },
        hovertemplate="%{y}: %{x:.3f}<extra></extra>",
    )
    lay_out(figure, title=title, theme=theme, height=110 + 28 * max(1, len(parts)))
    figure.update_xaxes(title=f"precision@{depth}", range=[-0.02, 1.02])
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=list(reversed(labels)))
    judged_any = any(value is not None for value in values)
    return figure if judged_any else say_empty(figure, "Not measured: no vote that counts", theme)


def _over_days(figure: go.Figure, report: Report, theme: Theme) -> go.Figure:
    """An axis of days in the report's time zone, each with the room of a day, and marks where settings changed."""
    days = [date.fromisoformat(key) for key, _ in report.splits["day"]]
    # a plain date has no zone: what is on the axis is wall time there
    figure.update_xaxes(
        title=f"day ({report.zone})", type="date", tickformat="%d %b\n%Y", ticklabelmode="period"
    )
    figure.update_layout(margin_t=_LEGEND_PX)
    if not days:
        return say_empty(figure, _NO_SEARCH, theme)
    figure.update_traces(xperiod=_DAY_MS, xperiodalignment="middle")
    first, end = min(days), max(days) + timedelta(days=1)
    figure.update_xaxes(range=[first, end], dtick=_DAY_MS if end - first <= _NAMED_DAYS else None)
    for turn in report.turns[1:]:
        began = turn.at.astimezone(ZoneInfo(report.zone)).replace(tzinfo=None)
        figure.add_vline(x=began.isoformat(), line={"color": theme.ink, "dash": "dash", "width": 0.8})
    return figure
