"""Coverage: what stands in the repository and the event log against what is in the index, worked out by hand."""

import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
import rows
from psycopg.types.json import Jsonb

from bag_of_words import BagOfWords
from material import ANA, DOCUMENTS, Fixed, Repository, services
from medir.cli.frame import make_output
from medir.cli.index import print_report
from medir.cli.state import print_coverage
from medir.contract.coverage import CoverageAnswer, DocumentCoverage
from medir.doctor import check_project
from rag_core.database.connections import Database
from rag_core.errors import EmbeddingFailed, UsageError
from rag_core.index.coverage import Coverage, ScopeCoverage, SourceParts, measure_coverage
from rag_core.model import Project, Scope
from rag_core.project.projects import add_project, set_project

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


class Away(BagOfWords):
    """A provider that knows its model and makes no vector."""

    def embed(self, texts, role):
        raise EmbeddingFailed("It is away.")


def make(
    database: Database, tmp_path: Path, files: Mapping[str, str | bytes] = DOCUMENTS
) -> tuple[Repository, Project]:
    repository = Repository(tmp_path / "repo", files)
    return repository, add_project(database, "entrega", repo=repository.folder)


def index(database: Database, project: Project, **options) -> None:
    services(database).indexing.run(project, actor=ANA, **options)


def of(coverage: Coverage, scope: Scope) -> ScopeCoverage:
    return next(found for found in coverage.scopes if found.scope is scope)


def say(
    database: Database, project: Project, session_id: str, *, event: str, text: str, seq: int = 1
) -> None:
    with database.connection() as connection:
        rows.insert(
            connection,
            "session_events",
            {
                "project_id": project.project_id,
                "id": event,
                "session_id": session_id,
                "seq": seq,
                "type": "chat.message",
                "actor_kind": "human",
                "actor_id": "ana",
                "created_at": NOON,
                "payload": Jsonb({"text": text}),
            },
        )


def begin(database: Database, project: Project, session_id: str) -> None:
    with database.connection() as connection:
        rows.session(connection, project.project_id, session_id)


def test_before_the_first_run_every_file_waits(database: Database, tmp_path: Path) -> None:
    _, project = make(database, tmp_path)
    measured = measure_coverage(database, project)
    assert of(measured, Scope.DOCS).parts == SourceParts(
        covered=0, without_text=0, faulty=0, pointers=0, waiting=3
    )
    assert of(measured, Scope.ADR).parts == SourceParts(
        covered=0, without_text=0, faulty=0, pointers=0, waiting=2
    )
    assert (measured.commit, of(measured, Scope.DOCS).indexed_at) == (None, None)
    assert measured.moved


def test_after_a_run_every_file_is_covered_at_the_commit_of_its_scope(
    database: Database, tmp_path: Path
) -> None:
    _, project = make(database, tmp_path)
    index(database, project)
    measured = measure_coverage(database, project)
    documents, decisions = of(measured, Scope.DOCS), of(measured, Scope.ADR)
    assert documents.parts == SourceParts(covered=3, without_text=0, faulty=0, pointers=0, waiting=0)
    # frete.md has two sections, the other two documents one each
    assert (documents.sources, documents.indexed, documents.chunks, documents.without_vector) == (3, 3, 4, 0)
    assert (decisions.sources, decisions.indexed) == (2, 2)
    assert documents.commit == decisions.commit == measured.head_commit
    assert not measured.moved


def test_a_file_without_text_is_neither_covered_nor_waiting(database: Database, tmp_path: Path) -> None:
    _, project = make(database, tmp_path, DOCUMENTS | {"docs/vazio.md": "", "docs/branco.md": "\n\n"})
    index(database, project)
    documents = of(measure_coverage(database, project), Scope.DOCS)
    assert documents.parts == SourceParts(covered=3, without_text=2, faulty=0, pointers=0, waiting=0)
    assert (documents.sources, documents.indexed) == (5, 3)


