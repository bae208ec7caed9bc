"""What a run of the tests leaves behind: nothing."""

import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


def test_a_run_with_a_server_and_with_repositories_leaves_no_file(open_home: Path) -> None:
    temporary = open_home / "tmp"
    temporary.mkdir()
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "tests/unit/sources/test_git_repositories.py",
            "tests/sql/project/test_tokens.py",
        ],
        cwd=TOP,
        env={**os.environ, "TMPDIR": str(temporary)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout
    assert list(temporary.iterdir()) == []
