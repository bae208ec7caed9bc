"""The embedding service: whatever a provider does, callers get an outcome, never its exception.

Chunks are stored and questions are answered without vectors when there are none; so an outage is a value
here, with a reason that can be shown, and not an error.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from rag_core.embedding.batches import PROBE_TEXT, BatchRun, Vector
from rag_core.embedding.breaker import CircuitBreaker
from rag_core.embedding.text import encodable_text, is_blank
from rag_core.embedding.vectors import unit_vectors
from rag_core.errors import EmbeddingFailed
from rag_core.model import EmbeddingModel
from rag_core.ports import Clock, Embedder, EmbeddingRole, Loading

BATCH_SIZES: Mapping[str, int] = MappingProxyType({"ollama": 16, "embedded": 64})
"""Texts a call, by provider. Small: a failing batch is cheap to halve, and progress is seen."""

BLANK_TEXT = "The text is blank."

EmbeddingProgress = Callable[[int, int], None]
"""Called with the number of distinct texts done and their total."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOutcome:
    """The model in use now, or why there is none. Exactly one of the two is given."""

    model: EmbeddingModel | None
    reason: str | None
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuestionOutcome:
    """A question's unit vector with the model that made it, or why there is none.

    `model` is also given where the provider is there but the text got no vector.
    """

    vector: Vector | None
    model: EmbeddingModel | None
    reason: str | None
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFailure:
    """A text that got no vector while others did: its position among the texts given, and why."""

    index: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EmbeddingOutcome:
    """What became of some documents.

    `vectors` has one a text, in the order given, None where there is none; `model` made them, None when the provider
    did not even say what it is. `available` is False when the provider failed, be it in the middle; texts that failed
    by themselves leave it true. `reason` is one sentence, None exactly when every text has a vector and the provider
    answered; `hint` says what to do about it, such as `ollama pull …`, and may be empty. `failures` are the texts that
    failed by themselves, those that an outage left out not among them.
    """

    vectors: tuple[Vector | None, ...]
    model: EmbeddingModel | None
    available: bool
    reason: str | None
    hint: str
    failures: tuple[TextFailure, ...]

    @property
    def embedded(self) -> int:
        """How many of the texts have a vector."""
        return len(self.vectors) - self.skipped

    @property
    def skipped(self) -> int:
        """How many have none."""
        return sum(vector is None for vector in self.vectors)


