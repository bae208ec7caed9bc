"""How an Ollama server is spoken to, and what each way in which it fails is called."""

import socket
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from ollama_server import DIGEST, Fault, OllamaServer, closed_port, vector_of
from rag_core.embedding.ollama import OllamaEmbedder, prefixes_of
from rag_core.errors import EmbeddingFailed, InvalidInput
from rag_core.ports import EmbeddingRole


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer() as running:
        yield running


@pytest.fixture
def embedder(server: OllamaServer) -> Iterator[OllamaEmbedder]:
    with OllamaEmbedder(server.host, identify_timeout_s=20, question_timeout_s=20) as made:
        yield made


def failure_of(embedder: OllamaEmbedder, *texts: str, role: EmbeddingRole = "document") -> EmbeddingFailed:
    with pytest.raises(EmbeddingFailed) as failure:
        embedder.embed(texts, role)
    return failure.value


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


def test_documents_and_questions_carry_the_prefix_of_their_task(
    server: OllamaServer, embedder: OllamaEmbedder
) -> None:
    document = embedder.embed(["limiar"], "document")
    question = embedder.embed(["limiar"], "question")
    assert server.sent == ["search_document: limiar", "search_query: limiar"]
    assert np.allclose(document[0], vector_of("search_document: limiar"), atol=1e-6)
    assert np.allclose(question[0], vector_of("search_query: limiar"), atol=1e-6)


def test_only_the_new_route_is_used_without_truncation_and_with_keep_alive(
    server: OllamaServer, embedder: OllamaEmbedder
) -> None:
    embedder.embed(["a", "b"], "document")
    assert server.paths == ["/api/embed"]
    assert server.bodies == [
        {
            "model": "nomic-embed-text",
            "input": ["search_document: a", "search_document: b"],
            "truncate": False,
            "keep_alive": "30m",
        }
    ]


@pytest.mark.parametrize(
    ("model", "version"),
    [
        ("nomic-embed-text", "search-v1"),
        ("nomic-embed-text:v1.5", "search-v1"),
        ("nomic-embed-text-v2-moe", "search-v1"),
        ("someone/nomic-embed-text:latest", "search-v1"),
        ("bge-m3", "none"),
    ],
)
def test_prefixes_follow_the_models_family(model: str, version: str) -> None:
    assert prefixes_of(model).version == version


def test_a_model_without_known_prefixes_gets_its_texts_as_they_are(server: OllamaServer) -> None:
    server.models = {"bge-m3:latest": DIGEST}
    with OllamaEmbedder(
        server.host, model="bge-m3", identify_timeout_s=20, question_timeout_s=20
    ) as embedder:
        embedder.embed(["limiar"], "question")
        assert embedder.identify().id == "ollama/bge-m3@0a109f422b47+none"
    assert server.sent == ["limiar"]


@pytest.mark.parametrize("model", ["nomic-embed-text", "nomic-embed-text:latest"])
def test_the_model_is_named_with_twelve_digits_of_its_digest_and_its_prefixes(
    server: OllamaServer, model: str
) -> None:
    with OllamaEmbedder(server.host, model=model, identify_timeout_s=20) as embedder:
        assert embedder.identify().id == "ollama/nomic-embed-text@0a109f422b47+search-v1"


