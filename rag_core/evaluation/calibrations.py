"""Calibrations: candidates fetched once, at the greatest depth; everything else is replayed from them."""

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rag_core.calibration.choice.families import Variant, variant_of
from rag_core.calibration.choice.verdict import RESAMPLES
from rag_core.calibration.findings import DEPTHS, Findings, find
from rag_core.calibration.replay import measure_replay
from rag_core.calibration.table import Flags, build_table, judge_table
from rag_core.database.connections import Database
from rag_core.database.index.identity import count_chunks, fingerprint
from rag_core.database.runs import recent_runs
from rag_core.database.search.candidates import QUERY_VERSION
from rag_core.errors import InvalidInput
from rag_core.evaluation.golden_runs import Evaluation
from rag_core.evaluation.measuring import GOLDEN_DEPTH, IndexFacts, Measured, Measurement, refuse_degraded
from rag_core.evaluation.sides import side_of_baseline
from rag_core.golden.baseline_file import Baseline
from rag_core.golden.cases import GoldenSet
from rag_core.golden.faults import refusal
from rag_core.metrics.measures import PASSED, Measure
from rag_core.model import (
    ALL_SCOPES,
    Actor,
    CandidateSet,
    LexicalFunction,
    LexicalOperator,
    LexicalWay,
    Project,
    Run,
    SearchSettings,
    canonical_digest,
    is_of_family,
)
from rag_core.model.shape import keyed
from rag_core.ports import Clock
from rag_core.project.runs import Progress, running
from rag_core.report.vote_evidence import VoteEvidence, weigh_votes
from rag_core.search.asking import Search
from rag_core.search.gathering import EXACT_UP_TO_CHUNKS
from rag_core.settings.adopting import settings_history
from rag_core.settings.golden_folder import SETTINGS_FILE, cases_file, committed_file
from rag_core.settings.in_force import Disagreement, settings_in_force
from rag_core.settings.overrides import Overrides, with_preset
from rag_core.settings.presets import PRESETS

# each way asks every question again; up to here that takes seconds
ALL_WAYS_UP_TO_CHUNKS = EXACT_UP_TO_CHUNKS
MAX_RESAMPLES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """What a calibration works for: the measure, the price of a wrong citation in missed answers, the dice."""

    measure: Measure = PASSED
    price: float = 0.25
    seed: int = 0
    resamples: int = RESAMPLES

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise InvalidInput(f"The seed is {self.seed}.", hint="Give 0 or more.")
        if not 1 <= self.resamples <= MAX_RESAMPLES:
            raise InvalidInput(
                f"{self.resamples} resamples were asked for.", hint=f"Give 1 to {MAX_RESAMPLES:,}."
            )
        if not (np.isfinite(self.price) and self.price >= 0):
            raise InvalidInput(
                f"The price of a wrong citation is {self.price}.",
                hint="Give a number of missed answers, such as 0.25.",
            )

    def to_json(self) -> dict[str, object]:
        """As it is recorded with the run."""
        told = {"metric": str(self.measure), "wrongCitationPrice": self.price}
        return told | keyed(self, "seed", "resamples")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Calibration:
    """What was found, with what it was found from: today's candidates first, then those of other lexical ways.

    `disagreement` says where adopted and committed settings differ; today's are the committed ones. `run_id` is its row
    in `runs`.
    """

    run_id: UUID
    golden: GoldenSet
    index: IndexFacts
    demands: Demands
    variants: tuple[Variant, ...]
    findings: Findings
    votes: VoteEvidence
    disagreement: Disagreement | None = None
    not_recorded: str | None = None

    @property
    def deepest(self) -> int:
        """The most candidates a signal that can be replayed."""
        return max(*DEPTHS, self.findings.settings.ranking.candidates_per_signal)

    def variant_of(self, settings: SearchSettings) -> Variant | None:
        """The candidates that settings rank; None where they need some that were not fetched."""
        if settings.ranking.candidates_per_signal > self.deepest:
            return None
        number = variant_of(self.variants, settings.candidates.lexical)
        return None if number is None else self.variants[number]

    def light(self) -> "Calibration":
        """The same without the candidates themselves: a tenth in size, and all that a picture needs."""
        bare = [
            dataclasses.replace(variant, table=variant.table.without_candidates())
            for variant in self.variants
        ]
        return dataclasses.replace(self, variants=tuple(bare))

    def to_json(self) -> dict[str, object]:
        """The contract's calibration, with the index, the votes and what was asked for."""
        return (
            self.findings.to_json()
            | {"index": self.index.to_json(), "votes": self.votes.to_json()}
            | self.demands.to_json()
            | ({} if self.disagreement is None else {"settingsDiffer": self.disagreement.to_json()})
            | ({} if self.not_recorded is None else {"notRecorded": self.not_recorded})
        )


