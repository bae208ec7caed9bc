"""What changed over a window and the one before it: settings, model, index. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from rag_core.report.numbers import Report
from rag_core.report.settings_used import Turn, turns_of
from rag_core.words.settings import value_told

_MODEL = "embeddingModel"
# the model has a sentence of its own; how settings came to be is no number
_NOT_NUMBERS = (_MODEL, "source", "preset", "fetchDepth", "adoptedBy", "adoptedAt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Something that a search depends on became another at a time; `told` says from what to what."""

    at: datetime
    told: str


def changes(report: Report, before: Report, indexed_at: Sequence[datetime]) -> tuple[Change, ...]:
    """What changed in the two windows, oldest first; nothing where all searches ran under the same.

    Both windows, since a number may differ from the one before for what changed in the midst of that one. A trial is
    no change, and neither is a limit that a caller chose; settings that came back are one.

    `indexed_at` says when index runs ended; those outside the windows are left out.
    """
    found = [Change(at=at, told="reindexed") for at in indexed_at if before.start <= at < report.end]
    entries = {entry.settings_id: entry for entry in (*before.settings, *report.settings)}
    began = [(turn.at, turn.settings_id) for turn in (*before.turns, *report.turns)]
    turns = turns_of(began, entries)
    found += [Change(at=after.at, told=_turn_told(earlier, after)) for earlier, after in pairwise(turns)]
    return tuple(sorted(found, key=lambda change: (change.at, change.told)))


def _turn_told(before: Turn, after: Turn) -> str:
    told = [
        f"{name} {_plain(before.settings.get(name))} → {_plain(after.settings.get(name))}"
        for name in _names(before.settings, after.settings)
    ]
    models = _plain(before.settings.get(_MODEL)), _plain(after.settings.get(_MODEL))
    parts = [f"settings ({', '.join(told)})"] if told else []
    if models[0] != models[1]:
        parts.append(f"model ({models[0]} → {models[1]})")
    return " and ".join(parts) or "settings"


def _names(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    names = sorted({*before, *after} - set(_NOT_NUMBERS))
    return [name for name in names if before.get(name) != after.get(name)]


def _plain(value: object) -> str:
    return value_told(value).split("@", 1)[0]
