"""The report's figures, each with its table, and each point a way to the searches behind it."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import plotly.graph_objects as go
import streamlit as st

from medir.page_kit.choosing import draw_table
from medir.page_kit.figures import draw_figure
from medir.page_kit.signs import theme
from medir.pages.report.filters import KEYS, RANK, TOOK, WHICH, took_at_least
from rag_core.figures.report import (
    OVER_TIME,
    health_over_time,
    latency_over_time,
    precision_at_depth,
    votes_by_rank,
)
from rag_core.figures.report_trends import STEP_NAMES, cumulative_latency, latency_by_step
from rag_core.report.making import LatencyCurve
from rag_core.report.numbers import DEPTHS, STEPS, Report
from rag_core.report.rank_pattern import told_pattern
from rag_core.words.numbers import measured

Point = Mapping[str, object]
Row = Mapping[str, object]
_DAY_CHARS = len("2026-01-31")
_CURVE_ROWS = 10
_SELECT = "Select a point to list its searches below."


def draw_figures(report: Report, curve: LatencyCurve) -> None:
    """All of them, two in a row: what people judged, how long it took, how healthy it was."""
    inks = theme()
    left, right = st.columns(2, gap="large")
    with left:
        told = "Of votes, not of hits: what nobody judged is unknown, not irrelevant."
        _draw(
            "precision",
            precision_at_depth(report.whole, inks),
            _precision_rows(report),
            told,
            take=_take_depth,
        )
    with right:
        told = told_pattern(report.whole.judged_searches)
        _draw("ranks", votes_by_rank(report, inks), _rank_rows(report), told, take=_take_rank)
    told = "Dashed lines: the first search under other settings." if len(report.turns) > 1 else ""
    left, right = st.columns(2, gap="large")
    with left:
        _draw("latency", latency_over_time(report, inks), _latency_day_rows(report), told, take=_take_latency)
    with right:
        _draw("health", health_over_time(report, inks), _health_rows(report), told, take=_take_health)
    left, right = st.columns(2, gap="large")
    with left:
        _draw("steps", latency_by_step(report.whole, inks), _step_rows(report), take=_take_step)
    with right:
        _draw("curve", cumulative_latency(curve, inks), _curve_rows(curve), take=_take_total)


def _draw(
    name: str,
    figure: go.Figure,
    rows: Sequence[Row],
    told: str = "",
    *,
    take: Callable[[Sequence[Point]], None] | None = None,
) -> None:
    key = f"report-{name}"
    if take is None:
        draw_figure(figure, key=key)
    else:
        draw_figure(figure, key=key, on_point=lambda: take(_points(key)))
        if _has_points(figure):
            told = f"{told} {_SELECT}".strip()
    if told:
        st.caption(told)
    if rows:
        with st.popover("As a table", type="tertiary", icon=":material/table:", key=f"{key}-table"):
            draw_table(rows, key=f"{key}-rows")


def _has_points(figure: go.Figure) -> bool:
    traces = cast("Sequence[Mapping[str, Sequence[object]]]", figure.to_dict()["data"])
    return any(value is not None for trace in traces for value in trace.get("y", ()))


def _points(key: str) -> Sequence[Point]:
    return cast("Sequence[Point]", st.session_state[key]["selection"]["points"])


def _take_day(points: Sequence[Point]) -> None:
    """The day of the point; none selected: every day again."""
    KEYS["day"].choose(str(points[0]["x"])[:_DAY_CHARS] if points else "")


def _take_latency(points: Sequence[Point]) -> None:
    """The day of the point; of a p95, those of its searches that took so long or longer."""
    _take_day(points)
    slow = bool(points) and OVER_TIME[_curve(points[0])].percentile == "p95"
    TOOK.choose(took_at_least("total", _number(points[0], "y")) if slow else "")


def _take_step(points: Sequence[Point]) -> None:
    """The searches in which that step took so long or longer."""
    steps = {name: step for step, name in STEP_NAMES.items()}
    TOOK.choose(took_at_least(steps[str(points[0]["y"])], _number(points[0], "x")) if points else "")


def _take_total(points: Sequence[Point]) -> None:
    """The searches that took so long or longer."""
    TOOK.choose(took_at_least("total", _number(points[0], "x")) if points else "")


def _take_depth(points: Sequence[Point]) -> None:
    """The searches with a vote on a hit of that rank or better."""
    depth = str(points[0]["x"]).partition("<")[0] if points else ""
    RANK.choose("" if not depth else depth if depth == "1" else f"1-{depth}")
    WHICH.choose("")


def _take_rank(points: Sequence[Point]) -> None:
    """The verdict and the rank of the bar."""
    if not points:
        RANK.choose("")
        WHICH.choose("")
        return
    RANK.choose(str(points[0]["x"]))
    WHICH.choose("irrelevant" if _curve(points[0]) else "useful")


def _take_health(points: Sequence[Point]) -> None:
    """The day of the point, and what its line counts."""
    _take_day(points)
    WHICH.choose("" if not points else "no-hit" if _curve(points[0]) else "degraded")


def _number(point: Point, axis: str) -> float:
    value = point[axis]
    return float(value) if isinstance(value, int | float) else 0.0


def _curve(point: Point) -> int:
    number = point.get("curve_number", 0)
    return number if isinstance(number, int) else 0


def _precision_rows(report: Report) -> list[Row]:
    rows: list[Row] = []
    for depth in DEPTHS:
        precision = report.whole.precision[depth]
        interval = precision.interval
        rows.append(
            {
                "precision": f"@{depth}",
                "value": measured(precision.value),
                "low": measured(interval.low if interval else None),
                "high": measured(interval.high if interval else None),
                "useful": f"{precision.useful:,}",
                "votes": f"{precision.votes:,}",
                "hits judged": f"{precision.judged_hits:,}",
            }
        )
    return rows


def _rank_rows(report: Report) -> list[Row]:
    counts = {
        verdict: {entry.rank: entry.votes for entry in report.ranks[verdict]} for verdict in report.ranks
    }
    ranks = sorted({rank for found in counts.values() for rank in found})
    return [
        {
            "rank": rank,
            "useful": counts["util"].get(rank, 0),
            "irrelevant": counts["irrelevante"].get(rank, 0),
        }
        for rank in ranks
    ]


def _latency_day_rows(report: Report) -> list[Row]:
    return [
        {"day": key, "n": f"{part.latency['total'].n:,}"}
        | {
            f"{step} {name}": measured(getattr(part.latency[step], name), 1)
            for step in STEPS
            for name in ("p50", "p95")
        }
        for key, part in report.splits["day"]
    ]


def _health_rows(report: Report) -> list[Row]:
    return [
        {
            "day": key,
            "searches": f"{part.searches:,}",
            "degraded": f"{part.degraded:,}",
            "no hit": f"{part.no_hit:,}",
        }
        for key, part in report.splits["day"]
    ]


def _step_rows(report: Report) -> list[Row]:
    return [
        {"step": step, "n": f"{report.whole.latency[step].n:,}"}
        | {
            f"{name} ms": measured(getattr(report.whole.latency[step], name), 1)
            for name in ("p50", "p95", "p99")
        }
        for step in STEPS
    ]


def _curve_rows(curve: LatencyCurve) -> list[Row]:
    return [
        {"took no longer": f"{share:.0%}", "ms": f"{milliseconds:.1f}"}
        for milliseconds, share in curve.points[::_CURVE_ROWS]
    ]
