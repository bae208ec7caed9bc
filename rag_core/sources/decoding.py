"""From a file's bytes to its text, by rules that never guess and never drop a letter.

UTF-8 strictly, with or without a BOM; UTF-16 by its BOM; else Windows-1252 (cp1252), but only where the file
shows that it is Portuguese text in it. Anything else is refused: the caller skips the file as `encoding`.
Source: SPEC section 10.
"""

import codecs
import re
from dataclasses import dataclass
from typing import Literal

from rag_core.chunking import clean_text
from rag_core.errors import InvalidInput

MAX_BYTES = 2_000_000
"""The largest file that is indexed: 2 MB, decimal. Callers check the size before they read."""

Encoding = Literal["utf-8", "utf-16", "cp1252"]

_LFS_FIRST_LINE = b"version https://git-lfs.github.com/spec/v1"
_LFS_MAX_BYTES = 1000
_PORTUGUESE_ACCENTED = "áàâãéêíóôõúüçÁÀÂÃÉÊÍÓÔÕÚÜÇ"
_ACCENT_BETWEEN_LETTERS = re.compile(
    f"(?<=[A-Za-z{_PORTUGUESE_ACCENTED}])[{_PORTUGUESE_ACCENTED}](?=[A-Za-z{_PORTUGUESE_ACCENTED}])"
)


class Undecodable(InvalidInput):
    """Bytes in no encoding that is read; the `code` is the reason of the skipped file."""

    code = "encoding"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A file's text without BOM, CR and NUL, the encoding it was read in, and how many NULs it had."""

    text: str
    encoding: Encoding
    nul_removed: int

    @property
    def notes(self) -> tuple[str, ...]:
        """What the index run should tell its reader about this file; () for an ordinary one."""
        notes: list[str] = []
        if self.encoding == "cp1252":
            notes.append("read as cp1252")
        if self.nul_removed:
            notes.append(f"{self.nul_removed} NUL {'byte' if self.nul_removed == 1 else 'bytes'} removed")
        return tuple(notes)


def decode(blob: bytes) -> Decoded:
    r"""The text of a file; "" for an empty one.

    Line ends become `\n`: CRLF as one, and a CR alone too, which CommonMark reads as a line's end.

    Encodings are judged by the whole file, never by its first bytes.

    Raises:
        Undecodable: Neither UTF-8, nor UTF-16 with a BOM, nor Portuguese text in cp1252.

    Examples:
        >>> decode(b"negocia\xe7\xe3o\r\n")
        Decoded(text='negociação\n', encoding='cp1252', nul_removed=0)
    """
    raw, encoding = _decode_strictly(blob)
    return Decoded(text=clean_text(raw), encoding=encoding, nul_removed=raw.count("\0"))


def is_lfs_pointer(blob: bytes) -> bool:
    """Whether a file stands for a large one kept elsewhere: Git LFS's first line, and less than 1 kB."""
    if len(blob) >= _LFS_MAX_BYTES:
        return False
    first_line, _, _ = blob.partition(b"\n")
    return first_line.rstrip(b"\r") == _LFS_FIRST_LINE


def _decode_strictly(blob: bytes) -> tuple[str, Encoding]:
    if blob.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return blob.decode("utf-16"), "utf-16"
        except UnicodeDecodeError as error:
            raise _undecodable() from error
    try:
        return blob.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    try:
        # Python's codec refuses the five bytes that cp1252 leaves to C1 controls, so none can come through.
        text = blob.decode("cp1252")
    except UnicodeDecodeError as error:
        raise _undecodable() from error
    # Letters of Portuguese alone count as neighbours: in damaged UTF-8 an `Ã` is followed by `ª`, `º` or `µ`.
    if not _ACCENT_BETWEEN_LETTERS.search(text):
        raise _undecodable()
    return text, "cp1252"


def _undecodable() -> Undecodable:
    return Undecodable(
        "The file is neither UTF-8, nor UTF-16 with a byte order mark, nor Portuguese text in Windows-1252.",
        hint="Save it as UTF-8.",
    )
