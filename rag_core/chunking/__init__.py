"""From a document's or a message's text to chunks that can be cited. Pure: text in, values out.

Conventions of the package:

- Offsets count characters (code points). Every piece and span is half open, `[start, end)`.
- A text is cleaned first: NUL and a leading BOM removed, CRLF and CR read as LF.
- Whitespace is what `str.isspace` says; regular expressions and `str.strip` agree on it.

Source: SPEC section 3; ADR 0080, part 2.
"""

from rag_core.chunking.chunker import (
    CHUNKER_VERSION,
    FORMAT_NAMES,
    FORMAT_PATTERNS,
    SUFFIXES,
    CutDocument,
    below_headings,
    chunk_document,
    chunk_message,
    cut_document,
)
from rag_core.chunking.size import LOOK_BACK_CHARS, OVERLAP_CHARS, TARGET_CHARS
from rag_core.chunking.text import clean_text

__all__ = [
    "CHUNKER_VERSION",
    "FORMAT_NAMES",
    "FORMAT_PATTERNS",
    "LOOK_BACK_CHARS",
    "OVERLAP_CHARS",
    "SUFFIXES",
    "TARGET_CHARS",
    "CutDocument",
    "below_headings",
    "chunk_document",
    "chunk_message",
    "clean_text",
    "cut_document",
]
