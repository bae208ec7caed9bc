"""How often a page looks at work that goes on elsewhere: rarely enough that looking costs the work nothing.

A look costs the server a hundredth of a second of processor time, and the browser several, most of it Streamlit's own
and none of it less in long work. So work that takes longer is looked at more rarely: whoever waits is told of its end
some seconds late at most.
"""

from datetime import timedelta
from typing import Final

from medir.page_kit.parts import run_again_every
from rag_core.model import Run

LOOKED_AT_EVERY_S: Final = 1.5
"""Seconds until the first look."""

# from an age on, seconds from look to look
_PAUSES: Final = ((timedelta(seconds=2), 3.0), (timedelta(seconds=12), 6.0))


def pause_of(run: Run | None) -> float:
    """Seconds until the next look at a run, by its age; None: it has not begun."""
    if run is None or run.state != "running":
        return LOOKED_AT_EVERY_S
    # both are the database's times: its clock and ours may differ
    age = run.heartbeat_at - run.started_at
    return next((pause for begins, pause in reversed(_PAUSES) if age >= begins), LOOKED_AT_EVERY_S)


def look_again(run: Run | None) -> None:
    """Have the fragment at hand run again after the pause that becomes the run's age."""
    run_again_every(pause_of(run))
