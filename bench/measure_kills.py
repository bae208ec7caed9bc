"""kill -9 at random moments of an index run: is the old or the new index whole, and does the next run end well?

A real project's documentation is committed many times over, each commit with files edited, renamed, deleted and
added. Each round indexes the next commit in a process of its own (`medir index`, full and incremental in turn) and
kills it at a moment drawn over the length of such a run, or, every other time, of its last step, which writes the
new index: the client, the postmaster alone (its backends outlive it),
or the postmaster with all its backends. Afterwards the rows must equal, file by file and chunk by chunk, those that
the chunker gives for the old or the new commit, every one of them with its vector; the commit that the index names
must be the one that its rows are of; and the next run must end with 0 and the new commit. Writes
`bench/results/kills.md`; takes some minutes. A fault ends it with 1.
"""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Literal

import psutil
import psycopg

from material import DATA, TOP
from rag_core.chunking import chunk_document
from rag_core.model import DocumentFolders
from rag_core.sources.documents import read_documents
from rag_core.sources.git import GitRepository

CORPUS = "coopshield"
ROUNDS = 50
SEED = 20260102
MEDIR = (sys.executable, "-c", "from medir.cli import main; main()")
WAIT_S = 300.0
ENDED = "ended"

Victim = Literal["client", "postmaster", "postmaster and backends"]
Mode = Literal["full", "incremental"]
Part = Literal["run", "write"]
MODES: tuple[Mode, ...] = ("full", "incremental")
VICTIMS: tuple[Victim, ...] = ("client", "postmaster", "client", "postmaster and backends")

Rows = frozenset[tuple[str, int, str, bool]]
"""Path, ordinal, content hash, and whether there is a vector, of each chunk."""

