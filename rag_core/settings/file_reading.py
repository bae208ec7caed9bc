"""A project's `settings.yaml`, its settings as code: every fault is told with its line. Pure.

Its keys are those of the contract's `settings`, and `limits`. Numbers that are left out come from the preset that the
file names, else from that of the index's model; `source` and `fetchDepth`, which follow from the rest, may stand there
and say nothing.
"""

from typing import TypeVar

from ruamel.yaml.nodes import Node

from rag_core.errors import FaultyGoldenSet, FaultySettings
from rag_core.golden.document import Reader, compose, decode, is_mapping, is_null, shown
from rag_core.golden.faults import Fault, refusal_of
from rag_core.model import EmbeddingModel, Fusion, LexicalFunction, LexicalOperator
from rag_core.model.limits import MAX_LIMIT, MAX_RRF_K
from rag_core.model.settings import MOST_K1, MOST_TITLE_WEIGHT
from rag_core.settings.committed import CommittedSettings, Limits
from rag_core.settings.overrides import FUSIONS_WITH_K, MAX_CANDIDATES, UNSET, Overrides, Unset
from rag_core.settings.presets import PRESETS

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
    "rrfK",
    "lexicalOperator",
    "lexicalFunction",
    "k1",
    "b",
    "titleWeight",
    "embeddingModel",
)
DERIVED = ("source", "fetchDepth")
BESIDE = ("limits",)
_KEYS = (*_NUMBERS, *BESIDE, *DERIVED)
_NULLABLE = frozenset(
    ("preset", "threshold", "thresholdWhenDegraded", "maxPerFile", "embeddingModel", "limits", *DERIVED)
)
_LIMITS = ("useful", "p95Ms", "noHit")
_ROUNDING = 1e-9
_Word = TypeVar("_Word", Fusion, LexicalOperator, LexicalFunction)


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
        reader.report("The file holds no settings; it is a mapping with keys such as weightVector.", root)
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


class _Settings:
    """One reading of the file's mapping."""

    def __init__(self, root: Node, reader: Reader) -> None:
        self._reader = reader
        self._nodes = reader.fields(root, _KEYS, what="the settings", keep_nulls=True)
        for key in [key for key, node in self._nodes.items() if is_null(node) and key not in _NULLABLE]:
            reader.report(
                f"{key} has no value; leave it out to take the preset's.", self._nodes.pop(key), key
            )

    def read(self) -> CommittedSettings:
        if "source" in self._nodes:
            self._text("source")
        self._whole("fetchDepth", most=None)
        fusion = self._one_of("fusion", Fusion)
        return CommittedSettings(
            numbers=Overrides(
                preset=self._preset(),
                weight_vector=self._weight(),
                threshold=self._or_none("threshold"),
                threshold_when_degraded=self._or_none("thresholdWhenDegraded"),
                candidates=self._whole("candidatesPerSignal", most=MAX_CANDIDATES),
                max_per_file=None if self._is_none("maxPerFile") else self._cap(),
                limit=self._whole("limit", most=MAX_LIMIT),
                fusion=fusion,
                rrf_k=self._k(fusion),
                lexical_operator=self._one_of("lexicalOperator", LexicalOperator),
                lexical_function=self._one_of("lexicalFunction", LexicalFunction),
                k1=self._up_to("k1", MOST_K1),
                b=self._up_to("b", 1.0),
                title_weight=self._up_to("titleWeight", MOST_TITLE_WEIGHT),
            ),
            made_for=self._model(),
            limits=self._limits(),
        )

    def _fault(self, key: str, message: str) -> None:
        self._reader.report(message, self._nodes[key], key)

    def _is_none(self, key: str) -> bool:
        return key in self._nodes and is_null(self._nodes[key])

    def _given(self, key: str) -> Node | None:
        node = self._nodes.get(key)
        return None if node is None or is_null(node) else node

    def _text(self, key: str) -> str | None:
        return self._reader.text(self._given(key), key)

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

    def _k(self, fusion: Fusion | None) -> int | None:
        value = self._whole("rrfK", most=MAX_RRF_K)
        is_known = fusion is not None or "fusion" not in self._nodes
        # whose fusion the rest would be, the file alone can't tell
        if value is not None and is_known and fusion not in FUSIONS_WITH_K:
            self._fault("rrfK", f"rrfK stands beside a fusion that takes a k: {' or '.join(FUSIONS_WITH_K)}.")
            return None
        return value

    def _up_to(self, key: str, most: float, *, what: str = "it") -> float | None:
        value = self._reader.number(self._given(key), key)
        if value is not None and not 0 <= value <= most:
            self._fault(key, f"{key} is {value:g}; {what} lies between 0 and {most:g}.")
            return None
        return value

    def _weight(self) -> float | None:
        vector, lexical = (
            self._up_to(key, 1.0, what="a weight") for key in ("weightVector", "weightLexical")
        )
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
            self._reader.report(f"{field} is {value:g}; it is {allowed}.", node, field)
            return None
        return value


def _listed(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
