"""A search's answer as a value, and its form in JSON. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_core.model import (
    Candidate,
    CandidateSet,
    Fate,
    Origin,
    RankedCandidate,
    Ranking,
    Scope,
    SearchSettings,
    Timings,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedChunk:
    """A chunk of the place that was asked about.

    `entry` is its line in the whole set, None when it was in neither signal's list. Positions are exact and
    as deep as the index, None where a signal does not have the chunk at all.
    """

    chunk_id: str
    scope: Scope
    origin: Origin
    ordinal: int
    content_hash: str
    entry: RankedCandidate | None
    vector_position: int | None
    lexical_position: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Every chunk of one place, by ordinal; empty when the place is not indexed."""

    place: str
    chunks: tuple[ExplainedChunk, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """All that one search found. `search_id` None: nothing to attach a vote to, and `not_recorded` says why.

    `contents` holds the texts of the hits by chunk id. `provider_reason` says in a sentence why the question
    has no vector, `settings_problem` why the project's `settings.yaml` is not heeded. `notice` is
    `noSearchableTerms` or `notIndexed`.
    """

    search_id: str | None
    project_id: str
    question: str
    settings: SearchSettings
    found: CandidateSet
    ranking: Ranking
    contents: Mapping[str, str]
    timings: Timings
    provider_reason: str | None
    notice: str | None
    explanation: Explanation | None
    settings_problem: str | None = None
    not_recorded: str | None = None

    def to_json(self, *, whole_set: bool = False) -> dict[str, object]:
        """The contract's search object; `wholeSet` only when asked for."""
        answer: dict[str, object] = {
            "searchId": self.search_id,
            "projectId": self.project_id,
            "question": self.question,
            "scopes": [str(scope) for scope in self.settings.candidates.scopes],
            "vectorAvailable": self.found.vector_available,
            "degraded": self.found.degraded,
            "degradedReason": None if self.found.degraded_reason is None else str(self.found.degraded_reason),
            "threshold": self.ranking.threshold,
            "settings": self.settings.to_json(),
            "timings": {
                "embedMs": self.timings.embed_ms,
                "vectorMs": self.timings.vector_ms,
                "lexicalMs": self.timings.lexical_ms,
                "rankMs": self.timings.rank_ms,
                "totalMs": self.timings.total_ms,
            },
            "hits": hits_to_json(self.ranking.hits, self.contents),
        }
        if self.notice is not None:
            answer["notice"] = self.notice
        if self.provider_reason is not None:
            answer["providerReason"] = self.provider_reason
        if self.settings_problem is not None:
            answer["settingsProblem"] = self.settings_problem
        if self.not_recorded is not None:
            answer["notRecorded"] = self.not_recorded
        if whole_set:
            answer["wholeSet"] = [ranked_to_json(entry) for entry in self.ranking.whole_set]
        if self.explanation is not None:
            answer["explanation"] = {
                "place": self.explanation.place,
                "chunks": [_explained_to_json(chunk) for chunk in self.explanation.chunks],
            }
        return answer


def hits_to_json(
    hits: Sequence[RankedCandidate], contents: Mapping[str, str] | None
) -> list[dict[str, object]]:
    """Hits in rank order; without `content` where `contents` is None."""
    shown: list[dict[str, object]] = []
    for hit in hits:
        entry: dict[str, object] = {"rank": hit.rank, "chunkId": hit.candidate.chunk_id}
        if contents is not None:
            entry["content"] = contents[hit.candidate.chunk_id]
        shown.append(entry | {"score": hit.score} | _scores(hit.candidate) | _source(hit.candidate))
    return shown


def golden_hits_to_json(hits: Sequence[RankedCandidate]) -> list[dict[str, object]]:
    """A golden run's hits: without `content`, with `contentHash`, which a later run is explained by."""
    return [
        told | {"contentHash": hit.candidate.content_hash}
        for told, hit in zip(hits_to_json(hits, None), hits, strict=True)
    ]


def ranked_to_json(entry: RankedCandidate) -> dict[str, object]:
    """The contract's `candidate`."""
    candidate = entry.candidate
    return (
        {"rank": entry.rank, "chunkId": candidate.chunk_id, "score": entry.score}
        | _scores(candidate)
        | _source(candidate)
        | {
            "ordinal": candidate.ordinal,
            "contentHash": candidate.content_hash,
            "wholeRank": entry.whole_rank,
            "vectorRank": candidate.vector_rank,
            "lexicalRank": candidate.lexical_rank,
            "fate": str(entry.fate),
        }
    )


def origin_to_json(origin: Origin) -> dict[str, object]:
    """The contract's `origin`, a union told apart by `kind`."""
    if origin.place.kind == "session":
        found: dict[str, object] = {"kind": "session", "sessionId": origin.place.key}
        if origin.event_id is not None:
            found["eventId"] = origin.event_id
    else:
        found = {"kind": "file", "sourcePath": origin.place.key}
        if origin.heading_path:
            found["headingPath"] = list(origin.heading_path)
    if origin.title is not None:
        found["title"] = origin.title
    return found


def _explained_to_json(chunk: ExplainedChunk) -> dict[str, object]:
    positions: dict[str, object] = {
        "vectorPosition": chunk.vector_position,
        "lexicalPosition": chunk.lexical_position,
    }
    if chunk.entry is not None:
        return ranked_to_json(chunk.entry) | positions
    return {
        "rank": None,
        "chunkId": chunk.chunk_id,
        "score": None,
        "vectorScore": None,
        "lexicalScore": None,
        "scope": str(chunk.scope),
        "origin": origin_to_json(chunk.origin),
        "citation": chunk.origin.citation,
        "ordinal": chunk.ordinal,
        "contentHash": chunk.content_hash,
        "wholeRank": None,
        "vectorRank": None,
        "lexicalRank": None,
        "fate": str(Fate.CANDIDATES),
    } | positions


def _scores(candidate: Candidate) -> dict[str, object]:
    return {"vectorScore": candidate.vector_score, "lexicalScore": candidate.lexical_score}


def _source(candidate: Candidate) -> dict[str, object]:
    return {
        "scope": str(candidate.scope),
        "origin": origin_to_json(candidate.origin),
        "citation": candidate.origin.citation,
    }
