"""The installation's providers: each made once, on first use, with one service in front of it."""

import threading

from rag_core.embedding.choice import ConfiguredProvider, choose_embedder
from rag_core.embedding.encoder import EmbeddedEncoder
from rag_core.embedding.ollama import OllamaEmbedder
from rag_core.embedding.service import EmbeddingService
from rag_core.model import EmbeddingModel
from rag_core.ports import Clock, Embedder


class Providers:
    """Chooses a provider as `MEDIR_EMBEDDING` asks; safe to share between threads.

    `configured` is `auto`, `ollama` or `embedded`, `ollama_host` as in `OLLAMA_HOST`; the clock measures how
    long a provider that failed is left alone.
    """

    def __init__(self, *, configured: ConfiguredProvider, ollama_host: str, clock: Clock) -> None:
        self.configured: ConfiguredProvider = configured
        self._ollama_host = ollama_host
        self._clock = clock
        self._ollama: OllamaEmbedder | None = None
        self._embedded: EmbeddedEncoder | None = None
        self._services: dict[int, EmbeddingService] = {}
        self._lock = threading.RLock()

    def service_for(self, index_model: EmbeddingModel | None) -> EmbeddingService:
        """The service that embeds for an index of that model; for a new index, the one to begin it with."""
        embedder = choose_embedder(
            configured=self.configured,
            index_model=index_model,
            ollama=self._make_ollama,
            embedded=self._make_embedded,
        )
        with self._lock:
            if id(embedder) not in self._services:
                self._services[id(embedder)] = EmbeddingService(embedder, clock=self._clock)
            return self._services[id(embedder)]

    def can_serve(self, index_model: EmbeddingModel | None) -> bool:
        """Whether the configured provider is of the kind that made the index."""
        return index_model is None or self.configured in ("auto", index_model.provider)

    def _make_ollama(self) -> Embedder:
        with self._lock:
            if self._ollama is None:
                self._ollama = OllamaEmbedder(self._ollama_host)
            return self._ollama

    def _make_embedded(self) -> Embedder:
        with self._lock:
            if self._embedded is None:
                self._embedded = EmbeddedEncoder()
            return self._embedded
