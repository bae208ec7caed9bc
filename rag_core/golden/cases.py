"""A golden set: its cases, and the one reader of `cases.yaml`. Pure; the text comes from the caller.

Lines are 1-based. A set that parses keeps every rule that can be checked from the file alone; what needs the
index or the repository is checked by `rag_core.golden.linter`.
"""

import dataclasses
from dataclasses import dataclass, field
from typing import Literal, cast

from ruamel.yaml.nodes import Node

from rag_core.golden.document import (
    Item,
    Reader,
    as_text,
    compose,
    is_mapping,
    is_null,
    is_sequence,
    items,
    line_of,
    pairs,
    scalar_of,
    shown,
)
from rag_core.golden.faults import Fault, refusal
from rag_core.golden.repeats import AskedCase, check_ids, check_questions
from rag_core.model import ALL_SCOPES, Place, Scope, canonical_digest
from rag_core.model.limits import MAX_LIMIT, MAX_QUESTION_CHARS
from rag_core.model.place_names import PlaceNames, composed
from rag_core.words.plurals import counted

MAX_ID_CHARS = 200
MAX_PLACES = 100
MAX_TAGS = 50

CaseSplit = Literal["calibrate", "holdout"]
SPLITS: tuple[CaseSplit, ...] = ("calibrate", "holdout")

