"""A project's `settings.yaml`: its settings as code, read with lines and written back with its comments. Pure.

Its keys are those of the contract's `settings`, and `limits`. Numbers that are left out come from the preset that the
file names, else from that of the index's model; `source` and `fetchDepth`, which follow from the rest, may stand there
and say nothing.
"""

import json
import re
from collections.abc import Collection, Mapping
from typing import TypeVar

from ruamel.yaml.nodes import MappingNode, Node

from rag_core.errors import FaultyGoldenSet, FaultySettings, InvalidInput
from rag_core.golden.cases import MAX_LIMIT
from rag_core.golden.document import (
    BOM,
    Reader,
    compose,
    decode,
    is_mapping,
    is_null,
    line_of,
    pairs,
    scalar_of,
    shown,
)
from rag_core.golden.faults import Fault, refusal_of
from rag_core.model import EmbeddingModel, Fusion, LexicalFunction, LexicalOperator, SearchSettings
from rag_core.settings.presets import (
    MAX_CANDIDATES,
    PRESETS,
    UNSET,
    CommittedSettings,
    Limits,
    Overrides,
    Unset,
)

MAX_SETTINGS_BYTES = 100_000
MENDING = "Mend the file, or bring it back as it was committed; docs/contracts.md lists its keys."

_NUMBERS = (
    "preset",
    "weightVector",
    "weightLexical",
    "threshold",
    "thresholdWhenDegraded",
    "candidatesPerSignal",
    "maxPerFile",
    "limit",
    "fusion",
    "lexicalOperator",
    "lexicalFunction",
    "embeddingModel",
)
_DERIVED = ("source", "fetchDepth")
_KEYS = (*_NUMBERS, "limits", *_DERIVED)
_NULLABLE = frozenset(
    ("preset", "threshold", "thresholdWhenDegraded", "maxPerFile", "embeddingModel", "limits", *_DERIVED)
)
_LIMITS = ("useful", "p95Ms", "noHit")
_ROUNDING = 1e-9
_Word = TypeVar("_Word", Fusion, LexicalOperator, LexicalFunction)
_HEAD = (
    "# The settings of this project's searches; golden runs and calibrations go by them on every machine.\n"
)
_ADOPTED = re.compile(r"^# Adopted on [^\n]*\n", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./@+:-]*[A-Za-z0-9]|-?[0-9]+")


def parse_settings(data: bytes, *, file: str) -> CommittedSettings:
    """Read a `settings.yaml`: all of it, or nothing.

    Raises:
        FaultySettings: It is no YAML, or breaks a rule; every fault is listed, with line and field.
    """
    try:
        root = compose(decode(data, file=file), file=file)
    except FaultyGoldenSet as error:
        # the reader of YAML is that of the golden cases; what it refuses here is another file
        raise FaultySettings(error.message, faults=error.faults, hint=MENDING, where=error.where) from error
    reader = Reader()
    found = None
    if root is None or not is_mapping(root):
        reader.report(
            "The file holds no settings; it is a mapping with keys such as weightVector.",
            line=None if root is None else line_of(root),
        )
    else:
        found = _Settings(root, reader).read()
    if reader.faults or found is None:
        raise refusal_of(FaultySettings, reader.faults, file=file, hint=MENDING)
    return found


def refuse_file(message: str, *, file: str) -> FaultySettings:
    """The error for a file that is not read at all."""
    return refusal_of(
        FaultySettings, [Fault(case=None, field=None, line=None, message=message)], file=file, hint=MENDING
    )


def committing(settings: SearchSettings, *, limits: Limits | None = None) -> CommittedSettings:
    """What a `settings.yaml` says that holds every one of these numbers."""
    ranking, candidates = settings.ranking, settings.candidates
    return CommittedSettings(
        numbers=Overrides(
            preset=settings.preset,
            weight_vector=ranking.weight_vector,
            threshold=ranking.threshold,
            threshold_when_degraded=ranking.threshold_when_degraded,
            candidates=ranking.candidates_per_signal,
            max_per_file=ranking.max_per_file,
            limit=ranking.limit,
            fusion=ranking.fusion,
            lexical_operator=candidates.lexical.operator,
            lexical_function=candidates.lexical.function,
        ),
        made_for=candidates.embedding_model,
        limits=limits or Limits(),
    )


def write_settings(
    settings: SearchSettings, *, before: bytes | None, adopted: str, file: str = "settings.yaml"
) -> str:
    """The text of a `settings.yaml` with these numbers, every one of them in full; one weight is the rest of the other.

    Of a file that is there, order, comments, line endings and `limits` stay.

    Args:
        settings: The numbers.
        before: The file as it is, None where there is none.
        adopted: Who adopted them, when and why, on one line, for the comment above them.
        file: The name to call it by in messages.

    Raises:
        FaultySettings: The file that is there does not parse.
        InvalidInput: It can't be changed in place.
    """
    limits = None if before is None else parse_settings(before, file=file).limits
    old = "" if before is None else decode(before, file=file)
    values = {key: value for key, value in settings.to_json().items() if key in _NUMBERS}
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


