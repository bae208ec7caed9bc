"""What an index run says of itself."""

from dataclasses import dataclass
from typing import Literal

from rag_core.index.left_out import Outside
from rag_core.model import Scope

IndexMode = Literal["full", "incremental"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingReport:
    """What became of the chunks' vectors, counted in chunks: `embedded + reused + skipped` is all of them.

    `available` is false when the provider failed; `reason` says why any chunk is without a vector.
    """

    available: bool
    embedded: int
    reused: int
    skipped: int
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeReport:
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
        outside: dict[str, object] = {} if self.outside is None else {"outside": self.outside.to_json()}
        return outside | {
            "runId": self.run_id,
            "mode": self.mode,
            "dryRun": self.dry_run,
            "commit": self.commit,
            "scopes": {
                str(scope): {f"{scope.holds}s": sources, "chunks": chunks}
                for scope, (sources, chunks) in self.counts.items()
            },
            "embedding": {
                "available": self.embedding.available,
                "embedded": self.embedding.embedded,
                "reused": self.embedding.reused,
                "skipped": self.embedding.skipped,
                "reason": self.embedding.reason,
            },
            "changes": {
                "kept": self.changes.kept,
                "moved": self.changes.moved,
                "added": self.changes.added,
                "removed": self.changes.removed,
            },
            "skipped": list(self.skipped),
            "notes": list(self.notes),
            "votesLost": self.votes_lost,
        }
