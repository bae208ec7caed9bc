"""What the product stands on is told, locked with its digests, and nothing else is."""

import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DIRECT = (
    *PROJECT["dependencies"],
    *(each for group in PROJECT["optional-dependencies"].values() for each in group),
)
# what others bring in, and is told of for its licence
BESIDE = {"certifi"}


def name_of(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match is not None
    return match.group().lower()


def rows() -> dict[str, list[str]]:
    lines = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {row[0]: row[1:] for row in cells if row[0] != "package"}


def test_every_dependency_is_told_of_and_no_other() -> None:
    told = rows()
    assert set(told) == {name_of(each) for each in DIRECT} | BESIDE
    assert [name for name, row in told.items() if len(row) != 4 or not all(row)] == []


def test_licences_are_those_that_the_installed_packages_state() -> None:
    spelled = {"BSD 2-Clause License": "BSD-2-Clause"}
    for name, (_, licence, _, _) in rows().items():
        try:
            metadata = importlib.metadata.metadata(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        stated = metadata.get("License-Expression") or metadata.get("License") or ""
        if stated and "\n" not in stated and " AND " not in stated:
            assert spelled.get(stated, stated) == licence, name


@pytest.mark.parametrize("file", ["requirements.lock", "requirements-dev.lock"])
def test_every_locked_version_has_the_digests_of_its_files_and_no_address(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    entries = [entry for entry in re.split(r"\n(?=\S)", text) if not entry.startswith("#")]
    assert len(entries) > 50
    for entry in entries:
        assert re.match(r"[a-z0-9._-]+(\[[a-z,]+\])?==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry
    assert "://" not in text
