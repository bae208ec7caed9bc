"""What changed over a window and the one before it: settings, model, index. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from rag_core.report.numbers import Report, SettingsInForce

_MODEL = "embeddingModel"
# the model has a sentence of its own; how settings came to be is no number
_NOT_NUMBERS = (_MODEL, "source", "preset", "adoptedBy", "adoptedAt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Something that a search depends on became another at a time; `told` says from what to what."""

    at: datetime
    told: str


def changes(report: Report, before: Report, indexed_at: Sequence[datetime]) -> tuple[Change, ...]:
    """What changed in the two windows, oldest first; nothing where all searches ran under the same.

    Both windows, since a number may differ from the one before for what changed in the midst of that one. A search
    under settings that were there already, between others, is no change: settings are told where they began. Nor is a
    trial.

    Args:
        report: The window in view.
        before: The window before it.
        indexed_at: When index runs ended; those outside the windows are left out.
    """
    found = [
        Change(at=at, told="the index was made again") for at in indexed_at if before.start <= at < report.end
    ]
    begun = {entry.settings_id: entry for entry in (*reversed(report.settled), *reversed(before.settled))}
    entries = sorted(begun.values(), key=lambda entry: (entry.first_at, entry.settings_id))
    found += [Change(at=after.first_at, told=_told(earlier, after)) for earlier, after in pairwise(entries)]
    return tuple(sorted(found, key=lambda change: (change.at, change.told)))


def _told(before: SettingsInForce, after: SettingsInForce) -> str:
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
    if value is None:
        return "—"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value).split("@", 1)[0]
