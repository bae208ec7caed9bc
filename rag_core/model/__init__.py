"""The words of the product as frozen values. Nothing here touches a database, a clock or the network."""

from rag_core.model.candidates import (
    Candidate,
    CandidateSet,
    DegradedReason,
    Fate,
    RankedCandidate,
    Ranking,
    Timings,
)
from rag_core.model.chunks import EMBEDDING_DIMENSIONS, Chunk, EmbeddingModel, StandingChunk
from rag_core.model.folders import DocumentFolders
from rag_core.model.project import Project
from rag_core.model.run import Run, RunError, RunKind, RunProgress, RunState
from rag_core.model.settings import (
    CandidateSettings,
    Fusion,
    LexicalFunction,
    LexicalOperator,
    RankingSettings,
    SearchSettings,
)
from rag_core.model.words import (
    ALL_SCOPES,
    Actor,
    ActorKind,
    Origin,
    Place,
    Role,
    Scope,
    Surface,
    canonical_digest,
)

__all__ = [
    "ALL_SCOPES",
    "EMBEDDING_DIMENSIONS",
    "Actor",
    "ActorKind",
    "Candidate",
    "CandidateSet",
    "CandidateSettings",
    "Chunk",
    "DegradedReason",
    "DocumentFolders",
    "EmbeddingModel",
    "Fate",
    "Fusion",
    "LexicalFunction",
    "LexicalOperator",
    "Origin",
    "Place",
    "Project",
    "RankedCandidate",
    "Ranking",
    "RankingSettings",
    "Role",
    "Run",
    "RunError",
    "RunKind",
    "RunProgress",
    "RunState",
    "Scope",
    "SearchSettings",
    "StandingChunk",
    "Surface",
    "Timings",
    "canonical_digest",
]
