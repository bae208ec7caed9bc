"""The report as one HTML file that needs nothing else: no network, no other file, no server.

What comes from the data is escaped text, in the page as in its figures.
"""

from collections.abc import Mapping
from datetime import datetime
from html import escape
from zoneinfo import ZoneInfo

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
from rag_core.report.numbers import DEPTHS, SPLITS, STEPS, Part, Percentiles, Report, SplitName
from rag_core.report.rank_pattern import told_pattern
from rag_core.report.words import gate, gate_broken, headline, hits_judged, undivided
from rag_core.words.numbers import DASH, NOT_MEASURED, from_to, measured, milliseconds, share
from rag_core.words.plurals import counted
from rag_core.words.settings import value_told

# of a thousand actors, a figure shows those whose numbers say most
_DRAWN = 20
_CSP = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:"
_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1F2328; background: #fff; max-width: 64rem; margin: 0 auto;
  padding: 1.5rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
.headline { margin: 1rem 0; font-weight: 600; }
.broken { border-left: .4rem solid #D55E00; padding: .5rem .8rem; margin: 1rem 0; }
.badge { display: inline-block; border: 1px solid #8A8781; border-radius: .5rem; padding: 0 .5rem; margin-right: .4rem;
  font-size: .85rem; }
.scroll { overflow-x: auto; margin: .5rem 0 1.5rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid #E4E6E9; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
table.told td:last-child, table.told th:last-child { text-align: left; white-space: normal; min-width: 16rem; }
dt { font-weight: 600; } dd { margin: 0 0 .5rem 0; } .note { color: #57606a; font-size: .9rem; }
"""


def report_html(report: Report) -> str:
    """A whole page: its answer, numbers with n and intervals, figures, a table for each split, definitions."""
    title = f"medir:rag {report.project_id}"
    body = "".join(
        (
            _head(report, title),
            "<h2>Precision of votes</h2>",
            _figure(precision_at_depth(report.whole, LIGHT), "precision"),
            _precision_table(report.whole),
            _figure(votes_by_rank(report, LIGHT), "ranks"),
            _ranks_table(report),
            f'<p class="note">{escape(told_pattern(report.whole.judged_searches))}</p>',
            "<h2>Latency</h2>",
            _figure(latency_over_time(report, LIGHT), "latency"),
            _latency_table(report.whole),
            "<h2>Health</h2>",
            _figure(health_over_time(report, LIGHT), "health"),
            _settings_section(report),
            _counterfactual_section(report),
            *(_split_section(report, name) for name in SPLITS),
            _definitions(),
        )
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_CSP)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style><script>{get_plotlyjs()}</script></head>"
        f"<body>{body}</body></html>\n"
    )


def _head(report: Report, title: str) -> str:
    whole = report.whole
    badges = "".join(
        f'<span class="badge">{escape(label)}</span>'
        for label, shown in (
            (gate(report), True),
            ("synthetic", report.synthetic),
            ("degraded", bool(whole.degraded)),
            ("mixed settings", bool(report.mixed_settings)),
        )
        if shown
    )
    five = whole.precision[5]
    rows = (
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
    broken = gate_broken(report)
    return (
        f"<h1>{escape(title)}</h1>"
        f'<p class="note">{_time(report.start, report.zone)} to {_time(report.end, report.zone)}, '
        f"{escape(report.zone)}</p>"
        f'<p class="headline">{escape(" ".join(headline(report)))}</p><p>{badges}</p>'
        + (f'<p class="broken">{escape(broken)}</p>' if broken else "")
        + _table(("", ""), rows)
    )


def _precision_table(part: Part) -> str:
    rows: list[tuple[str, ...]] = []
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
    return _table(("", "value", "95 % interval", "useful", "votes", "hits judged"), rows)


def _ranks_table(report: Report) -> str:
    by_verdict = {
        verdict: {entry.rank: entry.votes for entry in entries} for verdict, entries in report.ranks.items()
    }
    ranks = sorted({rank for counts in by_verdict.values() for rank in counts})
    rows = [
        (str(rank), *(f"{by_verdict[verdict].get(rank, 0):,}" for verdict in ("util", "irrelevante")))
        for rank in ranks
    ]
    return _table(("rank", "useful", "irrelevant"), rows) if rows else ""


def _latency_table(part: Part) -> str:
    rows = [(step, *_percentile_cells(part.latency[step])) for step in STEPS]
    why = part.latency["total"].why
    return _table(("step", "n", "p50", "p95", "p99"), rows) + (
        f'<p class="note">{escape(why)}</p>' if why else ""
    )


def _settings_section(report: Report) -> str:
    if not report.mixed_settings:
        return ""
    before = (None, *(entry.settings for entry in report.mixed_settings))
    rows = [
        (
            entry.settings_id,
            f"{entry.searches:,}",
            _time(entry.first_at, report.zone),
            _time(entry.last_at, report.zone),
            _what_differs(entry.settings, earlier),
        )
        for entry, earlier in zip(report.mixed_settings, before, strict=False)
    ]
    return (
        "<h2>Mixed settings</h2><p>The window's searches ran under different rules; its numbers are not one number. "
        "Dashed lines in the figures over time: the first search under other settings, trials left out.</p>"
        + _table(
            ("settings", "searches", "first", "last", "what differs from the line above"), rows, kind="told"
        )
    )


def _what_differs(settings: Mapping[str, object], earlier: Mapping[str, object] | None) -> str:
    if earlier is None:
        return "the first of the window"
    names = sorted(name for name in {*settings, *earlier} if settings.get(name) != earlier.get(name))
    return ", ".join(f"{name} {value_told(settings.get(name))}" for name in names)


def _counterfactual_section(report: Report) -> str:
    found = report.counterfactual
    if found is None:
        return ""
    rows = (
        ("Overlap of places", measured(found.overlap, missing=NOT_MEASURED)),
        ("Rank-biased overlap", measured(found.rbo, missing=NOT_MEASURED)),
        ("Searches compared", f"{found.searches:,}"),
        ("Not replayable", f"{found.not_replayable:,}"),
    )
    return f"<h2>Against {escape(found.against)}</h2>" + _table(("", ""), rows)


def _split_section(report: Report, name: SplitName) -> str:
    parts = report.splits[name]
    if not parts:
        return ""
    if not report.is_parted(name):
        return f'<p class="note">{escape(undivided(name, [key for key, _ in parts]))}</p>'
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
    heading = ("key", "searches", "degraded", "no hit", "precision@1", "precision@5", "p50", "p95", "p99")
    largest = sorted(parts, key=lambda entry: (-entry[1].searches, entry[0]))[:_DRAWN]
    figure = (
        ""
        if name == "day"
        else _figure(precision_by_part(largest, LIGHT, title=f"Precision@5 by {name}"), f"by-{name}")
    )
    return f"<h2>By {escape(name)}</h2>{figure}" + _table(heading, rows)


def _definitions() -> str:
    entries = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in DEFINITIONS.items())
    return f"<h2>What the numbers mean</h2><dl>{entries}</dl>"


def _figure(figure: go.Figure, name: str) -> str:
    return figure.to_html(
        full_html=False, include_plotlyjs=False, config=CONFIG, div_id=f"figure-{name}", default_width="100%"
    )


def _table(
    heading: tuple[str, ...],
    rows: list[tuple[str, ...]] | tuple[tuple[str, ...], ...],
    *,
    kind: str = "plain",
) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in heading) if any(heading) else ""
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


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
