"""`medir golden`: the golden set as a regression."""

from pathlib import Path

import click
from rich.text import Text

from medir.cli.comparison import print_comparison
from medir.cli.frame import (
    EXIT_REFUSED,
    Output,
    cell,
    chosen_project,
    details_of,
    make_table,
    one_line,
    operator,
    project_option,
    services,
    stop,
    with_output,
)
from medir.cli.gates import CHOSEN, error_of, exit_code, tell, unmet_gates
from medir.cli.index import print_report
from medir.cli.junit_file import junit_of, told_in
from medir.cli.partly_indexed import partly_indexed
from medir.cli.paths import ANY_PATH, FILE_TO_WRITE
from medir.cli.trial import in_force_option, trial_options
from medir.contract.explanation import CaseExplained
from rag_core.errors import FaultyDocument
from rag_core.evaluation.baselines import baselines_folder, read_baseline
from rag_core.evaluation.comparison import BaselineComparison, run_against
from rag_core.evaluation.explaining import explain_case
from rag_core.evaluation.explanation import CaseExplanation
from rag_core.evaluation.floor import raise_project_floor
from rag_core.evaluation.golden_runs import Evaluation, GoldenAsked, GoldenRun
from rag_core.files import write_together
from rag_core.formats.trec import trec_qrels, trec_run
from rag_core.golden.faults import Fault
from rag_core.golden.verdicts import CaseVerdict
from rag_core.model import Project, RankedCandidate
from rag_core.project.staleness import told_standing
from rag_core.settings.golden_folder import cases_file, committed_file
from rag_core.settings.overrides import Overrides
from rag_core.words.plurals import counted
from rag_core.words.signals import absent

cases_option = click.option(
    "--cases", type=ANY_PATH, metavar="FILE", help="Another file than the project's own."
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
    multiple=True,
    type=click.Choice(sorted(CHOSEN)),
    help=(
        "lost, with --baseline: exit 1 when a case of it is lost, 2 when that can't be said. stale: exit 1 when text "
        "has changed that the index does not have. Can be repeated."
    ),
)
@click.option("--index", "index_first", is_flag=True, help="Bring the index up to date first.")
@click.option("--allow-degraded", is_flag=True, help="Measure without vectors where there are none.")
@click.option(
    "--trec",
    type=FILE_TO_WRITE,
    metavar="FILE",
    help="Write the run in TREC's format, and its judgments to FILE.qrels.",
)
@click.option("--junit", type=FILE_TO_WRITE, metavar="FILE", help="Write JUnit XML.")
@in_force_option
@trial_options
@with_output
def run_verb(
    output: Output,
    *,
    project_id: str | None,
    cases: Path | None,
    against: str | None,
    fail_on: tuple[str, ...],
    index_first: bool,
    allow_degraded: bool,
    in_force: bool,
    trec: Path | None,
    junit: Path | None,
    overrides: Overrides,
) -> None:
    """Ask every case; exit 1 when fewer pass than the floor, or a must_pass case fails."""
    with told_in(junit, suite="golden"):
        if "lost" in fail_on and against is None:
            raise click.UsageError("--fail-on lost needs a baseline: give --baseline NAME too.")
        with services() as opened, output.progress() as listener:
            found = chosen_project(opened, project_id)
            frozen = None if against is None else read_baseline(baselines_folder(found, cases), against)
            asked: GoldenAsked = {
                "actor": operator(),
                "cases": cases,
                "overrides": overrides,
                "allow_degraded": allow_degraded,
                "in_force": in_force,
            }
            indexed = opened.indexing.run(found, actor=operator(), listener=listener) if index_first else None
            comparison: BaselineComparison | None = None
            if frozen is None:
                run = opened.evaluation.run_golden(found, listener=listener, **asked)
            else:
                run, comparison = run_against(opened.evaluation, found, frozen, listener=listener, **asked)
        unmet = (*unmet_gates(run, comparison, fail_on), *partly_indexed(indexed))
        texts = {} if trec is None else _trec_of(run, trec)
        if junit is not None:
            texts[junit] = junit_of(
                run, comparison, unmet, fail_on=fail_on, suite=f"golden.{found.project_id}"
            )
        write_together(texts)
    output.emit(
        run.to_json()
        | ({} if indexed is None else {"indexRun": indexed.to_json()})
        | ({} if comparison is None else {"baseline": comparison.to_json()})
        | error_of(unmet, project_id=output.project_id)
    )
    if not output.as_json:
        if indexed is not None:
            print_report(output, indexed)
        print_run(output, run)
        if comparison is not None:
            print_comparison(output, comparison, what="This run")
    tell(output, unmet)
    stop(exit_code(unmet))


