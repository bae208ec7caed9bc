"""The report's first five seconds: its answer, four numbers with the window before, and what changed."""

import math

import streamlit as st

from medir.page_kit.signs import DASH, draw_badge
from medir.pages.report import words
from rag_core.report.changes import Change
from rag_core.report.definitions import DEFINITIONS
from rag_core.report.numbers import Part, Report
from rag_core.report.words import gate, gate_broken, headline, hits_judged, no_vote
from rag_core.words.numbers import NOT_MEASURED, measured, milliseconds, share
from rag_core.words.plurals import counted

_FEW = 30
_FEWEST_DAYS = 3


def draw_headline(report: Report) -> None:
    """What votes, hits and latency say; under it the gate as a small sign, beside the states of the window."""
    sentences = headline(report)
    if report.verdict.measured:
        st.markdown("  \n".join(f"**{sentence}**" for sentence in sentences))
    else:
        st.info(sentences[0], icon=":material/hourglass_empty:")
    with st.container(horizontal=True, gap="small"):
        st.badge(gate(report), color="gray" if report.verdict.passed else "red", help=DEFINITIONS["verdict"])
        if report.synthetic:
            draw_badge("synthetic")
        if report.whole.degraded:
            draw_badge("degraded")
        if report.mixed_settings:
            draw_badge("mixed settings")
    if broken := gate_broken(report):
        st.warning(broken, icon=":material/warning:")


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
        told=f"{share(report.whole.degraded, now)} degraded" if report.whole.degraded else "none degraded",
        then=f"{then:,}",
        days=[float(part.searches) for part in _days(report)],
        help_key="searches",
        chart="bar",
    )


def _draw_precision(report: Report, before: Report) -> None:
    now, then = report.whole.precision[5], before.whole.precision[5]
    delta = words.difference(now.useful, now.votes, then.useful, then.votes)
    told = (
        [words.of_votes(now), words.interval(now)]
        if now.votes
        else [f"not measured: {no_vote(report.whole)}"]
    )
    if 0 < now.votes < _FEW:
        told.append("few judgements")
    told.append(hits_judged(report.whole))
    _draw_tile(
        "Precision@5",
        measured(now.value, 2),
        delta=delta,
        told="; ".join(told),
        then=words.joined(words.of_votes(then), words.compared(now.votes, then.votes, delta)),
        days=[_number(part.precision[5].value) for part in _days(report)],
        help_key="precision",
    )


def _draw_latency(report: Report, before: Report) -> None:
    now, then = report.whole.latency["total"], before.whole.latency["total"]
    missing = "" if now.p95 is not None else "not measured"
    told = words.joined(missing, f"p50 {milliseconds(now.p50)}, n = {now.n:,}", words.why_missing(now))
    if len(_days(report)) >= _FEWEST_DAYS:
        told = words.joined(told, "the line is p50 by day")
    _draw_tile(
        "p95 latency",
        DASH if now.p95 is None else milliseconds(now.p95),
        told=told if now.n else "not measured: no search that was not degraded",
        then=f"{milliseconds(then.p95)}, n = {then.n:,}",
        days=[_number(part.latency["total"].p50) for part in _days(report)],
        help_key="p95",
    )


def _draw_no_hit(report: Report, before: Report) -> None:
    now, then = report.whole, before.whole
    delta = words.difference(now.no_hit, now.searches, then.no_hit, then.searches)
    earlier = f"{share(then.no_hit, then.searches)} of {counted(then.searches, 'search', 'searches')}"
    _draw_tile(
        "Without a hit",
        share(now.no_hit, now.searches),
        delta=delta,
        less_is_better=True,
        told=f"{now.no_hit:,} of {counted(now.searches, 'search', 'searches')}",
        then=words.joined(earlier, words.compared(now.searches, then.searches, delta))
        if then.searches
        else NOT_MEASURED,
        days=[part.no_hit / part.searches for part in _days(report)],
        help_key="noHit",
    )


def _draw_tile(
    label: str,
    value: str,
    *,
    told: str,
    then: str,
    days: list[float],
    help_key: str,
    delta: str | None = None,
    less_is_better: bool = False,
    chart: str = "line",
) -> None:
    with st.container(gap="xxsmall"):
        st.metric(
            label,
            value,
            delta,
            delta_color="inverse" if less_is_better else "normal",
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
