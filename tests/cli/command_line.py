"""The command line in this process and in one of its own, over an installation that a module shares."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from medir.cli import medir
from medir.cli.frame import run

TOP = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> dict[str, object]:
        """The one JSON document on standard output; anything more or less fails."""
        found = json.loads(self.stdout)
        assert isinstance(found, dict)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """A home folder, a database, and the environment that names both."""

    home: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """The program in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "medir", *arguments],
            cwd="/",
            env={**os.environ, "PYTHONPATH": str(TOP), "MEDIR_HOME": str(self.home), **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def execute(self, *arguments: str) -> Outcome:
        """Run the program in a process of its own, to its end."""
        process = self.start(*arguments)
        stdout, stderr = process.communicate(timeout=180)
        return Outcome(code=process.returncode, stdout=stdout, stderr=stderr)


class Caller:
    """Runs verbs in this process: the same entry, without the seconds that a start takes."""

    def __init__(self, installation: Installation, capture: pytest.CaptureFixture[str]) -> None:
        self._installation = installation
        self._capture = capture

    def __call__(self, *arguments: str) -> Outcome:
        changed = {"MEDIR_HOME": str(self._installation.home), **self._installation.environment}
        before = {name: os.environ.get(name) for name in changed}
        os.environ.update(changed)
        self._capture.readouterr()
        try:
            code = run(medir, list(arguments))
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
        written = self._capture.readouterr()
        return Outcome(code=code, stdout=written.out, stderr=written.err)
