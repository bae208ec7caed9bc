"""A project's documents, read in one walk of its repository's tree, and what was left out with its reason."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from rag_core.chunking import FORMAT_NAMES, SUFFIXES
from rag_core.errors import Unavailable, UsageError
from rag_core.model import DocumentFolders, Place, Scope
from rag_core.sources.decoding import MAX_BYTES, Undecodable, decode, is_lfs_pointer
from rag_core.sources.git import GitRepository, TreeEntry
from rag_core.words.plurals import counted

MAX_PATH_BYTES = 2_500
"""The longest path that is indexed: an index of the database holds no key of more than 2,704 bytes."""

MAX_TEXT_BYTES = 100_000_000
"""All documents of a project together: some 100,000 chunks. One small object under many names can make any size."""


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
        match self:
            case SkipReason.SYMLINK | SkipReason.SUBMODULE | SkipReason.LFS_POINTER | SkipReason.NOT_MARKDOWN:
                return True
            case SkipReason.ENCODING | SkipReason.TOO_LARGE | SkipReason.UNREADABLE | SkipReason.NAME:
                return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file's text, decoded and cleaned."""

    path: str
    scope: Scope
    text: str

    @property
    def place(self) -> Place:
        """The file, as golden cases name it."""
        return Place("file", self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedFile:
    """A file of the project's folders that is not indexed."""

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


def read_documents(
    repository: GitRepository, *, ref: str, root: str, folders: DocumentFolders
) -> DocumentTree:
    """Everything in the project's folders under `root` at `ref`.

    Files keep git's order, by the bytes of their paths. A file whose content git does not have is skipped as
    `unreadable`.

    Raises:
        UsageError: There is no such commit, or no such folder in it.
        Unavailable: There is no git, it can't read the tree, or not one file can be read.
    """
    commit = repository.resolve(ref)
    if root and not repository.has_folder(commit, root):
        raise UsageError(
            f"The repository {repository.top} has no folder {root!r} at {ref}.",
            hint="Give a ref that has it, or another --root.",
        )
    documents: list[Document] = []
    skipped: list[SkippedFile] = []
    notes: list[FileNote] = []
    for entry, blob in _walk(repository, commit, root, folders):
        scope = folders.scope_of(entry.path)
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
                FileNote(
                    path=entry.path, scope=scope, note=f"{counted(decoded.nul_removed, 'NUL byte')} removed"
                )
            )
        documents.append(Document(path=entry.path, scope=scope, text=decoded.text))
    unreadable = [file.path for file in skipped if file.reason is SkipReason.UNREADABLE]
    if unreadable and not documents:
        raise Unavailable(
            f"No document of {repository.top} can be read: its objects are missing or damaged.",
            hint="Fetch it whole (git fetch --refetch), or check the repository with git fsck.",
        )
    return DocumentTree(
        commit=repository.last_commit_of(commit, root),
        documents=tuple(documents),
        skipped=tuple(skipped),
        notes=tuple(notes),
    )


def list_documents(
    repository: GitRepository, *, ref: str, root: str, folders: DocumentFolders
) -> frozenset[str]:
    """The paths of all documents in the folders, symlinks and submodules aside; reads no contents."""
    return frozenset(document_blobs(repository, commit=repository.resolve(ref), root=root, folders=folders))


def document_blobs(
    repository: GitRepository, *, commit: str, root: str, folders: DocumentFolders
) -> dict[str, str]:
    """The same paths at a commit, each with the id of its content.

    Raises:
        Unavailable: git does not have the commit, or can't read it.
    """
    entries = repository.list_files(commit, root, folders.all, keep=_is_document)
    return {entry.path: entry.oid for entry in entries}


def list_everywhere(repository: GitRepository, *, ref: str) -> list[str]:
    """The paths of all documents in the whole repository, from its top; reads no contents."""
    entries = repository.list_files(repository.resolve(ref), "", ("",), keep=_is_document)
    return [entry.path for entry in entries]


def list_documents_outside(
    repository: GitRepository, *, ref: str, root: str, folders: DocumentFolders
) -> tuple[str, ...]:
    """The paths of the documents under `root` in none of the folders, in git's order; as `list_documents`."""
    entries = repository.list_files(
        repository.resolve(ref),
        root,
        ("",),
        keep=lambda entry: _is_document(entry) and not folders.hold(entry.path),
    )
    return tuple(entry.path for entry in entries)


def require_little(repository: GitRepository, sizes: Iterable[int | None]) -> None:
    """Refuse texts that no index could hold, by their sizes, before any is read.

    Raises:
        Unavailable: Together they have more than `MAX_TEXT_BYTES`.
    """
    if sum(size or 0 for size in sizes) > MAX_TEXT_BYTES:
        raise Unavailable(
            f"The {FORMAT_NAMES} of {repository.top} is too much to be read: more than "
            f"{MAX_TEXT_BYTES // 1_000_000} MB.",
            hint="Name folders that hold less: medir project set --root, --docs and --adr.",
        )


def _walk(
    repository: GitRepository, commit: str, root: str, folders: DocumentFolders
) -> Iterator[tuple[TreeEntry, bytes | SkipReason]]:
    entries = repository.list_files(commit, root, folders.all)
    wanted = [entry.oid for entry in entries if _refused_by_tree(entry) is None]
    sizes = dict(zip(wanted, repository.read_sizes(wanted), strict=True))
    readable = [oid for oid in wanted if _refused_by_size(sizes[oid]) is None]
    require_little(repository, (sizes[oid] for oid in readable))
    blobs = repository.read_blobs(readable, at_most=MAX_BYTES, sizes=sizes)
    seen: set[str] = set()
    for entry in entries:
        refusal = _refused_by_tree(entry)
        blob: bytes | None = None
        if refusal is None:
            refusal = _refused_by_size(sizes[entry.oid])
        if refusal is None:
            blob = next(blobs)
            refusal = _refused_by_content(blob)
        if refusal is None and (entry.path in seen or len(entry.path.encode()) > MAX_PATH_BYTES):
            # of two names that differ only in bytes which are no UTF-8 and escape alike, the second can't be told
            refusal = SkipReason.NAME
        seen.add(entry.path)
        yield entry, refusal or blob or b""


def _refused_by_tree(entry: TreeEntry) -> SkipReason | None:
    if entry.is_submodule:
        return SkipReason.SUBMODULE
    if entry.is_symlink:
        return SkipReason.SYMLINK
    return None if entry.path.lower().endswith(SUFFIXES) else SkipReason.NOT_MARKDOWN


def _is_document(entry: TreeEntry) -> bool:
    return _refused_by_tree(entry) is None


def _refused_by_size(size: int | None) -> SkipReason | None:
    return SkipReason.TOO_LARGE if size is not None and size > MAX_BYTES else None


def _refused_by_content(blob: bytes | None) -> SkipReason | None:
    if blob is None:
        return SkipReason.UNREADABLE
    return SkipReason.LFS_POINTER if is_lfs_pointer(blob) else None
