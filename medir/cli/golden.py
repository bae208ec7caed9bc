"""`medir golden`: the golden set as a regression."""

from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from medir.cli.comparison import print_comparison
from medir.cli.frame import (
    EXIT_GATE,
    EXIT_REFUSED,
    Output,
    chosen_project,
    operator,
    plain,
    project_option,
    services,
    stop,
    with_output,
)
from medir.cli.trial import trial_options
from rag_core.baselines import baselines_folder, read_baseline
from rag_core.comparing import BaselineComparison, run_against
from rag_core.errors import UsageError
from rag_core.evaluation import GoldenRun, raise_project_floor
from rag_core.explanation import CaseExplanation
from rag_core.formats.junit import junit_xml
from rag_core.formats.trec import trec_qrels, trec_run
from rag_core.model import RankedCandidate
from rag_core.presets import Overrides
from rag_core.projects import cases_file

cases_option = click.option(
    "--cases", type=click.Path(path_type=Path), metavar="FILE", help="Another file than the project's own."
)


@click.group("golden")
def golden() -> None:
    """Golden set: run it, check it, explain a case, raise its floor."""


@golden.command("run")
@project_option
@cases_option
@click.option("--baseline", "against", metavar="NAME", help="Also say what was won and lost against it.")
@click.option(
    "--fail-on",
    type=click.Choice(["lost"]),
    help="With --baseline: exit 1 when a case of it is lost, 2 when the two can't be compared.",
)
@click.option("--allow-degraded", is_flag=True, help="Measure without vectors where there are none.")
@click.option(
    "--trec",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the run in TREC's format, and its judgments to FILE.qrels.",
)
@click.option(
    "--junit", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write JUnit XML."
)
@trial_options
@with_output
def run_verb(
    output: Output,
    *,
    project_id: str | None,
    cases: Path | None,
    against: str | None,
    fail_on: str | None,
    allow_degraded: bool,
    trec: Path | None,
    junit: Path | None,
    overrides: Overrides,
) -> None:
    """Ask every case; exit 1 when fewer pass than the floor, or a must_pass case fails."""
    if fail_on is not None and against is None:
        raise click.UsageError("--fail-on needs a baseline: give --baseline NAME too.")
    with services() as opened, output.progress() as listener:
        found = chosen_project(opened, project_id)
        frozen = None if against is None else read_baseline(baselines_folder(found, cases), against)
        asked = {
            "actor": operator(),
            "cases": cases,
            "overrides": overrides,
            "allow_degraded": allow_degraded,
            "listener": listener,
        }
        comparison: BaselineComparison | None = None
        if frozen is None:
            run = opened.evaluation.run_golden(found, **asked)
        else:
            run, comparison = run_against(opened.evaluation, found, frozen, **asked)
    _write_exports(run, found.project_id, trec=trec, junit=junit)
    output.emit(run.to_json() | ({} if comparison is None else {"baseline": comparison.to_json()}))
    if not output.as_json:
        print_run(output, run)
        if comparison is not None:
            print_comparison(output, comparison, what="This run")
    code = _exit_code(run, comparison if fail_on else None)
    if code == EXIT_GATE and run.gate_passed:
        output.say("Failed: cases of the baseline are lost.")
    if code:
        stop(code)


def _exit_code(run: GoldenRun, gated: BaselineComparison | None) -> int:
    """0, 1 where a gate was not met, 2 where the run can't be held against the baseline that gates it."""
    if gated is not None and gated.outcome is None:
        return EXIT_REFUSED
    lost = gated is not None and gated.outcome is not None and gated.outcome.lost
    return EXIT_GATE if lost or not run.gate_passed else 0


def _write_exports(run: GoldenRun, project_id: str, *, trec: Path | None, junit: Path | None) -> None:
    cases = run.outcome.golden.cases
    if trec is not None:
        _write(trec, trec_run(cases, run.rankings))
        _write(trec.with_name(f"{trec.name}.qrels"), trec_qrels(cases))
    if junit is not None:
        _write(junit, junit_xml(run.outcome, suite=f"golden.{project_id}", floor_fall=run.floor_fall))


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{file} can't be written: {error.strerror}.", hint="Name a file in a folder that can be written."
        ) from error


@golden.command("lint")
@project_option
@cases_option
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
@cases_option
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
@cases_option
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
            Text(plain(expected), overflow="ellipsis", no_wrap=True),
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
            f"{plain(candidate.origin.citation)}{_crossing(explained, entry)}"
        )
    for remedy in explained.remedies:
        output.say(remedy.sentence)


def _crossing(explained: CaseExplanation, entry: RankedCandidate) -> str:
    """Where the expected chunk would stand above this rival; nothing for itself."""
    if entry.candidate.origin.place in explained.verdict.case.expected:
        return ""
    weights = explained.crossing(entry)
    if not weights:
        return ""
    told = weights if weights == "no weight" else f"weights {weights}"
    return f"  (the expected chunk stands above it at {told})"
