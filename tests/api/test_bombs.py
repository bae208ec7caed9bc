"""What a hostile repository, provider or caller can send, against a server: its memory stays where it was meant to be.

Each bomb is small where it lies and has no end, or a very far one, for whoever takes it whole.
"""

import hashlib
import itertools
import os
import socket
import subprocess
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest
from test_served import serving

from material import ANA, CASES, DOCUMENTS, Repository
from medir.configuration import load_configuration
from medir.pages import PAGES
from medir.wiring import open_services
from ollama_server import Fault, OllamaServer
from rag_core.project.projects import add_project
from rag_core.sources.git_process import MAX_GIT_MEMORY_BYTES
from walk import QUESTION, ask, draw

MOST_MB = 500
FAR = 4 << 30
LOOKED_AT_EVERY_S = 0.02
ALIASES = "a: &a [x, x]\n" + "".join(
    f"{key}: &{key} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, key in zip("abcdefgh", "bcdefghi", strict=True)
)


def put(repository: Repository, content: str, *arguments: str) -> str:
    finished = subprocess.run(
        ["git", "-C", str(repository.folder), *arguments],
        input=content.encode(),
        check=True,
        capture_output=True,
    )
    return finished.stdout.decode().strip()


def commit_trees(repository: Repository, **trees: str) -> None:
    """Make a commit of those folders, and the branch's last."""
    top = put(repository, "".join(f"040000 tree {tree}\t{name}\n" for name, tree in trees.items()), "mktree")
    head = repository.git("commit-tree", top, "-m", "by hand", "-p", "HEAD")
    repository.git("reset", "--quiet", "--soft", head)


def tree_bomb(repository: Repository) -> None:
    """Nine trees, each ten times in the next: a thousand million documents."""
    blob = put(repository, "# Bomba\n", "hash-object", "-w", "--stdin")
    tree = put(repository, "".join(f"100644 blob {blob}\t{n}.md\n" for n in range(10)), "mktree")
    for _ in range(8):
        tree = put(repository, "".join(f"040000 tree {tree}\t{n}\n" for n in range(10)), "mktree")
    commit_trees(repository, docs=tree, golden_set=repository.git("rev-parse", "HEAD:golden_set"))


def blob_bomb(repository: Repository) -> None:
    """An object of 4 GB in as many megabytes, as a document and as the golden set; its id is not its content's."""
    head = f"blob {FAR}\0".encode()
    packing = zlib.compressobj(9)
    begin = packing.compress(head) + packing.flush(zlib.Z_FULL_FLUSH)
    # a piece that stands for itself can stand any number of times
    piece = packing.compress(bytes(1 << 20)) + packing.flush(zlib.Z_FULL_FLUSH)
    known = zlib.adler32(head)
    low, high = known & 0xFFFF, known >> 16
    check = (((high + FAR * low) % 65_521) << 16) | low
    oid = hashlib.sha1(b"a bomb").hexdigest()
    file = repository.folder / ".git" / "objects" / oid[:2] / oid[2:]
    file.parent.mkdir(exist_ok=True)
    end = zlib.compressobj(9, zlib.DEFLATED, -15).flush()
    file.write_bytes(begin + piece * (FAR >> 20) + end + check.to_bytes(4, "big"))
    assert put(repository, "", "cat-file", "-s", oid) == str(FAR)
    small = repository.git("rev-parse", "HEAD:docs/motorista.md")
    commit_trees(
        repository,
        docs=put(repository, f"100644 blob {oid}\tfrete.md\n100644 blob {small}\tmotorista.md\n", "mktree"),
        golden_set=put(
            repository, f"100644 blob {oid}\tcases.yaml\n100644 blob {oid}\tsettings.yaml\n", "mktree"
        ),
    )


def endless_files(repository: Repository) -> None:
    """Links to a device, and a pipe that nobody writes to."""
    golden = repository.folder / "golden_set"
    (golden / "baselines").mkdir()
    for name in ("cases.yaml", "settings.yaml", "baselines/z.json"):
        (golden / name).unlink(missing_ok=True)
        (golden / name).symlink_to("/dev/zero")
    os.mkfifo(golden / "baselines" / "p.json")


def sparse_files(repository: Repository) -> None:
    """Files of 4 GB that take no room on the disk."""
    (repository.folder / "golden_set" / "baselines").mkdir()
    for name in ("cases.yaml", "settings.yaml", "baselines/z.json"):
        with (repository.folder / "golden_set" / name).open("wb") as file:
            file.truncate(FAR)


def alias_bombs(repository: Repository) -> None:
    """Aliases of aliases in all that is read as YAML, and what nests without end."""
    repository.commit(
        {
            "docs/frente.md": f"---\n{ALIASES}title: *i\n---\n# Frente\n\nUm texto.\n",
            "golden_set/cases.yaml": f"{ALIASES}floor: *i\ncases: *i\n",
            "golden_set/settings.yaml": f"{ALIASES}weightVector: *i\n",
            "golden_set/baselines/z.json": "[" * 1_000_000,
        }
    )


def many_parts(repository: Repository) -> None:
    """As much as each file may have of what takes most memory."""
    names = ",".join(f'"{number:07d}":{number}' for number in range(380_000))
    repository.commit(
        {
            "golden_set/cases.yaml": "a: &a b\n" * 20_000,
            "golden_set/baselines/z.json": f"{{{names}}}",
            "golden_set/baselines/w.json": '{"a":"\U0001f600' + "x" * 20_000_000 + '"}',
        }
    )