def test_a_skipped_file_is_left_out_with_its_reason_and_a_note_is_kept(
    database: Database, tmp_path: Path
) -> None:
    odd = {
        "docs/quebrado.md": b"# \x81\x8d\x8f\n",
        "docs/antigo.md": "# Cobrança\n\nA cobrança é mensal.\n".encode("cp1252"),
        "docs/figura.png": b"no text",
    }
    _, project = make(database, tmp_path, DOCUMENTS | odd)
    index(database, project)
    documents = of(measure_coverage(database, project), Scope.DOCS)
    assert documents.parts == SourceParts(covered=4, without_text=0, faulty=1, pointers=0, waiting=0)
    assert documents.skipped_files == (
        {"path": "docs/figura.png", "reason": "notMarkdown"},
        {"path": "docs/quebrado.md", "reason": "encoding"},
    )
    assert documents.notes == ({"path": "docs/antigo.md", "note": "read as cp1252"},)
    told = DocumentCoverage.of(documents).to_json()
    assert (told["skipped"], told["skippedByRule"]) == (2, 1)


def test_markdown_outside_the_folders_is_counted_with_its_first_files(
    database: Database, tmp_path: Path
) -> None:
    elsewhere = {f"{folder}/LEIA.md": "# L\n" for folder in "abcdef"} | {"README.MD": "# R\n", "a/x.txt": "x"}
    repository, project = make(database, tmp_path, DOCUMENTS | elsewhere)
    (repository.folder / "ligado.md").symlink_to("README.MD")
    repository.commit({})
    measured = measure_coverage(database, project)
    assert CoverageAnswer.of(measured).to_json()["outside"] == {
        "files": 7,
        "examples": ["README.MD", "a/LEIA.md", "b/LEIA.md", "c/LEIA.md", "d/LEIA.md"],
    }
    named = set_project(database, project, docs=["."], adr=["docs/adr"])
    assert CoverageAnswer.of(measure_coverage(database, named)).to_json()["outside"] == {
        "files": 0,
        "examples": [],
    }


