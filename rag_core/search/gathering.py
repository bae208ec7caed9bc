"""Both signals' candidates for one question, from one open snapshot."""

from collections.abc import Callable
from dataclasses import dataclass

from rag_core.database.connecting import Connection
from rag_core.database.index.identity import count_chunks, has_vectors
from rag_core.database.search.candidates import SignalRow, lexical_candidates, unite, vector_candidates
from rag_core.database.search.lexical_query import build_lexical_query
from rag_core.lexical.tsquery import LexicalQuery
from rag_core.model import CandidateSet, CandidateSettings, DegradedReason
from rag_core.ports import Clock, Vectors

# up to here an exact scan takes tens of milliseconds and is right by construction; above it HNSW pays
EXACT_UP_TO_CHUNKS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuestionVector:
    """What the embedding step made of a question: a vector and its model, or a reason why there is none.

    `mismatch` is true when the configured provider can't be the one that made the index.
    """

    vector: Vectors | None
    model_id: str | None
    reason: str | None
    mismatch: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Candidates of one question and what is needed to explain them."""

    found: CandidateSet
    query: LexicalQuery | None
    vector: Vectors | None
    vector_ms: float
    lexical_ms: float


class Gathering:
    """Asks an index; `between_queries` is called after the vector query and before the lexical one."""

    def __init__(self, *, clock: Clock, between_queries: Callable[[], None] | None = None) -> None:
        self._clock = clock
        self._between_queries = between_queries

    def gather(
        self,
        connection: Connection,
        project_id: str,
        question: str,
        embedded: QuestionVector,
        settings: CandidateSettings,
        *,
        exact: bool = False,
    ) -> Gathered:
        """Both signals' candidates from one open snapshot. With `exact`, no approximate index is used."""
        some_vectors, vectors_missing = has_vectors(connection, project_id, settings.scopes)
        usable = (
            embedded.vector is not None
            and not embedded.mismatch
            and embedded.model_id == settings.embedding_model
        )
        # scopes without a single chunk lack no vector: the signal works, and finds nothing
        available = usable and (some_vectors or not vectors_missing)

        started = self._clock.monotonic_ms()
        vector_rows: list[SignalRow] = []
        if available and embedded.vector is not None:
            exact = exact or count_chunks(connection, project_id, settings.scopes)[0] <= EXACT_UP_TO_CHUNKS
            vector_rows = vector_candidates(connection, project_id, embedded.vector, settings, exact=exact)
        vector_done = self._clock.monotonic_ms()
        if self._between_queries is not None:
            self._between_queries()
        lexical_started = self._clock.monotonic_ms()
        query = build_lexical_query(connection, question, settings.lexical, project_id=project_id)
        lexical_rows = lexical_candidates(connection, project_id, query, settings) if query else []
        lexical_done = self._clock.monotonic_ms()

        reason = _degraded_reason(
            embedded, settings.embedding_model, available=available, vectors_missing=vectors_missing
        )
        return Gathered(
            found=CandidateSet(
                candidates=unite(vector_rows, lexical_rows),
                vector_available=available,
                degraded=not available or vectors_missing,
                degraded_reason=reason,
                searchable_terms=len(query.terms) if query else 0,
            ),
            query=query,
            vector=embedded.vector if available else None,
            vector_ms=vector_done - started,
            lexical_ms=lexical_done - lexical_started,
        )


def _degraded_reason(
    embedded: QuestionVector, index_model: str | None, *, available: bool, vectors_missing: bool
) -> DegradedReason | None:
    if available:
        return DegradedReason.SOME_VECTORS_MISSING if vectors_missing else None
    if embedded.mismatch or (embedded.model_id and index_model and embedded.model_id != index_model):
        return DegradedReason.MODEL_MISMATCH
    if embedded.vector is None and embedded.reason is not None:
        return DegradedReason.PROVIDER
    return DegradedReason.NO_VECTORS
