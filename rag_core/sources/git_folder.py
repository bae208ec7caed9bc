"""Where a repository lies: found by looking, without running git."""

from pathlib import Path

from rag_core.errors import UsageError


def find_top(path: Path) -> Path:
    """The top of the repository that holds `path`, found by looking, without running git.

    Raises:
        UsageError: `path` does not exist, or lies in no repository.
    """
    try:
        if not path.exists():
            raise UsageError(f"The folder {path} does not exist.", hint="Give the path of a git repository.")
        start = path.resolve()
        for folder in (start, *start.parents):
            if _is_top(folder):
                return folder
    except PermissionError as error:
        raise _unreadable(path, error) from error
    raise UsageError(
        f"{path} is no git repository.",
        hint=f"Make it one: git init {path} && git -C {path} add -A && git -C {path} commit -m import",
    )


def holds_repository(top: Path) -> bool:
    """Whether a folder is a repository's top, as it was found to be before.

    Raises:
        UsageError: It can't be read.
    """
    try:
        return _is_top(top)
    except PermissionError as error:
        raise _unreadable(top, error) from error


def is_bare(top: Path) -> bool:
    """Whether a repository has no working tree of its own."""
    return not (top / ".git").exists()


def _is_git_folder(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def _is_top(folder: Path) -> bool:
    return (folder / ".git").exists() or _is_git_folder(folder)


def _unreadable(path: Path, error: PermissionError) -> UsageError:
    return UsageError(f"{path} can't be read: {error.strerror}.", hint="Run Medir as a user who may read it.")
