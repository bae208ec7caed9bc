"""`medir index` and `medir sessions import`: what goes into the index."""

from collections.abc import Sequence
from pathlib import Path

import click

from medir.cli.frame import (
    EXIT_PARTIAL,
    Output,
    chosen_project,
    make_table,
    one_line,
    operator,
    project_option,
    services,
    stop,
    with_output,
)
from medir.cli.paths import ANY_PATH
from medir.turns import in_turn
from rag_core.errors import UsageError
from rag_core.index.coverage import SKIPS
from rag_core.index.left_out import BY_RULE, FAULTY, LeftOut, Skipped, is_by_rule
from rag_core.index.outcome import IndexReport
from rag_core.index.session_import import import_sessions
from rag_core.model import ALL_SCOPES
from rag_core.words.plurals import counted


@click.command("index")
@project_option
@click.option(
    "--mode",
    type=click.Choice(["incremental", "full"]),
    default="incremental",
    show_default=True,
    help="incremental keeps what is still there, with its votes; full deletes and recreates.",
)
@click.option("--scope", "scopes", type=click.Choice([str(scope) for scope in ALL_SCOPES]), multiple=True)
@click.option("--session", "session_id", metavar="ID", help="Only this session.")
@click.option("--ref", metavar="R", help="Another branch, tag or commit than the project's.")
@click.option("--dry-run", is_flag=True, help="Read and count; write nothing.")
@click.option("--yes", is_flag=True, help="Go on although votes are lost, or all documents are gone.")
@with_output
def index(
    output: Output,
    *,
    project_id: str | None,
    mode: str,
    scopes: tuple[str, ...],
    session_id: str | None,
    ref: str | None,
    dry_run: bool,
    yes: bool,
) -> None:
    """Index a project's documents and sessions."""
    if session_id is not None and (ref is not None or any(scope != "session" for scope in scopes)):
        raise UsageError("--session goes with neither --ref nor another --scope.", hint="Leave those out.")
    with services() as opened, output.progress() as listener:
        found = chosen_project(opened, project_id)
        report = in_turn(
            lambda: opened.indexing.run(
                found,
                actor=operator(),
                mode="full" if mode == "full" else "incremental",
                scopes=tuple(scope for scope in ALL_SCOPES if not scopes or scope in scopes),
                session_id=session_id,
                ref=ref,
                dry_run=dry_run,
                allow_vote_loss=yes,
                allow_emptied=yes,
                listener=listener,
            ),
            say=output.note,
        )
    output.emit(report.to_json())
    if not output.as_json:
        print_report(output, report)
    if not report.complete:
        stop(EXIT_PARTIAL)


@click.group("sessions")
def sessions() -> None:
    """Sessions: event logs that are indexed beside the documents."""


@sessions.command("import")
@click.argument("file", type=ANY_PATH)
@click.option(
    "--mask-documents", is_flag=True, help="Mask CPF and CNPJ numbers too, known by their check digits."
)
@project_option
@with_output
def import_verb(output: Output, file: Path, project_id: str | None, *, mask_documents: bool) -> None:
    """Import a file of JSON lines. Index it with `medir index --scope session`."""
    with services() as opened:
        found = chosen_project(opened, project_id)
        imported = import_sessions(opened.database, found.project_id, file, tax_numbers=mask_documents)
    output.emit({"project": found.project_id} | imported.to_json())
    output.say(
        f"Imported {counted(imported.events, 'new event')} in {counted(imported.sessions, 'new session')}."
    )
    if imported.masked:
        output.say(f"Masked {counted(imported.masked, 'secret')}.")
    for note in imported.notes:
        output.say(f"  line {note.line}: {note.note}")
    for entry in imported.refused:
        output.say(f"  line {entry.line} refused: {entry.reason}")
    if imported.refused:
        stop(EXIT_PARTIAL)


def print_report(output: Output, report: IndexReport) -> None:
    """What an index run did, for a person."""
    table = make_table("scope", "read", "chunks", numbers=("read", "chunks"))
    for scope, (sources, chunks) in report.counts.items():
        unit = scope.holds
        table.add_row(str(scope), counted(sources, unit), str(chunks))
    output.people.print(table)
    embedding, dry = report.embedding, report.dry_run
    output.say(
        f"Vectors: {embedding.embedded} {'to make' if dry else 'made'}, "
        f"{embedding.reused} {'to reuse' if dry else 'reused'}, "
        f"{embedding.skipped} {'would be missing' if dry else 'missing'}."
        + (f" {embedding.reason}" if embedding.reason else "")
    )
    print_left_out(output, report.skipped)
    if report.outside is not None and report.outside.files:
        output.say(one_line(f"{report.outside.told}."))
    for note in report.notes:
        output.say(f"  {_shown(note['path'])}: {note['note']}")
    if report.votes_lost:
        output.say(f"Votes {'that would be ' if report.dry_run else ''}lost: {report.votes_lost}.")
    if report.dry_run:
        output.say("Dry run: nothing was written.")
    elif not report.complete:
        output.advise("Not everything is indexed; run `medir index` again when the cause is mended.")


def print_left_out(output: Output, skipped: Sequence[Skipped], *, by_rule_at_most: int | None = None) -> None:
    """The skipped files with their reasons: what could not be indexed, then what a rule leaves out."""
    left_out = LeftOut.of(skipped)
    if skipped:
        output.say(f"Skipped: {left_out.told}.")
    for entry in (*left_out.faulty, *left_out.by_rule[:by_rule_at_most]):
        kind = BY_RULE if is_by_rule(entry) else FAULTY
        told, remedy = SKIPS[str(entry["reason"])]
        output.say(f"  {_shown(entry['path'])}: {told} ({kind})" + (f". {remedy}" if remedy else ""))
    if by_rule_at_most is not None and len(left_out.by_rule) > by_rule_at_most:
        more = len(left_out.by_rule) - by_rule_at_most
        output.advise(f"  and {more:,} more {BY_RULE}; `medir index --dry-run` lists them all.")


def _shown(path: object) -> str:
    """A file's name on one line: a name may hold newlines, or commands for the terminal."""
    return one_line(str(path))
