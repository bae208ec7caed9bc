"""A report's window: from inclusive, to exclusive, never a time whose offset has to be guessed."""

from datetime import UTC, datetime, timedelta

import pytest

from rag_core.errors import InvalidInput, UsageError
from rag_core.model import Window
from rag_core.report.window import make_window
from rag_core.words.durations import parse_duration

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)


def test_without_anything_it_is_the_last_thirty_days_in_utc() -> None:
    assert make_window(NOW) == Window(start=datetime(2026, 3, 1, 12, tzinfo=UTC), end=NOW, zone="UTC")


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("30m", timedelta(minutes=30)),
        ("12h", timedelta(hours=12)),
        ("7d", timedelta(days=7)),
        ("4w", timedelta(days=28)),
    ],
)
def test_a_duration_goes_back_from_now(text: str, length: timedelta) -> None:
    window = make_window(NOW, since=text)
    assert (window.start, window.end) == (NOW - length, NOW)


@pytest.mark.parametrize("text", ["", "0d", "7", "d", "7 d", "-7d", "1.5h", "7D", "1y", "٧d", "9999999d"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="no duration"):
        parse_duration(text)


def test_a_duration_beyond_the_calendar_is_refused() -> None:
    with pytest.raises(InvalidInput, match="before the year 1"):
        make_window(NOW, since="999999w")


def test_times_with_an_offset_or_z_become_utc() -> None:
    window = make_window(NOW, start="2026-03-01T00:00:00-03:00", end="2026-03-02T00:00:00Z")
    assert window.start == datetime(2026, 3, 1, 3, tzinfo=UTC)
    assert window.end == datetime(2026, 3, 2, tzinfo=UTC)


@pytest.mark.parametrize("text", ["2026-03-01T00:00:00", "2026-03-01"])
def test_a_time_without_an_offset_is_refused_and_the_field_named(text: str) -> None:
    with pytest.raises(InvalidInput, match="has no offset") as caught:
        make_window(NOW, start=text)
    assert caught.value.where == {"field": "--from"}


@pytest.mark.parametrize("text", ["", "yesterday", "2026-02-30T00:00:00Z", "0001-01-01T00:00:00+23:00"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="no time in ISO 8601"):
        make_window(NOW, end=text)


def test_a_window_may_be_empty_but_not_end_before_it_begins() -> None:
    moment = "2026-03-01T00:00:00Z"
    assert make_window(NOW, start=moment, end=moment).start == datetime(2026, 3, 1, tzinfo=UTC)
    with pytest.raises(InvalidInput, match="before it begins"):
        make_window(NOW, start="2026-03-02T00:00:00Z", end=moment)


def test_since_goes_with_neither_end_of_the_window() -> None:
    with pytest.raises(UsageError, match="--since"):
        make_window(NOW, since="7d", end="2026-03-01T00:00:00Z")


def test_an_end_alone_has_the_thirty_days_before_it() -> None:
    window = make_window(NOW, end="2026-03-31T00:00:00Z")
    assert window.start == datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize("zone", ["UTC", "America/Sao_Paulo", "Etc/GMT+3"])
def test_a_zone_is_an_iana_name(zone: str) -> None:
    assert make_window(NOW, zone=zone).zone == zone


@pytest.mark.parametrize(
    "zone", ["America", "Mars/Olympus", "../etc/passwd", "UTC-3", "-03:00", "posixrules\x00"]
)
def test_what_is_no_zone_is_refused(zone: str) -> None:
    with pytest.raises(InvalidInput, match="no time zone"):
        make_window(NOW, zone=zone)


def test_the_window_before_has_the_same_length_and_ends_where_this_one_begins() -> None:
    window = make_window(NOW, since="7d")
    assert window.before.end == window.start
    assert window.before.start == window.start - timedelta(days=7)


def test_a_window_of_naive_times_can_not_be_made() -> None:
    with pytest.raises(ValueError, match="aware"):
        Window(start=datetime(2026, 1, 1), end=NOW)  # noqa: DTZ001  naive on purpose
