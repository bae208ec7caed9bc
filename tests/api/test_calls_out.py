"""The whole product on a machine without a network: nothing turns to anything outside, and so nothing waits for it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from material import CASES, DOCUMENTS, Repository
from outbound import leading_out, traced_calls, tracer, why_no_tracer

WALK = Path(__file__).resolve().parents[1] / "walk.py"
# a call that waits takes ten seconds and more; a page's first run loads libraries, on a machine that others use
SOON_S, FIRST_RUN_S = 5.0, 20.0
CALLS = """
import subprocess
import psycopg
try:
    psycopg.connect("hostaddr=192.0.2.11 host=db.example connect_timeout=2")
except psycopg.OperationalError:
    print("libpq")
try:
    subprocess.run(["git", "ls-remote", "git://192.0.2.12/x"], timeout=2, capture_output=True)
except subprocess.TimeoutExpired:
    pass
try:
    psycopg.connect("hostaddr=2001:db8::13 host=db.example connect_timeout=2")
except psycopg.OperationalError:
    print("libpq")
"""


def alone() -> list[str]:
    """The beginning of a command that has a network of its own: loopback, which is still down."""
    return ["unshare", "--net", *([] if os.geteuid() == 0 else ["--map-current-user", "--keep-caps"])]


def why_not_alone() -> str | None:
    """Why no command can have a network of its own here, None where one can."""
    if shutil.which("unshare") is None:
        return "there is no unshare"
    tried = subprocess.run([*alone(), "true"], capture_output=True, text=True, check=False)
    return f"a network of its own is not allowed here: {tried.stderr.strip()}" if tried.returncode else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Walked:
    """What was seen of a walk. `called` are the addresses, None where they could not be traced."""

    answered: Mapping[str, float]
    turned_to: Mapping[str, int]
    called: list[str] | None
    cut_off: bool


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory, open_home: Path) -> Walked:
    """One walk, with no network but loopback where that can be had, and traced where that is possible."""
    repository = Repository(open_home / "repository", {**DOCUMENTS, "golden_set/cases.yaml": CASES})
    log = tmp_path_factory.mktemp("traced") / "calls"
    traces, cut_off = why_no_tracer() is None, why_not_alone() is None
    ended = subprocess.run(
        [
            *(alone() if cut_off else []),
            *(tracer(log) if traces else []),
            sys.executable,
            str(WALK),
            str(repository.folder.parent),
            *(["--cut-off"] if cut_off else []),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    return Walked(
        answered=told.pop("answered"),
        turned_to=told,
        called=traced_calls(log) if traces else None,
        cut_off=cut_off,
    )


def test_no_process_of_the_product_calls_out_of_the_machine(walked: Walked) -> None:
    # the proxy of the environment among them
    assert walked.turned_to == {"proxied": 0, "looked_up": 0}
    if walked.called is None:
        pytest.skip(str(why_no_tracer()))
    # those of the walk itself are seen too
    assert len(walked.called) > len(walked.answered)
    assert leading_out(walked.called) == []


def test_with_the_network_away_nothing_waits(walked: Walked) -> None:
    if not walked.cut_off:
        pytest.skip(str(why_not_alone()))
    assert {"health", "handshake", "search", "reindex", "page search"} <= walked.answered.keys()
    late = {
        name: taken
        for name, taken in walked.answered.items()
        if taken > (FIRST_RUN_S if name.startswith("page ") else SOON_S)
    }
    assert late == {}


@pytest.mark.skipif(why_no_tracer() is not None, reason=str(why_no_tracer()))
def test_the_calls_of_libraries_in_c_and_of_other_programs_are_seen(tmp_path: Path) -> None:
    log = tmp_path / "calls"
    ended = subprocess.run(
        [*tracer(log), sys.executable, "-I", "-c", CALLS], check=True, capture_output=True, text=True
    )
    assert ended.stdout.split() == ["libpq", "libpq"]
    assert leading_out(traced_calls(log)) == ["192.0.2.11", "192.0.2.12", "2001:db8::13"]