class _Settings:
    """One reading of the file's mapping."""

    def __init__(self, root: Node, reader: Reader) -> None:
        self._reader = reader
        self._nodes = reader.fields(root, _KEYS, what="the settings", keep_nulls=True)
        for key in [key for key, node in self._nodes.items() if is_null(node) and key not in _NULLABLE]:
            reader.report(
                f"{key} has no value; leave it out to take the preset's.", line=self._line(key), field=key
            )
            del self._nodes[key]

    def read(self) -> CommittedSettings:
        if "source" in self._nodes:
            self._text("source")
        self._whole("fetchDepth", most=None)
        return CommittedSettings(
            numbers=Overrides(
                preset=self._preset(),
                weight_vector=self._weight(),
                threshold=self._or_none("threshold"),
                threshold_when_degraded=self._or_none("thresholdWhenDegraded"),
                candidates=self._whole("candidatesPerSignal", most=MAX_CANDIDATES),
                max_per_file=None if self._is_none("maxPerFile") else self._cap(),
                limit=self._whole("limit", most=MAX_LIMIT),
                fusion=self._one_of("fusion", Fusion),
                lexical_operator=self._one_of("lexicalOperator", LexicalOperator),
                lexical_function=self._one_of("lexicalFunction", LexicalFunction),
            ),
            made_for=self._model(),
            limits=self._limits(),
        )

    def _line(self, key: str) -> int:
        return line_of(self._nodes[key])

    def _fault(self, key: str, message: str) -> None:
        self._reader.report(message, line=self._line(key), field=key)

    def _is_none(self, key: str) -> bool:
        return key in self._nodes and is_null(self._nodes[key])

    def _given(self, key: str) -> Node | None:
        node = self._nodes.get(key)
        return None if node is None or is_null(node) else node

    def _text(self, key: str) -> str | None:
        return self._reader.text(self._given(key), key, case=None)

    def _or_none(self, key: str) -> float | Unset | None:
        if self._is_none(key):
            return None
        value = self._reader.number(self._given(key), key, or_null=True)
        return UNSET if value is None else value

    def _cap(self) -> int | Unset:
        value = self._whole("maxPerFile", most=None)
        return UNSET if value is None else value

    def _whole(self, key: str, *, most: int | None) -> int | None:
        value = self._reader.integer(self._given(key), key)
        if value is None:
            return None
        if value < 1 or (most is not None and value > most):
            allowed = "is at least 1" if most is None else f"lies between 1 and {most:,}"
            self._fault(key, f"{key} is {value}; it {allowed}.")
            return None
        return value

    def _share(self, key: str) -> float | None:
        value = self._reader.number(self._given(key), key)
        if value is not None and not 0 <= value <= 1:
            self._fault(key, f"{key} is {value:g}; a weight lies between 0 and 1.")
            return None
        return value

    def _weight(self) -> float | None:
        vector, lexical = self._share("weightVector"), self._share("weightLexical")
        if vector is not None and lexical is not None and abs(vector + lexical - 1) > _ROUNDING:
            self._fault(
                "weightLexical",
                f"weightVector and weightLexical add up to {vector + lexical:g}; the one is 1 less the other.",
            )
        return vector if vector is not None or lexical is None else 1.0 - lexical

    def _one_of(self, key: str, values: type[_Word]) -> _Word | None:
        text = self._text(key)
        if text is None:
            return None
        if text not in list(values):
            self._fault(key, f"{shown(text)} is no {key}; it is {_listed(tuple(values))}.")
            return None
        return values(text)

    def _preset(self) -> str | None:
        name = self._text("preset")
        if name is not None and name not in PRESETS:
            self._fault("preset", f"There is no preset {shown(name)}; it is {_listed(tuple(PRESETS))}.")
            return None
        return name

    def _model(self) -> str | None:
        name = self._text("embeddingModel")
        if name is None:
            return None
        try:
            return EmbeddingModel.parse(name).id
        except ValueError:
            self._fault("embeddingModel", f"{shown(name)} is no model's id; `settings show --json` gives it.")
            return None

    def _limits(self) -> Limits:
        node = self._given("limits")
        if node is None:
            return Limits()
        if not is_mapping(node):
            self._fault("limits", f"limits must be a mapping with {_listed(_LIMITS)}.")
            return Limits()
        nodes = self._reader.fields(node, _LIMITS, what="limits")
        read = {key: self._limit(key, value) for key, value in nodes.items()}
        return Limits(useful=read.get("useful"), p95_ms=read.get("p95Ms"), no_hit=read.get("noHit"))

    def _limit(self, key: str, node: Node) -> float | None:
        field = f"limits.{key}"
        value = self._reader.number(node, field)
        if value is None:
            return None
        is_share = key != "p95Ms"
        if value < 0 or (is_share and value > 1) or (not is_share and value == 0):
            allowed = "a share, between 0 and 1" if is_share else "a time in milliseconds, over 0"
            self._reader.report(f"{field} is {value:g}; it is {allowed}.", line=line_of(node), field=field)
            return None
        return value


def _listed(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


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
            if name in _DERIVED
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
