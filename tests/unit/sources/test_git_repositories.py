"""Any repository is read as its commit has it: whatever its shape, its owner, its names and its damage."""

import os
import shutil
import subprocess
import unicodedata
from pathlib import Path

import pytest

from material import Repository
from rag_core.errors import Unavailable, UsageError
from rag_core.model import DocumentFolders
from rag_core.sources.decoding import MAX_BYTES
from rag_core.sources.documents import DocumentTree, SkipReason, list_documents, read_documents
from rag_core.sources.git import GitRepository

FILES = {"docs/guia.md": "# Guia\n", "docs/adr/0001-fila.md": "# Fila\n", "README.md": "# Fora\n"}
TEXTS = {"docs/guia.md": "# Guia\n", "docs/adr/0001-fila.md": "# Fila\n"}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "projeto", FILES)


def read(
    folder: Path, *, ref: str = "HEAD", root: str = "", folders: DocumentFolders | None = None
) -> DocumentTree:
    return read_documents(GitRepository(folder), ref=ref, root=root, folders=folders or DocumentFolders())


def texts(tree: DocumentTree) -> dict[str, str]:
    return {document.path: document.text for document in tree.documents}


def skipped(tree: DocumentTree) -> dict[str, SkipReason]:
    return {file.path: file.reason for file in tree.skipped}


def stage(repository: Repository, mode: str, oid: str, path: bytes) -> None:
    """Put an entry into the index that no file system could hold, and commit it."""
    subprocess.run(
        ["git", "-C", str(repository.folder), "update-index", "-z", "--index-info"],
        input=f"{mode} {oid}\t".encode() + path + b"\0",
        check=True,
    )
    repository.git("commit", "--quiet", "--message", "by hand")


def blob(repository: Repository, content: bytes) -> str:
    finished = subprocess.run(
        ["git", "-C", str(repository.folder), "hash-object", "-w", "--stdin"],
        input=content,
        check=True,
        capture_output=True,
    )
    return finished.stdout.decode().strip()


def object_file(repository: Repository, name: str) -> Path:
    oid = repository.git("rev-parse", name)
    return repository.folder / ".git" / "objects" / oid[:2] / oid[2:]


# Shapes of repositories


def test_a_bare_clone_a_worktree_a_shallow_clone_and_a_detached_head_are_read_alike(
    repository: Repository, tmp_path: Path
) -> None:
    head = repository.commit({"docs/guia.md": "# Guia\n"}, message="second")
    source = f"file://{repository.folder}"
    repository.git("clone", "--quiet", "--bare", source, str(tmp_path / "bare"))
    repository.git("clone", "--quiet", "--depth=1", source, str(tmp_path / "shallow"))
    repository.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "worktree"))
    repository.git("clone", "--quiet", source, str(tmp_path / "detached"))
    repository.git("-C", str(tmp_path / "detached"), "checkout", "--quiet", "--detach")

    for name in ("projeto", "bare", "shallow", "worktree", "detached"):
        tree = read(tmp_path / name)
        assert (name, texts(tree), tree.commit) == (name, TEXTS, head)


def test_a_worktree_is_read_at_its_own_head(repository: Repository, tmp_path: Path) -> None:
    repository.git("worktree", "add", "--quiet", "-b", "outra", str(tmp_path / "worktree"))
    repository.commit({"docs/guia.md": "# Mudou\n"})

    assert texts(read(tmp_path / "worktree")) == TEXTS


def test_a_repository_with_sha_256_ids_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "sha256"
    folder.mkdir()
    subprocess.run(["git", "-C", str(folder), "init", "--quiet", "--object-format=sha256"], check=True)
    repository = Repository.__new__(Repository)
    repository.folder = folder
    head = repository.commit(FILES)

    assert len(head) == 64
    assert (texts(read(folder)), read(folder).commit) == (TEXTS, head)


