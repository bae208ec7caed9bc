"""Golden runs: the cases of a project asked of its index, judged, recorded.

A run is deterministic: exact vector search, each question embedded alone and its vector kept, stable ties. Two
runs on one index differ in their time fields only.
"""

import dataclasses
import difflib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rag_core.answer import hits_to_json, ranked_to_json
from rag_core.database.adopted_settings import read_adopted
from rag_core.database.candidates import QUERY_VERSION
from rag_core.database.chunks import indexed_places, read_contents
from rag_core.database.connections import Connection, Database
from rag_core.database.index_identity import (
    IndexIdentity,
    count_chunks,
    fingerprint,
    read_identity,
    read_scope_states,
)
from rag_core.database.projects import Project
from rag_core.database.vectors import keep_vectors, read_vectors
from rag_core.errors import InvalidInput, MedirError, Refused, UsageError
from rag_core.golden.cases import GoldenSet, parse_cases
from rag_core.golden.document import decode
from rag_core.golden.faults import Fault, refusal
from rag_core.golden.floor import raise_floor
from rag_core.golden.linter import lint
from rag_core.golden.remedies import Remedy, remedies
from rag_core.golden.verdicts import CaseVerdict, GoldenOutcome, judge, judge_all
from rag_core.model import ALL_SCOPES, Actor, CandidateSet, DegradedReason, Ranking, SearchSettings
from rag_core.ports import Clock, Vectors
from rag_core.presets import Overrides, resolve_settings
from rag_core.projects import cases_file
from rag_core.ranking import rank
from rag_core.runs import Progress, running
from rag_core.search import QuestionVector, Search
from rag_core.sources.documents import list_markdown
from rag_core.sources.floor_history import FloorHistory, highest_floor
from rag_core.sources.git import GitRepository

