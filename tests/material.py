"""What the tests build on: small repositories, services over a database of a test."""

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bag_of_words import BagOfWords
from rag_core.clock import SystemClock
from rag_core.database.connections import Database
from rag_core.embedding.providers import Providers
from rag_core.embedding.service import EmbeddingService
from rag_core.evaluation.calibrations import Calibrator
from rag_core.evaluation.golden_runs import Evaluation
from rag_core.index.run import Indexing
from rag_core.model import Actor, EmbeddingModel, Project
from rag_core.project.projects import add_project
from rag_core.search.asking import Search
from rag_core.search.telemetry import Telemetry

ANA = Actor(kind="human", id="ana", surface="cli")

_COMMIT_IDENTITY = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "Ana"), ("EMAIL", "ana@example.org"), ("DATE", "2026-01-02T03:04:05+00:00"))
}

# each document is about one thing, so that it is plain which file answers which question
DOCUMENTS: Mapping[str, str] = {
    "docs/frete.md": (
        "# Frete\n\nO frete é calculado na coleta e congelado até a entrega.\n\n"
        "## Pedágio\n\nO pedágio entra no frete quando a rota passa por praça.\n"
    ),
    "docs/motorista.md": "# Motorista\n\nO aplicativo do motorista funciona sem rede e sincroniza depois.\n",
    "docs/seguranca.md": "# Segurança\n\nA senha do coletor é trocada a cada noventa dias.\n",
    "docs/adr/0001-fila.md": "# Fila de eventos\n\n## Decisão\n\nA fila guarda eventos do coletor por sete dias.\n",
    "docs/adr/0002-rota.md": "# Rota em duas fases\n\n## Decisão\n\nA rota é planejada de noite e ajustada de dia.\n",
}

CASES = """\
floor: 3
limit: 5
cases:
  - id: frete
    question: Quando o frete é calculado?
    expected: docs/frete.md
    tags: [preco]
  - id: motorista
    question: O aplicativo do motorista funciona sem rede?
    expected: docs/motorista.md
    must_pass: true
  - id: fila
    question: Por quantos dias a fila guarda eventos?
    expected: docs/adr/0001-fila.md
    scope: adr
"""


class WorkingTree:
    """A git repository's working tree of a test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def at(cls, folder: Path) -> "Repository":
        """One that is there already."""
        found = cls.__new__(cls)
        found.folder = folder
        return found

    def commit(self, files: Mapping[str, str | bytes], *, message: str = "Documents") -> str:
        """Write and commit files; returns the commit."""
        for path, content in files.items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def remove(self, path: str) -> None:
        """Delete a file and commit that."""
        self.git("rm", "--quiet", path)
        self.git("commit", "--quiet", "--message", f"Remove {path}")

    def git(self, *arguments: str) -> str:
        """What git printed."""
        finished = subprocess.run(
            ["git", "-C", str(self.folder), "-c", "commit.gpgsign=false", *arguments],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, **_COMMIT_IDENTITY},
        )
        return finished.stdout.strip()


class Repository(WorkingTree):
    """A new git repository, with Portuguese documents unless others are given."""

    def __init__(self, folder: Path, files: Mapping[str, str | bytes] = DOCUMENTS) -> None:
        super().__init__(folder)
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit(files)


class Fixed(Providers):
    """Providers that always answer with one embedder, whatever is configured."""

    def __init__(self, embedder: BagOfWords) -> None:
        super().__init__(configured="embedded", ollama_host="127.0.0.1:1", clock=SystemClock())
        self._service = EmbeddingService(embedder, clock=SystemClock())

    def service_for(self, index_model: EmbeddingModel | None) -> EmbeddingService:
        return self._service


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The use cases over one database."""

    database: Database
    search: Search
    indexing: Indexing
    evaluation: Evaluation
    calibrator: Calibrator


def services(
    database: Database,
    *,
    providers: Providers | None = None,
    loss_log: Path | None = None,
    between_queries: Callable[[], None] | None = None,
) -> Services:
    """The use cases, by default with a bag of words for an embedder."""
    clock = SystemClock()
    providers = providers or Fixed(BagOfWords())
    search = Search(
        database=database,
        providers=providers,
        telemetry=Telemetry(database, loss_log=loss_log),
        clock=clock,
        between_queries=between_queries,
    )
    evaluation = Evaluation(database=database, search=search, clock=clock)
    return Services(
        database=database,
        search=search,
        indexing=Indexing(database=database, providers=providers, clock=clock),
        evaluation=evaluation,
        calibrator=Calibrator(database=database, search=search, evaluation=evaluation, clock=clock),
    )


def make_project(
    database: Database,
    folder: Path,
    files: Mapping[str, str | bytes] = DOCUMENTS,
    *,
    name: str = "entrega",
    cases: str | None = None,
) -> Project:
    """A project over a new repository; with `cases`, they stand in its golden folder and are committed."""
    written = dict(files) | ({"golden_set/cases.yaml": cases} if cases else {})
    return add_project(database, name, repo=Repository(folder, written).folder)
