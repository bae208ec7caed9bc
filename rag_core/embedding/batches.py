"""Many texts through one embedder: small batches, halves where one fails, an end where the provider does."""

import random
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.embedding.vectors import unit_vectors
from rag_core.errors import EmbeddingFailed
from rag_core.ports import Embedder, Vectors

Vector = NDArray[np.float32]

PROBE_TEXT = "Medir"
"""A text that no model has trouble with: where it fails too, the provider is out, not the texts."""

PROBE_AFTER = 3
"""So many single texts failing in a row raise the question whether it is the texts."""

LEAST_AGREEMENT = 0.999
"""The least cosine between a text's vector from a batch and the one from a call of its own."""


class _BatchesLie(Exception):
    """A vector of a batch is not the text's own."""


class BatchRun:
    """One pass over distinct documents; it begins anew, text by text, when a batch lies.

    After `run`, a text has a vector, a failure, or neither (an outage). `vectors` are unit vectors by position in
    `texts`, `failures` say why a text alone got none, by position, and `outage` is what ended the run before its end,
    None when it reached it.
    """

    def __init__(self, embedder: Embedder, texts: Sequence[str], *, batch_size: int) -> None:
        self.vectors: dict[int, Vector] = {}
        self.failures: dict[int, str] = {}
        self.outage: EmbeddingFailed | None = None
        self._embedder = embedder
        self._texts = texts
        self._batch_size = batch_size
        self._random = random.Random(len(texts))  # noqa: S311
        self._failures_in_a_row = 0

    def run(self, progress: Callable[[int], None]) -> None:
        """Embed all texts; `progress` gets the number of texts done after each batch.

        An outage is kept in `outage` and nothing is tried after it: no retry, no halves.
        """
        start = 0
        while start < len(self._texts):
            stop = min(start + self._batch_size, len(self._texts))
            try:
                self._embed_span(range(start, stop))
            except _BatchesLie:
                # what the batches before it gave is no better founded
                self._batch_size = 1
                self.vectors.clear()
                start = 0
                continue
            except EmbeddingFailed as fault:
                self.outage = fault
                return
            progress(stop)
            start = stop

    def _embed_span(self, span: range) -> None:
        """Embed a stretch of texts, by halves where it fails and a text may be to blame.

        Raises:
            EmbeddingFailed: The provider is out.
            _BatchesLie: A text of a batch has another vector alone.
        """
        try:
            vectors = self._call([self._texts[position] for position in span])
        except EmbeddingFailed as fault:
            if not fault.content_fault and not self._is_texts_fault(fault):
                raise EmbeddingFailed(fault.message, hint=fault.hint) from fault
            if len(span) == 1:
                self._fail(span.start, fault)
                return
            middle = len(span) // 2
            self._embed_span(span[:middle])
            self._embed_span(span[middle:])
            return
        self._failures_in_a_row = 0
        if len(span) > 1 and not self._batch_agrees(span, vectors):
            raise _BatchesLie
        self.vectors.update(zip(span, vectors, strict=True))

    def _batch_agrees(self, span: range, vectors: Vectors) -> bool:
        """Whether texts of a batch get the same vectors alone: both ends of the first batch, one of the others.

        Servers have returned lists in another order, some of them only now and then, and vectors that drift
        with the length of the list.

        Raises:
            EmbeddingFailed: The provider is out.
        """
        checked = (0, len(span) - 1) if not self.vectors else (self._random.randrange(len(span)),)
        for place in checked:
            try:
                alone = self._call([self._texts[span[place]]])[0]
            except EmbeddingFailed as fault:
                if not fault.content_fault and not fault.doubtful:
                    raise
                return False
            if float(alone @ vectors[place]) < LEAST_AGREEMENT:
                return False
        return True

    def _is_texts_fault(self, fault: EmbeddingFailed) -> bool:
        """Whether another text gets a vector where an answer might be the provider's fault or a text's."""
        if not fault.doubtful:
            return False
        try:
            self._call([PROBE_TEXT])
        except EmbeddingFailed:
            return False
        return True

    def _fail(self, position: int, fault: EmbeddingFailed) -> None:
        """Note that a text alone failed, and after several in a row ask whether the provider is out.

        Raises:
            EmbeddingFailed: It is.
        """
        self.failures[position] = fault.message
        self._failures_in_a_row += 1
        if self._failures_in_a_row < PROBE_AFTER:
            return
        self._failures_in_a_row = 0
        try:
            self._call([PROBE_TEXT])
        except EmbeddingFailed as outage:
            raise EmbeddingFailed(outage.message, hint=outage.hint) from outage

    def _call(self, texts: Sequence[str]) -> Vectors:
        return unit_vectors(self._embedder.embed(texts, "document"), count=len(texts))
