"""Golden runs: the cases of a project asked of its index, judged, recorded.

A run is deterministic: exact vector search, each question embedded alone and its vector kept, stable ties. Two
runs on one index differ in their time fields only.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Required, TypedDict
from uuid import UUID

from rag_core.database.connections import Database
from rag_core.database.index.chunks import indexed_places
from rag_core.database.index.identity import count_chunks
from rag_core.errors import UsageError
from rag_core.evaluation.expected_places import lint_expectations, lint_places
from rag_core.evaluation.measuring import Measured, Measurement, indexed_identity, refuse_degraded
from rag_core.golden.cases import GoldenSet, read_cases
from rag_core.golden.faults import Fault, in_file_order, refusal
from rag_core.golden.floor import floor_line
from rag_core.golden.verdicts import GoldenOutcome, VerdictShape, judge_all
from rag_core.model import ALL_SCOPES, Actor, LexicalWay, Project
from rag_core.model.languages import text_search_config
from rag_core.model.shape import keyed
from rag_core.ports import Clock
from rag_core.project.runs import Progress, running
from rag_core.project.staleness import Staleness, measure_staleness
from rag_core.search.answer import golden_hits_to_json
from rag_core.search.asking import ProviderNow, Search
from rag_core.settings.golden_folder import cases_file, committed_file, read_cases_text
from rag_core.settings.in_force import Disagreement
from rag_core.settings.overrides import Overrides
from rag_core.sources.floor_history import FloorHistory, highest_floor


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenRun:
    """One run: what was asked, of which index, under which settings, and how every case came out.

    `not_recorded` says why it stands in no row of `runs`, None where it does. `stale` is None where the index is of
    the repository's commit, and `provider` what searches of this moment meet. `words_wanted` is the text search
    configuration that an index run would leave.
    """

    measured: Measured
    outcome: GoldenOutcome
    floor_history: FloorHistory
    trial: bool
    allow_degraded: bool
    started_at: str
    total_ms: float
    stale: Staleness | None = None
    provider: ProviderNow = field(default_factory=lambda: ProviderNow(changed=False, reason=None))
    words_wanted: str | None = None
    not_recorded: str | None = None

    @property
    def disagreement(self) -> Disagreement | None:
        """Where adopted and committed settings differ."""
        return self.measured.sources.disagreement

    @property
    def floor_fall(self) -> str | None:
        """One sentence where the floor is lower than git history had it."""
        return self.floor_history.fall(self.outcome.floor)

    @property
    def words_changed(self) -> bool:
        """Whether the index was made in another language than the project's, or its words were cut otherwise."""
        return self.words_wanted not in (None, self.measured.index.text_search_config)

    @property
    def gate_passed(self) -> bool:
        """Whether the floor is met and was never lowered, and no `must_pass` case is lost."""
        return self.outcome.gate_passed and self.floor_fall is None

    def to_json(self) -> dict[str, object]:
        """The contract's golden run."""
        history = keyed(self.floor_history, "guarded", "reason", "highest", "commit", "complete")
        return {
            **keyed(self.outcome, "passed", "total", "floor"),
            "gatePassed": self.gate_passed,
            **keyed(self.outcome, "lost_must_pass"),
            "floorHistory": history,
            **keyed(self, "trial", "allow_degraded"),
            **keyed(self.measured, "degraded"),
            "casesDigest": self.outcome.golden.digest,
            **keyed(self.measured, "settings", "index"),
            **self._standing_to_json(),
            "cases": [
                VerdictShape.of(verdict).to_json()
                | keyed(verdict.case, "scope")
                | {"hits": golden_hits_to_json(ranking.hits)}
                for verdict, ranking in zip(self.outcome.verdicts, self.measured.rankings, strict=True)
            ],
            **keyed(self, "started_at", "total_ms"),
        }

    def _standing_to_json(self) -> dict[str, object]:
        told = keyed(self, "stale") | {"providerChanged": self.provider.changed}
        if self.provider.changed and self.provider.model_id is not None:
            told["providerModel"] = self.provider.model_id
        if self.provider.reason is not None:
            told["providerReason"] = self.provider.reason
        made_for = self.measured.sources.made_for(self.measured.settings)
        if made_for not in (None, self.measured.index.model):
            told["settingsMadeFor"] = made_for
        if self.words_changed:
            told["wordsChanged"] = {
                "made": self.measured.index.text_search_config,
                "wanted": self.words_wanted,
            }
        if self.disagreement is not None:
            told["settingsDiffer"] = self.disagreement.to_json()
        if self.not_recorded is not None:
            told["notRecorded"] = self.not_recorded
        return told


class GoldenAsked(TypedDict, total=False):
    """How a golden run may be asked for, whatever else is done with it; `run_golden` says what each of it means."""

    actor: Required[Actor]
    cases: Path | None
    overrides: Overrides | None
    allow_degraded: bool
    in_force: bool
    run_id: UUID | None


