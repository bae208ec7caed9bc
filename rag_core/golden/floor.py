"""The floor as it stands in the text of a cases file: read it, raise it, touch nothing else. Pure."""

import re

from ruamel.yaml.nodes import MappingNode, Node

from rag_core.errors import FaultyGoldenSet, InvalidInput, Refused
from rag_core.golden.document import as_integer, compose, is_mapping, items, line_of, pairs

_FILE = "the cases file"
_PLAIN_LINE = re.compile(r"^floor[ \t]*:[ \t]+(0|[1-9][0-9]{0,8})[ \t]*(?:#.*)?\r?$", re.MULTILINE)
_HINT = "Write it as one line at the beginning of the file, in plain digits: floor: 12"


def raise_floor(text: str, *, new_floor: int) -> str:
    """The text with another number behind `floor:`, every other character as it was.

    Where there is no `floor`, it is written above the first key, with the line ending of the file. The floor
    that stands already gives the text unchanged.

    `new_floor` is 0 or more, at most the number of cases; the text is one that parses.

    Raises:
        Refused: `new_floor` is lower than the floor that stands, or more than there are cases.
        InvalidInput: The text is no mapping, or its floor is no plain number (quoted, say, or an alias).
    """
    root = compose(text, file=_FILE)
    if root is None or not is_mapping(root):
        raise InvalidInput(
            "The cases file has no cases, so it has no floor to raise.", hint="Write cases into it first."
        )
    total = sum(len(items(value)) for key, value in pairs(root) if key.value == "cases")
    entry = _floor_entry(root)
    current = 0 if entry is None else _number(*entry, text)
    if new_floor < current:
        raise Refused(
            f"The floor is {current} and only rises; {new_floor} is lower.",
            hint="Mend the search or the index until the cases pass again.",
        )
    if new_floor > total:
        raise Refused(
            f"The floor can't be {new_floor}: the file has {total} cases.", hint="Give at most that number."
        )
    if new_floor == current:
        return text
    if entry is None:
        changed = _with_floor_added(text, root, new_floor)
    else:
        start, end = _span(entry[1])
        changed = f"{text[:start]}{new_floor}{text[end:]}"
    if _exact_floor(changed) != new_floor:
        raise InvalidInput("The floor of this cases file can't be changed in place.", hint=_HINT)
    return changed


def read_floor(text: str) -> int | None:
    """The floor of any version of a cases file, also of one that no longer parses.

    None where it has no floor, or none that can be read. A plain `floor:` line is enough, so that a long
    history is read without parsing each version.
    """
    plain = _PLAIN_LINE.search(text)
    if plain is not None:
        return int(plain.group(1))
    return _exact_floor(text) if "floor" in text else None


def floor_line(text: str) -> int | None:
    """The line of the floor in a cases file that parses; None where it has none."""
    root = compose(text, file=_FILE)
    entry = None if root is None else _floor_entry(root)
    return None if entry is None else line_of(entry[0])


def _exact_floor(text: str) -> int | None:
    try:
        root = compose(text, file=_FILE)
    except FaultyGoldenSet:
        return None
    entry = None if root is None else _floor_entry(root)
    return None if entry is None else as_integer(entry[1])


def _floor_entry(root: Node) -> tuple[Node, Node] | None:
    return next(((key, value) for key, value in pairs(root) if key.value == "floor"), None)


def _number(key: Node, node: Node, text: str) -> int:
    start, end = _span(node)
    number = as_integer(node)
    if number is None or text[start:end] != str(number):
        line = line_of(key)
        raise InvalidInput(
            f"The cases file, line {line}, floor: it is no plain number.",
            hint=_HINT,
            where={"line": line, "field": "floor"},
        )
    return number


def _span(node: Node) -> tuple[int, int]:
    return int(node.start_mark.index), int(node.end_mark.index)


def _with_floor_added(text: str, root: Node, new_floor: int) -> str:
    start = int(root.start_mark.index)
    if isinstance(root, MappingNode) and root.flow_style:
        return f"{text[: start + 1]}floor: {new_floor}, {text[start + 1 :]}"
    ending = "\r\n" if "\r\n" in text else "\n"
    return f"{text[:start]}floor: {new_floor}{ending}{text[start:]}"
