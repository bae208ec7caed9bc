"""An embedder for tests: quick, without weights, and with cosines that mean something."""

import hashlib
import re
import unicodedata
from collections.abc import Sequence

import numpy as np

from rag_core.embedding.text import embeddable
from rag_core.embedding.vectors import unit_vectors
from rag_core.errors import EmbeddingFailed
from rag_core.model import EMBEDDING_DIMENSIONS, EmbeddingModel
from rag_core.ports import EmbeddingRole, Vectors


class BagOfWords:
    """An `Embedder` whose cosine grows with the words that two texts share; case and accents play no part.

    `name` tells two such models apart. `embedded` lists every text that was sent, in order.
    """

    def __init__(self, name: str = "bag-of-words") -> None:
        self.name = name
        self.embedded: list[str] = []

    def identify(self) -> EmbeddingModel:
        return EmbeddingModel(provider="embedded", name=self.name, digest="0123456789ab", prefixes="none")

    def embed(self, texts: Sequence[str], role: EmbeddingRole) -> Vectors:
        cleaned = embeddable(texts)
        if any(len(text) > 50_000 for text in cleaned):
            raise EmbeddingFailed("A text is too long.", content_fault=True)
        self.embedded.extend(cleaned)
        return unit_vectors([bag(text, self.name) for text in cleaned], count=len(cleaned))


def bag(text: str, name: str) -> np.ndarray:
    """The sum of its words' directions under the model of that name; not of length 1."""
    plain = unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]{2,}", plain) or [text]
    return np.sum([_direction(name, word) for word in words], axis=0)


def _direction(name: str, word: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.sha256(f"{name}:{word}".encode()).digest()[:8])
    return np.random.default_rng(seed).normal(size=EMBEDDING_DIMENSIONS)
