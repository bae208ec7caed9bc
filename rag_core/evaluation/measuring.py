"""The cases of a golden set asked of an index in one snapshot: what golden runs and calibrations stand on.

Deterministic: exact vector search, each question embedded alone and its vector kept, stable ties.
"""

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from rag_core.database.connecting import Connection
from rag_core.database.connections import Database
from rag_core.database.index.identity import (
    IndexIdentity,
    ScopeState,
    count_chunks,
    fingerprint,
    read_identity,
    read_scope_states,
)
from rag_core.database.index.vectors import keep_vectors, read_vectors
from rag_core.database.search.candidates import QUERY_VERSION
from rag_core.errors import OperatorNeeded, Refused, UsageError
from rag_core.golden.cases import GoldenSet
from rag_core.model import (
    ALL_SCOPES,
    CandidateSet,
    CandidateSettings,
    DegradedReason,
    LexicalFunction,
    LexicalOperator,
    LexicalWay,
    Project,
    Ranking,
    Scope,
    SearchSettings,
)
from rag_core.model.shape import keyed
from rag_core.ports import Vectors
from rag_core.project.runs import Progress
from rag_core.ranking.ranking import rank
from rag_core.search.asking import Search
from rag_core.search.gathering import QuestionVector
from rag_core.settings.golden_folder import CommittedFile
from rag_core.settings.in_force import SettingsSources, read_sources
from rag_core.settings.overrides import Overrides
from rag_core.words.degraded import why_degraded
from rag_core.words.plurals import counted

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
    text_search_config: str
    chunks: int
    without_vector: int

    def to_json(self) -> dict[str, object]:
        """The contract's `index`."""
        made_with = ("fingerprint", "commit", "model", "chunker_version", "query_version")
        return keyed(self, *made_with, "chunks", "without_vector")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """What one snapshot of the index answered to every case; all sequences in the order of the cases.

    `vectors` are the questions', None where there was none. `found` is fetched deeper than `rankings` rank it;
    `others` holds the same questions' candidates of other lexical ways, where they were asked for. `states` is what
    was indexed, by scope; `sources` is what the settings were taken from.
    """

    golden: GoldenSet
    settings: SearchSettings
    index: IndexFacts
    vectors: tuple[Vectors | None, ...]
    found: tuple[CandidateSet, ...]
    others: Mapping[LexicalWay, tuple[CandidateSet, ...]]
    rankings: tuple[Ranking, ...]
    provider_reason: str | None
    states: Mapping[Scope, ScopeState]
    sources: SettingsSources

    @property
    def degraded(self) -> bool:
        """Whether any case was asked without vectors."""
        return any(found.degraded for found in self.found)


