"""Where nothing can be written: 2, one line, nothing half written; and never a gate's 1 or a fault's 70."""

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import TOP, Caller, Installation

from material import Repository

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")


@pytest.fixture
def indexed(repository: Repository, medir_verb: Caller) -> Caller:
    """The project `entrega` is there and indexed."""
    if medir_verb("project", "show", "--project", "entrega").code:
        assert medir_verb("project", "add", "entrega", "--repo", str(repository.folder)).code == 0
        assert medir_verb("index", "--project", "entrega").code == 0
    return medir_verb


@needs_full
def test_an_answer_that_can_not_be_written_is_2_and_one_line(
    indexed: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = ("golden run", "golden lint", "search frete", "rag", "doctor", "coverage", "settings show")
    for verb in (*both, *(f"{verb} --json" for verb in both), "vote x y --json", "rag --csv"):
        with FULL.open("w", encoding="utf-8") as full, monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", full)
            ended = indexed(*verb.split())
        assert (ended.code, ended.stderr) == (2, "The output can't be written: No space left on device.\n"), (
            verb
        )


@needs_full
def test_a_process_ends_so_too_and_where_nobody_can_be_told_nothing_fails_for_that(
    indexed: Caller, installation: Installation
) -> None:
    def execute(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-c", f"exec {sys.executable} -m medir {command}"],
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(TOP), "MEDIR_HOME": str(installation.home)}
            | dict(installation.environment),
            capture_output=True,
            text=True,
            check=False,
        )

    for command in ("--help", "--version", "golden run --json"):
        ended = execute(f"{command} >/dev/full")
        assert (ended.returncode, ended.stderr.count("\n")) == (2, 1), ended.stderr
    assert execute("golden run --json >/dev/full 2>/dev/full").returncode == 2
    quiet = execute("index --json 2>/dev/full")
    assert (quiet.returncode, quiet.stdout[:1]) == (0, "{")
    left = execute("golden run --json | head -c 1")
    assert (left.stdout, left.stderr) == ("{", "")


def test_exports_and_copies_leave_nothing_half_written(
    indexed: Caller, installation: Installation, tmp_path: Path
) -> None:
    (tmp_path / "old.xml").write_text("old", encoding="utf-8")
    full = tmp_path / "folder"
    full.mkdir()
    for arguments in (
        ("golden", "run", "--junit", str(full / "nowhere" / "x.xml")),
        ("golden", "run", "--trec", str(full)),
        ("rag", "--html", str(full)),
        ("db", "dump", str(full / "nowhere" / "x.dump")),
    ):
        ended = indexed(*arguments)
        assert (ended.code, "Traceback" in ended.stderr) == (2, False)
    # no file of these processes grows beyond 4 kB; the interpreter's own would be cut and kept
    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(TOP),
        "MEDIR_HOME": str(installation.home),
    } | dict(installation.environment)
    for command in (f"db dump {full}/x.dump", f"rag --html {tmp_path}/old.xml"):
        ended = subprocess.run(
            ["/bin/bash", "-c", f"ulimit -f 4; exec {sys.executable} -m medir {command}"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ended.returncode, "Traceback" in ended.stderr) == (2, False), ended.stderr
    assert list(full.iterdir()) == []
    assert (tmp_path / "old.xml").read_text(encoding="utf-8") == "old"
    # what failed stands in nobody's way
    assert indexed("db", "dump", str(full / "x.dump")).code == 0
    assert [path.name for path in full.iterdir()] == ["x.dump"]
