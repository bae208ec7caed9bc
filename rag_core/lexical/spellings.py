"""Keys under which different spellings of one word meet.

A key is a word in lower case without accents; a file name's or host name's is `/` and its last part. An identifier
has two, for what stands for its number (`rn#58`) and for what stands for its letters (`rn@58`): a chunk that writes
rn058 in one word holds both in one lexeme. The index stores the keys of every word that its chunks
hold (`rag_core.database.index.spellings`), a question asks for the keys of its own words and of their other number.
"""

import re
import unicodedata
from collections.abc import Collection

from rag_core.model.languages import DEFAULT_LANGUAGE

_MARKS = re.compile("[\u0300-\u036f]")
_NAME_SIGNS = re.compile(r"[./]")

# endings without accents and what may stand in their place in the other number. The stock stemmer joins most
# regular plurals, but only where both are spelled with the same accents, and parts all of the others.
_OTHER_NUMBER: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("oes", ("ao",)),
    ("aes", ("ao",)),
    ("aos", ("ao",)),
    ("ao", ("oes", "aes", "aos")),
    ("ais", ("al",)),
    ("al", ("ais",)),
    ("eis", ("el", "il")),
    ("el", ("eis",)),
    ("is", ("il",)),
    ("il", ("is", "eis")),
    ("ois", ("ol",)),
    ("ol", ("ois",)),
    ("uis", ("ul",)),
    ("ul", ("uis",)),
    ("ns", ("m",)),
    ("m", ("ns",)),
    ("res", ("r",)),
    ("r", ("res",)),
    ("zes", ("z",)),
    ("z", ("zes",)),
    ("ses", ("s",)),
    ("s", ("", "ses")),
    ("", ("s",)),
)
_PLURALS_OF = "portuguese"
_SHORTEST_STEM = 1
_LONGEST_EXTENSION = 5


def fold(text: str) -> str:
    """The text in lower case without accents, the same for either normal form.

    Examples:
        >>> fold("Previsão")
        'previsao'
    """
    return _MARKS.sub("", unicodedata.normalize("NFKD", text)).casefold()


def keys_of_word(word: str) -> tuple[str, ...]:
    """The keys under which the index stores a word of its chunks; at least one, each once.

    A hyphenated word also has the key of its parts written together.

    Examples:
        >>> keys_of_word("e-mail"), keys_of_word("docs/Guia.md")
        (('e-mail', 'email'), ('/guia.md',))
    """
    folded = fold(word)
    if is_name(folded):
        return (key_of_name(folded),)
    joined = folded.replace("-", "")
    return (folded, joined) if joined and joined != folded else (folded,)


def keys_asked(word: str, languages: Collection[str] = (DEFAULT_LANGUAGE,)) -> tuple[str, ...]:
    """The keys that a question's word asks for: its own, and in Portuguese those of its plural or singular.

    Other languages rely on their stemmers. Forms that are no word cost nothing: the index does not hold them.

    Examples:
        >>> keys_asked("canais")
        ('canais', 'canal', 'canail', 'canai', 'canaises', 'canaiss')
        >>> keys_asked("canais", ["english"])
        ('canais',)
    """
    own = keys_of_word(word)
    if _PLURALS_OF not in languages:
        return own
    return tuple(dict.fromkeys((*own, *(form for key in own for form in _in_other_number(key)))))


def key_of_identifier(letters: str, digits: str) -> str:
    """The key of an identifier's number as it is written beside these letters.

    Examples:
        >>> key_of_identifier("RN", "058")
        'rn#58'
    """
    return f"{fold(letters)}#{digits.lstrip('0') or '0'}"


def key_of_letters(letters: str, digits: str) -> str:
    """The key of an identifier's letters as they are written beside this number.

    Examples:
        >>> key_of_letters("RN", "058")
        'rn@58'
    """
    return f"{fold(letters)}@{digits.lstrip('0') or '0'}"


def is_name(word: str) -> bool:
    """Whether it is a name with dots or slashes: a file, a path, a host, a dotted name."""
    return _NAME_SIGNS.search(word) is not None


def key_of_name(name: str) -> str:
    """The key of a file name, the same with and without the folders before it."""
    return "/" + fold(name).rstrip("/").rpartition("/")[2]


def parts_of_name(name: str) -> tuple[str, ...]:
    """The words that the last part of a name is made of, without its extension and pure numbers.

    Examples:
        >>> parts_of_name("docs/adr/0012-reentrega-limitada.md")
        ('reentrega', 'limitada')
    """
    last = name.rstrip("/").rpartition("/")[2]
    stem, dot, extension = last.rpartition(".")
    kept = stem if dot and stem and len(extension) <= _LONGEST_EXTENSION else last
    return tuple(dict.fromkeys(part for part in re.split(r"[\W_]+", kept) if part and not part.isdigit()))


def _in_other_number(key: str) -> tuple[str, ...]:
    return tuple(
        key.removesuffix(ending) + other
        for ending, others in _OTHER_NUMBER
        if key.endswith(ending) and len(key) - len(ending) >= _SHORTEST_STEM
        for other in others
    )