class Measurement:
    """Asks golden cases of a project's index."""

    def __init__(self, *, database: Database, search: Search) -> None:
        self._database = database
        self._search = search

    def take(
        self,
        project: Project,
        golden: GoldenSet,
        overrides: Overrides,
        progress: Progress,
        *,
        committed: CommittedFile,
        in_force: bool = False,
        ways: Sequence[LexicalWay] = (),
        kinds: Sequence[tuple[LexicalOperator, LexicalFunction]] = (),
        keep_vectors_made: bool = True,
    ) -> Measured:
        """Ask every case. Writes no `rag_searches` row.

        `committed` is the `settings.yaml` beside the cases; `in_force`: ask under what searches use, the
        adoption before that file. `ways` are other lexical ways to ask in, beside that of the settings;
        `kinds` others yet, by operator and function, with the settings' own numbers where they play a part. Without
        `keep_vectors_made` nothing at all is written.

        Raises:
            FaultySettings: The file has faults.
            UsageError: The project is not indexed.
        """
        committed.sound()
        vectors = self._question_vectors(project, golden, progress, keep=keep_vectors_made)
        with self._database.snapshot() as connection:
            identity = indexed_identity(connection, project)
            sources = read_sources(connection, project.project_id, committed)
            settings = sources.resolve(
                first="adopted" if in_force else "committed", overrides=overrides, file_limit=golden.limit
            )
            states = read_scope_states(connection, project.project_id)
            index = _facts(connection, project, identity, states)
            own_way = settings.candidates.lexical
            alike = (
                dataclasses.replace(own_way, operator=operator, function=function)
                for operator, function in kinds
            )
            asked = {own_way, *ways, *alike}
            found = self._gather(
                connection,
                project,
                golden,
                vectors=vectors,
                settings=settings.candidates,
                ways=sorted(asked),
                progress=progress,
            )
        own = found.pop(own_way)
        return Measured(
            golden=golden,
            settings=settings,
            index=index,
            vectors=tuple(
                vector.vector if vector.model_id == identity.embedding_model else None for vector in vectors
            ),
            found=own,
            others=found,
            rankings=tuple(rank(candidates, settings.ranking) for candidates in own),
            provider_reason=next((vector.reason for vector in vectors if vector.reason), None),
            states=states,
            sources=sources,
        )

    def _question_vectors(
        self, project: Project, golden: GoldenSet, progress: Progress, *, keep: bool
    ) -> list[QuestionVector]:
        with self._database.connection() as connection:
            model_id = indexed_identity(connection, project).embedding_model
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
            same = embedded.model_id == model_id
            if keep and embedded.vector is not None and same and model_id is not None:
                self._keep(project, model_id, text_hash, embedded.vector)
        return vectors

    def _keep(self, project: Project, model_id: str, text_hash: str, vector: Vectors) -> None:
        # where nothing can be kept, the question is embedded anew by the next run
        with suppress(OperatorNeeded), self._database.connection() as connection:
            keep_vectors(connection, project.project_id, model_id, "question", {text_hash: vector})

    def _gather(
        self,
        connection: Connection,
        project: Project,
        golden: GoldenSet,
        *,
        vectors: list[QuestionVector],
        settings: CandidateSettings,
        ways: Sequence[LexicalWay],
        progress: Progress,
    ) -> dict[LexicalWay, tuple[CandidateSet, ...]]:
        found: dict[LexicalWay, list[CandidateSet]] = {way: [] for way in ways}
        for done, (case, vector) in enumerate(zip(golden.cases, vectors, strict=True)):
            progress("search", done, len(vectors))
            deep = dataclasses.replace(
                settings,
                scopes=case.scope or ALL_SCOPES,
                fetch_depth=max(GOLDEN_DEPTH, settings.fetch_depth),
            )
            gathered = self._search.gathering.gather_ways(
                connection, project.project_id, case.question, vector, deep, ways=ways, exact=True
            )
            for way, each in gathered.items():
                found[way].append(each.found)
        return {way: tuple(each) for way, each in found.items()}


def indexed_identity(connection: Connection, project: Project) -> IndexIdentity:
    """The identity of the project's index.

    Raises:
        UsageError: It is not indexed yet.
    """
    identity = read_identity(connection, project.project_id)
    if identity is None:
        raise UsageError(
            f"The project {project.project_id} is not indexed yet.",
            hint=f"Run: medir index --project {project.project_id}",
        )
    return identity


def refuse_degraded(measured: Measured, *, work: str) -> None:
    """Go on only where no case was asked without vectors.

    `work` is what would be degraded, in words, e.g. `golden run`.

    Raises:
        Refused: Some case was.
    """
    degraded = next((found for found in measured.found if found.degraded), None)
    if degraded is None:
        return
    missing = measured.index.without_vector
    reason = degraded.degraded_reason or DegradedReason.NO_VECTORS
    # of a whole set more is known than of one question
    known = {
        DegradedReason.PROVIDER: measured.provider_reason,
        DegradedReason.SOME_VECTORS_MISSING: counted(missing, "chunk has no vector", "chunks have no vector"),
    }
    told = (known.get(reason) or why_degraded(reason)).rstrip(".")
    remedy = "Mend that and index again"
    allowed = ", or measure it as it is with --allow-degraded" if work == "golden run" else ""
    raise Refused(f"This {work} would be degraded: {told}.", hint=f"{remedy}{allowed}.")


def _facts(
    connection: Connection, project: Project, identity: IndexIdentity, states: Mapping[Scope, ScopeState]
) -> IndexFacts:
    chunks, without_vector = count_chunks(connection, project.project_id, ALL_SCOPES)
    return IndexFacts(
        fingerprint=fingerprint(connection, project.project_id, query_version=QUERY_VERSION),
        commit=next((state.commit for state in states.values() if state.commit), None),
        model=identity.embedding_model,
        chunker_version=identity.chunker_version,
        query_version=QUERY_VERSION,
        text_search_config=identity.text_search_config,
        chunks=chunks,
        without_vector=without_vector,
    )


def _text_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
