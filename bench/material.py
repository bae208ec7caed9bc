"""What the benches stand on: real corpora and judged collections, indexed in a throwaway home.

The data lies in `../shared/data` beside the repository; `MEDIR_BENCH_DATA` names another folder.
"""

import json
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from medir.configuration import load_configuration
from medir.wiring import Services, open_services
from rag_core.chunking import CHUNKER_VERSION
from rag_core.database.index.chunks import ChunkRow, insert_chunks
from rag_core.database.index.identity import read_identity, write_identity
from rag_core.database.index.postings import write_postings
from rag_core.database.index.spellings import write_spellings
from rag_core.database.projects import insert_project
from rag_core.golden.cases import GoldenCase
from rag_core.index.vectors import ChunkVectors, embed_chunks
from rag_core.model import (
    ALL_SCOPES,
    Actor,
    CandidateSet,
    CandidateSettings,
    Chunk,
    LexicalWay,
    Origin,
    Place,
    Project,
    Scope,
)
from rag_core.model.languages import DEFAULT_LANGUAGE, text_search_config
from rag_core.project.projects import add_project
from rag_core.settings.golden_folder import read_golden_set

TOP = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("MEDIR_BENCH_DATA", TOP.parent / "shared" / "data"))
CORPORA = ("coopshield", "rnds", "sped-nfe", "fastapi-pt")
BENCH = Actor(kind="system", id="bench", surface="cli")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQuestion:
    """A question and the places that answer it."""

    id: str
    question: str
    expected: frozenset[Place]


@contextmanager
def throwaway_services(*, vectors: bool = True) -> Iterator[Services]:
    """Services over a home that is removed at the end; the embedded encoder, or a provider that nobody reaches."""
    home = Path(tempfile.mkdtemp(prefix="medir-bench-"))
    # as root the server runs as another account, which must be able to enter
    home.chmod(0o755)
    kept = {key: value for key, value in os.environ.items() if key not in ("DATABASE_URL", "OLLAMA_HOST")}
    provider = (
        {"MEDIR_EMBEDDING": "embedded"}
        if vectors
        else {"MEDIR_EMBEDDING": "ollama", "OLLAMA_HOST": "127.0.0.1:1"}
    )
    try:
        configuration = load_configuration(kept | provider | {"MEDIR_HOME": str(home)})
        with open_services(configuration) as services:
            yield services
    finally:
        shutil.rmtree(home, ignore_errors=True)


def index_corpus(services: Services, name: str) -> tuple[Project, tuple[GoldenCase, ...]]:
    """A real project's documentation as a project, with its golden cases."""
    repository = services.configuration.home / "repositories" / name
    shutil.copytree(DATA / "corpora" / name / "files", repository, copy_function=shutil.copy)
    for folder in (repository, *repository.rglob("*")):
        folder.chmod(0o755 if folder.is_dir() else 0o644)
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "import")):
        subprocess.run(
            [
                "git",
                "-C",
                str(repository),
                "-c",
                "user.name=bench",
                "-c",
                "user.email=bench@localhost",
                *arguments,
            ],
            check=True,
        )
    project = add_project(services.database, name, repo=repository)
    services.indexing.run(project, actor=BENCH)
    return project, read_golden_set(DATA / "corpora" / name / "cases.yaml").cases


def index_collection(
    services: Services, name: str, *, language: str = DEFAULT_LANGUAGE
) -> tuple[Project, tuple[JudgedQuestion, ...]]:
    """A judged collection as a project in its language: each document is one chunk of its own file."""
    project = _add_collection(services, name, name, language)
    chunks = _chunks_of(name, language)
    vectors = embed_chunks(
        services.database,
        services.providers,
        name,
        index_model=None,
        may_change_model=True,
        chunks=chunks,
        progress=lambda _step, _done, _total: None,
        dry_run=False,
    )
    _write_index(services, project, chunks, vectors)
    return project, _questions(DATA / "ir" / name)


def index_words(
    services: Services, name: str, *, language: str, project_id: str
) -> tuple[Project, tuple[JudgedQuestion, ...]]:
    """As `index_collection`, without a vector: only the lexical signal finds anything."""
    project = _add_collection(services, name, project_id, language)
    _write_index(services, project, _chunks_of(name, language), None)
    return project, _questions(DATA / "ir" / name)