# deep enough to say where a case fell and what depth would have saved it
GOLDEN_DEPTH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFacts:
    """The index that a run stood on."""

    fingerprint: str
    commit: str | None
    model: str | None
    chunker_version: str
    query_version: str
    chunks: int
    without_vector: int

    def to_json(self) -> dict[str, object]:
        """The contract's `index`."""
        return {
            "fingerprint": self.fingerprint,
            "commit": self.commit,
            "model": self.model,
            "chunkerVersion": self.chunker_version,
            "queryVersion": self.query_version,
            "chunks": self.chunks,
            "withoutVector": self.without_vector,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenRun:
    """One run: what was asked, of which index, under which settings, and how every case came out.

    `found` (fetched deeper than ranked) and `rankings` are in the order of the cases.
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

    @property
    def floor_fall(self) -> str | None:
        """One sentence where the floor is lower than git history had it."""
        return self.floor_history.fall(self.outcome.floor)

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
            "degraded": any(found.degraded for found in self.found),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseExplanation:
    """One case with its whole set, the texts by chunk id, and what would make it pass."""

    verdict: CaseVerdict
    settings: SearchSettings
    ranking: Ranking
    contents: Mapping[str, str]
    remedies: tuple[Remedy, ...]

    def to_json(self) -> dict[str, object]:
        """The case as in a golden run, with `wholeSet` and `remedies`."""
        return {
            "case": self.verdict.to_json() | {"hits": hits_to_json(self.ranking.hits, self.contents)},
            "settings": self.settings.to_json(),
            "threshold": self.ranking.threshold,
            "wholeSet": [ranked_to_json(entry) for entry in self.ranking.whole_set],
            "remedies": [{"kind": remedy.kind, "sentence": remedy.sentence} for remedy in self.remedies],
        }


class Evaluation:
    """Golden runs of one installation."""

    def __init__(self, *, database: Database, search: Search, clock: Clock) -> None:
        self._database = database
        self._search = search
        self._clock = clock

    def lint(self, project: Project, *, cases: Path | None = None) -> tuple[GoldenSet, tuple[Fault, ...]]:
        """The project's golden set and what is wrong with it, judged by its index and repository.

        Raises:
            FaultyGoldenSet: The file does not parse.
            UsageError: The file or the index does not exist.
        """
        golden = read_golden_set(cases or cases_file(project))
        with self._database.snapshot() as connection:
            _identity(connection, project)
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
            measured = self._measure(project, golden, overrides, handle.progress)
            if not allow_degraded:
                _refuse_degraded(measured)
            run = GoldenRun(
                settings=measured.settings,
                index=measured.facts,
                outcome=judge_all(golden, measured.rankings),
                found=measured.found,
                rankings=measured.rankings,
                floor_history=highest_floor(file),
                trial=overrides.any_given,
                allow_degraded=allow_degraded,
                started_at=started_at.isoformat(),
                total_ms=self._clock.monotonic_ms() - started,
            )
            handle.result = run.to_json()
            return run

    def explain_case(
        self,
        project: Project,
        case_id: str,
        *,
        cases: Path | None = None,
        overrides: Overrides | None = None,
    ) -> CaseExplanation:
        """One case asked as in a golden run, with the whole set's texts and what would make it pass.

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
        measured = self._measure(project, alone, overrides or Overrides(), _silent)
        found, ranking = measured.found[0], measured.rankings[0]
        ids = [entry.candidate.chunk_id for entry in ranking.whole_set]
        with self._database.connection() as connection:
            contents = read_contents(connection, project.project_id, ids)
        return CaseExplanation(
            verdict=judge(case, ranking),
            settings=measured.settings,
            ranking=ranking,
            contents=contents,
            remedies=remedies(case, found, measured.settings.ranking, rank=rank),
        )

    def _measure(
        self, project: Project, golden: GoldenSet, overrides: Overrides, progress: Progress
    ) -> "_Measured":
        vectors = self._question_vectors(project, golden, progress)
        with self._database.snapshot() as connection:
            identity = _identity(connection, project)
            settings = self._settings(connection, project, identity, golden, overrides)
            facts = _facts(connection, project, identity)
            found = self._gather(
                connection, project, golden, vectors=vectors, settings=settings, progress=progress
            )
        return _Measured(
            settings=settings,
            facts=facts,
            found=found,
            rankings=tuple(rank(candidates, settings.ranking) for candidates in found),
            provider_reason=next((vector.reason for vector in vectors if vector.reason), None),
        )

    def _settings(
        self,
        connection: Connection,
        project: Project,
        identity: IndexIdentity,
        golden: GoldenSet,
        overrides: Overrides,
    ) -> SearchSettings:
        adopted = read_adopted(connection, project.project_id)
        return resolve_settings(
            model_id=identity.embedding_model,
            scopes=ALL_SCOPES,
            adopted=adopted.settings if adopted else None,
            overrides=overrides,
            file_limit=golden.limit,
        )

    def _question_vectors(
        self, project: Project, golden: GoldenSet, progress: Progress
    ) -> list[QuestionVector]:
        with self._database.connection() as connection:
            model_id = _identity(connection, project).embedding_model
            hashes = [_text_hash(case.question) for case in golden.cases]
            known = (
                read_vectors(connection, project.project_id, model_id, "question", hashes) if model_id else {}
            )
        vectors: list[QuestionVector] = []
        for done, (case, text_hash) in enumerate(zip(golden.cases, hashes, strict=True)):
            progress("embed", done, len(hashes))
            if text_hash in known:
                vectors.append(self._search.known_vector(known[text_hash], model_id))
                continue
            embedded = self._search.embed(case.question, model_id)
            vectors.append(embedded)
            if embedded.vector is not None and embedded.model_id == model_id and model_id is not None:
                self._keep(project, model_id, text_hash, embedded.vector)
        return vectors

    def _keep(self, project: Project, model_id: str, text_hash: str, vector: Vectors) -> None:
        with self._database.connection() as connection:
            keep_vectors(connection, project.project_id, model_id, "question", {text_hash: vector})

    def _gather(
        self,
        connection: Connection,
        project: Project,
        golden: GoldenSet,
        *,
        vectors: list[QuestionVector],
        settings: SearchSettings,
        progress: Progress,
    ) -> tuple[CandidateSet, ...]:
        found: list[CandidateSet] = []
        for done, (case, vector) in enumerate(zip(golden.cases, vectors, strict=True)):
            progress("search", done, len(vectors))
            deep = dataclasses.replace(
                settings.candidates,
                scopes=case.scope or ALL_SCOPES,
                fetch_depth=max(GOLDEN_DEPTH, settings.candidates.fetch_depth),
            )
            found.append(
                self._search.gather(
                    connection, project.project_id, case.question, vector, deep, exact=True
                ).found
            )
        return tuple(found)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    settings: SearchSettings
    facts: IndexFacts
    found: tuple[CandidateSet, ...]
    rankings: tuple[Ranking, ...]
    provider_reason: str | None


def _identity(connection: Connection, project: Project) -> IndexIdentity:
    identity = read_identity(connection, project.project_id)
    if identity is None:
        raise UsageError(
            f"The project {project.project_id} is not indexed yet.",
            hint=f"Run: medir index --project {project.project_id}",
        )
    return identity


def _facts(connection: Connection, project: Project, identity: IndexIdentity) -> IndexFacts:
    states = read_scope_states(connection, project.project_id)
    chunks, without_vector = count_chunks(connection, project.project_id, ALL_SCOPES)
    return IndexFacts(
        fingerprint=fingerprint(connection, project.project_id, query_version=QUERY_VERSION),
        commit=next((state.commit for state in states.values() if state.commit), None),
        model=identity.embedding_model,
        chunker_version=identity.chunker_version,
        query_version=QUERY_VERSION,
        chunks=chunks,
        without_vector=without_vector,
    )


def _paths_in_repository(project: Project) -> frozenset[str] | None:
    try:
        return list_markdown(GitRepository(Path(project.repo)), ref=project.ref, root=project.root)
    except MedirError:
        # the index can still be judged where the repository has gone away
        return None


def _refuse_degraded(measured: _Measured) -> None:
    degraded = next((found for found in measured.found if found.degraded), None)
    if degraded is None:
        return
    missing = measured.facts.without_vector
    reasons = {
        DegradedReason.MODEL_MISMATCH: "the configured embedding model is not the one that made the index",
        DegradedReason.PROVIDER: measured.provider_reason or "the embedding provider does not answer",
        DegradedReason.NO_VECTORS: "the index has no vectors",
        DegradedReason.SOME_VECTORS_MISSING: f"{missing} chunks have no vector",
    }
    reason = reasons[degraded.degraded_reason or DegradedReason.NO_VECTORS].rstrip(".")
    raise Refused(
        f"This golden run would be degraded: {reason}.",
        hint="Mend that and index again, or measure it as it is with --allow-degraded.",
    )


def _text_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _silent(_step: str, _done: int, _total: int) -> None:
    """Progress that nobody follows."""
