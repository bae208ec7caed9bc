"""`medir settings`: the numbers in force, and the decisions behind them."""

import click

from medir.cli.frame import (
    Output,
    cell,
    chosen_project,
    make_table,
    operator,
    project_option,
    services,
    with_output,
)
from medir.cli.trial import trial_options
from rag_core.settings.adopting import WrittenSettings, adopt_settings, settings_history
from rag_core.settings.in_force import SettingsInForce, settings_in_force
from rag_core.settings.overrides import Overrides
from rag_core.words.settings import settings_as_typed


@click.group("settings")
def settings() -> None:
    """Settings: show what is in force, adopt other numbers, show past decisions."""


@settings.command("show")
@project_option
@with_output
def show_verb(output: Output, project_id: str | None) -> None:
    """Show the settings of the project's searches and who adopted them."""
    with services() as opened:
        found = settings_in_force(opened.database, chosen_project(opened, project_id))
    output.emit(found.to_json())
    _print(output, found)


@settings.command("adopt")
@project_option
@click.option("--reason", required=True, metavar="TEXT", help="Why; recorded with the decision.")
@click.option("--committed", is_flag=True, help="Adopt the numbers of settings.yaml.")
@click.option(
    "--write", is_flag=True, help="Write settings.yaml beside the golden cases too, to be committed."
)
@trial_options
@with_output
def adopt_verb(
    output: Output,
    *,
    project_id: str | None,
    reason: str,
    committed: bool,
    write: bool,
    overrides: Overrides,
) -> None:
    """Put numbers in force for all searches from now on."""
    with services() as opened:
        adopted = adopt_settings(
            opened.database,
            opened.clock,
            chosen_project(opened, project_id),
            overrides=overrides,
            reason=reason,
            actor=operator(),
            committed=committed,
            write=write,
        )
    output.emit(adopted.to_json())
    output.say("In force from now on:")
    _print(output, adopted.in_force)
    if adopted.written is not None and not output.as_json:
        _print_written(output, adopted.written)


@settings.command("history")
@project_option
@with_output
def history_verb(output: Output, project_id: str | None) -> None:
    """List every decision, the latest first."""
    with services() as opened:
        decisions = settings_history(opened.database, chosen_project(opened, project_id))
    output.emit({"history": [decision.to_json() for decision in decisions]})
    if output.as_json:
        return
    if not decisions:
        output.say("Nobody has adopted settings yet; the preset of the index's model is in force.")
        return
    table = make_table("adopted at", "by", "numbers", "reason")
    for decision in decisions:
        adopted = decision.adopted
        table.add_row(
            f"{adopted.adopted_at:%Y-%m-%d %H:%M} UTC",
            cell(adopted.adopted_by),
            settings_as_typed(decision.settings),
            cell(adopted.reason),
        )
    output.people.print(table)


def _print(output: Output, found: SettingsInForce) -> None:
    output.say(settings_as_typed(found.settings))
    source = found.settings.source + (f" ({found.settings.preset})" if found.settings.preset else "")
    output.say(f"Source: {source}")
    if found.of_another_model:
        output.say(
            f"These numbers were chosen for {found.made_for}. The index has another model now, so calibrate again."
        )
    adopted = found.adopted
    if adopted is not None:
        output.say(
            f"Adopted by {adopted.adopted_by} at {adopted.adopted_at:%Y-%m-%d %H:%M} UTC: {adopted.reason}"
        )
    _print_committed(output, found)


def _print_committed(output: Output, found: SettingsInForce) -> None:
    committed, differ = found.committed, found.disagreement
    if committed.problem is not None:
        output.say(f"settings.yaml is not heeded. {committed.problem.message}")
        output.say(committed.problem.hint)
    if differ is not None:
        output.say(differ.sentence)
        output.say(f"Committed: {settings_as_typed(differ.committed)} ({committed.file})")
        output.advise(
            "Searches use the adopted ones, golden runs the committed ones. To make them one: "
            "medir settings adopt --write --reason TEXT, or medir settings adopt --committed --reason TEXT."
        )
    elif committed.settings is not None and found.settings.source == "committed":
        output.say(f"Committed in {committed.file}")


def _print_written(output: Output, written: WrittenSettings) -> None:
    if written.reason is None:
        output.say(f"Written into {written.file}. Commit it.")
        return
    output.say(f"{written.reason} Commit this as settings.yaml beside the golden cases:")
    output.say("")
    output.say(written.text)
