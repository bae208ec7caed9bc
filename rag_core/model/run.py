"""Long work as it is recorded: index runs, golden runs, calibrations. Pure."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

RunKind = Literal["index", "golden", "calibration"]
RunState = Literal["running", "done", "failed", "cancelled", "interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One piece of work; `progress` is `{step, done, total}`, `error` `{code, message, hint}`."""

    id: UUID
    kind: RunKind
    state: RunState
    parameters: dict[str, object]
    progress: dict[str, object]
    result: dict[str, object] | None
    error: dict[str, object] | None
    actor_kind: str
    actor_id: str
    started_at: datetime
    heartbeat_at: datetime
    finished_at: datetime | None

    @property
    def is_going(self) -> bool:
        """Whether it counts as running."""
        return self.state == "running"

    @property
    def step(self) -> str:
        """The step at hand; empty before the first."""
        return str(self.progress.get("step", ""))

    @property
    def done_of(self) -> tuple[int, int]:
        """How much of the step at hand is done, and of how much; zeros where that is not known."""
        done, total = self.progress.get("done"), self.progress.get("total")
        return (done, total) if isinstance(done, int) and isinstance(total, int) else (0, 0)
