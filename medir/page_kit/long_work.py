"""Long work from a page: begun elsewhere, followed by its row, stopped, and how it failed; one way for every kind.

How often a page looks: rarely enough that looking costs the work nothing. A look costs the server a hundredth of a
second of processor time, and the browser several, most of it Streamlit's own and none of it less in long work. So work
that takes longer is looked at more rarely: whoever waits is told of its end some seconds late at most.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import uuid4

import streamlit as st

from medir.page_kit.frame import Frame
from medir.page_kit.guard import guarded
from medir.page_kit.parts import fragment, run_again_every
from medir.page_kit.services import caller, onlooker, workbench
from medir.work.work import work_key
from rag_core.errors import MedirError, Refused
from rag_core.model import Run, RunKind
from rag_core.project.access import Caller
from rag_core.project.following import last_run, stop_run

LOOKED_AT_EVERY_S: Final = 1.5
"""Seconds until the first look."""

# from an age on, seconds from look to look
_PAUSES: Final = ((timedelta(seconds=2), 3.0), (timedelta(seconds=12), 6.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class LongWork:
    """Work that goes on once at a time for each project, as pages follow it.

    `name` tells it from other work, and its widgets from theirs; `kind` is that of the row that it is followed by, and
    `anywhere` whether any run of the kind is this work, whoever began it, or only what was begun here. `at` says where
    a run is, `starting` is said before there is a row that goes on, `more` draws what else is to be said of a run, and
    `after_death` what to do after its process died without a word. `stop` is what the button says that stops it, None
    where it can't be stopped, and `stopping` what it says from then on, None for the same.
    """

    name: str
    kind: RunKind
    at: Callable[[Run], str]
    starting: str = "Starting"
    stop: str | None = None
    stopping: str | None = None
    more: Callable[[Run], None] | None = None
    after_death: str = ""
    anywhere: bool = True

    def key(self, view: Frame) -> str:
        """What must not go on twice."""
        return work_key(self.name, view.project.project_id)

    def begin(self, view: Frame, task: Callable[..., None]) -> None:
        """Have the task carried out by another process, with the id of its run, unless one is going on here."""
        run_id, project_id = uuid4(), view.project.project_id
        workbench().work.start_run(
            self.key(view), partial(task, run_id=run_id), project_id=project_id, run_id=run_id
        )

    def last(self, view: Frame) -> Run | None:
        """The run that was started last, whatever became of it; read anew each time."""
        return last_run(workbench().services.database, view.project.project_id, self.kind)

    def is_going(self, view: Frame, last: Run | None = None) -> bool:
        """Whether it goes on, in this process or, as its last run tells, in another."""
        return workbench().work.is_going(self.key(view)) or (
            self.anywhere and last is not None and last.is_going
        )

    def follow(self, view: Frame) -> None:
        """Its progress, and a way to stop it; ends in a new run of the page."""
        fragment(run_every=LOOKED_AT_EVERY_S, name=self.name)(_look)(self, view)

    def failure(self, view: Frame, last: Run | None) -> MedirError | None:
        """Why it did not end well, as known here or as the row of its last run tells; None where it did."""
        return workbench().work.failure(self.key(view)) or _recorded_failure(last, self.after_death)


def pause_of(run: Run | None) -> float:
    """Seconds until the next look at a run, by its age; None: it has not begun."""
    if run is None or not run.is_going:
        return LOOKED_AT_EVERY_S
    # both are the database's times: its clock and ours may differ
    age = run.heartbeat_at - run.started_at
    return next((pause for begins, pause in reversed(_PAUSES) if age >= begins), LOOKED_AT_EVERY_S)


def _look(work: LongWork, view: Frame) -> None:
    with guarded(f"{work.name}-progress"):
        last = work.last(view)
        if not work.is_going(view, last):
            st.rerun()
        run_again_every(pause_of(last))
        if last is None or not last.is_going:
            st.progress(0.0, text=work.starting)
            return
        st.progress(last.progress.share, text=work.at(last))
        if work.more is not None:
            work.more(last)
        _draw_stop(work, view, last)


def _draw_stop(work: LongWork, view: Frame, run: Run) -> None:
    """The button, for whoever may press it: one's own work is stopped, or as a maintainer anybody's.

    Raises:
        NotPermitted: It was pressed by somebody who may not, any more.
    """
    if work.stop is None or not _may_stop(onlooker(), run):
        return
    told = f"{work.name}-stopping"
    stopping = work.stopping if st.session_state.get(told) == run.id else None
    if not st.button(stopping or work.stop, key=f"stop-{work.name}", disabled=stopping is not None):
        return
    who = caller()
    if not _may_stop(who, run):
        who.require("maintainer")
    stop_run(workbench().services.database, view.project.project_id, run.id)
    if work.stopping is not None:
        st.session_state[told] = run.id
        st.rerun(scope="fragment")


def _may_stop(who: Caller, run: Run) -> bool:
    return who.may("maintainer") or (who.kind, who.name) == (run.actor_kind, run.actor_id)


def _recorded_failure(last: Run | None, after_death: str) -> MedirError | None:
    """The error that ended the run, with its code; None where it goes on or ended well."""
    if last is None or last.state not in ("failed", "interrupted", "cancelled"):
        return None
    if last.error is None:
        return Refused(
            f"The run of {last.started_at:%d %b %H:%M} UTC did not end: its process died.", hint=after_death
        )
    failure = Refused(last.error.message, hint=last.error.hint)
    failure.code = last.error.code
    return failure
