"""The rules of the house, executed by programs: who imports whom, and what an import may do."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"},
    )


def test_the_import_contracts_hold() -> None:
    ended = lint_imports(TOP)
    assert ended.returncode == 0, ended.stdout


def copy_sources(folder: Path) -> None:
    for package in ("rag_core", "medir"):
        shutil.copytree(TOP / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(TOP / "pyproject.toml", folder)


def verdicts_in(said: str) -> list[str]:
    return re.findall(r" (KEPT|BROKEN)(?: \(.*\))?$", said, flags=re.MULTILINE)


@pytest.mark.parametrize("package", ["rag_core", "medir"])
def test_a_module_that_stands_in_no_layer_is_told(tmp_path: Path, package: str) -> None:
    copy_sources(tmp_path)
    (tmp_path / package / "loose.py").write_text('"""In no room."""\n', encoding="utf-8")
    ended = lint_imports(tmp_path)
    assert ended.returncode != 0
    assert f"{package}.loose" in ended.stdout


def test_each_import_contract_fails_where_it_is_broken(tmp_path: Path) -> None:
    copy_sources(tmp_path)
    for file, line in (
        ("rag_core/model/words.py", "import rag_core.ranking"),
        ("medir/wiring.py", "import medir.door.origin"),
        ("rag_core/ranking/fusion.py", "import psycopg"),
        ("rag_core/search/telemetry.py", "import click"),
        ("medir/http_api/heads.py", "import medir.page_kit.signs"),
        ("medir/wiring.py", "import streamlit"),
        ("medir/pages/__init__.py", "import medir.wiring"),
        ("medir/pages/search/page.py", "import medir.pages.report.words"),
    ):
        with (tmp_path / file).open("a", encoding="utf-8") as source:
            source.write(f"\n{line}\n")
    ended = lint_imports(tmp_path)
    assert ended.returncode != 0
    assert verdicts_in(ended.stdout) == ["BROKEN"] * 8, ended.stdout


# Imports every module but the pages, which are scripts, and the entry point, and tells of all that it notices.
_IMPORT_ALL = """
import importlib, json, pkgutil, sys

noticed = []

def notice(event, arguments):
    if event in ("socket.connect", "subprocess.Popen", "os.mkdir", "os.rename", "os.remove"):
        noticed.append(event + " " + repr(arguments))
    if event == "open":
        file, mode = str(arguments[0]), str(arguments[1])
        if (set(mode) & set("wax+") and file != "/dev/null") or file.endswith((".npz", ".npy", ".bin")):
            noticed.append("open " + file + " " + mode)

sys.addaudithook(notice)
imported = 0
for package in ("rag_core", "medir"):
    root = importlib.import_module(package)
    for module in pkgutil.walk_packages(root.__path__, package + "."):
        if not module.name.startswith("medir.pages.") and module.name != "medir.__main__":
            importlib.import_module(module.name)
            imported += 1
print(json.dumps([imported, noticed]))
"""


def test_importing_every_module_connects_to_nothing_loads_no_model_and_makes_no_file(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-B", "-W", "error", "-c", _IMPORT_ALL],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(TOP),
            "HOME": str(tmp_path),
            "MEDIR_HOME": str(tmp_path / "home"),
        },
    )
    assert ended.returncode == 0, ended.stderr
    imported, noticed = json.loads(ended.stdout)
    assert noticed == []
    assert imported > 50
    assert list(tmp_path.iterdir()) == []
