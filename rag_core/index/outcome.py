"""What an index run says of itself."""

from dataclasses import dataclass
from typing import Literal, TypedDict
from uuid import UUID

from rag_core.index.left_out import Outside
from rag_core.model import Scope
from rag_core.model.shape import Shape, keyed

IndexMode = Literal["full", "incremental"]


class IndexAsked(TypedDict, total=False):
    """How an index run may be asked for; `Indexing.run` says what each of it means."""

    mode: IndexMode
    scopes: tuple[Scope, ...]
    session_id: str | None
    ref: str | None
    dry_run: bool
    allow_vote_loss: bool
    allow_emptied: bool
    run_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingReport(Shape):
    """What became of the chunks' vectors, counted in chunks: `embedded + reused + skipped` is all of them.

    `available` is false when the provider failed; `reason` says why any chunk is without a vector.
    """

    available: bool
    embedded: int
    reused: int
    skipped: int
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeReport(Shape):
    """How the rows changed, counted in chunks. A moved chunk kept its id, vector and votes."""

    kept: int
    moved: int
    added: int
    removed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexReport:
    """What an index run read, made and left out. `counts` holds sources and chunks by scope.

    `outside` are the documents elsewhere in the repository, given where the run found no document at all.
    """

    run_id: str
    mode: IndexMode
    dry_run: bool
    commit: str | None
    counts: dict[Scope, tuple[int, int]]
    embedding: EmbeddingReport
    changes: ChangeReport
    skipped: tuple[dict[str, object], ...]
    notes: tuple[dict[str, object], ...]
    votes_lost: int
    outside: Outside | None = None

    @property
    def complete(self) -> bool:
        """Whether everything that should have been indexed was, with its vector."""
        return self.embedding.skipped == 0 and all(entry["byRule"] for entry in self.skipped)

    def to_json(self) -> dict[str, object]:
        """The contract's index run."""
        outside = {} if self.outside is None else keyed(self, "outside")
        scopes = {
            str(scope): {f"{scope.holds}s": sources, "chunks": chunks}
            for scope, (sources, chunks) in self.counts.items()
        }
        found = keyed(self, "run_id", "mode", "dry_run", "commit") | {"scopes": scopes}
        return outside | found | keyed(self, "embedding", "changes", "skipped", "notes", "votes_lost")
