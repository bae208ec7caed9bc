"""Golden runs: the cases of a project asked of its index, judged, recorded.

A run is deterministic: exact vector search, each question embedded alone and its vector kept, stable ties. Two
runs on one index differ in their time fields only.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from rag_core.database.connections import Database
from rag_core.database.index.chunks import indexed_places, read_contents
from rag_core.database.index.identity import count_chunks
from rag_core.errors import InvalidInput, Refused, UsageError
from rag_core.evaluation.expected_places import lint_places
from rag_core.evaluation.explanation import CaseExplanation, explain
from rag_core.evaluation.measuring import (
    IndexFacts,
    LexicalWay,
    Measured,
    Measurement,
    indexed_identity,
    refuse_degraded,
)
from rag_core.files import NotReadable, read_regular_file, write_atomically
from rag_core.golden.cases import GoldenCase, GoldenSet, parse_cases, with_places_meant
from rag_core.golden.document import MAX_FILE_BYTES, decode
from rag_core.golden.faults import Fault, in_file_order, refusal
from rag_core.golden.floor import floor_line, raise_floor
from rag_core.golden.verdicts import GoldenOutcome, VerdictShape, judge_all
from rag_core.model import ALL_SCOPES, Actor, CandidateSet, Project, Ranking, SearchSettings
from rag_core.model.place_names import PlaceNames
from rag_core.ports import Clock, Vectors
from rag_core.project.runs import Progress, running
from rag_core.project.staleness import Staleness, measure_staleness
from rag_core.search.answer import golden_hits_to_json
from rag_core.search.asking import ProviderNow, Search
from rag_core.settings.golden_folder import cases_file, settings_path
from rag_core.settings.in_force import Disagreement, SettingsSources, read_committed, read_sources
from rag_core.settings.presets import FirstSource, Overrides
from rag_core.sources.floor_history import FloorHistory, highest_floor
from rag_core.words.plurals import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenRun:
    """One run: what was asked, of which index, under which settings, and how every case came out.

    `settings_made_for` is the model that the numbers were decided for, None where nobody decided or said it.
    `vectors` (of the questions, None where there was none), `found` (fetched deeper than ranked) and `rankings` are
    in the order of the cases. `others` holds the candidates of other lexical ways, where they were asked for.
    `not_recorded` says why it stands in no row of `runs`, None where it does. `stale` is None where the index is of
    the repository's commit, `provider` what searches of this moment meet, and `disagreement` where adopted and
    committed settings differ.
    """

    settings: SearchSettings
    index: IndexFacts
    outcome: GoldenOutcome
    found: tuple[CandidateSet, ...]
    rankings: tuple[Ranking, ...]
    floor_history: FloorHistory
    trial: bool
    allow_degraded: bool
    started_at: str
    total_ms: float
    stale: Staleness | None = None
    provider: ProviderNow = field(default_factory=lambda: ProviderNow(changed=False, reason=None))
    disagreement: Disagreement | None = None
    not_recorded: str | None = None
    settings_made_for: str | None = None
    vectors: tuple[Vectors | None, ...] = field(default=(), compare=False, repr=False)
    others: Mapping[LexicalWay, tuple[CandidateSet, ...]] = field(default_factory=dict, repr=False)

    @property
    def floor_fall(self) -> str | None:
        """One sentence where the floor is lower than git history had it."""
        return self.floor_history.fall(self.outcome.floor)

    @property
    def degraded(self) -> bool:
        """Whether any case was asked without vectors."""
        return any(found.degraded for found in self.found)

    @property
    def gate_passed(self) -> bool:
        """Whether the floor is met and was never lowered, and no `must_pass` case is lost."""
        return self.outcome.gate_passed and self.floor_fall is None

    def to_json(self) -> dict[str, object]:
        """The contract's golden run."""
        history = self.floor_history
        return {
            "passed": self.outcome.passed,
            "total": self.outcome.total,
            "floor": self.outcome.floor,
            "gatePassed": self.gate_passed,
            "lostMustPass": list(self.outcome.lost_must_pass),
            "floorHistory": {
                "guarded": history.guarded,
                "reason": history.reason,
                "highest": history.highest,
                "commit": history.commit,
                "complete": history.history_complete,
            },
            "trial": self.trial,
            "allowDegraded": self.allow_degraded,
            "degraded": self.degraded,
            "casesDigest": self.outcome.golden.digest,
            "settings": self.settings.to_json(),
            "index": self.index.to_json(),
            **self._standing_to_json(),
            "cases": [
                VerdictShape.of(verdict).to_json()
                | {"scope": _scope_of(verdict.case), "hits": golden_hits_to_json(ranking.hits)}
                for verdict, ranking in zip(self.outcome.verdicts, self.rankings, strict=True)
            ],
            "startedAt": self.started_at,
            "totalMs": self.total_ms,
        }

    def _standing_to_json(self) -> dict[str, object]:
        told: dict[str, object] = {
            "stale": None if self.stale is None else self.stale.to_json(),
            "providerChanged": self.provider.changed,
        }
        if self.provider.changed and self.provider.model_id is not None:
            told["providerModel"] = self.provider.model_id
        if self.provider.reason is not None:
            told["providerReason"] = self.provider.reason
        if self.settings_made_for not in (None, self.index.model):
            told["settingsMadeFor"] = self.settings_made_for
        if self.disagreement is not None:
            told["settingsDiffer"] = self.disagreement.to_json()
        if self.not_recorded is not None:
            told["notRecorded"] = self.not_recorded
        return told