class Calibrator:
    """Calibrations of one installation."""

    def __init__(self, *, database: Database, search: Search, evaluation: Evaluation, clock: Clock) -> None:
        self._database = database
        self._evaluation = evaluation
        self._clock = clock
        self._measurement = Measurement(database=database, search=search)

    def calibrate(
        self,
        project: Project,
        *,
        actor: Actor,
        cases: Path | None = None,
        baseline: Baseline | None = None,
        overrides: Overrides | None = None,
        demands: Demands | None = None,
        in_force: bool = False,
        listener: Progress | None = None,
        run_id: UUID | None = None,
        keep: Callable[["Calibration"], None] | None = None,
    ) -> Calibration:
        """Ask every case once and find out what its settings should be. Writes no `rag_searches` row.

        `baseline`: its passing cases must not be lost, in place of those that pass today. `overrides` are
        numbers to start from in place of those in force. `keep` is called with what was found before its row
        says that it is done. All else is as for `Evaluation.run_golden`.

        Raises:
            FaultyGoldenSet: The set does not parse, or has cases that can't be won.
            FaultySettings: The `settings.yaml` beside it has faults.
            Refused: It would be degraded.
            InvalidInput: The measure judges no case on one side of the split.
            UsageError: The file or the index does not exist.
        """
        file = cases or cases_file(project)
        overrides, demands = overrides or Overrides(), demands or Demands()
        golden, faults = self._evaluation.lint(project, cases=file)
        if faults:
            raise refusal(faults, file=str(file))
        committed = committed_file(project, file)
        committed.sound()
        name = None if baseline is None else baseline.name
        parameters = {"cases": str(file), "baseline": name, "trial": overrides.any_given}
        with running(
            self._database,
            project.project_id,
            "calibration",
            actor=actor,
            parameters=parameters | demands.to_json(),
            exclusive=False,
            listener=listener,
            run_id=run_id,
        ) as handle:
            measured = self._measurement.take(
                project,
                golden,
                overrides,
                handle.progress,
                committed=committed,
                in_force=in_force,
                kinds=self._kinds(project),
            )
            refuse_degraded(measured, work="calibration")
            handle.progress("replay", 0, 2)
            variants = _variants(measured)
            handle.progress("choose", 1, 2)
            deepest = max(GOLDEN_DEPTH, measured.settings.ranking.candidates_per_signal)
            findings = find(
                variants,
                golden.cases,
                measured.settings,
                measure=demands.measure,
                price=demands.price,
                seed=demands.seed,
                resamples=demands.resamples,
                depths=[depth for depth in DEPTHS if depth <= deepest],
                baseline=None if baseline is None else (baseline.name, passed_in(baseline, golden)),
                floor=golden.floor,
                others=self._others(project, golden, measured, deepest=deepest),
            )
            found = Calibration(
                run_id=handle.id,
                golden=golden,
                index=measured.index,
                demands=demands,
                variants=variants,
                findings=findings,
                votes=weigh_votes(self._database, project.project_id, findings.settings, findings.proposal),
                disagreement=measured.sources.disagreement,
                not_recorded=handle.not_recorded,
            )
            if keep is not None:
                keep(found)
            handle.result = {
                "settings": measured.settings.to_json(),
                "index": measured.index.to_json(),
                "cases": len(golden.cases),
                "ground": {"settings": measured.settings.id, "cases": cases_digest(golden)},
                "votes": found.votes.to_json(),
            } | findings.verdict_to_json()
            return found

    def fingerprint(self, project: Project) -> str:
        """The fingerprint of the project's index: equal ones answer every case alike."""
        with self._database.snapshot() as connection:
            return fingerprint(connection, project.project_id, query_version=QUERY_VERSION)

    def ended_runs(self, project: Project, *, count: int) -> tuple[Run, ...]:
        """The last calibrations that ended well, whoever made them and wherever, the newest first."""
        with self._database.connection() as connection:
            runs = recent_runs(connection, project.project_id, "calibration", count=count)
        return tuple(run for run in runs if run.state == "done")

    def _others(
        self, project: Project, golden: GoldenSet, measured: Measured, *, deepest: int
    ) -> list[tuple[str, SearchSettings]]:
        """Numbers that may restore a broken floor, by name: those in force, presets of the model, past adoptions."""
        decisions = settings_history(self._database, project)
        model = measured.settings.candidates.embedding_model
        in_force = settings_in_force(self._database, project).settings
        found = [("the numbers in force", in_force)]
        if measured.sources.disagreement is not None:
            found.append((SETTINGS_FILE, measured.sources.disagreement.committed))
        found += [
            (f"the preset {preset.name}", with_preset(in_force, preset))
            for preset in PRESETS.values()
            if is_of_family(model, preset.family)
        ]
        found += [
            (f"the numbers adopted {each.adopted.adopted_at:%d %b %Y}", each.settings)
            for each in decisions
            if not each.of_another_model
        ]
        limited = [(name, as_judged(each, golden)) for name, each in found]
        return [each for each in limited if each[1].ranking.candidates_per_signal <= deepest]

    def _kinds(self, project: Project) -> tuple[tuple[LexicalOperator, LexicalFunction], ...]:
        with self._database.connection() as connection:
            chunks, _ = count_chunks(connection, project.project_id, ALL_SCOPES)
        if chunks > ALL_WAYS_UP_TO_CHUNKS:
            return ()
        return tuple(product(LexicalOperator, LexicalFunction))


