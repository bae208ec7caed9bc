"""What index runs did: one in numbers, and all as a table."""

from collections.abc import Mapping, Sequence
from typing import cast

import pandas as pd
import streamlit as st

from medir.page_kit.address import Parameter
from medir.page_kit.choosing import draw_rows
from medir.page_kit.frame import Frame
from medir.page_kit.services import may_maintain
from medir.page_kit.signs import DASH, FAILED, LOST, PASSED
from medir.pages.index.running import Wanted, draw_confirmed_start, duration, start_run
from rag_core.errors import VotesAtRisk
from rag_core.index.left_out import BY_RULE, FAULTY, LeftOut, Skipped
from rag_core.index.reading import time_to_embed
from rag_core.model import Run
from rag_core.model.run import RunState

_STATES: Mapping[RunState, str] = {
    "running": "▸ running",
    "done": f"{PASSED} done",
    "failed": f"{FAILED} failed",
    "cancelled": "■ stopped",
    "interrupted": f"{FAILED} interrupted",
}


def draw_run(view: Frame, run: Run, runs: Sequence[Run]) -> None:
    """What a run changed, or a dry run would change; from the newest dry run one can go on."""
    result = run.result
    dry = bool(run.parameters.get("dryRun"))
    st.markdown("**What would change**" if dry else "**What the run did**")
    st.text(f"{_whose_run(run)}: {Wanted.of(run).told}.")
    if result is None:
        told = run.error.message if run.error else ""
        st.text(f"{_STATES[run.state]}. {told}".strip())
        return
    changes, embedding, votes = _of(result, "changes"), _of(result, "embedding"), _count(result, "votesLost")
    with st.container(horizontal=True, gap="small"):
        for name in ("kept", "moved", "added", "removed"):
            st.metric(f"chunks {name}", f"{_count(changes, name):,}", width=120)
        st.metric(
            "vectors to make" if dry else "vectors made", f"{_count(embedding, 'embedded'):,}", width=120
        )
        st.metric("vectors reused", f"{_count(embedding, 'reused'):,}", width=120)
        bare = _count(embedding, "skipped")
        st.metric("without a vector", f"{FAILED if bare else ''} {bare:,}".strip(), width=120)
        st.metric(
            "votes at risk" if dry else "votes lost", f"{LOST if votes else ''} {votes:,}".strip(), width=120
        )
    skipped = _skipped(result)
    if skipped is not None and (skipped.by_rule or skipped.faulty):
        st.text(f"Skipped: {skipped.told}.")
    if embedding.get("reason"):
        st.text(str(embedding["reason"]))
    takes = time_to_embed(list(runs), _count(embedding, "embedded")) if dry else None
    if takes is not None and _count(embedding, "embedded"):
        st.text(f"Making the vectors takes {duration(takes)} at the pace of the last run that made some.")
    if dry and run is runs[0]:
        _draw_go_on(view, run, votes)


def draw_runs(runs: Sequence[Run], chosen: Parameter[str]) -> None:
    """The history, newest first. A selected row becomes the `chosen` run."""
    st.markdown("**Runs**")
    draw_rows(
        pd.DataFrame([_cells(run) for run in runs]),
        [str(run.id) for run in runs],
        chosen,
        name="index-runs",
        columns={
            "state": st.column_config.TextColumn("", width=100, pinned=True),
            "votes": st.column_config.TextColumn("votes", help="Lost, or at risk in a dry run"),
        },
    )
    st.caption("The last 50 at most, times in UTC. Select a row to see what it did.")


def _draw_go_on(view: Frame, run: Run, votes: int) -> None:
    wanted = Wanted.of(run)
    if votes:
        draw_confirmed_start(view, wanted, told=VotesAtRisk(votes).message, key="dry")
    elif may_maintain() and st.button(
        "Carry it out", key="carry-out", type="primary", icon=":material/play_arrow:"
    ):
        start_run(view, wanted)
        st.rerun()


def _cells(run: Run) -> dict[str, object]:
    result, made = run.result or {}, "to make" if run.parameters.get("dryRun") else "made"
    changes, embedding = _of(result, "changes"), _of(result, "embedding")
    skipped = _skipped(result)
    return {
        "state": _STATES[run.state],
        "started": f"{run.started_at:%Y-%m-%d %H:%M:%S}",
        "took": _took(run),
        "what": ("dry run, " if run.parameters.get("dryRun") else "") + Wanted.of(run).told,
        "by": f"{run.actor_kind}:{run.actor_id}",
        "kept": _cell(changes, "kept"),
        "moved": _cell(changes, "moved"),
        "added": _cell(changes, "added"),
        "removed": _cell(changes, "removed"),
        "vectors": f"{embedding['embedded']:,} {made}" if "embedded" in embedding else DASH,
        "without a vector": _cell(embedding, "skipped"),
        FAULTY: DASH if skipped is None else f"{len(skipped.faulty):,}",
        BY_RULE: DASH if skipped is None else f"{len(skipped.by_rule):,}",
        "votes": _cell(result, "votesLost"),
        "commit": str(result.get("commit") or DASH)[:7],
    }


def _whose_run(run: Run) -> str:
    kind = "Dry run" if run.parameters.get("dryRun") else "Run"
    took = _took(run)
    return f"{kind} of {run.started_at:%d %b %H:%M:%S} UTC by {run.actor_kind}:{run.actor_id}" + (
        f", {took}" if took != DASH else ""
    )


def _took(run: Run) -> str:
    if run.finished_at is None:
        return DASH
    return f"{(run.finished_at - run.started_at).total_seconds():.1f} s"


def _skipped(result: Mapping[str, object]) -> LeftOut | None:
    skipped = result.get("skipped")
    return LeftOut.of(cast("list[Skipped]", skipped)) if isinstance(skipped, list) else None


def _of(result: Mapping[str, object], name: str) -> Mapping[str, object]:
    part = result.get(name)
    return cast("Mapping[str, object]", part) if isinstance(part, dict) else {}


def _count(part: Mapping[str, object], name: str) -> int:
    count = part.get(name)
    return count if isinstance(count, int) else 0


def _cell(part: Mapping[str, object], name: str) -> str:
    return f"{part[name]:,}" if name in part else DASH
