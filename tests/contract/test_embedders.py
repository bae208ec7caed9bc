"""What every embedder promises: `rag_core.ports.Embedder`, over all that there are."""

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from bag_of_words import BagOfWords
from ollama_server import OllamaServer
from rag_core.embedding.encoder import EmbeddedEncoder
from rag_core.embedding.ollama import OllamaEmbedder
from rag_core.errors import EmbeddingFailed
from rag_core.model import EmbeddingModel
from rag_core.ports import Embedder, EmbeddingRole, Loading, Vectors

TEXTS = ["A fusão soma os dois sinais.", "O limiar corta citações fracas.", "gato"]


@pytest.fixture(scope="module", params=["embedded", "ollama", "bag of words"])
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    if request.param == "embedded":
        yield EmbeddedEncoder()
        return
    if request.param == "bag of words":
        yield BagOfWords()
        return
    with (
        OllamaServer() as server,
        OllamaEmbedder(server.host, identify_timeout_s=20, question_timeout_s=20) as over_http,
    ):
        yield over_http


def test_it_names_its_model_the_same_each_time_and_the_name_can_be_read_back(embedder: Embedder) -> None:
    model = embedder.identify()
    assert embedder.identify() == model
    assert EmbeddingModel.parse(model.id) == model


@pytest.mark.parametrize("role", ["document", "question"])
def test_each_text_gets_a_unit_vector_of_768_numbers(embedder: Embedder, role: EmbeddingRole) -> None:
    vectors = embedder.embed(TEXTS, role)
    assert vectors.shape == (3, 768)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-6)


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed([], "document").shape == (0, 768)


def test_a_text_gets_the_same_vector_alone_in_a_batch_and_in_any_order(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS, "document")
    reversed_order = embedder.embed(TEXTS[::-1], "document")
    for position, text in enumerate(TEXTS):
        alone = embedder.embed([text], "document")[0]
        assert np.allclose(alone, together[position], atol=1e-5)
        assert np.allclose(alone, reversed_order[2 - position], atol=1e-5)


def test_two_texts_are_not_one_vector(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS, "document")
    assert float(vectors[0] @ vectors[2]) < 0.9


def test_nul_and_lone_surrogates_do_not_disturb_it(embedder: Embedder) -> None:
    odd = embedder.embed(["ga\0to", "gato \udc80"], "document")
    assert np.allclose(odd[0], embedder.embed(["gato"], "document")[0], atol=1e-5)
    assert np.isfinite(odd).all()


@pytest.mark.parametrize("blank", ["", "  \n", "\0", "\u200b"])
def test_a_blank_text_is_refused_as_a_fault_of_content(embedder: Embedder, blank: str) -> None:
    with pytest.raises(EmbeddingFailed) as failure:
        embedder.embed(["gato", blank], "document")
    assert failure.value.content_fault


def test_a_text_far_too_long_is_refused_and_not_cut(embedder: Embedder) -> None:
    with pytest.raises(EmbeddingFailed, match="long") as failure:
        embedder.embed(["12|" * 30_000], "document")
    assert failure.value.content_fault


def test_several_threads_get_the_vectors_that_one_gets(embedder: Embedder) -> None:
    expected = embedder.embed(TEXTS, "question")
    found: dict[int, Vectors] = {}

    def work(number: int) -> None:
        found[number] = embedder.embed(TEXTS, "question")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [0, 1, 2, 3]
    assert all(np.allclose(vectors, expected, atol=1e-5) for vectors in found.values())


def test_what_lives_in_this_process_can_be_loaded_before_a_question_is_timed() -> None:
    encoder = EmbeddedEncoder()
    assert isinstance(encoder, Loading)
    encoder.load()
    # once a process: another call, another embedder, and what embeds, find it there
    started = time.perf_counter()
    encoder.load()
    EmbeddedEncoder().load()
    assert time.perf_counter() - started < 0.1
    with OllamaEmbedder("127.0.0.1:1") as elsewhere:
        assert not isinstance(elsewhere, Loading)
