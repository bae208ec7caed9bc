"""Both signals' candidates for one question, from one open snapshot."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_core.database.connecting import Connection
from rag_core.database.index.identity import count_chunks, has_vectors
from rag_core.database.search.candidates import SignalRow, lexical_candidates, unite, vector_candidates
from rag_core.database.search.lexical_query import build_lexical_query
from rag_core.lexical.tsquery import LexicalQuery
from rag_core.model import CandidateSet, CandidateSettings, DegradedReason, LexicalWay
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _VectorSignal:
    """What came of the vector signal. `missing`: some chunk in scope has no vector."""

    rows: list[SignalRow]
    available: bool
    missing: bool
    reason: DegradedReason | None
    ms: float


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
        way = settings.lexical
        return self.gather_ways(
            connection, project_id, question, embedded, settings, ways=(way,), exact=exact
        )[way]

    def gather_ways(
        self,
        connection: Connection,
        project_id: str,
        question: str,
        embedded: QuestionVector,
        settings: CandidateSettings,
        *,
        ways: Sequence[LexicalWay],
        exact: bool = False,
    ) -> dict[LexicalWay, Gathered]:
        """As `gather`, for several lexical ways in the place of the settings' own; the vector signal is asked once."""
        vector = self._ask_vector(connection, project_id, embedded, settings, exact=exact)
        if self._between_queries is not None:
            self._between_queries()
        gathered: dict[LexicalWay, Gathered] = {}
        for way in ways:
            started = self._clock.monotonic_ms()
            query = build_lexical_query(connection, question, way, project_id=project_id)
            lexical_rows = lexical_candidates(connection, project_id, query, settings) if query else []
            gathered[way] = Gathered(
                found=CandidateSet(
                    candidates=unite(vector.rows, lexical_rows),
                    vector_available=vector.available,
                    degraded=not vector.available or vector.missing,
                    degraded_reason=vector.reason,
                    searchable_terms=len(query.terms) if query else 0,
                ),
                query=query,
                vector=embedded.vector if vector.available else None,
                vector_ms=vector.ms,
                lexical_ms=self._clock.monotonic_ms() - started,
            )
        return gathered

    def _ask_vector(
        self,
        connection: Connection,
        project_id: str,
        embedded: QuestionVector,
        settings: CandidateSettings,
        *,
        exact: bool,
    ) -> _VectorSignal:
        some, missing = has_vectors(connection, project_id, settings.scopes)
        usable = (
            embedded.vector is not None
            and not embedded.mismatch
            and embedded.model_id == settings.embedding_model
        )
        # scopes without a single chunk lack no vector: the signal works, and finds nothing
        available = usable and (some or not missing)
        started = self._clock.monotonic_ms()
        rows: list[SignalRow] = []
        if available and embedded.vector is not None:
            exact = exact or count_chunks(connection, project_id, settings.scopes)[0] <= EXACT_UP_TO_CHUNKS
            rows = vector_candidates(connection, project_id, embedded.vector, settings, exact=exact)
        return _VectorSignal(
            rows=rows,
            available=available,
            missing=missing,
            reason=_degraded_reason(
                embedded, settings.embedding_model, available=available, vectors_missing=missing
            ),
            ms=self._clock.monotonic_ms() - started,
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
