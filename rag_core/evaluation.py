"""Golden runs: the cases of a project asked of its index, judged, recorded.

A run is deterministic: exact vector search, each question embedded alone and its vector kept, stable ties. Two
runs on one index differ in their time fields only.
"""

import difflib
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rag_core.answer import hits_to_json
from rag_core.database.chunks import indexed_places, read_contents
from rag_core.database.connections import Database
from rag_core.database.projects import Project
from rag_core.errors import InvalidInput, MedirError, Refused, UsageError
from rag_core.explanation import CaseExplanation, explain
from rag_core.golden.cases import GoldenSet, parse_cases
from rag_core.golden.document import decode
from rag_core.golden.faults import Fault, refusal
from rag_core.golden.floor import raise_floor
from rag_core.golden.linter import lint
from rag_core.golden.verdicts import GoldenOutcome, judge_all
from rag_core.measurement import (
    IndexFacts,
    LexicalWay,
    Measurement,
    indexed_identity,
    refuse_degraded,
)
from rag_core.model import Actor, CandidateSet, Ranking, SearchSettings
from rag_core.plurals import counted
from rag_core.ports import Clock, Vectors
from rag_core.presets import Overrides
from rag_core.projects import cases_file
from rag_core.runs import Progress, running
from rag_core.search import Search
from rag_core.sources.documents import list_markdown
from rag_core.sources.floor_history import FloorHistory, highest_floor
from rag_core.sources.git import GitRepository


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenRun:
    """One run: what was asked, of which index, under which settings, and how every case came out.

    `vectors` (of the questions, None where there was none), `found` (fetched deeper than ranked) and `rankings` are
    in the order of the cases. `others` holds the candidates of other lexical ways, where they were asked for.
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
            "cases": [
                verdict.to_json() | {"hits": hits_to_json(ranking.hits, None)}
                for verdict, ranking in zip(self.outcome.verdicts, self.rankings, strict=True)
            ],
            "startedAt": self.started_at,
            "totalMs": self.total_ms,
        }


class Evaluation:
    """Golden runs of one installation."""

    def __init__(self, *, database: Database, search: Search, clock: Clock) -> None:
        self._database = database
        self._measurement = Measurement(database=database, search=search)
        self._clock = clock

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
        return golden, lint(golden, indexed=indexed, in_repository=_paths_in_repository(project))

    def run_golden(
        self,
        project: Project,
        *,
        actor: Actor,
        cases: Path | None = None,
        overrides: Overrides | None = None,
        allow_degraded: bool = False,
        reason: str | None = None,
        ways: Sequence[LexicalWay] = (),
        compare: Callable[[GoldenRun], Mapping[str, object]] | None = None,
        listener: Progress | None = None,
    ) -> GoldenRun:
        """Ask every case and judge what comes back. Writes no `rag_searches` row.

        Args:
            project: Whose index is asked.
            actor: Who runs it.
            cases: Another file than the project's own.
            overrides: Numbers of a trial.
            allow_degraded: Go on without vectors, which is then part of the run's identity.
            reason: Why it is run, where that is to be kept.
            ways: Other lexical ways to ask in too, kept in `others`; they play no part in the verdicts.
            compare: What is recorded beside the run as its `baseline`.
            listener: Told of the progress.

        Raises:
            FaultyGoldenSet: The set does not parse, or has cases that can't be won.
            Refused: The run would be degraded.
            UsageError: The file or the index does not exist.
        """
        file = cases or cases_file(project)
        overrides = overrides or Overrides()
        started_at, started = self._clock.now(), self._clock.monotonic_ms()
        golden, faults = self.lint(project, cases=file)
        if faults:
            raise refusal(faults, file=str(file))
        with running(
            self._database,
            self._clock,
            project.project_id,
            "golden",
            actor=actor,
            parameters={
                "cases": str(file),
                "trial": overrides.any_given,
                "allowDegraded": allow_degraded,
                "reason": reason,
            },
            exclusive=False,
            listener=listener,
        ) as handle:
            measured = self._measurement.take(project, golden, overrides, handle.progress, ways=ways)
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
            )
            handle.result = run.to_json() | ({} if compare is None else {"baseline": compare(run)})
            return run

    def explain_case(
        self,
        project: Project,
        case_id: str,
        *,
        cases: Path | None = None,
        overrides: Overrides | None = None,
    ) -> CaseExplanation:
        """One case asked as in a golden run, with the whole set's texts and what would make it pass. Writes nothing.

        Raises:
            UsageError: There is no such case, file or index.
            FaultyGoldenSet: The set does not parse.
        """
        golden = read_golden_set(cases or cases_file(project))
        case = next((case for case in golden.cases if case.id == case_id), None)
        if case is None:
            close = difflib.get_close_matches(case_id, [case.id for case in golden.cases], n=1)
            raise UsageError(
                f"The golden set has no case {case_id!r}.",
                hint=f"Did you mean {close[0]!r}?" if close else "`medir golden run` lists the cases.",
            )
        alone = GoldenSet(floor=0, limit=golden.limit, cases=(case,))
        measured = self._measurement.take(
            project, alone, overrides or Overrides(), _silent, keep_vectors_made=False
        )
        found, ranking = measured.found[0], measured.rankings[0]
        ids = [entry.candidate.chunk_id for entry in ranking.whole_set]
        with self._database.connection() as connection:
            contents = read_contents(connection, project.project_id, ids)
        return explain(case, found, ranking, measured.settings, contents=contents)


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
) -> RaisedFloor:
    """Raise the floor in a cases file to what passes now under the settings in force.

    Raises:
        InvalidInput: There is no reason.
        Refused: Fewer pass than the floor asks for, or the run would be degraded.
    """
    if not reason.strip():
        raise InvalidInput(
            "A floor is raised for a reason.", hint="Say why with --reason.", where={"field": "reason"}
        )
    run = evaluation.run_golden(project, actor=actor, cases=file, reason=reason, listener=listener)
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
        text = decode(file.read_bytes(), file=str(file))
        write_atomically(file, raise_floor(text, new_floor=after))
    return RaisedFloor(file=file, before=before, after=after)


def write_atomically(file: Path, text: str) -> None:
    """Replace a file's text in one step: a reader or a crash sees the old text or the new one."""
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", newline="", dir=file.parent, prefix=f".{file.name}.", delete=False
    ) as scratch:
        scratch.write(text)
        scratch.flush()
        os.fsync(scratch.fileno())
    shutil.copymode(file, scratch.name)
    Path(scratch.name).replace(file)


def read_golden_set(file: Path) -> GoldenSet:
    """Read and parse a cases file.

    Raises:
        UsageError: It does not exist or can't be read.
        FaultyGoldenSet: It does not parse.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(
            f"The golden cases {file} can't be read: {error.strerror}.",
            hint="Name the file with --cases, or the folder with `medir project set --golden DIR`.",
        ) from error
    return parse_cases(decode(data, file=str(file)), file=str(file))


def _paths_in_repository(project: Project) -> frozenset[str] | None:
    try:
        return list_markdown(
            GitRepository(Path(project.repo)), ref=project.ref, root=project.root, folders=project.folders
        )
    except MedirError:
        # the index can still be judged where the repository has gone away
        return None


def _silent(_step: str, _done: int, _total: int) -> None:
    """Progress that nobody follows."""
