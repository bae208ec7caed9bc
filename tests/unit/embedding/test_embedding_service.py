"""The embedding service over a real server: whatever the server does, callers get an outcome."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import examples
from ollama_server import DIGEST, Fault, OllamaServer, closed_port, vector_of
from rag_core.embedding.batches import PROBE_TEXT
from rag_core.embedding.encoder import EmbeddedEncoder
from rag_core.embedding.ollama import OllamaEmbedder
from rag_core.embedding.service import EmbeddingOutcome, EmbeddingService, TextFailure
from rag_core.model import EmbeddingModel


class HandSetClock:
    def __init__(self) -> None:
        self.ms = 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic_ms(self) -> float:
        return self.ms


MODEL = EmbeddingModel(
    provider="ollama", name="nomic-embed-text", digest="0a109f422b47", prefixes="search-v1"
)


@pytest.fixture
def clock() -> HandSetClock:
    return HandSetClock()


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer() as running:
        yield running


@pytest.fixture
def service(server: OllamaServer, clock: HandSetClock) -> Iterator[EmbeddingService]:
    with OllamaEmbedder(server.host, identify_timeout_s=20, question_timeout_s=20) as embedder:
        yield EmbeddingService(embedder, clock=clock)


@pytest.fixture
def hasty(server: OllamaServer, clock: HandSetClock) -> Iterator[EmbeddingService]:
    """A service that waits less, for servers that never answer."""
    with OllamaEmbedder(
        server.host, identify_timeout_s=20, question_timeout_s=0.7, document_timeout_s=0.7
    ) as embedder:
        yield EmbeddingService(embedder, clock=clock)
        server.stop()


def numbered(count: int) -> list[str]:
    return [f"trecho {number}" for number in range(count)]


def has_its_own_vector(outcome: EmbeddingOutcome, index: int, text: str) -> bool:
    vector = outcome.vectors[index]
    return vector is not None and np.allclose(vector, vector_of(f"search_document: {text}"), atol=1e-6)


# Documents


def test_each_text_gets_its_own_vector_in_batches_of_sixteen(
    server: OllamaServer, service: EmbeddingService
) -> None:
    texts = numbered(40)
    outcome = service.embed_documents(texts)
    assert (outcome.available, outcome.embedded, outcome.skipped) == (True, 40, 0)
    assert (outcome.reason, outcome.failures, outcome.model) == (None, (), MODEL)
    assert all(has_its_own_vector(outcome, index, text) for index, text in enumerate(texts))
    # Of the first batch both ends alone as a check, of the others one text.
    assert server.batch_sizes == [16, 1, 1, 16, 1, 8, 1]


def test_equal_texts_are_sent_once_and_all_get_the_vector(
    server: OllamaServer, service: EmbeddingService
) -> None:
    outcome = service.embed_documents(["a", "b", "a", "a\0"])
    assert server.bodies[0]["input"] == ["search_document: a", "search_document: b"]
    assert [has_its_own_vector(outcome, index, text) for index, text in enumerate("abaa")] == [True] * 4


def test_no_texts_ask_for_the_model_and_send_nothing(server: OllamaServer, service: EmbeddingService) -> None:
    outcome = service.embed_documents([])
    assert (outcome.vectors, outcome.available, outcome.reason, outcome.model) == ((), True, None, MODEL)
    assert server.bodies == []


def test_blank_texts_are_never_sent_and_do_not_shift_the_others(
    server: OllamaServer, service: EmbeddingService
) -> None:
    outcome = service.embed_documents(["a", " \n", "b", ""])
    assert server.bodies[0]["input"] == ["search_document: a", "search_document: b"]
    assert has_its_own_vector(outcome, 0, "a")
    assert has_its_own_vector(outcome, 2, "b")
    assert (outcome.available, outcome.embedded, outcome.skipped) == (True, 2, 2)
    assert outcome.failures == (
        TextFailure(index=1, reason="The text is blank."),
        TextFailure(index=3, reason="The text is blank."),
    )
    assert outcome.reason == "2 of 4 texts got no vector; the first: The text is blank."


@pytest.mark.parametrize("poison", ["NAN! x", "NULL! x", "ZERO! x", "12|" * 3_000])
def test_a_text_that_breaks_the_model_costs_no_other_its_vector(
    server: OllamaServer, service: EmbeddingService, poison: str
) -> None:
    texts = numbered(40)
    texts[21] = poison
    outcome = service.embed_documents(texts)
    assert (outcome.available, outcome.embedded, outcome.skipped) == (True, 39, 1)
    assert [failure.index for failure in outcome.failures] == [21]
    assert outcome.vectors[21] is None
    assert outcome.reason is not None
    assert outcome.reason.startswith("1 of 40 texts got no vector; the first: ")
    assert all(has_its_own_vector(outcome, index, texts[index]) for index in range(40) if index != 21)
    # A whole batch and its two checks; one by halves (16, then 8, 8, 4, 4, 2, 2, 1, 1), of which three whole
    # ones are checked; the rest with its check.
    assert sorted(server.batch_sizes) == sorted([16, 1, 1, 16, 8, 1, 8, 4, 1, 4, 2, 1, 2, 1, 1, 8, 1])


def test_many_bad_texts_in_a_row_are_no_outage_while_a_good_one_passes(
    server: OllamaServer, service: EmbeddingService
) -> None:
    texts = [*(f"NAN! {number}" for number in range(10)), "bom"]
    outcome = service.embed_documents(texts)
    assert (outcome.available, outcome.embedded, len(outcome.failures)) == (True, 1, 10)
    assert has_its_own_vector(outcome, 10, "bom")
    assert server.sent.count(f"search_document: {PROBE_TEXT}") == 3


@pytest.mark.parametrize("word", ["WIDE!", "TORN!", "HTML!", "FLOOD!"])
def test_an_answer_that_one_text_spoils_costs_that_text_and_on_no_run_another(
    server: OllamaServer, service: EmbeddingService, word: str
) -> None:
    texts = numbered(25)
    wrong = {3: "NAN!", 4: word, 9: "ZERO!", 11: f"{word} outro", 20: "NULL!"}
    for place, text in wrong.items():
        texts[place] = text
    for _ in range(2):
        outcome = service.embed_documents(texts)
        assert (outcome.available, outcome.embedded) == (True, 20)
        assert [failure.index for failure in outcome.failures] == sorted(wrong)
        assert all(has_its_own_vector(outcome, n, text) for n, text in enumerate(texts) if n not in wrong)


def test_a_server_that_fails_for_every_text_is_given_up_after_a_few_calls(
    server: OllamaServer, service: EmbeddingService
) -> None:
    server.fault = Fault.ALWAYS_500
    outcome = service.embed_documents(numbered(500))
    assert (outcome.available, outcome.embedded, outcome.skipped) == (False, 0, 500)
    assert "HTTP 500" in str(outcome.reason)
    # 16, 8, 4, 2, 1, 1, 2, 1, and the probe.
    assert len(server.bodies) == 9


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault.MODEL_MISSING, "does not have the model"),
        (Fault.BUSY, "HTTP 503"),
        (Fault.WRONG_DIMENSION, "1024 dimensions; 768 are expected"),
        (Fault.GARBAGE, "does not answer as Ollama does"),
        (Fault.CUT, "broke off"),
        (Fault.HANG, "did not answer"),
    ],
)
def test_an_outage_ends_the_run_at_its_first_call_and_keeps_what_was_embedded(
    server: OllamaServer, hasty: EmbeddingService, fault: Fault, words: str
) -> None:
    server.fault = fault
    server.fault_after = 5
    outcome = hasty.embed_documents(numbered(100))
    assert (outcome.available, outcome.embedded, outcome.skipped) == (False, 32, 68)
    assert words in str(outcome.reason)
    assert outcome.failures == ()
    assert has_its_own_vector(outcome, 31, "trecho 31")
    assert outcome.vectors[32] is None
    # an answer that one of its texts may have spoilt is asked for once more, for a text that spoils none
    answered = fault in (Fault.WRONG_DIMENSION, Fault.GARBAGE, Fault.CUT)
    assert server.batch_sizes == [16, 1, 1, 16, 1, 16, *([1] if answered else [])]


@pytest.mark.parametrize(
    "fault",
    [Fault.TOO_FEW, Fault.TOO_MANY, Fault.NAN_INSIDE, Fault.ZEROS, Fault.EMPTY_LIST, Fault.OTHER_JSON],
)
def test_nonsense_from_the_server_gives_no_vector_and_never_an_exception(
    server: OllamaServer, service: EmbeddingService, fault: Fault
) -> None:
    server.fault = fault
    outcome = service.embed_documents(numbered(100))
    assert (outcome.available, outcome.embedded, outcome.skipped) == (False, 0, 100)
    assert outcome.reason
    assert len(server.bodies) <= 9


def test_without_a_server_indexing_goes_on_at_once_without_vectors(clock: HandSetClock) -> None:
    with OllamaEmbedder(f"127.0.0.1:{closed_port()}") as embedder:
        start = time.monotonic()
        outcome = EmbeddingService(embedder, clock=clock).embed_documents(numbered(1_000))
        assert time.monotonic() - start < 5
    assert (outcome.available, outcome.model, outcome.skipped) == (False, None, 1_000)
    assert "No Ollama answers" in str(outcome.reason)
    assert "ollama serve" in outcome.hint


@pytest.mark.parametrize("fault", [Fault.SHUFFLED, Fault.DRIFTING])
def test_a_server_whose_batches_are_wrong_is_asked_one_text_at_a_time(
    server: OllamaServer, service: EmbeddingService, fault: Fault
) -> None:
    server.fault = fault
    texts = numbered(20)
    outcome = service.embed_documents(texts)
    assert outcome.embedded == 20
    assert all(has_its_own_vector(outcome, index, text) for index, text in enumerate(texts))
    assert max(server.batch_sizes[1:]) == 1


def test_a_server_that_begins_to_lie_later_is_found_out_and_none_of_its_batches_is_kept(
    server: OllamaServer, service: EmbeddingService
) -> None:
    server.fault, server.fault_after = Fault.SHUFFLED, 3
    texts = numbered(64)
    outcome = service.embed_documents(texts)
    assert outcome.embedded == 64
    assert all(has_its_own_vector(outcome, index, text) for index, text in enumerate(texts))
    assert server.batch_sizes[-64:] == [1] * 64


def test_wrong_batches_are_noticed_in_the_half_of_a_batch_too(
    server: OllamaServer, service: EmbeddingService
) -> None:
    server.fault = Fault.SHUFFLED
    texts = [*numbered(15), "NAN! x"]
    outcome = service.embed_documents(texts)
    assert outcome.embedded == 15
    assert all(has_its_own_vector(outcome, index, texts[index]) for index in range(15))


def test_another_scale_changes_no_vector(server: OllamaServer, service: EmbeddingService) -> None:
    server.fault = Fault.SCALED
    assert has_its_own_vector(service.embed_documents(["a"]), 0, "a")


def test_a_model_replaced_during_the_run_leaves_no_vector_of_either(
    server: OllamaServer, service: EmbeddingService
) -> None:
    def replace(done: int, total: int) -> None:
        server.models = {"nomic-embed-text:latest": "f" * 64}

    outcome = service.embed_documents(["a", "b"], progress=replace)
    assert (outcome.available, outcome.embedded, outcome.skipped) == (False, 0, 2)
    assert "replaced" in str(outcome.reason)


def test_progress_is_told_after_each_batch_in_distinct_texts(service: EmbeddingService) -> None:
    told: list[tuple[int, int]] = []
    service.embed_documents(
        [*numbered(20), "trecho 0"], progress=lambda done, total: told.append((done, total))
    )
    assert told == [(16, 20), (20, 20)]


def test_what_progress_raises_ends_the_run(server: OllamaServer, service: EmbeddingService) -> None:
    def cancel(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        service.embed_documents(numbered(100), progress=cancel)
    assert server.batch_sizes == [16, 1, 1]


@pytest.fixture(scope="module")
def shared_server() -> Iterator[tuple[OllamaServer, OllamaEmbedder]]:
    with OllamaServer() as server, OllamaEmbedder(server.host) as embedder:
        yield server, embedder


@settings(max_examples=examples(30), deadline=None)
@given(
    texts=st.lists(st.sampled_from(["a", "b", "c", "d", "", "NAN! 1", "NULL! 2", "ZERO! 3"]), max_size=12),
    batch_size=st.integers(1, 5),
    shuffled=st.booleans(),
)
def test_every_healthy_text_gets_its_own_vector_and_every_other_a_reason(
    shared_server: tuple[OllamaServer, OllamaEmbedder], texts: list[str], batch_size: int, shuffled: bool
) -> None:
    server, embedder = shared_server
    server.fault = Fault.SHUFFLED if shuffled else Fault.NONE
    outcome = EmbeddingService(embedder, clock=HandSetClock(), batch_size=batch_size).embed_documents(texts)
    healthy = [text in {"a", "b", "c", "d"} for text in texts]
    assert outcome.available
    assert len(outcome.vectors) == len(texts)
    assert [has_its_own_vector(outcome, index, text) for index, text in enumerate(texts)] == healthy
    assert [failure.index for failure in outcome.failures] == [
        index for index, is_healthy in enumerate(healthy) if not is_healthy
    ]
    assert (outcome.reason is None) == all(healthy)


def test_the_embedded_encoder_serves_through_the_same_service(clock: HandSetClock) -> None:
    service = EmbeddingService(EmbeddedEncoder(), clock=clock)
    outcome = service.embed_documents(["O gato dorme.", "x" * 9_000, "Juros e renda fixa."])
    assert (outcome.available, outcome.embedded) == (True, 2)
    assert [failure.index for failure in outcome.failures] == [1]
    question = service.embed_question("gato dormindo")
    cat, finance = outcome.vectors[0], outcome.vectors[2]
    assert question.vector is not None
    assert cat is not None
    assert finance is not None
    assert float(question.vector @ cat) > float(question.vector @ finance)
    assert question.model == outcome.model


# Questions


def test_a_question_gets_its_vector_and_the_model_that_made_it(
    server: OllamaServer, service: EmbeddingService
) -> None:
    outcome = service.embed_question("qual é o limiar?\0")
    assert outcome.vector is not None
    assert np.allclose(outcome.vector, vector_of("search_query: qual é o limiar?"), atol=1e-6)
    assert (outcome.model, outcome.reason) == (MODEL, None)
    assert server.sent == ["search_query: qual é o limiar?"]


def test_a_model_pulled_anew_is_named_by_the_next_question(
    server: OllamaServer, service: EmbeddingService
) -> None:
    service.embed_question("a")
    server.models = {"nomic-embed-text:latest": "sha256:" + DIGEST[::-1]}
    model = service.embed_question("a").model
    assert model is not None
    assert model.digest == DIGEST[::-1][:12]


@pytest.mark.parametrize("blank", ["", "   ", "\0", "\u200b"])
def test_a_blank_question_gets_a_reason_and_makes_no_call(
    server: OllamaServer, service: EmbeddingService, blank: str
) -> None:
    outcome = service.embed_question(blank)
    assert (outcome.vector, outcome.reason) == (None, "The question is blank.")
    assert server.paths == []


@pytest.mark.parametrize(
    "fault",
    [fault for fault in Fault if fault not in (Fault.NONE, Fault.SHUFFLED, Fault.SCALED, Fault.DRIFTING)],
)
def test_whatever_the_server_does_a_question_gets_a_reason_within_its_time(
    server: OllamaServer, hasty: EmbeddingService, fault: Fault
) -> None:
    server.fault = fault
    start = time.monotonic()
    outcome = hasty.embed_question("a")
    assert time.monotonic() - start < 5
    assert outcome.vector is None
    assert outcome.reason
    assert outcome.model == MODEL


def test_after_an_outage_questions_fail_at_once_with_the_same_reason_until_the_cooldown_ends(
    server: OllamaServer, service: EmbeddingService, clock: HandSetClock
) -> None:
    server.fault = Fault.BUSY
    first = service.embed_question("a")
    calls = len(server.paths)
    server.fault = Fault.NONE
    clock.ms = 14_000
    second = service.embed_question("b")
    assert (second.vector, second.reason, second.hint) == (None, first.reason, first.hint)
    assert len(server.paths) == calls
    clock.ms = 15_100
    assert service.embed_question("c").vector is not None
    assert service.embed_question("d").vector is not None


def test_a_question_that_breaks_the_model_refuses_no_other(
    server: OllamaServer, service: EmbeddingService
) -> None:
    assert service.embed_question("NAN! x").vector is None
    assert service.embed_question("a").vector is not None


def test_an_outage_while_indexing_spares_questions_the_wait_and_an_index_run_ends_it(
    server: OllamaServer, service: EmbeddingService
) -> None:
    server.fault = Fault.CUT
    service.embed_documents(["a"])
    calls = len(server.paths)
    assert service.embed_question("a").vector is None
    assert len(server.paths) == calls
    server.fault = Fault.NONE
    service.embed_documents(["a"])
    assert service.embed_question("a").vector is not None


# The model


def test_identify_tells_the_model_or_the_reason_and_the_remedy(
    server: OllamaServer, service: EmbeddingService
) -> None:
    assert service.identify().model == MODEL
    server.models = {}
    outcome = service.identify()
    assert (outcome.model, outcome.hint) == (None, "Run `ollama pull nomic-embed-text`.")
    assert "does not have the model" in str(outcome.reason)


@pytest.mark.parametrize("fault", [Fault.WRONG_DIMENSION, Fault.ALWAYS_500, Fault.MODEL_MISSING])
def test_warm_up_proves_that_vectors_are_made(
    server: OllamaServer, service: EmbeddingService, fault: Fault
) -> None:
    assert service.warm_up().model == MODEL
    server.fault = fault
    outcome = service.warm_up()
    assert outcome.model is None
    assert outcome.reason


def test_after_warm_up_a_question_finds_a_loaded_model(server: OllamaServer, clock: HandSetClock) -> None:
    server.load_s = 0.3
    with OllamaEmbedder(server.host, question_timeout_s=20) as embedder:
        service = EmbeddingService(embedder, clock=clock)
        assert service.warm_up().model == MODEL
        assert server.loaded.is_set()
        assert service.embed_question("a").vector is not None
