"""`medir rag`, `medir vote` and `medir searches purge`: how the search is doing, and what people said of it."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from medir.cli.frame import (
    EXIT_GATE,
    Output,
    chosen_project,
    operator,
    plain,
    project_option,
    services,
    stop,
    with_output,
)
from rag_core.clock import SystemClock
from rag_core.errors import Refused, UsageError
from rag_core.formats.report_csv import report_csv
from rag_core.report.counterfactual import compare_with, find_rival
from rag_core.report.definitions import explain_number
from rag_core.report.making import make_report
from rag_core.report.numbers import DEPTHS, SPLITS, STEPS, Part, Report
from rag_core.report.window import Window, make_window, parse_time
from rag_core.votes import cast_vote, purge_searches

NOT_MEASURED = "— not measured"


@click.command("vote")
@click.argument("search_id")
@click.argument("chunk_id")
@click.argument("verdict", metavar="util|irrelevante")
@project_option
@with_output
def vote(output: Output, *, search_id: str, chunk_id: str, verdict: str, project_id: str | None) -> None:
    """Judge one hit of one search; a second vote on it takes the place of yours."""
    with services() as opened:
        cast = cast_vote(
            opened.database,
            opened.clock,
            chosen_project(opened, project_id).project_id,
            search_id=search_id,
            chunk_id=chunk_id,
            verdict=verdict,
            actor=operator(),
        )
    output.emit(cast.to_json())
    output.say(f"{cast.verdict} on the hit of rank {cast.rank}" + (", changed." if cast.changed else "."))


@click.group("searches")
def searches() -> None:
    """Searches as they were recorded."""


@searches.command("purge")
@project_option
@click.option("--actor", metavar="ID", help="Only those that this actor asked; an id, or kind:id.")
@click.option("--before", metavar="TIME", help="Only those asked before; ISO 8601 with an offset or Z.")
@click.option("--yes", is_flag=True, help="Delete them; without it they are only counted.")
@with_output
def purge_verb(
    output: Output, *, project_id: str | None, actor: str | None, before: str | None, yes: bool
) -> None:
    """Delete recorded searches with the votes on them."""
    until = None if before is None else parse_time(before, name="--before")
    with services() as opened:
        project = chosen_project(opened, project_id).project_id
        gone = purge_searches(opened.database, project, actor=actor, before=until, confirmed=yes)
    output.emit({"project": project, "searches": gone.searches, "votes": gone.votes})
    output.say(f"Deleted {gone.searches:,} searches and {gone.votes:,} votes.")


def _window_options(verb: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option(
            "--tz", "zone", metavar="ZONE", help="Time zone of the days, such as America/Sao_Paulo."
        ),
        click.option("--to", "end", metavar="TIME", help="Its end, exclusive; default: now."),
        click.option("--from", "start", metavar="TIME", help="Its beginning; ISO 8601 with an offset or Z."),
        click.option("--since", metavar="30m|12h|7d|4w", help="The window, back from now; default 30d."),
    ):
        verb = option(verb)
    return verb


@click.command("rag")
@project_option
@_window_options
@click.option("--synthetic", is_flag=True, help="Count rows made by benches and demonstrations too.")
@click.option("--csv", "as_csv", is_flag=True, help="Print rows of split, key, number, value, n, low, high.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also write one HTML file.",
)
@click.option(
    "--against", metavar="preset:NAME|settings:ID", help="Replay the searches under other settings."
)
@click.option("--explain", metavar="NUMBER", help="Say what a number of the report is; measure nothing.")
@with_output
def rag(
    output: Output,
    *,
    project_id: str | None,
    since: str | None,
    start: str | None,
    end: str | None,
    zone: str | None,
    synthetic: bool,
    as_csv: bool,
    html: Path | None,
    against: str | None,
    explain: str | None,
) -> None:
    """The medir:rag report; exit 1 when no search of the window had its vector signal."""
    if explain is not None:
        number, definition = explain_number(explain)
        output.emit({"number": number, "definition": definition})
        output.say(f"{number}: {definition}")
        return
    if as_csv and output.as_json:
        raise UsageError("--csv and --json both want standard output.", hint="Give one of them.")
    window = make_window(SystemClock().now(), since=since, start=start, end=end, zone=zone)
    report = _measure(output, project_id, window, synthetic=synthetic, against=against)
    if html is not None:
        _write_html(report, html)
        output.note(f"Wrote {html}.")
    output.emit(report.to_json())
    if as_csv:
        click.echo(report_csv(report), nl=False)
    elif not output.as_json:
        print_report(output, report)
    if not report.verdict.passed:
        stop(EXIT_GATE)


def _measure(
    output: Output, project_id: str | None, window: Window, *, synthetic: bool, against: str | None
) -> Report:
    with services() as opened:
        project = chosen_project(opened, project_id).project_id
        rival = None if against is None else find_rival(opened.database, project, against)
        report = make_report(opened.database, project, window, synthetic=synthetic)
        if rival is None:
            return report
        with output.progress() as listener:
            found = compare_with(
                opened.database,
                project,
                window,
                rival,
                synthetic=synthetic,
                listener=None
                if listener is None
                else lambda done: listener("replay", done, report.whole.searches),
            )
    return dataclasses.replace(report, counterfactual=found)


def _write_html(report: Report, path: Path) -> None:
    # plotly takes half a second to load, which no other form of the report should wait for
    from rag_core.formats.report_html import report_html  # noqa: PLC0415

    page = report_html(report)
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise Refused(
            f"{path} can't be written: {error.strerror}.",
            hint="Name a file in a folder that you can write to.",
        ) from error


def print_report(output: Output, report: Report) -> None:
    """The report for a person: verdict first, then numbers with what they are of."""
    whole = report.whole
    output.say(
        f"medir:rag {report.project_id}, {report.start:%Y-%m-%d %H:%M} to {report.end:%Y-%m-%d %H:%M} UTC"
        + (", synthetic rows included" if report.synthetic else "")
    )
    output.say(_verdict_line(report))
    output.say("")
    output.say(f"Searches {whole.searches:,}")
    for name, count in (("degraded", whole.degraded), ("without a hit", whole.no_hit)):
        output.say(f"  {name}: {_share(count, whole.searches)}")
    output.say(f"  hits judged: {_share(whole.judged, whole.shown)}")
    output.people.print(_precision_table(whole))
    output.people.print(_latency_table(whole))
    if whole.latency["total"].why:
        output.say(whole.latency["total"].why)
    _print_ranks(output, report)
    if report.mixed_settings:
        output.say(
            f"\nMixed settings: {len(report.mixed_settings)}; these are numbers under different rules."
        )
    for name in SPLITS:
        if len(report.splits[name]) > 1:
            output.say(f"\nBy {name}")
            output.people.print(_split_table(report.splits[name]))
    _print_counterfactual(output, report)


def _verdict_line(report: Report) -> str:
    verdict = report.verdict
    if not verdict.measured:
        return verdict.reason
    return f"{'Passed' if verdict.passed else 'Failed'}: {verdict.reason}"


def _precision_table(part: Part) -> Table:
    table = _columns("", "value", "95 % interval", "useful", "votes", "hits judged")
    for depth in DEPTHS:
        precision = part.precision[depth]
        interval = precision.interval
        table.add_row(
            f"precision@{depth}",
            _number(precision.value),
            "—" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}",
            f"{precision.useful:,}",
            f"{precision.votes:,}",
            f"{precision.judged_hits:,}",
        )
    return table


def _latency_table(part: Part) -> Table:
    table = _columns("latency, ms", "n", "p50", "p95", "p99")
    for step in STEPS:
        latency = part.latency[step]
        table.add_row(
            step,
            f"{latency.n:,}",
            *(_number(value, digits=1) for value in (latency.p50, latency.p95, latency.p99)),
        )
    return table


def _print_ranks(output: Output, report: Report) -> None:
    by_verdict = {
        verdict: {entry.rank: entry.votes for entry in entries} for verdict, entries in report.ranks.items()
    }
    ranks = sorted({rank for counts in by_verdict.values() for rank in counts})
    if not ranks:
        output.say("Votes by rank: not measured, no vote.")
        return
    table = _columns("votes by rank", *(str(rank) for rank in ranks))
    for verdict, counts in by_verdict.items():
        table.add_row(verdict, *(f"{counts.get(rank, 0):,}" for rank in ranks))
    output.people.print(table)


def _split_table(parts: tuple[tuple[str, Part], ...]) -> Table:
    table = _columns("", "searches", "degraded", "no hit", "precision@5", "votes", "p50 ms", "p95 ms")
    for key, part in parts:
        table.add_row(
            Text(plain(key)),
            f"{part.searches:,}",
            f"{part.degraded:,}",
            f"{part.no_hit:,}",
            _number(part.precision[5].value),
            f"{part.precision[5].votes:,}",
            _number(part.latency["total"].p50, digits=1),
            _number(part.latency["total"].p95, digits=1),
        )
    return table


def _print_counterfactual(output: Output, report: Report) -> None:
    found = report.counterfactual
    if found is None:
        return
    output.say(f"\nAgainst {found.against}, {found.searches:,} searches replayed")
    output.say(f"  overlap of places: {_number(found.overlap)}")
    output.say(f"  rank-biased overlap: {_number(found.rbo)}")
    output.say(f"  not replayable: {found.not_replayable:,}")


def _columns(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(first)
    for heading in others:
        table.add_column(heading, justify="right")
    return table


def _number(value: float | None, *, digits: int = 3) -> str:
    return NOT_MEASURED if value is None else f"{value:.{digits}f}"


def _share(count: int, total: int) -> str:
    return f"{count:,} of {total:,} ({count / total:.1%})" if total else "not measured"
