"""How long an index run still takes, and how long vectors will take, from what its row says."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from rag_core.index.reading import first_of_page, time_left, time_to_embed
from rag_core.model import Run, RunProgress

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def run(**changes) -> Run:
    values = {
        "id": UUID(int=1),
        "kind": "index",
        "state": "running",
        "parameters": {},
        "progress": RunProgress(),
        "result": None,
        "error": None,
        "actor_kind": "human",
        "actor_id": "ana",
        "started_at": NOON,
        "heartbeat_at": NOON,
        "finished_at": None,
    }
    return Run(**(values | changes))


def ended(seconds: int, *, embedded: int, dry_run: bool = False) -> Run:
    return run(
        state="done",
        finished_at=NOON + timedelta(seconds=seconds),
        result={"dryRun": dry_run, "embedding": {"embedded": embedded}},
    )


def test_a_quarter_done_in_ten_seconds_leaves_thirty() -> None:
    going = run(
        progress=RunProgress(step="embed", done=100, total=400), heartbeat_at=NOON + timedelta(seconds=10)
    )
    assert time_left(going) == timedelta(seconds=30)


def test_all_done_leaves_nothing() -> None:
    going = run(
        progress=RunProgress(step="embed", done=400, total=400), heartbeat_at=NOON + timedelta(seconds=10)
    )
    assert time_left(going) == timedelta(0)


@pytest.mark.parametrize(
    "progress",
    [
        {},
        {"step": "read", "done": 0, "total": 0},
        {"step": "embed", "done": 0, "total": 400},
        {"step": "embed", "done": "many", "total": 400},
        {"step": "embed", "done": 5, "total": 4},
    ],
)
def test_before_anything_is_done_nothing_is_said(progress: dict[str, object]) -> None:
    assert time_left(run(progress=RunProgress.from_row(progress))) is None


def test_vectors_take_as_long_as_in_the_last_run_that_made_some() -> None:
    runs = [ended(1, embedded=0), ended(20, embedded=40), ended(500, embedded=40)]
    assert time_to_embed(runs, 100) == timedelta(seconds=50)


def test_dry_runs_and_runs_of_a_few_chunks_have_no_pace() -> None:
    assert time_to_embed([ended(1, embedded=400, dry_run=True), ended(9, embedded=15), run()], 100) is None


def test_a_chunk_is_on_the_page_that_begins_at_or_before_it() -> None:
    assert [first_of_page(number) for number in (1, 20, 21, 40, 41)] == [1, 1, 21, 21, 41]
