"""What of a project's sources is in its index, and whether that index is of today."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from rag_core.chunking import FORMAT_NAMES
from rag_core.database.connecting import Connection
from rag_core.database.connections import Database
from rag_core.database.index.chunks import indexed_places
from rag_core.database.index.contents import sessions_by_state
from rag_core.database.index.identity import ScopeState, count_chunks, read_identity, read_scope_states
from rag_core.errors import MedirError
from rag_core.index.left_out import LeftOut, Outside
from rag_core.model import ALL_SCOPES, Project, Scope
from rag_core.model.languages import language_of
from rag_core.project.projects import current_commit, words_changed
from rag_core.sources.documents import SkipReason, list_documents, list_documents_outside
from rag_core.sources.project_repository import repository_of

SKIPS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        SkipReason.ENCODING: ("no encoding fits its bytes", "Save it as UTF-8."),
        SkipReason.TOO_LARGE: ("over 2 MB", "Split it."),
        SkipReason.UNREADABLE: ("git can't read it", "Check the repository: git fsck."),
        SkipReason.NAME: ("its path is too long, or can't be told from another's", "Rename it."),
        SkipReason.LFS_POINTER: ("an LFS pointer, not the text", ""),
        SkipReason.SYMLINK: ("a symbolic link, never followed", ""),
        SkipReason.SUBMODULE: ("another repository's", ""),
        SkipReason.NOT_MARKDOWN: (f"no {FORMAT_NAMES}", ""),
    }
)
"""Why a file is left out, in words, and what to do about it; empty where that is as it should be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceParts:
    """What became of the sources that stand there now, in counts that add up to all of them.

    `covered` have their text in the index; `without_text` hold nothing to index; `faulty` could not be indexed by the
    last run; `pointers` are left out by rule, since their text is elsewhere (LFS); `waiting` no run has read, or not
    to their end.
    """

    covered: int
    without_text: int
    faulty: int
    pointers: int
    waiting: int

    @property
    def total(self) -> int:
        """All sources."""
        return self.covered + self.without_text + self.faulty + self.pointers + self.waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeCoverage:
    """One scope: `sources` are documents of the repository, or sessions; `indexed` those with chunks.

    `sources` and `parts` are None where the repository can't be read. `skipped_files` are all files that the last run
    skipped, with their reasons, `notes` what is to be known of others. `gone` counts indexed places
    that the repository does not have any more.
    """

    scope: Scope
    sources: int | None
    parts: SourceParts | None
    gone: int
    indexed: int
    chunks: int
    without_vector: int
    skipped_files: tuple[dict[str, object], ...]
    notes: tuple[dict[str, object], ...]
    indexed_at: datetime | None
    commit: str | None

    @property
    def left_out(self) -> LeftOut:
        """The skipped files in their two kinds."""
        return LeftOut.of(self.skipped_files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """A project's index against its sources.

    `commit` is what was indexed, `head_commit` the last one that touched the project's folder, None where the
    repository can't be read; `problem` then says why. `outside` is None there too. `language` is the project's,
    `index_language` the one that the index was made in; `words_changed` says why the index must be made anew for its
    words, None where it need not.
    """

    project_id: str
    commit: str | None
    head_commit: str | None
    scopes: tuple[ScopeCoverage, ...]
    problem: str | None
    outside: Outside | None
    language: str
    index_language: str | None
    words_changed: str | None

    @property
    def left_out(self) -> LeftOut:
        """The skipped files of all scopes in their two kinds."""
        return LeftOut.of(entry for scope in self.scopes for entry in scope.skipped_files)

    @property
    def moved(self) -> bool:
        """Whether the repository has moved on since any of its scopes was indexed; true before the first run."""
        commits = {scope.commit for scope in self.scopes if scope.commit is not None}
        return self.head_commit is not None and commits != {self.head_commit}


def measure_coverage(database: Database, project: Project) -> Coverage:
    """Compare the index with the repository and the sessions as they are now.

    Raises:
        DatabaseUnavailable: The database does not answer.
    """
    problem: str | None = None
    head: str | None = None
    files: frozenset[str] | None = None
    outside: Outside | None = None
    try:
        head = current_commit(project)
        repository = repository_of(project)
        files = list_documents(repository, ref=project.ref, root=project.root, folders=project.folders)
        outside = Outside.of(
            list_documents_outside(repository, ref=project.ref, root=project.root, folders=project.folders)
        )
    except MedirError as error:
        problem = f"{error.message} {error.hint}".strip()
    with database.snapshot() as connection:
        identity = read_identity(connection, project.project_id)
        states = read_scope_states(connection, project.project_id)
        places = indexed_places(connection, project.project_id)
        sessions = _session_parts(connection, project.project_id)
        counts = {scope: count_chunks(connection, project.project_id, (scope,)) for scope in ALL_SCOPES}
    scopes = tuple(
        _scope_coverage(
            scope,
            sessions=sessions,
            files=None
            if files is None
            else {path for path in files if project.folders.scope_of(path) is scope},
            indexed={place.key for place, found in places.items() if found is scope},
            counts=counts[scope],
            state=states.get(scope),
        )
        for scope in ALL_SCOPES
    )
    indexed = next((scope.commit for scope in scopes if scope.commit), None)
    return Coverage(
        project_id=project.project_id,
        commit=indexed,
        head_commit=head,
        scopes=scopes,
        problem=problem,
        outside=outside,
        language=project.language,
        index_language=language_of(identity.text_search_config) if identity else None,
        words_changed=words_changed(project, identity),
    )


def _session_parts(connection: Connection, project_id: str) -> SourceParts:
    covered, without_text, waiting = sessions_by_state(connection, project_id)
    return SourceParts(covered=covered, without_text=without_text, faulty=0, pointers=0, waiting=waiting)


def _file_parts(
    files: set[str], indexed: set[str], skipped: list[dict[str, object]], state: ScopeState | None
) -> SourceParts:
    faulty = files & {str(entry["path"]) for entry in LeftOut.of(skipped).faulty}
    pointers = files & {entry["path"] for entry in skipped if entry["reason"] == SkipReason.LFS_POINTER}
    unread = files - indexed - faulty - pointers
    # a run that read a file and made no chunk of it left only a count behind
    without_text = min(len(unread), max(0, state.files - len(indexed))) if state else 0
    return SourceParts(
        covered=len(files & indexed - faulty - pointers),
        without_text=without_text,
        faulty=len(faulty),
        pointers=len(pointers),
        waiting=len(unread) - without_text,
    )


def _scope_coverage(
    scope: Scope,
    *,
    sessions: SourceParts,
    files: set[str] | None,
    indexed: set[str],
    counts: tuple[int, int],
    state: ScopeState | None,
) -> ScopeCoverage:
    skipped = state.skipped if state else []
    parts = sessions if scope.holds == "session" else None
    if parts is None and files is not None:
        parts = _file_parts(files, indexed, skipped, state)
    return ScopeCoverage(
        scope=scope,
        sources=parts and parts.total,
        parts=parts,
        gone=len(indexed - files) if scope.holds == "file" and files is not None else 0,
        indexed=len(indexed),
        chunks=counts[0],
        without_vector=counts[1],
        skipped_files=tuple(skipped),
        notes=tuple(state.notes) if state else (),
        indexed_at=state.indexed_at if state else None,
        commit=state.commit if state else None,
    )
