"""Reindexing: over which scopes and how, what that would change, and what earlier runs did."""

import streamlit as st

from medir.page_kit.address import choice_parameter, refuse, text_parameter
from medir.page_kit.choosing import draw_words
from medir.page_kit.frame import Frame
from medir.page_kit.services import may_maintain
from medir.pages.index import reads as index_reads
from medir.pages.index.coverage import SCOPE_NAMES
from medir.pages.index.history import draw_run, draw_runs
from medir.pages.index.running import Wanted, start_run
from rag_core.index.coverage import Coverage
from rag_core.model import ALL_SCOPES, Run, Scope

MODE = choice_parameter("mode", ("incremental", "full"))
OVER = choice_parameter("over", ("", *map(str, ALL_SCOPES)))
RUN = text_parameter("index-run", at_most=36)
REINDEXED = (MODE, OVER, RUN)


def draw_reindexing(view: Frame, coverage: Coverage, *, running: bool) -> None:
    """For a maintainer the choices and what they would change; for everybody what the last run did, and all runs."""
    if may_maintain():
        _draw_choices(view, coverage, running=running)
    else:
        st.text("Reindexing is a maintainer's to do.")
    runs = index_reads.runs(view.project)
    if RUN.read() and RUN.read() not in {str(run.id) for run in runs}:
        refuse(RUN, RUN.read())
    if runs:
        _draw_run(view, runs)
        draw_runs(runs, RUN)
    else:
        st.text("No run yet.")


def _draw_choices(view: Frame, coverage: Coverage, *, running: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        draw_words("Over", OVER, {"": "everything", **SCOPE_NAMES}, key="index-over", labelled=True)
        st.segmented_control(
            "Mode",
            ["incremental", "full"],
            key="index-mode",
            required=True,
            on_change=MODE.mirror("index-mode"),
            help="Incremental keeps every chunk whose text is still there, with its vector and votes. Full makes all "
            "chunks anew: their votes are lost, their vectors are not.",
        )
        unreadable = coverage.problem is not None and OVER.read() != "session"
        if st.button("Show what would change", key="dry-run", disabled=running or unreadable):
            _begin(view, dry_run=True)
        if st.button("Reindex", key="reindex", type="primary", disabled=running or unreadable):
            _begin(view, dry_run=False)


def _draw_run(view: Frame, runs: list[Run]) -> None:
    known = {str(run.id): run for run in runs}
    chosen = RUN.read()
    # one that failed is told above everything else
    ended = next((run for run in runs if run.result is not None), None)
    run = known[chosen] if chosen else ended
    if run is not None:
        draw_run(view, run, runs)


def _begin(view: Frame, *, dry_run: bool) -> None:
    over = OVER.read()
    wanted = Wanted(
        mode="full" if MODE.read() == "full" else "incremental", scopes=(Scope(over),) if over else ALL_SCOPES
    )
    start_run(view, wanted, dry_run=dry_run)
    # what it finds is shown when it has ended, whatever run was looked at
    RUN.choose("")
    st.rerun()
