"""A session file is read line by line: a bad line is refused by its number, and the rest is taken."""

import codecs
import json
import tracemalloc
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from rag_core.errors import UsageError
from rag_core.model.session_events import SessionEvent
from rag_core.sources.session_log import MAX_LINE_BYTES, EventLine, RefusedLine, read_session_file

EVENT: dict[str, object] = {
    "sessionId": "s1",
    "eventId": "e1",
    "type": "chat.message",
    "createdAt": "2026-01-02T09:00:00-03:00",
    "actor": {"kind": "human", "id": "ana"},
    "payload": {"text": "Qual é o frete?"},
}


def line_of(**changes: object) -> bytes:
    return json.dumps(EVENT | changes, ensure_ascii=False).encode()


def read(tmp_path: Path, content: bytes) -> list[EventLine | RefusedLine]:
    path = tmp_path / "sessions.jsonl"
    path.write_bytes(content)
    return list(read_session_file(path))


def outcomes(tmp_path: Path, content: bytes) -> dict[int, str]:
    """What became of each line by its number: the event's id, or the reason of its refusal."""
    return {
        entry.line: entry.reason if isinstance(entry, RefusedLine) else entry.event.event_id
        for entry in read(tmp_path, content)
    }


def test_a_line_is_an_event_with_its_number(tmp_path: Path) -> None:
    assert read(tmp_path, line_of(title="Frete", unknown="ignored")) == [
        EventLine(
            line=1,
            event=SessionEvent(
                session_id="s1",
                event_id="e1",
                type="chat.message",
                created_at=datetime(2026, 1, 2, 9, tzinfo=timezone(-timedelta(hours=3))),
                actor_kind="human",
                actor_id="ana",
                title="Frete",
                payload={"text": "Qual é o frete?"},
            ),
        )
    ]


def test_bad_lines_are_refused_by_their_numbers_and_the_rest_is_taken(tmp_path: Path) -> None:
    content = b"\n".join(
        [
            line_of(eventId="first"),
            b"\0\0\0\0",
            b"",
            b'["sessionId", "s1"]',
            b'"only text"',
            line_of(eventId="middle"),
            b"   \t ",
            line_of(eventId="\xff").replace("ÿ".encode(), b"\xff"),
            line_of(eventId="last"),
            line_of(eventId="cut")[:-20],
        ]
    )

    found = outcomes(tmp_path, content)

    assert {number: found[number] for number in (1, 6, 9)} == {1: "first", 6: "middle", 9: "last"}
    assert found[2] == "holds only NULs"
    assert "object" in found[4]
    assert "object" in found[5]
    assert found[8].startswith("Invalid JSON")
    assert "EOF" in found[10]
    assert sorted(found) == [1, 2, 4, 5, 6, 8, 9, 10]


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    assert read(tmp_path, b"") == []
    assert read(tmp_path, codecs.BOM_UTF8 + b"\r\n\n") == []


def test_a_byte_order_mark_and_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    content = codecs.BOM_UTF8 + line_of(eventId="a") + b"\r\n" + line_of(eventId="b") + b"\r\n"

    assert outcomes(tmp_path, content) == {1: "a", 2: "b"}


def test_a_line_too_long_is_refused_without_being_held_and_the_next_is_taken(tmp_path: Path) -> None:
    content = line_of(payload={"text": "x" * 30_000_000}) + b"\n" + line_of(eventId="next")
    path = tmp_path / "sessions.jsonl"
    path.write_bytes(content)
    tracemalloc.start()
    try:
        found = {entry.line: entry for entry in read_session_file(path)}
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert found[1] == RefusedLine(line=1, reason="longer than 4,000,000 bytes")
    assert isinstance(found[2], EventLine)
    assert peak < 5 * MAX_LINE_BYTES


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_a_line_of_exactly_the_longest_is_taken(tmp_path: Path, end: bytes) -> None:
    room = MAX_LINE_BYTES - len(line_of(payload={"text": ""}))

    assert outcomes(tmp_path, line_of(payload={"text": "x" * room}) + end) == {1: "e1"}
    assert outcomes(tmp_path, line_of(payload={"text": "x" * (room + 1)}) + end) == {
        1: "longer than 4,000,000 bytes"
    }


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"createdAt": "2026-01-02T09:00:00"}, "createdAt"),
        ({"createdAt": "2026-01-02"}, "createdAt"),
        ({"createdAt": "ontem"}, "createdAt"),
        ({"sessionId": ""}, "sessionId"),
        ({"sessionId": 7}, "sessionId"),
        ({"eventId": "x" * 201}, "eventId"),
        ({"type": None}, "type"),
        ({"actor": {"kind": "robot", "id": "r"}}, "actor.kind"),
        ({"actor": {"kind": "human"}}, "actor.id"),
        ({"payload": "text"}, "payload"),
        ({"title": "x" * 501}, "title"),
    ],
)
def test_a_refusal_names_the_field(tmp_path: Path, changes: dict[str, object], field: str) -> None:
    assert outcomes(tmp_path, line_of(**changes))[1].startswith(f"{field}: ")


