"""The real clock behind `ports.Clock`."""

import time
from datetime import UTC, datetime


class SystemClock:
    """The machine's time."""

    def now(self) -> datetime:
        """Now, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic_ms(self) -> float:
        """Milliseconds that never go back."""
        return time.perf_counter() * 1000.0
