"""Every notebook runs from its first cell to its last on an empty home, and is kept without outputs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((TOP / "notebooks").glob("*.ipynb"))

# the cells of one notebook in one namespace, as a kernel runs them; the last expression of a cell is evaluated too
_RUN = """
import json, sys

namespace = {"__name__": "__main__"}
for number, cell in enumerate(json.load(open(sys.argv[1], encoding="utf-8"))["cells"]):
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), namespace)
"""


@pytest.fixture(scope="module")
def home(open_home: Path) -> Path:
    """One home for all of them, so that the sample is indexed once."""
    return open_home


def test_there_is_a_notebook_for_each_question() -> None:
    assert [notebook.stem for notebook in NOTEBOOKS] == [
        "01-index-and-search",
        "02-compare-two-settings",
        "03-read-an-exact-curve",
        "04-defend-a-choice",
    ]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_is_kept_without_outputs(notebook: Path) -> None:
    document = json.loads(notebook.read_text(encoding="utf-8"))

    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in document["cells"]}) == len(document["cells"])
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in document["cells"])


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_runs_to_its_end(notebook: Path, home: Path) -> None:
    environment = {
        **os.environ,
        "MEDIR_HOME": str(home),
        "MEDIR_EMBEDDING": "embedded",
        "PYTHONPATH": str(TOP),
    }
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _RUN, str(notebook)],
        cwd=TOP,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=500,
    )

    assert ended.returncode == 0, ended.stderr