Lengths = Mapping[tuple[Mode, Part], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One killed run. `found` is which index stood after it, `client` and `next_code` are exit codes."""

    victim: Victim
    mode: Mode
    part: Part
    after_ms: int
    step: str
    client: int
    found: Literal["old", "new", "neither"]
    named: bool
    next_code: int
    mended: bool

    @property
    def good(self) -> bool:
        """Whether nothing was lost or half done, and the client never called the outage its own fault."""
        return (
            self.found != "neither" and self.named and self.mended and self.client in (0, 2, -signal.SIGKILL)
        )


class Installation:
    """A throwaway home with its server, and the command line run against it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        kept = {key: value for key, value in os.environ.items() if key not in ("DATABASE_URL", "OLLAMA_HOST")}
        path = os.pathsep.join(filter(None, (str(TOP), os.environ.get("PYTHONPATH", ""))))
        self.environment = kept | {
            "MEDIR_HOME": str(self.home),
            "MEDIR_EMBEDDING": "embedded",
            "PYTHONPATH": path,
        }
        self.url = ""

    def medir(self, *arguments: str) -> tuple[int, dict[str, object]]:
        """Run a verb to its end: exit code and JSON."""
        finished = subprocess.run(
            [*MEDIR, *arguments, "--json"],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=WAIT_S,
            check=False,
        )
        return finished.returncode, json.loads(finished.stdout or "{}")

    def begin(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a verb."""
        return subprocess.Popen(
            [*MEDIR, *arguments, "--json"],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def start_server(self) -> None:
        """Start the server, to stay."""
        code, answer = self.medir("db", "start")
        if code != 0:
            raise SystemExit(f"The server does not start: {answer}")
        if not self.url:
            _, status = self.medir("db", "status")
            self.url = str(status["url"])

    def postmaster(self) -> psutil.Process:
        """The server's first process."""
        first_line = (self.home / "data" / "postmaster.pid").read_text(encoding="utf-8").split()[0]
        return psutil.Process(int(first_line))


def main() -> None:
    """Kill, look, go on, write."""
    folder = Path(tempfile.mkdtemp(prefix="medir-kills-"))
    # as root the server runs as another account, which must be able to enter
    folder.chmod(0o755)
    installation = Installation(folder)
    try:
        repository = folder / CORPUS
        commits = make_history(repository, 3 * ROUNDS)
        expected = {commit: expected_rows(repository, commit) for commit in commits}
        installation.start_server()
        installation.medir("project", "add", CORPUS, "--repo", str(repository))
        lengths = measure_lengths(installation, commits[:3])
        rounds, late = kill_all(installation, commits[2:], expected, lengths)
    finally:
        installation.medir("db", "stop")
        shutil.rmtree(folder, ignore_errors=True)
    text = "\n".join(report(rounds, late, lengths, expected)) + "\n"
    (TOP / "bench" / "results").mkdir(exist_ok=True)
    (TOP / "bench" / "results" / "kills.md").write_text(text, encoding="utf-8")
    print(text)
    if not all(entry.good for entry in (*rounds, *late)):
        raise SystemExit(1)


def make_history(repository: Path, count: int) -> list[str]:
    """A repository of the corpus with `count` commits, each with edits, a rename, a deletion and a new file."""
    shutil.copytree(DATA / "corpora" / CORPUS / "files", repository, copy_function=shutil.copy)
    git(repository, "init", "-q")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "import")
    commits = [git(repository, "rev-parse", "HEAD")]
    draw = random.Random(SEED)
    for number in range(1, count):
        files = sorted(path for path in (repository / "docs").rglob("*.md") if path.is_file())
        chosen = draw.sample(files, 8)
        for path in chosen[:6]:
            with path.open("a", encoding="utf-8") as file:
                file.write(f"\n## Rodada {number}\n\nTexto da rodada {number} em {path.name}.\n")
        chosen[6].rename(chosen[6].with_name(f"{number}-{chosen[6].name[-40:]}"))
        chosen[7].unlink()
        (repository / "docs" / f"novo-{number}.md").write_text(
            f"# Novo {number}\n\nArquivo {number}.\n", encoding="utf-8"
        )
        git(repository, "add", "-A")
        git(repository, "commit", "-qm", f"round {number}")
        commits.append(git(repository, "rev-parse", "HEAD"))
    for path in (repository, *repository.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return commits


def git(repository: Path, *arguments: str) -> str:
    """What git printed."""
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgsign=false")
    finished = subprocess.run(
        ["git", "-C", str(repository), *identity, *arguments], check=True, capture_output=True, text=True
    )
    return finished.stdout.strip()


def expected_rows(repository: Path, commit: str) -> Rows:
    """What a whole index of the commit holds, without any database."""
    tree = read_documents(GitRepository(repository), ref=commit, root="", folders=DocumentFolders())
    return frozenset(
        (document.path, chunk.ordinal, hashlib.sha256(chunk.content.encode()).hexdigest(), True)
        for document in tree.documents
        for chunk in chunk_document(document.text, place=document.place, scope=document.scope)
    )


def measure_lengths(installation: Installation, commits: Sequence[str]) -> Lengths:
    """How long runs that nobody kills take in seconds, and their last step, by mode."""
    lengths: dict[tuple[Mode, Part], float] = {}
    modes: tuple[Mode, ...] = ("full", "incremental", "full")
    for mode, commit in zip(modes, commits, strict=True):
        with installation.begin("index", "--mode", mode, "--ref", commit) as process:
            parts: tuple[Part, ...] = ("run", "write")
            begun = {part: wait_for(installation, commit, part) for part in parts}
            if end_of(process) != 0:
                raise SystemExit(f"A run that nobody disturbs ends with {process.returncode}")
        with psycopg.connect(installation.url, autocommit=True) as connection:
            row = connection.execute(
                "select extract(epoch from finished_at)::float8 from runs order by started_at desc limit 1"
            ).fetchone()
        for part, at in begun.items():
            lengths[mode, part] = (row[0] if row else at) - at
    return lengths


def kill_all(
    installation: Installation, commits: Sequence[str], expected: Mapping[str, Rows], lengths: Lengths
) -> tuple[list[Round], list[Round]]:
    """Rounds until enough of them have hit a run at work, and those that came too late.

    Each goes from one commit to the next. The length that a moment is drawn over follows the machine: it shrinks by a
    quarter where a kill came too late, and else grows a little.
    """
    draw = random.Random(SEED)
    hits: list[Round] = []
    late: list[Round] = []
    spans = dict(lengths)
    for old, new in pairwise(commits):
        number = len(hits)
        mode: Mode = "full" if number // 4 % 2 == 0 else "incremental"
        part: Part = "run" if number // 8 % 2 == 0 else "write"
        entry = kill_once(
            installation,
            VICTIMS[number % len(VICTIMS)],
            mode,
            part,
            draw.uniform(0, spans[mode, part]),
            old=old,
            new=new,
            expected=expected,
        )
        print(number + 1, entry, file=sys.stderr)
        (late if entry.step == ENDED else hits).append(entry)
        spans[mode, part] *= 0.75 if entry.step == ENDED else 1.03
        if len(hits) == ROUNDS:
            return hits, late
    raise SystemExit(f"Only {len(hits)} kills hit a run at work")


def kill_once(
    installation: Installation,
    victim: Victim,
    mode: Mode,
    part: Part,
    after_s: float,
    *,
    old: str,
    new: str,
    expected: Mapping[str, Rows],
) -> Round:
    """Start a run, kill, and see what stands and whether the next run ends well."""
    with installation.begin("index", "--mode", mode, "--ref", new) as process:
        wait_for(installation, new, part)
        time.sleep(after_s)
        if victim == "client":
            process.kill()
        else:
            kill_server(installation, whole=victim == "postmaster and backends")
        client = end_of(process)
    if victim != "client":
        installation.start_server()
    wait_until_alone(installation)
    rows, commit, step = read_index(installation)
    states: dict[Rows, Literal["old", "new"]] = {expected[old]: "old", expected[new]: "new"}
    found = states.get(rows, "neither")
    next_code, _ = installation.medir("index", "--mode", "incremental", "--ref", new)
    after, named, _ = read_index(installation)
    return Round(
        victim=victim,
        mode=mode,
        part=part,
        after_ms=round(after_s * 1000),
        step=step,
        client=client,
        found=found,
        named=commit == {"old": old, "new": new}.get(found),
        next_code=next_code,
        mended=next_code == 0 and (after, named) == (expected[new], new) and no_run_is_open(installation),
    )


def end_of(process: subprocess.Popen[bytes]) -> int:
    """The exit code of a client; one that hangs is killed, and ends the bench."""
    try:
        return process.wait(WAIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise SystemExit("A client hangs") from None


def kill_server(installation: Installation, *, whole: bool) -> None:
    postmaster = installation.postmaster()
    backends = postmaster.children(recursive=True) if whole else []
    for process in (postmaster, *backends):
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue


def wait_for(installation: Installation, commit: str, part: Part) -> float:
    """Until the run of that commit has its row, or has come to its last step; the time of day then, in seconds."""
    with psycopg.connect(installation.url, autocommit=True) as connection:
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            row = connection.execute(
                "select progress ->> 'step', state::text from runs where parameters ->> 'ref' = %s", (commit,)
            ).fetchone()
            if row is not None and (part == "run" or row[0] == "write" or row[1] != "running"):
                return time.time()
            time.sleep(0.005)
    raise SystemExit("The run does not begin")


def wait_until_alone(installation: Installation) -> None:
    """Until the server has noticed that its client died; a commit that was under way is over then."""
    with psycopg.connect(installation.url, autocommit=True) as connection:
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            if not connection.execute(
                """
                select from pg_stat_activity
                where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
                """
            ).rowcount:
                return
            time.sleep(0.01)
    raise SystemExit("A backend does not end")


def read_index(installation: Installation) -> tuple[Rows, str, str]:
    """The rows that stand, the commit that they are said to be of, and the step at which the last run was seen."""
    with psycopg.connect(installation.url, autocommit=True) as connection:
        rows = connection.execute(
            "select source_path, ordinal, content_hash, embedding is not null from chunks"
        ).fetchall()
        commits = connection.execute(
            "select distinct commit from index_scopes where scope <> 'session'"
        ).fetchall()
        step = connection.execute(
            "select coalesce(progress ->> 'step', 'begin'), state::text from runs order by started_at desc limit 1"
        ).fetchone()
    ended = step is not None and step[1] == "done"
    return (
        frozenset(rows) if len(frozenset(rows)) == len(rows) else frozenset(),
        commits[0][0] if len(commits) == 1 else "",
        ENDED if ended else str(step[0]) if step else "",
    )


def no_run_is_open(installation: Installation) -> bool:
    """Whether every run that was killed is known to have ended."""
    with psycopg.connect(installation.url, autocommit=True) as connection:
        return not connection.execute("select from runs where state = 'running'").rowcount


def report(
    rounds: Sequence[Round], late: Sequence[Round], lengths: Lengths, expected: Mapping[str, Rows]
) -> list[str]:
    """The page."""
    chunks = [len(rows) for rows in expected.values()]
    lines = [
        "# kill -9 during index runs",
        "",
        f"Written by `bench/measure_kills.py` on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, seed {SEED}.",
        f"Corpus {CORPUS}, {min(chunks)} to {max(chunks)} chunks a commit, {len(rounds)} kills. A run takes "
        + ", ".join(f"{seconds:.1f} s ({mode})" for (mode, part), seconds in lengths.items() if part == "run")
        + ",",
        "its last step "
        + ", ".join(
            f"{seconds:.1f} s ({mode})" for (mode, part), seconds in lengths.items() if part == "write"
        )
        + "; the moment is drawn over the one or the other. Whole",
        "means: every row of the old or of the new commit and no other, each with its vector, under that commit's",
        "name.",
        "",
        "| killed | mode | kills | old whole | new whole | neither | next run ends well | exit codes of the client |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for victim in dict.fromkeys(VICTIMS):
        for mode in MODES:
            part = [entry for entry in rounds if (entry.victim, entry.mode) == (victim, mode)]
            codes = Counter(entry.client for entry in part)
            found = Counter(entry.found if entry.named else "neither" for entry in part)
            lines.append(
                f"| {victim} | {mode} | {len(part)} | {found['old']} | {found['new']} | {found['neither']} "
                f"| {sum(entry.mended for entry in part)} "
                f"| {', '.join(f'{code} ({count})' for code, count in sorted(codes.items()))} |"
            )
    steps = Counter(entry.step for entry in rounds)
    lines += [
        "",
        "The step that the run had last written when it was killed (`chunk` lasts until the first vectors are made): "
        + ", ".join(f"{step} {count}" for step, count in sorted(steps.items()))
        + ".",
        "",
        f"{len(late)} more kills came when the run had just ended, and are not counted above; after them too the new",
        f"index was whole: {'yes' if all(entry.good and entry.found == 'new' for entry in late) else 'NO'}.",
        "",
        f"All good: {'yes' if all(entry.good for entry in (*rounds, *late)) else 'NO'}.",
    ]
    return lines


if __name__ == "__main__":
    main()
