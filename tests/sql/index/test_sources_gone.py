"""Where nothing is left of what was indexed, a run refuses, says what stands there, and the index stays."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import rows

from material import ANA, DOCUMENTS, Repository, make_project, services
from rag_core.database.connections import Database
from rag_core.database.index.sessions import append_events
from rag_core.errors import SourcesGone, UsageError
from rag_core.model import Scope
from rag_core.model.session_events import SessionEvent
from rag_core.project.projects import add_project

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 1\n"
ADRS = [path for path in DOCUMENTS if path.startswith("docs/adr/")]


def submodule(repository: Repository, folder: str) -> None:
    head = repository.git("rev-parse", "main")
    repository.git("rm", "--quiet", "-r", "--cached", folder)
    shutil.rmtree(repository.folder / folder)
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{head},{folder}")
    repository.git("commit", "--quiet", "--message", "Submodule")
    (repository.folder / folder).mkdir()


def docs_as_submodule(repository: Repository) -> None:
    submodule(repository, "docs")


def decisions_as_submodule(repository: Repository) -> None:
    submodule(repository, "docs/adr")


def lfs_pointers(repository: Repository) -> None:
    repository.commit({path: POINTER.format(number) for number, path in enumerate(DOCUMENTS)})


def links(repository: Repository) -> None:
    repository.git("mv", "docs", "texts")
    (repository.folder / "docs").symlink_to("texts")
    repository.commit({})


def other_suffix(repository: Repository) -> None:
    for path in DOCUMENTS:
        repository.git("mv", path, f"{path}x")
    repository.commit({})


def undecodable(repository: Repository) -> None:
    repository.commit(dict.fromkeys(DOCUMENTS, b"\xff\xff"))


def renamed_decisions(repository: Repository) -> None:
    repository.git("mv", "docs/adr", "decisions")
    repository.commit({})


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "p")


def on_a_branch(repository: Repository, change: Callable[[Repository], None]) -> str:
    name = change.__name__
    repository.git("checkout", "--quiet", "-b", name, "main")
    change(repository)
    repository.git("checkout", "--quiet", "--force", "main")
    repository.git("clean", "--quiet", "-ffd")
    return name


def test_whatever_took_all_the_sources_of_a_scope_the_index_stays_and_the_cause_is_told(
    database: Database, repository: Repository
) -> None:
    project = add_project(database, "p", repo=repository.folder)
    use = services(database)
    use.indexing.run(project, actor=ANA)

    for change, scopes, told, remedy in (
        (docs_as_submodule, "docs and adr", "1 submodule (docs)", "project add"),
        (decisions_as_submodule, "adr", "1 submodule (docs/adr)", "project add"),
        (lfs_pointers, "docs and adr", "3 LFS pointers", "git lfs"),
        (links, "docs and adr", "1 symbolic link (docs)", "project set"),
        (undecodable, "docs and adr", "3 files in no encoding that fits", "project set"),
        (
            renamed_decisions,
            "adr",
            "is nothing (decisions/0001-fila.md stands in another folder)",
            "project set",
        ),
    ):
        ref = on_a_branch(repository, change)
        for mode in ("incremental", "full"):
            with pytest.raises(SourcesGone) as refusal:
                use.indexing.run(project, actor=ANA, ref=ref, mode=mode)  # type: ignore[arg-type]
            assert refusal.value.message.startswith(f"At {ref} this run would empty {scopes}. "), change
            assert told in refusal.value.message
            assert remedy in refusal.value.hint
            assert "medir index --yes" in refusal.value.hint
    with pytest.raises(UsageError, match="no Markdown file"):
        use.indexing.run(project, actor=ANA, ref=on_a_branch(repository, other_suffix))
    with pytest.raises(SourcesGone, match="all 3 files in the index would go"):
        use.indexing.run(project, actor=ANA, ref="lfs_pointers", scopes=(Scope.DOCS,), dry_run=True)
    assert use.indexing.run(project, actor=ANA).changes.kept == 6

    # the other scope is as it was, and may be brought up to date alone
    assert use.indexing.run(project, actor=ANA, ref="renamed_decisions", scopes=(Scope.DOCS,)).complete
    agreed = use.indexing.run(project, actor=ANA, ref="renamed_decisions", allow_emptied=True)
    assert (agreed.changes.removed, agreed.counts[Scope.ADR]) == (2, (0, 0))
    # what is gone by agreement is not asked about again
    assert use.indexing.run(project, actor=ANA, ref="renamed_decisions").changes.removed == 0


def test_decisions_that_were_deleted_go_without_a_question_and_the_last_document_does_not(
    database: Database, repository: Repository
) -> None:
    project = add_project(database, "p", repo=repository.folder)
    use = services(database)
    use.indexing.run(project, actor=ANA)
    talk(database)
    repository.git("rm", "--quiet", *ADRS)
    repository.commit({})
    assert use.indexing.run(project, actor=ANA).changes.removed == len(ADRS)
    repository.git("rm", "--quiet", "-r", "docs")
    repository.commit({})
    with pytest.raises(UsageError, match="no Markdown file") as refusal:
        use.indexing.run(project, actor=ANA)
    assert "medir index --yes" in refusal.value.hint
    agreed = use.indexing.run(project, actor=ANA, allow_emptied=True)
    assert {scope: counts for scope, (counts, _) in agreed.counts.items() if counts} == {Scope.SESSION: 1}


def talk(database: Database) -> None:
    said = SessionEvent(
        session_id="s",
        event_id="e",
        type="chat.message",
        created_at=rows.NOON,
        actor_kind="human",
        actor_id="ana",
        title=None,
        payload={"text": "Oi."},
    )
    with database.connection() as connection:
        append_events(connection, "p", [said])


def test_texts_that_only_moved_to_the_other_scope_are_not_gone(
    database: Database, repository: Repository
) -> None:
    project = add_project(database, "p", repo=repository.folder)
    use = services(database)
    use.indexing.run(project, actor=ANA)
    for path in ADRS:
        repository.git("mv", path, path.replace("/adr/", "/"))
    repository.commit({})

    assert (use.indexing.run(project, actor=ANA).changes.moved, len(ADRS)) == (2, 2)


def test_a_first_run_that_meets_only_what_is_left_out_refuses_and_names_it(
    database: Database, tmp_path: Path
) -> None:
    project = make_project(
        database, tmp_path / "p", {"docs/a.md": POINTER.format(1), "docs/b.md": POINTER.format(2)}
    )
    with pytest.raises(UsageError, match=r"nothing to index under docs/ .*: 2 LFS pointers") as refusal:
        services(database).indexing.run(project, actor=ANA, allow_emptied=True)
    assert "git lfs" in refusal.value.hint
