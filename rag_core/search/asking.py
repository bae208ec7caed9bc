"""Asking: from a question to hits, in one snapshot of the database.

The walk: embed (one call, bounded) -> one read-only transaction: identity, vector query, lexical query ->
`ranking.rank` -> the hits' texts from the same transaction -> one telemetry row -> the answer.
"""

import dataclasses
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from rag_core.database.connections import Database
from rag_core.database.index.chunks import read_contents
from rag_core.database.index.identity import read_identity
from rag_core.database.projects import find_project
from rag_core.database.search.telemetry import SearchRecord
from rag_core.embedding.providers import Providers
from rag_core.errors import InvalidInput
from rag_core.model import ALL_SCOPES, Actor, EmbeddingModel, Scope, Timings
from rag_core.model.limits import MAX_QUESTION_CHARS
from rag_core.ports import Clock, Vectors
from rag_core.ranking.ranking import rank
from rag_core.search.answer import Answer, Notice
from rag_core.search.explaining import explain_target
from rag_core.search.gathering import Gathering, QuestionVector
from rag_core.search.narration import Narration
from rag_core.search.telemetry import Telemetry
from rag_core.settings.golden_folder import CommittedFile, CommittedFiles
from rag_core.settings.in_force import read_sources
from rag_core.settings.overrides import Overrides


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderNow:
    """Whether the configured provider is the one that made the index.

    `changed` says that it is another, by its own word or by configuration: live searches are then lexical only.
    `reason` says why it does not answer, None where it does.
    """

    changed: bool
    reason: str | None
    model_id: str | None = None


