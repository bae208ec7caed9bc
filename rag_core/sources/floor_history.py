"""The floor of a golden set over the git history of its cases file: it only rises, and git remembers."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rag_core.errors import Unavailable, UsageError
from rag_core.golden.document import MAX_FILE_BYTES
from rag_core.golden.floor import read_floor
from rag_core.sources.git import GitRepository, missing_object
from rag_core.sources.git_folder import is_bare
from rag_core.sources.git_process import GitFailed

_REGULAR_FILES = ("100644", "100755")
_COMMIT = "commit "


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorHistory:
    """The highest floor that a cases file ever had on the branch that is checked out.

    `guarded` is false where no git history can hold the floor: `reason` says why, and everything else is
    empty. `highest` and `commit` are None too where the file was never committed, or never had a floor;
    `commit` is the full id of the oldest commit that had the highest floor. `complete` is false in
    a shallow clone, where a higher floor may lie beyond what was fetched.
    """

    guarded: bool
    reason: str | None = None
    highest: int | None = None
    commit: str | None = None
    complete: bool = True

    def fall(self, floor: int) -> str | None:
        """One sentence where `floor` is lower than it ever was, naming the commit; None where it is not."""
        if self.highest is None or self.commit is None or floor >= self.highest:
            return None
        return f"The floor is {floor}, but it was {self.highest} in commit {self.commit[:12]}; it only rises."


@dataclass(frozen=True, slots=True)
class _Version:
    commit: str
    oid: str


def highest_floor(path: Path) -> FloorHistory:
    """Read the floor in every commit up to HEAD that touched the file, on all sides of every merge.

    Renames are followed as git detects them: the content must have stayed half the same. What lies in the
    working tree or the index only is not looked at.

    A symbolic link stands for the file that it names.

    Raises:
        Unavailable: The file is in a repository, but git fails there or an object is missing.
    """
    file = path.resolve()
    try:
        repository = GitRepository(file.parent)
    except UsageError:
        return FloorHistory(guarded=False, reason="The cases file is outside git.")
    if is_bare(repository.top):
        return FloorHistory(guarded=False, reason="The cases file is outside git.")
    try:
        repository.run("version")
    except Unavailable as error:
        return FloorHistory(guarded=False, reason=error.message)
    try:
        return _read_history(repository, file.relative_to(repository.top).as_posix())
    except GitFailed as error:
        raise Unavailable(
            f"git can't read the history of {file}: {error}.",
            hint="Check the repository with git fsck.",
        ) from error


def _read_history(repository: GitRepository, name: str) -> FloorHistory:
    complete = repository.run("rev-parse", "--is-shallow-repository").strip() != b"true"
    try:
        head = repository.resolve("HEAD")
    except UsageError:
        return FloorHistory(guarded=True, reason="The cases file was never committed.")
    versions = [
        version
        for start, old_name in ((head, name), *_former_names(repository, head, name))
        for version in _versions(repository, start, old_name)
    ]
    if not versions:
        return FloorHistory(guarded=True, reason="The cases file was never committed.", complete=complete)
    floors = _floors(repository, versions)
    highest = max((floor for floor in floors if floor is not None), default=None)
    if highest is None:
        return FloorHistory(guarded=True, complete=complete)
    oldest = next(
        version
        for version, floor in zip(reversed(versions), reversed(floors), strict=True)
        if floor == highest
    )
    return FloorHistory(guarded=True, highest=highest, commit=oldest.commit, complete=complete)


def _former_names(repository: GitRepository, head: str, name: str) -> Iterator[tuple[str, str]]:
    """Each earlier name of the file, with the last commit at which it had that name; newest first."""
    listing = repository.run(
        "log",
        "--no-show-signature",
        "--follow",
        "--find-renames",
        "--diff-filter=R",
        "--name-status",
        "-z",
        f"--format={_COMMIT}%H",
        head,
        "--",
        _literal(name),
    )
    commit = ""
    fields = iter(field.lstrip(b"\n") for field in listing.split(b"\0"))
    for field in fields:
        if field.startswith(_COMMIT.encode()):
            commit = field.decode().removeprefix(_COMMIT)
        elif field.startswith(b"R"):
            old_name = next(fields)
            next(fields)
            yield f"{commit}^", old_name.decode("utf-8", errors="surrogateescape")


def _versions(repository: GitRepository, start: str, name: str) -> Iterator[_Version]:
    """Each commit up to `start` that gave the file under `name` a content, newest first."""
    # -m shows a merge against each parent, so that a content made in the merge itself is seen too
    listing = repository.run(
        "log",
        "--no-show-signature",
        "--full-history",
        "-m",
        "--raw",
        "--no-abbrev",
        "--no-renames",
        f"--format={_COMMIT}%H",
        start,
        "--",
        _literal(name),
    )
    commit = ""
    for line in listing.decode("utf-8", errors="replace").splitlines():
        if line.startswith(_COMMIT):
            commit = line.removeprefix(_COMMIT)
        elif line.startswith(":"):
            _, mode, _, oid, change = line.partition("\t")[0].split()
            if mode in _REGULAR_FILES and change != "D":
                yield _Version(commit, oid)


def _floors(repository: GitRepository, versions: list[_Version]) -> list[int | None]:
    """The floor of each version, in the order given; a content that several share is read once."""
    oids = list(dict.fromkeys(version.oid for version in versions))
    by_oid: dict[str, int | None] = {}
    for oid, content in zip(oids, repository.read_blobs(oids, at_most=MAX_FILE_BYTES), strict=True):
        if content is None:
            raise missing_object(repository, oid)
        by_oid[oid] = read_floor(content.decode("utf-8", errors="replace"))
    return [by_oid[version.oid] for version in versions]


def _literal(name: str) -> str:
    return f":(top,literal){name}"
