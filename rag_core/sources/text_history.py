"""Which commit took a text out of a file, or brought it in: found by reading the file's versions, newest first."""

from collections.abc import Callable
from dataclasses import dataclass

from rag_core.golden.causes import SinceCommit
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
class _Version:
    commit: str
    parents: tuple[str, ...]


class FileHistory:
    """One file's versions up to a commit.

    Args:
        repository: Where it lies; bare or shallow ones will do.
        commit: The newest commit that is looked at.
        path: The file, from the top of the repository.
    """

    def __init__(self, repository: GitRepository, commit: str, path: str) -> None:
        self._repository = repository
        self._tip = commit
        self._path = path
        self._blobs: dict[str, bytes] = {}

    def taken(self, holds: Callable[[bytes], bool]) -> SinceCommit:
        """The commit after which the file no longer holds something; `holds` tells of one version's content."""
        return self._turn(holds, wanted=False)

    def brought(self, holds: Callable[[bytes], bool]) -> SinceCommit:
        """The commit since which the file holds something."""
        return self._turn(holds, wanted=True)

    def newest(self, holds: Callable[[bytes], bool]) -> bytes | None:
        """The newest content of the file that holds something; None where none does, or git can't say."""
        try:
            for version in self._versions():
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
            return self._content(self._tip)
        except GitFailed:
            return None

    def unchanged_since(self, commit: str) -> bool:
        """Whether the file is known to be byte for byte the one of an earlier commit."""
        try:
            before = find_file(self._repository, commit, self._path)
            return before is not None and before == find_file(self._repository, self._tip, self._path)
        except GitFailed:
            return False

    def _turn(self, holds: Callable[[bytes], bool], *, wanted: bool) -> SinceCommit:
        """The newest commit that is as wanted while one of its parents is not."""
        known: dict[str, bool] = {}

        def has(commit: str) -> bool:
            if commit not in known:
                content = self._content(commit)
                known[commit] = content is not None and holds(content)
            return known[commit]

        try:
            versions = self._versions()
            for version in versions:
                if has(version.commit) is not wanted:
                    continue
                if any(has(parent) is not wanted for parent in version.parents):
                    return SinceCommit(commit=version.commit)
                if wanted and not version.parents and not self._is_shallow():
                    # the file began with it
                    return SinceCommit(commit=version.commit)
            if self._is_shallow():
                return SinceCommit(commit=None, unknown=_SHALLOW)
        except GitFailed:
            return SinceCommit(commit=None, unknown=_UNREADABLE)
        return SinceCommit(
            commit=None, unknown=_TOO_LONG if len(versions) == MOST_VERSIONS else _NOT_ON_BRANCH
        )

    def _versions(self) -> list[_Version]:
        # not `log`: a repository's configuration can make that verify signatures, by a program of its choice
        listing = self._repository.run(
            "rev-list",
            "--parents",
            f"--max-count={MOST_VERSIONS}",
            self._tip,
            "--",
            f":(top,literal){self._path}",
        )
        return [
            _Version(commit, tuple(parents))
            for commit, *parents in (line.split() for line in listing.decode("ascii").splitlines())
        ]

    def _content(self, commit: str) -> bytes | None:
        oid = find_file(self._repository, commit, self._path)
        if oid is None:
            return None
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


def deleted_in(repository: GitRepository, commit: str, path: str) -> str | None:
    """The commit that deleted a file which is not there at `commit`; None where it never was, as far as git knows."""
    try:
        found = (
            repository.run("rev-list", "-1", commit, "--", f":(top,literal){path}").decode("ascii").strip()
        )
    except GitFailed:
        return None
    return found or None


def find_file(repository: GitRepository, commit: str, path: str) -> str | None:
    """The id of a file's content at a commit; None where there is no such file.

    Raises:
        GitFailed: There is no such commit.
    """
    listing = repository.run("ls-tree", "-z", "--full-tree", commit, "--", path)
    for record in listing.split(b"\0"):
        head, _, name = record.partition(b"\t")
        if name == path.encode():
            _, kind, oid = head.decode("ascii").split()
            return oid if kind == "blob" else None
    return None
