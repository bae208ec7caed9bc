"""What the words of an index cost an index run: with spellings and word statistics, against another checkout.

The documents of the corpora, twice over, are indexed in full, again and again, and after an edit of one file:
once where no vector is made, so that nothing but the run itself is timed, and once with kept vectors, which a run
writes and puts into their index. Each checkout is a process of its own with its own server, and they take turns,
run by run. Without `--against` this checkout is measured alone. Writes `bench/results/index-run.md`; with `--against`
a run with kept vectors that takes 15 % more than there ends it with 1.

    mkdir /tmp/before; git archive COMMIT | tar -x -C /tmp/before
    python bench/measure_index_run.py --against /tmp/before
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from material import BENCH, CORPORA, DATA, TOP
from medir.configuration import load_configuration
from medir.wiring import Services, open_services
from rag_core.project.projects import add_project

COPIES = 2
ROUNDS = 7
LIMIT = 1.15
HERE, THERE = "this", "before"

Kind = Literal["first", "full", "edit"]
KINDS: tuple[Kind, ...] = ("full", "edit")
ENCODERS = {"no vectors": "ollama", "kept vectors": "embedded"}


class Checkout:
    """A process of one checkout, which indexes when it is told to."""

    def __init__(self, top: Path, encoder: str) -> None:
        # its own modules alone, whatever is installed
        environment = os.environ | {
            "PYTHONPATH": f"{top}{os.pathsep}{top / 'bench'}",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__, "--serve", encoder],
            cwd=top,
            env=environment | {"MEDIR_BENCH_DATA": str(DATA)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, kind: Kind) -> dict[str, Any]:
        """Seconds of a run, and of the words in it where they are apart; how many chunks, how many texts embedded."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("no pipes")
        print(kind, file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())

    def end(self) -> None:
        """Let it remove its home."""
        self._process.communicate()


