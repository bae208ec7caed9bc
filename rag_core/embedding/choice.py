"""Which provider embeds, as `MEDIR_EMBEDDING` asks for it."""

from collections.abc import Callable
from typing import Literal

from rag_core.errors import EmbeddingFailed
from rag_core.model import EmbeddingModel
from rag_core.ports import Embedder

ConfiguredProvider = Literal["auto", "ollama", "embedded"]


def choose_embedder(
    *,
    configured: ConfiguredProvider,
    index_model: EmbeddingModel | None,
    ollama: Callable[[], Embedder],
    embedded: Callable[[], Embedder],
) -> Embedder:
    """The embedder to use; only the one that is returned, and one that was tried first, are made.

    `auto` means the provider of the model that made the index, even while it is down: an outage must not
    become a change of model. Without an index it means Ollama if it answers and has the model, else the
    embedded encoder.

    The choice never changes an index's model by itself, and does not promise that the embedder's model is the
    index's: whoever compares vectors compares `identify().id` with the index's model first.

    `index_model` is None where the index has no vectors; `ollama` and `embedded` make the two embedders.
    """
    wanted = configured
    if wanted == "auto" and index_model is not None:
        wanted = index_model.provider
    if wanted == "ollama":
        return ollama()
    if wanted == "embedded":
        return embedded()
    candidate = ollama()
    try:
        candidate.identify()
    except EmbeddingFailed:
        return embedded()
    return candidate