def _trec_of(run: GoldenRun, file: Path) -> dict[Path, str]:
    cases = run.outcome.golden.cases
    return {
        file: trec_run(cases, run.measured.rankings),
        file.with_name(f"{file.name}.qrels"): trec_qrels(cases),
    }


@golden.command("lint")
@project_option
@cases_option
@with_output
def lint_verb(output: Output, project_id: str | None, cases: Path | None) -> None:
    """Look for what a run would refuse: cases that can't be won, a lowered floor, a faulty settings.yaml.

    Exit 2 when there is any.
    """
    with services() as opened:
        found = chosen_project(opened, project_id)
        faults, unparsed = _all_faults(opened.evaluation, found, cases)
        lacking = opened.evaluation.without_vector(found)
    error = {} if unparsed is None else {"error": details_of(unparsed)}
    output.emit({"faults": [fault.to_json() for fault in faults]} | error)
    for fault in faults:
        output.say(f"{fault.place}: {fault.message}")
    if lacking:
        without = counted(lacking, "chunk has no vector", "chunks have no vector")
        output.note(f"A run will refuse, whatever the set: {without}. Index the project again.")
    if faults:
        stop(EXIT_REFUSED)
    output.say("No faults.")


def _all_faults(
    evaluation: Evaluation, project: Project, cases: Path | None
) -> tuple[tuple[Fault, ...], FaultyDocument | None]:
    """The faults of cases and settings, and the refusal of the first file that does not parse."""
    faults: list[Fault] = []
    refused: FaultyDocument | None = None
    for look in (
        lambda: faults.extend(evaluation.check(project, cases=cases)[1]),
        committed_file(project, cases).sound,
    ):
        try:
            look()
        except FaultyDocument as unparsed:
            faults.extend(map(Fault.read, unparsed.faults))
            refused = refused or unparsed
    return tuple(faults), refused


@golden.command("explain")
@click.argument("case")
@project_option
@cases_option
@click.option(
    "--baseline", "against", metavar="NAME", help="Where it passed; default: the last run in which it did."
)
@in_force_option
@trial_options
@with_output
def explain_verb(
    output: Output,
    *,
    case: str,
    project_id: str | None,
    cases: Path | None,
    against: str | None,
    in_force: bool,
    overrides: Overrides,
) -> None:
    """Show one case's way through the search, what happened since it passed, and what would make it pass."""
    with services() as opened:
        found = chosen_project(opened, project_id)
        frozen = None if against is None else read_baseline(baselines_folder(found, cases), against)
        explained = explain_case(
            opened.evaluation,
            found,
            case,
            cases=cases,
            overrides=overrides,
            in_force=in_force,
            baseline=frozen,
        )
    if output.as_json:
        output.emit(CaseExplained.of(explained))
    else:
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
    """The golden table and what it stands on, for a person; the verdict comes after, from `gates.tell`."""
    ranks = ("hit", "whole", "vector", "lexical")
    table = make_table("", "case", *ranks, "removed by", "expected", numbers=ranks)
    for verdict, ranking in zip(run.outcome.verdicts, run.measured.rankings, strict=True):
        missing = absent(ranking)
        expected = (
            "no answer"
            if verdict.case.no_answer
            else " | ".join(str(place) for place in verdict.case.expected)
        )
        table.add_row(
            Text("✓", style="green") if verdict.passed else Text("✗", style="red"),
            cell(
                verdict.case.id
                + (" *" if verdict.case.must_pass else "")
                + (" (tie)" if verdict.decided_by_tie else "")
            ),
            str(verdict.rank or "-"),
            str(verdict.whole_rank or "-"),
            str(verdict.vector_rank or _without(missing.vector, verdict)),
            str(verdict.lexical_rank or _without(missing.lexical, verdict)),
            "" if verdict.removed_by is None else str(verdict.removed_by),
            Text(one_line(expected), overflow="ellipsis", no_wrap=True),
        )
    output.people.print(table)
    _print_ground(output, run)


