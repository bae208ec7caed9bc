"""The check that every vector passes, whoever made it."""

from collections.abc import Sequence

import numpy as np

from rag_core.errors import EmbeddingFailed
from rag_core.model import EMBEDDING_DIMENSIONS
from rag_core.ports import Vectors


def unit_vectors(raw: Sequence[Sequence[float]] | Vectors, *, count: int) -> Vectors:
    """The vectors at length 1, shape (count, 768), float32; (0, 768) for none.

    The scale of a provider means nothing to cosine, and providers differ in it; so it is taken away here.

    `raw` has one vector a text, in their order; `count` is how many texts there were.

    Raises:
        EmbeddingFailed: Another number of vectors; a vector that is empty, zero, or not finite (the text may
            be to blame: `content_fault`); another dimension (the model is to blame, or a text: `doubtful`).
    """
    if len(raw) != count:
        raise EmbeddingFailed(
            f"The provider returned {len(raw)} vectors for {count} texts.", content_fault=True
        )
    if count == 0:
        return np.empty((0, EMBEDDING_DIMENSIONS), dtype=np.float32)
    _check_dimensions({len(vector) for vector in raw})
    vectors = np.asarray(raw, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        raise EmbeddingFailed(
            "The provider returned a vector with a number that is not finite.", content_fault=True
        )
    if not norms.all():
        raise EmbeddingFailed("The provider returned a vector of zeros.", content_fault=True)
    return (vectors / norms).astype(np.float32)


def _check_dimensions(dimensions: set[int]) -> None:
    """All vectors have 768 numbers; a batch of one other length is the model's, of several a text's."""
    if dimensions == {EMBEDDING_DIMENSIONS}:
        return
    if len(dimensions) > 1 or 0 in dimensions:
        raise EmbeddingFailed("The provider returned an empty or incomplete vector.", content_fault=True)
    raise EmbeddingFailed(
        f"The model makes vectors of {dimensions.pop()} dimensions; {EMBEDDING_DIMENSIONS} are expected.",
        hint=f"Use a model with {EMBEDDING_DIMENSIONS} dimensions, such as nomic-embed-text.",
        doubtful=True,
    )
