"""Projects: named by a slug, checked when they are added, chosen when nobody names one."""

from pathlib import Path

import pytest
import rows

from material import ANA, CASES, Repository, make_project, services
from rag_core.database.connections import Database
from rag_core.database.projects import list_projects
from rag_core.errors import InvalidInput, Refused, UsageError
from rag_core.model import DocumentFolders
from rag_core.project.projects import (
    add_project,
    choose_project,
    current_commit,
    remove_project,
    set_project,
    slug,
)
from rag_core.settings.golden_folder import cases_file


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository", {"docs/a.md": "# A\n", "sub/docs/b.md": "# B\n"})


@pytest.fixture
def empty(module_database: Database) -> Database:
    """A database without projects."""
    with module_database.connection() as connection:
        connection.execute("delete from projects")
    return module_database


@pytest.mark.parametrize(
    ("name", "project_id"),
    [
        ("sample", "sample"),
        ("Cobrança & Fiscal", "cobranca-fiscal"),
        ("  --Notas--  ", "notas"),
        ("3ª edição", "3a-edicao"),
        ("a" * 80, "a" * 63),
        ("a" * 62 + " b", "a" * 62),
    ],
)
def test_a_projects_id_is_made_from_its_name(name: str, project_id: str) -> None:
    assert slug(name) == project_id


@pytest.mark.parametrize("name", ["", "---", "日本", "🙂"])
def test_a_name_of_which_nothing_is_left_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        slug(name)


def test_a_project_is_kept_with_its_repositorys_top(empty: Database, repository: Repository) -> None:
    inside = repository.folder / "docs"
    added = add_project(empty, "Notas Fiscais", repo=inside)
    assert (added.project_id, added.name) == ("notas-fiscais", "Notas Fiscais")
    assert (added.repo, added.root, added.ref, added.golden) == (str(repository.folder), "", "HEAD", None)
    assert choose_project(empty, "notas-fiscais") == added


def test_a_project_names_its_own_folders_of_documents_and_decisions(
    empty: Database, repository: Repository
) -> None:
    added = add_project(empty, "Notas", repo=repository.folder)
    assert added.folders == DocumentFolders(docs=("docs",), adr=("docs/adr",))
    changed = set_project(empty, added, docs=["./sub/docs/", "docs"], adr=["sub"])
    assert changed.folders == DocumentFolders(docs=("sub/docs", "docs"), adr=("sub",))
    assert choose_project(empty, "notas") == changed
    assert set_project(empty, changed, ref="HEAD").folders == changed.folders


@pytest.mark.parametrize("folder", ["dox", "docs/a.md", "../docs", "sub/../.."])
def test_a_folder_that_is_not_in_the_repository_is_refused(
    empty: Database, repository: Repository, folder: str
) -> None:
    with pytest.raises(UsageError):
        add_project(empty, "Notas", repo=repository.folder, docs=[folder])
    with empty.connection() as connection:
        assert list_projects(connection) == []


def test_a_second_project_of_the_same_id_is_refused_and_the_first_stays(
    empty: Database, repository: Repository
) -> None:
    first = add_project(empty, "Notas", repo=repository.folder)
    with pytest.raises(Refused, match="'notas'"):
        add_project(empty, "notas!", repo=repository.folder, root="sub")
    assert choose_project(empty, "notas") == first