def test_another_tag_is_another_model(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    server.models = {"nomic-embed-text:v1.5": DIGEST}
    with pytest.raises(EmbeddingFailed, match="does not have the model nomic-embed-text") as failure:
        embedder.identify()
    assert failure.value.hint == "Run `ollama pull nomic-embed-text`."
    with OllamaEmbedder(server.host, model="nomic-embed-text:v1.5") as tagged:
        assert tagged.identify().name == "nomic-embed-text:v1.5"


def test_a_host_that_is_no_address_is_refused_before_any_call() -> None:
    with pytest.raises(InvalidInput):
        OllamaEmbedder("http://gpu.lan:port")


def test_without_a_server_the_failure_names_the_address_and_what_to_do() -> None:
    port = closed_port()
    with OllamaEmbedder(f"127.0.0.1:{port}") as embedder:
        for fails in (embedder.identify, lambda: embedder.embed(["a"], "document")):
            with pytest.raises(EmbeddingFailed) as failure:
                fails()
            assert failure.value.message == f"No Ollama answers at http://127.0.0.1:{port}."
            assert "ollama serve" in failure.value.hint
            assert not failure.value.content_fault


def test_a_proxy_of_the_environment_is_not_asked(
    server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = f"http://127.0.0.1:{closed_port()}"
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with OllamaEmbedder(server.host) as embedder:
        assert embedder.identify().provider == "ollama"


def test_a_model_that_is_not_pulled_is_told_from_a_server_that_is_not_there(
    server: OllamaServer, embedder: OllamaEmbedder
) -> None:
    server.fault = Fault.MODEL_MISSING
    failure = failure_of(embedder, "a")
    assert failure.message == f"Ollama at http://{server.host} does not have the model nomic-embed-text."
    assert failure.hint == "Run `ollama pull nomic-embed-text`."
    assert not failure.content_fault


def test_another_dimension_is_named_with_the_expected_one(
    server: OllamaServer, embedder: OllamaEmbedder
) -> None:
    server.fault = Fault.WRONG_DIMENSION
    failure = failure_of(embedder, "a")
    assert failure.message == "The model makes vectors of 1024 dimensions; 768 are expected."
    assert not failure.content_fault


@pytest.mark.parametrize(
    ("text", "words"), [("NAN! 1", "unsupported value: NaN"), ("NULL! 1", "no list"), ("ZERO! 1", "zeros")]
)
def test_a_text_that_breaks_the_model_is_a_fault_of_content(
    embedder: OllamaEmbedder, text: str, words: str
) -> None:
    failure = failure_of(embedder, text)
    assert failure.content_fault
    assert words in failure.message


def test_a_text_beyond_the_context_is_a_fault_of_content_and_says_so(embedder: OllamaEmbedder) -> None:
    failure = failure_of(embedder, "12|" * 3_000)
    assert failure.content_fault
    assert failure.message == "The text is longer than the model's context."


@pytest.mark.parametrize(
    ("fault", "content_fault", "words"),
    [
        (Fault.TOO_FEW, True, "1 vectors for 2 texts"),
        (Fault.TOO_MANY, True, "3 vectors for 2 texts"),
        (Fault.EMPTY_LIST, True, "0 vectors for 2 texts"),
        (Fault.NAN_INSIDE, True, "not finite"),
        (Fault.ZEROS, True, "zeros"),
        (Fault.ALWAYS_500, True, "HTTP 500"),
        (Fault.BUSY, False, "HTTP 503"),
        (Fault.GARBAGE, False, "does not answer as Ollama does"),
        (Fault.OTHER_JSON, False, "does not answer as Ollama does"),
        (Fault.ERROR_IS_NO_OBJECT, False, "does not answer as Ollama does"),
        (Fault.CUT, False, "broke off"),
    ],
)
def test_every_nonsense_becomes_a_failure_with_its_own_words(
    server: OllamaServer, embedder: OllamaEmbedder, fault: Fault, content_fault: bool, words: str
) -> None:
    server.fault = fault
    failure = failure_of(embedder, "a", "b")
    assert words in failure.message
    assert failure.content_fault is content_fault


def test_a_server_without_models_and_one_that_is_not_ollama_get_their_remedies(
    server: OllamaServer, embedder: OllamaEmbedder
) -> None:
    told = []
    for listing in (
        {"models": None},
        {"models": []},
        {},
        {"models": 3},
        {"models": [None]},
        [1],
        b"[" * 30_000,
    ):
        server.listing = listing
        with pytest.raises(EmbeddingFailed) as failure:
            embedder.identify()
        told.append(failure.value.hint)
    assert told == [
        "Run `ollama pull nomic-embed-text`.",
        "Run `ollama pull nomic-embed-text`.",
        *(["Set OLLAMA_HOST to an Ollama server, version 0.3 or newer."] * 5),
    ]


def test_an_answer_without_end_is_read_as_far_as_vectors_go_and_its_connection_cut(
    server: OllamaServer, embedder: OllamaEmbedder
) -> None:
    server.fault = Fault.FLOOD
    failure = failure_of(embedder, "a")
    assert "more than 4,000,000 bytes, and no more is read" in failure.message
    wait_for(lambda: server.floods_ended == 1)
    # what lies in buffers on the way was sent and not read
    assert server.flooded < 20_000_000
    server.fault = Fault.PACKED
    assert "broke off" in failure_of(embedder, "a").message


def test_a_call_that_was_given_up_ends_at_the_limit_whatever_still_comes(server: OllamaServer) -> None:
    server.fault = Fault.DRIP
    with OllamaEmbedder(server.host, question_timeout_s=0.2, document_limit_s=0.6) as embedder:
        with pytest.raises(EmbeddingFailed, match=r"did not answer within 0\.2 s"):
            embedder.embed(["a"], "question")
        wait_for(lambda: not any(thread.name == "ollama-call" for thread in threading.enumerate()))
        # the server notices at its next drop
        wait_for(lambda: not server.connections)


def test_vectors_on_another_scale_come_back_at_length_one(
    server: OllamaServer, embedder: OllamaEmbedder
) -> None:
    server.fault = Fault.SCALED
    vector = embedder.embed(["a"], "document")[0]
    assert np.allclose(vector, vector_of("search_document: a"), atol=1e-6)


@pytest.mark.parametrize("fault", [Fault.HANG, Fault.DRIP])
def test_a_question_to_a_server_that_hangs_or_drips_ends_in_time(server: OllamaServer, fault: Fault) -> None:
    server.fault = fault
    with OllamaEmbedder(server.host, question_timeout_s=0.2, document_timeout_s=30) as embedder:
        start = time.monotonic()
        failure = failure_of(embedder, "a", role="question")
        elapsed_s = time.monotonic() - start
        server.stop()
    assert 0.2 <= elapsed_s < 5
    assert "did not answer within 0.2 s" in failure.message
    assert not failure.content_fault


def test_documents_to_a_server_that_drips_for_ever_end_at_the_limit_of_a_batch(server: OllamaServer) -> None:
    server.fault = Fault.DRIP
    with OllamaEmbedder(server.host, document_limit_s=0.3) as embedder:
        start = time.monotonic()
        with pytest.raises(EmbeddingFailed, match=r"within 0\.3 s"):
            embedder.embed(["um", "dois"], "document")
        assert time.monotonic() - start < 2


def test_a_document_to_a_server_that_hangs_ends_in_time(server: OllamaServer) -> None:
    server.fault = Fault.HANG
    with OllamaEmbedder(server.host, document_timeout_s=0.2) as embedder:
        assert "did not answer in time" in failure_of(embedder, "a").message


def test_a_silent_server_is_noticed_by_the_question_for_its_model(server: OllamaServer) -> None:
    server.silent = True
    with OllamaEmbedder(server.host, identify_timeout_s=0.2) as embedder:
        start = time.monotonic()
        with pytest.raises(EmbeddingFailed, match="did not answer"):
            embedder.identify()
        assert time.monotonic() - start < 5


def test_a_call_for_the_model_that_was_given_up_does_not_linger(server: OllamaServer) -> None:
    server.silent = True
    with OllamaEmbedder(server.host, identify_timeout_s=0.1) as embedder:
        with pytest.raises(EmbeddingFailed):
            embedder.identify()
        for thread in threading.enumerate():
            if thread.name == "ollama-call":
                thread.join(5)
                assert not thread.is_alive()


def test_a_server_that_takes_no_connection_is_noticed_within_the_time_for_one() -> None:
    with socket.socket() as listener:
        # A queue of one that is full leaves further connections unanswered, as a lost packet does.
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        with socket.socket() as first, socket.socket() as second:
            for waiting in (first, second):
                waiting.setblocking(False)
                waiting.connect_ex(("127.0.0.1", port))
            with OllamaEmbedder(f"127.0.0.1:{port}", connect_timeout_s=0.2) as embedder:
                start = time.monotonic()
                failure = failure_of(embedder, "a")
                assert time.monotonic() - start < 5
    assert not failure.content_fault


def test_a_cold_model_is_loaded_by_the_question_that_gave_up_and_answers_the_next_one(
    server: OllamaServer,
) -> None:
    server.load_s = 0.4
    with OllamaEmbedder(server.host, question_timeout_s=0.1, document_timeout_s=30) as embedder:
        assert "did not answer" in failure_of(embedder, "a", role="question").message
        assert server.loaded.wait(20)
        with OllamaEmbedder(server.host, question_timeout_s=20) as patient:
            assert patient.embed(["a"], "question").shape == (1, 768)
    assert server.loads_given_up == 0


def test_a_document_waits_for_a_cold_model(server: OllamaServer) -> None:
    server.load_s = 0.4
    with OllamaEmbedder(server.host, question_timeout_s=0.1, document_timeout_s=30) as embedder:
        assert embedder.embed(["a"], "document").shape == (1, 768)


def test_a_server_that_was_restarted_is_found_again(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    embedder.embed(["a"], "document")
    server.stop()
    assert "No Ollama answers" in failure_of(embedder, "a").message
    server.start()
    assert embedder.embed(["a"], "document").shape == (1, 768)
