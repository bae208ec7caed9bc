"""What the Report page reads: kept until a search is recorded or this workbench takes a vote, and for seconds only.

Votes from elsewhere tell nobody, so what is kept may be some seconds old. A window that takes long to read, because it
holds a great many searches, is read once a minute at most, whatever is recorded meanwhile.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypeVar
from uuid import UUID

import streamlit as st

from medir.page_kit.frame import Frame
from medir.page_kit.services import workbench
from medir.page_kit.votes import votes_taken
from rag_core.model import Window
from rag_core.project.following import last_runs
from rag_core.report import making, searches
from rag_core.report.making import LatencyCurve
from rag_core.report.numbers import Report
from rag_core.report.searches import RecordedSearch, SearchFilter, SearchLine

T = TypeVar("T")

_KEPT = 32
_OLD_AFTER_MS, _SLOW_OLD_AFTER_MS = 10_000.0, 60_000.0
# from here on a report may take longer than a click should
_MANY = 100_000
_FORGOTTEN_AFTER_S = 120
_MARKS = "report-marks"
_SLOW = "report-slow"


def is_slow() -> bool:
    """Whether this session's report is of so many searches that it is read once a minute at most."""
    return bool(st.session_state.get(_SLOW))


def report(view: Frame, window: Window) -> Report:
    """The report of a window."""
    database = workbench().services.database
    made = _kept_for_a_while(
        _key(view, "report", window),
        lambda: making.make_report(database, view.project.project_id, window),
    )
    st.session_state[_SLOW] = is_slow() or made.whole.searches >= _MANY
    return made


def curve(view: Frame, window: Window) -> LatencyCurve:
    """How its latencies are spread."""
    database = workbench().services.database
    return _kept_for_a_while(
        _key(view, "curve", window),
        lambda: making.latency_curve(database, view.project.project_id, window),
    )


def page(
    view: Frame,
    window: Window,
    chosen: SearchFilter,
    after: SearchLine | None,
    *,
    count: int,
) -> list[SearchLine]:
    """Some searches of the window, the newest first."""
    database = workbench().services.database
    return _kept_for_a_while(
        _key(view, "page", window, chosen, after.id if after else None, count),
        lambda: searches.list_searches(
            database, view.project.project_id, window, chosen, after=after, count=count
        ),
    )


def search(view: Frame, search_id: UUID) -> RecordedSearch:
    """One search with its hits and votes; read anew each time.

    Raises:
        UsageError: There is none of that id.
    """
    return searches.read_search(workbench().services.database, view.project.project_id, search_id)


def index_times(view: Frame) -> tuple[datetime, ...]:
    """When those of the last index runs ended that changed what can be found."""
    runs = last_runs(workbench().services.database, view.project.project_id, "index")
    return tuple(
        run.finished_at
        for run in runs
        if run.finished_at is not None
        and run.state == "done"
        and not run.parameters.get("dryRun")
        and _has_changed(run.result)
    )


def _has_changed(result: Mapping[str, object] | None) -> bool:
    counts = (result or {}).get("changes")
    return isinstance(counts, Mapping) and any(counts.get(name) for name in ("added", "removed", "moved"))


def _key(view: Frame, name: str, *parts: object) -> tuple[object, ...]:
    url, project_id = workbench().services.database.url, view.project.project_id
    return (url, name, project_id, _marks(view), *parts)


def _marks(view: Frame) -> tuple[object, ...]:
    """What has to stay the same for what is kept to be shown again."""
    now = workbench().services.clock.monotonic_ms()
    fresh = (view.project.project_id, view.version.asked_at, votes_taken())
    kept: tuple[tuple[object, ...], float] | None = st.session_state.get(_MARKS)
    if kept is not None:
        marks, at = kept
        same = is_slow() or fresh == marks[:-1]
        if marks[0] == fresh[0] and same and now - at < (_SLOW_OLD_AFTER_MS if is_slow() else _OLD_AFTER_MS):
            return marks
    marks = (*fresh, now)
    st.session_state[_MARKS] = (marks, now)
    st.session_state[_SLOW] = False
    return marks


@st.cache_data(max_entries=_KEPT, ttl=_FORGOTTEN_AFTER_S, show_spinner="Reading searches and votes…")
def _kept_for_a_while(key: tuple[object, ...], _read: Callable[[], T]) -> T:  # noqa: ARG001  the cache reads it
    return _read()
