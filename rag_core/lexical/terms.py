"""From the words of a question to its terms: each a set of lexemes that are spellings of one thing.

Three steps. `asked_terms` reads the question's words as PostgreSQL cut them, and says under which keys other
spellings may be found; the database is asked which lexemes of the index have these keys; `resolved_terms` puts the
two together. Where the index knows no other spelling, the terms are the question's own lexemes, one a term.
"""

import dataclasses
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_core.lexical.spellings import (
    identifier_in,
    is_joined,
    is_name,
    key_of_identifier,
    key_of_letters,
    key_of_name,
    key_of_part,
    keys_asked,
    parts_of_name,
)
from rag_core.lexical.stop_words import as_listed, stop_words_of
from rag_core.model.languages import DEFAULT_LANGUAGE

Term = tuple[str, ...]
"""The lexemes of one term, in code point order, at least one."""

_WORDS = frozenset(
    ("asciiword", "word", "asciihword", "hword", "numhword", "hword_asciipart", "hword_part", "hword_numpart")
)
_WHOLE_NUMBERS = frozenset(("int", "uint"))
_NUMBERS = _WHOLE_NUMBERS | {"float"}
_NAMES = frozenset(("file", "host", "url", "url_path"))
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

    `own` are the lexemes of the word as it was typed, `keys` where its other spellings are, `part_keys` where the names
    are that it is a part of. A `number` of an identifier is never merged with another term. The `parts` of a name that
    was asked whole take part only if the index holds them; `joined` says that it names no file, so that its parts
    together are as good as the whole.
    """

    own: Term
    keys: tuple[str, ...] = ()
    part_keys: tuple[str, ...] = ()
    number: bool = False
    parts: tuple["AskedTerm", ...] = ()
    joined: bool = False


def asked_terms(
    tokens: Sequence[ParserToken],
    *,
    stop_words: Collection[str] = stop_words_of(DEFAULT_LANGUAGE),
    languages: Collection[str] = (DEFAULT_LANGUAGE,),
) -> tuple[AskedTerm, ...]:
    """The terms of a question in its order, function words left out; empty when nothing can be searched for.

    Args:
        tokens: The question as PostgreSQL cut it.
        stop_words: What is left out beside the stock list, as `rag_core.lexical.stop_words.as_listed` writes words.
        languages: In which it is read.
    """
    asked: list[AskedTerm] = []
    letters: ParserToken | None = None
    inside_url = False
    for token in tokens:
        if token.lexemes is None:
            letters = letters if token.text in _SEPARATORS else None
            inside_url = token.alias == "protocol"
            continue
        if _is_left_out(token, stop_words):
            letters = None
            continue
        if token.alias in _WHOLE_NUMBERS and letters is not None:
            asked.pop()
            asked.extend(_identifier(letters, token.text.lstrip("+-"), token.lexemes, languages))
        elif _is_name(token) and not inside_url:
            asked.append(_name(token.text, token.lexemes, stop_words, languages))
        else:
            asked.extend(_term(token, token.lexemes, languages))
        inside_url = inside_url and token.alias in ("url", "host")
        letters = token if token.alias in ("asciiword", "word") else None
    return tuple(asked)


def left_out(
    tokens: Sequence[ParserToken], *, stop_words: Collection[str] = stop_words_of(DEFAULT_LANGUAGE)
) -> tuple[str, ...]:
    """The words of a question that are not searched for, as they were typed, each once."""
    words: dict[str, str] = {}
    for token in tokens:
        if _is_left_out(token, stop_words):
            words.setdefault(as_listed(token.text), token.text)
    return tuple(words.values())


def _is_left_out(token: ParserToken, stop_words: Collection[str]) -> bool:
    if not token.lexemes:
        return token.lexemes is not None
    if _is_name(token):
        parts = parts_of_name(token.text) if is_joined(token.text) else ()
        return bool(parts) and all(as_listed(part) in stop_words for part in parts)
    return token.alias in _WORDS and as_listed(token.text) in stop_words


def _is_name(token: ParserToken) -> bool:
    return token.alias in _NAMES and is_name(token.text)


def keys_of(asked: Sequence[AskedTerm]) -> tuple[str, ...]:
    """Every key that the database is asked for, each once."""
    everything = [each for term in asked for each in (term, *term.parts)]
    return tuple(dict.fromkeys(key for term in everything for key in (*term.keys, *term.part_keys)))


def resolved_terms(
    asked: Sequence[AskedTerm], known: Mapping[str, Collection[str]], *, with_parts: bool
) -> tuple[Term, ...]:
    """The terms with all spellings that the index knows, in code point order; no two are equal.

    Two words that share a spelling are one term. The number of an identifier is never merged: RN-058 and RN-061
    have their letters in common and are still two things. Nor are words merged that are parts of one name.

    `known` are lexemes of the index by key. `with_parts`: the parts of a name stand beside it, for any of them may
    match; otherwise a chunk must hold the whole name, or of joined words all parts.
    """

    def found(keys: Sequence[str]) -> frozenset[str]:
        return frozenset(lexeme for key in keys for lexeme in known.get(key, ()))

    numbers: list[frozenset[str]] = []
    words: list[_Word] = []
    for term in _taking_part(asked, lambda part: found((*part.keys, *part.part_keys)), with_parts=with_parts):
        own, names = frozenset(term.own) | found(term.keys), found(term.part_keys)
        if term.number:
            numbers.append(own | names)
        else:
            words.append(_Word(own, names))
    terms = (*numbers, *(word.own | word.names for word in _merged(words)))
    return tuple(sorted({tuple(sorted(term)) for term in terms}))


@dataclass(frozen=True, slots=True)
class _Word:
    """The lexemes of a word, and of the names that it is a part of."""

    own: frozenset[str]
    names: frozenset[str]


def _taking_part(
    asked: Sequence[AskedTerm], found: Callable[[AskedTerm], Collection[str]], *, with_parts: bool
) -> Iterator[AskedTerm]:
    for term in asked:
        parts = [part for part in term.parts if found(part)]
        if with_parts:
            yield term
            yield from parts
        elif term.joined and parts and len(parts) == len(term.parts):
            yield from parts
        else:
            yield term


def _term(token: ParserToken, lexemes: Term, languages: Collection[str]) -> list[AskedTerm]:
    joined = _JOINED.fullmatch(token.text) if token.alias == "numword" else None
    if joined is not None:
        return _joined_identifier(joined[1], joined[2], lexemes)
    if token.alias in _WORDS:
        return [_word(token.text, lexemes, languages)]
    if token.alias in _NUMBERS:
        return [_plain_number(token.text)]
    return [AskedTerm(own=lexemes)]


def _word(word: str, own: Term, languages: Collection[str]) -> AskedTerm:
    keys = keys_asked(word, languages)
    return AskedTerm(own=own, keys=keys, part_keys=tuple(map(key_of_part, keys)))


def _plain_number(text: str) -> AskedTerm:
    """A number as it stands alone, behind a sign, and as the parser has it at the end of 2010-2014."""
    digits = text.lstrip("+-")
    return AskedTerm(
        own=tuple(sorted((digits, f"-{digits}", f"+{digits}"))), part_keys=(key_of_part(digits),)
    )


def _name(name: str, own: Term, stop_words: Collection[str], languages: Collection[str]) -> AskedTerm:
    parts: list[AskedTerm] = []
    for part in parts_of_name(name):
        identifier = identifier_in(part)
        if identifier is not None:
            letters, digits = identifier
            parts.append(AskedTerm(own=(), keys=(key_of_letters(letters, digits),)))
            parts.append(AskedTerm(own=(), keys=(key_of_identifier(letters, digits),), number=True))
        elif not part.isdigit() and as_listed(part) not in stop_words:
            parts.append(_word(part, (), languages))
    return AskedTerm(own=own, keys=(key_of_name(name),), parts=tuple(parts), joined=is_joined(name))


def _identifier(
    letters: ParserToken, digits: str, number: Term, languages: Collection[str]
) -> list[AskedTerm]:
    """RN-058 is two terms, its letters and its number; a chunk that writes rn058 has both."""
    word = _word(letters.text, letters.lexemes or (), languages)
    return [
        dataclasses.replace(word, keys=(*word.keys, key_of_letters(letters.text, digits))),
        AskedTerm(own=number, keys=(key_of_identifier(letters.text, digits),), number=True),
    ]


def _joined_identifier(letters: str, digits: str, own: Term) -> list[AskedTerm]:
    """What RN-058 asks for; the two terms are one where no chunk writes the identifier in two."""
    return [
        AskedTerm(own=own, keys=(key_of_letters(letters, digits),)),
        AskedTerm(own=own, keys=(key_of_identifier(letters, digits),), number=True),
    ]


def _merged(words: Sequence[_Word]) -> list[_Word]:
    merged: list[_Word] = []
    for word in words:
        sharing = [other for other in merged if other.own & word.own]
        merged = [other for other in merged if not other.own & word.own]
        merged.append(
            _Word(
                word.own.union(*(other.own for other in sharing)),
                word.names.union(*(other.names for other in sharing)),
            )
        )
    return merged
