"""The system account that the embedded PostgreSQL runs as, and the folders that it needs.

PostgreSQL refuses to run as root. Root therefore runs it as the owner of the data folder; for a new one as
the owner of the home folder, or where that is root too, as the first of `medir`, `postgres`, `nobody` that
exists. No account is ever made, and the mode or owner of a folder that was there before is never changed: a
folder that the account can't enter is refused instead.

Whoever can open the socket is the database's superuser, without a password. So the socket lies in a folder of
mode 0700 that belongs to that account. Where root runs the server as `nobody`, other programs of that account
could open it too; make an account `medir` where that matters.
"""

import errno
import hashlib
import os
import pwd
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rag_core.errors import DatabaseUnavailable

ROOT_STAND_INS = ("medir", "postgres", "nobody")

SOCKET_NAME = ".s.PGSQL.5432"

# The shortest limit of the systems served: 104 bytes with the closing NUL on macOS, 108 on Linux.
_SOCKET_PATH_BYTES = 103

_BECOME = (
    "import os, sys; os.setgroups([]); os.setgid(int(sys.argv[1])); os.setuid(int(sys.argv[2])); "
    "os.execv(sys.argv[3], sys.argv[3:])"
)

_OTHER_HOME = "Set MEDIR_HOME to a folder of your own, or DATABASE_URL to a server that you run."
_OPEN_HOME = "Set MEDIR_HOME to a folder whose parents everyone may enter, such as /var/lib/medir."


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Who owns the data folder and runs the server; `foreign` when that is not the calling process's user."""

    uid: int
    gid: int
    name: str
    foreign: bool


def command_as(account: Account, command: Sequence[str]) -> list[str]:
    """The command that runs another as the account; the same one where that is the caller's own.

    `subprocess` could change the user by itself, but for that it forks instead of using vfork, and OpenBLAS ends its
    threads whenever their process forks: a thread that multiplies matrices meanwhile would wait for them for ever.
    """
    if not account.foreign:
        return list(command)
    return [sys.executable, "-I", "-S", "-c", _BECOME, str(account.gid), str(account.uid), *command]


@contextmanager
def folder_errors(folder: Path) -> Iterator[None]:
    """Turns what the system says about a folder into `DatabaseUnavailable`, in one sentence that names it."""
    try:
        yield
    except OSError as error:
        raise DatabaseUnavailable(
            f"The database's folder {error.filename or folder} can't be used: {error.strerror or error}.",
            hint=_OTHER_HOME,
        ) from error


def server_account(home: Path, data: Path) -> Account:
    """The account for this data folder: its owner; for a new one the caller, or who stands in for root.

    Raises:
        DatabaseUnavailable: the folder is another user's, or root's, or root finds no account to stand in.
    """
    caller = os.geteuid()
    if data.exists():
        owner = data.stat()
        if owner.st_uid == caller == 0 and any(data.iterdir()):
            raise DatabaseUnavailable(
                f"The data folder {data} belongs to root, as whom PostgreSQL refuses to run.",
                hint=f"Give it to an account: chown -R postgres {data}.",
            )
        if owner.st_uid != 0 and caller in (0, owner.st_uid):
            return _account(owner.st_uid, owner.st_gid)
        if caller != 0:
            raise DatabaseUnavailable(
                f"The data folder {data} belongs to {_name(owner.st_uid)}, not to {_name(caller)}.",
                hint=_OTHER_HOME,
            )
    if caller != 0:
        return _account(caller, os.getegid())
    if home.exists() and home.stat().st_uid != 0:
        return _account(home.stat().st_uid, home.stat().st_gid)
    return _stand_in()


def _stand_in() -> Account:
    for name in ROOT_STAND_INS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return _account(entry.pw_uid, entry.pw_gid)
    raise DatabaseUnavailable(
        "PostgreSQL refuses to run as root, and none of the accounts medir, postgres and nobody exists here.",
        hint="Make one of them (useradd --system medir), or run Medir as an ordinary user.",
    )


