"""Running the golden set from a page: the work goes on elsewhere, the page only follows its row."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from uuid import uuid4

import streamlit as st

from medir.page_kit import reads
from medir.page_kit.following import LOOKED_AT_EVERY_S, look_again
from medir.page_kit.frame import Frame
from medir.page_kit.guard import draw_banner, guarded, refusal_told
from medir.page_kit.parts import fragment
from medir.page_kit.run_failure import recorded_failure
from medir.page_kit.services import maintainer, visitor, workbench
from medir.page_kit.stopping import draw_stop
from medir.work import tasks
from rag_core.evaluation.history import Run, stop_golden_run
from rag_core.golden.baseline_file import Baseline
from rag_core.model import RunProgress

_STEPS = {"embed": "Embedding the questions", "search": "Searching"}

_AFTER_DEATH = "Nothing is lost but that run. Run the golden set again."


def start_run(view: Frame, baseline: Baseline | None = None, *, allow_degraded: bool = False) -> None:
    """Begin a run outside this page's thread, unless one is going on; with a baseline, its comparison is recorded."""
    _begin(
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
        who = maintainer()
        _begin(
            view,
            partial(
                tasks.raise_floor,
                project=view.project,
                actor=who,
                file=file,
                reason=reason,
            ),
        )


def is_running(view: Frame, last: Run | None) -> bool:
    """Whether a golden run of the project goes on, in this process or another."""
    return workbench().work.is_going(_key(view)) or (last is not None and last.state == "running")


def draw_controls(view: Frame, last: Run | None, baseline: Baseline | None, *, can_run: bool) -> None:
    """The run button; while a run goes on, its progress and a way to stop it; else how the last one failed."""
    if is_running(view, last):
        _follow(view)
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


@fragment(run_every=LOOKED_AT_EVERY_S)
def _follow(view: Frame) -> None:
    with guarded("golden-progress"):
        last = reads.last_golden_run(view.project)
        if not is_running(view, last):
            st.rerun()
        look_again(last)
        at = last.reached if last is not None else RunProgress()
        counted = f", case {at.counted[0] + 1} of {at.counted[1]}" if at.counted else ""
        st.progress(at.share, text=f"{_STEPS.get(at.step or '', 'Starting')}{counted}")
        if last is not None and last.state == "running":
            stop = partial(stop_golden_run, workbench().services.database, view.project, last)
            draw_stop(last, stop, label="Stop this run", key="stop-golden")


def _draw_failure(view: Frame, last: Run | None, baseline: Baseline | None) -> None:
    failure = workbench().work.failure(_key(view)) or recorded_failure(last, advice=_AFTER_DEATH)
    if failure is None:
        return
    draw_banner(failure, key="golden-run", retry=False)
    if "degraded" in failure.message and st.button(
        "Measure it as it is, without vectors", key="run-degraded"
    ):
        start_run(view, baseline, allow_degraded=True)
        st.rerun()


def _begin(view: Frame, task: Callable[..., None]) -> None:
    run_id, project_id = uuid4(), view.project.project_id
    workbench().work.start_run(_key(view), partial(task, run_id=run_id), project_id=project_id, run_id=run_id)


def _key(view: Frame) -> str:
    return f"golden {view.project.project_id}"
