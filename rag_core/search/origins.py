"""Where a passage stands, in JSON: a file or a session, told apart by `kind`. Pure."""

from dataclasses import dataclass
from typing import Annotated, Literal

from rag_core.model import Origin
from rag_core.model.shape import ByKind, Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOrigin(Shape):
    """A passage of a document."""

    kind: Literal["file"]
    source_path: str
    heading_path: tuple[str, ...] | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOrigin(Shape):
    """A passage of a session."""

    kind: Literal["session"]
    session_id: str
    event_id: str | None = None
    title: str | None = None


OriginShape = Annotated[FileOrigin | SessionOrigin, ByKind()]


def shape_of(origin: Origin) -> FileOrigin | SessionOrigin:
    """The contract's `origin`."""
    place = origin.place
    if place.kind == "session":
        return SessionOrigin(
            kind="session", session_id=place.key, event_id=origin.event_id, title=origin.title
        )
    return FileOrigin(
        kind="file", source_path=place.key, heading_path=origin.heading_path or None, title=origin.title
    )