_SET_KEYS = ("floor", "limit", "cases")
_CASE_KEYS = ("id", "question", "expected", "no_answer", "scope", "tags", "split", "must_pass", "note")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenCase:
    """A question and the places of which any one must be among the hits, or the word that there is no answer.

    `scope` None searches all scopes; else the scopes are distinct and in the order of `ALL_SCOPES`. `line` is
    where the case begins in its file, `place_lines` where each expected place stands; neither is part of what
    the case is, so two cases that differ in them alone are equal.
    """

    id: str
    question: str
    expected: tuple[Place, ...] = ()
    no_answer: bool = False
    scope: tuple[Scope, ...] | None = None
    tags: tuple[str, ...] = ()
    split: CaseSplit | None = None
    must_pass: bool = False
    note: str | None = None
    line: int = field(default=1, compare=False)
    place_lines: tuple[int, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not self.id or not self.question.strip():
            raise ValueError("a case has an id and a question")
        if bool(self.expected) == self.no_answer:
            raise ValueError("a case expects places or no answer, not both and not neither")
        if (
            self.scope is not None
            and tuple(scope for scope in ALL_SCOPES if scope in self.scope) != self.scope
        ):
            raise ValueError("scopes are distinct and in the order of ALL_SCOPES")

    @property
    def digest(self) -> str:
        """What decides this case's verdict on given ground, 64 hex digits: id, question, expected, scope.

        Tags, split, note and `must_pass` are left out, and so are the order of the expected places and the Unicode
        form of their names.
        """
        return canonical_digest(
            {
                "id": self.id,
                "question": self.question,
                "expected": sorted(str(composed(place)) for place in self.expected),
                "noAnswer": self.no_answer,
                "scope": [str(scope) for scope in self.scope or ALL_SCOPES],
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenSet:
    """All cases of one file. `floor` is how many must pass; `limit` None leaves the settings' in force."""

    floor: int
    limit: int | None
    cases: tuple[GoldenCase, ...]

    def __post_init__(self) -> None:
        if not self.cases:
            raise ValueError("a golden set has at least one case")
        if not 0 <= self.floor <= len(self.cases):
            raise ValueError("the floor lies between 0 and the number of cases")
        if len({case.id for case in self.cases}) != len(self.cases):
            raise ValueError("the ids of cases are unique")

    @property
    def digest(self) -> str:
        """The identity of the cases, 64 hex digits: equal when all cases ask and expect the same.

        The order of the cases, the floor and the limit are no part of it: a raised floor leaves a baseline
        comparable, and the limit is compared by itself.
        """
        return canonical_digest({"cases": sorted(case.digest for case in self.cases)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """A place that some case expects; `case` is None where its id can't be read, `line` is the place's own."""

    case: str | None
    place: Place
    line: int
    scope: tuple[Scope, ...] | None
    case_line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a cases file says: the set where it has no fault, else its faults and what its cases expect all the same."""

    golden: GoldenSet | None
    faults: tuple[Fault, ...]
    expected: tuple[Expectation, ...]


def expectations_of(golden: GoldenSet) -> tuple[Expectation, ...]:
    """All places that the cases expect, in the order of the file."""
    return tuple(
        Expectation(case=case.id, place=place, line=line, scope=case.scope, case_line=case.line)
        for case in golden.cases
        for place, line in zip(
            case.expected, case.place_lines or (case.line,) * len(case.expected), strict=True
        )
    )


def with_places_meant(golden: GoldenSet, names: PlaceNames) -> GoldenSet:
    """The set with each expected place by the name that it has where the cases are asked."""
    return dataclasses.replace(golden, cases=tuple(_meant(case, names) for case in golden.cases))


def _meant(case: GoldenCase, names: PlaceNames) -> GoldenCase:
    expected = [names.meant(place) for place in case.expected]
    if tuple(expected) == case.expected:
        return case
    # one place that is named in two forms is one place
    lines: dict[Place, int] = {}
    for place, line in zip(expected, case.place_lines or (case.line,) * len(expected), strict=True):
        lines.setdefault(place, line)
    return dataclasses.replace(case, expected=tuple(lines), place_lines=tuple(lines.values()))


def parse_cases(text: str, *, file: str) -> GoldenSet:
    """Read `cases.yaml`: all of it, or nothing.

    Ids and questions lose the white space around them. A missing floor is 0, a missing limit None; a key
    without a value counts as left out, but for `floor`, where a forgotten number would open the gate.

    A byte order mark and either line ending are taken; `file` is the name to call it by in messages.

    Raises:
        FaultyGoldenSet: The text is no YAML or breaks a rule; every fault is listed, with line and field.
    """
    read = read_cases(text, file=file)
    if read.golden is None:
        raise refusal(read.faults, file=file)
    return read.golden


def read_cases(text: str, *, file: str) -> Reading:
    """As `parse_cases`, but a file that breaks rules is no error: what its cases expect can still be looked for.

    Raises:
        FaultyGoldenSet: The text is no YAML.
    """
    root = compose(text, file=file)
    reader = Reader()
    if root is None or not is_mapping(root):
        message = "The file has no cases; it is a mapping with the keys floor, limit and cases."
        reader.report(message, root)
        return Reading(golden=None, faults=tuple(reader.faults), expected=())
    read = _read_set(root, reader)
    golden = None if reader.faults else read.golden
    return dataclasses.replace(read, golden=golden, faults=tuple(reader.faults))


@dataclass(frozen=True, slots=True)
class _Readable:
    """What can be read of all cases, those with faults among them, so that one fault hides no other."""

    expected: list[Expectation] = field(default_factory=list)
    asked: list[AskedCase] = field(default_factory=list)


def _read_set(root: Node, reader: Reader) -> Reading:
    values = reader.fields(root, _SET_KEYS, what="a golden set")
    limit = reader.integer(values["limit"], "limit") if "limit" in values else None
    if limit is not None and not 1 <= limit <= MAX_LIMIT:
        message = f"limit is {limit}; it lies between 1 and {MAX_LIMIT}."
        reader.report(message, values["limit"], "limit")
    case_nodes = _case_nodes(root, values, reader)
    readable = _Readable()
    cases = [_read_case(node, reader, readable) for node in case_nodes]
    check_ids(((_peek_id(node), line_of(node)) for node in case_nodes), reader)
    check_questions(readable.asked, reader)
    floor = _read_floor(root, values, len(case_nodes), reader)
    golden = None
    if not reader.faults and floor is not None:
        golden = GoldenSet(floor=floor, limit=limit, cases=tuple(case for case in cases if case is not None))
    return Reading(golden=golden, faults=(), expected=tuple(readable.expected))


def _case_nodes(root: Node, values: dict[str, Node], reader: Reader) -> list[Node]:
    node = values.get("cases")
    nodes = [] if node is None else items(node)
    if node is not None and not is_sequence(node):
        reader.report("cases must be a list of cases.", node, "cases")
    elif not nodes:
        reader.report("There is no case; a golden set has at least one.", node or root, "cases")
    return nodes


def _read_floor(root: Node, values: dict[str, Node], total: int, reader: Reader) -> int | None:
    if "floor" not in values:
        written = [key for key, value in pairs(root) if key.value == "floor" and is_null(value)]
        if written:
            reader.report("floor has no number.", written[0], "floor")
        return 0
    floor = reader.integer(values["floor"], "floor")
    if floor is not None and floor < 0:
        reader.report(f"floor is {floor}; it is 0 or more.", values["floor"], "floor")
    elif floor is not None and floor > total > 0:
        message = f"floor is {floor}, and the file has only {counted(total, 'case')}; no run could reach it."
        reader.report(message, values["floor"], "floor")
    return floor


def _read_case(node: Node, reader: Reader, readable: _Readable) -> GoldenCase | None:
    if not is_mapping(node):
        reader.report("A case must be a mapping with id, question and expected.", node, "cases")
        return None
    with reader.within(_peek_id(node)):
        return _read_members(node, reader, readable)


def _read_members(node: Node, reader: Reader, readable: _Readable) -> GoldenCase | None:
    faults_before = len(reader.faults)
    values = reader.fields(node, _CASE_KEYS, what="a case")
    for required in ("id", "question"):
        if required not in values:
            reader.report(f"The case has no {required}.", node, required)
    case_id = _read_id(values, reader)
    question = _read_question(values, reader)
    no_answer = reader.flag(values.get("no_answer"), "no_answer") or False
    expected = _read_expected(values, node, reader)
    scope = _read_scope(values, reader)
    if question is not None:
        readable.asked.append(AskedCase(reader.case, question, scope or ALL_SCOPES, line_of(node)))
    readable.expected.extend(
        Expectation(case=reader.case, place=place, line=at, scope=scope or None, case_line=line_of(node))
        for place, at in _readable_places(values.get("expected"))
    )
    tags = reader.texts(values.get("tags"), "tags", most=MAX_TAGS) or ()
    split = _read_split(values, reader)
    must_pass = reader.flag(values.get("must_pass"), "must_pass") or False
    note = reader.text(values.get("note"), "note")
    if no_answer and "expected" in values:
        message = "The case has both expected and no_answer; it can have only one of them."
        reader.report(message, values["no_answer"], "no_answer")
    if len(reader.faults) > faults_before or case_id is None or question is None:
        return None
    return GoldenCase(
        id=case_id,
        question=question,
        expected=tuple(Place.parse(item.text) for item in expected),
        no_answer=no_answer,
        scope=scope,
        tags=tuple(item.text for item in tags),
        split=split,
        must_pass=must_pass,
        note=note,
        line=line_of(node),
        place_lines=tuple(item.line for item in expected),
    )


def _peek_id(node: Node) -> str | None:
    # read before everything else, so that the case's other faults can name it
    for key, value in pairs(node):
        if key.value == "id":
            text = as_text(value)
            return text.strip() or None if text is not None else None
    return None


def _read_id(values: dict[str, Node], reader: Reader) -> str | None:
    case_id = reader.text(values.get("id"), "id")
    if case_id is not None and (len(case_id) > MAX_ID_CHARS or len(case_id.splitlines()) > 1):
        message = f"id must be one line of at most {MAX_ID_CHARS} characters."
        reader.report(message, values["id"], "id")
    return case_id


def _read_question(values: dict[str, Node], reader: Reader) -> str | None:
    question = reader.text(values.get("question"), "question")
    if question is not None and len(question) > MAX_QUESTION_CHARS:
        message = f"question has {len(question)} characters; {MAX_QUESTION_CHARS} are allowed."
        reader.report(message, values["question"], "question")
    return question


def _read_expected(values: dict[str, Node], case: Node, reader: Reader) -> tuple[Item, ...]:
    if "expected" not in values:
        no_answer = values.get("no_answer")
        if no_answer is None or (scalar_of(no_answer) or "").lower() == "false":
            message = "The case has neither expected nor no_answer: true."
            reader.report(message, case, "expected")
        return ()
    node = values["expected"]
    if is_sequence(node) and not items(node):
        reader.report("expected lists no place.", node, "expected")
        return ()
    found = reader.texts(node, "expected", most=MAX_PLACES) or ()
    for item in found:
        if not Place.parse(item.text).key.strip():
            message = "expected names a session without its id; write session:ID."
            reader.report(message, item.line, "expected")
        if len(item.text.splitlines()) > 1:
            reader.report("expected must be one line a place.", item.line, "expected")
    return found


def _readable_places(node: Node | None) -> list[tuple[Place, int]]:
    """The places of a list that has faults too, each once; what is no place is left to whoever reads it strictly."""
    if node is None:
        return []
    found: dict[Place, int] = {}
    for entry in (items(node) if is_sequence(node) else [node])[:MAX_PLACES]:
        text = (as_text(entry) or "").strip()
        place = Place.parse(text)
        if place.key.strip() and text.isprintable():
            found.setdefault(place, line_of(entry))
    return list(found.items())


def _read_scope(values: dict[str, Node], reader: Reader) -> tuple[Scope, ...] | None:
    node = values.get("scope")
    if node is not None and is_sequence(node) and not items(node):
        reader.report("scope lists no scope; leave it out to search all.", node, "scope")
        return None
    found = reader.texts(node, "scope", most=len(ALL_SCOPES))
    names = [str(scope) for scope in ALL_SCOPES]
    for item in found or ():
        if item.text not in names:
            message = f"{shown(item.text)} is no scope; the scopes are {', '.join(names)}."
            reader.report(message, item.line, "scope")
    chosen = {item.text for item in found or ()}
    return tuple(scope for scope in ALL_SCOPES if str(scope) in chosen) if found else None


def _read_split(values: dict[str, Node], reader: Reader) -> CaseSplit | None:
    text = reader.text(values.get("split"), "split")
    if text is not None and text not in SPLITS:
        message = f"{shown(text)} is no split; it is {' or '.join(SPLITS)}."
        reader.report(message, values["split"], "split")
        return None
    return cast("CaseSplit | None", text)
