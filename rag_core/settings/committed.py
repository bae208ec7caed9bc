"""What a project's `settings.yaml` says. Pure."""

import dataclasses
from dataclasses import dataclass, field

from rag_core.model import SearchSettings
from rag_core.settings.overrides import Overrides


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a report's numbers are read against; None where the project sets no limit.

    `useful` is the least share of useful votes, `no_hit` the greatest share of searches without a hit, `p95_ms` the
    longest latency.
    """

    useful: float | None = None
    p95_ms: float | None = None
    no_hit: float | None = None

    def to_json(self) -> dict[str, float | None]:
        """As the file has them."""
        return {"useful": self.useful, "p95Ms": self.p95_ms, "noHit": self.no_hit}


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedSettings:
    """What a project's `settings.yaml` says: numbers in place of a preset's, and limits.

    `made_for` is the model that the numbers were chosen for, None where the file does not say.
    """

    numbers: Overrides = field(default_factory=Overrides)
    made_for: str | None = None
    limits: Limits = field(default_factory=Limits)


def committing(settings: SearchSettings, *, limits: Limits | None = None) -> CommittedSettings:
    """What a `settings.yaml` says that holds every one of these numbers."""
    return CommittedSettings(
        numbers=dataclasses.replace(Overrides.of(settings), preset=settings.preset),
        made_for=settings.candidates.embedding_model,
        limits=limits or Limits(),
    )
