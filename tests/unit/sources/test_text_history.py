"""Which commit took a text out of a file, or brought it in; in repositories made for each test."""

import subprocess
from pathlib import Path

import pytest

from material import Repository
from rag_core.golden.losses import SinceCommit
from rag_core.sources.git import GitRepository
from rag_core.sources.text_history import FileHistory, FilesHistory, Turning


def has_answer(blob: bytes) -> bool:
    return b"resposta" in blob


def history(folder: Path) -> FileHistory:
    repository = GitRepository(folder)
    return FileHistory(repository, repository.resolve("HEAD"), "docs/a.md")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "r", {"docs/a.md": "nada\n"})


def test_the_commit_that_took_a_text_is_found_between_others_that_touched_the_file(
    repository: Repository,
) -> None:
    brought = repository.commit({"docs/a.md": "resposta\n"})
    repository.commit({"docs/a.md": "resposta, e mais\n"})
    taken = repository.commit({"docs/a.md": "outra\n"})
    repository.commit({"docs/a.md": "outra ainda\n"})
    repository.commit({"docs/b.md": "resposta\n"})
    assert history(repository.folder).taken(has_answer) == SinceCommit(commit=taken)
    repository.git("reset", "--quiet", "--hard", f"{taken}~1")
    assert history(repository.folder).brought(has_answer) == SinceCommit(commit=brought)


def test_a_text_that_came_back_and_went_again_was_taken_by_the_later_commit(repository: Repository) -> None:
    repository.commit({"docs/a.md": "resposta\n"})
    repository.commit({"docs/a.md": "nada\n"})
    repository.commit({"docs/a.md": "resposta\n"})
    taken = repository.commit({"docs/a.md": "fim\n"})
    assert history(repository.folder).taken(has_answer) == SinceCommit(commit=taken)


def test_a_file_deleted_and_written_anew_lost_its_text_with_the_deletion(repository: Repository) -> None:
    repository.commit({"docs/a.md": "resposta\n"})
    repository.remove("docs/a.md")
    deleted = repository.git("rev-parse", "HEAD")
    repository.commit({"docs/a.md": "outro começo\n"})
    assert history(repository.folder).taken(has_answer) == SinceCommit(commit=deleted)


def test_on_a_branch_that_was_merged_it_is_the_branchs_commit_and_not_the_merge(
    repository: Repository,
) -> None:
    repository.commit({"docs/a.md": "resposta\n"})
    repository.git("checkout", "--quiet", "-b", "lado")
    taken = repository.commit({"docs/a.md": "outra\n"})
    repository.git("checkout", "--quiet", "main")
    repository.commit({"docs/b.md": "b\n"})
    repository.git("merge", "--quiet", "--no-ff", "--message", "lado", "lado")
    assert history(repository.folder).taken(has_answer) == SinceCommit(commit=taken)


def test_a_bare_repository_tells_it_too_and_a_shallow_one_says_that_it_does_not_reach_so_far(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit({"docs/a.md": "resposta\n"})
    taken = repository.commit({"docs/a.md": "outra\n"})
    repository.commit({"docs/a.md": "outra ainda\n"})
    for name, options in (("bare", ["--bare"]), ("shallow", ["--depth", "1"])):
        subprocess.run(
            ["git", "clone", "--quiet", *options, repository.folder.as_uri(), str(tmp_path / name)],
            check=True,
            capture_output=True,
        )
    assert history(tmp_path / "bare").taken(has_answer) == SinceCommit(commit=taken)
    told = history(tmp_path / "shallow").taken(has_answer)
    assert told.commit is None
    assert told.words == ". The git history here is shallow and does not reach back to it."
    assert history(tmp_path / "shallow").brought(lambda blob: b"ainda" in blob).commit is None


def test_a_text_that_no_commit_of_the_branch_holds_is_said_to_be_of_another_history(
    repository: Repository,
) -> None:
    repository.commit({"docs/a.md": "resposta\n"})
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    told = history(repository.folder).taken(has_answer)
    assert told.commit is None
    assert "its history was rewritten, or is of another branch" in told.words


def test_a_text_that_the_file_began_with_was_brought_by_its_first_commit(repository: Repository) -> None:
    first = repository.git("rev-parse", "HEAD")
    assert history(repository.folder).brought(lambda blob: b"nada" in blob) == SinceCommit(commit=first)


def test_a_file_is_unchanged_since_a_commit_only_where_git_can_tell(repository: Repository) -> None:
    first = repository.git("rev-parse", "HEAD")
    repository.commit({"docs/b.md": "b\n"})
    assert history(repository.folder).unchanged_since(first)
    assert not history(repository.folder).unchanged_since("0" * 40)
    repository.commit({"docs/a.md": "outra\n"})
    assert not history(repository.folder).unchanged_since(first)


def test_of_two_branches_that_each_took_one_of_two_texts_the_merge_took_the_last(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r", {"docs/a.md": "resposta\n", "docs/b.md": "resposta\n"})
    repository.git("checkout", "--quiet", "-b", "lado")
    aside = repository.commit({"docs/a.md": "outra\n"})
    repository.git("checkout", "--quiet", "main")
    repository.commit({"docs/b.md": "outra\n"})
    repository.git("merge", "--quiet", "--no-ff", "--message", "lado", "lado")
    git = GitRepository(repository.folder)
    files = FilesHistory(git, git.resolve("HEAD"), ["docs/a.md", "docs/b.md"])

    def answers(commit: str, *paths: str) -> bool:
        oids = files.files(commit)
        return any(has_answer(files.blob(oids[path])) for path in paths)

    turn = files.turn(lambda commit: not answers(commit, "docs/a.md", "docs/b.md"), from_first=False)
    assert isinstance(turn, Turning)
    assert turn.commit == git.resolve("HEAD")
    # a text that was gone on one side already was not taken by the merge
    alone = files.turn(lambda commit: not answers(commit, "docs/a.md"), from_first=False)
    assert isinstance(alone, Turning)
    assert alone.commit == aside