class EmbeddingService:
    """Documents and questions to vectors through one embedder. No method raises for a provider's fault.

    Safe to share between threads when its embedder is.
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        clock: Clock,
        batch_size: int | None = None,
        cooldown_s: float = 15.0,
    ) -> None:
        """Nothing is called or loaded yet.

        `batch_size` is texts a call, None for `BATCH_SIZES`; for `cooldown_s` after an outage questions fail at
        once, without a call.
        """
        self._embedder = embedder
        self._batch_size = batch_size
        self._breaker = CircuitBreaker(clock=clock, cooldown_s=cooldown_s)

    def identify(self) -> ModelOutcome:
        """The provider's model now; asks the provider each time."""
        try:
            return ModelOutcome(model=self._embedder.identify(), reason=None, hint="")
        except EmbeddingFailed as fault:
            return ModelOutcome(model=None, reason=fault.message, hint=fault.hint)

    def load(self) -> None:
        """Bring into this process what has to be there before a text is embedded; mostly it is there already.

        Whoever times a question calls this before, since a process does it once and not a search. What can't be loaded
        is said by whatever embeds next.
        """
        if isinstance(self._embedder, Loading):
            with contextlib.suppress(EmbeddingFailed):
                self._embedder.load()

    def warm_up(self) -> ModelOutcome:
        """Load the model and prove that it makes vectors, with the patience that documents get.

        For the start of a serving process (in a thread of the caller's), before a golden run, and for
        `doctor`: a question does not wait for a model to load.
        """
        try:
            model = self._embedder.identify()
            self._embed_one(PROBE_TEXT, "document")
        except EmbeddingFailed as fault:
            self._breaker.record_fault(fault)
            return ModelOutcome(model=None, reason=fault.message, hint=fault.hint)
        self._breaker.record_success()
        return ModelOutcome(model=model, reason=None, hint="")

    def embed_question(self, text: str) -> QuestionOutcome:
        """A question's unit vector, embedded alone.

        A blank question gets none and makes no call; after an outage, neither does any question for a while
        (the reason is then the outage's).
        """
        cleaned = encodable_text(text)
        if is_blank(cleaned):
            return QuestionOutcome(vector=None, model=None, reason="The question is blank.", hint="")
        refusal = self._breaker.refusal()
        if refusal is not None:
            return QuestionOutcome(vector=None, model=None, reason=refusal.message, hint=refusal.hint)
        model: EmbeddingModel | None = None
        try:
            model = self._embedder.identify()
            vector = self._embed_one(cleaned, "question")
        except EmbeddingFailed as fault:
            self._breaker.record_fault(fault)
            return QuestionOutcome(vector=None, model=model, reason=fault.message, hint=fault.hint)
        self._breaker.record_success()
        return QuestionOutcome(vector=vector, model=model, reason=None, hint="")

    def embed_documents(
        self, texts: Sequence[str], progress: EmbeddingProgress | None = None
    ) -> EmbeddingOutcome:
        """One unit vector a text where there can be one; equal texts are embedded once.

        A batch that fails is tried again by halves, so that a text that a model can't take costs no other
        its vector. An outage (no answer, no model, an answer that every text gets: another dimension, nonsense)
        ends the run at once; what was embedded before it is kept. No texts: only the model is asked for.

        Blank texts are never sent. `progress` is told after each batch; what it raises ends the run and reaches
        the caller.
        """
        try:
            model = self._embedder.identify()
        except EmbeddingFailed as fault:
            self._breaker.record_fault(fault)
            return _nothing(len(texts), model=None, reason=fault.message, hint=fault.hint)

        cleaned = [encodable_text(text) for text in texts]
        distinct = list(dict.fromkeys(text for text in cleaned if not is_blank(text)))
        batches = BatchRun(
            self._embedder, distinct, batch_size=self._batch_size or BATCH_SIZES[model.provider]
        )
        batches.run(lambda done: progress(done, len(distinct)) if progress else None)
        if batches.outage is not None:
            self._breaker.record_fault(batches.outage)
        elif batches.vectors:
            self._breaker.record_success()
        if batches.vectors and self._model_changed(model):
            return _nothing(
                len(texts),
                model=model,
                reason="The embedding model was replaced while documents were embedded.",
                hint="Run it again.",
            )
        return _outcome(cleaned, distinct, batches, model)

    def _embed_one(self, text: str, role: EmbeddingRole) -> Vector:
        return unit_vectors(self._embedder.embed([text], role), count=1)[0]

    def _model_changed(self, model: EmbeddingModel) -> bool:
        """Whether the provider now names another model: vectors of two models must not be stored as one."""
        try:
            return self._embedder.identify() != model
        except EmbeddingFailed:
            return False


def _nothing(count: int, *, model: EmbeddingModel | None, reason: str, hint: str) -> EmbeddingOutcome:
    """The outcome of an outage that left no text a vector."""
    return EmbeddingOutcome(
        vectors=(None,) * count, model=model, available=False, reason=reason, hint=hint, failures=()
    )


def _outcome(
    cleaned: Sequence[str], distinct: Sequence[str], batches: BatchRun, model: EmbeddingModel
) -> EmbeddingOutcome:
    """The run's vectors and failures, put back from distinct texts to the texts given."""
    position_of = {text: position for position, text in enumerate(distinct)}
    vectors: list[Vector | None] = []
    failures: list[TextFailure] = []
    for index, text in enumerate(cleaned):
        position = position_of.get(text)
        vectors.append(None if position is None else batches.vectors.get(position))
        failure = BLANK_TEXT if position is None else batches.failures.get(position)
        if failure is not None:
            failures.append(TextFailure(index=index, reason=failure))
    reason, hint = None, ""
    if batches.outage is not None:
        reason, hint = batches.outage.message, batches.outage.hint
    elif failures:
        reason = f"{len(failures)} of {len(cleaned)} texts got no vector; the first: {failures[0].reason}"
    return EmbeddingOutcome(
        vectors=tuple(vectors),
        model=model,
        available=batches.outage is None,
        reason=reason,
        hint=hint,
        failures=tuple(failures),
    )
