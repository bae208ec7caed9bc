"""Where a path is that a golden case expects and the index does not have: in the repository all the same, or beside it.

Each answer is the rest of a sentence that begins with the path, and says what to do.
"""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rag_core.chunking import FORMAT_PATTERNS, SUFFIXES, chunk_document
from rag_core.golden.document import shown
from rag_core.model import DocumentFolders, Place, Scope
from rag_core.sources.decoding import MAX_BYTES, Undecodable, decode, is_lfs_pointer
from rag_core.sources.departures import find_departure
from rag_core.sources.git import GitRepository, TreeEntry
from rag_core.sources.git_folder import is_bare


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """What of a repository is indexed, and the id of the project to name in a command."""

    project_id: str
    ref: str
    root: str
    folders: DocumentFolders


def find_deletions(repository: GitRepository, searched: Searched, paths: Iterable[str]) -> dict[str, str]:
    """Of paths that are not there, a sentence that names the commit which renamed or deleted them.

    Those that never were there are left out.

    Raises:
        UsageError: There is no such commit.
    """
    commit = repository.resolve(searched.ref)
    found = {path: find_departure(repository, commit, path, root=searched.root) for path in paths}
    return {path: f"It {departure.words}." for path, departure in found.items() if departure is not None}


def find_whereabouts(repository: GitRepository, searched: Searched, paths: Iterable[str]) -> dict[str, str]:
    """What became of each path, by path; one that is nowhere is left out.

    Args:
        repository: The project's.
        searched: Its ref, root and folders.
        paths: Paths as the cases write them, from the project's root.

    Raises:
        UsageError: There is no such commit.
        Unavailable: git can't read the tree.
    """
    asked = list(paths)
    looked = _Look(repository, searched, asked)
    told = {path: looked.at(path) for path in asked}
    return {path: answer for path, answer in told.items() if answer is not None}


class _Look:
    """One walk of the whole tree, asked about many paths; of the tree, only what could answer is kept."""

    def __init__(self, repository: GitRepository, searched: Searched, asked: Sequence[str]) -> None:
        self._repository = repository
        self._searched = searched
        self._root = f"{searched.root}/" if searched.root else ""
        commit = repository.resolve(searched.ref)
        meant = {
            name.casefold()
            for path in asked
            for name in (path, path.lstrip("/"), f"{self._root}{path.lstrip('/')}")
        }
        found = repository.list_files(
            commit,
            "",
            [""],
            keep=lambda entry: entry.is_symlink or entry.is_submodule or entry.path.casefold() in meant,
        )
        self._tree = {entry.path: entry for entry in found}
        self._folded: dict[str, str] = {}
        for path in reversed(self._tree):
            self._folded[path.casefold()] = path

    def at(self, path: str) -> str | None:
        if path.startswith("/") or ".." in PurePosixPath(path).parts:
            return self._outside(path)
        full = f"{self._root}{path}"
        if full in self._tree:
            return self._of_entry(self._tree[full], path)
        behind = self._behind(full)
        if behind is not None:
            return behind
        if path in self._tree:
            return self._beside_root(path)
        other = self._folded.get(full.casefold())
        if other is not None and not self._in_folders(self._inner(other)):
            name = self._inner(other)
            return (
                f"does not exist in the repository; {shown(name)} {self._of_entry(self._tree[other], name)}"
            )
        return self._uncommitted(full)

    def _of_entry(self, entry: TreeEntry, path: str) -> str:
        if entry.is_symlink:
            return "is a symbolic link, which is not followed; expect the file that it names."
        if entry.is_submodule:
            return "is a submodule, another repository, whose files are not indexed."
        if not path.lower().endswith(SUFFIXES):
            return f"is in the repository but not in the index; only {FORMAT_PATTERNS} is indexed."
        if not self._in_folders(path):
            return self._outside_folders(path)
        return self._unread(entry, path)

    def _outside_folders(self, path: str) -> str:
        folder = str(PurePosixPath(path).parent)
        docs = [known or "." for known in self._searched.folders.docs]
        wanted = ["."] if folder == "." else [*docs, folder]
        command = " ".join(f"--docs {shlex.quote(each)}" for each in wanted)
        indexed = ", ".join(each or "." for each in self._searched.folders.all)
        return (
            f"is in the repository but outside the folders that are indexed ({indexed}); to index it: medir project "
            f"set --project {self._searched.project_id} {command}, then medir index."
        )

    def _unread(self, entry: TreeEntry, path: str) -> str:
        size = next(self._repository.read_sizes([entry.oid]))
        if size is not None and size > MAX_BYTES:
            return f"is larger than {MAX_BYTES // 1_000_000} MB, so it is not indexed; split it into several files."
        blob = next(self._repository.read_blobs([entry.oid], at_most=MAX_BYTES))
        if blob is None:
            return "can't be read: git lacks its content here. Fetch it whole: git fetch --refetch."
        if is_lfs_pointer(blob):
            return (
                "is a Git LFS pointer in the repository, so it has no text to index; commit the text itself."
            )
        try:
            text = decode(blob).text
        except Undecodable:
            return "is in no encoding that is read, so it is not indexed; save it as UTF-8."
        if not chunk_document(text, place=Place("file", path), scope=Scope.DOCS):
            return "holds no text, so nothing of it can be found."
        return (
            "is in the repository but not in the index; index the project again: medir index --project "
            f"{self._searched.project_id}."
        )

    def _behind(self, full: str) -> str | None:
        """A path inside something that git does not look into."""
        for parent in PurePosixPath(full).parents:
            entry = self._tree.get(str(parent))
            if entry is not None and entry.is_submodule:
                name = shown(self._inner(entry.path))
                return f"lies in the submodule {name}, another repository, whose files are not indexed."
            if entry is not None and entry.is_symlink:
                name = shown(self._inner(entry.path))
                return f"lies behind the symbolic link {name}, which is not followed; expect the file that it names."
        return None

    def _beside_root(self, path: str) -> str:
        inner = path.removeprefix(self._root)
        if inner != path:
            return f"is named from the top of the repository; write {shown(inner)}, as from {self._searched.root}."
        return (
            f"is in the repository but outside the project's folder {self._searched.root}, of which alone is indexed; "
            "see medir project set --root."
        )

    def _outside(self, path: str) -> str | None:
        top = self._repository.top / self._searched.root
        inside = PurePosixPath(path).is_absolute() and Path(path).is_relative_to(top)
        if inside:
            return f"is no path from the project's top; write {shown(str(Path(path).relative_to(top)))}."
        if PurePosixPath(path).is_absolute() and f"{self._root}{path.lstrip('/')}" in self._tree:
            return None
        return "is outside the repository, and only what is committed there is indexed."

    def _uncommitted(self, full: str) -> str | None:
        if is_bare(self._repository.top) or not _is_there(self._repository.top, full):
            return None
        if self._searched.ref != "HEAD":
            return f"is in the working tree but not at {self._searched.ref}, which is what is indexed."
        return "is in the working tree but not committed; commit it, then index the project again."

    def _in_folders(self, path: str) -> bool:
        return any(not folder or path.startswith(f"{folder}/") for folder in self._searched.folders.all)

    def _inner(self, full: str) -> str:
        return full.removeprefix(self._root)


def _is_there(top: Path, full: str) -> bool:
    """Whether the working tree has the path; spelled so, which a file system that folds case does not ask."""
    place = top
    try:
        for part in PurePosixPath(full).parts:
            if part not in {entry.name for entry in place.iterdir()}:
                return False
            place = place / part
    except OSError:
        return False
    return True
