"""What the tests of the embedded server share: home folders that any account may enter, and other processes."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg

import rag_core
from rag_core.database.server.server import EmbeddedServer

IS_ROOT = os.geteuid() == 0

NOBODY = 65534

# What this process imports from, so that another interpreter process finds the same packages.
PYTHON_PATH = os.pathsep.join([str(Path(rag_core.__file__).parents[1]), *filter(None, sys.path)])

# Acquires, says the URL or the refusal, and releases when it is told to by a line or the end of its input.
_CLIENT = """
import os, resource, sys
import encodings.ascii, encodings.idna, encodings.latin_1, importlib.metadata
import rag_core.database.server.cluster, rag_core.database.server.postmaster
from pathlib import Path
from rag_core.database.server.server import EmbeddedServer
from rag_core.errors import DatabaseUnavailable
if sys.argv[2] != "-1":
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
if sys.argv[3] != "-1":  # not by starting as that user: the interpreter itself may be closed to others
    os.setgroups([])
    os.setgid(int(sys.argv[3]))
    os.setuid(int(sys.argv[3]))
server = EmbeddedServer(Path(sys.argv[1]))
try:
    print(server.acquire(), flush=True)
except DatabaseUnavailable as error:
    print(error.message, flush=True)
    sys.exit(2)
sys.stdin.readline()
server.release()
"""


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that everyone may enter, under one that everyone may enter; servers in it are stopped at the end."""
    folder = Path(tempfile.mkdtemp(prefix="medir-test-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        for lock in folder.rglob("server.lock"):
            EmbeddedServer(lock.parent).stop()
        shutil.rmtree(folder)


def copy_home(template: Path, home: Path) -> Path:
    """A copy of a stopped home folder with the owners of the original; quicker than a new one."""
    home.mkdir(parents=True)
    subprocess.run(["cp", "-a", str(template / "data"), str(home)], check=True)
    return home


def postmaster_pid(home: Path) -> int:
    return int((home / "data" / "postmaster.pid").read_text(encoding="utf-8").split()[0])


@contextmanager
def client(
    home: Path,
    *,
    environment: Mapping[str, str] | None = None,
    file_size_limit: int = -1,
    user: int | None = None,
    before: tuple[str, ...] = (),
    path: Path | None = None,
) -> Iterator[subprocess.Popen[str]]:
    """Another process that acquires the server of `home`; it releases when its input is closed."""
    process = subprocess.Popen(
        [
            *before,
            sys.executable,
            "-c",
            _CLIENT,
            str(home),
            str(file_size_limit),
            str(-1 if user is None else user),
        ],
        cwd="/",
        env={
            **(os.environ if environment is None else environment),
            "PYTHONPATH": f"{path or ''}:{PYTHON_PATH}",
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            if process.stdin is not None and not process.stdin.closed:
                process.stdin.close()
            process.wait(60)


def first_line(process: subprocess.Popen[str]) -> str:
    """What the client said: a URL, or the sentence of its refusal."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def value(url: str, query: str) -> object:
    with psycopg.connect(url) as connection:
        row = connection.execute(query.encode()).fetchone()
    return None if row is None else row[0]


def is_running(home: Path) -> bool:
    return EmbeddedServer(home).status().running