class Evaluation:
    """Golden runs of one installation."""

    def __init__(self, *, database: Database, search: Search, clock: Clock) -> None:
        self._database = database
        self._search = search
        self._measurement = Measurement(database=database, search=search)
        self._clock = clock

    @property
    def database(self) -> Database:
        """The database that is evaluated."""
        return self._database

    def lint(self, project: Project, *, cases: Path | None = None) -> tuple[GoldenSet, tuple[Fault, ...]]:
        """The project's golden set and what is wrong with it, judged by its index and repository.

        Raises:
            FaultyGoldenSet: The file does not parse.
            UsageError: The file or the index does not exist.
        """
        golden = read_golden_set(cases or cases_file(project))
        with self._database.snapshot() as connection:
            indexed_identity(connection, project)
            indexed = indexed_places(connection, project.project_id)
        return lint_places(project, golden, indexed)

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
        line = floor_line(_text_of(file))
        return golden, in_file_order((*faults, Fault(case=None, field="floor", line=line, message=fall)))

    def without_vector(self, project: Project) -> int:
        """How many chunks of the index lack a vector, for which a run refuses unless it may be degraded."""
        with self._database.connection() as connection:
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

        Args:
            project: Whose index is asked.
            actor: Who runs it.
            cases: Another file than the project's own.
            overrides: Numbers of a trial.
            allow_degraded: Go on without vectors, which is then part of the run's identity.
            in_force: Judge what searches use, the adoption before `settings.yaml`.
            reason: Why it is run, where that is to be kept.
            ways: Other lexical ways to ask in too, kept in `others`; they play no part in the verdicts.
            compare: What is recorded beside the run as its `baseline`.
            listener: Told of the progress.
            run_id: Given where the caller has promised an id already.

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
        committed = read_committed(settings_path(project, file))
        committed.sound()
        with running(
            self._database,
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
            measured = self._measurement.take(
                project,
                golden,
                overrides,
                handle.progress,
                committed=committed,
                first=first_source(in_force=in_force),
                ways=ways,
            )
            if not allow_degraded:
                refuse_degraded(measured, work="golden run")
            run = GoldenRun(
                settings=measured.settings,
                index=measured.facts,
                outcome=judge_all(golden, measured.rankings),
                vectors=measured.vectors,
                found=measured.found,
                others=measured.others,
                rankings=measured.rankings,
                floor_history=highest_floor(file),
                trial=overrides.any_given,
                allow_degraded=allow_degraded,
                started_at=started_at.isoformat(),
                total_ms=self._clock.monotonic_ms() - started,
                stale=measure_staleness(self._database, project, measured.states),
                provider=self._search.provider_now(measured.facts.model),
                disagreement=measured.sources.disagreement,
                not_recorded=handle.not_recorded,
                settings_made_for=measured.sources.made_for(measured.settings),
            )
            handle.result = run.to_json() | ({} if compare is None else {"baseline": compare(run)})
            return run

    def measure_case(
        self,
        project: Project,
        case_id: str,
        *,
        cases: Path | None = None,
        overrides: Overrides | None = None,
        ways: Sequence[LexicalWay] = (),
        in_force: bool = False,
    ) -> Measured:
        """One case asked as in a golden run; `ways` are other lexical ways to ask in too. Writes nothing.

        Raises:
            FaultySettings: The `settings.yaml` beside the cases has faults.
            UsageError: There is no such case, file or index.
            FaultyGoldenSet: The set does not parse.
        """
        file = cases or cases_file(project)
        golden = read_golden_set(file)
        with self._database.connection() as connection:
            indexed = indexed_places(connection, project.project_id)
        golden = with_places_meant(golden, PlaceNames(indexed))
        case = next((case for case in golden.cases if case.id == case_id), None)
        if case is None:
            close = difflib.get_close_matches(case_id, [case.id for case in golden.cases], n=1)
            raise UsageError(
                f"The golden set has no case {case_id!r}.",
                hint=f"Did you mean {close[0]!r}?" if close else "`medir golden run` lists the cases.",
            )
        alone = GoldenSet(floor=0, limit=golden.limit, cases=(case,))
        return self._measurement.take(
            project,
            alone,
            overrides or Overrides(),
            _silent,
            ways=ways,
            committed=read_committed(settings_path(project, file)),
            first=first_source(in_force=in_force),
            keep_vectors_made=False,
        )

    def explain_case(
        self,
        project: Project,
        case_id: str,
        *,
        cases: Path | None = None,
        overrides: Overrides | None = None,
        in_force: bool = False,
    ) -> CaseExplanation:
        """One case explained as it is now; `explaining` also knows what it was. Errors as `measure_case`."""
        measured = self.measure_case(project, case_id, cases=cases, overrides=overrides, in_force=in_force)
        return self.explain_measured(project, measured)

    def explain_measured(self, project: Project, measured: Measured) -> CaseExplanation:
        """The first case that was asked, with the whole set's texts and what would make it pass."""
        case, found, ranking = measured.golden.cases[0], measured.found[0], measured.rankings[0]
        ids = [entry.candidate.chunk_id for entry in ranking.whole_set]
        with self._database.connection() as connection:
            contents = read_contents(connection, project.project_id, ids)
        return explain(case, found, ranking, measured.settings, contents=contents)

    def settings_sources(self, project: Project, *, cases: Path | None = None) -> SettingsSources:
        """What the project's settings may be taken from; its file may have faults."""
        committed = read_committed(settings_path(project, cases))
        with self._database.snapshot() as connection:
            return read_sources(connection, project, committed)


def first_source(*, in_force: bool) -> FirstSource:
    """Which decision a golden run or a calibration goes by: the committed one, unless asked for what is in force."""
    return "adopted" if in_force else "committed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RaisedFloor:
    """A floor before and after, and the file that holds it."""

    file: Path
    before: int
    after: int


def raise_project_floor(
    evaluation: Evaluation,
    project: Project,
    *,
    file: Path,
    actor: Actor,
    reason: str,
    listener: Progress | None = None,
    run_id: UUID | None = None,
) -> RaisedFloor:
    """Raise the floor in a cases file to what passes now under the settings in force.

    Raises:
        InvalidInput: There is no reason.
        Refused: Fewer pass than the floor asks for, the run would be degraded, or the adopted settings are not the
            committed ones, so that searches are not what was measured.
    """
    if not reason.strip():
        raise InvalidInput(
            "A floor is raised for a reason.", hint="Say why with --reason.", where={"field": "reason"}
        )
    differ = evaluation.settings_sources(project, cases=file).disagreement
    if differ is not None:
        raise Refused(
            f"{differ.sentence} A floor is raised where both are the same.",
            hint=(
                "Write what is adopted (medir settings adopt --write --reason TEXT), or adopt what is committed "
                "(medir settings adopt --committed --reason TEXT)."
            ),
        )
    run = evaluation.run_golden(
        project, actor=actor, cases=file, reason=reason, listener=listener, run_id=run_id
    )
    before, after = run.outcome.floor, run.outcome.passed
    highest = run.floor_history.highest
    if after < (highest or 0) and run.floor_fall is not None:
        raise Refused(
            f"{run.floor_fall} Only {counted(after, 'case')} {'passes' if after == 1 else 'pass'} now.",
            hint="Put the floor back, and find out what was lost: medir golden run.",
        )
    if after < before:
        raise Refused(
            f"Only {after} cases pass, and the floor is {before}: it only rises.",
            hint="Find out what was lost: medir golden run.",
        )
    if after > before:
        text = _text_of(file)
        write_atomically(file, raise_floor(text, new_floor=after))
    return RaisedFloor(file=file, before=before, after=after)


def read_golden_set(file: Path) -> GoldenSet:
    """Read and parse a cases file.

    Raises:
        UsageError: It does not exist or can't be read.
        FaultyGoldenSet: It does not parse.
    """
    return parse_cases(_text_of(file), file=str(file))


def _text_of(file: Path) -> str:
    hint = "Name the file with --cases, or the folder with `medir project set --golden DIR`."
    try:
        # a cases file may lie elsewhere, behind a link; what it names is read only if it is a file
        data = read_regular_file(file, at_most=MAX_FILE_BYTES + 1, through_links=True)
    except NotReadable as error:
        raise UsageError(f"The golden cases {file}: it {error}.", hint=hint) from error
    if data is None:
        raise UsageError(f"The golden cases {file} can't be read: No such file or directory.", hint=hint)
    return decode(data, file=str(file))


def _scope_of(case: GoldenCase) -> list[str] | None:
    return None if case.scope is None else [str(scope) for scope in case.scope]


def _silent(_step: str, _done: int, _total: int) -> None:
    """Progress that nobody follows."""
