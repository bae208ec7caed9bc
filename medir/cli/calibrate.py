"""`medir calibrate`: what the golden cases say about the numbers."""

from pathlib import Path

import click
from rich.table import Table

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
from medir.cli.golden import cases_option
from medir.cli.trial import in_force_option, trial_options
from medir.work.calibration_shelf import CalibrationShelf
from rag_core.calibration.choice.verdict import Choice, ScoredContender
from rag_core.calibration.findings import Findings
from rag_core.evaluation.baselines import baselines_folder, read_baseline
from rag_core.evaluation.calibrations import Calibration, Demands
from rag_core.metrics.measures import measure_names, parse_measure
from rag_core.model import SearchSettings
from rag_core.settings.overrides import Overrides
from rag_core.words.numbers import from_to, p_value
from rag_core.words.plurals import counted
from rag_core.words.ranges import tell_thresholds, tell_weights
from rag_core.words.settings import settings_as_typed


@click.command("calibrate")
@project_option
@cases_option
@click.option("--baseline", metavar="NAME", help="Its passing cases must not be lost.")
@click.option(
    "--metric",
    default="passed",
    show_default=True,
    help=f"What to choose by: {', '.join(measure_names('K'))}.",
)
@click.option(
    "--wrong-citation-price",
    "price",
    type=float,
    default=0.25,
    show_default=True,
    metavar="PRICE",
    help="Of a wrong citation, in missed answers.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed, the same answer.")
@click.option("--resamples", type=int, default=200, show_default=True, help="How many tell the optimism.")
@in_force_option
@trial_options
@with_output
def calibrate(
    output: Output,
    *,
    project_id: str | None,
    cases: Path | None,
    baseline: str | None,
    metric: str,
    price: float,
    seed: int,
    resamples: int,
    in_force: bool,
    overrides: Overrides,
) -> None:
    """Find the settings that the golden cases speak for, and say whether the evidence suffices."""
    demands = Demands(measure=parse_measure(metric), price=price, seed=seed, resamples=resamples)
    with services() as opened, output.progress() as listener:
        project = chosen_project(opened, project_id)
        frozen = None if baseline is None else read_baseline(baselines_folder(project, cases), baseline)
        found = opened.calibrator.calibrate(
            project,
            actor=operator(),
            cases=cases,
            baseline=frozen,
            overrides=overrides,
            demands=demands,
            in_force=in_force,
            listener=listener,
            keep=CalibrationShelf(opened.configuration.home).try_put,
        )
    output.emit(found.to_json())
    if not output.as_json:
        _print(output, found)


def _print(output: Output, found: Calibration) -> None:
    findings = found.findings
    choice = findings.choice
    output.say(findings.reason)
    output.say("")
    output.say(f"Today: {settings_as_typed(findings.settings)}")
    if findings.settings.source == "committed":
        output.say("Today's numbers are those of settings.yaml.")
    if found.disagreement is not None:
        output.say(found.disagreement.sentence)
    if found.not_recorded is not None:
        output.say(f"This calibration is not recorded. {found.not_recorded}")
    for line in told_of_proposal(findings):
        output.say(line)
    if findings.shortfall is not None:
        output.say(findings.shortfall.reason)
    output.say("")
    output.people.print(_rivals(choice.table, split=choice.split))
    output.say("")
    optimism = "not known" if choice.optimism is None else f"{100 * choice.optimism:+.1f} points"
    output.say(f"Scored on {choice.cases_told}. Optimism of the cases chosen on: {optimism}.")
    output.say(_detectable(choice))
    kept = "today" if findings.baseline is None else f"in the baseline {findings.baseline}"
    output.say(f"Weights at which nothing is lost that passes {kept}: {tell_weights(findings.safe_weights)}")
    output.say(
        f"Thresholds at which nothing is lost that passes {kept}: {tell_thresholds(findings.safe_thresholds)}"
    )
    if findings.effective.vector is not None:
        output.say(
            f"Where the signals disagree, the vector signal decides {100 * findings.effective.vector:.0f} % of pairs."
        )
    output.say(findings.trade.sentence)
    output.say(found.votes.sentence)
    if choice.verdict == "adopt":
        output.advise(f"To adopt it: {_adopt_command(findings.proposal)}")
    if findings.floor.restored_by:
        best = findings.floor.restored_by[0]
        output.advise(f"To restore the floor with {best.name}: {_adopt_command(best.settings)}")


def _detectable(choice: Choice) -> str:
    """How much could be told from chance, and whether that much can be won at all."""
    points = f" ({100 * choice.detectable_points:.1f} points)" if choice.decidable else ""
    lacking = "" if choice.decidable else f", {counted(choice.more_cases, 'case')} too few"
    return (
        f"Detectable difference: {choice.detectable_cases} cases won and none lost{points}. "
        f"Can be won: {choice.winnable} of {choice.n}{lacking}."
    )


def told_of_proposal(findings: Findings) -> list[str]:
    """The best that was found under the name that the evidence allows, and a warning where its weight is not safe."""
    adopt = findings.choice.verdict == "adopt"
    if findings.proposal is findings.settings:
        return ["Best found: today's numbers."]
    found = f"Best found by {findings.choice.measure} (not adopted; evidence too weak)"
    name = "Proposal" if adopt else found
    lines = [f"{name}: {settings_as_typed(findings.proposal)}"]
    ranking = findings.proposal.ranking
    is_safe = any(run.low <= ranking.weight_vector <= run.high for run in findings.safe_weights)
    if ranking.fusion.weighs and not is_safe:
        lines.append(
            f"Careful: its vector weight {ranking.weight_vector:.4g} lies outside the safe weights "
            f"({tell_weights(findings.safe_weights)}); with today's other numbers a case would be lost there."
        )
    return lines


def _rivals(rows: tuple[ScoredContender, ...], *, split: bool) -> Table:
    numbers = ("held out" if split else "left out", "95 %", "won", "lost", "p", "p (Holm)")
    table = make_table("", *numbers, numbers=numbers)
    for row in rows:
        against, k = row.against_today, row.contender.chosen_k
        table.add_row(
            cell(row.contender.name if k is None else f"{row.contender.name}, k {k}"),
            f"{row.value:.3f}",
            from_to(row.interval.low, row.interval.high),
            *(
                ("", "", "", "")
                if against is None
                else (
                    str(against.won),
                    str(against.lost),
                    p_value(against.p_value),
                    p_value(row.adjusted_p_value),
                )
            ),
        )
    return table


def _adopt_command(settings: SearchSettings) -> str:
    """Every number in full, so that what is adopted is what was measured."""
    ranking, candidates = settings.ranking, settings.candidates
    threshold = "none" if ranking.threshold is None else repr(ranking.threshold)
    cap = "none" if ranking.max_per_file is None else str(ranking.max_per_file)
    numbers = "".join(
        f"--{name.replace('_', '-')} {value!r} "
        for name, value in candidates.lexical.numbers.items()
        if value is not None
    )
    k = f"--rrf-k {ranking.rrf_k} " if ranking.fusion.takes_k else ""
    return (
        f"medir settings adopt --fusion {ranking.fusion} {k}--weight-vector {ranking.weight_vector!r} "
        f"--threshold={threshold} --candidates {ranking.candidates_per_signal} --max-per-file {cap} "
        f"--lexical-operator {candidates.lexical.operator} --lexical-function {candidates.lexical.function} "
        f"{numbers}"
        '--reason "..."'
    )
