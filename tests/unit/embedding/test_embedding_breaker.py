"""After an outage, no question waits for the same time-out again."""

from datetime import UTC, datetime

from rag_core.embedding.breaker import CircuitBreaker
from rag_core.errors import EmbeddingFailed

OUTAGE = EmbeddingFailed("No Ollama answers.", hint="Start it.")
FAULT_OF_CONTENT = EmbeddingFailed("NaN.", content_fault=True)


class HandSetClock:
    def __init__(self) -> None:
        self.ms = 5_000.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic_ms(self) -> float:
        return self.ms


def test_calls_are_allowed_until_an_outage_and_refused_with_its_reason_until_the_cooldown_ends() -> None:
    clock = HandSetClock()
    breaker = CircuitBreaker(clock=clock, cooldown_s=15)
    assert breaker.refusal() is None
    breaker.record_fault(OUTAGE)
    assert breaker.refusal() is OUTAGE
    clock.ms += 14_999
    assert breaker.refusal() is OUTAGE
    clock.ms += 1
    assert breaker.refusal() is None


def test_after_the_cooldown_one_call_tries_and_the_others_wait_for_its_outcome() -> None:
    clock = HandSetClock()
    breaker = CircuitBreaker(clock=clock, cooldown_s=15)
    breaker.record_fault(OUTAGE)
    clock.ms += 15_000
    assert [breaker.refusal(), breaker.refusal()] == [None, OUTAGE]
    breaker.record_success()
    assert breaker.refusal() is None


def test_a_trial_call_that_fails_starts_the_cooldown_again() -> None:
    clock = HandSetClock()
    breaker = CircuitBreaker(clock=clock, cooldown_s=15)
    breaker.record_fault(OUTAGE)
    clock.ms += 15_000
    assert breaker.refusal() is None
    clock.ms += 2_000
    breaker.record_fault(OUTAGE)
    clock.ms += 14_000
    assert breaker.refusal() is OUTAGE


def test_a_text_that_can_not_be_embedded_refuses_nothing_but_three_in_a_row_do() -> None:
    breaker = CircuitBreaker(clock=HandSetClock(), cooldown_s=15)
    breaker.record_fault(FAULT_OF_CONTENT)
    breaker.record_fault(FAULT_OF_CONTENT)
    breaker.record_success()
    breaker.record_fault(FAULT_OF_CONTENT)
    breaker.record_fault(FAULT_OF_CONTENT)
    assert breaker.refusal() is None
    breaker.record_fault(FAULT_OF_CONTENT)
    assert breaker.refusal() is FAULT_OF_CONTENT
