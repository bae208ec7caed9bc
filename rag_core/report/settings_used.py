"""Which of the window's settings are one rule, and when another rule came into force. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

# how many hits are shown is no other way of ranking; the rest says where the numbers came from
_NOT_RULES = ("limit", "source", "preset", "fetchDepth", "adoptedBy", "adoptedAt")


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedSettings:
    """Settings that some of the window's searches ran under, with the first and the last of them.

    `decided` tells that somebody decided on these very numbers, so that their limit is no caller's.
    """

    settings_id: str
    settings: Mapping[str, object]
    searches: int
    first_at: datetime
    last_at: datetime
    decided: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Settings came into force: when the first search that was no trial ran under them."""

    at: datetime
    settings_id: str
    settings: Mapping[str, object]


def merged(settings: Sequence[UsedSettings]) -> tuple[UsedSettings, ...]:
    """The settings as rules: what differs from another in its caller's limit alone counts with that one.

    Those that somebody decided on keep a limit of their own. Sorted by the time of the first search.
    """
    rules: dict[str, UsedSettings] = {}
    same = same_rules(settings)
    for entry in sorted(settings, key=lambda entry: same[entry.settings_id] != entry.settings_id):
        key = same[entry.settings_id]
        known = rules.get(key)
        rules[key] = entry if known is None else _together(known, entry)
    return tuple(sorted(rules.values(), key=lambda entry: (entry.first_at, entry.settings_id)))


def same_rules(settings: Iterable[UsedSettings]) -> Mapping[str, str]:
    """For the id of each of the settings, the id of those that it is one rule with; mostly its own."""
    alike: dict[tuple[object, ...], list[UsedSettings]] = {}
    for entry in settings:
        alike.setdefault(_rules(entry.settings), []).append(entry)
    found: dict[str, str] = {}
    for entries in alike.values():
        ordered = sorted(entries, key=lambda entry: (not entry.decided, entry.first_at, entry.settings_id))
        for entry in entries:
            found[entry.settings_id] = entry.settings_id if entry.decided else ordered[0].settings_id
    return found


def turns_of(began: Sequence[tuple[datetime, str]], settings: Mapping[str, UsedSettings]) -> tuple[Turn, ...]:
    """When another rule came into force, oldest first; the one that the window began with is the first.

    `began` says when searches began to run under other settings, oldest first, trials left out.
    """
    same = same_rules(settings.values())
    turns: list[Turn] = []
    for at, settings_id in began:
        rule = settings[same[settings_id]]
        if not turns or turns[-1].settings_id != rule.settings_id:
            turns.append(Turn(at=at, settings_id=rule.settings_id, settings=rule.settings))
    return tuple(turns)


def _rules(settings: Mapping[str, object]) -> tuple[object, ...]:
    return tuple(sorted((name, repr(value)) for name, value in settings.items() if name not in _NOT_RULES))


def _together(rule: UsedSettings, other: UsedSettings) -> UsedSettings:
    return replace(
        rule,
        searches=rule.searches + other.searches,
        first_at=min(rule.first_at, other.first_at),
        last_at=max(rule.last_at, other.last_at),
    )
