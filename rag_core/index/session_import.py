"""Bringing session files into the event log."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from rag_core.database.connections import Database
from rag_core.database.index.sessions import append_events
from rag_core.errors import InvalidInput
from rag_core.model.shape import Shape
from rag_core.sources.masking import mask_event
from rag_core.sources.session_log import EventLine, RefusedLine, read_session_file

# what an interrupted import has to do again; events already there are left as they are
_BATCH = 500
_BATCH_BYTES = 4_000_000
_MAX_REFUSED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LineNote(Shape):
    """Something about a line that was taken which its owner should know; `line` counts from 1."""

    line: int
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionImport(Shape):
    """What came in: new sessions and events, lines that are no event, secrets masked, what was mended in which line."""

    sessions: int
    events: int
    refused: tuple[RefusedLine, ...]
    masked: int
    notes: tuple[LineNote, ...]


def import_sessions(
    database: Database, project_id: str, path: Path, *, tax_numbers: bool = False
) -> SessionImport:
    """Add a file's events to the project's sessions; safe to repeat, also after an interruption.

    The file is read as a stream. Secrets are masked before anything is stored. A line that is no event is
    refused by its number, and the rest is taken.

    `tax_numbers`: CPF and CNPJ numbers are masked as secrets are.

    Raises:
        UsageError: The file can't be read, or is none.
        InvalidInput: No line of it is an event, or so many are none that it is no session file.
    """
    sessions = events = masked = seen = misplaced = 0
    refused: list[RefusedLine] = []
    notes: list[LineNote] = []
    lines = read_session_file(path)
    while batch := list(_batch(lines)):
        entries = [entry for entry in batch if isinstance(entry, EventLine)]
        refused.extend(entry for entry in batch if isinstance(entry, RefusedLine))
        if len(refused) > _MAX_REFUSED:
            raise InvalidInput(
                f"More than {_MAX_REFUSED:,} lines of {path} are no session event; line {refused[0].line}: "
                f"{refused[0].reason}.",
                hint="Give a file of session events; what was taken of it stays.",
                where={"file": str(path)},
            )
        notes.extend(LineNote(line=entry.line, note=note) for entry in entries for note in entry.notes)
        cleaned = [mask_event(entry.event, tax_numbers=tax_numbers) for entry in entries]
        masked += sum(count for _, count in cleaned)
        with database.transaction() as connection:
            appended = append_events(connection, project_id, [event for event, _ in cleaned])
        refused.extend(
            RefusedLine(line=entries[position].line, reason=f"eventId: is one of session {other!r} already")
            for position, other in appended.misplaced.items()
        )
        refused.extend(
            RefusedLine(line=entries[position].line, reason="eventId: is known already, with another content")
            for position in appended.differing
        )
        misplaced += len(appended.misplaced)
        seen += len(entries) - len(appended.misplaced)
        sessions, events = sessions + appended.sessions, events + appended.events
    if not seen:
        first = f"; line {refused[0].line}: {refused[0].reason}" if refused else ""
        if misplaced:
            raise InvalidInput(
                f"No event of {path} was imported{first}.",
                hint="An event's id is unique in its project: give these events ids of their own.",
                where={"file": str(path)},
            )
        raise InvalidInput(
            f"{path} holds no session event{first}.",
            hint='A line is a JSON object with "sessionId", "eventId", "type", "createdAt", "actor" and "payload".',
            where={"file": str(path)},
        )
    return SessionImport(
        sessions=sessions, events=events, refused=_in_order(refused), masked=masked, notes=tuple(notes)
    )


def _batch(lines: Iterator[EventLine | RefusedLine]) -> Iterator[EventLine | RefusedLine]:
    """The next lines, as many as are held at once."""
    taken = 0
    for entry in islice(lines, _BATCH):
        yield entry
        taken += entry.size if isinstance(entry, EventLine) else 0
        if taken >= _BATCH_BYTES:
            return


def _in_order(refused: list[RefusedLine]) -> tuple[RefusedLine, ...]:
    return tuple(sorted(refused, key=lambda entry: entry.line))
