"""A project's Markdown, read in one walk of its repository's tree, and what was left out with its reason."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from rag_core.model import Place, Scope
from rag_core.sources.decoding import MAX_BYTES, Undecodable, decode, is_lfs_pointer
from rag_core.sources.git import GitRepository, TreeEntry

DOCS_PREFIX = "docs/"
ADR_PREFIX = "docs/adr/"


class SkipReason(StrEnum):
    """Why a file is not in the index. The first four are by rule; the others should have been indexed."""

    SYMLINK = "symlink"
    SUBMODULE = "submodule"
    LFS_POINTER = "lfsPointer"
    NOT_MARKDOWN = "notMarkdown"
    ENCODING = "encoding"
    TOO_LARGE = "tooLarge"
    UNREADABLE = "unreadable"
    NAME = "name"

    @property
    def by_rule(self) -> bool:
        """Whether the file is left out on purpose, which is no failure."""
        return self in (
            SkipReason.SYMLINK,
            SkipReason.SUBMODULE,
            SkipReason.LFS_POINTER,
            SkipReason.NOT_MARKDOWN,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A Markdown file's text, decoded and cleaned."""

    path: str
    scope: Scope
    text: str

    @property
    def place(self) -> Place:
        """The file, as golden cases name it."""
        return Place("file", self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedFile:
    """A file under `docs/` that is not indexed."""

    path: str
    scope: Scope
    reason: SkipReason


@dataclass(frozen=True, slots=True, kw_only=True)
class FileNote:
    """Something about an indexed file that its owner should know."""

    path: str
    scope: Scope
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentTree:
    """One walk: `commit` is the last one that touched the project's folder."""

    commit: str
    documents: tuple[Document, ...]
    skipped: tuple[SkippedFile, ...]
    notes: tuple[FileNote, ...]


def read_documents(repository: GitRepository, *, ref: str, root: str) -> DocumentTree:
    """Everything under `docs/` of the folder `root` at `ref`.

    Files keep git's order, by the bytes of their paths.

    Raises:
        UsageError: There is no such commit.
        Unavailable: There is no git, or an object is missing.
    """
    documents: list[Document] = []
    skipped: list[SkippedFile] = []
    notes: list[FileNote] = []
    for entry, blob in _walk(repository, ref, root):
        scope = scope_of(entry.path)
        if isinstance(blob, SkipReason):
            skipped.append(SkippedFile(path=entry.path, scope=scope, reason=blob))
            continue
        try:
            decoded = decode(blob)
        except Undecodable:
            skipped.append(SkippedFile(path=entry.path, scope=scope, reason=SkipReason.ENCODING))
            continue
        if decoded.encoding != "utf-8":
            notes.append(FileNote(path=entry.path, scope=scope, note=f"read as {decoded.encoding}"))
        if decoded.nul_removed:
            notes.append(
                FileNote(path=entry.path, scope=scope, note=f"{decoded.nul_removed} NUL bytes removed")
            )
        documents.append(Document(path=entry.path, scope=scope, text=decoded.text))
    return DocumentTree(
        commit=repository.last_commit_of(ref, root),
        documents=tuple(documents),
        skipped=tuple(skipped),
        notes=tuple(notes),
    )


def list_markdown(repository: GitRepository, *, ref: str, root: str) -> frozenset[str]:
    """The paths of all Markdown files under `docs/`, symlinks and submodules aside; reads no contents."""
    entries = repository.list_files(repository.resolve(ref), root, [DOCS_PREFIX])
    return frozenset(
        entry.path for entry in entries if _refused_by_tree(entry) in (None, SkipReason.TOO_LARGE)
    )


def scope_of(path: str) -> Scope:
    """`docs/adr/` holds decisions, the rest of `docs/` documents."""
    return Scope.ADR if path.startswith(ADR_PREFIX) else Scope.DOCS


def _walk(repository: GitRepository, ref: str, root: str) -> Iterator[tuple[TreeEntry, bytes | SkipReason]]:
    entries = repository.list_files(repository.resolve(ref), root, [DOCS_PREFIX])
    wanted = [entry.oid for entry in entries if _refused_by_tree(entry) is None]
    blobs = repository.read_blobs(wanted)
    seen: set[str] = set()
    for entry in entries:
        refusal = _refused_by_tree(entry)
        blob = b"" if refusal else next(blobs)
        if refusal is None and entry.path in seen:
            # two names that differ only in bytes which are no UTF-8 and escape alike
            refusal = SkipReason.NAME
        if refusal is None and is_lfs_pointer(blob):
            refusal = SkipReason.LFS_POINTER
        seen.add(entry.path)
        yield entry, refusal or blob


def _refused_by_tree(entry: TreeEntry) -> SkipReason | None:
    if entry.is_submodule:
        return SkipReason.SUBMODULE
    if entry.is_symlink:
        return SkipReason.SYMLINK
    if not entry.path.lower().endswith(".md"):
        return SkipReason.NOT_MARKDOWN
    if entry.size > MAX_BYTES:
        return SkipReason.TOO_LARGE
    return None