def main() -> None:
    """Measure, write, judge."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--against", type=Path)
    parser.add_argument("--serve")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    told = parser.parse_args()
    if told.serve:
        serve(told.serve)
        return
    if told.against and (told.against / "rag_core" / "database" / "index" / "postings.py").exists():
        parser.error("the other checkout writes word statistics too")
    tops = {HERE: TOP} | ({THERE: told.against.resolve()} if told.against else {})
    measured = {name: measure(tops, encoder, told.rounds) for name, encoder in ENCODERS.items()}
    out = TOP / "bench" / "results" / "index-run.md"
    out.write_text("\n".join(report(measured, tops, told.rounds)) + "\n", encoding="utf-8")
    print(out.read_text(encoding="utf-8"))
    if THERE in tops and any(ratio(measured["kept vectors"], kind) > LIMIT for kind in KINDS):
        raise SystemExit(f"A run takes more than {LIMIT:.2f} times what it took")


Measured = dict[tuple[str, Kind], list[dict[str, Any]]]


def measure(tops: dict[str, Path], encoder: str, rounds: int) -> Measured:
    """All runs with one encoder, in turns."""
    checkouts = {name: Checkout(top, encoder) for name, top in tops.items()}
    found: Measured = {}
    try:
        for name, checkout in checkouts.items():
            found[name, "first"] = [checkout.run("first")]
        for kind in KINDS:
            for number in range(1 + rounds):
                turn = list(checkouts) if number % 2 else list(reversed(checkouts))
                for name in turn:
                    one = checkouts[name].run(kind)
                    # the first of a kind warms up
                    if number:
                        found.setdefault((name, kind), []).append(one)
    finally:
        for checkout in checkouts.values():
            checkout.end()
    return found


def serve(encoder: str) -> None:
    """Index for each line that is read, and say how long it took."""
    with services_with(encoder) as services:
        repository = services.configuration.home / "repositories" / "all"
        for copy in range(COPIES):
            for name in CORPORA:
                shutil.copytree(
                    DATA / "corpora" / name / "files" / "docs",
                    repository / "docs" / f"{name}-{copy}",
                    copy_function=shutil.copy,
                )
        for path in (repository, *repository.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        git(repository, "init", "-q")
        commit(repository)
        project = add_project(services.database, "all", repo=repository)
        for number, line in enumerate(sys.stdin):
            kind = line.strip()
            if kind == "edit":
                with min((repository / "docs").rglob("*.md")).open("a", encoding="utf-8") as file:
                    file.write(f"\n\nUm parágrafo a mais, o de número {number}.\n")
                commit(repository)
            began: dict[str, float] = {}

            def listen(step: str, _done: int, _total: int, began: dict[str, float] = began) -> None:
                began.setdefault(step, time.perf_counter())

            started = time.perf_counter()
            done = services.indexing.run(
                project,
                actor=BENCH,
                mode="incremental" if kind == "edit" else "full",
                listener=listen,
            )
            ended = time.perf_counter()
            answer = {
                "run_s": ended - started,
                "write_s": ended - began["write"],
                # the encoder is asked between these two
                "but_encoder_s": ended - started - (began["write"] - began["embed"]),
                "chunks": sum(chunks for _, chunks in done.counts.values()),
                "embedded": done.embedding.embedded,
            }
            print(json.dumps(answer), flush=True)


@contextmanager
def services_with(encoder: str) -> Iterator[Services]:
    """Services over a home that is removed at the end; any checkout has what is used of them."""
    home = Path(tempfile.mkdtemp(prefix="medir-bench-"))
    home.chmod(0o755)
    kept = {key: value for key, value in os.environ.items() if key not in ("DATABASE_URL", "OLLAMA_HOST")}
    # nobody listens there
    mine = {"MEDIR_HOME": str(home), "MEDIR_EMBEDDING": encoder, "OLLAMA_HOST": "127.0.0.1:1"}
    try:
        with open_services(load_configuration(kept | mine)) as services:
            yield services
    finally:
        shutil.rmtree(home, ignore_errors=True)


def commit(repository: Path) -> None:
    """All that has changed."""
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "change")


def git(repository: Path, *arguments: str) -> None:
    """Run git under a name of its own."""
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgsign=false")
    subprocess.run(
        ["git", "-C", str(repository), *identity, *arguments], check=True, stdout=subprocess.DEVNULL
    )


def median(measured: Measured, name: str, kind: Kind, what: str) -> float:
    """Of the runs of a kind, in seconds."""
    return statistics.median(one[what] for one in measured[name, kind])


def ratio(measured: Measured, kind: Kind) -> float:
    """This checkout's run over the other's: the median of the pairs, encoder aside."""
    pairs = zip(measured[HERE, kind], measured[THERE, kind], strict=True)
    return statistics.median(mine["but_encoder_s"] / other["but_encoder_s"] for mine, other in pairs)


def report(measured: dict[str, Measured], tops: dict[str, Path], rounds: int) -> list[str]:
    """The page."""
    both = THERE in tops
    lines = [
        "# What an index run costs, encoder aside",
        "",
        f"Written by `bench/measure_index_run.py` on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores. Medians of",
        f"{rounds} runs, checkouts in turns; the first run has one. Full: every chunk is deleted and written anew.",
        "Edit: a paragraph more in one file. No vectors: the provider does not answer; kept vectors: of an earlier",
        "run, written and put into their index. The step that asks the encoder is left out; the last one, which",
        "writes, stands apart.",
        "",
        "| vectors | run | chunks | "
        + ("before, s | its write, s | " if both else "")
        + "now, s | its write, s |"
        + (" ratio |" if both else ""),
        "|---|---|---|---|---|" + ("---|---|---|" if both else ""),
    ]
    for name, each in measured.items():
        for kind in ("first", *KINDS):
            cells = [name, kind, f"{each[HERE, kind][-1]['chunks']:,}"]
            for of in (THERE, HERE) if both else (HERE,):
                cells += [f"{median(each, of, kind, what):.2f}" for what in ("but_encoder_s", "write_s")]
            if both:
                cells.append(f"{ratio(each, kind):.2f}")
            lines.append(f"| {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    main()