def test_a_folder_inside_the_repository_stands_for_its_top(repository: Repository) -> None:
    assert texts(read(repository.folder / "docs" / "adr")) == TEXTS


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to somebody else")
def test_a_repository_of_somebody_else_is_read_and_nobodys_configuration_is_changed(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    repository.git("clone", "--quiet", "--bare", str(repository.folder), str(tmp_path / "bare"))
    for top in (repository.folder, tmp_path / "bare"):
        for path in (top, *top.rglob("*")):
            os.chown(path, 12345, 12345, follow_symlinks=False)
    refused = subprocess.run(
        ["git", "-C", str(repository.folder), "log", "-1"], check=False, capture_output=True, text=True
    )

    assert "dubious ownership" in refused.stderr
    assert texts(read(repository.folder)) == TEXTS
    assert texts(read(tmp_path / "bare")) == TEXTS
    assert not (tmp_path / "home").exists()


def test_an_owner_who_forbids_bare_repositories_by_default_is_served_all_the_same(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.git("clone", "--quiet", "--bare", str(repository.folder), str(tmp_path / "bare"))
    (tmp_path / ".gitconfig").write_text("[safe]\n\tbareRepository = explicit\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))

    assert texts(read(tmp_path / "bare")) == TEXTS


def test_variables_of_the_callers_git_point_nowhere_else(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Repository(tmp_path / "outro", {"docs/outro.md": "# Outro\n"})
    monkeypatch.setenv("GIT_DIR", str(other.folder / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.folder))
    monkeypatch.setenv("GIT_NAMESPACE", "x")

    assert texts(read(repository.folder)) == TEXTS


# What is no repository, or holds nothing


def test_a_folder_that_is_missing_or_no_repository_is_refused_with_the_remedy(tmp_path: Path) -> None:
    plain = tmp_path / "pasta"
    plain.mkdir()
    (plain / "guia.md").write_text("# Guia\n", encoding="utf-8")

    with pytest.raises(UsageError, match="does not exist"):
        GitRepository(tmp_path / "nada")
    with pytest.raises(UsageError, match="is no git repository") as refusal:
        GitRepository(plain)
    assert f"git init {plain}" in refusal.value.hint


def test_a_broken_git_folder_is_never_taken_for_the_repository_around_it(repository: Repository) -> None:
    inner = repository.folder / "parte"
    (inner / ".git").mkdir(parents=True)

    with pytest.raises(Unavailable, match="can't read the repository"):
        read(inner)


def test_a_repository_without_a_commit_says_so(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path / "vazio")], check=True)

    with pytest.raises(UsageError, match="has no commit yet"):
        read(tmp_path / "vazio")


def test_a_repository_without_docs_has_no_documents(tmp_path: Path) -> None:
    tree = read(
        Repository(tmp_path / "p", {"README.md": "# Fora\n", "docs.md": "x", "documentos/a.md": "x"}).folder
    )

    assert (tree.documents, tree.skipped) == ((), ())


# Refs and roots


def test_an_older_commit_a_branch_and_a_tag_can_be_read(repository: Repository) -> None:
    first = repository.git("rev-parse", "HEAD")
    repository.git("tag", "--annotate", "--message", "v1", "v1")
    repository.git("branch", "antiga")
    second = repository.commit({"docs/guia.md": "# Nova\n"})

    for ref in (first, first[:10], "v1", "antiga", "HEAD~1"):
        assert (texts(read(repository.folder, ref=ref)), read(repository.folder, ref=ref).commit) == (
            TEXTS,
            first,
        )
    assert read(repository.folder).commit == second


@pytest.mark.parametrize("ref", ["nenhum", "HEAD~9", "--all", "HEAD:docs", "", "HEAD\n"])
def test_a_ref_that_names_no_commit_is_refused(repository: Repository, ref: str) -> None:
    with pytest.raises(UsageError, match="has no commit"):
        read(repository.folder, ref=ref)


def test_only_what_is_committed_is_read(repository: Repository) -> None:
    (repository.folder / "docs" / "guia.md").write_text("# Rascunho\n", encoding="utf-8")
    (repository.folder / "docs" / "novo.md").write_text("# Novo\n", encoding="utf-8")
    repository.git("add", "docs/novo.md")

    assert texts(read(repository.folder)) == TEXTS


def test_under_a_root_only_its_own_docs_are_read_and_its_last_commit_is_named(tmp_path: Path) -> None:
    repository = Repository(
        tmp_path / "p",
        {
            "ação [1]/docs/a.md": "# A\n",
            "ação [1]/docs/adr/b.md": "# B\n",
            "docs/fora.md": "x",
            "ação 1/docs/x.md": "x",
        },
    )
    inside = repository.git("rev-parse", "HEAD")
    repository.commit({"docs/fora.md": "y"})
    tree = read(repository.folder, root="ação [1]")

    assert texts(tree) == {"docs/a.md": "# A\n", "docs/adr/b.md": "# B\n"}
    assert tree.commit == inside


def test_a_root_that_a_ref_does_not_have_is_refused(repository: Repository) -> None:
    repository.commit({"parte/docs/a.md": "# A\n"})

    with pytest.raises(UsageError, match="has no folder 'parte' at HEAD~1"):
        read(repository.folder, ref="HEAD~1", root="parte")


# What is left out


def test_no_symlink_is_followed_wherever_it_leads(repository: Repository, tmp_path: Path) -> None:
    outside = tmp_path / "segredo.md"
    outside.write_text("# Segredo\n", encoding="utf-8")
    docs = repository.folder / "docs"
    (docs / "fora.md").symlink_to(outside)
    (docs / "laço").symlink_to("..")
    (docs / "dentro.md").symlink_to("guia.md")
    (docs / "solto.md").symlink_to("nada.md")
    repository.commit({})

    tree = read(repository.folder)

    assert texts(tree) == TEXTS
    assert skipped(tree) == dict.fromkeys(
        ("docs/dentro.md", "docs/fora.md", "docs/laço", "docs/solto.md"), SkipReason.SYMLINK
    )
    assert all(reason.by_rule for reason in skipped(tree).values())


def test_a_docs_folder_that_is_a_symlink_leads_nowhere(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "p", {"outra/guia.md": "# Guia\n"})
    (repository.folder / "docs").symlink_to("outra")
    repository.commit({})

    assert read(repository.folder).documents == ()


def test_a_submodule_is_listed_and_not_entered(repository: Repository) -> None:
    head = repository.git("rev-parse", "HEAD")
    stage(repository, "160000", head, b"docs/sub")
    stage(repository, "160000", "1" * 40, b"docs/sub.md")

    tree = read(repository.folder)

    assert texts(tree) == TEXTS
    assert skipped(tree) == {"docs/sub": SkipReason.SUBMODULE, "docs/sub.md": SkipReason.SUBMODULE}


def test_an_lfs_pointer_is_listed_and_not_indexed(repository: Repository) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d' * 32}\nsize 12345\n"
    repository.commit({"docs/grande.md": pointer})

    assert skipped(read(repository.folder)) == {"docs/grande.md": SkipReason.LFS_POINTER}


def test_a_file_over_two_megabytes_is_refused_and_one_of_exactly_two_is_read(repository: Repository) -> None:
    repository.commit({"docs/cabe.md": b"a" * MAX_BYTES, "docs/enorme.md": b"a" * (MAX_BYTES + 1)})

    tree = read(repository.folder)

    assert len(texts(tree)["docs/cabe.md"]) == MAX_BYTES
    assert skipped(tree) == {"docs/enorme.md": SkipReason.TOO_LARGE}
    assert not SkipReason.TOO_LARGE.by_rule


def test_what_is_no_markdown_is_listed_by_rule_and_the_ending_may_be_in_capitals(
    repository: Repository,
) -> None:
    repository.commit(
        {"docs/mapa.png": b"\x89PNG", "docs/LEIA.MD": "# Leia\n", "docs/notas.mdx": "x", "docs/md": "x"}
    )

    tree = read(repository.folder)

    assert set(texts(tree)) == {*TEXTS, "docs/LEIA.MD"}
    assert skipped(tree) == dict.fromkeys(
        ("docs/mapa.png", "docs/md", "docs/notas.mdx"), SkipReason.NOT_MARKDOWN
    )


def test_an_undecodable_file_is_refused_and_every_other_indexed(repository: Repository) -> None:
    repository.commit(
        {
            "docs/a-ruim.md": b"# Regra\n\xff\xfe\xfd \x81",
            "docs/b-latin.md": "# Negócio\n".encode("latin-1"),
            "docs/c-nul.md": b"a\0b\n",
        }
    )

    tree = read(repository.folder)

    assert skipped(tree) == {"docs/a-ruim.md": SkipReason.ENCODING}
    assert texts(tree) == TEXTS | {"docs/b-latin.md": "# Negócio\n", "docs/c-nul.md": "ab\n"}
    assert [(note.path, note.note) for note in tree.notes] == [
        ("docs/b-latin.md", "read as cp1252"),
        ("docs/c-nul.md", "1 NUL byte removed"),
    ]


# Names


def test_accents_in_either_normal_form_spaces_and_newlines_are_names_like_any_other(tmp_path: Path) -> None:
    names = [
        unicodedata.normalize("NFC", "docs/ação.md"),
        unicodedata.normalize("NFD", "docs/ação.md"),
        "docs/duas\nlinhas.md",
        "docs/tab\t e espaço .md",
        'docs/"aspas".md',
        "docs/:(top)*.md",
        "docs/-n.md",
        "docs/🚚.md",
    ]
    repository = Repository(tmp_path / "p", {name: f"# {number}\n" for number, name in enumerate(names)})

    assert texts(read(repository.folder)) == {name: f"# {number}\n" for number, name in enumerate(names)}


def test_twins_that_differ_in_case_are_both_read(repository: Repository) -> None:
    oid = blob(repository, b"# Outro guia\n")
    stage(repository, "100644", oid, b"docs/Guia.md")

    found = texts(read(repository.folder))

    assert (found["docs/Guia.md"], found["docs/guia.md"]) == ("# Outro guia\n", "# Guia\n")


def test_a_name_that_is_no_utf_8_is_escaped_and_its_file_read(repository: Repository) -> None:
    stage(repository, "100644", blob(repository, b"# Brasil\n"), b"docs/br\xe9.md")

    assert texts(read(repository.folder))["docs/br\\xe9.md"] == "# Brasil\n"


def test_of_two_names_that_escape_alike_the_second_is_refused_by_its_name(repository: Repository) -> None:
    stage(repository, "100644", blob(repository, b"# Literal\n"), b"docs/br\\xe9.md")
    stage(repository, "100644", blob(repository, b"# Latin\n"), b"docs/br\xe9.md")

    tree = read(repository.folder)

    assert texts(tree)["docs/br\\xe9.md"] == "# Literal\n"
    assert skipped(tree) == {"docs/br\\xe9.md": SkipReason.NAME}


# Damage and malice


def test_replaced_objects_and_grafts_are_not_followed(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "p", {"parte/docs/a.md": "# A\n"})
    first = repository.git("rev-parse", "HEAD")
    second = repository.commit({"fora.md": "x"})
    repository.git(
        "replace", repository.git("rev-parse", "HEAD:parte/docs/a.md"), blob(repository, b"# Falso\n")
    )
    # by this graft the second commit has no parent, so it would be the one that brought the folder
    (repository.folder / ".git" / "info").mkdir(exist_ok=True)
    (repository.folder / ".git" / "info" / "grafts").write_text(f"{second}\n", encoding="utf-8")

    tree = read(repository.folder, root="parte")

    assert (texts(tree), tree.commit) == ({"docs/a.md": "# A\n"}, first)


def test_a_missing_and_a_damaged_object_cost_their_own_files_only(repository: Repository) -> None:
    repository.commit(
        {"docs/a.md": "# A, que falta\n", "docs/b.md": "# B, estragado\n", "docs/z.md": "# Z\n"}
    )
    object_file(repository, "HEAD:docs/a.md").unlink()
    damaged = object_file(repository, "HEAD:docs/b.md")
    damaged.chmod(0o644)
    damaged.write_bytes(damaged.read_bytes()[:-6] + b"\0" * 6)

    tree = read(repository.folder)

    assert texts(tree) == TEXTS | {"docs/z.md": "# Z\n"}
    assert skipped(tree) == {"docs/a.md": SkipReason.UNREADABLE, "docs/b.md": SkipReason.UNREADABLE}
    assert not SkipReason.UNREADABLE.by_rule


def test_a_partial_clone_without_any_content_is_refused_with_the_remedy_and_fetches_nothing(
    repository: Repository, tmp_path: Path
) -> None:
    repository.git("config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    repository.git(
        "clone", "--quiet", "--bare", "--filter=blob:none", f"file://{repository.folder}", str(partial)
    )
    before = sorted(path.name for path in (partial / "objects").rglob("*"))

    with pytest.raises(Unavailable, match="objects are missing") as refusal:
        read(partial)

    assert "git fetch --refetch" in refusal.value.hint
    assert sorted(path.name for path in (partial / "objects").rglob("*")) == before
    assert list_documents(GitRepository(partial), ref="HEAD", root="", folders=DocumentFolders()) == set(
        TEXTS
    )


def test_a_missing_tree_is_said_in_one_sentence(repository: Repository) -> None:
    object_file(repository, "HEAD:docs").unlink()

    with pytest.raises(Unavailable, match="can't read the repository") as refusal:
        read(repository.folder)
    assert "git fsck" in refusal.value.hint


def test_a_hostile_repositorys_configuration_starts_no_program(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "p", {"parte/docs/a.md": "# A\n", "parte/docs/b.md": "# B\n"})
    started = tmp_path / "started"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho $0 >> '{started}'\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    for name, value in {
        "core.fsmonitor": str(program),
        "core.pager": str(program),
        "core.sshCommand": str(program),
        "gpg.program": str(program),
        "log.showSignature": "true",
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{program}",
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
    }.items():
        repository.git("config", name, value)
    unsigned = repository.git("cat-file", "commit", "HEAD")
    head, _, message = unsigned.partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ\n -----END PGP SIGNATURE-----"
    signed = subprocess.run(
        ["git", "-C", str(repository.folder), "hash-object", "-t", "commit", "-w", "--stdin"],
        input=f"{head}\n{signature}\n\n{message}\n".encode(),
        check=True,
        capture_output=True,
    )
    repository.git("update-ref", "HEAD", signed.stdout.decode().strip())
    object_file(repository, "HEAD:parte/docs/a.md").unlink()
    started.unlink(missing_ok=True)

    tree = read(repository.folder, root="parte")

    assert (texts(tree), skipped(tree)) == ({"docs/b.md": "# B\n"}, {"docs/a.md": SkipReason.UNREADABLE})
    assert not started.exists()


def test_the_tree_is_walked_once_and_the_number_of_git_calls_does_not_grow_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = tmp_path / "calls"
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(
        f'#!/bin/sh\necho "$*" >> \'{calls}\'\nexec {shutil.which("git")} "$@"\n', encoding="utf-8"
    )
    wrapper.chmod(0o755)
    small = Repository(tmp_path / "small", {"docs/a.md": "# A\n"})
    large = Repository(
        tmp_path / "large", {f"docs/{number % 7}/{number}.md": f"# {number}\n" for number in range(200)}
    )
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    counts = []
    for repository in (small, large):
        calls.write_text("", encoding="utf-8")
        read(repository.folder)
        lines = calls.read_text(encoding="utf-8").splitlines()
        counts.append(len(lines))
        assert sum(" ls-tree " in line for line in lines) == 1
        assert [line.split()[-1] for line in lines if " cat-file " in line] == ["--batch-check", "--batch"]

    assert counts[0] == counts[1]


def test_reading_leaves_the_repository_as_it_was(repository: Repository) -> None:
    before = {path: path.stat().st_mtime_ns for path in repository.folder.rglob("*")}

    read(repository.folder)

    assert {path: path.stat().st_mtime_ns for path in repository.folder.rglob("*")} == before


def test_other_folders_are_read_and_each_file_once_in_the_scope_of_its_deepest_folder(
    tmp_path: Path,
) -> None:
    repository = Repository(
        tmp_path / "projeto",
        {
            "doc/guia.md": "# Guia\n",
            "doc/decisions/0001-fila.md": "# Fila\n",
            "rfc/0002-frete.md": "# Frete\n",
            "docs/fora.md": "# Fora\n",
        },
    )
    folders = DocumentFolders(docs=("doc",), adr=("doc/decisions", "rfc"))
    found = [
        (str(document.scope), document.path)
        for document in read(repository.folder, folders=folders).documents
    ]
    assert found == [
        ("adr", "doc/decisions/0001-fila.md"),
        ("docs", "doc/guia.md"),
        ("adr", "rfc/0002-frete.md"),
    ]


@pytest.mark.parametrize(("root", "count"), [("", 3), ("docs", 2)])
def test_the_root_itself_can_be_the_folder_of_documents(
    repository: Repository, root: str, count: int
) -> None:
    tree = read(repository.folder, root=root, folders=DocumentFolders(docs=("",), adr=("adr",)))
    assert len(tree.documents) == count
    scopes = {document.path: str(document.scope) for document in tree.documents}
    assert scopes["docs/guia.md" if not root else "guia.md"] == "docs"
    assert scopes["docs/adr/0001-fila.md" if not root else "adr/0001-fila.md"] == ("adr" if root else "docs")
