"""A file that people write as YAML nodes: every value with its line, and nothing constructed from the text.

YAML is untrusted. Only its node tree is composed, so no tag can build a Python object, duplicate keys are
still visible, and an alias stays one shared node: it is never expanded. Scalars follow YAML 1.2, where `yes`
and `no` are text.
"""

import difflib
import math
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar, cast

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from rag_core.golden.faults import Fault, refusal

MAX_FILE_BYTES = 5_000_000
MAX_PARTS = 100_000
MAX_ALIASES = 100

_MAX_DEPTH = 50
_MAX_KEYS = 100
BOM = "\ufeff"

_T = TypeVar("_T")
_TAG = "tag:yaml.org,2002:"
_NUMBER_TAGS = (f"{_TAG}int", f"{_TAG}float")
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,8})")
_NUMBER = re.compile(r"[-+]?((0|[1-9][0-9]{0,17})(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][-+]?[0-9]{1,3})?")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def decode(data: bytes, *, file: str) -> str:
    """The text of a cases file: UTF-8, with or without a byte order mark, at most 5 MB.

    Raises:
        FaultyGoldenSet: It is larger, or no UTF-8; the line of the first bad byte is named.
    """
    if len(data) > MAX_FILE_BYTES:
        raise refusal([_too_large()], file=file)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fault = Fault(case=None, field=None, line=line, message="The file is not UTF-8 text.")
        raise refusal([fault], file=file) from error


def compose(text: str, *, file: str) -> Node | None:
    """The root node of the one YAML document in `text`; None where it holds nothing but comments.

    Positions in the nodes' marks count characters of `text`.

    Raises:
        FaultyGoldenSet: `text` is over 5 MB, has more than `MAX_PARTS` lines and entries, holds a NUL or another
            control character, is no YAML, holds more than one document, or is nested beyond all reason.
    """
    # the length in characters is checked first, so that encoding never touches an unbounded text
    if len(text) > MAX_FILE_BYTES or len(text.encode("utf-8", errors="replace")) > MAX_FILE_BYTES:
        raise refusal([_too_large()], file=file)
    # each part costs a hundred times its text
    if sum(map(text.count, "\n,[{")) > MAX_PARTS:
        message = f"The file has more than {MAX_PARTS:,} lines and entries."
        raise refusal([Fault(case=None, field=None, line=None, message=message)], file=file)
    try:
        return cast("Node | None", _parser().compose(text))
    except (YAMLError, ValueError, RecursionError) as error:
        raise refusal([_malformed(error, text)], file=file) from error


def line_of(node: Node) -> int:
    """The 1-based line on which a node begins."""
    return cast("int", node.start_mark.line) + 1


def is_null(node: Node) -> bool:
    """Whether a key was written without a value, or with `null`."""
    return node.tag == f"{_TAG}null"


def is_mapping(node: Node) -> bool:
    """Whether a node is a plain mapping, without a tag of its own."""
    return isinstance(node, MappingNode) and node.tag == f"{_TAG}map"


def is_sequence(node: Node) -> bool:
    """Whether a node is a plain list, without a tag of its own."""
    return isinstance(node, SequenceNode) and node.tag == f"{_TAG}seq"


def items(node: Node) -> list[Node]:
    """The entries of a list; none where the node is no list."""
    return cast("list[Node]", node.value) if is_sequence(node) else []


def pairs(node: Node) -> list[tuple[Node, Node]]:
    """The keys and values of a mapping, duplicates included; none where the node is no mapping."""
    return cast("list[tuple[Node, Node]]", node.value) if is_mapping(node) else []


def scalar_of(node: Node) -> str | None:
    """A scalar as it is written, whatever it stands for; None for a list or a mapping.

    Nothing else of a node is ever written out: a few lists that stand in each other by aliases say it without end.
    """
    return str(node.value) if isinstance(node, ScalarNode) else None


def as_integer(node: Node) -> int | None:
    """A whole number in plain decimal digits, else None, as for `0x10`, `017`, `1_000` and `3.0`."""
    value = scalar_of(node) or ""
    return int(value) if node.tag == f"{_TAG}int" and _INTEGER.fullmatch(value) else None


