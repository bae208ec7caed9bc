"""Keys under which different spellings of one word meet.

A key is a word in lower case without accents; a file's is `/` and its last part. An identifier has two, for what
stands for its number (`rn#58`) and for what stands for its letters (`rn@58`): a chunk that writes rn058 in one word
holds both in one lexeme. Words joined by `/` or `.` are one lexeme too, which also has the keys of its parts (`nativo/`
for a part of Flutter/nativo). The index stores the keys of every word that its chunks hold
(`rag_core.database.index.spellings`), a question asks for the keys of its own words and of their other number.
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
_A_PAIR = 2

# not js and net: they end names of things (Next.js, ASP.NET) as often as of files
_FILES_END = """
    adoc bak bat c cfg cjs conf cpp cs css csv dart doc docx env gif go gradle gz h hpp htm html ico ini ipynb jar java
    jpeg jpg json jsonl jsx kt kts lock log md mdx mjs mp4 ndjson odt pdf php png ppt pptx properties proto ps1 py pyi
    rb rs rst scss sh sql svg swift tar tf tmp toml ts tsv tsx txt vue webp xls xlsx xml xsd yaml yml zip
"""
_EXTENSIONS = frozenset(_FILES_END.split())
_PART_SIGNS = re.compile(r"[\W_]+")
_IDENTIFIER = re.compile(r"([^\W\d_]{1,12})[-_#]?([0-9]{1,9})")


def fold(text: str) -> str:
    """The text in lower case without accents, the same for either normal form.

    Examples:
        >>> fold("Previsão")
        'previsao'
    """
    return text.lower() if text.isascii() else _MARKS.sub("", unicodedata.normalize("NFKD", text)).casefold()


def keys_of_word(word: str) -> tuple[str, ...]:
    """The keys under which the index stores a word of its chunks; at least one, each once.

    A hyphenated word also has the key of its parts written together, joined words those of their parts. A file has
    its own alone: a link to it says little of what stands around it.

    Examples:
        >>> keys_of_word("e-mail"), keys_of_word("docs/Guia.md"), keys_of_word("TCP/IP")
        (('e-mail', 'email'), ('/guia.md',), ('/tcp/ip', 'tcp/', 'ip/'))
    """
    folded = fold(word)
    if is_name(folded):
        return tuple(dict.fromkeys((key_of_name(folded), *_keys_of_parts(folded))))
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
    """The key of a name; a file's is the same with and without the folders before it.

    Examples:
        >>> key_of_name("docs/Guia.md"), key_of_name("Flutter/nativo")
        ('/guia.md', '/flutter/nativo')
    """
    folded = fold(name).rstrip("/")
    return "/" + (folded.rpartition("/")[2] if is_file(folded) else folded)


def key_of_part(part: str) -> str:
    """The key of names that a word is a part of.

    Examples:
        >>> key_of_part("Nativo")
        'nativo/'
    """
    return f"{fold(part)}/"


def is_file(name: str) -> bool:
    """Whether it names a file: it ends as files do, or begins at a folder."""
    return name.startswith(("/", "./", "../")) or _stem(name) != name


def is_joined(name: str) -> bool:
    """Whether it is words joined by a sign, or what is left of them behind a word that the parser parts from them.

    Examples:
        >>> is_joined("Flutter/nativo"), is_joined("/RN-059"), is_joined("/etc/passwd")
        (True, True, False)
    """
    return not is_file(name) or (name.rfind("/") == 0 and _stem(name) == name)


def parts_of_name(name: str) -> tuple[str, ...]:
    """The words and numbers that a name is made of, identifiers whole; of a file, its last part without extension.

    Numbers are parts only where two things are joined: those of a date or a version name nothing by themselves.

    Examples:
        >>> parts_of_name("docs/adr/0012-reentrega-limitada.md")
        ('reentrega', 'limitada')
        >>> parts_of_name("Flutter/nativo"), parts_of_name("/RN-059"), parts_of_name("12/2024")
        (('Flutter', 'nativo'), ('RN-059',), ('12', '2024'))
    """
    kept = _stem(name.rstrip("/").rpartition("/")[2]) if is_file(name) else name
    joined = [piece for piece in _NAME_SIGNS.split(kept) if piece]
    parts: list[str] = []
    for piece in joined:
        if identifier_in(piece) is not None or (piece.isdigit() and len(joined) == _A_PAIR):
            parts.append(piece)
        else:
            parts.extend(part for part in _PART_SIGNS.split(piece) if part and not part.isdigit())
    return tuple(dict.fromkeys(parts))


def identifier_in(word: str) -> tuple[str, str] | None:
    """The letters and the digits of a word that is an identifier, None where it is none."""
    found = _IDENTIFIER.fullmatch(word)
    return None if found is None else (found[1], found[2])


def _keys_of_parts(name: str) -> tuple[str, ...]:
    head, slash, _ = name.partition("/")
    # of an address the parser also gives the host and the path, each for itself
    if not is_joined(name) or (slash and "." in head):
        return ()
    keys: list[str] = []
    for part in parts_of_name(name):
        identifier = identifier_in(part)
        keys.extend(
            (key_of_part(part),)
            if identifier is None
            else (key_of_letters(*identifier), key_of_identifier(*identifier))
        )
    return tuple(keys)


def _stem(name: str) -> str:
    """The name without the extension of a file, or the name itself where it has none."""
    stem, _, extension = name.rpartition(".")
    return stem if stem and not stem.endswith("/") and fold(extension) in _EXTENSIONS else name


def _in_other_number(key: str) -> tuple[str, ...]:
    return tuple(
        key.removesuffix(ending) + other
        for ending, others in _OTHER_NUMBER
        if key.endswith(ending) and len(key) - len(ending) >= _SHORTEST_STEM
        for other in others
    )