def as_judged(settings: SearchSettings, golden: GoldenSet) -> SearchSettings:
    """The settings as golden runs ask: the set's own limit is stronger."""
    ranking = dataclasses.replace(settings.ranking, limit=golden.limit or settings.ranking.limit)
    return settings.with_ranking(ranking)


def cases_digest(golden: GoldenSet) -> str:
    """Tells sets apart whose calibrations differ: in a case, any part of it, the order or the limit; not the floor."""
    return canonical_digest({"limit": golden.limit, "cases": [repr(case) for case in golden.cases]})


def passed_in(baseline: Baseline, golden: GoldenSet) -> Flags:
    """Which cases of a golden set passed in a baseline, shape (cases,); False where it has no such case."""
    digests = {case.id: case.digest for case in baseline.cases}
    passed = baseline.passed
    return np.array(
        [digests.get(case.id) == case.digest and passed[case.id] for case in golden.cases], dtype=bool
    )


def values_in(
    baseline: Baseline, golden: GoldenSet, measures: Iterable[Measure]
) -> dict[Measure, NDArray[np.float64]]:
    """What a baseline reached in each case of a golden set, replayed on its own candidates, shape (cases,).

    NaN where a measure does not judge the case, and where the baseline has no such case.
    """
    ranking = side_of_baseline(baseline).settings.ranking
    digests = {case.digest: number for number, case in enumerate(baseline.cases)}
    shared = [(at, digests[case.digest]) for at, case in enumerate(golden.cases) if case.digest in digests]
    table = build_table([baseline.found[number] for _, number in shared])
    judged = judge_table(table, [baseline.cases[number] for _, number in shared])
    found: dict[Measure, NDArray[np.float64]] = {}
    for measure in measures:
        found[measure] = np.full(len(golden.cases), np.nan)
        found[measure][[at for at, _ in shared]] = measure_replay(table, judged, ranking, measure)
    return found


def _variants(measured: Measured) -> tuple[Variant, ...]:
    def made(way: LexicalWay, found: tuple[CandidateSet, ...]) -> Variant:
        table = build_table(found)
        return Variant(
            lexical=way,
            table=table,
            judged=judge_table(table, measured.golden.cases),
        )

    own = made(measured.settings.candidates.lexical, measured.found)
    return (own, *(made(way, found) for way, found in measured.others.items()))