def _without(missing: str, verdict: CaseVerdict) -> str:
    """What stands in the place of a signal's rank: nothing is looked for where no answer is right."""
    return "-" if verdict.case.no_answer else missing


def _print_ground(output: Output, run: GoldenRun) -> None:
    outcome, settings = run.outcome, run.measured.settings
    output.say("")
    if outcome.lost_must_pass:
        output.say(f"Lost although they must pass: {', '.join(outcome.lost_must_pass)}.")
    if any(verdict.case.must_pass for verdict in outcome.verdicts):
        output.say("* must pass")
    if run.measured.degraded:
        output.say("Degraded: some or all cases were asked without vectors.")
    trial = " (a trial)" if run.trial else ""
    output.say(
        f"{outcome.passed} of {outcome.total} pass, floor {outcome.floor}{trial}; settings {settings.source}"
        + (f" ({settings.preset})" if settings.preset else "")
        + f", index {run.measured.index.fingerprint}"
    )
    if run.floor_fall is not None:
        output.say(run.floor_fall)
    if not run.floor_history.guarded:
        output.say(f"The floor is unguarded: {run.floor_history.reason}")
    elif not run.floor_history.complete:
        output.say("The git history is shallow, so a higher floor may be out of sight.")
    for sentence in told_standing(run.to_json()):
        output.advise(sentence)
    if run.disagreement is not None:
        taken = "the adopted ones" if settings.source == "adopted" else "the committed ones"
        output.say(f"{run.disagreement.sentence} This run took {taken}.")
    if run.not_recorded is not None:
        output.say(f"This run is not recorded. {run.not_recorded}")


def _print_explanation(output: Output, explained: CaseExplanation) -> None:
    verdict = explained.verdict
    output.say(f"{verdict.case.id}: {'passes' if verdict.passed else 'fails'}")
    output.say(f"Question: {verdict.case.question}")
    if explained.left_out:
        output.say(f"Not searched for: {', '.join(explained.left_out)}")
    if verdict.case.no_answer:
        output.say("Expected: no hit")
    else:
        output.say(f"Expected: {' | '.join(str(place) for place in verdict.case.expected)}")
    missing = absent(explained.ranking)
    output.say(
        f"Ranks: hit {verdict.rank or '-'}, whole set {verdict.whole_rank or '-'}, "
        f"vector {verdict.vector_rank or missing.vector}, lexical {verdict.lexical_rank or missing.lexical}"
        + (f"; removed by {verdict.removed_by}" if verdict.removed_by else "")
    )
    last = max(verdict.whole_rank or 0, len(explained.ranking.hits))
    for entry in explained.ranking.whole_set[:last]:
        mark = "→" if entry.candidate.origin.place in verdict.case.expected else " "
        candidate = entry.candidate
        output.say(
            f"{mark} {entry.whole_rank:>3}  {entry.score:.4f}  "
            f"vector {_score(candidate.vector_score, missing.vector)}  "
            f"lexical {_score(candidate.lexical_score, missing.lexical)}  {entry.fate:<9}  "
            f"{one_line(candidate.origin.citation)}{_crossing(explained, entry)}"
        )
    if explained.passed_in is not None:
        output.say(f"It passed in {explained.passed_in}. Since then:")
    for cause in explained.lost_because:
        output.say(f"  {cause.sentence}")
    for remedy in explained.remedies:
        output.say(remedy.sentence)


def _score(score: float | None, missing: str) -> str:
    return missing if score is None else f"{score:.3f}"


def _crossing(explained: CaseExplanation, entry: RankedCandidate) -> str:
    """Where the expected chunk would stand above this rival; nothing for itself."""
    if entry.candidate.origin.place in explained.verdict.case.expected:
        return ""
    weights = explained.crossing(entry)
    if not weights:
        return ""
    told = weights if weights == "no weight" else f"weights {weights}"
    return f"  (the expected chunk stands above it at {told})"
