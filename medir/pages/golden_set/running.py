"""Running the golden set from a page: the work goes on elsewhere, the page only follows its row."""

from functools import partial
from pathlib import Path

import streamlit as st

from medir.page_kit.frame import Frame
from medir.page_kit.guard import draw_banner, refusal_told
from medir.page_kit.long_work import LongWork
from medir.page_kit.services import maintainer, visitor
from medir.work import tasks
from rag_core.golden.baseline_file import Baseline
from rag_core.model import Run

_STEPS = {"embed": "Embedding the questions", "search": "Searching"}


def _at(run: Run) -> str:
    at = run.progress
    counted = f", case {at.counted[0] + 1} of {at.counted[1]}" if at.counted else ""
    return f"{_STEPS.get(at.step or '', 'Starting')}{counted}"


GOLDEN = LongWork(
    name="golden",
    kind="golden",
    at=_at,
    stop="Stop this run",
    after_death="Nothing is lost but that run. Run the golden set again.",
)


def start_run(view: Frame, baseline: Baseline | None = None, *, allow_degraded: bool = False) -> None:
    """Begin a run outside this page's thread, unless one is going on; with a baseline, its comparison is recorded."""
    GOLDEN.begin(
        view,
        partial(
            tasks.run_golden,
            project=view.project,
            actor=visitor(),
            baseline=baseline,
            allow_degraded=allow_degraded,
        ),
    )


def start_raising_floor(view: Frame, file: Path, reason: str) -> None:
    """Measure once more and raise the floor in the file to what passes, outside this page's thread.

    A maintainer's to do.
    """
    with refusal_told():
        task = partial(tasks.raise_floor, project=view.project, actor=maintainer(), file=file, reason=reason)
        GOLDEN.begin(view, task)


def draw_controls(view: Frame, last: Run | None, baseline: Baseline | None, *, can_run: bool) -> None:
    """The run button; while a run goes on, its progress and a way to stop it; else how the last one failed."""
    if GOLDEN.is_going(view, last):
        GOLDEN.follow(view)
        return
    if st.button(
        "Run the golden set",
        key="run-golden",
        type="primary",
        icon=":material/play_arrow:",
        disabled=not can_run,
    ):
        start_run(view, baseline)
        st.rerun()
    _draw_failure(view, last, baseline)


def _draw_failure(view: Frame, last: Run | None, baseline: Baseline | None) -> None:
    failure = GOLDEN.failure(view, last)
    if failure is None:
        return
    draw_banner(failure, key="golden-run", retry=False)
    if "degraded" in failure.message and st.button(
        "Measure it as it is, without vectors", key="run-degraded"
    ):
        start_run(view, baseline, allow_degraded=True)
        st.rerun()
