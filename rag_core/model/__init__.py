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
from rag_core.model.chunks import EMBEDDING_DIMENSIONS, Chunk, EmbeddingModel, StandingChunk, is_of_family
from rag_core.model.folders import DocumentFolders
from rag_core.model.project import Project
from rag_core.model.run import Run, RunError, RunKind, RunProgress, RunState
from rag_core.model.settings import (
    CandidateSettings,
    Fusion,
    LexicalFunction,
    LexicalOperator,
    LexicalWay,
    RankingSettings,
    SearchSettings,
)
from rag_core.model.window import Window
from rag_core.model.words import (
    ALL_SCOPES,
    DOCUMENT_SCOPES,
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
    "DOCUMENT_SCOPES",
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
    "LexicalWay",
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
    "Window",
    "canonical_digest",
    "is_of_family",
]
