"""The steps between the fused order and the hits. Pure; each returns what it kept and what it dropped.

Every step takes entries in their final order and keeps that order.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.model import Candidate


@dataclass(frozen=True, slots=True)
class ScoredCandidate:
    """A candidate with its fused score."""

    candidate: Candidate
    score: float


@dataclass(frozen=True, slots=True)
class Sifted:
    """What one step kept and dropped, both in the order given."""

    kept: tuple[ScoredCandidate, ...]
    dropped: tuple[ScoredCandidate, ...]


def apply_threshold(entries: Sequence[ScoredCandidate], threshold: float | None) -> Sifted:
    """Keep what scores at least `threshold`; None keeps all."""
    if threshold is None:
        return Sifted(tuple(entries), ())
    return Sifted(
        tuple(entry for entry in entries if entry.score >= threshold),
        tuple(entry for entry in entries if not entry.score >= threshold),
    )


def cap_per_file(entries: Sequence[ScoredCandidate], max_per_file: int | None) -> Sifted:
    """Keep the first `max_per_file` chunks of each file; chunks of a session always pass.

    The best chunk of a file is the first of it, so no file is ever removed by this step.
    """
    if max_per_file is None:
        return Sifted(tuple(entries), ())
    seen: Counter[str] = Counter()
    kept: list[ScoredCandidate] = []
    dropped: list[ScoredCandidate] = []
    for entry in entries:
        place = entry.candidate.origin.place
        if place.kind == "file":
            seen[place.key] += 1
        folded = place.kind == "file" and seen[place.key] > max_per_file
        (dropped if folded else kept).append(entry)
    return Sifted(tuple(kept), tuple(dropped))


def cut_at_limit(entries: Sequence[ScoredCandidate], limit: int) -> Sifted:
    """Keep the first `limit`."""
    return Sifted(tuple(entries[:limit]), tuple(entries[limit:]))
