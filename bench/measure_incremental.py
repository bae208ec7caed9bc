"""An index run over unchanged sources against the first one: time and texts embedded, on four real corpora.

Both runs are of one process in one fresh home, embedding included, timed by their own rows. A third run follows the
edit of one file. Writes `bench/results/incremental.md`; a second run that embeds a text, or that takes a tenth of the
first or more, ends it with 1.
"""

import os
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from material import BENCH, CORPORA, TOP, index_corpus, throwaway_services
from medir.wiring import Services
from rag_core.database.runs import recent_runs
from rag_core.model import Project

COLUMNS = (
    "corpus",
    "files",
    "chunks",
    "skipped in error",
    "first, s",
    "second, s",
    "ratio",
    "texts of the second",
    "edited, s",
    "texts of the edit",
    "chunks that changed",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One corpus in one home: seconds of the first and the second run, and what was embedded in each."""

    corpus: str
    files: int
    chunks: int
    wrongly_skipped: int
    first_s: float
    second_s: float
    second_embedded: int
    edited_s: float
    edited_embedded: int
    edited_added: int

    @property
    def ratio(self) -> float:
        """The second run's time over the first's."""
        return self.second_s / self.first_s


def main() -> None:
    """Measure, write, judge."""
    measured = measure_home()
    lines = [
        "# Unchanged sources, and one edited file",
        "",
        f"Written by `bench/measure_incremental.py` on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, embedded",
        "encoder. The very first run also loads the encoder. Edited: one paragraph more at the end of one file.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        f"|{'---|' * len(COLUMNS)}",
        *(row(one) for one in measured),
    ]
    text = "\n".join(lines) + "\n"
    (TOP / "bench" / "results").mkdir(exist_ok=True)
    (TOP / "bench" / "results" / "incremental.md").write_text(text, encoding="utf-8")
    print(text)
    if any(one.second_embedded or one.edited_embedded > one.edited_added for one in measured):
        raise SystemExit("A run embedded a text that it had")
    if any(one.ratio >= 0.1 for one in measured):
        raise SystemExit("A second run takes a tenth of the first or more")


def measure_home() -> list[Measured]:
    """All corpora in one fresh home."""
    with throwaway_services() as services:
        found: list[Measured] = []
        for name in CORPORA:
            project, _ = index_corpus(services, name)
            first_s = last_run_s(services, project)
            first = services.indexing.run(project, actor=BENCH, dry_run=True)
            second = services.indexing.run(project, actor=BENCH)
            second_s = last_run_s(services, project)
            edit_one_file(Path(project.repo))
            edited = services.indexing.run(project, actor=BENCH)
            found.append(
                Measured(
                    corpus=name,
                    files=sum(sources for sources, _ in first.counts.values()),
                    chunks=sum(chunks for _, chunks in first.counts.values()),
                    wrongly_skipped=sum(not entry["byRule"] for entry in first.skipped),
                    first_s=first_s,
                    second_s=second_s,
                    second_embedded=second.embedding.embedded,
                    edited_s=last_run_s(services, project),
                    edited_embedded=edited.embedding.embedded,
                    edited_added=edited.changes.added,
                )
            )
    return found


def last_run_s(services: Services, project: Project) -> float:
    """How long the last index run took by its own row, in seconds."""
    with services.database.connection() as connection:
        run = recent_runs(connection, project.project_id, "index", count=1)[0]
    return (run.finished_at - run.started_at).total_seconds() if run.finished_at else 0.0


def edit_one_file(repository: Path) -> None:
    """One paragraph more at the end of the first file."""
    chosen = min((repository / "docs").rglob("*.md"))
    with chosen.open("a", encoding="utf-8") as file:
        file.write("\n\nUm parágrafo a mais, no fim do arquivo.\n")
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(repository), *identity, "commit", "-qam", "edit"], check=True)


def row(one: Measured) -> str:
    """A line of the table."""
    cells = (
        one.corpus,
        one.files,
        one.chunks,
        one.wrongly_skipped,
        f"{one.first_s:.2f}",
        f"{one.second_s:.2f}",
        f"{one.ratio:.3f}",
        one.second_embedded,
        f"{one.edited_s:.2f}",
        one.edited_embedded,
        one.edited_added,
    )
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
