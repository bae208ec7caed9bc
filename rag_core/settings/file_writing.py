"""A `settings.yaml` written back with other numbers: its order, its comments and its limits stay. Pure."""

import json
import re
from collections.abc import Collection, Mapping

from ruamel.yaml.nodes import MappingNode, Node

from rag_core.errors import InvalidInput
from rag_core.golden.document import BOM, compose, decode, pairs, scalar_of
from rag_core.model import SearchSettings
from rag_core.settings.committed import committing
from rag_core.settings.file_reading import BESIDE, DERIVED, parse_settings

_HEAD = (
    "# The settings of this project's searches; golden runs and calibrations go by them on every machine.\n"
)
_ADOPTED = re.compile(r"^# Adopted on [^\n]*\n", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./@+:-]*[A-Za-z0-9]|-?[0-9]+")


def write_settings(
    settings: SearchSettings, *, before: bytes | None, adopted: str, file: str = "settings.yaml"
) -> str:
    """The text of a `settings.yaml` with these numbers, every one of them in full; one weight is the rest of the other.

    Of a file that is there, order, comments, line endings and `limits` stay.

    `before` is the file as it is, None where there is none; `adopted` says who adopted them, when and why, on
    one line, for the comment above them. `file` is the name to call it by in messages.

    Raises:
        FaultySettings: The file that is there does not parse.
        InvalidInput: It can't be changed in place.
    """
    limits = None if before is None else parse_settings(before, file=file).limits
    old = "" if before is None else decode(before, file=file)
    values = {key: value for key, value in settings.to_json().items() if key not in DERIVED}
    new = _HEAD + "".join(f"{line}\n" for line in _lines(values, but=()))
    text = new if before is None else _changed(old.removeprefix(BOM), values, file)
    ending = "\r\n" if "\r\n" in old else "\n"
    mark = BOM if old.startswith(BOM) else ""
    text = f"{mark}# Adopted on {adopted}{ending}{_ADOPTED.sub('', text)}"
    if parse_settings(text.encode(), file=file) != committing(settings, limits=limits):
        raise _not_in_place(file)
    return text


def on_one_line(text: str, *, at_most: int = 300) -> str:
    """Somebody's words as a comment holds them: one line, nothing unprintable, cut where they are long."""
    words = " ".join(text.split())
    printable = "".join(sign if sign.isprintable() else "�" for sign in words)
    return printable if len(printable) <= at_most else f"{printable[: at_most - 1]}…"


def _changed(text: str, values: Mapping[str, object], file: str) -> str:
    """The text with other values, every other character as it was but for the lines of what follows from the rest."""
    root = compose(text, file=file)
    if not isinstance(root, MappingNode):
        raise _not_in_place(file)
    ending = "\r\n" if "\r\n" in text else "\n"
    nodes = {scalar_of(key) or "": (key, value) for key, value in pairs(root)}
    missing = _lines(values, but=nodes)
    edits = [
        (*_span(value), _in_place(text, value, values[key]))
        for key, (_, value) in nodes.items()
        if key in values
    ]
    if root.flow_style:
        start = int(root.start_mark.index) + 1
        edits.append((start, start, "".join(f"{line}, " for line in missing)))
    else:
        edits += [
            (_line_start(text, _span(key)[0]), _line_end(text, _span(value)[1]), "")
            for name, (key, value) in nodes.items()
            # what plays no part under the new numbers would be read as one of them
            if name not in values and name not in BESIDE
        ]
        at = max(
            (_line_end(text, _span(value)[1]) for key, (_, value) in nodes.items() if key in values),
            default=None,
        )
        at = len(text) if at is None else at
        begun = "" if at == 0 or text[at - 1] == "\n" else ending
        edits.append((at, at, begun + "".join(f"{line}{ending}" for line in missing)))
    for start, end, replacement in sorted(edits, reverse=True):
        text = f"{text[:start]}{replacement}{text[end:]}"
    return text


def _lines(values: Mapping[str, object], *, but: Collection[str]) -> list[str]:
    """The keys that are written anew; not the lexical weight, so that one number is changed in one place."""
    return [
        f"{key}: {_scalar(value)}"
        for key, value in values.items()
        if key not in but and key != "weightLexical"
    ]


def _in_place(text: str, node: Node, value: object) -> str:
    start, end = _span(node)
    # a key without a value ends at its colon
    return f" {_scalar(value)}" if start == end and text[start - 1 : start] == ":" else _scalar(value)


def _span(node: Node) -> tuple[int, int]:
    return int(node.start_mark.index), int(node.end_mark.index)


def _line_start(text: str, position: int) -> int:
    return text.rfind("\n", 0, position) + 1


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end + 1


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, float):
        told = repr(value)
        # `1e-05` is text to many a reader of YAML
        return told if "." in told else told.replace("e", ".0e")
    told = str(value)
    return told if _PLAIN.fullmatch(told) else json.dumps(told, ensure_ascii=False)


def _not_in_place(file: str) -> InvalidInput:
    return InvalidInput(
        f"{file} can't be changed in place.",
        hint="Write each key and its value out on a line of its own, without anchors, then try again.",
    )
