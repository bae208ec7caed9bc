"""The two ways into the chunker: a document, read by the suffix of its path, and a session's message."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from rag_core.chunking import structure as markdown
from rag_core.chunking.size import cut_to_size
from rag_core.chunking.structure import Structure
from rag_core.chunking.text import clean_text
from rag_core.model import Chunk, Origin, Place, Scope
from rag_core.model.languages import DEFAULT_LANGUAGE, language_meant

CHUNKER_VERSION = "2"
"""Part of an index's fingerprint; it changes with any change of what the functions here return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A kind of document: its name, what a text is made of, and a chunk's content without its heading lines."""

    name: str
    read_structure: Callable[[str], Structure]
    below_headings: Callable[[str], str]


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        ".md": Format(
            name="Markdown",
            read_structure=markdown.read_structure,
            below_headings=markdown.below_headings,
        ),
    }
)
"""What is indexed, by the end of a file's name in small letters."""

SUFFIXES = tuple(FORMATS)
FORMAT_NAMES = " or ".join(dict.fromkeys(each.name for each in FORMATS.values()))
"""`Markdown`, as a sentence has it."""
FORMAT_PATTERNS = " or ".join(f"{each.name} (*{suffix})" for suffix, each in FORMATS.items())
"""`Markdown (*.md)`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CutDocument:
    """A file's chunks, and what it calls its language where that is none."""

    chunks: tuple[Chunk, ...]
    unknown_language: str | None


def chunk_document(
    text: str, *, place: Place, scope: Scope, language: str = DEFAULT_LANGUAGE
) -> tuple[Chunk, ...]:
    """The chunks of `cut_document`."""
    return cut_document(text, place=place, scope=scope, language=language).chunks


def cut_document(text: str, *, place: Place, scope: Scope, language: str) -> CutDocument:
    """A file's chunks in its order, ordinals from 0; () for one without text, or of no format.

    Sections by heading, then by size within a section; see `structure` and `size` for the rules. Each
    content has at most `TARGET_CHARS` characters, is never blank, and is a substring of the file's text but
    for what is left out (front matter, HTML comments) and for the header that a split table repeats.

    Args:
        text: The file, decoded.
        place: The file's place, carried into each origin.
        scope: `docs` or `adr`.
        language: That of a file which names none of its own in its front matter.

    Returns:
        Chunks whose origin holds the trail of headings, outermost first, and the document's title: the front
        matter's `title`, else the first heading, else None.
    """
    known = _format_of(place)
    if known is None:
        return CutDocument(chunks=(), unknown_language=None)
    structure = known.read_structure(clean_text(text))
    contents = [
        (section.heading_path, piece.content(structure.text))
        for section in structure.sections
        for piece in cut_to_size(structure.text, section.start, section.end, section.tables)
    ]
    own = None if structure.language is None else language_meant(structure.language)
    chunks = tuple(
        Chunk(
            scope=scope,
            origin=Origin(place=place, heading_path=heading_path, title=structure.title),
            ordinal=ordinal,
            content=content,
            language=own or language,
        )
        for ordinal, (heading_path, content) in enumerate(contents)
    )
    return CutDocument(chunks=chunks, unknown_language=structure.language if own is None else None)


def below_headings(content: str, place: Place) -> str:
    """A chunk's text without the heading lines that it begins with; all of it where it is nothing but those."""
    known = _format_of(place)
    return content.strip() if known is None else known.below_headings(content)


def chunk_message(
    text: str,
    *,
    session_id: str,
    event_id: str,
    title: str | None,
    first_ordinal: int,
    language: str = DEFAULT_LANGUAGE,
) -> tuple[Chunk, ...]:
    """One event's chunks, cut by size alone; () for a blank message.

    A message is read as plain text: a `#` in a chat is as likely a channel or a comment as a heading.

    Args:
        text: What was said.
        session_id: The session; its place is counted by the per-file cap.
        event_id: The event, which each citation leads back to.
        title: The session's title, if it has one.
        first_ordinal: The ordinal of the first chunk; a session's events share one count.
        language: That of the project.
    """
    cleaned = clean_text(text)
    origin = Origin(place=Place("session", session_id), title=title, event_id=event_id)
    return tuple(
        Chunk(
            scope=Scope.SESSION,
            origin=origin,
            ordinal=ordinal,
            content=piece.content(cleaned),
            language=language,
        )
        for ordinal, piece in enumerate(cut_to_size(cleaned, 0, len(cleaned)), start=first_ordinal)
    )


def _format_of(place: Place) -> Format | None:
    if place.kind == "session":
        return None
    return next((known for suffix, known in FORMATS.items() if place.key.lower().endswith(suffix)), None)