def as_number(node: Node) -> float | None:
    """A finite number in decimal digits, else None, as for `.nan`, `.inf`, `0x10` and `1e999`."""
    value = scalar_of(node) or ""
    if node.tag in _NUMBER_TAGS and _NUMBER.fullmatch(value):
        number = float(value)
        return number if math.isfinite(number) else None
    return None


def _as_flag(node: Node) -> bool | None:
    value = (scalar_of(node) or "").lower() if node.tag == f"{_TAG}bool" else ""
    return {"true": True, "false": False}.get(value)


def as_text(node: Node) -> str | None:
    """A text, else None: `110112`, `true` and `2026-01-31` without quotes are none."""
    return scalar_of(node) if node.tag == f"{_TAG}str" else None


@dataclass(frozen=True, slots=True)
class Item:
    """A text of a list and the line it stands on."""

    text: str
    line: int


class Reader:
    """Reads typed values out of nodes and gathers what is wrong, so that all faults are reported at once.

    Each method gives None where the value is left out or faulty; faults stand in `faults`. `case` is the id of the
    case that is being read.
    """

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.case: str | None = None
        self._seen: set[int] = set()
        self._aliases = 0

    @contextmanager
    def within(self, case: str | None) -> Iterator[None]:
        """While a case is read: its faults name it."""
        self.case = case
        yield
        self.case = None

    def report(self, message: str, at: Node | int | None, field: str | None = None) -> None:
        """Note a fault at a node, or on a line."""
        line = line_of(at) if isinstance(at, Node) else at
        self.faults.append(Fault(case=self.case, field=field, line=line, message=message))

    def fields(
        self, node: Node, allowed: Collection[str], *, what: str, keep_nulls: bool = False
    ) -> dict[str, Node]:
        """The values by key. Unknown keys and keys written twice are faults; the first value counts.

        A key without a value counts as left out, unless `keep_nulls`.
        """
        if not self._is_first_visit(node):
            self.report(f"An alias repeats {what}; write it out.", node)
            return {}
        if len(pairs(node)) > _MAX_KEYS:
            self.report(f"There are {len(pairs(node))} keys in {what}.", node)
            return {}
        found: dict[str, Node] = {}
        for key_node, value in pairs(node):
            key = scalar_of(key_node)
            key = "?" if key is None else key
            if key not in allowed:
                hint = _suggestion(key, allowed)
                self.report(f"{shown(key)} is not a key of {what}{hint}", key_node, key)
            elif key in found:
                first = line_of(found[key])
                self.report(f"{key} is given twice; the first is on line {first}.", key_node, key)
            else:
                found[key] = value
        return {key: value for key, value in found.items() if keep_nulls or not is_null(value)}

    def text(self, node: Node | None, field: str) -> str | None:
        """A text that is not blank, without the white space around it."""
        if node is None:
            return None
        self._count_alias(node, field)
        value = as_text(node)
        if value is None:
            self.report(f"{field} must be text{_remedy(node)}.", node, field)
            return None
        unprintable = _UNPRINTABLE.search(value)
        if unprintable:
            name = _name(value, unprintable.start())
            self.report(f"{field} holds a character that no text has: {name}.", node, field)
            return None
        if not value.strip():
            self.report(f"{field} is empty.", node, field)
            return None
        return value.strip()

    def texts(self, node: Node | None, field: str, *, most: int) -> tuple[Item, ...] | None:
        """One text or a list of at most `most` different texts. None where any of them is faulty."""
        if node is None:
            return None
        if not is_sequence(node):
            one = self.text(node, field)
            return None if one is None else (Item(one, line_of(node)),)
        self._count_alias(node, field)
        nodes = items(node)
        if len(nodes) > most:
            self.report(f"{field} lists {len(nodes)} entries; {most} are allowed.", node, field)
            return None
        faults_before = len(self.faults)
        found: dict[str, Item] = {}
        for entry in nodes:
            text = self.text(entry, field)
            if text is not None and text in found:
                self.report(f"{field} lists {shown(text)} twice.", entry, field)
            elif text is not None:
                found[text] = Item(text, line_of(entry))
        return tuple(found.values()) if len(self.faults) == faults_before else None

    def flag(self, node: Node | None, field: str) -> bool | None:
        """`true` or `false`."""
        return self._one(node, field, _as_flag, "true or false, without quotes")

    def integer(self, node: Node | None, field: str) -> int | None:
        """A whole number in decimal digits."""
        return self._one(node, field, as_integer, "a whole number in plain digits, such as 5")

    def number(self, node: Node | None, field: str, *, or_null: bool = False) -> float | None:
        """A finite number in decimal digits; `or_null` tells whoever wrote something else that none is one too."""
        choice = ", or null for none" if or_null else ""
        return self._one(node, field, as_number, f"a finite number such as 0.2{choice}")

    def _one(self, node: Node | None, field: str, parse: Callable[[Node], _T | None], kind: str) -> _T | None:
        if node is None:
            return None
        self._count_alias(node, field)
        value = parse(node)
        if value is None:
            self.report(f"{field} must be {kind}.", node, field)
        return value

    def _is_first_visit(self, node: Node) -> bool:
        first = id(node) not in self._seen
        self._seen.add(id(node))
        return first

    def _count_alias(self, node: Node, field: str) -> None:
        if self._is_first_visit(node):
            return
        self._aliases += 1
        if self._aliases == MAX_ALIASES + 1:
            self.report(f"The file uses more than {MAX_ALIASES} aliases; write the values out.", node, field)