def fetch(
    services: Services,
    project_id: str,
    questions: Mapping[str, str],
    *,
    depth: int,
    scopes: Mapping[str, tuple[Scope, ...] | None] = MappingProxyType({}),
) -> dict[str, CandidateSet]:
    """Both signals' candidates of each question, by exact search, in one snapshot; over all scopes if not told."""
    way = LexicalWay()
    return fetch_ways(services, project_id, questions, (way,), depth=depth, scopes=scopes)[way]


def fetch_ways(
    services: Services,
    project_id: str,
    questions: Mapping[str, str],
    ways: Sequence[LexicalWay],
    *,
    depth: int,
    scopes: Mapping[str, tuple[Scope, ...] | None] = MappingProxyType({}),
) -> dict[LexicalWay, dict[str, CandidateSet]]:
    """As `fetch`, for each lexical way."""
    with services.database.connection() as connection:
        identity = read_identity(connection, project_id)
    model = identity.embedding_model if identity else None
    found: dict[LexicalWay, dict[str, CandidateSet]] = {way: {} for way in ways}
    with services.database.snapshot() as connection:
        for key, question in questions.items():
            settings = CandidateSettings(
                scopes=scopes.get(key) or ALL_SCOPES, fetch_depth=depth, embedding_model=model
            )
            vector = services.search.embed(question, model)
            gathered = services.search.gathering.gather_ways(
                connection, project_id, question, vector, settings, ways=ways, exact=True
            )
            for way, each in gathered.items():
                found[way][key] = each.found
    return found


def place_of(document: str) -> Place:
    """The place that a collection's document gets."""
    return Place("file", f"docs/{document}.md")


def _add_collection(services: Services, name: str, project_id: str, language: str) -> Project:
    project = Project(
        project_id=project_id,
        name=project_id,
        repo=str(DATA / "ir" / name),
        root="",
        ref="HEAD",
        golden=None,
        language=language,
    )
    with services.database.connection() as connection:
        insert_project(connection, project)
    return project


def _chunks_of(name: str, language: str) -> list[Chunk]:
    documents = {row["_id"]: _text(row) for row in _rows(DATA / "ir" / name / "corpus.jsonl")}
    return [
        Chunk(
            scope=Scope.DOCS,
            origin=Origin(place=place_of(key)),
            ordinal=0,
            content=text,
            language=language,
        )
        for key, text in documents.items()
    ]


def _write_index(
    services: Services, project: Project, chunks: Sequence[Chunk], vectors: ChunkVectors | None
) -> None:
    """What an index run leaves of these chunks; without vectors those of words alone."""
    by_hash, model = (vectors.by_hash, vectors.model_id) if vectors else ({}, None)
    with services.database.transaction() as connection:
        insert_chunks(
            connection,
            project.project_id,
            [
                ChunkRow(
                    id=uuid.uuid4(),
                    chunk=chunk,
                    embedding=by_hash.get(chunk.content_hash),
                    embedding_model=model,
                )
                for chunk in chunks
            ],
        )
        write_spellings(connection, project.project_id)
        write_postings(connection, project.project_id)
        write_identity(
            connection,
            project.project_id,
            embedding_model=model,
            chunker_version=CHUNKER_VERSION,
            text_search_config=text_search_config(project.language),
        )


def _questions(folder: Path) -> tuple[JudgedQuestion, ...]:
    expected: dict[str, set[Place]] = {}
    with (folder / "qrels" / "test.tsv").open(encoding="utf-8") as file:
        for line in list(file)[1:]:
            question, document, gain = line.split("\t")
            if int(gain) > 0:
                expected.setdefault(question, set()).add(place_of(document))
    texts = {row["_id"]: row["text"] for row in _rows(folder / "queries.jsonl")}
    return tuple(
        JudgedQuestion(id=key, question=texts[key], expected=frozenset(places))
        for key, places in expected.items()
    )


def _rows(file: Path) -> Iterator[dict[str, str]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _text(row: dict[str, str]) -> str:
    return f"{row.get('title') or ''}\n{row['text']}".strip()