def _account(uid: int, gid: int) -> Account:
    with suppress(KeyError):  # containers often run under a number that has no entry
        gid = pwd.getpwuid(uid).pw_gid
    return Account(uid=uid, gid=gid, name=_name(uid), foreign=uid != os.geteuid())


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def make_home(home: Path, account: Account) -> None:
    """Makes the home folder and its missing parents; as root readable by everyone, whatever the umask.

    Raises:
        DatabaseUnavailable: it would lie in a folder that is closed to the account; nothing is made then.
        OSError: it can't be made, or something that is no folder stands in its place.
    """
    missing = [folder for folder in (home, *home.parents) if not folder.exists()]
    nearest = missing[-1].parent if missing else home
    if not nearest.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "it is not a folder", str(nearest))
    require_open(nearest, account)
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        if os.geteuid() == 0:
            folder.chmod(0o755)


def may_pass(status: os.stat_result, account: Account, bit: int) -> bool:
    """Whether the mode grants `bit` (1 enter or run, 4 read) to the account, by its user and main group."""
    if status.st_uid == account.uid:
        return bool(status.st_mode >> 6 & bit)
    if status.st_gid == account.gid:
        return bool(status.st_mode >> 3 & bit)
    return bool(status.st_mode & bit)


def closed_folder(folder: Path, account: Account) -> Path | None:
    """The topmost of the folder and its parents that the account can't enter; none when it can enter all."""
    for step in reversed((folder, *folder.parents)):
        if not may_pass(step.stat(), account, 1):
            return step
    return None


def require_open(folder: Path, account: Account) -> None:
    """Refuses a folder that another account than the caller's could not reach.

    Raises:
        DatabaseUnavailable: the folder or one of its parents is closed to the account.
    """
    closed = closed_folder(folder, account) if account.foreign else None
    if closed is not None:
        raise DatabaseUnavailable(
            f"PostgreSQL can't run as root, and {closed} is closed to {account.name}, as whom it would run.",
            hint=_OPEN_HOME,
        )


def socket_folder(home: Path, account: Account) -> Path:
    """Where the socket lies: `run` in the home folder, or a short folder under /tmp where that path won't do.

    A path won't do when it is too long for a socket, or holds a comma, at which libpq parts two hosts. The
    short folder does not depend on TMPDIR, which two processes of one user may see differently.
    """
    inside = home / "run"
    if len(os.fsencode(inside / SOCKET_NAME)) <= _SOCKET_PATH_BYTES and "," not in str(inside):
        return inside
    short = Path("/tmp")  # noqa: S108  what is made there is verified by require_private
    return short / f"medir-{account.uid}-{home_digest(home)}"


def home_digest(home: Path) -> str:
    """Twelve hexadecimal digits that stand for the home folder where its path would be too long."""
    return hashlib.sha256(os.fsencode(home)).hexdigest()[:12]


def require_private(folder: Path, account: Account) -> None:
    """Refuses a folder where somebody else could have put a socket; one that is missing passes.

    Raises:
        DatabaseUnavailable: it is a link or no folder, or not the account's alone.
    """
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != account.uid or status.st_mode & 0o077:
        raise DatabaseUnavailable(
            f"The folder {folder} must belong to {account.name} alone (mode 0700), and it does not.",
            hint="Remove it, or set MEDIR_HOME to another folder.",
        )


def make_private(folder: Path, account: Account) -> None:
    """Makes a folder of mode 0700 for the account, or takes the one that is there if it is exactly that.

    Raises:
        DatabaseUnavailable: something else stands in its place.
        OSError: it can't be made.
    """
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        pass
    else:
        folder.chmod(0o700)
        if account.foreign:
            os.chown(folder, account.uid, account.gid, follow_symlinks=False)
    require_private(folder, account)
