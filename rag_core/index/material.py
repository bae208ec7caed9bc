"""What a project's sources hold now, cut into chunks."""

from dataclasses import dataclass

from rag_core.chunking import chunk_message, cut_document
from rag_core.database.connections import Database
from rag_core.database.index.sessions import list_sessions, read_messages
from rag_core.errors import UsageError
from rag_core.index.left_out import Outside
from rag_core.model import DOCUMENT_SCOPES, Chunk, Project, Scope
from rag_core.project.runs import Progress
from rag_core.sources.documents import (
    DocumentTree,
    FileNote,
    SkippedFile,
    list_documents_outside,
    read_documents,
)
from rag_core.sources.project_repository import repository_of
from rag_core.words.languages import told_unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a run is to cover: some scopes, or one session; `ref` names the commit of the documents."""

    scopes: tuple[Scope, ...]
    session_id: str | None
    ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """All chunks of a target, by place and ordinal. `sources` counts all files or sessions there are, by scope.

    `notes` are of files that are indexed. `outside` is given where documents were looked for and none was found.
    """

    tree: DocumentTree | None
    chunks: tuple[Chunk, ...]
    sources: dict[Scope, int]
    notes: tuple[FileNote, ...]
    outside: Outside | None

    @property
    def skipped(self) -> tuple[SkippedFile, ...]:
        """The files that were not read."""
        return self.tree.skipped if self.tree else ()

    def chunk_count(self, scope: Scope) -> int:
        """How many of the chunks are of that scope."""
        return sum(chunk.scope is scope for chunk in self.chunks)


def read_material(database: Database, project: Project, target: Target, progress: Progress) -> Material:
    """Read and cut everything that the target covers.

    Raises:
        UsageError: The repository, the ref or the session does not exist.
        Unavailable: There is no git, or it can't read the repository.
    """
    sources = dict.fromkeys(target.scopes, 0)
    tree: DocumentTree | None = None
    chunks: list[Chunk] = []
    notes: list[FileNote] = []
    if not set(target.scopes).isdisjoint(DOCUMENT_SCOPES):
        progress("read", 0, 0)
        tree = read_documents(
            repository_of(project), ref=target.ref, root=project.root, folders=project.folders
        )
        wanted = [document for document in tree.documents if document.scope in target.scopes]
        notes.extend(tree.notes)
        for done, document in enumerate(wanted):
            progress("chunk", done, len(wanted))
            sources[document.scope] += 1
            cut = cut_document(
                document.text, place=document.place, scope=document.scope, language=project.language
            )
            chunks.extend(cut.chunks)
            if cut.unknown_language is not None:
                note = told_unknown(cut.unknown_language)
                notes.append(FileNote(path=document.path, scope=document.scope, note=note))
    if Scope.SESSION in target.scopes:
        count, spoken = _read_sessions(database, project, target.session_id)
        sources[Scope.SESSION] = count
        chunks.extend(spoken)
    outside = _outside(project, target) if tree is not None and not tree.documents else None
    return Material(tree=tree, chunks=tuple(chunks), sources=sources, notes=tuple(notes), outside=outside)


def require_session(database: Database, project_id: str, session_id: str) -> None:
    """Refuse a session that was never imported.

    Raises:
        UsageError: The project has none of that id.
    """
    with database.connection() as connection:
        known = list_sessions(connection, project_id)
    if session_id not in known:
        raise UsageError(
            f"The project {project_id} has no session {session_id!r}.",
            hint="Import it first: medir sessions import FILE.",
        )


def _read_sessions(database: Database, project: Project, session_id: str | None) -> tuple[int, list[Chunk]]:
    with database.connection() as connection:
        known = list_sessions(connection, project.project_id)
        messages = read_messages(connection, project.project_id, session_id)
    chunks: list[Chunk] = []
    ordinals: dict[str, int] = {}
    for message in messages:
        first = ordinals.get(message.session_id, 0)
        spoken = chunk_message(
            message.text,
            session_id=message.session_id,
            event_id=message.event_id,
            title=message.title,
            first_ordinal=first,
            language=project.language,
        )
        ordinals[message.session_id] = first + len(spoken)
        chunks.extend(spoken)
    return len(known), chunks


def _outside(project: Project, target: Target) -> Outside:
    return Outside.of(
        list_documents_outside(
            repository_of(project), ref=target.ref, root=project.root, folders=project.folders
        )
    )
