"""The report's first five seconds: the verdict, four numbers with the window before, and what changed."""

import math

import streamlit as st

from medir.page_kit import report_words as words
from medir.page_kit.signs import DASH, FAILED, PASSED, draw_badge, measured
from rag_core.plurals import counted
from rag_core.report.changes import Change
from rag_core.report.definitions import DEFINITIONS
from rag_core.report.numbers import Part, Report

_FEW = 30
_FEWEST_DAYS = 3


def draw_verdict(report: Report) -> None:
    """The gate with its sign and its reason, and the states of the window as badges."""
    verdict = report.verdict
    if not verdict.measured:
        st.info(verdict.reason, icon=":material/hourglass_empty:")
    elif verdict.passed:
        st.success(f"{PASSED} **Passed.** {verdict.reason}")
    else:
        st.error(
            f"{FAILED} **Failed.** {verdict.reason} Start the embedding provider, or index with one that runs."
        )
    with st.container(horizontal=True, gap="small"):
        if report.synthetic:
            draw_badge("synthetic")
        if report.whole.degraded:
            draw_badge("degraded")
        if report.mixed_settings:
            draw_badge("mixed settings")


def draw_numbers(report: Report, before: Report) -> None:
    """Searches, precision@5, p95 latency and no-hit rate, each with its days and the window before."""
    tiles = (_draw_searches, _draw_precision, _draw_latency, _draw_no_hit)
    for column, draw in zip(st.columns(len(tiles), gap="small"), tiles, strict=True):
        with column:
            draw(report, before)


def draw_changes(found: tuple[Change, ...], before: Report) -> None:
    """One sentence on settings, model and index; as text, since it quotes settings."""
    if not before.whole.searches and not found:
        st.text("Nothing to compare with: the window before holds no search.")
    else:
        st.text(words.changed(found))


def _draw_searches(report: Report, before: Report) -> None:
    now, then = report.whole.searches, before.whole.searches
    _draw_tile(
        "Searches",
        f"{now:,}",
        delta=f"{now - then:+,}" if then else None,
        told=f"{words.share(report.whole.degraded, now)} degraded"
        if report.whole.degraded
        else "none degraded",
        then=f"{then:,}",
        days=[float(part.searches) for part in _days(report)],
        help_key="searches",
        chart="bar",
    )


def _draw_precision(report: Report, before: Report) -> None:
    now, then = report.whole.precision[5], before.whole.precision[5]
    delta = None
    if now.value is not None and then.value is not None:
        delta = f"{now.value - then.value:+.2f}" + (
            " (may be chance)" if words.within_chance(now, then) else ""
        )
    told = [words.of_votes(now), words.interval(now)] if now.votes else ["not measured: no vote"]
    if 0 < now.votes < _FEW:
        told.append("few judgements")
    told.append(words.judged(report.whole))
    _draw_tile(
        "Precision@5",
        measured(now.value, 2),
        delta=delta,
        neutral=words.within_chance(now, then),
        told="; ".join(told),
        then=words.of_votes(then),
        days=[_number(part.precision[5].value) for part in _days(report)],
        help_key="precision",
    )


def _draw_latency(report: Report, before: Report) -> None:
    now, then = report.whole.latency["total"], before.whole.latency["total"]
    missing = "" if now.p95 is not None else "not measured"
    parts = [missing, f"p50 {words.milliseconds(now.p50)}, n = {now.n:,}", words.why_missing(now)]
    if len(_days(report)) >= _FEWEST_DAYS:
        parts.append("the line is p50 by day")
    _draw_tile(
        "p95 latency",
        DASH if now.p95 is None else words.milliseconds(now.p95),
        delta=None if now.p95 is None or then.p95 is None else f"{now.p95 - then.p95:+.1f} ms",
        less_is_better=True,
        told="; ".join(part for part in parts if part)
        if now.n
        else "not measured: no search that was not degraded",
        then=words.milliseconds(then.p95),
        days=[_number(part.latency["total"].p50) for part in _days(report)],
        help_key="p95",
    )


def _draw_no_hit(report: Report, before: Report) -> None:
    now, then = report.whole, before.whole
    delta = None
    if now.searches and then.searches:
        delta = f"{100 * (now.no_hit / now.searches - then.no_hit / then.searches):+.0f} points"
    _draw_tile(
        "Without a hit",
        words.share(now.no_hit, now.searches),
        delta=delta,
        less_is_better=True,
        told=f"{now.no_hit:,} of {counted(now.searches, 'search', 'searches')}",
        then=words.share(then.no_hit, then.searches) if then.searches else words.NOT_MEASURED,
        days=[part.no_hit / part.searches for part in _days(report)],
        help_key="noHit",
    )


def _draw_tile(
    label: str,
    value: str,
    *,
    delta: str | None,
    told: str,
    then: str,
    days: list[float],
    help_key: str,
    less_is_better: bool = False,
    neutral: bool = False,
    chart: str = "line",
) -> None:
    off = delta is None or neutral or help_key == "searches"
    with st.container(gap="xxsmall"):
        st.metric(
            label,
            value,
            delta,
            delta_color="off" if off else "inverse" if less_is_better else "normal",
            help=DEFINITIONS[help_key],
            border=True,
            chart_data=days if len(days) >= _FEWEST_DAYS else None,
            chart_type="bar" if chart == "bar" else "line",
        )
        st.caption(told)
        st.caption(f"window before: {then}")


def _days(report: Report) -> list[Part]:
    return [part for _, part in report.splits["day"]]


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def draw_nothing(project_id: str, *, synthetic_left_out: bool) -> None:
    """What to do in a window without searches."""
    st.text(
        "Nothing was asked in this window, so nothing is measured: precision, ranks, latency and the no-hit rate "
        f"all stand at {DASH}. Ask something on the page Search and judge its hits there, or from a terminal:"
    )
    st.code(
        f'medir search --project {project_id} "how long are events kept?"\nmedir rag --project {project_id}',
        language=None,
    )
    if synthetic_left_out:
        st.caption("Rows made by benches and demonstrations are left out; the switch above counts them too.")
