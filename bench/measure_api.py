"""50 clients search over HTTP at once while the index is made anew, again and again; then the database dies.

A repository of the sample's texts is committed in editions; every section names its edition. While the clients ask,
each next edition is indexed over HTTP, in full and incrementally in turn. An answer whose hits are of two editions, or
of an older one than the same client has seen, is a fault, and so is any answer but 200. The server's memory is read
once a second. In a second part the database is killed (`kill -9` of its postmaster) under the same clients and started
again after some seconds: then 200 and 503 are the answers that there may be, and after its return 200 alone, from the
same process. Clients, server and database share the machine. Writes `bench/results/api.md`; a fault ends it with 1.

    python bench/measure_api.py [--clients 50] [--seconds 60] [--away 8]
"""

import argparse
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import psutil

from material import TOP
from rag_core.database.server.server import EmbeddedServer
from rag_core.settings.golden_folder import read_golden_set

CORPUS = TOP / "golden_set" / "corpus"
PROJECT = "edicoes"
MEDIR = (sys.executable, "-m", "medir")
SEED = 20260102
SECTION_CHARS = 900
TIMEOUT_S = 40.0
WARM_UP_S = 3.0
EDITION = re.compile(r"Edição (\d+) deste texto\.")


@dataclass(slots=True)
class Seen:
    """What one client met. `answers` holds (time of the answer, milliseconds, status)."""

    answers: list[tuple[float, float, int]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    edition: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """When the postmaster was killed and the server was back, on the clients' clock."""

    killed: float
    back: float


class Repository:
    """The sample's documents in editions, each section with the edition's number in its text."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sections = {
            path.relative_to(CORPUS): list(_sections(path.read_text(encoding="utf-8")))
            for path in sorted(CORPUS.glob("docs/**/*.md"))
        }
        folder.mkdir()
        self._git("init", "--quiet", "--initial-branch=main")

    def publish(self, edition: int) -> None:
        """Write and commit an edition."""
        for path, sections in self.sections.items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            text = "\n\n".join(
                f"## Parte {number}\n\n{section}\n\nEdição {edition} deste texto."
                for number, section in enumerate(sections, 1)
            )
            target.write_text(text + "\n", encoding="utf-8")
        self._git("add", "--all")
        identity = (
            "-c",
            "user.name=Bench",
            "-c",
            "user.email=bench@example.org",
            "-c",
            "commit.gpgsign=false",
        )
        self._git(*identity, "commit", "--quiet", "--message", f"Edition {edition}")

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", "-C", str(self.folder), *arguments], check=True)


def _sections(text: str) -> Iterator[str]:
    """Paragraphs without headings and signs that would make a section of their own, each short enough for one chunk."""
    for paragraph in re.split(r"\n\s*\n", text):
        plain = " ".join(
            line for line in paragraph.splitlines() if not line.lstrip().startswith(("#", "```", "|", "---"))
        )
        if len(plain) > 40:
            yield plain[:SECTION_CHARS]


class Installation:
    """A database of its own, and `medir serve` over it with a token of each role."""

    def __init__(self, folder: Path) -> None:
        self.database = EmbeddedServer(folder / "database")
        (folder / "database").mkdir()
        kept = {key: value for key, value in os.environ.items() if key not in ("DATABASE_URL", "OLLAMA_HOST")}
        path = os.pathsep.join(filter(None, (str(TOP), os.environ.get("PYTHONPATH", ""))))
        self.environment = kept | {
            "DATABASE_URL": self.database.acquire(),
            "MEDIR_HOME": str(folder / "home"),
            "MEDIR_EMBEDDING": "embedded",
            "PYTHONPATH": path,
            "CI": "1",
        }
        self.folder = folder
        self.port = _free_port()

    def medir(self, *arguments: str) -> dict[str, object]:
        """Run a verb; its JSON."""
        finished = subprocess.run(
            [*MEDIR, *arguments, "--json"], env=self.environment, capture_output=True, check=False
        )
        if finished.returncode:
            raise SystemExit(
                f"medir {' '.join(arguments)}: {finished.stdout.decode()}{finished.stderr.decode()}"
            )
        return json.loads(finished.stdout)

    @contextmanager
    def serving(self) -> Iterator[psutil.Process]:
        """The server's process, once it answers."""
        with (self.folder / "serve.log").open("wb") as log:
            server = subprocess.Popen(
                [*MEDIR, "serve", "--port", str(self.port)], env=self.environment, stdout=log, stderr=log
            )
        try:
            deadline = time.monotonic() + 60
            while not self._answers():
                if server.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit((self.folder / "serve.log").read_text(errors="replace"))
                time.sleep(0.1)
            yield psutil.Process(server.pid)
        finally:
            server.terminate()
            server.wait(30)

    def _answers(self) -> bool:
        try:
            return call(self.port, "GET", "/api/ready", token=None)[0] == 200
        except OSError:
            return False

    def kill_database(self) -> None:
        """`kill -9` of the postmaster."""
        pid = int((self.folder / "database" / "data" / "postmaster.pid").read_text().splitlines()[0])
        os.kill(pid, signal.SIGKILL)

    def start_database(self) -> None:
        """Start it again, without any word to the server."""
        self.database.acquire()
        self.database.release()


def call(
    port: int,
    method: str,
    path: str,
    *,
    token: str | None,
    body: Mapping[str, object] | None = None,
    connection: http.client.HTTPConnection | None = None,
) -> tuple[int, dict[str, object]]:
    """One request: status and document."""
    used = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    headers = {"Content-Type": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    used.request(method, path, None if body is None else json.dumps(body).encode(), headers)
    response = used.getresponse()
    content = response.read()
    if connection is None:
        used.close()
    return response.status, json.loads(content or "{}")


def ask_until(
    stop: threading.Event, seen: Seen, *, port: int, token: str | None, questions: Sequence[str], seed: int
) -> None:
    """One client: a question after the other over one connection, each answer checked."""
    chance = random.Random(seed)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    while not stop.is_set():
        began = time.monotonic()
        try:
            status, answer = call(
                port,
                "POST",
                f"/api/projects/{PROJECT}/rag/search",
                token=token,
                body={"query": chance.choice(questions), "limit": 10},
                connection=connection,
            )
        except (OSError, http.client.HTTPException) as error:
            seen.faults.append(f"{type(error).__name__}: {error}")
            connection.close()
            continue
        ended = time.monotonic()
        seen.answers.append((ended, (ended - began) * 1000, status))
        if status == 200:
            check_answer(seen, answer)
    connection.close()


def check_answer(seen: Seen, answer: Mapping[str, object]) -> None:
    """All hits of one edition, and of none older than this client has seen."""
    hits = answer["hits"]
    texts = [str(hit["content"]) for hit in hits] if isinstance(hits, list) else []
    editions = {int(number) for text in texts for number in EDITION.findall(text)}
    if len(editions) > 1:
        seen.faults.append(f"an answer of the editions {sorted(editions)}")
    elif texts and not editions:
        seen.faults.append("an answer without an edition")
    elif editions:
        found = editions.pop()
        if found < seen.edition:
            seen.faults.append(f"edition {found} after {seen.edition}")
        seen.edition = max(seen.edition, found)


@contextmanager
def clients(count: int, port: int, token: str | None, questions: Sequence[str]) -> Iterator[list[Seen]]:
    """So many clients that ask as long as the context lasts."""
    stop, seen = threading.Event(), [Seen() for _ in range(count)]
    threads = [
        threading.Thread(
            target=ask_until,
            args=(stop, one),
            kwargs={"port": port, "token": token, "questions": questions, "seed": SEED + number},
        )
        for number, one in enumerate(seen)
    ]
    for thread in threads:
        thread.start()
    try:
        yield seen
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def reindex_until(
    deadline: float,
    *,
    installation: Installation,
    repository: Repository,
    token: str,
    memory: list[tuple[float, int]],
    server: psutil.Process,
) -> tuple[int, list[str]]:
    """Publish and index one edition after the other; how many, and what went wrong. Reads the memory meanwhile."""
    edition, faults = 1, list[str]()
    path = f"/api/projects/{PROJECT}/rag/reindex"
    while time.monotonic() < deadline:
        edition += 1
        repository.publish(edition)
        mode = "full" if edition % 2 else "incremental"
        status, begun = call(installation.port, "POST", path, token=token, body={"mode": mode})
        if status != 202:
            faults.append(f"reindex: {status} {begun}")
            continue
        while True:
            memory.append((time.monotonic(), server.memory_info().rss))
            time.sleep(1.0)
            run = call(installation.port, "GET", f"{path}/{begun['runId']}", token=token)[1]
            if run.get("state") not in ("waiting", "running"):
                break
        if run.get("state") != "done":
            faults.append(f"run: {run}")
    return edition - 1, faults


def ride_out(seconds: float, away: float, installation: Installation) -> Outage:
    """Let the clients ask, kill the database, start it again, let them ask on."""
    time.sleep(seconds)
    installation.kill_database()
    killed = time.monotonic()
    time.sleep(away)
    installation.start_database()
    back = time.monotonic()
    time.sleep(max(seconds, 10.0))
    return Outage(killed=killed, back=back)


def main() -> None:
    """Set up, measure, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--away", type=float, default=8.0, help="How long the database is away.")
    parser.add_argument("--output", type=Path, default=TOP / "bench" / "results" / "api.md")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="medir-bench-"))
    # as root the database runs as another account, which must be able to enter
    folder.chmod(0o755)
    try:
        installation = Installation(folder)
        try:
            faults = measure(installation, options)
        finally:
            installation.database.release()
    finally:
        EmbeddedServer(folder / "database").stop()
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if faults else 0)


def measure(installation: Installation, options: argparse.Namespace) -> bool:
    """Both parts, and their page; whether there was a fault."""
    repository = Repository(installation.folder / "repository")
    repository.publish(1)
    installation.medir("project", "add", PROJECT, "--repo", str(repository.folder))
    indexed = installation.medir("index", "--project", PROJECT)
    tokens = {
        role: str(installation.medir("token", "create", role, "--role", role)["token"])
        for role in ("viewer", "maintainer")
    }
    questions = [case.question for case in read_golden_set(TOP / "golden_set" / "cases.yaml").cases]
    memory: list[tuple[float, int]] = []
    with installation.serving() as server:
        call(
            installation.port,
            "POST",
            f"/api/projects/{PROJECT}/rag/search",
            token=tokens["viewer"],
            body={"query": questions[0]},
        )
        began = time.monotonic()
        with clients(options.clients, installation.port, tokens["viewer"], questions) as searching:
            editions, run_faults = reindex_until(
                began + options.seconds,
                installation=installation,
                repository=repository,
                token=tokens["maintainer"],
                memory=memory,
                server=server,
            )
        took = time.monotonic() - began
        with clients(options.clients, installation.port, tokens["viewer"], questions) as riding:
            outage = ride_out(options.seconds / 4, options.away, installation)
        alive = server.is_running() and server.status() != psutil.STATUS_ZOMBIE
    lines, faults = report(
        options,
        indexed=indexed,
        searching=searching,
        run_faults=run_faults,
        memory=memory,
        riding=riding,
        outage=outage,
        editions=editions,
        began=began,
        took=took,
    )
    if not alive:
        faults.append("the server's process ended")
    page = "\n".join([*lines, "", f"Faults: {len(faults)}.", *(f"- {fault}" for fault in faults[:20]), ""])
    options.output.write_text(page, encoding="utf-8")
    print(page)
    return bool(faults)


def report(
    options: argparse.Namespace,
    *,
    indexed: Mapping[str, object],
    searching: Sequence[Seen],
    run_faults: Sequence[str],
    memory: Sequence[tuple[float, int]],
    riding: Sequence[Seen],
    outage: Outage,
    editions: int,
    began: float,
    took: float,
) -> tuple[list[str], list[str]]:
    """The page's lines, and the faults."""
    faults = [*run_faults, *(fault for one in (*searching, *riding) for fault in one.faults)]
    counted = Counter(status for one in searching for _, _, status in one.answers)
    faults += [
        f"{count} answers {status} without an outage" for status, count in counted.items() if status != 200
    ]
    times = sorted(ms for one in searching for _, ms, status in one.answers if status == 200)
    chunks = sum(scope["chunks"] for scope in indexed["scopes"].values())  # type: ignore[attr-defined,index]
    rss = [bytes_ / 2**20 for at, bytes_ in memory if at - began > WARM_UP_S] or [0.0]
    away = Counter(status for one in riding for at, _, status in one.answers)
    settled = outage.back + 2.0
    late = Counter(status for one in riding for at, _, status in one.answers if at > settled)
    first = min(
        (
            at - outage.back
            for one in riding
            for at, _, status in one.answers
            if status == 200 and at > outage.back
        ),
        default=float("nan"),
    )
    faults += [
        f"{count} answers {status} in the outage"
        for status, count in away.items()
        if status not in (200, 503)
    ]
    faults += [f"{count} answers {status} after it" for status, count in late.items() if status != 200]
    if not late[200]:
        faults.append("no answer after the outage")
    lines = [
        f"# The HTTP API under {options.clients} clients",
        "",
        f"Made by `bench/measure_api.py` on {datetime.now(UTC):%Y-%m-%d}. Clients, server, database and index runs",
        f"share {os.cpu_count()} cores; {chunks:,} chunks, embedded encoder, clients without pause.",
        "",
        f"## {took:.0f} seconds of searches while {editions} editions were indexed over HTTP",
        "",
        "| answers | a second | p50 ms | p95 ms | p99 ms | most ms | other than 200 | mixed or older editions |",
        "|---|---|---|---|---|---|---|---|",
        _row(
            f"{len(times):,}",
            f"{len(times) / took:.1f}",
            *(f"{_at(times, share):.0f}" for share in (0.5, 0.95, 0.99, 1.0)),
            f"{sum(counted.values()) - counted[200]}",
            f"{sum('edition' in fault for one in searching for fault in one.faults)}",
        ),
        "",
        "Memory of the server in MiB, by quarters of that time: "
        + ", ".join(f"{statistics.median(part):.0f}" for part in _quarters(rss))
        + f"; at most {max(rss):.0f}.",
        "",
        f"## The database killed and away for {outage.back - outage.killed:.1f} seconds",
        "",
        "| 200 | 503 | others | first 200 after its return, s | 503 later than 2 s after it |",
        "|---|---|---|---|---|",
        _row(
            f"{away[200]:,}",
            f"{away[503]:,}",
            f"{sum(away.values()) - away[200] - away[503]}",
            f"{first:.1f}",
            f"{late[503]}",
        ),
    ]
    return lines, faults


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _quarters(values: Sequence[float]) -> list[Sequence[float]]:
    size = max(1, len(values) // 4)
    return [part for part in (values[start : start + size] for start in range(0, size * 4, size)) if part]


def _at(times: Sequence[float], share: float) -> float:
    return times[min(len(times) - 1, int(share * len(times)))] if times else float("nan")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
