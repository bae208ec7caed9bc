"""Session files: JSON lines, one event each; a bad line is refused by its number and the rest taken."""

import codecs
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from rag_core.errors import UsageError
from rag_core.model.session_events import SessionEvent
from rag_core.model.shape import Shape
from rag_core.words.plurals import counted

MAX_LINE_BYTES = 4_000_000
_LINE_END_BYTES = len(codecs.BOM_UTF8) + len(b"\r\n")
# what JSON can write and no database takes; seldom there, so looked for before a line is taken apart
_SUSPECT = re.compile(rb"\0|\\u(?:0000|[dD][89a-fA-F])")
_NUL = "\0"
_SURROGATE = re.compile("[\ud800-\udfff]")

# what a validation fault means to who wrote the file; others are clear as they are
_SAID: Mapping[str, str] = MappingProxyType(
    {
        "missing": "is missing",
        "string_type": "is no text",
        "string_too_short": "is empty",
        "dict_type": "is no JSON object",
        "model_type": "is no JSON object",
        "timezone_aware": "has no time zone",
    }
)

_Name = Annotated[str, Field(min_length=1, max_length=200)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedLine(Shape):
    """A line that is no event; `line` counts from 1."""

    line: int
    reason: str


class _Base(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, strict=True, extra="ignore")


class _Actor(_Base):
    kind: Literal["human", "agent", "system"]
    id: _Name


class _Event(_Base):
    session_id: _Name
    event_id: _Name
    type: _Name
    created_at: Annotated[AwareDatetime, Field(strict=False)]
    actor: _Actor
    title: Annotated[str, Field(max_length=500)] | None = None
    payload: dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLine:
    """An event and its line, counted from 1, of `size` bytes; `notes` say what its texts lost or got in its stead."""

    line: int
    event: SessionEvent
    size: int = field(default=0, compare=False)
    notes: tuple[str, ...] = ()


def read_session_file(path: Path) -> Iterator[EventLine | RefusedLine]:
    """The lines of a file in their order, one at a time: each an event, or refused; blank lines are passed over.

    No more of the file is held than one line of `MAX_LINE_BYTES`. NULs in a title or a payload are removed, and half
    of a surrogate pair becomes U+FFFD.

    Raises:
        UsageError: The file can't be read.
    """
    for number, line in _lines(path):
        mended = _Mended()
        read = _read_line(line, mended)
        if isinstance(read, str):
            yield RefusedLine(line=number, reason=read)
        else:
            yield EventLine(line=number, event=read, size=len(line), notes=mended.notes)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            # a pipe has an end, a device none
            if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
                raise UsageError(f"{path} is no file.", hint="Name a file of session events.")
            for number in count(1):
                line = file.readline(MAX_LINE_BYTES + _LINE_END_BYTES)
                if not line:
                    return
                rest = line
                while rest and not rest.endswith(b"\n"):
                    # the remainder of a line that is refused for its length
                    rest = file.readline(MAX_LINE_BYTES)
                stripped = line.removeprefix(codecs.BOM_UTF8).strip() if number == 1 else line.strip()
                if stripped:
                    yield number, stripped
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}.", hint="Check the path.") from error


def _read_line(line: bytes, mended: "_Mended") -> SessionEvent | str:
    if len(line) > MAX_LINE_BYTES:
        return f"longer than {MAX_LINE_BYTES:,} bytes"
    if _SUSPECT.search(line):
        line = mended.line(line)
        if not line:
            return "holds only NULs"
    try:
        event = _Event.model_validate_json(line)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(str(part) for part in fault["loc"])
        said = _SAID.get(fault["type"], fault["msg"])
        return f"{field}: {said}" if field else said
    refusal = _unstorable(event)
    if refusal is not None:
        return refusal
    created_at: datetime = event.created_at
    return SessionEvent(
        session_id=event.session_id,
        event_id=event.event_id,
        type=event.type,
        created_at=created_at,
        actor_kind=event.actor.kind,
        actor_id=event.actor.id,
        title=event.title,
        payload=event.payload,
    )


def _unstorable(event: _Event) -> str | None:
    """Why the database could not take what is valid JSON to Python; None where it can."""
    for name, value in (
        ("sessionId", event.session_id),
        ("eventId", event.event_id),
        ("type", event.type),
        ("actor.id", event.actor.id),
    ):
        # what names something is not mended: two names could become one
        if _NUL in value:
            return f"{name}: holds a NUL"
    try:
        json.dumps(event.payload, allow_nan=False)
    except ValueError:
        return "payload: holds a number that is none, or too long to be stored"
    return None


class _Mended:
    """What was taken out of a line's texts, and what was put in the place of half a character."""

    def __init__(self) -> None:
        self._nuls = 0
        self._surrogates = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """In words; () for an ordinary line."""
        return (
            *((f"{counted(self._nuls, 'NUL')} removed",) if self._nuls else ()),
            *(
                (f"{counted(self._surrogates, 'lone surrogate')} replaced by U+FFFD",)
                if self._surrogates
                else ()
            ),
        )

    def line(self, line: bytes) -> bytes:
        """The line with sound texts; as it is where it is no event whose texts could be mended."""
        self._nuls += line.count(b"\0")
        line = line.replace(b"\0", b"").strip()
        try:
            event = json.loads(line)
            if isinstance(event, dict):
                event |= {key: self._value(event[key]) for key in ("title", "payload") if key in event}
                return json.dumps(event).encode()
        except (ValueError, RecursionError):
            # said in the same words as of any other line
            pass
        return line

    def _value(self, value: object) -> object:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self._value(entry) for entry in value]
        if isinstance(value, dict):
            return self._mapping(value)
        return value

    def _mapping(self, value: Mapping[str, object]) -> dict[str, object]:
        mended: dict[str, object] = {}
        for key, entry in value.items():
            name = self._text(key)
            # two keys that differed in what was mended must not become one
            free = name if name not in mended else f"{name} {len(mended)}"
            mended[free] = self._value(entry)
        return mended

    def _text(self, text: str) -> str:
        self._nuls += text.count(_NUL)
        sound, replaced = _SURROGATE.subn("\ufffd", text.replace(_NUL, ""))
        self._surrogates += replaced
        return sound
