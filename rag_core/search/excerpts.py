"""Texts as they are quoted: cut into pieces of which some match the question. Pure.

The pieces of a text joined together are the text, character by character.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from rag_core.lexical.plain import DASHES, MARKS, WITHOUT_WIDTH

# letters and digits, with the signs that hold an identifier together: RN-058, FILA_LOTE, v1.2; whatever dash it is
# written with, with signs without width and accents for themselves inside
_LETTERS = rf"\w[\w{MARKS}{WITHOUT_WIDTH}]*"
_WORD = re.compile(rf"{_LETTERS}(?:[-./\uff0e\uff0f{DASHES}]{_LETTERS})*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A stretch of text, and whether it is a word that the question asked for."""

    text: str
    matched: bool


def words_of(texts: Iterable[str]) -> list[str]:
    """The distinct words of some texts, sorted."""
    return sorted({match.group() for text in texts for match in _WORD.finditer(text)})


def excerpts_of(text: str, matched: Collection[str]) -> tuple[Excerpt, ...]:
    """The text cut at the words in `matched`; empty for an empty text.

    Examples:
        >>> [piece.text for piece in excerpts_of("a fila parou", {"fila"}) if piece.matched]
        ['fila']
    """
    pieces: list[Excerpt] = []
    end = 0
    for match in _WORD.finditer(text):
        if match.group() not in matched:
            continue
        if match.start() > end:
            pieces.append(Excerpt(text=text[end : match.start()], matched=False))
        pieces.append(Excerpt(text=match.group(), matched=True))
        end = match.end()
    if end < len(text):
        pieces.append(Excerpt(text=text[end:], matched=False))
    return tuple(pieces)


def cut_short(text: str, *, at_most: int) -> str:
    """The text, or its beginning up to the last word that fits, with an ellipsis for the rest."""
    if len(text) <= at_most:
        return text
    kept = text[:at_most]
    space = max(kept.rfind(" "), kept.rfind("\n"))
    return (kept[:space] if space > at_most // 2 else kept).rstrip() + "…"
