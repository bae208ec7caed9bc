"""The words of the product as frozen values. Nothing here touches a database, a clock or the network.

Ranks and positions are 1-based. A score of a signal that did not find a chunk is `None`, never 0.
"""

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal
from uuid import UUID

from rag_core.errors import InvalidInput

EMBEDDING_DIMENSIONS = 768


class Scope(StrEnum):
    """What a chunk comes from. Equals the database's enum `chunk_scope`."""

    DOCS = "docs"
    ADR = "adr"
    SESSION = "session"


ALL_SCOPES: tuple[Scope, ...] = (Scope.DOCS, Scope.ADR, Scope.SESSION)


class Fate(StrEnum):
    """What became of a candidate: the step that removed it, or `hit`."""

    HIT = "hit"
    THRESHOLD = "threshold"
    FILE_CAP = "fileCap"
    LIMIT = "limit"
    CANDIDATES = "candidates"


class Fusion(StrEnum):
    """How two signals become one score. See `rag_core.ranking.fusion`."""

    WEIGHTED_SUM = "weightedSum"
    RRF = "rrf"
    MIN_MAX = "minMax"
    Z_SCORE = "zScore"


class LexicalOperator(StrEnum):
    """Whether a chunk must hold any or all of the question's terms."""

    ANY = "any"
    ALL = "all"


class LexicalFunction(StrEnum):
    """How a chunk's lexical score is computed. See `rag_core.database.search.candidates`."""

    TS_RANK = "ts_rank"
    TS_RANK_CD = "ts_rank_cd"
    COVERAGE = "coverage"


class DegradedReason(StrEnum):
    """Why a search was degraded; where several hold, the first in this order is given."""

    MODEL_MISMATCH = "modelMismatch"
    PROVIDER = "provider"
    NO_VECTORS = "noVectors"
    SOME_VECTORS_MISSING = "someVectorsMissing"