@pytest.mark.parametrize("key", ["sessionId", "eventId", "type", "createdAt", "actor", "payload"])
def test_every_field_but_the_title_is_required(tmp_path: Path, key: str) -> None:
    without = json.dumps({name: value for name, value in EVENT.items() if name != key}).encode()

    assert outcomes(tmp_path, without) == {1: f"{key}: is missing"}


def test_a_time_in_utc_may_end_in_z(tmp_path: Path) -> None:
    (entry,) = read(tmp_path, line_of(createdAt="2026-01-02T12:00:00Z"))

    assert isinstance(entry, EventLine)
    assert entry.event.created_at == datetime(2026, 1, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("payload", "kept", "notes"),
    [
        (b'{"text": "a\\u0000b"}', {"text": "ab"}, ("1 NUL removed",)),
        (b'{"text": "a\0b\0"}', {"text": "ab"}, ("2 NULs removed",)),
        (b'{"deep": [{"k\\u0000": 1, "k": 2}]}', {"deep": [{"k": 1, "k 1": 2}]}, ("1 NUL removed",)),
        (b'{"text": "\\\\\\u0000"}', {"text": "\\"}, ("1 NUL removed",)),
        (b'{"text": "a\\ud800b"}', {"text": "a\ufffdb"}, ("1 lone surrogate replaced by U+FFFD",)),
        (
            b'{"text": ["\\uDC00\\uD83D", "\\u0000"]}',
            {"text": ["\ufffd\ufffd", ""]},
            ("1 NUL removed", "2 lone surrogates replaced by U+FFFD"),
        ),
        (b'{"text": "\\ud83d\\ude00 \\\\ud800"}', {"text": "\U0001f600 \\ud800"}, ()),
    ],
)
def test_what_no_database_takes_is_mended_in_the_texts_and_said(
    tmp_path: Path, payload: bytes, kept: dict[str, object], notes: tuple[str, ...]
) -> None:
    (entry,) = read(tmp_path, line_of(payload={}).replace(b"{}", payload))

    assert isinstance(entry, EventLine)
    assert (entry.event.payload, entry.notes) == (kept, notes)


def test_a_title_is_mended_too_and_a_name_is_not(tmp_path: Path) -> None:
    (entry,) = read(tmp_path, line_of(title="X").replace(b'"X"', b'"Fre\\u0000te \\ud800"'))
    assert isinstance(entry, EventLine)
    assert entry.event.title == "Frete \ufffd"

    for field, key in (("sessionId", b"s1"), ("eventId", b"e1"), ("actor.id", b"ana")):
        nul = line_of().replace(b'"' + key + b'"', b'"' + key + b'\\u0000"')
        assert outcomes(tmp_path, nul) == {1: f"{field}: holds a NUL"}
        half = line_of().replace(b'"' + key + b'"', b'"' + key + b'\\ud800"')
        assert outcomes(tmp_path, half)[1].startswith("Invalid JSON")


def test_talking_about_the_escape_of_a_nul_is_no_nul(tmp_path: Path) -> None:
    (entry,) = read(tmp_path, line_of(payload={"text": r"o escape é \u0000 e \\u0000"}))

    assert isinstance(entry, EventLine)
    assert entry.event.payload == {"text": r"o escape é \u0000 e \\u0000"}


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e400", b"9" * 5000])
def test_a_number_that_no_database_takes_is_refused(tmp_path: Path, number: bytes) -> None:
    found = outcomes(tmp_path, line_of(payload={"n": 0}).replace(b'"n": 0', b'"n": ' + number))

    assert "number" in found[1]


@pytest.mark.parametrize(
    "payload",
    [
        b'{"deep": ' + b"[" * depth + text + b"]" * depth + b"}"
        for depth in (500, 9000)
        for text in (b"", b'"\\u0000"')
    ],
)
def test_endless_nesting_is_refused(tmp_path: Path, payload: bytes) -> None:
    assert outcomes(tmp_path, line_of(payload={}).replace(b"{}", payload))[1].startswith("Invalid JSON")


def test_a_refusal_never_repeats_what_the_line_held(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    content = b"\n".join(
        [
            line_of(payload=secret),
            line_of(actor={"kind": secret, "id": "a"}),
            line_of(createdAt=secret),
            f'{{"eventId": "{secret}'.encode(),
        ]
    )

    found = outcomes(tmp_path, content)

    assert len(found) == 4
    assert secret not in str(found)


def test_a_file_that_is_not_there_is_said_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be read"):
        list(read_session_file(tmp_path / "nada.jsonl"))
    with pytest.raises(UsageError, match="can't be read"):
        list(read_session_file(tmp_path))


def test_a_device_is_no_session_file() -> None:
    with pytest.raises(UsageError, match="/dev/zero is no file"):
        list(read_session_file(Path("/dev/zero")))
