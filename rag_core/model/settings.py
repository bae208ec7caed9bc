"""The settings of a search, in two types: what needs new SQL when it changes, and what can be replayed. Pure."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from rag_core.errors import InvalidInput
from rag_core.model.limits import MAX_RRF_K
from rag_core.model.shape import Shape, camel
from rag_core.model.words import ALL_SCOPES, Scope, canonical_digest

MOST_K1 = 10.0
MOST_TITLE_WEIGHT = 10.0
RRF_K = 60
"""The k of reciprocal rank fusion where none is given: that of its authors."""


class Fusion(StrEnum):
    """How two signals become one score. See `rag_core.ranking.fusion`."""

    WEIGHTED_SUM = "weightedSum"
    RRF = "rrf"
    WEIGHTED_RRF = "weightedRrf"
    MIN_MAX = "minMax"
    Z_SCORE = "zScore"

    @property
    def weighs(self) -> bool:
        """Whether scores are linear in the two weights; otherwise no weight plays a part."""
        match self:
            case Fusion.WEIGHTED_SUM | Fusion.WEIGHTED_RRF | Fusion.MIN_MAX | Fusion.Z_SCORE:
                return True
            case Fusion.RRF:
                return False

    @property
    def takes_k(self) -> bool:
        """Whether scores come from `1 / (k + rank)`, so that k is one of the numbers."""
        match self:
            case Fusion.RRF | Fusion.WEIGHTED_RRF:
                return True
            case Fusion.WEIGHTED_SUM | Fusion.MIN_MAX | Fusion.Z_SCORE:
                return False


class LexicalOperator(StrEnum):
    """Whether a chunk must hold any or all of the question's terms."""

    ANY = "any"
    ALL = "all"


