"""The steps between the fused order and the hits. Pure; each returns what it kept and what it dropped.

Every step takes entries in their final order and keeps that order.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.model import Candidate


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its fused score."""

    candidate: Candidate
    score: float


@dataclass(frozen=True, slots=True)
class Split:
    """What one step kept and dropped, both in the order given."""

    kept: tuple[Scored, ...]
    dropped: tuple[Scored, ...]


def apply_threshold(entries: Sequence[Scored], threshold: float | None) -> Split:
    """Keep what scores at least `threshold`; None keeps all."""
    if threshold is None:
        return Split(tuple(entries), ())
    return Split(
        tuple(entry for entry in entries if entry.score >= threshold),
        tuple(entry for entry in entries if not entry.score >= threshold),
    )


def cap_per_file(entries: Sequence[Scored], max_per_file: int | None) -> Split:
    """Keep the first `max_per_file` chunks of each file; chunks of a session always pass.

    The best chunk of a file is the first of it, so no file is ever removed by this step.
    """
    if max_per_file is None:
        return Split(tuple(entries), ())
    seen: Counter[str] = Counter()
    kept: list[Scored] = []
    dropped: list[Scored] = []
    for entry in entries:
        place = entry.candidate.origin.place
        if place.kind == "file":
            seen[place.key] += 1
        folded = place.kind == "file" and seen[place.key] > max_per_file
        (dropped if folded else kept).append(entry)
    return Split(tuple(kept), tuple(dropped))


def cut_at_limit(entries: Sequence[Scored], limit: int) -> Split:
    """Keep the first `limit`."""
    return Split(tuple(entries[:limit]), tuple(entries[limit:]))