def news(repository: Repository) -> None:
    """A document that has no vector yet: nothing but its provider is hostile."""
    repository.commit({"docs/novo.md": "# Novo\n\nUm documento que ainda não tem vetor.\n"})


BOMBS = {
    "arvore": tree_bomb,
    "bolha": blob_bomb,
    "aparelho": endless_files,
    "esparso": sparse_files,
    "apelidos": alias_bombs,
    "partes": many_parts,
    "novo": news,
}


class Memory:
    """The most memory that a process and each that it started ever had, by what they are."""

    def __init__(self, server: psutil.Process) -> None:
        self._server = server
        self._stop = threading.Event()
        self.peaks: dict[str, int] = {}
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(LOOKED_AT_EVERY_S):
            self.look()

    def look(self) -> None:
        for process in (self._server, *self._server.children(recursive=True)):
            try:
                status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
                name = " ".join(process.cmdline()[:5])
            except (OSError, psutil.Error):
                continue
            kilobytes = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
            if kilobytes:
                self.peaks[name] = max(self.peaks.get(name, 0), int(kilobytes[0]) * 1024 // 1_000_000)

    def end(self) -> None:
        self._stop.set()
        self._thread.join()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bombed:
    """A server over projects that are bombs, with a provider whose answers have no end."""

    port: int
    memory: Memory
    ollama: OllamaServer

    def check(self) -> None:
        self.memory.look()
        assert self.memory.peaks
        assert {name: peak for name, peak in self.memory.peaks.items() if peak >= MOST_MB} == {}
        assert ask(self.port, "GET", "/api/health") == 200


@pytest.fixture(scope="module")
def bombed(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bombed]:
    folder = tmp_path_factory.mktemp("bombs")
    with OllamaServer() as ollama:
        environment = {
            "DATABASE_URL": module_database_url,
            "MEDIR_EMBEDDING": "ollama",
            "OLLAMA_HOST": ollama.host,
        }
        told = {"HOME": os.devnull, "MEDIR_HOME": str(folder / "home"), **environment}
        with open_services(load_configuration(told)) as services:
            for name, bomb in BOMBS.items():
                files = {**DOCUMENTS, "golden_set/cases.yaml": CASES}
                repository = Repository(folder / name, files)
                project = add_project(services.database, name, repo=repository.folder)
                services.indexing.run(project, actor=ANA)
                bomb(repository)
        ollama.fault = Fault.FLOOD
        with serving(environment, folder / "home") as (_, port), watched() as memory:
            yield Bombed(port=port, memory=memory, ollama=ollama)


@contextmanager
def watched() -> Iterator[Memory]:
    """The memory of the server that this process started."""
    server = next(child for child in psutil.Process().children() if "serve" in child.cmdline())
    memory = Memory(server)
    try:
        yield memory
    finally:
        memory.end()


def reindex(port: int, project: str) -> None:
    """Carry out a run, to its end where it is begun."""
    address = f"http://127.0.0.1:{port}/api/projects/{project}/rag/reindex"
    begun = httpx.post(address, json={}, timeout=60, trust_env=False)
    # a repository that can't be read is refused at once
    assert begun.status_code in (202, 503)
    deadline = time.monotonic() + 60
    while begun.status_code == 202:
        found = httpx.get(f"{address}/{begun.json()['runId']}", timeout=60, trust_env=False).json()
        if found["state"] not in ("running", "queued", "starting"):
            return
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize("project", list(BOMBS))
def test_no_repository_and_no_provider_takes_the_memory_of_the_server(bombed: Bombed, project: str) -> None:
    assert ask(bombed.port, "GET", f"/api/projects/{project}/rag/coverage") == 200
    assert ask(bombed.port, "POST", f"/api/projects/{project}/rag/search", {"query": QUESTION}) == 200
    for page in PAGES:
        draw(bombed.port, page.path, project)
    flooded = bombed.ollama.flooded
    reindex(bombed.port, project)
    bombed.check()
    assert project != "novo" or bombed.ollama.flooded > flooded


@pytest.mark.parametrize("method", ["POST", "PUT", "GET"])
@pytest.mark.parametrize(
    "path",
    [
        "/api/projects/novo/rag/search",
        "/api/projects/novo/rag/reindex",
        "/api/health",
        "/api/nowhere",
        "/_stcore/upload_file/a/b",
        "/search",
    ],
)
def test_a_body_without_end_is_not_taken(bombed: Bombed, method: str, path: str) -> None:
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{bombed.port}\r\nTransfer-Encoding: chunked\r\n"
    piece = b"10000\r\n" + b" " * 65_536 + b"\r\n"
    with socket.create_connection(("127.0.0.1", bombed.port), timeout=30) as caller:
        caller.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode())
        # what lies in buffers of the system on the way is some megabytes
        taken = b"".join(itertools.repeat(piece, 1_000))
        with pytest.raises(ConnectionError):
            caller.sendall(taken)
    bombed.check()


def test_git_too_is_held_below_what_the_server_may_have() -> None:
    assert MAX_GIT_MEMORY_BYTES < MOST_MB * 1_000_000
