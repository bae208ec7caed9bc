"""What the API answers, for its OpenAPI document; the answers themselves are made by the core's values.

A field with a default may be left out, as in the contract.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from medir.contract.asked import ScopeName


class _Answer(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True)


class Status(_Answer):
    """A state in a word."""

    status: str = Field(examples=["ok"])


class ProblemDocument(_Answer):
    """An error, as in RFC 9457. `hint` says what to do; `type` is an address where its meaning can be read."""

    type: str = Field(examples=["/api/problems/votes-at-risk"])
    title: str = Field(examples=["Votes would be lost"])
    status: int = Field(examples=[409])
    detail: str = Field(examples=["This run would delete 3 votes."])
    hint: str = Field(examples=["Send confirmVotesLost: true to lose them, or leave the index as it is."])
    request_id: str = Field(examples=["5f0c2a9f7d4e4b6f8a1d3c5b7e9f1a2b"])
    code: str | None = Field(default=None, description="The core's name of the error.")
    where: dict[str, str | int] | None = Field(default=None, description="The place in the request.")
    votes: int | None = Field(default=None, description="How many votes would be lost.")


class ProblemMeaning(_Answer):
    """What a `type` means."""

    type: str
    title: str
    status: int
    meaning: str


class FileOrigin(_Answer):
    """A passage of a document."""

    kind: Literal["file"]
    source_path: str
    heading_path: list[str] | None = None
    title: str | None = None


class SessionOrigin(_Answer):
    """A passage of a session."""

    kind: Literal["session"]
    session_id: str
    event_id: str | None = None
    title: str | None = None


Origin = Annotated[FileOrigin | SessionOrigin, Field(discriminator="kind")]


class Hit(_Answer):
    """A passage that was found. A signal that did not find it has null for its score, never 0."""

    rank: int
    chunk_id: str
    content: str
    score: float
    vector_score: float | None
    lexical_score: float | None
    scope: ScopeName
    origin: Origin
    citation: str


class Settings(_Answer):
    """The numbers that a search ran under."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, extra="allow")

    source: str
    preset: str | None
    weight_vector: float
    weight_lexical: float
    threshold: float | None
    threshold_when_degraded: float | None
    candidates_per_signal: int
    max_per_file: int | None
    limit: int
    fusion: str
    lexical_operator: str
    lexical_function: str
    embedding_model: str | None


class Timings(_Answer):
    """Where the time went, in milliseconds."""

    embed_ms: float
    vector_ms: float
    lexical_ms: float
    rank_ms: float
    total_ms: float


class SearchAnswer(_Answer):
    """A search's answer. `searchId` null: it was not recorded, and there is nothing to attach a vote to."""

    search_id: str | None
    project_id: str
    question: str
    scopes: list[ScopeName]
    vector_available: bool
    degraded: bool
    degraded_reason: str | None
    threshold: float | None
    settings: Settings
    timings: Timings
    hits: list[Hit]
    notice: str | None = None
    provider_reason: str | None = None
    settings_problem: str | None = None


class VoteAnswer(_Answer):
    """A vote as it stands. `changed`: the same caller had said otherwise about this hit before."""

    search_id: str
    chunk_id: str
    verdict: Literal["util", "irrelevante"]
    rank: int
    changed: bool


class RunAccepted(_Answer):
    """An index run that has begun."""

    run_id: str


class Progress(_Answer):
    """How far a run is; empty before its first step."""

    step: str | None = None
    done: int | None = None
    total: int | None = None


class RunError(_Answer):
    """Why a run did not end well."""

    code: str
    message: str
    hint: str


class RunAnswer(_Answer):
    """An index run. `result` is null until it has ended well: then as `medir index --json` prints it."""

    run_id: str
    state: Literal["waiting", "running", "done", "failed", "cancelled", "interrupted"]
    actor: str | None
    started_at: str | None
    finished_at: str | None
    progress: Progress
    result: dict[str, object] | None
    error: RunError | None


class DocumentCoverage(_Answer):
    """Documents or decisions: `inRepository` is null where the repository can't be read.

    `skipped` counts the files that the last run did not index, `skippedByRule` those of them that a rule leaves out;
    the others could not be indexed.
    """

    in_repository: int | None
    indexed: int
    chunks: int
    without_vector: int
    skipped: int
    skipped_by_rule: int
    indexed_at: str | None
    commit: str | None


class SessionCoverage(_Answer):
    """Sessions."""

    sessions: int | None
    indexed: int
    chunks: int
    without_vector: int
    indexed_at: str | None


class CoverageScopes(_Answer):
    """Each scope."""

    docs: DocumentCoverage
    adr: DocumentCoverage
    session: SessionCoverage


class MarkdownOutside(_Answer):
    """Markdown files of the repository in none of the project's folders: how many, and the first few."""

    files: int
    examples: list[str]


class CoverageAnswer(_Answer):
    """What of the sources is in the index. `moved`: the repository has commits that the index has not seen.

    `outside` is null where the repository can't be read.
    """

    project: str
    commit: str | None
    head_commit: str | None
    moved: bool
    scopes: CoverageScopes
    outside: MarkdownOutside | None


class Verdict(_Answer):
    """It fails for one thing only: the vector signal was away in every search of the window."""

    passed: bool
    measured: bool
    reason: str


class Precision(_Answer):
    """Useful votes over all votes at rank k or better; null where nothing was judged."""

    value: float | None
    useful: int
    votes: int
    judged_hits: int
    low: float | None
    high: float | None


class Percentiles(_Answer):
    """Milliseconds; p95 needs 20 searches, p99 a hundred."""

    n: int
    p50: float | None
    p95: float | None
    p99: float | None
    why: str | None = None


class Part(_Answer):
    """One key of a split."""

    key: str
    searches: int
    degraded: int
    no_hit: int
    precision: dict[str, Precision]
    latency: dict[str, Percentiles]


class RankVotes(_Answer):
    """Votes on hits of one rank."""

    rank: int
    votes: int


class MixedSettings(_Answer):
    """Settings that some of the window's searches ran under."""

    settings_id: str
    settings: dict[str, object]
    searches: int
    from_: str = Field(alias="from")
    to: str


class ReportAnswer(_Answer):
    """The `medir:rag` report of a window."""

    project: str
    from_: str = Field(alias="from")
    to: str
    verdict: Verdict
    searches: int
    degraded: int
    no_hit: int
    vector_unavailable: int
    precision: dict[str, Precision]
    ranks: dict[str, list[RankVotes]]
    latency: dict[str, Percentiles]
    judged_share: float | None
    mixed_settings: list[MixedSettings]
    splits: dict[str, list[Part]]
    synthetic: bool | None = None
    time_zone: str | None = None


class RecordedHit(_Answer):
    """A hit as it was shown; the last three are null where a reindex has removed its chunk since."""

    rank: int
    chunk_id: str
    score: float
    vector_score: float | None
    lexical_score: float | None
    origin: Origin | None
    citation: str | None


class RecordedVote(_Answer):
    """A vote on a hit; `actor` is `kind:id`."""

    chunk_id: str
    rank: int
    verdict: Literal["util", "irrelevante"]
    actor: str
    updated_at: str


class RecordedSearchAnswer(_Answer):
    """A search as it was recorded, with the votes on its hits."""

    search_id: str
    project_id: str
    question: str
    asked_at: str
    degraded: bool
    degraded_reason: str | None
    settings: dict[str, object]
    hits: list[RecordedHit]
    votes: list[RecordedVote]
