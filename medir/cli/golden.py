"""`medir golden`: the golden set as a regression."""

from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from medir.cli.frame import (
    EXIT_GATE,
    EXIT_REFUSED,
    Output,
    chosen_project,
    operator,
    project_option,
    services,
    stop,
    with_output,
)
from medir.cli.trial import trial_options
from rag_core.evaluation import CaseExplanation, GoldenRun, raise_project_floor
from rag_core.presets import Overrides
from rag_core.projects import cases_file

_CASES = click.option(
    "--cases", type=click.Path(path_type=Path), metavar="FILE", help="Another file than the project's own."
)


@click.group("golden")
def golden() -> None:
    """Golden set: run it, check it, explain a case, raise its floor."""


@golden.command("run")
@project_option
@_CASES
@click.option("--allow-degraded", is_flag=True, help="Measure without vectors where there are none.")
@trial_options
@with_output
def run_verb(
    output: Output, project_id: str | None, cases: Path | None, allow_degraded: bool, overrides: Overrides
) -> None:
    """Ask every case; exit 1 when fewer pass than the floor, or a must_pass case fails."""
    with services() as opened, output.progress() as listener:
        run = opened.evaluation.run_golden(
            chosen_project(opened, project_id),
            actor=operator(),
            cases=cases,
            overrides=overrides,
            allow_degraded=allow_degraded,
            listener=listener,
        )
    output.emit(run.to_json())
    if not output.as_json:
        print_run(output, run)
    if not run.gate_passed:
        stop(EXIT_GATE)


@golden.command("lint")
@project_option
@_CASES
@with_output
def lint_verb(output: Output, project_id: str | None, cases: Path | None) -> None:
    """Look for cases that can't be won; exit 2 when there are any."""
    with services() as opened:
        _, faults = opened.evaluation.lint(chosen_project(opened, project_id), cases=cases)
    output.emit({"faults": [fault.to_json() for fault in faults]})
    for fault in faults:
        output.say(f"line {fault.line}, {fault.case}, {fault.field}: {fault.message}")
    if faults:
        stop(EXIT_REFUSED)
    output.say("No faults.")


@golden.command("explain")
@click.argument("case")
@project_option
@_CASES
@trial_options
@with_output
def explain_verb(
    output: Output, case: str, project_id: str | None, cases: Path | None, overrides: Overrides
) -> None:
    """Show one case's way through the search, and what would make it pass."""
    with services() as opened:
        explained = opened.evaluation.explain_case(
            chosen_project(opened, project_id), case, cases=cases, overrides=overrides
        )
    output.emit(explained.to_json())
    if not output.as_json:
        _print_explanation(output, explained)


@golden.command("raise-floor")
@project_option
@_CASES
@click.option("--reason", required=True, metavar="TEXT", help="Why the floor rises; recorded with the run.")
@with_output
def raise_floor_verb(output: Output, project_id: str | None, cases: Path | None, reason: str) -> None:
    """Raise the floor to what passes now. Nothing lowers it."""
    with services() as opened, output.progress() as listener:
        found = chosen_project(opened, project_id)
        raised = raise_project_floor(
            opened.evaluation,
            found,
            file=cases or cases_file(found),
            actor=operator(),
            reason=reason,
            listener=listener,
        )
    output.emit({"file": str(raised.file), "from": raised.before, "to": raised.after, "reason": reason})
    if raised.after == raised.before:
        output.say(f"The floor stays at {raised.after}: that is what passes.")
    else:
        output.say(f"The floor rose from {raised.before} to {raised.after}. Commit {raised.file}.")


def print_run(output: Output, run: GoldenRun) -> None:
    """The golden table and its verdict, for a person."""
    table = Table(box=None, pad_edge=False)
    for heading in ("", "case", "hit", "whole", "vector", "lexical", "removed by", "expected"):
        table.add_column(
            heading, justify="right" if heading in ("hit", "whole", "vector", "lexical") else "left"
        )
    for verdict in run.outcome.verdicts:
        expected = (
            "no answer"
            if verdict.case.no_answer
            else " | ".join(str(place) for place in verdict.case.expected)
        )
        table.add_row(
            Text("✓", style="green") if verdict.passed else Text("✗", style="red"),
            Text(
                verdict.case.id
                + (" *" if verdict.case.must_pass else "")
                + (" (tie)" if verdict.decided_by_tie else "")
            ),
            *(
                "-" if rank is None else str(rank)
                for rank in (verdict.rank, verdict.whole_rank, verdict.vector_rank, verdict.lexical_rank)
            ),
            "" if verdict.removed_by is None else str(verdict.removed_by),
            Text(expected, overflow="ellipsis", no_wrap=True),
        )
    output.people.print(table)
    _print_verdict(output, run)


def _print_verdict(output: Output, run: GoldenRun) -> None:
    outcome, settings = run.outcome, run.settings
    output.say("")
    if any(verdict.case.must_pass for verdict in outcome.verdicts):
        output.say("* must pass")
    if any(found.degraded for found in run.found):
        output.say("Degraded: some or all cases were asked without vectors.")
    trial = " (a trial)" if run.trial else ""
    output.say(
        f"{outcome.passed} of {outcome.total} pass, floor {outcome.floor}{trial}; settings {settings.source}"
        + (f" ({settings.preset})" if settings.preset else "")
        + f", index {run.index.fingerprint}"
    )
    if outcome.lost_must_pass:
        output.say(f"Lost although they must pass: {', '.join(outcome.lost_must_pass)}.")
    if run.floor_fall is not None:
        output.say(run.floor_fall)
    if not run.floor_history.guarded:
        output.say(f"The floor is unguarded: {run.floor_history.reason}")
    elif not run.floor_history.history_complete:
        output.say("The git history is shallow, so a higher floor may be out of sight.")
    output.say("Passed." if run.gate_passed else "Failed.")


def _print_explanation(output: Output, explained: CaseExplanation) -> None:
    verdict = explained.verdict
    output.say(f"{verdict.case.id}: {'passes' if verdict.passed else 'fails'}")
    output.say(f"Question: {verdict.case.question}")
    if verdict.case.no_answer:
        output.say("Expected: no hit")
    else:
        output.say(f"Expected: {' | '.join(str(place) for place in verdict.case.expected)}")
    output.say(
        f"Ranks: hit {verdict.rank or '-'}, whole set {verdict.whole_rank or '-'}, "
        f"vector {verdict.vector_rank or '-'}, lexical {verdict.lexical_rank or '-'}"
        + (f"; removed by {verdict.removed_by}" if verdict.removed_by else "")
    )
    last = max(verdict.whole_rank or 0, len(explained.ranking.hits))
    for entry in explained.ranking.whole_set[:last]:
        mark = "→" if entry.candidate.origin.place in verdict.case.expected else " "
        candidate = entry.candidate
        output.say(
            f"{mark} {entry.whole_rank:>3}  {entry.score:.4f}  vector "
            f"{'-' if candidate.vector_score is None else f'{candidate.vector_score:.3f}'}  lexical "
            f"{'-' if candidate.lexical_score is None else f'{candidate.lexical_score:.3f}'}  {entry.fate:<9}  "
            f"{candidate.origin.citation}"
        )
    for remedy in explained.remedies:
        output.say(remedy.sentence)
