"""The wheel, installed where nothing may be written, does what a checkout does."""

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
import urllib.request
import venv
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from medir.pages import PAGES
from walk import draw

TOP = Path(__file__).resolve().parents[2]
QUESTION = "Quando o frete é calculado?"
# every verb's help in one process: a start each would be most of the time
_HELPS = """
from medir.cli import medir
from medir.cli.frame import run
print({name: run(medir, [name, "--help"]) for name in medir.commands})
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=TOP,
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


class Product:
    """An environment of its own that holds the wheel, and takes what it stands on from the tests' environment."""

    def __init__(self, wheel: Path, folder: Path, home: Path) -> None:
        venv.create(folder, symlinks=True)
        self.home = home
        self.bin = folder / "bin"
        self.packages = Path(
            sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)})
        )
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "install", "--quiet"),
                *("--disable-pip-version-check", "--no-cache-dir", "--no-index", "--no-deps", str(wheel)),
            ],
            check=True,
        )
        (self.packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "MEDIR_HOME": str(home),
            "MEDIR_EMBEDDING": "embedded",
            "CI": "1",
        }

    def start(self, program: str, *arguments: str) -> subprocess.Popen[str]:
        """A program of the environment."""
        return subprocess.Popen(
            [self.bin / program, *arguments],
            cwd="/",
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def execute(self, *arguments: str) -> dict[str, Any]:
        """What a verb prints; it has to end well."""
        process = self.start("medir", *arguments, "--json")
        stdout, stderr = process.communicate(timeout=180)
        assert process.returncode == 0, stderr + stdout
        return json.loads(stdout)

    @contextmanager
    def serving(self, *arguments: str) -> Iterator[tuple[int, list[str]]]:
        """A verb that serves, on a free port, and what it said before; ended by Ctrl-C it has to end well."""
        process = self.start("medir", *arguments, "--port", "0")
        try:
            assert process.stderr is not None
            said: list[str] = []
            while not (line := process.stderr.readline()).startswith("Workbench: "):
                assert line, said
                said.append(line)
            yield int(line.split()[1].rpartition(":")[2]), said
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
            assert process.returncode == 0
        finally:
            process.kill()
            process.communicate()


@pytest.fixture(scope="module")
def product(wheel: Path, tmp_path_factory: pytest.TempPathFactory, open_home: Path) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("product")
    installed = Product(wheel, folder / "environment", open_home)
    before = state_of(installed.packages)
    for name in (*before, "."):
        (installed.packages / name).chmod(0o555 if (installed.packages / name).is_dir() else 0o444)
    yield installed
    for name in (*before, "."):
        (installed.packages / name).chmod(0o755)


def state_of(folder: Path) -> Mapping[str, tuple[int, int]]:
    """Everything in a folder, with size and time: who runs as root may write whatever the permissions say."""
    stats = {file: file.stat() for file in folder.rglob("*")}
    return {str(file.relative_to(folder)): (stat.st_size, stat.st_mtime_ns) for file, stat in stats.items()}


def fetched(port: int, path: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", data=data, headers={"Content-Type": "application/json"}
    )
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
        text = answer.read().decode()
    return json.loads(text) if path.startswith("/api/") else text


def test_the_wheel_holds_every_file_of_the_packages_and_the_sample_and_nothing_else(wheel: Path) -> None:
    expected = {
        str(Path(inside) / file.relative_to(TOP / folder))
        for folder, inside in (
            ("rag_core", "rag_core"),
            ("medir", "medir"),
            ("golden_set", "medir/sample_files"),
        )
        for file in (TOP / folder).rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == expected
    # one of each kind that is no Python
    assert {
        "medir/page_kit/icon.svg",
        "medir/page_kit/style.css",
        "medir/sample_files/baselines/v1.json",
        "medir/sample_files/cases.yaml",
        "rag_core/database/migrations/0001_foundation.sql",
        "rag_core/database/schema.sql",
        "rag_core/py.typed",
    } <= held


def test_an_installed_product_does_everything_and_never_writes_to_its_package(product: Product) -> None:
    before = state_of(product.packages)
    shipped = product.packages / "medir" / "sample_files"

    helps = product.start("python", "-c", _HELPS)
    stdout, stderr = helps.communicate(timeout=120)
    assert helps.returncode == 0, stderr
    assert set(re.findall(r"'([a-z]+)': (\d+)", stdout.splitlines()[-1])) >= {("serve", "0"), ("up", "0")}
    assert set(re.findall(r": (\d+)", stdout.splitlines()[-1])) == {"0"}

    with product.serving("up") as (port, said):
        assert "Indexing the sample: for the first time.\n" in said
        golden = Path(str(product.execute("project", "show", "--project", "sample")["golden"]))
        assert golden.is_relative_to(product.home)
        assert state_of(golden).keys() == state_of(shipped).keys()
        assert all(path.stat().st_mode & 0o200 for path in golden.rglob("*"))
        assert product.execute("search", QUESTION)["hits"]
        product.execute("baseline", "freeze", "mine")
        for page in PAGES:
            draw(port, page.path, "sample")
        run_id = fetched(port, "/api/projects/sample/rag/reindex", {})["runId"]
        until = time.monotonic() + 120
        while (state := fetched(port, f"/api/projects/sample/rag/reindex/{run_id}")["state"]) == "running":
            assert time.monotonic() < until
            time.sleep(0.2)
        assert state == "done"
        product.execute("project", "set", "--project", "sample", "--golden", str(product.home))

    with product.serving("serve") as (port, _):
        assert fetched(port, "/api/health") == {"status": "ok"}
        assert "<script" in fetched(port, "/")
        again = product.start("medir", "up", "--no-serve", "--json")
        stdout, stderr = again.communicate(timeout=120)
        assert again.returncode == 0, stderr
        assert "The sample is indexed and up to date." in stderr
        assert f"what was written to the earlier one is in {product.home}." in stderr
        run = product.execute("golden", "run", "--baseline", "v2", "--fail-on", "lost")
        first = json.loads(stdout)
        assert (run["passed"], run["total"]) == (first["passed"], first["total"])
        assert (golden / "baselines" / "mine.json").is_file()

    assert state_of(product.packages) == before
