"""Which provider embeds, as MEDIR_EMBEDDING asks for it."""

from collections.abc import Iterator

import pytest

from ollama_server import OllamaServer, closed_port
from rag_core.embedding.choice import choose_embedder
from rag_core.embedding.encoder import EmbeddedEncoder
from rag_core.embedding.ollama import OllamaEmbedder
from rag_core.model import EmbeddingModel

MADE_BY_OLLAMA = EmbeddingModel(
    provider="ollama", name="nomic-embed-text", digest="0a109f422b47", prefixes="search-v1"
)
MADE_BY_THE_ENCODER = EmbeddingModel(
    provider="embedded", name="use-multilingual-v3", digest="000000000000", prefixes="none"
)
ENCODER = EmbeddedEncoder()


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer() as running:
        yield running


@pytest.fixture
def answering(server: OllamaServer) -> Iterator[OllamaEmbedder]:
    with OllamaEmbedder(server.host, identify_timeout_s=20) as embedder:
        yield embedder


@pytest.fixture
def absent() -> Iterator[OllamaEmbedder]:
    with OllamaEmbedder(f"127.0.0.1:{closed_port()}") as embedder:
        yield embedder


def never() -> EmbeddedEncoder:
    raise AssertionError("this provider must not even be made")


def test_auto_without_an_index_takes_ollama_when_it_answers_and_has_the_model(
    answering: OllamaEmbedder,
) -> None:
    chosen = choose_embedder(configured="auto", index_model=None, ollama=lambda: answering, embedded=never)
    assert chosen is answering


def test_auto_without_an_index_takes_the_encoder_when_ollama_does_not_answer(absent: OllamaEmbedder) -> None:
    chosen = choose_embedder(
        configured="auto", index_model=None, ollama=lambda: absent, embedded=lambda: ENCODER
    )
    assert chosen is ENCODER


def test_auto_without_an_index_takes_the_encoder_when_ollama_lacks_the_model(
    server: OllamaServer, answering: OllamaEmbedder
) -> None:
    server.models = {"llama3.2:latest": "f" * 64}
    chosen = choose_embedder(
        configured="auto", index_model=None, ollama=lambda: answering, embedded=lambda: ENCODER
    )
    assert chosen is ENCODER


def test_auto_stays_with_the_provider_that_made_the_index_while_it_is_down(absent: OllamaEmbedder) -> None:
    chosen = choose_embedder(
        configured="auto", index_model=MADE_BY_OLLAMA, ollama=lambda: absent, embedded=never
    )
    assert chosen is absent


def test_auto_stays_with_the_encoder_that_made_the_index_while_ollama_answers() -> None:
    chosen = choose_embedder(
        configured="auto", index_model=MADE_BY_THE_ENCODER, ollama=never, embedded=lambda: ENCODER
    )
    assert chosen is ENCODER


@pytest.mark.parametrize("index_model", [None, MADE_BY_OLLAMA, MADE_BY_THE_ENCODER])
def test_a_provider_that_is_named_is_taken_whatever_made_the_index(
    index_model: EmbeddingModel | None, absent: OllamaEmbedder
) -> None:
    by_ollama = choose_embedder(
        configured="ollama", index_model=index_model, ollama=lambda: absent, embedded=never
    )
    by_encoder = choose_embedder(
        configured="embedded", index_model=index_model, ollama=never, embedded=lambda: ENCODER
    )
    assert by_ollama is absent
    assert by_encoder is ENCODER
