"""Long work as it is recorded: index runs, golden runs, calibrations. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from rag_core.model.shape import Shape

RunKind = Literal["index", "golden", "calibration"]
RunState = Literal["running", "done", "failed", "cancelled", "interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress(Shape):
    """How far a run is; empty before its first step."""

    step: str | None = None
    done: int | None = None
    total: int | None = None

    @classmethod
    def from_row(cls, told: Mapping[str, object]) -> "RunProgress":
        """From its row; what is no number there is not known."""
        step, done, total = told.get("step"), told.get("done"), told.get("total")
        return cls(
            step=None if step is None else str(step),
            done=done if isinstance(done, int) else None,
            total=total if isinstance(total, int) else None,
        )

    @property
    def counted(self) -> tuple[int, int] | None:
        """How many are done, of how many; None where that is not known."""
        return (self.done, self.total) if self.done is not None and self.total else None

    @property
    def share(self) -> float:
        """What is done of all, from 0 to 1; 0 where that is not known."""
        done, total = self.counted or (0, 1)
        return min(1.0, done / total)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunError(Shape):
    """Why a run did not end well."""

    code: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One piece of work, as its row has it."""

    id: UUID
    kind: RunKind
    state: RunState
    parameters: dict[str, object]
    progress: RunProgress
    result: dict[str, object] | None
    error: RunError | None
    actor_kind: str
    actor_id: str
    started_at: datetime
    heartbeat_at: datetime
    finished_at: datetime | None

    @property
    def is_going(self) -> bool:
        """Whether it counts as running."""
        return self.state == "running"