ActorKind = Literal["human", "agent", "system"]
Surface = Literal["app", "cli", "api", "engine", "mcp"]
Role = Literal["viewer", "maintainer", "engine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who does something, and through which surface."""

    kind: ActorKind
    id: str
    surface: Surface


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A file or a session: what a golden case expects and what the per-file cap counts.

    Order is the order of ties: files before sessions, then the path or session id by code point
    (`COLLATE "C"` in SQL).
    """

    kind: Literal["file", "session"]
    key: str

    @classmethod
    def parse(cls, text: str) -> "Place":
        """`session:ID` is a session, anything else a file's path."""
        if text.startswith("session:"):
            return cls("session", text.removeprefix("session:"))
        return cls("file", text)

    def __str__(self) -> str:
        return f"session:{self.key}" if self.kind == "session" else self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a chunk comes from, as it is cited.

    `heading_path` is outermost first, plain text; empty for a session and for text above the first heading.
    `event_id` is set for sessions only.
    """

    place: Place
    heading_path: tuple[str, ...] = ()
    title: str | None = None
    event_id: str | None = None

    @property
    def citation(self) -> str:
        """The quoting form: `docs/adr/0127-x.md › Decisão`.

        Examples:
            >>> Origin(place=Place("file", "docs/a.md"), heading_path=("Guia", "Uso")).citation
            'docs/a.md › Guia › Uso'
        """
        tail = self.heading_path
        if self.place.kind == "session" and self.event_id:
            tail = (self.event_id,)
        return " › ".join((str(self.place), *tail))


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A chunk that at least one signal returned, before fusion.

    `vector_score` is a cosine similarity in [-1, 1]; `lexical_score` depends on the lexical function and
    lies in [0, 1]. Score and rank of a signal are both given or both `None`.
    """

    chunk_id: str
    scope: Scope
    origin: Origin
    ordinal: int
    content_hash: str
    vector_score: float | None
    lexical_score: float | None
    vector_rank: int | None
    lexical_rank: int | None

    def __post_init__(self) -> None:
        for score, rank in (
            (self.vector_score, self.vector_rank),
            (self.lexical_score, self.lexical_rank),
        ):
            if (score is None) != (rank is None):
                raise ValueError("a signal's score and rank are given together or not at all")
            if score is not None and not math.isfinite(score):
                raise ValueError("a signal's score is finite")

    @property
    def tie_key(self) -> tuple[Place, int]:
        """Unique within a project, and the same after a reindex: place, then ordinal."""
        return (self.origin.place, self.ordinal)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingSettings:
    """The numbers that can be replayed over candidates already fetched.

    `threshold` None keeps everything; `threshold_when_degraded` stands in its place when the vector signal
    is not available (None: suspended). `max_per_file` None means no cap.
    """

    weight_vector: float
    weight_lexical: float
    threshold: float | None
    threshold_when_degraded: float | None = None
    candidates_per_signal: int = 20
    max_per_file: int | None = 2
    limit: int = 5
    fusion: Fusion = Fusion.WEIGHTED_SUM

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
        for name in ("candidates_per_signal", "max_per_file", "limit"):
            count = getattr(self, name)
            if count is not None and count < 1:
                raise InvalidInput(
                    f"The {_words(name)} is {count}; it is at least 1.", hint="Give 1 or more."
                )


def _words(name: str) -> str:
    """A field's name as its command line flag has it: `weight vector`, `max per file`."""
    return name.replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSettings:
    """What needs new SQL when it changes: scopes, depth, the lexical query and the embedding model.

    `fetch_depth` is how many candidates a signal returns; ranking cuts them again at
    `RankingSettings.candidates_per_signal`. `embedding_model` is the index's model id, None without one.
    """

    scopes: tuple[Scope, ...] = ALL_SCOPES
    fetch_depth: int = 20
    lexical_operator: LexicalOperator = LexicalOperator.ANY
    lexical_function: LexicalFunction = LexicalFunction.TS_RANK
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

    def to_json(self) -> dict[str, object]:
        """The contract's `settings` object; scopes stand beside it, not in it."""
        ranking = self.ranking
        return {
            "source": self.source,
            "preset": self.preset,
            "weightVector": ranking.weight_vector,
            "weightLexical": ranking.weight_lexical,
            "threshold": ranking.threshold,
            "thresholdWhenDegraded": ranking.threshold_when_degraded,
            "candidatesPerSignal": ranking.candidates_per_signal,
            "maxPerFile": ranking.max_per_file,
            "limit": ranking.limit,
            "fusion": str(ranking.fusion),
            "lexicalOperator": str(self.candidates.lexical_operator),
            "lexicalFunction": str(self.candidates.lexical_function),
            "embeddingModel": self.candidates.embedding_model,
            "fetchDepth": self.candidates.fetch_depth,
        }

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


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSet:
    """The union of both signals' candidates for one question, in no particular order.

    `vector_available` and `degraded` are two facts, never one derived from the other: a search with some
    vectors missing is degraded although its vector signal ran.
    """

    candidates: tuple[Candidate, ...]
    vector_available: bool
    degraded: bool
    degraded_reason: DegradedReason | None
    searchable_terms: int

    def __post_init__(self) -> None:
        keys = [candidate.tie_key for candidate in self.candidates]
        if len(set(keys)) != len(keys):
            raise ValueError("no chunk is a candidate twice")

    @property
    def vector_ran(self) -> bool:
        """Whether there was a vector to search with."""
        return self.vector_available

    @property
    def lexical_ran(self) -> bool:
        """Whether the question has a word to search for."""
        return self.searchable_terms > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCandidate:
    """A candidate after ranking: fused score, place in the whole set, rank among the hits, fate."""

    candidate: Candidate
    score: float
    whole_rank: int
    rank: int | None
    fate: Fate


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The outcome of one ranking: the whole set in order, the threshold that was in force, which signals were run."""

    whole_set: tuple[RankedCandidate, ...]
    threshold: float | None
    vector_ran: bool = True
    lexical_ran: bool = True

    @property
    def hits(self) -> tuple[RankedCandidate, ...]:
        """The survivors, best first; `rank` counts from 1 without gaps."""
        return tuple(entry for entry in self.whole_set if entry.fate is Fate.HIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of text that can be cited, before the database gives it an id."""

    scope: Scope
    origin: Origin
    ordinal: int
    content: str

    @property
    def content_hash(self) -> str:
        """SHA-256 of the content, 64 hex digits."""
        return hashlib.sha256(self.content.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingChunk:
    """A row of the index without its text. `embedding_model` None: it has no vector."""

    id: UUID
    scope: Scope
    origin: Origin
    ordinal: int
    content_hash: str
    embedding_model: str | None

    @property
    def position(self) -> tuple[Scope, Origin, int]:
        """All that a move can change."""
        return (self.scope, self.origin, self.ordinal)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """What made a vector. Two vectors may be compared only when their models' ids are equal.

    `digest` identifies the weights, `prefixes` the version of the task prefixes put before each text.
    """

    provider: Literal["ollama", "embedded"]
    name: str
    digest: str
    prefixes: str

    @property
    def id(self) -> str:
        """E.g. `ollama/nomic-embed-text@0a109f422b47+search-v1`."""
        return f"{self.provider}/{self.name}@{self.digest}+{self.prefixes}"

    @classmethod
    def parse(cls, text: str) -> "EmbeddingModel":
        """The inverse of `id`.

        Raises:
            ValueError: The text has another form.
        """
        provider, _, rest = text.partition("/")
        name, _, tail = rest.rpartition("@")
        digest, _, prefixes = tail.partition("+")
        if provider not in ("ollama", "embedded") or not (name and digest and prefixes):
            raise ValueError(f"not an embedding model's id: {text!r}")
        return cls(provider=provider, name=name, digest=digest, prefixes=prefixes)


def canonical_digest(value: Mapping[str, object]) -> str:
    """SHA-256 of a JSON object in one canonical spelling, 64 hex digits."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
