"""`medir baseline`: golden runs frozen as files beside the cases."""

from pathlib import Path

import click

from medir.cli.comparison import print_comparison
from medir.cli.frame import (
    EXIT_REFUSED,
    Output,
    cell,
    chosen_project,
    make_table,
    operator,
    project_option,
    services,
    stop,
    with_output,
)
from medir.cli.gates import error_of, exit_code, lost_gate
from medir.cli.golden import cases_option
from medir.contract.baselines import (
    BaselineAnswer,
    BaselineLine,
    BaselineList,
    BaselineVerified,
    FrozenAnswer,
)
from rag_core.evaluation.baselines import (
    baselines_folder,
    freeze,
    list_baselines,
    read_baseline,
    verify_baseline,
)
from rag_core.evaluation.comparison import compare_baselines
from rag_core.evaluation.sides import side_of_baseline
from rag_core.words.settings import settings_as_typed


@click.group("baseline")
def baseline() -> None:
    """Baselines: freeze a golden run, list, show, verify, compare."""


@baseline.command("freeze")
@click.argument("name")
@project_option
@cases_option
@click.option("--allow-degraded", is_flag=True, help="Freeze a run without vectors too; it then says so.")
@with_output
def freeze_verb(
    output: Output, name: str, project_id: str | None, cases: Path | None, allow_degraded: bool
) -> None:
    """Run the golden set and freeze what comes out, under a name that is not taken."""
    with services() as opened, output.progress() as listener:
        frozen, file = freeze(
            opened.evaluation,
            chosen_project(opened, project_id),
            name,
            clock=opened.clock,
            actor=operator(),
            cases=cases,
            allow_degraded=allow_degraded,
            listener=listener,
        )
    told = FrozenAnswer.of(frozen, file)
    output.emit(told)
    output.say(f"Frozen as {told.name}: {told.passed} of {told.total} pass. Commit {file}.")


@baseline.command("list")
@project_option
@cases_option
@with_output
def list_verb(output: Output, project_id: str | None, cases: Path | None) -> None:
    """List the baselines beside the golden set."""
    with services() as opened:
        entries = list_baselines(baselines_folder(chosen_project(opened, project_id), cases))
    lines = tuple(map(BaselineLine.of, entries))
    output.emit(BaselineList(baselines=lines))
    if output.as_json:
        return
    if not entries:
        output.advise("There is no baseline yet: medir baseline freeze NAME")
        return
    table = make_table("name", "frozen at", "passed", "")
    for line in lines:
        table.add_row(
            cell(line.name),
            line.frozen_at or "-",
            f"{line.passed} of {line.total}" if line.valid else "-",
            cell(line.reason or "", style="red"),
        )
    output.people.print(table)


@baseline.command("show")
@click.argument("name")
@project_option
@cases_option
@with_output
def show_verb(output: Output, name: str, project_id: str | None, cases: Path | None) -> None:
    """Show what a baseline stood on and how it came out."""
    with services() as opened:
        found = read_baseline(baselines_folder(chosen_project(opened, project_id), cases), name)
    if output.as_json:
        output.emit(BaselineAnswer.of(found))
        return
    side = side_of_baseline(found)
    output.say(
        f"{found.name}, frozen at {found.frozen_at}: {sum(found.passed.values())} of {len(found.cases)} pass"
        + (", degraded" if found.identity["degraded"] else "")
    )
    output.say(f"Settings: {settings_as_typed(side.settings)}")
    stood_on = side.ground | side.detail
    output.say("Stands on: " + ", ".join(f"{key} {stood_on[key]}" for key in ("index", "commit", "model")))
    failed = [case for case, passed in found.passed.items() if not passed]
    output.say(f"Failing: {', '.join(failed) or 'none'}")
    output.say(f"Checksum: {found.checksum}")


@baseline.command("verify")
@click.argument("name")
@project_option
@cases_option
@with_output
def verify_verb(output: Output, name: str, project_id: str | None, cases: Path | None) -> None:
    """Check a baseline's checksum, and that its candidates still give its results; exit 2 where not."""
    with services() as opened:
        reason = verify_baseline(baselines_folder(chosen_project(opened, project_id), cases), name)
    output.emit(BaselineVerified(name=name, valid=reason is None, reason=reason))
    output.say(f"The baseline {name} is sound." if reason is None else reason)
    if reason is not None:
        stop(EXIT_REFUSED)


@baseline.command("diff")
@click.argument("old", metavar="A")
@click.argument("new", metavar="B")
@project_option
@cases_option
@with_output
def diff_verb(output: Output, old: str, new: str, project_id: str | None, cases: Path | None) -> None:
    """Say what B won and lost against A; exit 1 where a case is lost, 2 where that can't be said."""
    with services() as opened:
        found = chosen_project(opened, project_id)
        folder = baselines_folder(found, cases)
        comparison = compare_baselines(read_baseline(folder, old), read_baseline(folder, new), found)
    gate = lost_gate(comparison)
    unmet = () if gate is None else (gate,)
    output.emit(comparison.to_json() | {"against": new} | error_of(unmet, project_id=output.project_id))
    if not output.as_json:
        print_comparison(output, comparison, what=f"Baseline {new}")
    for each in unmet:
        output.note(each.sentence)
    stop(exit_code(unmet))
