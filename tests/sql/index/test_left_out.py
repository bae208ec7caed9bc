"""What an index run leaves out, and how its command ends for that."""

import json
import random
from pathlib import Path

import pytest

from material import ANA, Repository, make_project, services
from medir.cli.frame import make_output
from medir.cli.index import print_report
from rag_core.database.connections import Database
from rag_core.index.session_import import import_sessions
from rag_core.model import Scope
from rag_core.project.projects import add_project

GOOD = {"docs/guia.md": "# Guia\n\nTexto.\n", "docs/adr/0001-fila.md": "# Fila\n\nTexto.\n"}


def test_what_is_left_out_by_rule_leaves_a_run_complete_and_what_could_not_be_read_does_not(
    database: Database, tmp_path: Path
) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n"
    repository = Repository(tmp_path / "p", GOOD | {"docs/lfs.md": pointer})
    (repository.folder / "docs" / "link.md").symlink_to("guia.md")
    repository.commit({})
    project = add_project(database, "p", repo=repository.folder)
    use = services(database)

    by_rule = use.indexing.run(project, actor=ANA)
    repository.commit({"docs/ruim.md": b"\xff\xff"})
    with_fault = use.indexing.run(project, actor=ANA)
    again = use.indexing.run(project, actor=ANA)

    assert [entry["reason"] for entry in by_rule.skipped] == ["lfsPointer", "symlink"]
    assert (by_rule.complete, with_fault.complete, again.complete) == (True, False, False)
    assert [entry["path"] for entry in again.skipped if not entry["byRule"]] == ["docs/ruim.md"]
    assert again.changes.kept == 2


def test_a_file_whose_object_is_missing_is_reported_and_the_others_are_indexed(
    database: Database, tmp_path: Path
) -> None:
    repository = Repository(tmp_path / "p", GOOD | {"docs/a.md": "# A\n\nFalta.\n"})
    oid = repository.git("rev-parse", "HEAD:docs/a.md")
    (repository.folder / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    project = add_project(database, "p", repo=repository.folder)

    report = services(database).indexing.run(project, actor=ANA)

    assert report.skipped == ({"path": "docs/a.md", "reason": "unreadable", "byRule": False},)
    assert (report.changes.added, report.complete) == (2, False)


def test_escaped_and_split_names_reach_the_database_and_come_back(database: Database, tmp_path: Path) -> None:
    project = make_project(
        database, tmp_path / "p", GOOD | {"docs/duas\nlinhas.md": "# Duas\n", "docs/ação.md": "# A\n"}
    )

    services(database).indexing.run(project, actor=ANA)

    with database.connection() as connection:
        paths = {row[0] for row in connection.execute("select source_path from chunks").fetchall()}
    assert paths == {*GOOD, "docs/duas\nlinhas.md", "docs/ação.md"}


def test_no_single_file_keeps_the_others_out(database: Database, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "p", GOOD)
    oid = repository.git("rev-parse", "HEAD:docs/guia.md")
    longest, too_long = long_path(2_500), long_path(2_501)
    for path in (longest, too_long):
        repository.git("update-index", "--add", "--cacheinfo", f"100644,{oid},{path}")
    repository.git("commit", "--quiet", "--message", "Long")
    repository.git("checkout", "--quiet", "HEAD", "--", "docs/guia.md")
    odd = {
        "docs/nul.md": '---\ntitle: "a\\0\\uD800"\n---\ntexto',
        "docs/versao.md": "---\n? a---\n%YAML 9.9\n\n---\ntexto\n",
        "docs/titulo.md": "# " + "palavra " * 12_500 + "\n\ntexto\n",
        "docs/palavra.md": "# a\n\n" + "x" * 1_900_000,
        "docs/fundo.md": ">" * 20_000 + " x\n",
    }
    for path, text in odd.items():
        (repository.folder / path).write_text(text, encoding="utf-8")
    repository.git("add", *odd)
    repository.git("commit", "--quiet", "--message", "Odd")
    project = add_project(database, "p", repo=repository.folder)

    report = services(database).indexing.run(project, actor=ANA)

    assert report.skipped == ({"path": too_long, "reason": "name", "byRule": False},)
    assert not report.complete
    with database.connection() as connection:
        paths = {row[0] for row in connection.execute("select distinct source_path from chunks").fetchall()}
    assert paths == {*GOOD, *odd, longest}


def long_path(size: int) -> str:
    """A path of so many bytes that no compression shortens."""
    chosen = random.Random(size)
    names = ("".join(chosen.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=200)) for _ in range(size))
    path = "docs"
    while len(path) < size - 250:
        path += f"/{next(names)}"
    return f"{path}/{'x' * (size - len(path) - len('/.md'))}.md"


def test_a_project_of_sessions_alone_is_indexed(database: Database, tmp_path: Path) -> None:
    project = make_project(database, tmp_path / "p", {"README.md": "# Fora\n"})
    event = {
        "sessionId": "s",
        "eventId": "e",
        "type": "chat.message",
        "createdAt": "2026-01-02T00:00:00Z",
        "actor": {"kind": "human", "id": "ana"},
        "payload": {"text": "Oi."},
    }
    (tmp_path / "s.jsonl").write_text(json.dumps(event), encoding="utf-8")
    import_sessions(database, project.project_id, tmp_path / "s.jsonl")

    report = services(database).indexing.run(project, actor=ANA)

    assert report.counts == {Scope.DOCS: (0, 0), Scope.ADR: (0, 0), Scope.SESSION: (1, 1)}


def test_a_name_gives_the_terminal_no_commands(
    database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = make_project(database, tmp_path / "p", GOOD | {"docs/\x1b[31mação\nfim.png": "x"})
    report = services(database).indexing.run(project, actor=ANA)

    print_report(make_output(as_json=False), report)

    assert "  docs/\\x1b[31mação\\nfim.png: no Markdown (left out by rule)\n" in capsys.readouterr().out
