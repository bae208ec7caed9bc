"""The circuit breaker of questions: after an outage, no question waits for the same time-out again."""

import threading

from rag_core.errors import EmbeddingFailed
from rag_core.ports import Clock

FAULTS_TO_OPEN = 3
"""So many faults in a row that might have been the text's are taken for the provider's."""


class CircuitBreaker:
    """Closed at first; an outage opens it for `cooldown_s`, then one call may try; a success closes it.

    Safe to share between threads.
    """

    def __init__(self, *, clock: Clock, cooldown_s: float) -> None:
        self._clock = clock
        self._cooldown_ms = cooldown_s * 1000
        self._lock = threading.Lock()
        self._open_until_ms: float | None = None
        self._outage: EmbeddingFailed | None = None
        self._faults_in_a_row = 0

    def refusal(self) -> EmbeddingFailed | None:
        """The outage for which no call may be made now; None when one may.

        The first to ask after the cooldown gets None and makes the trial call; the others are refused until
        its outcome is known, or for one more cooldown.
        """
        with self._lock:
            if self._open_until_ms is None:
                return None
            now_ms = self._clock.monotonic_ms()
            if now_ms < self._open_until_ms:
                return self._outage
            self._open_until_ms = now_ms + self._cooldown_ms
            return None

    def record_success(self) -> None:
        """A call succeeded: closed."""
        with self._lock:
            self._open_until_ms = None
            self._faults_in_a_row = 0

    def record_fault(self, fault: EmbeddingFailed) -> None:
        """A call failed: open, unless the text was to blame and not too often in a row."""
        with self._lock:
            self._faults_in_a_row += 1
            if (fault.content_fault or fault.doubtful) and self._faults_in_a_row < FAULTS_TO_OPEN:
                return
            self._outage = fault
            self._open_until_ms = self._clock.monotonic_ms() + self._cooldown_ms
