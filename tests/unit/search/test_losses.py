"""Losses are counted where nothing more can be written, from as many processes as there are."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from rag_core.search.losses import Losses

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
# no file of this process grows beyond one block: to a program, a disk that is full
LOSE = """
import resource, sys
from datetime import UTC, datetime
from pathlib import Path
from rag_core.search.losses import Losses
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
losses = Losses(Path(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    losses.note(datetime(2026, 3, 2, 12, tzinfo=UTC), OSError("x"), "the disk is full")
"""


def lose(log: Path, times: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-B", "-c", LOSE, str(log), str(times)],
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parents[3],
    )


def test_a_log_that_can_not_grow_costs_no_loss_its_count(tmp_path: Path) -> None:
    losses = Losses(tmp_path / "lost.jsonl")
    losses.prepare()
    processes = [lose(losses.log, 80), lose(losses.log, 70)]
    assert [process.wait(60) for process in processes] == [0, 0]

    assert losses.log.stat().st_size == losses.count_file.stat().st_size == 4096
    assert losses.count() == 150
    # half a line is what the last one found room for; what comes now is counted on
    losses.note(NOON, OSError("x"), "")
    assert losses.count() == 151


def test_where_nothing_can_be_written_the_process_counts_until_something_can(tmp_path: Path) -> None:
    losses = Losses(tmp_path / "away" / "lost.jsonl")
    losses.prepare()
    for _ in range(30):
        losses.note(NOON, OSError("x"), "")
    assert losses.count() == 0
    losses.log.parent.mkdir()
    losses.settle()
    assert Losses(losses.log).count() == 30


def test_a_number_that_is_there_is_not_begun_again(tmp_path: Path) -> None:
    losses = Losses(tmp_path / "lost.jsonl")
    losses.log.mkdir()
    losses.note(NOON, OSError("x"), "")
    losses.prepare()
    Losses(losses.log).prepare()
    losses.note(NOON, OSError("x"), "")
    losses.log.rmdir()
    assert losses.count() == 2
    assert [path.name for path in tmp_path.iterdir()] == ["lost.jsonl.count"]


def test_a_loss_with_room_for_it_is_a_line_with_its_cause(tmp_path: Path) -> None:
    losses = Losses(tmp_path / "lost.jsonl")
    losses.note(NOON, ValueError("x"), "não coube")
    assert json.loads(losses.log.read_text(encoding="utf-8")) == {
        "at": "2026-03-02T12:00:00+00:00",
        "origin": "infra",
        "error": "ValueError",
        "message": "não coube",
    }
    assert losses.count() == 1
