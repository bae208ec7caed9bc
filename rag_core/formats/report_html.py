"""The report as one HTML file that needs nothing else: no network, no other file, no server.

The page stands in `report.html.jinja`, where what comes from the data is escaped; what fills it is made here.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import jinja2
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from rag_core.figures.layout import CONFIG
from rag_core.figures.palette import LIGHT
from rag_core.figures.report import (
    health_over_time,
    latency_over_time,
    precision_at_depth,
    precision_by_part,
    votes_by_rank,
)
from rag_core.report.definitions import DEFINITIONS
from rag_core.report.numbers import (
    DEPTHS,
    SPLITS,
    STEPS,
    Counterfactual,
    Part,
    Percentiles,
    Report,
    SplitName,
)
from rag_core.report.rank_pattern import told_pattern
from rag_core.report.words import gate, gate_broken, headline, hits_judged, undivided
from rag_core.words.numbers import DASH, NOT_MEASURED, from_to, measured, milliseconds, share
from rag_core.words.plurals import counted
from rag_core.words.settings import value_told

# of a thousand actors, a figure shows those whose numbers say most
_DRAWN = 20
_PAGES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=jinja2.StrictUndefined
)

_Row = tuple[str, ...]


def report_html(report: Report) -> str:
    """A whole page: its answer, numbers with n and intervals, figures, a table for each split, definitions."""
    whole, found = report.whole, report.counterfactual
    return _PAGES.get_template("report.html.jinja").render(
        title=f"medir:rag {report.project_id}",
        plotly=get_plotlyjs(),
        figure=_figure,
        span=f"{_time(report.start, report.zone)} to {_time(report.end, report.zone)}, {report.zone}",
        headline=" ".join(headline(report)),
        badges=_badges(report),
        broken=gate_broken(report),
        summary=_summary(whole),
        precision_figure=precision_at_depth(whole, LIGHT),
        precision=_precision(whole),
        ranks_figure=votes_by_rank(report, LIGHT),
        ranks=_ranks(report),
        pattern=told_pattern(whole.judged_searches),
        latency_figure=latency_over_time(report, LIGHT),
        latency=[(step, *_percentile_cells(whole.latency[step])) for step in STEPS],
        latency_why=whole.latency["total"].why,
        health_figure=health_over_time(report, LIGHT),
        settings=_settings(report),
        against=found and found.against,
        counterfactual=found and _counterfactual(found),
        splits=[_split(report, name) for name in SPLITS if report.splits[name]],
        definitions=DEFINITIONS,
    )


def _badges(report: Report) -> list[str]:
    shown = {
        gate(report): True,
        "synthetic": report.synthetic,
        "degraded": bool(report.whole.degraded),
        "mixed settings": bool(report.mixed_settings),
    }
    return [label for label, so in shown.items() if so]


def _summary(whole: Part) -> Sequence[_Row]:
    five = whole.precision[5]
    return (
        ("Searches", f"{whole.searches:,}"),
        (
            "Precision@5",
            NOT_MEASURED if five.value is None else f"{five.value:.2f} of {counted(five.votes, 'vote')}",
        ),
        ("Hits judged", hits_judged(whole)),
        ("Degraded", _share(whole.degraded, whole.searches)),
        ("No hit", _share(whole.no_hit, whole.searches)),
        ("Latency p95", milliseconds(whole.latency["total"].p95)),
    )


def _precision(part: Part) -> Sequence[_Row]:
    rows: list[_Row] = []
    for depth in DEPTHS:
        precision = part.precision[depth]
        interval = precision.interval
        rows.append(
            (
                f"precision@{depth}",
                measured(precision.value, missing=NOT_MEASURED),
                DASH if interval is None else from_to(interval.low, interval.high),
                f"{precision.useful:,}",
                f"{precision.votes:,}",
                f"{precision.judged_hits:,}",
            )
        )
    return rows


def _ranks(report: Report) -> Sequence[_Row]:
    by_verdict = {
        verdict: {entry.rank: entry.votes for entry in entries} for verdict, entries in report.ranks.items()
    }
    ranks = sorted({rank for counts in by_verdict.values() for rank in counts})
    return [
        (str(rank), *(f"{by_verdict[verdict].get(rank, 0):,}" for verdict in ("util", "irrelevante")))
        for rank in ranks
    ]


def _settings(report: Report) -> Sequence[_Row]:
    before = (None, *(entry.settings for entry in report.mixed_settings))
    return [
        (
            entry.settings_id,
            f"{entry.searches:,}",
            _time(entry.first_at, report.zone),
            _time(entry.last_at, report.zone),
            _what_differs(entry.settings, earlier),
        )
        for entry, earlier in zip(report.mixed_settings, before, strict=False)
    ]


def _what_differs(settings: Mapping[str, object], earlier: Mapping[str, object] | None) -> str:
    if earlier is None:
        return "the first of the window"
    names = sorted(name for name in {*settings, *earlier} if settings.get(name) != earlier.get(name))
    return ", ".join(f"{name} {value_told(settings.get(name))}" for name in names)


def _counterfactual(found: Counterfactual) -> Sequence[_Row]:
    return (
        ("Overlap of places", measured(found.overlap, missing=NOT_MEASURED)),
        ("Rank-biased overlap", measured(found.rbo, missing=NOT_MEASURED)),
        ("Searches compared", f"{found.searches:,}"),
        ("Not replayable", f"{found.not_replayable:,}"),
    )


def _split(report: Report, name: SplitName) -> Mapping[str, object]:
    parts = report.splits[name]
    if not report.is_parted(name):
        return {"undivided": undivided(name, [key for key, _ in parts])}
    rows = [
        (
            key,
            f"{part.searches:,}",
            _share(part.degraded, part.searches),
            _share(part.no_hit, part.searches),
            *(
                NOT_MEASURED if precision.value is None else f"{precision.value:.2f} of {precision.votes:,}"
                for precision in (part.precision[1], part.precision[5])
            ),
            *_percentile_cells(part.latency["total"])[1:],
        )
        for key, part in parts
    ]
    largest = sorted(parts, key=lambda entry: (-entry[1].searches, entry[0]))[:_DRAWN]
    title = f"Precision@5 by {name}"
    figure = None if name == "day" else precision_by_part(largest, LIGHT, title=title)
    return {"undivided": None, "name": name, "figure": figure, "rows": rows}


def _figure(figure: go.Figure, name: str) -> str:
    """HTML of its own, in which plotly escapes the data."""
    return figure.to_html(
        full_html=False, include_plotlyjs=False, config=CONFIG, div_id=f"figure-{name}", default_width="100%"
    )


def _percentile_cells(latency: Percentiles) -> tuple[str, str, str, str]:
    return (
        f"{latency.n:,}",
        milliseconds(latency.p50),
        milliseconds(latency.p95),
        milliseconds(latency.p99),
    )


def _time(time: datetime, zone: str) -> str:
    return f"{time.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}"


def _share(count: int, total: int) -> str:
    return f"{share(count, total)} ({count:,} of {total:,})" if total else NOT_MEASURED
