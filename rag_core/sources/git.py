"""A git repository read from its object store: no checkout, no index, no symlink followed.

Git itself does the reading (`ls-tree` and `cat-file --batch`), so bare clones, worktrees, shallow clones and
detached heads need no care of ours. The repository is named to git and never searched for; so it may belong to
someone else, and no configuration is written for that. Such a repository's own configuration must start no program:
the commands used here are those that start none, every transport is forbidden, and replaced objects and grafts are
not followed. The caller's `GIT_*` variables are dropped and nothing prompts.
"""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

from rag_core.errors import Unavailable, UsageError
from rag_core.place_names import same_but_for_form

_TIMEOUT_S = 120
_Answer = TypeVar("_Answer")
_MODE_SYMLINK = "120000"
_MODE_SUBMODULE = "160000"


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEntry:
    r"""A file of the tree.

    `path` is relative to the folder that was asked for; bytes that are no UTF-8 are escaped as `\xNN`.
    """

    path: str
    mode: str
    oid: str

    @property
    def is_symlink(self) -> bool:
        """Whether it only names another path."""
        return self.mode == _MODE_SYMLINK

    @property
    def is_submodule(self) -> bool:
        """Whether it is another repository's commit."""
        return self.mode == _MODE_SUBMODULE


class GitRepository:
    """One repository on this machine.

    Args:
        path: A folder inside it, its top, or a bare repository.

    Raises:
        UsageError: The folder does not exist or is no repository.
        Unavailable: There is no `git` program.
    """

    def __init__(self, path: Path) -> None:
        self.top = find_top(path)

    def resolve(self, ref: str) -> str:
        """The full id of the commit that `ref` names.

        Raises:
            UsageError: There is no such commit.
        """
        try:
            return (
                self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
                .decode()
                .strip()
            )
        except GitFailed as error:
            if not error.quiet:
                raise self._unreadable(error) from error
            if ref == "HEAD":
                raise UsageError(
                    f"The repository {self.top} has no commit yet.",
                    hint="Commit its files first: only committed text is indexed.",
                ) from error
            raise UsageError(
                f"The repository {self.top} has no commit {ref!r}.", hint="Name a branch, a tag or a commit."
            ) from error

    def last_commit_of(self, ref: str, folder: str) -> str:
        """The id of the last commit up to `ref` that touched `folder`; `ref`'s own where `folder` is the top."""
        tip = self.resolve(ref)
        if not folder:
            return tip
        # not `log`: a repository's configuration can make that verify signatures, by a program of its choice
        found = self._read("rev-list", "-1", tip, "--", f":(top,literal){folder}").decode().strip()
        return found or tip

    def count_between(self, old: str, new: str, folder: str) -> int | None:
        """How many commits that touched `folder` lie between two, the later one among them; '' is the top.

        None where `old` does not lead to `new`, or is not there any more.
        """
        try:
            self.run("merge-base", "--is-ancestor", old, new)
        except GitFailed:
            return None
        paths = (f":(top,literal){folder}",) if folder else ()
        return int(self._read("rev-list", "--count", f"{old}..{new}", "--", *paths))

    def has_folder(self, commit: str, folder: str) -> bool:
        """Whether `folder` exists at a commit."""
        listing = self._read("ls-tree", "-z", "--full-tree", commit, "--", folder)
        return listing.split(b" ", 2)[1:2] == [b"tree"]

    def folder_meant(self, commit: str, folder: str) -> str:
        """The folder of that name in any Unicode form, where only one can be meant; else as given."""
        if folder.isascii() or self.has_folder(commit, folder):
            return folder
        found = ""
        for part in folder.split("/"):
            listing = self._read(
                "ls-tree",
                "-d",
                "-z",
                "--name-only",
                "--full-tree",
                commit,
                *(("--", f"{found}/") if found else ()),
            )
            names = [
                name.decode(errors="backslashreplace").rpartition("/")[2] for name in listing.split(b"\0")
            ]
            alike = [name for name in names if name == part] or [
                name for name in names if same_but_for_form(name, part)
            ]
            if len(alike) != 1:
                return folder
            found = f"{found}/{alike[0]}".lstrip("/")
        return found

    def list_files(self, commit: str, folder: str, below: Sequence[str]) -> list[TreeEntry]:
        """All files in the folders `below` of `folder`, in one walk, in git's order of path bytes.

        '' is the folder itself, and without any folder the whole tree. What stands in a folder's place, a link or
        another repository, is listed by its name.
        """
        base = f"{folder}/" if folder else ""
        wanted = [f"{base}{inner}" if inner else base for inner in below]
        # git takes no path at all for the whole tree, and refuses an empty one
        paths = () if "" in wanted else wanted
        listing = self._read("ls-tree", "-r", "-z", "--full-tree", commit, "--", *paths)
        entries: list[TreeEntry] = []
        for record in listing.split(b"\0"):
            if record:
                head, _, name = record.partition(b"\t")
                mode, _, oid = head.decode("ascii").split()
                path = name.removeprefix(base.encode()).decode("utf-8", errors="backslashreplace")
                entries.append(TreeEntry(path=path, mode=mode, oid=oid))
        return entries

    def read_sizes(self, oids: Sequence[str]) -> Iterator[int | None]:
        """The sizes of blobs in bytes, without their contents; otherwise as `read_blobs`."""
        return self._ask_each("--batch-check", oids, _read_size)

    def read_blobs(self, oids: Sequence[str]) -> Iterator[bytes | None]:
        """The contents of blobs, in the order asked for, through one `git cat-file`.

        None stands for an object that is missing or damaged, as in a partial clone; git gives up at some kinds of
        damage, and is then started once more for the rest.

        Raises:
            Unavailable: There is no `git` program.
        """
        return self._ask_each("--batch", oids, _read_blob)

    def _ask_each(
        self, option: str, oids: Sequence[str], read: Callable[[IO[bytes]], tuple[_Answer | None, bool]]
    ) -> Iterator[_Answer | None]:
        done = 0
        while done < len(oids):
            for answer in self._ask_until_git_gives_up(option, oids[done:], read):
                done += 1
                yield answer

    def _ask_until_git_gives_up(
        self, option: str, oids: Sequence[str], read: Callable[[IO[bytes]], tuple[_Answer | None, bool]]
    ) -> Iterator[_Answer | None]:
        try:
            process = subprocess.Popen(
                self._command("cat-file", option),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
            )
        except FileNotFoundError as error:
            raise no_git() from error
        with process:
            if process.stdin is None or process.stdout is None:
                raise GitFailed("git cat-file has no pipes")
            try:
                alive = True
                for oid in oids:
                    answer: _Answer | None = None
                    try:
                        process.stdin.write(f"{oid}\n".encode())
                        process.stdin.flush()
                        answer, alive = read(process.stdout)
                    except BrokenPipeError:
                        alive = False
                    yield answer
                    if not alive:
                        return
            finally:
                with suppress(BrokenPipeError):
                    process.stdin.close()

    def run(self, *arguments: str) -> bytes:
        """Standard output of one git command.

        Raises:
            GitFailed: It exited with an error; the message is git's first reason.
            Unavailable: There is no `git` program.
        """
        try:
            finished = subprocess.run(
                self._command(*arguments),
                capture_output=True,
                env=_environment(),
                timeout=_TIMEOUT_S,
                check=False,
            )
        except FileNotFoundError as error:
            raise no_git() from error
        except subprocess.TimeoutExpired as error:
            raise Unavailable(
                f"git did not answer within {_TIMEOUT_S} s in {self.top}.",
                hint="Check the repository with git fsck, and the disk it lies on.",
            ) from error
        if finished.returncode != 0:
            lines = finished.stderr.decode(errors="replace").strip().splitlines()
            reasons = [line for line in lines if line.startswith(("fatal:", "error:"))]
            raise GitFailed((reasons or lines or [f"exit code {finished.returncode}"])[0], quiet=not lines)
        return finished.stdout

    def _read(self, *arguments: str) -> bytes:
        """As `run`, where no failure is an answer.

        Raises:
            Unavailable: There is no `git` program, or it failed.
        """
        try:
            return self.run(*arguments)
        except GitFailed as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: "GitFailed") -> Unavailable:
        return Unavailable(
            f"git can't read the repository {self.top}: {error}.",
            hint="Check it with git fsck there; a partial clone is made whole by git fetch --refetch.",
        )

    def _command(self, *arguments: str) -> list[str]:
        folder = self.top if is_bare(self.top) else self.top / ".git"
        return ["git", "-C", str(self.top), f"--git-dir={folder}", "--no-replace-objects", *arguments]