def test_what_is_no_repository_is_refused_with_the_remedy(empty: Database, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    for folder in (tmp_path / "plain", tmp_path / "missing"):
        with pytest.raises(UsageError) as refusal:
            add_project(empty, "x", repo=folder)
        assert refusal.value.hint
    with empty.connection() as connection:
        assert list_projects(connection) == []


@pytest.mark.parametrize(
    "wrong", [{"ref": "no-such-branch"}, {"root": "missing"}, {"root": "../.."}, {"root": "docs/a.md"}]
)
def test_a_ref_or_folder_that_is_not_there_is_refused(
    empty: Database, repository: Repository, wrong: dict[str, str]
) -> None:
    with pytest.raises(UsageError):
        add_project(empty, "x", repo=repository.folder, **wrong)


@pytest.mark.parametrize(
    ("given", "kept"), [("sub", "sub"), ("/sub/", "sub"), ("./sub", "sub"), (".", ""), ("", "")]
)
def test_a_root_is_kept_tidy(empty: Database, repository: Repository, given: str, kept: str) -> None:
    assert add_project(empty, "x", repo=repository.folder, root=given).root == kept


def test_a_projects_commit_is_the_last_one_that_touched_its_folder(
    empty: Database, repository: Repository
) -> None:
    below = add_project(empty, "abaixo", repo=repository.folder, root="sub")
    first = current_commit(below)
    repository.commit({"docs/a.md": "# Outro\n"})
    assert current_commit(below) == first
    changed = repository.commit({"sub/docs/b.md": "# Outro\n"})
    assert current_commit(below) == changed


def test_only_what_is_given_is_changed(empty: Database, repository: Repository, tmp_path: Path) -> None:
    added = add_project(empty, "x", repo=repository.folder, golden=tmp_path)
    changed = set_project(empty, added, root="sub")
    assert (changed.root, changed.golden, changed.repo) == ("sub", str(tmp_path), added.repo)
    assert choose_project(empty, "x") == changed


def test_the_only_project_there_is_is_meant_else_the_sample(empty: Database, repository: Repository) -> None:
    with pytest.raises(UsageError, match="'sample'"):
        choose_project(empty, None)
    only = add_project(empty, "x", repo=repository.folder)
    assert choose_project(empty, None) == only
    add_project(empty, "y", repo=repository.folder)
    with pytest.raises(UsageError, match="'sample'") as refusal:
        choose_project(empty, None)
    assert refusal.value.hint == "Known projects: x, y."
    sample = add_project(empty, "sample", repo=repository.folder)
    assert choose_project(empty, None) == sample


@pytest.mark.parametrize("project_id", ["nobody", "No Slug", "x;drop", ""])
def test_an_unknown_project_is_refused_by_its_name(empty: Database, project_id: str) -> None:
    with pytest.raises(UsageError):
        choose_project(empty, project_id)
    with pytest.raises(UsageError):
        remove_project(empty, project_id)


def test_golden_cases_lie_in_the_folder_that_is_named_else_in_the_working_tree(
    empty: Database, repository: Repository, tmp_path: Path
) -> None:
    added = add_project(empty, "x", repo=repository.folder)
    assert cases_file(added) == repository.folder / "golden_set" / "cases.yaml"
    named = set_project(empty, added, golden=tmp_path / "cases")
    assert cases_file(named) == tmp_path / "cases" / "cases.yaml"


def test_a_bare_repository_can_be_indexed_and_has_no_golden_folder_of_its_own(
    empty: Database, repository: Repository, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.git"
    repository.git("clone", "--quiet", "--bare", str(repository.folder), str(bare))
    added = add_project(empty, "nua", repo=bare)
    assert services(empty).indexing.run(added, actor=ANA).complete
    with pytest.raises(UsageError, match="bare") as refusal:
        cases_file(added)
    assert "--golden" in refusal.value.hint


def test_a_removed_project_takes_its_index_searches_votes_and_runs_with_it(
    empty: Database, tmp_path: Path
) -> None:
    made = services(empty)
    for name in ("a", "b"):
        project = make_project(empty, tmp_path / name, name=name, cases=CASES)
        made.indexing.run(project, actor=ANA)
        made.evaluation.run_golden(project, actor=ANA)
        made.search.ask(name, "frete", actor=ANA)
    remove_project(empty, "a")
    with empty.connection() as connection:
        for table in (
            "chunks",
            "rag_searches",
            "rag_candidates",
            "runs",
            "search_settings",
            "indexes",
            "embedding_cache",
        ):
            left = connection.execute(f"select distinct project_id from {table}".encode()).fetchall()
            assert left == [("b",)], table
        assert rows.count(connection, "projects") == 1


def test_a_repository_that_is_gone_is_called_gone_and_not_bare(database: Database, tmp_path: Path) -> None:
    project = make_project(database, tmp_path / "repository")
    (tmp_path / "repository").rename(tmp_path / "elsewhere")

    with pytest.raises(UsageError, match="is gone"):
        cases_file(project)