class Search:
    """The search of one installation. `between_queries` is for `Gathering`."""

    def __init__(
        self,
        *,
        database: Database,
        providers: Providers,
        telemetry: Telemetry,
        clock: Clock,
        between_queries: Callable[[], None] | None = None,
    ) -> None:
        self._database = database
        self._providers = providers
        self._telemetry = telemetry
        self._clock = clock
        self.gathering = Gathering(clock=clock, between_queries=between_queries)
        self._committed = CommittedFiles()

    def ask(
        self,
        project_id: str,
        question: str,
        *,
        actor: Actor,
        scopes: tuple[Scope, ...] = ALL_SCOPES,
        overrides: Overrides | None = None,
        explain: str | None = None,
        session_id: str | None = None,
        synthetic: bool = False,
    ) -> Answer:
        """Search, and record that it was asked.

        A project that was never indexed answers with nothing and says so. The question has 1 to 2,000
        characters and is not blank. `overrides` are a trial's numbers, `explain` is a place or a chunk id whose
        way through the search is wanted. `synthetic` is for benches and demonstrations, whose rows the report
        leaves out.

        Raises:
            InvalidInput: The question is blank or too long, or a setting is out of range.
            DatabaseUnavailable: The database does not answer.
        """
        asked_at = self._clock.now()
        answer = self.look(project_id, question, scopes=scopes, overrides=overrides, explain=explain)
        record = SearchRecord(
            id=uuid.uuid4(),
            project_id=project_id,
            asked_at=asked_at,
            question=answer.question,
            settings=answer.settings,
            found=answer.found,
            ranking=answer.ranking,
            timings=answer.timings,
            actor=actor,
            session_id=session_id,
            synthetic=synthetic,
        )
        not_recorded = self._telemetry.record(record)
        search_id = str(record.id) if not_recorded is None else None
        if session_id is not None:
            Narration(self._database).tell_search(
                project_id,
                session_id,
                search_id=search_id,
                question=answer.question,
                ranking=answer.ranking,
                degraded=answer.found.degraded,
                actor=actor,
                at=asked_at,
            )
        return dataclasses.replace(answer, search_id=search_id, not_recorded=not_recorded)

    def look(
        self,
        project_id: str,
        question: str,
        *,
        scopes: tuple[Scope, ...] = ALL_SCOPES,
        overrides: Overrides | None = None,
        explain: str | None = None,
    ) -> Answer:
        """What `ask` would answer, where nobody asks: an address that is opened. Writes nothing, and has no id.

        Raises:
            InvalidInput: As `ask`.
            DatabaseUnavailable: The database does not answer.
        """
        question = clean_question(question)
        started = self._clock.monotonic_ms()
        index_model, committed = self._before(project_id)
        load_ms = self._load(index_model)
        embed_started = self._clock.monotonic_ms()
        embedded = self.embed(question, index_model)
        embed_ms = self._clock.monotonic_ms() - embed_started
        with self._database.snapshot() as connection:
            sources = read_sources(connection, project_id, committed)
            settings = sources.resolve(scopes=scopes, overrides=overrides)
            gathered = self.gathering.gather(connection, project_id, question, embedded, settings.candidates)
            rank_started = self._clock.monotonic_ms()
            ranking = rank(gathered.found, settings.ranking)
            rank_ms = self._clock.monotonic_ms() - rank_started
            contents = read_contents(connection, project_id, [hit.candidate.chunk_id for hit in ranking.hits])
            explanation = (
                None
                if explain is None
                else explain_target(
                    connection,
                    project_id,
                    question,
                    explain,
                    gathered=gathered,
                    settings=settings,
                    ranking=ranking,
                )
            )
        return Answer(
            search_id=None,
            project_id=project_id,
            question=question,
            settings=settings,
            found=gathered.found,
            ranking=ranking,
            contents=contents,
            timings=Timings(
                embed_ms=embed_ms,
                vector_ms=gathered.vector_ms,
                lexical_ms=gathered.lexical_ms,
                rank_ms=rank_ms,
                total_ms=self._clock.monotonic_ms() - started - load_ms,
            ),
            provider_reason=embedded.reason,
            settings_problem=committed.told_problem,
            notice=_notice(indexed=sources.index is not None, terms=gathered.found.searchable_terms),
            explanation=explanation,
        )

    def embed(self, question: str, index_model: str | None) -> QuestionVector:
        """The question's vector by the provider that serves an index of `index_model`; never raises."""
        model = EmbeddingModel.parse(index_model) if index_model else None
        service = self._providers.service_for(model)
        outcome = service.embed_question(question)
        mismatch = not self._providers.can_serve(model) or (
            model is not None and outcome.model is not None and outcome.model.id != model.id
        )
        return QuestionVector(
            vector=outcome.vector,
            model_id=outcome.model.id if outcome.model else None,
            reason=f"{outcome.reason} {outcome.hint}".strip() if outcome.reason else None,
            mismatch=mismatch,
        )

    def known_vector(self, vector: Vectors, model_id: str | None) -> QuestionVector:
        """A vector kept from before, as good as a new one while the configured provider serves its model."""
        model = EmbeddingModel.parse(model_id) if model_id else None
        return QuestionVector(
            vector=vector, model_id=model_id, reason=None, mismatch=not self._providers.can_serve(model)
        )

    def provider_now(self, index_model: str | None) -> ProviderNow:
        """Whether questions of this moment can be embedded for an index of `index_model`; asks the provider."""
        if index_model is None:
            return ProviderNow(changed=False, reason=None)
        model = EmbeddingModel.parse(index_model)
        outcome = self._providers.service_for(model).identify()
        if outcome.model is not None:
            return ProviderNow(changed=outcome.model != model, reason=None, model_id=outcome.model.id)
        return ProviderNow(
            changed=not self._providers.can_serve(model), reason=f"{outcome.reason} {outcome.hint}".strip()
        )

    def _before(self, project_id: str) -> tuple[str | None, CommittedFile]:
        """The index's model, and the project's `settings.yaml` as it stands."""
        # a read of its own: the snapshot must not stay open while a provider or a disk takes its time
        with self._database.connection() as connection:
            identity = read_identity(connection, project_id)
            project = find_project(connection, project_id)
        committed = CommittedFile() if project is None else self._committed.of(project)
        return identity.embedding_model if identity else None, committed

    def _load(self, index_model: str | None) -> float:
        """Bring the index's model into this process. How long it took is told: a process does it once, no search."""
        started = self._clock.monotonic_ms()
        if index_model is not None:
            self._providers.service_for(EmbeddingModel.parse(index_model)).load()
        return self._clock.monotonic_ms() - started


def clean_question(question: str) -> str:
    """The question without NUL bytes, lone surrogates and outer space.

    Raises:
        InvalidInput: It is blank, or longer than 2,000 characters.
    """
    cleaned = question.replace("\x00", "").encode("utf-8", errors="ignore").decode("utf-8").strip()
    if not cleaned:
        raise InvalidInput("The question is empty.", hint="Ask something.", where={"field": "question"})
    if len(cleaned) > MAX_QUESTION_CHARS:
        raise InvalidInput(
            f"The question has {len(cleaned):,} characters; at most {MAX_QUESTION_CHARS:,} are searched.",
            hint="Shorten it.",
            where={"field": "question"},
        )
    return cleaned


def _notice(*, indexed: bool, terms: int) -> Notice | None:
    if not indexed:
        return "notIndexed"
    return None if terms else "noSearchableTerms"
