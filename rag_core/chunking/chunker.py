"""The two ways into the chunker: a Markdown file, a session's message."""

from rag_core.chunking.size import cut_to_size
from rag_core.chunking.structure import read_structure
from rag_core.chunking.text import clean_text
from rag_core.model import Chunk, Origin, Place, Scope

CHUNKER_VERSION = "2"
"""Part of an index's fingerprint; it changes with any change of what the functions here return."""


def chunk_markdown(text: str, *, place: Place, scope: Scope) -> tuple[Chunk, ...]:
    """A Markdown file's chunks in the order of the file, ordinals from 0; () for a file without text.

    Sections by heading, then by size within a section; see `structure` and `size` for the rules. Each
    content has at most `TARGET_CHARS` characters, is never blank, and is a substring of the file's text but
    for what is left out (front matter, HTML comments) and for the header that a split table repeats.

    Args:
        text: The file, decoded.
        place: The file's place, carried into each origin.
        scope: `docs` or `adr`.

    Returns:
        Chunks whose origin holds the trail of headings, outermost first, and the document's title: the front
        matter's `title`, else the first heading, else None.
    """
    structure = read_structure(clean_text(text))
    contents = [
        (section.heading_path, piece.content(structure.text))
        for section in structure.sections
        for piece in cut_to_size(structure.text, section.start, section.end, section.tables)
    ]
    return tuple(
        Chunk(
            scope=scope,
            origin=Origin(place=place, heading_path=heading_path, title=structure.title),
            ordinal=ordinal,
            content=content,
        )
        for ordinal, (heading_path, content) in enumerate(contents)
    )


def chunk_message(
    text: str, *, session_id: str, event_id: str, title: str | None, first_ordinal: int
) -> tuple[Chunk, ...]:
    """One event's chunks, cut by size alone; () for a blank message.

    A message is read as plain text: a `#` in a chat is as likely a channel or a comment as a heading.

    Args:
        text: What was said.
        session_id: The session; its place is counted by the per-file cap.
        event_id: The event, which each citation leads back to.
        title: The session's title, if it has one.
        first_ordinal: The ordinal of the first chunk; a session's events share one count.
    """
    cleaned = clean_text(text)
    origin = Origin(place=Place("session", session_id), title=title, event_id=event_id)
    return tuple(
        Chunk(scope=Scope.SESSION, origin=origin, ordinal=ordinal, content=piece.content(cleaned))
        for ordinal, piece in enumerate(cut_to_size(cleaned, 0, len(cleaned)), start=first_ordinal)
    )
