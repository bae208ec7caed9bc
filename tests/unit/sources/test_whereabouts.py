"""Where an expected file is that the index does not have, in a repository made for the test."""

from pathlib import Path

import pytest

from material import Repository
from rag_core.model import DocumentFolders
from rag_core.sources.git import GitRepository
from rag_core.sources.whereabouts import Searched, find_deletions, find_whereabouts

LFS = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)
OUTSIDE = "is in the repository but outside the folders that are indexed (docs, docs/adr); to index it: medir project"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    made = Repository(
        tmp_path_factory.mktemp("whereabouts") / "r",
        {
            "docs/guia.md": "# Guia\n\nTexto.\n",
            "docs/novo.md": "# Novo\n\nTexto.\n",
            "docs/lfs.md": LFS,
            "docs/grande.md": "a" * 2_000_001,
            "docs/bytes.md": b"\xff\x00\x81\x8d",
            "docs/vazio.md": "---\ntitle: Nada\n---\n",
            "docs/foto.png": b"\x89PNG",
            "frontend/README.md": "# Frente\n",
            "README.md": "# Topo\n",
            "manual/LEIA.md": "# Manual\n",
        },
    )
    (made.folder / "docs" / "elo.md").symlink_to("guia.md")
    (made.folder / "docs" / "elos").symlink_to("../manual")
    made.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},docs/sub")
    made.git("add", "docs/elo.md", "docs/elos")
    made.git("commit", "--quiet", "--message", "Links and a submodule")
    (made.folder / "docs" / "rascunho.md").write_text("# Rascunho\n", encoding="utf-8")
    return made


def told(repository: Repository, path: str, *, root: str = "", ref: str = "HEAD") -> str | None:
    searched = Searched(project_id="p", ref=ref, root=root, folders=DocumentFolders())
    return find_whereabouts(GitRepository(repository.folder), searched, [path]).get(path)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (
            "frontend/README.md",
            f"{OUTSIDE} set --project p --docs docs --docs frontend, then medir index.",
        ),
        (
            "README.md",
            f"{OUTSIDE} set --project p --docs ., then medir index.",
        ),
        ("docs/foto.png", "is in the repository but not in the index; only Markdown (*.md) is indexed."),
        ("docs/elo.md", "is a symbolic link, which is not followed; expect the file that it names."),
        (
            "docs/elos/LEIA.md",
            "lies behind the symbolic link “docs/elos”, which is not followed; expect the file that it names.",
        ),
        ("docs/sub", "is a submodule, another repository, whose files are not indexed."),
        (
            "docs/sub/a.md",
            "lies in the submodule “docs/sub”, another repository, whose files are not indexed.",
        ),
        (
            "docs/lfs.md",
            "is a Git LFS pointer in the repository, so it has no text to index; commit the text itself.",
        ),
        (
            "docs/grande.md",
            "is larger than 2 MB, so it is not indexed; split it into several files.",
        ),
        ("docs/bytes.md", "is in no encoding that is read, so it is not indexed; save it as UTF-8."),
        ("docs/vazio.md", "holds no text, so nothing of it can be found."),
        (
            "docs/novo.md",
            "is in the repository but not in the index; index the project again: medir index --project p.",
        ),
        (
            "docs/rascunho.md",
            "is in the working tree but not committed; commit it, then index the project again.",
        ),
        ("../fora.md", "is outside the repository, and only what is committed there is indexed."),
        ("docs/nada.md", None),
        # the linter's own suggestion knows the files of the folders
        ("docs/GUIA.md", None),
    ],
)
def test_each_kind_of_file_that_is_not_indexed_is_told_apart(
    repository: Repository, path: str, said: str | None
) -> None:
    assert told(repository, path) == said


def test_other_letters_lead_to_the_file_that_lies_outside_the_folders(repository: Repository) -> None:
    said = told(repository, "frontend/readme.md")
    assert said is not None
    assert said.startswith(
        "does not exist in the repository; “frontend/README.md” is in the repository but outside the folders"
    )


def test_under_a_root_a_path_from_the_top_is_told_from_one_outside_the_root(repository: Repository) -> None:
    assert told(repository, "manual/LEIA.md", root="manual") == (
        "is named from the top of the repository; write “LEIA.md”, as from manual."
    )
    said = told(repository, "docs/guia.md", root="manual")
    assert said is not None
    assert said.startswith("is in the repository but outside the project's folder manual")


def test_a_file_of_the_working_tree_is_not_at_another_ref(repository: Repository) -> None:
    repository.git("tag", "--force", "v0", "HEAD~1")
    assert told(repository, "docs/elo.md", ref="v0") == (
        "is in the working tree but not at v0, which is what is indexed."
    )


def test_an_absolute_path_into_the_repository_is_answered_with_the_relative_one(
    repository: Repository,
) -> None:
    absolute = str(repository.folder.resolve() / "docs" / "guia.md")
    assert told(repository, absolute) == "is no path from the project's top; write “docs/guia.md”."
    assert told(repository, str(Path("/elsewhere/x.md"))) == (
        "is outside the repository, and only what is committed there is indexed."
    )


def test_a_deleted_file_is_told_with_the_commit_that_deleted_it(tmp_path: Path) -> None:
    made = Repository(tmp_path / "r", {"docs/a.md": "# A\n", "docs/b.md": "# B\n"})
    made.remove("docs/a.md")
    deleted = made.git("rev-parse", "HEAD")
    made.commit({"docs/c.md": "# C\n"})
    searched = Searched(project_id="p", ref="HEAD", root="", folders=DocumentFolders())
    assert find_deletions(GitRepository(made.folder), searched, ["docs/a.md", "docs/nunca.md"]) == {
        "docs/a.md": f"It was deleted in commit {deleted[:12]}."
    }


def test_a_renamed_file_is_told_with_each_name_that_it_had_and_a_project_under_a_root_from_there(
    tmp_path: Path,
) -> None:
    text = "# A\n\n" + "Uma linha do texto.\n" * 20
    made = Repository(tmp_path / "r", {"sub/docs/a.md": text, "sub/docs/b.md": "# B\n"})
    made.git("mv", "sub/docs/a.md", "sub/docs/c.md")
    first = made.commit({"sub/docs/c.md": f"{text}\nE mais.\n", "sub/docs/ab.md": "# Nova\n"})
    searched = Searched(project_id="p", ref="HEAD", root="sub", folders=DocumentFolders())

    def told() -> str:
        return find_deletions(GitRepository(made.folder), searched, ["docs/a.md"])["docs/a.md"]

    assert told() == f"It was renamed to “docs/c.md” in commit {first[:12]}."
    made.git("mv", "sub/docs/c.md", "fora.md")
    second = made.commit({})
    assert told() == (
        f"It was renamed to “docs/c.md” in commit {first[:12]}, and that was renamed to “fora.md” in commit "
        f"{second[:12]}."
    )
    made.remove("fora.md")
    assert told().endswith(f"and that was deleted in commit {made.git('rev-parse', 'HEAD')[:12]}.")
