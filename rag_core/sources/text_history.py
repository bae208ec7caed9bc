"""Which commit took a text out of a file, or brought it in: found by reading the file's versions, newest first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_core.golden.losses import SinceCommit
from rag_core.sources.decoding import MAX_BYTES
from rag_core.sources.git import GitRepository
from rag_core.sources.git_process import GitFailed

MOST_VERSIONS = 300
_MAX_KEPT_BYTES = 5 * MAX_BYTES
_SHALLOW = "The git history here is shallow and does not reach back to it."
_NOT_ON_BRANCH = "No commit of this branch tells: its history was rewritten, or is of another branch."
_UNREADABLE = "Which commit did it can't be told: git lacks a part of the history here."
_TOO_LONG = f"It lies more than {MOST_VERSIONS} changes of the file back."


@dataclass(frozen=True, slots=True)
class Turning:
    """A commit that made something so which was not so at its parent; None where it began with the commit."""

    commit: str
    parent: str | None


@dataclass(frozen=True, slots=True)
class _Version:
    commit: str
    parents: tuple[str, ...]


class FilesHistory:
    """The versions of some files, looked at together, up to a commit.

    Args:
        repository: Where they lie; bare or shallow ones will do.
        commit: The newest commit that is looked at.
        paths: The files, from the top of the repository.
    """

    def __init__(self, repository: GitRepository, commit: str, paths: Sequence[str]) -> None:
        self._repository = repository
        self._paths = tuple(paths)
        self._blobs: dict[str, bytes] = {}
        self.tip = commit

    def turn(self, is_so: Callable[[str], bool], *, from_first: bool) -> Turning | SinceCommit:
        """The commit that made something so which still is; a `SinceCommit` says why none can be told.

        Where lines of history were merged, the one is followed in which it was so already: a merge made it so only
        where none of its parents had it.

        Args:
            is_so: Whether it is so at a commit.
            from_first: Whether it may have begun with the files themselves.
        """
        known: dict[str, bool] = {}

        def asked(commit: str) -> bool:
            if commit not in known:
                known[commit] = is_so(commit)
            return known[commit]

        try:
            versions = {version.commit: version for version in self.versions()}
            at = next(iter(versions.values()), None)
            while at is not None and asked(at.commit):
                earlier = next((parent for parent in at.parents if asked(parent)), None)
                if earlier is None and at.parents:
                    return Turning(at.commit, at.parents[0])
                if earlier is None and from_first and not self._is_shallow():
                    return Turning(at.commit, None)
                at = None if earlier is None else versions.get(earlier)
            if self._is_shallow():
                return SinceCommit(commit=None, unknown=_SHALLOW)
        except GitFailed:
            return SinceCommit(commit=None, unknown=_UNREADABLE)
        too_long = len(versions) == MOST_VERSIONS
        return SinceCommit(commit=None, unknown=_TOO_LONG if too_long else _NOT_ON_BRANCH)

    def versions(self) -> list[_Version]:
        """The commits that changed one of the files, newest first.

        Raises:
            GitFailed: git can't read the history.
        """
        # not `log`: a repository's configuration can make that verify signatures, by a program of its choice
        listing = self._repository.run(
            "rev-list",
            "--parents",
            f"--max-count={MOST_VERSIONS}",
            self.tip,
            "--",
            *(f":(top,literal){path}" for path in self._paths),
        )
        return [
            _Version(commit, tuple(parents))
            for commit, *parents in (line.split() for line in listing.decode("ascii").splitlines())
        ]

    def files(self, commit: str) -> dict[str, str]:
        """The ids of the files' contents at a commit, by path; without those that are not there.

        Raises:
            GitFailed: There is no such commit.
        """
        return find_files(self._repository, commit, self._paths)

    def blob(self, oid: str) -> bytes:
        """One content; of one that is too large to be indexed, nothing.

        Raises:
            GitFailed: git lacks it.
        """
        if oid not in self._blobs:
            blob = next(self._repository.read_blobs([oid], at_most=MAX_BYTES))
            if blob is None:
                raise GitFailed(f"the object {oid} is missing")
            self._blobs[oid] = blob
            while sum(map(len, self._blobs.values())) > _MAX_KEPT_BYTES:
                del self._blobs[next(iter(self._blobs))]
        return self._blobs[oid]

    def _is_shallow(self) -> bool:
        return self._repository.run("rev-parse", "--is-shallow-repository").strip() == b"true"


class FileHistory:
    """One file's versions up to a commit.

    Args:
        repository: Where it lies; bare or shallow ones will do.
        commit: The newest commit that is looked at.
        path: The file, from the top of the repository.
    """

    def __init__(self, repository: GitRepository, commit: str, path: str) -> None:
        self._repository = repository
        self._files = FilesHistory(repository, commit, [path])
        self._path = path

    def taken(self, holds: Callable[[bytes], bool]) -> SinceCommit:
        """The commit after which the file no longer holds something; `holds` tells of one version's content."""
        return self._since(lambda commit: not self._holds(commit, holds), from_first=False)

    def brought(self, holds: Callable[[bytes], bool]) -> SinceCommit:
        """The commit since which the file holds something."""
        return self._since(lambda commit: self._holds(commit, holds), from_first=True)

    def newest(self, holds: Callable[[bytes], bool]) -> bytes | None:
        """The newest content of the file that holds something; None where none does, or git can't say."""
        try:
            for version in self._files.versions():
                for commit in (version.commit, *version.parents):
                    content = self._content(commit)
                    if content is not None and holds(content):
                        return content
        except GitFailed:
            return None
        return None

    def content(self) -> bytes | None:
        """The newest content; None where there is none, or git can't say."""
        try:
            return self._content(self._files.tip)
        except GitFailed:
            return None

    def unchanged_since(self, commit: str) -> bool:
        """Whether the file is known to be byte for byte the one of an earlier commit."""
        try:
            before = find_file(self._repository, commit, self._path)
            return before is not None and before == find_file(self._repository, self._files.tip, self._path)
        except GitFailed:
            return False

    def _since(self, is_so: Callable[[str], bool], *, from_first: bool) -> SinceCommit:
        turn = self._files.turn(is_so, from_first=from_first)
        return SinceCommit(commit=turn.commit) if isinstance(turn, Turning) else turn

    def _holds(self, commit: str, holds: Callable[[bytes], bool]) -> bool:
        content = self._content(commit)
        return content is not None and holds(content)

    def _content(self, commit: str) -> bytes | None:
        oid = self._files.files(commit).get(self._path)
        return None if oid is None else self._files.blob(oid)


def find_file(repository: GitRepository, commit: str, path: str) -> str | None:
    """The id of a file's content at a commit; None where there is no such file.

    Raises:
        GitFailed: There is no such commit.
    """
    return find_files(repository, commit, [path]).get(path)


def find_files(repository: GitRepository, commit: str, paths: Sequence[str]) -> dict[str, str]:
    """The ids of files' contents at a commit, by path; without those that are not there.

    Raises:
        GitFailed: There is no such commit.
    """
    wanted = {path.encode(): path for path in paths}
    listing = repository.run("ls-tree", "-z", "--full-tree", commit, "--", *paths) if paths else b""
    found: dict[str, str] = {}
    for record in listing.split(b"\0"):
        head, _, name = record.partition(b"\t")
        if name in wanted:
            _, kind, oid = head.decode("ascii").split()
            if kind == "blob":
                found[wanted[name]] = oid
    return found
