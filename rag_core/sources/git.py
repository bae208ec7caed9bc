"""A git repository read from its object store: no checkout, no index, no symlink followed.

Git itself does the reading (`ls-tree` and `cat-file --batch`), so bare clones, worktrees, shallow clones and
detached heads need no care of ours. The repository is named to git and never searched for; so it may belong to
someone else, and no configuration is written for that. Such a repository's own configuration must start no program:
the commands used here are those that start none, every transport is forbidden, and replaced objects and grafts are
not followed. The caller's `GIT_*` variables are dropped and nothing prompts.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

from rag_core.errors import Unavailable, UsageError
from rag_core.model.place_names import same_but_for_form
from rag_core.sources.git_folder import find_top, is_bare
from rag_core.sources.git_process import GitFailed, OutOfTime, TooMuch, output_of, start

MAX_FILES = 200_000
"""So many files of a tree are kept at once."""

MAX_FILES_LOOKED_AT = 500_000
"""So many are looked at; a few objects that stand in each other's trees can make any number."""

_MAX_LISTING_BYTES = 256_000_000
_MAX_KEPT_PATH_BYTES = 64_000_000
_MAX_PATH_BYTES = 64_000
_MAX_OUTPUT_BYTES = 32_000_000
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

    `path` is a folder inside it, its top, or a bare repository.

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

    def list_files(
        self,
        commit: str,
        folder: str,
        below: Sequence[str],
        *,
        keep: Callable[[TreeEntry], bool] = lambda _: True,
    ) -> list[TreeEntry]:
        """The files in the folders `below` of `folder` that `keep` wants, in one walk, in git's order of path bytes.

        '' is the folder itself, and without any folder the whole tree. What stands in a folder's place, a link or
        another repository, is listed by its name.

        Raises:
            Unavailable: git can't read the tree, or it is larger than any that is read.
        """
        base = f"{folder}/" if folder else ""
        wanted = [f"{base}{inner}" if inner else base for inner in below]
        # git takes no path at all for the whole tree, and refuses an empty one
        paths = () if "" in wanted else wanted
        try:
            return list(self._kept(keep, base, "ls-tree", "-r", "--full-tree", commit, "--", *paths))
        except TooMuch as error:
            raise self._too_much(error) from error
        except GitFailed as error:
            raise self._unreadable(error) from error

    def _kept(self, keep: Callable[[TreeEntry], bool], base: str, *arguments: str) -> Iterator[TreeEntry]:
        """The entries that are wanted.

        Raises:
            TooMuch: There are more than are read.
            GitFailed: As `run` does.
        """
        files, room = 0, _MAX_KEPT_PATH_BYTES
        for number, record in enumerate(self._records(*arguments), start=1):
            if number > MAX_FILES_LOOKED_AT:
                raise TooMuch(f"its tree has more than {MAX_FILES_LOOKED_AT:,} files")
            entry = _entry(record, base)
            if keep(entry):
                files += 1
                room -= len(entry.path)
                if files > MAX_FILES or room < 0:
                    raise TooMuch(f"its tree has more than {MAX_FILES:,} files to read, or very long paths")
                yield entry

    def _records(self, *arguments: str) -> Iterator[bytes]:
        """What git lists, one entry at a time.

        Raises:
            TooMuch: There is more than is read.
            GitFailed: As `run` does.
        """
        rest = b""
        command, *others = arguments
        for piece in self._stream(command, "-z", *others, at_most=_MAX_LISTING_BYTES):
            *whole, rest = (rest + piece).split(b"\0")
            yield from whole
            if len(rest) > _MAX_PATH_BYTES:
                raise TooMuch(f"it has a path of more than {_MAX_PATH_BYTES:,} bytes")

    def read_sizes(self, oids: Sequence[str]) -> Iterator[int | None]:
        """The sizes of blobs in bytes, without their contents; otherwise as `read_blobs`."""
        return self._ask_each("--batch-check", oids, _read_size)

    def read_blobs(
        self, oids: Sequence[str], *, at_most: int, sizes: Mapping[str, int | None] | None = None
    ) -> Iterator[bytes | None]:
        """The contents of blobs, in the order asked for, through one `git cat-file`.

        None stands for an object that is missing or damaged, as in a partial clone; git gives up at some kinds of
        damage, and is then started once more for the rest. One of more than `at_most` bytes is never unpacked: it comes
        as b"", since nothing is made of it.

        `sizes` are as `read_sizes` gave them, where that was asked already.

        Raises:
            Unavailable: There is no `git` program.
        """
        known = dict(zip(oids, self.read_sizes(oids), strict=True)) if sizes is None else sizes
        contents = self._ask_each(
            "--batch", [oid for oid in oids if (known[oid] or 0) <= at_most], _read_blob
        )
        for oid in oids:
            yield b"" if (known[oid] or 0) > at_most else next(contents)

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
        process = start(self._command("cat-file", option), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
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
            Unavailable: There is no `git` program, it did not end in time, or said more than is read.
        """
        try:
            return b"".join(self._stream(*arguments, at_most=_MAX_OUTPUT_BYTES))
        except TooMuch as error:
            raise self._too_much(error) from error

    def _stream(self, *arguments: str, at_most: int) -> Iterator[bytes]:
        try:
            yield from output_of(self._command(*arguments), at_most=at_most, within_s=_TIMEOUT_S)
        except OutOfTime as error:
            raise Unavailable(
                f"git did not answer within {_TIMEOUT_S} s in {self.top}.",
                hint="Check the repository with git fsck, and the disk it lies on.",
            ) from error

    def _read(self, *arguments: str) -> bytes:
        """As `run`, where no failure is an answer.

        Raises:
            Unavailable: There is no `git` program, or it failed.
        """
        try:
            return self.run(*arguments)
        except GitFailed as error:
            raise self._unreadable(error) from error

    def _too_much(self, error: TooMuch) -> Unavailable:
        return Unavailable(
            f"The repository {self.top} is too large to be read: {error}.",
            hint="Name folders that hold less: medir project set --root, --docs and --adr.",
        )

    def _unreadable(self, error: GitFailed) -> Unavailable:
        return Unavailable(
            f"git can't read the repository {self.top}: {error}.",
            hint="Check it with git fsck there; a partial clone is made whole by git fetch --refetch.",
        )

    def _command(self, *arguments: str) -> list[str]:
        folder = self.top if is_bare(self.top) else self.top / ".git"
        return ["git", "-C", str(self.top), f"--git-dir={folder}", "--no-replace-objects", *arguments]


def missing_object(repository: GitRepository, oid: str) -> Unavailable:
    """The error for an object without which nothing useful can be said."""
    return Unavailable(
        f"The repository {repository.top} lacks the object {oid}.",
        hint="Fetch it whole (git fetch --refetch), or check the repository with git fsck.",
    )


def _entry(record: bytes, base: str) -> TreeEntry:
    head, _, name = record.partition(b"\t")
    mode, _, oid = head.decode("ascii").split()
    path = name.removeprefix(base.encode()).decode("utf-8", errors="backslashreplace")
    return TreeEntry(path=path, mode=sys.intern(mode), oid=oid)


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
