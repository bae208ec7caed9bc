"""`medir coverage` and `medir doctor`: what is in the index, and what works on this machine."""

import click

from medir.cli.frame import (
    EXIT_REFUSED,
    Output,
    chosen_project,
    make_table,
    one_line,
    project_option,
    services,
    stop,
    with_output,
)
from medir.cli.index import print_left_out
from medir.configuration import load_configuration
from medir.contract.coverage import CoverageAnswer
from medir.doctor import examine
from rag_core.index.coverage import Coverage, measure_coverage
from rag_core.words.plurals import counted

# of what is as it should be
_LISTED = 20


@click.command("coverage")
@project_option
@with_output
def coverage(output: Output, project_id: str | None) -> None:
    """What of the project's sources is in its index."""
    with services() as opened:
        measured = measure_coverage(opened.database, chosen_project(opened, project_id))
    if output.as_json:
        output.emit(CoverageAnswer.of(measured))
    else:
        print_coverage(output, measured)


@click.command("doctor")
@with_output
def doctor(output: Output) -> None:
    """Check database, provider, disk and configuration; exit 2 when something is wrong."""
    checks = examine(load_configuration())
    output.emit({"checks": [check.to_json() for check in checks]})
    for check in checks:
        output.say(f"{'ok ' if check.ok else 'NOT'}  {check.name}: {check.found}")
        if check.remedy:
            output.say(f"     {check.remedy}")
    if not all(check.ok for check in checks):
        stop(EXIT_REFUSED)


def print_coverage(output: Output, measured: Coverage) -> None:
    """Coverage for a person."""
    counts = ("in repository", "indexed", "chunks", "without vector", "skipped")
    table = make_table("scope", *counts, "indexed at", numbers=counts)
    for scope in measured.scopes:
        table.add_row(
            str(scope.scope),
            "-" if scope.sources is None else str(scope.sources),
            str(scope.indexed),
            str(scope.chunks),
            str(scope.without_vector),
            str(len(scope.skipped_files)),
            f"{scope.indexed_at:%Y-%m-%d %H:%M} UTC" if scope.indexed_at else "never",
        )
    output.people.print(table)
    for scope in measured.scopes:
        if scope.parts is not None and (scope.parts.waiting or scope.parts.without_text):
            unit = scope.scope.holds
            output.say(
                f"  {scope.scope}: {counted(scope.parts.waiting, unit)} not read yet or changed since, "
                f"{counted(scope.parts.without_text, unit)} without text"
            )
    skipped = [entry for scope in measured.scopes for entry in scope.skipped_files]
    print_left_out(output, skipped, by_rule_at_most=_LISTED)
    if measured.outside is not None and measured.outside.files:
        output.advise(
            one_line(
                f"{measured.outside.told}. Name their folders to index them: medir project set --docs DIR."
            )
        )
    output.say(f"Commit indexed: {measured.commit or '-'}; now: {measured.head_commit or '-'}")
    if measured.moved:
        output.advise("The repository has moved on; run `medir index`.")
    output.say(f"Language: {measured.language}")
    if measured.words_changed:
        output.advise(f"{measured.words_changed} Run: medir index")
    if measured.problem:
        output.say(measured.problem)
