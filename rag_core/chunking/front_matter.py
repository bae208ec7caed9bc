"""The YAML block at the very top of a file, which holds data about the document and none of its text."""

import re
from dataclasses import dataclass

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode

MAX_PARSED_CHARS = 20_000
"""A longer block is not parsed: the parser takes seconds for a megabyte, and no real block comes near."""

_OPENING = re.compile(r"---[ \t]*\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_KEY_AT_MARGIN = re.compile(r"[\w-]+[ \t]*:(?:\s|$)|['\"#-]")


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """Where the body begins, and the block's `title`; 0 and None without a block."""

    body_start: int
    title: str | None


def read_front_matter(text: str) -> FrontMatter:
    """The front matter of a text: a first line `---`, a closing line `---` or `...`, a mapping between.

    Two rules with prose between them are no front matter. A block that is meant as a mapping but is invalid
    YAML (`title: ADR 7: Filas`) is left out all the same, without a title: every line that starts at the
    margin must then be a key, a list item or a comment, so that no prose is lost by mistake.

    Args:
        text: A cleaned file; an empty one has no front matter.
    """
    nothing = FrontMatter(body_start=0, title=None)
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return nothing
    block = text[opening.end() : closing.start()]
    try:
        title = _title(block)
    except _NotYamlError:
        if not _looks_like_mapping(block):
            return nothing
        title = None
    except _NotMappingError:
        return nothing
    return FrontMatter(body_start=closing.end(), title=title)


class _NotYamlError(Exception):
    """The block is no YAML, or more than is worth parsing."""


class _NotMappingError(Exception):
    """The block is YAML, but a text or a list."""


def _title(block: str) -> str | None:
    """The scalar under `title`, as it is written: nodes are composed, no value is ever constructed."""
    if len(block) > MAX_PARSED_CHARS:
        raise _NotYamlError
    try:
        root = YAML(typ="safe", pure=True).compose(block)
    except (YAMLError, RecursionError) as error:
        raise _NotYamlError from error
    if root is None:
        return None
    if not isinstance(root, MappingNode):
        raise _NotMappingError
    for key, value in root.value:
        if key.value == "title" and isinstance(value, ScalarNode):
            is_null = value.tag == "tag:yaml.org,2002:null"
            return None if is_null else value.value
    return None


def _looks_like_mapping(block: str) -> bool:
    lines = [line for line in block.split("\n") if line and not line[0].isspace()]
    return bool(lines) and all(_KEY_AT_MARGIN.match(line) for line in lines)
