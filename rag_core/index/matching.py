"""Which of the chunks that stand can stay, moved or not, when the sources have changed. Pure.

Chunks match by content, nearest place first: the same file and heading trail, the same file, another file.
Texts that repeat match in order. A matched chunk keeps its id, and with it its vector and its votes.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from rag_core.model import Chunk, StandingChunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run does to the rows. Pairs hold the standing chunk and the chunk that it becomes."""

    kept: tuple[tuple[StandingChunk, Chunk], ...]
    moved: tuple[tuple[StandingChunk, Chunk], ...]
    added: tuple[Chunk, ...]
    removed: tuple[StandingChunk, ...]


def match(standing: Sequence[StandingChunk], wanted: Sequence[Chunk]) -> Plan:
    """The plan that keeps as many chunks as their contents allow.

    `wanted` are the chunks that a fresh index would have.
    """
    old = sorted(standing, key=lambda chunk: (chunk.origin.place, chunk.ordinal))
    new = sorted(wanted, key=lambda chunk: (chunk.origin.place, chunk.ordinal))
    pairs: list[tuple[StandingChunk, Chunk]] = []
    for key in (_file_and_trail, _file, _content):
        found, old, new = _pair_by(key, old, new)
        pairs.extend(found)
    return Plan(
        kept=tuple(pair for pair in pairs if not _moves(*pair)),
        moved=tuple(pair for pair in pairs if _moves(*pair)),
        added=tuple(new),
        removed=tuple(old),
    )


def rebuild(standing: Sequence[StandingChunk], wanted: Sequence[Chunk]) -> Plan:
    """The plan that deletes everything and creates it again."""
    return Plan(kept=(), moved=(), added=tuple(wanted), removed=tuple(standing))


_Key = Callable[[StandingChunk | Chunk], Hashable]


def _pair_by(
    key: _Key, old: list[StandingChunk], new: list[Chunk]
) -> tuple[list[tuple[StandingChunk, Chunk]], list[StandingChunk], list[Chunk]]:
    waiting: defaultdict[Hashable, list[StandingChunk]] = defaultdict(list)
    for chunk in reversed(old):
        waiting[key(chunk)].append(chunk)
    pairs: list[tuple[StandingChunk, Chunk]] = []
    unmatched: list[Chunk] = []
    for chunk in new:
        candidates = waiting.get(key(chunk))
        if candidates:
            pairs.append((candidates.pop(), chunk))
        else:
            unmatched.append(chunk)
    matched = {chunk.id for chunk, _ in pairs}
    return pairs, [chunk for chunk in old if chunk.id not in matched], unmatched


def _file_and_trail(chunk: StandingChunk | Chunk) -> Hashable:
    return (chunk.content_hash, chunk.origin.place, chunk.origin.heading_path, chunk.origin.event_id)


def _file(chunk: StandingChunk | Chunk) -> Hashable:
    return (chunk.content_hash, chunk.origin.place)


def _content(chunk: StandingChunk | Chunk) -> Hashable:
    return chunk.content_hash


def _moves(standing: StandingChunk, wanted: Chunk) -> bool:
    return standing.position != wanted.position