class Evaluation:
    """Golden runs of one installation, over its database."""

    def __init__(self, *, database: Database, search: Search, clock: Clock) -> None:
        self.database = database
        self._search = search
        self.measurement = Measurement(database=database, search=search)
        self._clock = clock

    def lint(self, project: Project, *, cases: Path | None = None) -> tuple[GoldenSet, tuple[Fault, ...]]:
        """The project's golden set and what is wrong with it, judged by its index and repository.

        Raises:
            FaultyGoldenSet: The file does not parse; what its cases expect and can't have is told with it.
            UsageError: The file or the index does not exist.
        """
        file = cases or cases_file(project)
        read = read_cases(read_cases_text(file), file=str(file))
        try:
            with self.database.snapshot() as connection:
                indexed_identity(connection, project)
                indexed = indexed_places(connection, project.project_id)
        except UsageError:
            if read.golden is None:
                raise refusal(read.faults, file=str(file)) from None
            raise
        if read.golden is None:
            expected = lint_expectations(project, read.expected, indexed)
            raise refusal((*read.faults, *expected), file=str(file))
        return lint_places(project, read.golden, indexed)

    def check(self, project: Project, *, cases: Path | None = None) -> tuple[GoldenSet, tuple[Fault, ...]]:
        """As `lint`, with what else of the set a run fails for: a floor that was higher once.

        Raises:
            FaultyGoldenSet: The file does not parse.
            UsageError: The file or the index does not exist.
            Unavailable: The file is in a repository, but git fails there.
        """
        file = cases or cases_file(project)
        golden, faults = self.lint(project, cases=file)
        fall = highest_floor(file).fall(golden.floor)
        if fall is None:
            return golden, faults
        line = floor_line(read_cases_text(file))
        return golden, in_file_order((*faults, Fault(case=None, field="floor", line=line, message=fall)))

    def without_vector(self, project: Project) -> int:
        """How many chunks of the index lack a vector, for which a run refuses unless it may be degraded."""
        with self.database.connection() as connection:
            return count_chunks(connection, project.project_id, ALL_SCOPES)[1]

    def run_golden(
        self,
        project: Project,
        *,
        actor: Actor,
        cases: Path | None = None,
        overrides: Overrides | None = None,
        allow_degraded: bool = False,
        in_force: bool = False,
        reason: str | None = None,
        ways: Sequence[LexicalWay] = (),
        compare: Callable[[GoldenRun], Mapping[str, object]] | None = None,
        listener: Progress | None = None,
        run_id: UUID | None = None,
    ) -> GoldenRun:
        """Ask every case and judge what comes back. Writes no `rag_searches` row.

        `cases` is another file than the project's own, `overrides` are numbers of a trial. `allow_degraded`: go
        on without vectors, which is then part of the run's identity. `in_force`: judge what searches use, the
        adoption before `settings.yaml`. `reason` is why it is run, where that is to be kept. `ways` are other
        lexical ways to ask in too; they play no part in the verdicts. `compare` gives what is recorded beside
        the run as its `baseline`. `run_id` is given where the caller has promised an id already.

        Raises:
            FaultyGoldenSet: The set does not parse, or has cases that can't be won.
            FaultySettings: The `settings.yaml` beside it has faults.
            Refused: The run would be degraded.
            UsageError: The file or the index does not exist.
        """
        file = cases or cases_file(project)
        overrides = overrides or Overrides()
        started_at, started = self._clock.now(), self._clock.monotonic_ms()
        golden, faults = self.lint(project, cases=file)
        if faults:
            raise refusal(faults, file=str(file))
        committed = committed_file(project, file)
        committed.sound()
        with running(
            self.database,
            project.project_id,
            "golden",
            actor=actor,
            parameters={
                "cases": str(file),
                "trial": overrides.any_given,
                "allowDegraded": allow_degraded,
                "inForce": in_force,
                "reason": reason,
            },
            exclusive=False,
            listener=listener,
            run_id=run_id,
        ) as handle:
            measured = self.measurement.take(
                project,
                golden,
                overrides,
                handle.progress,
                committed=committed,
                in_force=in_force,
                ways=ways,
            )
            if not allow_degraded:
                refuse_degraded(measured, work="golden run")
            run = GoldenRun(
                measured=measured,
                outcome=judge_all(golden, measured.rankings),
                floor_history=highest_floor(file),
                trial=overrides.any_given,
                allow_degraded=allow_degraded,
                started_at=started_at.isoformat(),
                total_ms=self._clock.monotonic_ms() - started,
                stale=measure_staleness(self.database, project, measured.states),
                provider=self._search.provider_now(measured.index.model),
                words_wanted=text_search_config(project.language),
                not_recorded=handle.not_recorded,
            )
            handle.result = run.to_json() | ({} if compare is None else {"baseline": compare(run)})
            return run
