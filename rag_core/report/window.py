"""A stretch of time: what `--since`, `--from` and `--to` mean. Pure."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from rag_core.errors import InvalidInput, UsageError
from rag_core.model import Window
from rag_core.words.durations import parse_duration

DEFAULT_LENGTH = timedelta(days=30)
_ZONE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*")


def make_window(
    now: datetime,
    *,
    since: str | None = None,
    start: str | None = None,
    end: str | None = None,
    zone: str | None = None,
    synthetic: bool = False,
) -> Window:
    """The window that is meant: the last 30 days unless something is given.

    Args:
        now: Where a window ends that has no end of its own.
        since: A duration such as `30m`, `12h`, `7d`, `4w`, back from now.
        start: ISO 8601 with an offset or `Z`.
        end: The same; without `start`, the window is the 30 days before it.
        zone: The time zone of days, by its IANA name.
        synthetic: Whether rows made by benches and demonstrations count too.

    Raises:
        UsageError: `since` is given beside `start` or `end`.
        InvalidInput: A value does not parse, a time has no offset, or the window ends before it begins.
    """
    if since is not None and (start is not None or end is not None):
        raise UsageError("--since goes with neither --from nor --to.", hint="Give the one or the others.")
    last = now.astimezone(UTC) if end is None else parse_time(end, name="--to")
    if since is not None:
        first = _earlier(last, parse_duration(since))
    elif start is not None:
        first = parse_time(start, name="--from")
    else:
        first = _earlier(last, DEFAULT_LENGTH)
    return Window(start=first, end=last, zone=parse_zone(zone or "UTC"), synthetic=synthetic)


def parse_time(text: str, *, name: str) -> datetime:
    """A time in ISO 8601, in UTC.

    Raises:
        InvalidInput: It does not parse, or has neither an offset nor `Z`.
    """
    hint = "Write it like 2026-01-31T12:00:00Z or 2026-01-31T09:00:00-03:00."
    try:
        parsed = datetime.fromisoformat(text)
        if parsed.tzinfo is None:
            raise InvalidInput(
                f"{name} {text!r} has no offset, so it could be any of 24 hours.",
                hint=hint,
                where={"field": name},
            )
        return parsed.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(
            f"{name} {text!r} is no time in ISO 8601.", hint=hint, where={"field": name}
        ) from error


def parse_zone(name: str) -> str:
    """An IANA name of a time zone, as given.

    Raises:
        InvalidInput: There is no such zone.
    """
    if name != "UTC" and not _is_zone(name):
        raise InvalidInput(
            f"There is no time zone {name!r}.",
            hint="Use an IANA name such as America/Sao_Paulo, or UTC.",
            where={"field": "--tz"},
        )
    return name


def _earlier(time: datetime, length: timedelta) -> datetime:
    try:
        return time - length
    except OverflowError as error:
        raise InvalidInput("The window begins before the year 1.", hint="Give a shorter duration.") from error


def _is_zone(name: str) -> bool:
    try:
        return _ZONE_NAME.fullmatch(name) is not None and bool(ZoneInfo(name).key)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
