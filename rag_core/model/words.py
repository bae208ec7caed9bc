"""The words that everything else is said in: scopes, places, actors, and what a chunk is cited by. Pure."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class Scope(StrEnum):
    """What a chunk comes from. Equals the database's enum `chunk_scope`."""

    DOCS = "docs"
    ADR = "adr"
    SESSION = "session"

    @property
    def holds(self) -> Literal["file", "session"]:
        """What its chunks' places are."""
        match self:
            case Scope.DOCS | Scope.ADR:
                return "file"
            case Scope.SESSION:
                return "session"


ALL_SCOPES: tuple[Scope, ...] = tuple(Scope)
DOCUMENT_SCOPES: tuple[Scope, ...] = tuple(scope for scope in Scope if scope.holds == "file")


ActorKind = Literal["human", "agent", "system"]
Surface = Literal["app", "cli", "api", "engine", "mcp"]
Role = Literal["viewer", "maintainer", "engine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who does something, and through which surface."""

    kind: ActorKind
    id: str
    surface: Surface


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A file or a session: what a golden case expects and what the per-file cap counts.

    Order is the order of ties: files before sessions, then the path or session id by code point
    (`COLLATE "C"` in SQL).
    """

    kind: Literal["file", "session"]
    key: str

    @classmethod
    def parse(cls, text: str) -> "Place":
        """`session:ID` is a session, anything else a file's path."""
        if text.startswith("session:"):
            return cls("session", text.removeprefix("session:"))
        return cls("file", text)

    def __str__(self) -> str:
        return f"session:{self.key}" if self.kind == "session" else self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a chunk comes from, as it is cited.

    `heading_path` is outermost first, plain text; empty for a session and for text above the first heading.
    `event_id` is set for sessions only.
    """

    place: Place
    heading_path: tuple[str, ...] = ()
    title: str | None = None
    event_id: str | None = None

    @property
    def citation(self) -> str:
        """The quoting form: `docs/adr/0127-x.md › Decisão`.

        Examples:
            >>> Origin(place=Place("file", "docs/a.md"), heading_path=("Guia", "Uso")).citation
            'docs/a.md › Guia › Uso'
        """
        tail = self.heading_path
        if self.place.kind == "session" and self.event_id:
            tail = (self.event_id,)
        return " › ".join((str(self.place), *tail))


def canonical_digest(value: Mapping[str, object]) -> str:
    """SHA-256 of a JSON object in one canonical spelling, 64 hex digits."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