def shown(text: str) -> str:
    """A piece of the file as a message quotes it: one line, at most 80 characters, nothing unprintable."""
    cut = text if len(text) <= 80 else f"{text[:79]}…"
    return ascii(cut) if _UNPRINTABLE.search(cut) else f"“{' '.join(cut.split())}”"


def _parser() -> YAML:
    yaml = YAML(typ="safe", pure=True)
    yaml.max_depth = _MAX_DEPTH
    # YAML allows an anchor to be set again; a warning would reach someone who can't act on it
    yaml.composer.warn_double_anchors = False
    return yaml


def _malformed(error: Exception, text: str) -> Fault:
    line = None
    if isinstance(error, ReaderError):
        position = cast("int", error.position)
        line = text.count("\n", 0, position) + 1
        message = f"The file holds a character that no text file has: {_name(text, position)}."
        return Fault(case=None, field=None, line=line, message=message)
    reason = (str(error).splitlines() or [""])[0]
    if isinstance(error, MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else cast("int", mark.line) + 1
        reason = str(error.problem or error.context)
    if isinstance(error, RecursionError) or reason.startswith("maximum depth"):
        reason = "it is nested too deeply"
    return Fault(case=None, field=None, line=line, message=f"The file is not valid YAML: {reason}.")


def _too_large() -> Fault:
    megabytes = MAX_FILE_BYTES // 1_000_000
    return Fault(case=None, field=None, line=None, message=f"The file is larger than {megabytes} MB.")


def _suggestion(key: str, allowed: Collection[str]) -> str:
    close = difflib.get_close_matches(key[:80].lower().replace("-", "_"), sorted(allowed), n=1)
    return f"; did you mean {close[0]}?" if close else f"; the keys are {', '.join(allowed)}."


def _remedy(node: Node) -> str:
    if isinstance(node, ScalarNode) and str(node.tag).startswith(_TAG):
        kind = str(node.tag).removeprefix(_TAG)
        read_as = {
            "int": "a number",
            "float": "a number",
            "bool": "true or false",
            "timestamp": "a date",
        }.get(kind)
        if read_as is not None:
            return f", and {shown(str(node.value))} without quotes is {read_as}; put quotes around it"
    if is_mapping(node):
        return ", not a mapping; a text that holds a colon and a space needs quotes"
    if is_sequence(node):
        return ", not a list"
    return f", not {shown(str(node.tag).replace(_TAG, '!!'))}"


def _name(text: str, position: int) -> str:
    return f"U+{ord(text[position]):04X}" if position < len(text) else "one cut short"
