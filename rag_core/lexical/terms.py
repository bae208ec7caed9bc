"""From the words of a question to its terms: each a set of lexemes that are spellings of one thing.

Three steps. `asked_terms` reads the question's words as PostgreSQL cut them, and says under which keys other
spellings may be found; the database is asked which lexemes of the index have these keys; `resolved_terms` puts the
two together. Where the index knows no other spelling, the terms are the question's own lexemes, one a term.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rag_core.lexical.spellings import (
    fold,
    is_name,
    key_of_identifier,
    key_of_letters,
    key_of_name,
    keys_asked,
    parts_of_name,
)
from rag_core.lexical.stop_words import STOP_WORDS

Term = tuple[str, ...]
"""The lexemes of one term, in code point order, at least one."""

_WORDS = frozenset(
    ("asciiword", "word", "asciihword", "hword", "numhword", "hword_asciipart", "hword_part", "hword_numpart")
)
_NUMBERS = frozenset(("int", "uint"))
_JOINED = re.compile(r"([^\W\d_]+)([0-9]+)")
_SEPARATORS = frozenset((" ", "_", "#"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserToken:
    """A stretch of the question as the text search parser names it; `lexemes` is empty for a stop word.

    `lexemes` is None where the configuration has no use for the token: a space, a sign.
    """

    alias: str
    text: str
    lexemes: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTerm:
    """What one word asks for before the index has been looked at.

    `own` are the lexemes of the word as it was typed, `keys` where its other spellings are. A `number` of an
    identifier is never merged with another term. An `optional` term, a part of a name that was asked whole, takes
    part only if the index holds it.
    """

    own: Term
    keys: tuple[str, ...] = ()
    number: bool = False
    optional: bool = False


def asked_terms(
    tokens: Sequence[ParserToken], *, stop_words: Collection[str] = STOP_WORDS
) -> tuple[AskedTerm, ...]:
    """The terms of a question in its order, stop words left out; empty when nothing can be searched for.

    A question of nothing but stop words keeps those that the stock list lets through.
    """
    read = _read(tokens)
    kept = [term for word, term in read if word is None or fold(word) not in stop_words]
    return tuple(kept or [term for _, term in read])


def keys_of(asked: Sequence[AskedTerm]) -> tuple[str, ...]:
    """Every key that the database is asked for, each once."""
    return tuple(dict.fromkeys(key for term in asked for key in term.keys))


def resolved_terms(
    asked: Sequence[AskedTerm], known: Mapping[str, Collection[str]], *, with_parts: bool
) -> tuple[Term, ...]:
    """The terms with all spellings that the index knows, in code point order; no two are equal.

    Two words that share a spelling are one term. The number of an identifier is never merged: RN-058 and RN-061
    have their letters in common and are still two things.

    `known` are lexemes of the index by key. `with_parts`: optional terms take part; a chunk that must hold all
    terms needs no parts of a name.
    """
    numbers: list[frozenset[str]] = []
    words: list[frozenset[str]] = []
    for term in asked:
        found = frozenset(lexeme for key in term.keys for lexeme in known.get(key, ()))
        if term.optional and not (found and with_parts):
            continue
        (numbers if term.number else words).append(frozenset(term.own) | found)
    return tuple(sorted({tuple(sorted(term)) for term in (*numbers, *_merged(words))}))


def _read(tokens: Sequence[ParserToken]) -> list[tuple[str | None, AskedTerm]]:
    """The asked terms, each with the word that may be a stop word, None where it can't be one."""
    read: list[tuple[str | None, AskedTerm]] = []
    letters: ParserToken | None = None
    inside_url = False
    for token in tokens:
        if token.lexemes is None:
            letters = letters if token.text in _SEPARATORS else None
            inside_url = token.alias == "protocol"
            continue
        if token.alias in _NUMBERS and letters is not None and token.lexemes:
            read.pop()
            read.extend(_identifier(letters, token.text.lstrip("+-"), token.lexemes))
        elif token.lexemes:
            read.extend(_term(token, inside_url=inside_url))
        inside_url = inside_url and token.alias == "url"
        letters = token if token.alias in ("asciiword", "word") and token.lexemes else None
    return read


def _term(token: ParserToken, *, inside_url: bool) -> list[tuple[str | None, AskedTerm]]:
    lexemes = token.lexemes or ()
    joined = _JOINED.fullmatch(token.text) if token.alias == "numword" else None
    if joined is not None:
        return _joined_identifier(joined[1], joined[2], lexemes)
    if token.alias in _WORDS:
        return [(token.text, AskedTerm(own=lexemes, keys=keys_asked(token.text)))]
    if token.alias in ("file", "host") and is_name(token.text) and not inside_url:
        parts: list[tuple[str | None, AskedTerm]] = [
            (None, AskedTerm(own=(), keys=keys_asked(part), optional=True))
            for part in parts_of_name(token.text)
        ]
        return [(None, AskedTerm(own=lexemes, keys=(key_of_name(token.text),))), *parts]
    return [(None, AskedTerm(own=lexemes))]


def _identifier(letters: ParserToken, digits: str, number: Term) -> list[tuple[str | None, AskedTerm]]:
    """RN-058 is two terms, its letters and its number; a chunk that writes rn058 has both."""
    word_keys = (*keys_asked(letters.text), key_of_letters(letters.text, digits))
    return [
        (letters.text, AskedTerm(own=letters.lexemes or (), keys=word_keys)),
        (None, AskedTerm(own=number, keys=(key_of_identifier(letters.text, digits),), number=True)),
    ]


def _joined_identifier(letters: str, digits: str, own: Term) -> list[tuple[str | None, AskedTerm]]:
    """What RN-058 asks for; the two terms are one where no chunk writes the identifier in two."""
    return [
        (None, AskedTerm(own=own, keys=(key_of_letters(letters, digits),))),
        (None, AskedTerm(own=own, keys=(key_of_identifier(letters, digits),), number=True)),
    ]


def _merged(words: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    merged: list[frozenset[str]] = []
    for word in words:
        sharing = [term for term in merged if term & word]
        merged = [term for term in merged if not term & word]
        merged.append(word.union(*sharing))
    return merged
