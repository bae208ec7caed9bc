"""The highest floor that git remembers, in repositories made for each test."""

import os
import subprocess
from pathlib import Path

import pytest

from rag_core.errors import Unavailable
from rag_core.sources.floor_history import FloorHistory, highest_floor

PADDING = "".join(f"- {{id: c{number}, question: q{number}, expected: x.md}}\n" for number in range(20))


def with_floor(floor: int | None) -> str:
    return ("" if floor is None else f"floor: {floor}\n") + f"cases:\n{PADDING}"


class Repository:
    """A git repository in a folder; every command's configuration is given, none is read."""

    def __init__(self, top: Path) -> None:
        self.top = top
        top.mkdir(exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@example.org",
        }
        command = ["git", "-C", str(self.top), "-c", "core.autocrlf=false", *arguments]
        return subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True
        ).stdout.strip()

    def commit(self, floor: int | None, name: str = "cases.yaml") -> str:
        """Write a cases file with this floor, commit it, return the commit's id."""
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(with_floor(floor), encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", f"floor {floor}")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "project")


def test_the_highest_floor_is_found_with_the_commit_that_first_had_it(repository: Repository) -> None:
    repository.commit(3)
    raised = repository.commit(7)
    repository.commit(5)
    repository.commit(7)
    repository.commit(6)
    assert highest_floor(repository.top / "cases.yaml") == FloorHistory(
        guarded=True, highest=7, commit=raised
    )


def test_a_floor_below_its_history_has_fallen_and_the_sentence_names_the_commit(
    repository: Repository,
) -> None:
    raised = repository.commit(7)
    history = highest_floor(repository.top / "cases.yaml")
    assert history.fall(6) == f"The floor is 6, but it was 7 in commit {raised[:12]}; it only rises."
    assert history.fall(7) is None
    assert history.fall(8) is None


def test_a_floor_that_was_taken_out_of_the_file_is_remembered(repository: Repository) -> None:
    repository.commit(7)
    repository.commit(None)
    assert highest_floor(repository.top / "cases.yaml").highest == 7


def test_a_version_that_is_no_cases_file_does_not_hide_the_others(repository: Repository) -> None:
    raised = repository.commit(7)
    (repository.top / "cases.yaml").write_bytes(b"\xff\xfe floor: [\n")
    repository.git("commit", "--quiet", "--all", "--message", "broken")
    repository.commit(2)
    assert highest_floor(repository.top / "cases.yaml").commit == raised


def test_a_renamed_file_keeps_its_history(repository: Repository) -> None:
    raised = repository.commit(7, "antigo/casos de ouro.yaml")
    repository.git("mv", "antigo/casos de ouro.yaml", "intermédio.yaml")
    repository.git("commit", "--quiet", "--message", "first move")
    (repository.top / "novo").mkdir()
    repository.git("mv", "intermédio.yaml", "novo/cases.yaml")
    repository.git("commit", "--quiet", "--message", "second move")
    repository.commit(2, "novo/cases.yaml")
    assert highest_floor(repository.top / "novo/cases.yaml") == FloorHistory(
        guarded=True, highest=7, commit=raised
    )


def test_another_file_that_took_over_an_old_name_is_not_the_files_history(repository: Repository) -> None:
    repository.commit(2, "old.yaml")
    repository.git("mv", "old.yaml", "new.yaml")
    repository.git("commit", "--quiet", "--message", "move")
    repository.commit(9, "old.yaml")
    assert highest_floor(repository.top / "new.yaml").highest == 2


def test_a_deleted_and_rewritten_file_keeps_its_history(repository: Repository) -> None:
    repository.commit(7)
    repository.git("rm", "--quiet", "cases.yaml")
    repository.git("commit", "--quiet", "--message", "gone")
    repository.commit(1)
    assert highest_floor(repository.top / "cases.yaml").highest == 7


def test_a_floor_that_a_merge_threw_away_is_remembered(repository: Repository) -> None:
    repository.commit(3)
    repository.git("checkout", "--quiet", "-b", "side")
    raised = repository.commit(9)
    repository.git("checkout", "--quiet", "main")
    repository.commit(3, "other.yaml")
    repository.git("merge", "--quiet", "--strategy=ours", "--message", "ours", "side")
    assert highest_floor(repository.top / "cases.yaml").commit == raised


def test_a_floor_that_was_raised_within_a_merge_is_remembered(repository: Repository) -> None:
    repository.commit(3)
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit(4)
    repository.git("checkout", "--quiet", "main")
    repository.commit(3, "other.yaml")
    repository.git("merge", "--quiet", "--no-ff", "--no-commit", "side")
    merged = repository.commit(8)
    repository.commit(4)
    assert highest_floor(repository.top / "cases.yaml") == FloorHistory(
        guarded=True, highest=8, commit=merged
    )


def test_another_branch_does_not_bind_this_one(repository: Repository) -> None:
    repository.commit(3)
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit(9)
    repository.git("checkout", "--quiet", "main")
    assert highest_floor(repository.top / "cases.yaml").highest == 3


def test_an_uncommitted_floor_is_not_history(repository: Repository) -> None:
    repository.commit(3)
    (repository.top / "cases.yaml").write_text(with_floor(9), encoding="utf-8")
    assert highest_floor(repository.top / "cases.yaml").highest == 3


@pytest.mark.parametrize("commits", [0, 1])
def test_a_file_that_was_never_committed_is_guarded_and_has_no_history(
    repository: Repository, commits: int
) -> None:
    for _ in range(commits):
        repository.commit(3, "other.yaml")
    (repository.top / "cases.yaml").write_text("floor: 1\nids: []\n", encoding="utf-8")
    history = highest_floor(repository.top / "cases.yaml")
    assert history == FloorHistory(guarded=True, reason="The cases file was never committed.")
    assert history.fall(0) is None


def test_a_file_outside_git_is_unguarded(tmp_path: Path) -> None:
    (tmp_path / "cases.yaml").write_text(with_floor(1), encoding="utf-8")
    history = highest_floor(tmp_path / "cases.yaml")
    assert history == FloorHistory(guarded=False, reason="The cases file is outside git.")
    assert history.fall(0) is None


def test_a_machine_without_git_leaves_the_floor_unguarded(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repository.commit(3)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    history = highest_floor(repository.top / "cases.yaml")
    assert (history.guarded, history.highest) == (False, None)
    assert history.reason == "There is no `git` program on this machine."


def test_a_shallow_clone_says_that_its_history_is_cut(repository: Repository, tmp_path: Path) -> None:
    repository.commit(7)
    last = repository.commit(5)
    clone = tmp_path / "clone"
    repository.git("clone", "--quiet", "--depth", "1", f"file://{repository.top}", str(clone))
    assert highest_floor(clone / "cases.yaml") == FloorHistory(
        guarded=True, highest=5, commit=last, complete=False
    )


def test_a_linked_worktree_reads_its_own_branch(repository: Repository, tmp_path: Path) -> None:
    repository.commit(3)
    worktree = tmp_path / "worktree"
    repository.git("worktree", "add", "--quiet", "-b", "side", str(worktree))
    repository.commit(9)
    assert highest_floor(worktree / "cases.yaml").highest == 3


def test_a_symbolic_link_stands_for_the_file_that_it_names(repository: Repository, tmp_path: Path) -> None:
    repository.commit(7)
    link = tmp_path / "link.yaml"
    link.symlink_to(repository.top / "cases.yaml")
    assert highest_floor(link).highest == 7


def test_a_name_full_of_git_signs_is_only_a_name(repository: Repository) -> None:
    repository.commit(4, "other.yaml")
    repository.commit(2, ":(glob)*.yaml")
    assert highest_floor(repository.top / ":(glob)*.yaml").highest == 2


def test_the_callers_git_variables_and_configuration_change_nothing(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repository.commit(7)
    repository.commit(3)
    for name, value in {
        "log.showSignature": "true",
        "log.follow": "true",
        "log.diffMerges": "off",
        "diff.renames": "false",
        "core.quotePath": "true",
        "color.ui": "always",
        "format.pretty": "oneline",
    }.items():
        repository.git("config", name, value)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_LITERAL_PATHSPECS", "1")
    monkeypatch.setenv("LC_ALL", "pt_BR.UTF-8")
    assert highest_floor(repository.top / "cases.yaml").highest == 7


def test_a_missing_object_is_said_and_not_taken_for_a_lower_floor(repository: Repository) -> None:
    repository.commit(7)
    repository.commit(3)
    oid = repository.git("rev-parse", "HEAD~1:cases.yaml")
    (repository.top / ".git/objects" / oid[:2] / oid[2:]).unlink()
    with pytest.raises(Unavailable):
        highest_floor(repository.top / "cases.yaml")


def test_reading_the_history_leaves_the_repository_as_it_was(repository: Repository) -> None:
    repository.commit(7)
    before = sorted(str(path) for path in repository.top.rglob("*"))
    highest_floor(repository.top / "cases.yaml")
    assert sorted(str(path) for path in repository.top.rglob("*")) == before
    assert repository.git("status", "--porcelain") == ""
