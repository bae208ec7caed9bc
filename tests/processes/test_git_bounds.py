"""A few kilobytes of git objects can list for terabytes or unpack to them; none of it is taken in."""

import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from material import Repository
from rag_core.errors import Unavailable
from rag_core.model import DocumentFolders
from rag_core.sources.decoding import MAX_BYTES
from rag_core.sources.documents import read_documents
from rag_core.sources.floor_history import highest_floor
from rag_core.sources.git import GitRepository
from rag_core.sources.git_process import OutOfTime, TooMuch, output_of
from rag_core.sources.text_history import FileHistory

FOLDERS = DocumentFolders()
HUGE = 60_000_000

# memory is limited by the system: what goes beyond it ends in an error
READ = """
import resource, sys
from pathlib import Path
from rag_core.errors import Unavailable
from rag_core.model.folders import DocumentFolders
from rag_core.sources.documents import list_documents, list_documents_outside
from rag_core.sources.git import GitRepository
git, folders = GitRepository(Path(sys.argv[1])), DocumentFolders()
resource.setrlimit(resource.RLIMIT_DATA, (250_000_000, 250_000_000))
for read in (
    lambda: list_documents(git, ref="HEAD", root="", folders=folders),
    lambda: list_documents_outside(git, ref="HEAD", root="", folders=folders),
):
    try:
        read()
    except Unavailable as error:
        print(error.message)
"""


def put(repository: Repository, content: bytes, *arguments: str) -> str:
    finished = subprocess.run(
        ["git", "-C", str(repository.folder), *arguments], input=content, check=True, capture_output=True
    )
    return finished.stdout.decode().strip()


def commit_tree(repository: Repository, docs: str, *beside: str) -> None:
    """Make a commit whose docs/ is that tree, and the branch's last."""
    top = put(repository, "\n".join([f"040000 tree {docs}\tdocs", *beside, ""]).encode(), "mktree")
    head = repository.git("commit-tree", top, "-m", "by hand", "-p", "HEAD")
    repository.git("reset", "--quiet", "--soft", head)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(
        tmp_path / "projeto", {"docs/guia.md": "# Guia\n", "golden_set/cases.yaml": "floor: 2\n"}
    )


@pytest.fixture
def bomb(repository: Repository) -> GitRepository:
    """Nine trees, each ten times in the next: a thousand million files, in 3 kB."""
    blob = put(repository, b"# Bomba\n", "hash-object", "-w", "--stdin")
    tree = put(repository, "".join(f"100644 blob {blob}\t{n}.md\n" for n in range(10)).encode(), "mktree")
    for _ in range(8):
        tree = put(repository, "".join(f"040000 tree {tree}\t{n}\n" for n in range(10)).encode(), "mktree")
    commit_tree(repository, tree)
    return GitRepository(repository.folder)


def peak_of(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_tree_that_lists_without_end_is_refused_within_bounds(bomb: GitRepository) -> None:
    ended = subprocess.run(
        [sys.executable, "-B", "-c", READ, str(bomb.top)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    too_large = f"The repository {bomb.top} is too large to be read: its tree has more than"
    assert ended.stderr == ""
    assert ended.stdout.splitlines() == [
        f"{too_large} 200,000 files to read, or very long paths.",
        f"{too_large} 500,000 files.",
    ]


def test_one_small_object_under_many_names_is_refused_by_the_sum_of_its_sizes(repository: Repository) -> None:
    blob = put(repository, b"a" * MAX_BYTES, "hash-object", "-w", "--stdin")
    tree = put(repository, "".join(f"100644 blob {blob}\t{n}.md\n" for n in range(51)).encode(), "mktree")
    commit_tree(repository, tree)

    def refused() -> None:
        with pytest.raises(Unavailable, match="more than 100 MB"):
            read_documents(GitRepository(repository.folder), ref="HEAD", root="", folders=FOLDERS)

    assert peak_of(refused) < 5_000_000


def test_a_blob_that_unpacks_to_much_is_never_unpacked(repository: Repository) -> None:
    huge = put(repository, bytes(HUGE), "hash-object", "-w", "--stdin")
    tree = put(repository, f"100644 blob {huge}\tguia.md\n".encode(), "mktree")
    cases = put(repository, f"100644 blob {huge}\tcases.yaml\n".encode(), "mktree")
    commit_tree(repository, tree, f"040000 tree {cases}\tgolden_set")
    git = GitRepository(repository.folder)
    small = repository.git("rev-parse", "HEAD~1:docs/guia.md")
    history = FileHistory(git, repository.git("rev-parse", "HEAD"), "docs/guia.md")

    def read() -> None:
        assert list(git.read_blobs([huge, small, huge], at_most=MAX_BYTES)) == [b"", b"# Guia\n", b""]
        assert history.content() == b""
        assert history.taken(lambda blob: b"Guia" in blob).commit == repository.git("rev-parse", "HEAD")
        assert highest_floor(repository.folder / "golden_set" / "cases.yaml").highest == 2
        (skipped,) = read_documents(git, ref="HEAD", root="", folders=FOLDERS).skipped
        assert skipped.reason == "tooLarge"

    assert peak_of(read) < 5_000_000


def test_what_git_says_is_read_as_far_as_agreed_and_git_is_stopped(repository: Repository) -> None:
    listing = ["git", "-C", str(repository.folder), "ls-tree", "-r", "HEAD"]
    whole = repository.git("ls-tree", "-r", "HEAD").encode() + b"\n"
    assert b"".join(output_of(listing, at_most=len(whole), within_s=60)) == whole
    with pytest.raises(TooMuch):
        list(output_of(listing, at_most=len(whole) - 1, within_s=60))
    with pytest.raises(OutOfTime):
        # any program will do
        list(output_of(["sh", "-c", "exec sleep 60"], at_most=1, within_s=0.2))
