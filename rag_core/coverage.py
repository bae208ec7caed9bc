"""What of a project's sources is in its index, and whether that index is of today."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rag_core.database.chunks import indexed_places
from rag_core.database.connections import Database
from rag_core.database.index_identity import ScopeState, count_chunks, read_scope_states
from rag_core.database.projects import Project
from rag_core.database.sessions import list_sessions
from rag_core.errors import MedirError
from rag_core.model import ALL_SCOPES, Place, Scope
from rag_core.projects import current_commit
from rag_core.sources.documents import SkipReason, list_markdown, scope_of
from rag_core.sources.git import GitRepository


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeCoverage:
    """One scope: `sources` are Markdown files of the repository, or sessions; `indexed` those with chunks.

    `sources` is None where the repository can't be read. `skipped` counts Markdown files that the last run left
    out, with their reasons in `skipped_files`.
    """

    scope: Scope
    sources: int | None
    indexed: int
    chunks: int
    without_vector: int
    skipped_files: tuple[dict[str, str], ...]
    indexed_at: datetime | None
    commit: str | None

    def to_json(self) -> dict[str, object]:
        """The contract's entry of that scope."""
        counts: dict[str, object] = {
            "indexed": self.indexed,
            "chunks": self.chunks,
            "withoutVector": self.without_vector,
        }
        indexed_at = self.indexed_at.isoformat() if self.indexed_at else None
        if self.scope is Scope.SESSION:
            return {"sessions": self.sources} | counts | {"indexedAt": indexed_at}
        return (
            {"inRepository": self.sources}
            | counts
            | {"skipped": len(self.skipped_files), "indexedAt": indexed_at, "commit": self.commit}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """A project's index against its sources.

    `commit` is what was indexed, `head_commit` the last one that touched the project's folder, None where the
    repository can't be read; `problem` then says why.
    """

    project_id: str
    commit: str | None
    head_commit: str | None
    scopes: tuple[ScopeCoverage, ...]
    problem: str | None

    @property
    def moved(self) -> bool:
        """Whether the repository has moved on since the index was made."""
        return self.head_commit is not None and self.commit != self.head_commit

    def to_json(self) -> dict[str, object]:
        """The contract's coverage."""
        return {
            "project": self.project_id,
            "commit": self.commit,
            "headCommit": self.head_commit,
            "moved": self.moved,
            "scopes": {str(scope.scope): scope.to_json() for scope in self.scopes},
        }


def measure_coverage(database: Database, project: Project) -> Coverage:
    """Compare the index with the repository and the sessions as they are now.

    Raises:
        DatabaseUnavailable: The database does not answer.
    """
    problem: str | None = None
    head: str | None = None
    files: frozenset[str] | None = None
    try:
        head = current_commit(project)
        files = list_markdown(GitRepository(Path(project.repo)), ref=project.ref, root=project.root)
    except MedirError as error:
        problem = f"{error.message} {error.hint}".strip()
    with database.snapshot() as connection:
        states = read_scope_states(connection, project.project_id)
        places = indexed_places(connection, project.project_id)
        sessions = len(list_sessions(connection, project.project_id))
        counts = {scope: count_chunks(connection, project.project_id, (scope,)) for scope in ALL_SCOPES}
    scopes = tuple(
        _scope_coverage(
            scope,
            sources=sessions if scope is Scope.SESSION else _count_files(files, scope),
            places=places,
            counts=counts[scope],
            state=states.get(scope),
        )
        for scope in ALL_SCOPES
    )
    indexed = next((scope.commit for scope in scopes if scope.commit), None)
    return Coverage(
        project_id=project.project_id, commit=indexed, head_commit=head, scopes=scopes, problem=problem
    )


def _count_files(files: frozenset[str] | None, scope: Scope) -> int | None:
    return None if files is None else sum(scope_of(path) is scope for path in files)


def _scope_coverage(
    scope: Scope,
    *,
    sources: int | None,
    places: dict[Place, Scope],
    counts: tuple[int, int],
    state: ScopeState | None,
) -> ScopeCoverage:
    skipped = state.skipped if state else []
    return ScopeCoverage(
        scope=scope,
        sources=sources,
        indexed=sum(found is scope for found in places.values()),
        chunks=counts[0],
        without_vector=counts[1],
        skipped_files=tuple(entry for entry in skipped if entry["reason"] != SkipReason.NOT_MARKDOWN),
        indexed_at=state.indexed_at if state else None,
        commit=state.commit if state else None,
    )