def test_one_walk_is_told_with_the_same_two_numbers_on_every_surface(
    database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n"
    odd = {f"docs/{n}.png": b"x" for n in range(9)} | {
        "docs/lfs.md": pointer,
        "docs/quebrado.md": b"# \x81\x8d\x8f\n",
    }
    repository, project = make(database, tmp_path, DOCUMENTS | odd)
    (repository.folder / "docs/ligado.md").symlink_to("frete.md")
    repository.commit({})
    report = services(database).indexing.run(project, actor=ANA)
    dry = services(database).indexing.run(project, actor=ANA, dry_run=True)
    measured = measure_coverage(database, project)
    told = "11 files left out by rule, 1 could not be indexed"

    for run in (report, dry):
        print_report(make_output(as_json=False), run)
        assert f"Skipped: {told}." in capsys.readouterr().out
        assert [entry["byRule"] for entry in run.skipped].count(True) == 11
        assert len(run.skipped) == 12
    assert measured.left_out.told == told
    assert check_project(project, measured.left_out).found.endswith(f"; {told}")
    print_coverage(make_output(as_json=False), measured)
    shown = capsys.readouterr().out
    assert f"Skipped: {told}." in shown
    assert (
        "  docs/quebrado.md: no encoding fits its bytes (could not be indexed). Save it as UTF-8.\n" in shown
    )
    assert "  docs/8.png: no Markdown (left out by rule)\n" in shown
    documents = of(measured, Scope.DOCS)
    assert (len(documents.skipped_files), DocumentCoverage.of(documents).skipped_by_rule) == (12, 11)
    # of Markdown files, five of the folder's are documents: three good ones, the pointer and the broken one
    assert documents.parts == SourceParts(covered=3, without_text=0, faulty=1, pointers=1, waiting=0)


def test_a_run_that_finds_no_document_tells_where_markdown_is(
    database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, project = make(database, tmp_path, {"README.md": "# R\n", "guia/uso.md": "# Uso\n"})
    told = "2 Markdown files lie outside the indexed folders: README.md, guia/uso.md."
    with pytest.raises(UsageError) as refused:
        index(database, project)
    assert refused.value.message.endswith(f"at HEAD. {told}")
    # with a session there is something to index
    begin(database, project, "falada")
    say(database, project, "falada", event="e1", text="O frete mudou.")
    report = services(database).indexing.run(project, actor=ANA)
    assert report.to_json()["outside"] == {"files": 2, "examples": ["README.md", "guia/uso.md"]}
    print_report(make_output(as_json=False), report)
    assert told in capsys.readouterr().out


def test_a_dry_run_tells_what_it_would_make(
    database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, project = make(database, tmp_path)
    for dry_run, told in (
        (True, "Vectors: 6 to make, 0 to reuse, 0 would be missing."),
        (False, "Vectors: 6 made, 0 reused, 0 missing."),
    ):
        report = services(database).indexing.run(project, actor=ANA, dry_run=dry_run)
        print_report(make_output(as_json=False), report)
        assert told in capsys.readouterr().out


def test_a_symbolic_link_is_told_but_is_no_file_of_the_repository(database: Database, tmp_path: Path) -> None:
    repository, project = make(database, tmp_path)
    (repository.folder / "docs/ligado.md").symlink_to("frete.md")
    repository.commit({})
    index(database, project)
    documents = of(measure_coverage(database, project), Scope.DOCS)
    assert documents.parts == SourceParts(covered=3, without_text=0, faulty=0, pointers=0, waiting=0)
    assert documents.skipped_files == ({"path": "docs/ligado.md", "reason": "symlink"},)


def test_a_repository_that_moved_on_has_files_that_wait_and_files_that_are_gone(
    database: Database, tmp_path: Path
) -> None:
    repository, project = make(database, tmp_path)
    index(database, project)
    repository.commit(
        {"docs/nova.md": "# Nova\n\nUma página nova.\n", "docs/adr/0003-x.md": "# X\n\nTexto.\n"}
    )
    repository.remove("docs/seguranca.md")
    measured = measure_coverage(database, project)
    documents = of(measured, Scope.DOCS)
    assert documents.parts == SourceParts(covered=2, without_text=0, faulty=0, pointers=0, waiting=1)
    assert (documents.sources, documents.indexed, documents.gone) == (3, 3, 1)
    assert of(measured, Scope.ADR).parts == SourceParts(
        covered=2, without_text=0, faulty=0, pointers=0, waiting=1
    )
    assert measured.moved
    assert measured.head_commit != measured.commit


def test_one_scope_indexed_again_does_not_hide_that_another_is_of_yesterday(
    database: Database, tmp_path: Path
) -> None:
    repository, project = make(database, tmp_path)
    index(database, project)
    head = repository.commit({"docs/adr/0003-x.md": "# X\n\nTexto.\n"})
    index(database, project, scopes=(Scope.DOCS,))
    measured = measure_coverage(database, project)
    assert of(measured, Scope.DOCS).commit == head
    assert of(measured, Scope.ADR).commit != head
    assert measured.moved


def test_chunks_that_the_provider_left_without_a_vector_are_counted(
    database: Database, tmp_path: Path
) -> None:
    _, project = make(database, tmp_path)
    services(database, providers=Fixed(Away())).indexing.run(project, actor=ANA)
    measured = measure_coverage(database, project)
    assert (of(measured, Scope.DOCS).chunks, of(measured, Scope.DOCS).without_vector) == (4, 4)


def test_a_repository_that_is_gone_leaves_its_files_unmeasured_and_the_index_counted(
    database: Database, tmp_path: Path
) -> None:
    _, project = make(database, tmp_path)
    index(database, project)
    shutil.rmtree(project.repo)
    measured = measure_coverage(database, project)
    documents = of(measured, Scope.DOCS)
    assert (documents.sources, documents.parts, documents.indexed, documents.gone) == (None, None, 3, 0)
    assert measured.problem is not None
    assert project.repo in measured.problem
    assert not measured.moved


def test_sessions_are_covered_silent_or_waiting(database: Database, tmp_path: Path) -> None:
    _, project = make(database, tmp_path)
    for session_id in ("falada", "calada", "em-branco"):
        begin(database, project, session_id)
    say(database, project, "falada", event="e1", text="O frete mudou.")
    say(database, project, "em-branco", event="e2", text=" \n ")
    index(database, project)
    begin(database, project, "nova")
    say(database, project, "nova", event="e3", text="Depois do índice.")
    sessions = of(measure_coverage(database, project), Scope.SESSION)
    assert sessions.parts == SourceParts(covered=1, without_text=2, faulty=0, pointers=0, waiting=1)
    assert (sessions.sources, sessions.indexed) == (4, 1)


def test_a_session_that_went_on_after_the_run_waits_again(database: Database, tmp_path: Path) -> None:
    _, project = make(database, tmp_path)
    begin(database, project, "longa")
    say(database, project, "longa", event="e1", text="A primeira fala.")
    index(database, project)
    say(database, project, "longa", event="e2", text="A segunda fala.", seq=2)
    sessions = of(measure_coverage(database, project), Scope.SESSION)
    assert sessions.parts == SourceParts(covered=0, without_text=0, faulty=0, pointers=0, waiting=1)
    assert (sessions.indexed, sessions.chunks) == (1, 1)