class LexicalFunction(StrEnum):
    """How a chunk's lexical score is computed.

    See `rag_core.database.search.candidates` and, for those that know how rare a word is, `rag_core.lexical.postings`.
    """

    TS_RANK = "ts_rank"
    TS_RANK_CD = "ts_rank_cd"
    COVERAGE = "coverage"
    BM25 = "bm25"
    COVERAGE_IDF = "coverageIdf"

    @property
    def knows_rarity(self) -> bool:
        """Whether it is scored from a project's word statistics, where a title has words too."""
        match self:
            case LexicalFunction.BM25 | LexicalFunction.COVERAGE_IDF:
                return True
            case LexicalFunction.TS_RANK | LexicalFunction.TS_RANK_CD | LexicalFunction.COVERAGE:
                return False

    @property
    def saturates(self) -> bool:
        """Whether k1 and b play a part."""
        return self is LexicalFunction.BM25


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class LexicalWay:
    """How the lexical signal asks and scores; another way needs other SQL, so other candidates.

    `k1` (how soon repetition stops to count, 0 or more) and `b` (how much a long text counts for less, 0 to 1) are
    BM25's. `title_weight` is what a word in front matter's title, a heading or the path counts beside one in the text,
    for functions that know rarity. A number that plays no part is kept as it is by default: such ways are equal.
    """

    operator: LexicalOperator = LexicalOperator.ANY
    function: LexicalFunction = LexicalFunction.TS_RANK
    k1: float = 1.2
    b: float = 0.75
    title_weight: float = 0.5

    def __post_init__(self) -> None:
        fields = {field.name: field.default for field in dataclasses.fields(self)}
        for name, plays, most in (
            ("k1", self.function.saturates, MOST_K1),
            ("b", self.function.saturates, 1.0),
            ("title_weight", self.function.knows_rarity, MOST_TITLE_WEIGHT),
        ):
            if not plays:
                object.__setattr__(self, name, fields[name])
            elif not (math.isfinite(getattr(self, name)) and 0 <= getattr(self, name) <= most):
                raise InvalidInput(
                    f"The {_words(name)} is {getattr(self, name)}; it lies between 0 and {most:g}.",
                    hint=f"Give a number such as {fields[name]}.",
                )

    @property
    def numbers(self) -> dict[str, float | None]:
        """The function's own numbers by name, None where one plays no part."""
        return {
            "k1": self.k1 if self.function.saturates else None,
            "b": self.b if self.function.saturates else None,
            "title_weight": self.title_weight if self.function.knows_rarity else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingSettings:
    """The numbers that can be replayed over candidates already fetched.

    `threshold` None keeps everything; `threshold_when_degraded` stands in its place when the vector signal
    is not available (None: suspended). `max_per_file` None means no cap. `rrf_k` is `RRF_K` under a fusion that takes
    none, whatever was given, so that equal rankings are equal settings.
    """

    weight_vector: float
    weight_lexical: float
    threshold: float | None
    threshold_when_degraded: float | None = None
    candidates_per_signal: int = 20
    max_per_file: int | None = 2
    limit: int = 5
    fusion: Fusion = Fusion.WEIGHTED_SUM
    rrf_k: int = RRF_K

    def __post_init__(self) -> None:
        for name in ("weight_vector", "weight_lexical"):
            weight = getattr(self, name)
            if not (math.isfinite(weight) and 0 <= weight <= 1):
                raise InvalidInput(
                    f"The {_words(name)} is {weight}; a weight lies between 0 and 1.",
                    hint="Give a number such as 0.6.",
                )
        for name in ("threshold", "threshold_when_degraded"):
            threshold = getattr(self, name)
            if threshold is not None and not math.isfinite(threshold):
                raise InvalidInput(
                    f"The {_words(name)} is {threshold}.", hint="Give a finite number, or none."
                )
        for name in ("candidates_per_signal", "max_per_file", "limit", "rrf_k"):
            count = getattr(self, name)
            if count is not None and count < 1:
                raise InvalidInput(
                    f"The {_words(name)} is {count}; it is at least 1.", hint="Give 1 or more."
                )
        if self.rrf_k > MAX_RRF_K:
            raise InvalidInput(
                f"The rrf k is {self.rrf_k}; it is at most {MAX_RRF_K:,}.",
                hint="Give a smaller one, such as 60.",
            )
        if not self.fusion.takes_k:
            object.__setattr__(self, "rrf_k", RRF_K)

    @property
    def scale(self) -> tuple[Fusion, int]:
        """What fused scores are measured on: a threshold means something under an equal one only."""
        return self.fusion, self.rrf_k


def _words(name: str) -> str:
    """A field's name as its command line flag has it: `weight vector`, `max per file`."""
    return name.replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSettings:
    """What needs new SQL when it changes: scopes, depth, the lexical way and the embedding model.

    `fetch_depth` is how many candidates a signal returns; ranking cuts them again at
    `RankingSettings.candidates_per_signal`. `embedding_model` is the index's model id, None without one.
    """

    scopes: tuple[Scope, ...] = ALL_SCOPES
    fetch_depth: int = 20
    lexical: LexicalWay = LexicalWay()
    embedding_model: str | None = None

    def __post_init__(self) -> None:
        if not self.scopes:
            raise InvalidInput("No scope was given.", hint="Use docs, adr, session, or leave it out.")
        if tuple(sorted(set(self.scopes), key=ALL_SCOPES.index)) != self.scopes:
            raise ValueError("scopes are distinct and in the order of ALL_SCOPES")
        if self.fetch_depth < 1:
            raise InvalidInput(
                f"The candidate depth is {self.fetch_depth}; it is at least 1.", hint="Give 1 or more."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsShape(Shape):
    """The numbers that a search ran under. A number with a default stands there only where it plays a part."""

    source: str
    preset: str | None
    weight_vector: float
    weight_lexical: float
    threshold: float | None
    threshold_when_degraded: float | None
    candidates_per_signal: int
    max_per_file: int | None
    limit: int
    fusion: Literal["weightedSum", "rrf", "weightedRrf", "minMax", "zScore"]
    rrf_k: int | None = None
    lexical_operator: Literal["any", "all"]
    lexical_function: Literal["ts_rank", "ts_rank_cd", "coverage", "bm25", "coverageIdf"]
    embedding_model: str | None
    fetch_depth: int
    k1: float | None = None
    b: float | None = None
    title_weight: float | None = None


LEXICAL_NUMBERS = ("k1", "b", "title_weight")
"""Fields of a lexical way that are in JSON only where they play a part."""

NO_NUMBERS = ("source", "preset", "fetchDepth", "embeddingModel")
"""What settings in JSON say beside the numbers that somebody decides."""


def changed_numbers(before: Mapping[str, object], now: Mapping[str, object]) -> tuple[str, ...]:
    """The keys of two settings in JSON whose numbers are not the same, where only one has such a number too."""
    keys = dict.fromkeys((*before, *now))
    return tuple(key for key in keys if key not in NO_NUMBERS and before.get(key) != now.get(key))


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """All settings of one search, and where they came from (`source`, `preset`).

    `limit_in_force` is given where a caller chose how many hits to see: the limit that the choice stands in for.
    """

    candidates: CandidateSettings
    ranking: RankingSettings
    source: str
    preset: str | None
    limit_in_force: int | None = None

    def __post_init__(self) -> None:
        if self.candidates.fetch_depth < self.ranking.candidates_per_signal:
            raise ValueError("candidates are fetched at least as deep as they are ranked")

    @classmethod
    def from_json(
        cls,
        told: Mapping[str, object],
        *,
        source: str,
        model_id: object,
        scopes: tuple[Scope, ...] = ALL_SCOPES,
    ) -> "SearchSettings":
        """Settings from the contract's JSON form, as adoptions, baselines and searches hold them.

        Raises:
            InvalidInput: A key is missing or its value is no such number.
        """
        try:
            ranking = RankingSettings(
                weight_vector=_number(told["weightVector"]),
                weight_lexical=_number(told["weightLexical"]),
                threshold=_optional_number(told["threshold"]),
                threshold_when_degraded=_optional_number(told["thresholdWhenDegraded"]),
                candidates_per_signal=int(_number(told["candidatesPerSignal"])),
                max_per_file=None if told["maxPerFile"] is None else int(_number(told["maxPerFile"])),
                limit=int(_number(told["limit"])),
                fusion=Fusion(str(told["fusion"])),
                rrf_k=int(_number(told.get("rrfK", RRF_K))),
            )
            lexical = LexicalWay(
                operator=LexicalOperator(str(told["lexicalOperator"])),
                function=LexicalFunction(str(told["lexicalFunction"])),
                **{name: _number(told[camel(name)]) for name in LEXICAL_NUMBERS if camel(name) in told},
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(
                f"These settings do not parse: {error}.",
                hint="Adopt settings anew, or freeze the baseline again.",
            ) from error
        preset = told.get("preset")
        return cls(
            candidates=CandidateSettings(
                scopes=scopes,
                fetch_depth=ranking.candidates_per_signal,
                lexical=lexical,
                embedding_model=None if model_id is None else str(model_id),
            ),
            ranking=ranking,
            source=source,
            preset=None if preset is None else str(preset),
        )

    @property
    def shape(self) -> "SettingsShape":
        """The contract's `settings`; scopes stand beside it, not in it."""
        return SettingsShape.drawn(
            self,
            self.ranking,
            self.candidates,
            rrf_k=self.ranking.rrf_k if self.ranking.fusion.takes_k else None,
            lexical_operator=self.candidates.lexical.operator.value,
            lexical_function=self.candidates.lexical.function.value,
            **self.candidates.lexical.numbers,
        )

    def to_json(self) -> dict[str, object]:
        """The same as rows and files keep it."""
        return self.shape.to_json()

    @property
    def id(self) -> str:
        """Sixteen hex digits of the numbers in force: equal numbers under two names are one setting."""
        numbers = {
            key: value
            for key, value in self.in_force.to_json().items()
            if key not in ("source", "preset", "fetchDepth")
        }
        return canonical_digest(numbers)[:16]

    @property
    def in_force(self) -> "SearchSettings":
        """The same without a caller's own limit, which is no change of settings."""
        if self.limit_in_force is None:
            return self
        ranking = dataclasses.replace(self.ranking, limit=self.limit_in_force)
        return dataclasses.replace(self, ranking=ranking, limit_in_force=None)

    def with_ranking(self, ranking: RankingSettings) -> "SearchSettings":
        """The same candidates under other ranking numbers, fetched deeper where the numbers need it."""
        depth = max(self.candidates.fetch_depth, ranking.candidates_per_signal)
        candidates = dataclasses.replace(self.candidates, fetch_depth=depth)
        return dataclasses.replace(self, candidates=candidates, ranking=ranking, limit_in_force=None)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    return value


def _optional_number(value: object) -> float | None:
    return None if value is None else _number(value)
