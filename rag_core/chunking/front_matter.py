"""The block at the very top of a file that holds data about the document and none of its text.

Three forms, as static site generators write them: YAML between `---` and `---` or `...`, TOML between `+++` and
`+++`, and a JSON object that starts the file.
"""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode

MAX_PARSED_CHARS = 20_000
"""A longer block is not parsed: the parser takes seconds for a megabyte, and no real block comes near."""

_YAML_OPENING = re.compile(r"---[ \t]*\n")
_YAML_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_YAML_AT_MARGIN = re.compile(r"[\w-]+[ \t]*:(?:\s|$)|['\"#-]")
_TOML_OPENING = re.compile(r"\+\+\+[ \t]*\n")
_TOML_CLOSING = re.compile(r"^\+\+\+[ \t]*(?:\n|\Z)", re.MULTILINE)
_TOML_KEY = r"(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')"
_TOML_AT_MARGIN = re.compile(
    rf"{_TOML_KEY}(?:[ \t]*\.[ \t]*{_TOML_KEY})*[ \t]*=|\[[^\]\n]+\]{{1,2}}[ \t]*(?:#|$)|[\]}}#]|\"{{3}}|'{{3}}"
)
_JSON_CLOSING = re.compile(r"[ \t]*(?:\n|\Z)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LANGUAGE_KEYS = ("lang", "language")
_KEYS = frozenset(("title", *_LANGUAGE_KEYS))


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """Where the body begins, and the block's `title` and `lang` or `language`; 0 and None without a block.

    `language` is what stands there, whether or not it names a language.
    """

    body_start: int
    title: str | None = None
    language: str | None = None


def read_front_matter(text: str) -> FrontMatter:
    """The front matter of a text: from its first line on, closed by a line of its own, with a mapping inside.

    Two rules with prose between them are no front matter. A block between `---` or `+++` that is meant as a
    mapping but is invalid (`title: ADR 7: Filas`) is left out all the same, without a title: every line that
    starts at the margin must then be a key, a list item, a table or a comment, so that no prose is lost by
    mistake. A JSON object has no mark of its own, and a document may well begin with an example of one: it is
    front matter only where it is valid and has a `title`.

    Args:
        text: A cleaned file; an empty one has no front matter.
    """
    for form in (_YAML, _TOML):
        opening = form.opening.match(text)
        closing = form.closing.search(text, opening.end()) if opening else None
        if opening is not None and closing is not None:
            return _fenced(form, text[opening.end() : closing.start()], closing.end())
    return _json(text)


class _InvalidError(Exception):
    """The block does not parse, or is more than is worth parsing."""


class _NotMappingError(Exception):
    """The block parses, but is a text or a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """A form between two marks; `at_margin` fits the lines of a mapping that start at the margin."""

    opening: re.Pattern[str]
    closing: re.Pattern[str]
    at_margin: re.Pattern[str]
    values: Callable[[str], Mapping[str, str]]


def _fenced(form: _Form, block: str, body_start: int) -> FrontMatter:
    nothing = FrontMatter(body_start=0)
    try:
        values = form.values(_parsable(block))
    except _InvalidError:
        if not _looks_like_mapping(form, block):
            return nothing
        values = {}
    except _NotMappingError:
        return nothing
    return _with(values, body_start)


def _with(values: Mapping[str, str], body_start: int) -> FrontMatter:
    named = (_storable(values[key]).strip() for key in _LANGUAGE_KEYS if key in values)
    title = values.get("title")
    return FrontMatter(
        body_start=body_start,
        title=None if title is None else _storable(title),
        language=next((name for name in named if name), None),
    )


def _parsable(block: str) -> str:
    if len(block) > MAX_PARSED_CHARS:
        raise _InvalidError
    return block


def _yaml_values(block: str) -> Mapping[str, str]:
    """The scalars under the keys that are read, as they are written: nodes are composed, no value is constructed."""
    try:
        root = YAML(typ="safe", pure=True).compose(block)
    except (YAMLError, RecursionError, ArithmeticError, LookupError, ValueError) as error:
        # the last three are the parser's for a version of YAML that it does not know, or an escape of no character
        raise _InvalidError from error
    if root is None:
        return {}
    if not isinstance(root, MappingNode):
        raise _NotMappingError
    # of a key that stands there twice, the first; a key may be a list, which no set holds
    return {
        str(key.value): value.value
        for key, value in reversed(root.value)
        if isinstance(key, ScalarNode)
        and key.value in _KEYS
        and isinstance(value, ScalarNode)
        and value.tag != "tag:yaml.org,2002:null"
    }


def _toml_values(block: str) -> Mapping[str, str]:
    """The values under the keys that are read; of a number, a date or a truth value as TOML writes it."""
    try:
        found = tomllib.loads(block, parse_float=str)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        # a ValueError is of a number with too many digits, or of a day that no calendar has
        raise _InvalidError from error
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in found.items()
        if key in _KEYS and not isinstance(value, dict | list)
    }


def _json(text: str) -> FrontMatter:
    nothing = FrontMatter(body_start=0)
    if not text.startswith("{"):
        return nothing
    try:
        value, end = json.JSONDecoder().raw_decode(text[:MAX_PARSED_CHARS])
    except (ValueError, RecursionError):
        return nothing
    closing = _JSON_CLOSING.match(text, end)
    if closing is None or not isinstance(value.get("title"), str):
        return nothing
    return _with({key: value[key] for key in _KEYS if isinstance(value.get(key), str)}, closing.end())


def _storable(text: str) -> str:
    """Without what an escape can write and no database takes: a NUL, half of a surrogate pair."""
    return _SURROGATE.sub("\ufffd", text.replace("\0", ""))


def _looks_like_mapping(form: _Form, block: str) -> bool:
    lines = [line for line in block.split("\n") if line and not line[0].isspace()]
    return bool(lines) and all(form.at_margin.match(line) for line in lines)


_YAML = _Form(opening=_YAML_OPENING, closing=_YAML_CLOSING, at_margin=_YAML_AT_MARGIN, values=_yaml_values)
_TOML = _Form(opening=_TOML_OPENING, closing=_TOML_CLOSING, at_margin=_TOML_AT_MARGIN, values=_toml_values)
