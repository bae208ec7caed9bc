"""Chunks before and after the database knows them, and what made their vectors. Pure."""

import hashlib
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from rag_core.model.languages import DEFAULT_LANGUAGE
from rag_core.model.words import Origin, Scope

EMBEDDING_DIMENSIONS = 768

Position = tuple[Scope, Origin, int, str]
"""Where a chunk stands, and the language of its words."""


def hash_of(content: str) -> str:
    """SHA-256 of a text, 64 hex digits."""
    return hashlib.sha256(content.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of text that can be cited, before the database gives it an id. `language` is that of its words."""

    scope: Scope
    origin: Origin
    ordinal: int
    content: str
    language: str = DEFAULT_LANGUAGE

    @property
    def content_hash(self) -> str:
        """SHA-256 of the content, 64 hex digits."""
        return hash_of(self.content)

    @property
    def position(self) -> Position:
        """Where it is to stand, and in which language."""
        return (self.scope, self.origin, self.ordinal, self.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingChunk:
    """A row of the index without its text. `embedding_model` None: it has no vector."""

    id: UUID
    scope: Scope
    origin: Origin
    ordinal: int
    content_hash: str
    embedding_model: str | None
    language: str = DEFAULT_LANGUAGE

    @property
    def position(self) -> Position:
        """All that a move can change."""
        return (self.scope, self.origin, self.ordinal, self.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """What made a vector. Two vectors may be compared only when their models' ids are equal.

    `digest` identifies the weights, `prefixes` the version of the task prefixes put before each text.
    """

    provider: Literal["ollama", "embedded"]
    name: str
    digest: str
    prefixes: str

    @property
    def id(self) -> str:
        """E.g. `ollama/nomic-embed-text@0a109f422b47+search-v1`."""
        return f"{self.provider}/{self.name}@{self.digest}+{self.prefixes}"

    @classmethod
    def parse(cls, text: str) -> "EmbeddingModel":
        """The inverse of `id`.

        Raises:
            ValueError: The text has another form.
        """
        provider, _, rest = text.partition("/")
        name, _, tail = rest.rpartition("@")
        digest, _, prefixes = tail.partition("+")
        if provider not in ("ollama", "embedded") or not (name and digest and prefixes):
            raise ValueError(f"not an embedding model's id: {text!r}")
        return cls(provider=provider, name=name, digest=digest, prefixes=prefixes)


def is_of_family(model_id: str | None, family: str) -> bool:
    """Whether a model's id begins as those of a family do, e.g. `embedded/`; False without a model."""
    return model_id is not None and model_id.startswith(family)
