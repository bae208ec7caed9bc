"""What became of a file that is not there any more, as git's own rename detection tells it."""

from rag_core.golden.departures import Departure, Left
from rag_core.sources.git import GitRepository
from rag_core.sources.git_process import GitFailed
from rag_core.sources.text_history import find_file

_MOST_NAMES = 20
_RENAMES_LOOKED_AT = 2_000


def find_departure(repository: GitRepository, commit: str, path: str, *, root: str = "") -> Departure | None:
    """What became of a file that is not there at `commit`; None where it never was, as far as git knows.

    Args:
        repository: Where it lay.
        commit: The newest commit that is looked at.
        path: The file, from the project's root; names in the answer are told from there too, where they lie in it.
        root: The project's root in the repository, '' for its top.
    """
    base = f"{root}/" if root else ""
    steps: list[Left] = []
    name = f"{base}{path}"
    seen = {name}
    try:
        while len(steps) < _MOST_NAMES:
            left = _left(repository, commit, name)
            if left is None:
                break
            steps.append(Left(commit=left.commit, to=left.to and left.to.removeprefix(base)))
            if left.to is None or left.to in seen or find_file(repository, commit, left.to) is not None:
                break
            name = left.to
            seen.add(name)
    except GitFailed:
        pass
    return Departure(steps=tuple(steps)) if steps else None


def _left(repository: GitRepository, commit: str, path: str) -> Left | None:
    listing = repository.run("rev-list", "--parents", "-1", commit, "--", f":(top,literal){path}")
    found = listing.decode("ascii").split()
    if not found:
        return None
    left, *parents = found
    try:
        for parent in parents:
            name = _renamed(repository, parent, left, path)
            if name is not None:
                return Left(commit=left, to=name)
    except GitFailed:
        # a shallow history has the commit, and not what it was made from
        pass
    return Left(commit=left, to=None)


def _renamed(repository: GitRepository, parent: str, commit: str, path: str) -> str | None:
    """The name that a file got between two commits; None where it was not renamed."""
    listing = repository.run(
        "diff-tree",
        "-r",
        "-z",
        "--find-renames",
        f"-l{_RENAMES_LOOKED_AT}",
        "--diff-filter=R",
        "--name-status",
        parent,
        commit,
    )
    parts = [part.decode("utf-8", errors="backslashreplace") for part in listing.split(b"\0")]
    # each is told in three: how alike the two are, the old name, the new one
    renamed = dict(zip(parts[1::3], parts[2::3], strict=False))
    return renamed.get(path)
