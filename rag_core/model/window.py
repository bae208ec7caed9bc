"""Which searches are meant: those that were asked in a stretch of time."""

import dataclasses
from dataclasses import dataclass
from datetime import datetime

from rag_core.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """From `start`, inclusive, to `end`, exclusive; both aware, in UTC. Days are those of `zone`.

    `synthetic` tells whether rows made by benches and demonstrations count too.
    """

    start: datetime
    end: datetime
    zone: str = "UTC"
    synthetic: bool = False

    def __post_init__(self) -> None:
        if self.start.tzinfo is None or self.end.tzinfo is None:
            raise ValueError("a window's times are aware")
        if self.start > self.end:
            raise InvalidInput(
                f"The window ends at {self.end.isoformat()}, before it begins at {self.start.isoformat()}.",
                hint="Give --from before --to.",
            )

    @property
    def before(self) -> "Window":
        """The window of the same length that ends where this one begins."""
        return dataclasses.replace(self, start=self.start - (self.end - self.start), end=self.start)
