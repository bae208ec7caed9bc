"""`medir rag`: how the search of a project is doing."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import click

from medir.cli.frame import (
    EXIT_GATE,
    Output,
    chosen_project,
    plain,
    project_option,
    services,
    stop,
    with_output,
)
from medir.cli.paths import FILE_TO_WRITE
from medir.contract.report import NumberAnswer, ReportAnswer
from rag_core.clock import SystemClock
from rag_core.errors import UsageError
from rag_core.files import write_atomically
from rag_core.model import Window
from rag_core.report.definitions import explain_number
from rag_core.report.making import make_report
from rag_core.report.numbers import Report
from rag_core.report.window import make_window

# what one form of the report needs and the others don't is loaded for it alone: a dashboard asks for --json each minute


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
    type=FILE_TO_WRITE,
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
        output.emit(NumberAnswer(number=number, definition=definition))
        output.say(f"{number}: {definition}")
        return
    if as_csv and output.as_json:
        raise UsageError("--csv and --json both want standard output.", hint="Give one of them.")
    window = make_window(
        SystemClock().now(), since=since, start=start, end=end, zone=zone, synthetic=synthetic
    )
    report = _measure(output, project_id, window, against=against)
    if html is not None:
        _write_html(report, html)
        output.note(f"Wrote {html}.")
    if output.as_json:
        output.emit(ReportAnswer.of(report))
    if as_csv:
        from rag_core.formats.report_csv import report_csv  # noqa: PLC0415

        written = report_csv(report)
        # a file holds the names as they are; a terminal gets nothing that commands it
        output.out.write(plain(written) if output.out.isatty() else written)
    elif not output.as_json:
        from medir.cli.report_tables import print_report  # noqa: PLC0415

        print_report(output, report)
    if not report.verdict.passed:
        stop(EXIT_GATE)


def _measure(output: Output, project_id: str | None, window: Window, *, against: str | None) -> Report:
    with services() as opened:
        project = chosen_project(opened, project_id).project_id
        if against is None:
            return make_report(opened.database, project, window)
        from rag_core.report.counterfactual import compare_with, find_rival  # noqa: PLC0415

        rival = find_rival(opened.database, project, against)
        report = make_report(opened.database, project, window)
        with output.progress() as listener:
            found = compare_with(
                opened.database,
                project,
                window,
                rival,
                listener=None
                if listener is None
                else lambda done: listener("replay", done, report.whole.searches),
            )
    return dataclasses.replace(report, counterfactual=found)


def _write_html(report: Report, path: Path) -> None:
    from rag_core.formats.report_html import report_html  # noqa: PLC0415

    write_atomically(path, report_html(report))
