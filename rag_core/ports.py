"""The seams with more than one real thing behind them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rag_core.model import EmbeddingModel

Vectors = NDArray[np.float32]
EmbeddingRole = Literal["document", "question"]


class Embedder(Protocol):
    """Turns texts into vectors of one model. Real ones: Ollama, the embedded encoder."""

    def identify(self) -> EmbeddingModel:
        """The model in use now.

        Raises:
            EmbeddingFailed: The provider does not answer or lacks the model.
        """
        ...

    def embed(self, texts: Sequence[str], role: EmbeddingRole) -> Vectors:
        """One unit vector a text, shape (len(texts), 768), in the order given.

        Raises:
            EmbeddingFailed: The provider failed, or returned something that is no such array.
        """
        ...


@runtime_checkable
class Loading(Protocol):
    """An `Embedder` that has to be brought into this process's memory before it embeds: the embedded encoder."""

    def load(self) -> None:
        """Load it, once however often it is asked for; an `embed` that comes first loads it as well.

        Raises:
            EmbeddingFailed: It can't be loaded.
        """
        ...


class Clock(Protocol):
    """The time, injected so that tests choose it."""

    def now(self) -> datetime:
        """Now, aware, in UTC."""
        ...

    def monotonic_ms(self) -> float:
        """Milliseconds that never go back, for measuring durations."""
        ...