class GitFailed(Exception):
    """A git command ended with an error; callers turn it into an error that says what to do.

    `quiet` is true when git gave no reason, which is its way to say that a name is unknown.
    """

    def __init__(self, message: str, *, quiet: bool = False) -> None:
        super().__init__(message)
        self.quiet = quiet


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
            if (folder / ".git").exists() or _is_git_folder(folder):
                return folder
    except PermissionError as error:
        raise UsageError(
            f"{path} can't be read: {error.strerror}.", hint="Run Medir as a user who may read it."
        ) from error
    raise UsageError(
        f"{path} is no git repository.",
        hint=f"Make it one: git init {path} && git -C {path} add -A && git -C {path} commit -m import",
    )


def is_bare(top: Path) -> bool:
    """Whether a repository has no working tree of its own."""
    return not (top / ".git").exists()


def no_git() -> Unavailable:
    """The error for a machine without git."""
    return Unavailable("There is no `git` program on this machine.", hint="Install git, then try again.")


def missing_object(repository: GitRepository, oid: str) -> Unavailable:
    """The error for an object without which nothing useful can be said."""
    return Unavailable(
        f"The repository {repository.top} lacks the object {oid}.",
        hint="Fetch it whole (git fetch --refetch), or check the repository with git fsck.",
    )


def _read_size(answers: IO[bytes]) -> tuple[int | None, bool]:
    """One object's size, None where it can't be had, and whether git goes on after it."""
    header = answers.readline().split()
    return int(header[2]) if len(header) == 3 else None, bool(header)


def _read_blob(answers: IO[bytes]) -> tuple[bytes | None, bool]:
    """One object's content, None where it can't be had, and whether git goes on after it."""
    size, alive = _read_size(answers)
    if size is None:
        return None, alive
    blob = answers.read(size + 1)
    return (blob[:size], True) if len(blob) == size + 1 else (None, False)


def _is_git_folder(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def _environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return kept | {
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        # a partial clone must not reach for its remote while it is read; older versions know the second only
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_GRAFT_FILE": "",
        "GIT_LITERAL_PATHSPECS": "0",
    }
