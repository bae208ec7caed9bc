"""Index runs that were begun over HTTP, and how they are followed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from rag_core.model import Run, RunError, RunProgress
from rag_core.model.shape import Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAccepted(Shape):
    """An index run that has begun."""

    run_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAnswer(Shape):
    """An index run. `result` is null until it has ended well: then as `medir index --json` prints it."""

    run_id: str
    state: Literal["waiting", "running", "done", "failed", "cancelled", "interrupted"]
    actor: str | None
    started_at: str | None
    finished_at: str | None
    progress: RunProgress
    result: Mapping[str, object] | None
    error: RunError | None

    @classmethod
    def of(cls, run: Run) -> "RunAnswer":
        """As its row has it."""
        return cls.drawn(run, run_id=str(run.id), actor=f"{run.actor_kind}:{run.actor_id}")

    @classmethod
    def waiting(cls, run_id: UUID) -> "RunAnswer":
        """Promised, without a row yet."""
        return cls(
            run_id=str(run_id),
            state="waiting",
            actor=None,
            started_at=None,
            finished_at=None,
            progress=RunProgress(),
            result=None,
            error=None,
        )
