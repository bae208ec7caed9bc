"""Calibrations from a page: made elsewhere, kept in this process by what they stand on, followed by their row.

Candidates depend on the ground alone; only the verdict depends on the measure too. So a calibration of the same ground
for another measure still draws every picture.
"""

import dataclasses
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st

from medir.page_kit.frame import Frame
from medir.page_kit.guard import draw_banner, guarded
from medir.page_kit.run_failure import recorded_failure
from medir.page_kit.services import visitor, workbench
from rag_core.calibrating import Calibration, Demands, Run
from rag_core.golden.cases import GoldenSet
from rag_core.metrics.measures import Measure

_LOOKED_AT_EVERY_S = 0.7
_MOST_KEPT = 4
_MOST_PREPARED = 24
_STEPS = {
    "embed": "Embedding the questions",
    "search": "Fetching candidates in every lexical way",
    "replay": "Laying out candidates",
    "choose": "Choosing, and trying the choice on cases held out",
}
_AFTER_DEATH = "Nothing is lost but that run. Calibrate again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a calibration stands on: equal grounds give equal candidates, cases and settings of today."""

    url: str
    project_id: str
    fingerprint: str
    settings_id: str
    golden: GoldenSet


@dataclass(slots=True, kw_only=True, eq=False)
class Kept:
    """A calibration, with what was prepared from it since."""

    ground: Ground
    found: Calibration
    _prepared: OrderedDict[object, object] = field(default_factory=OrderedDict)

    def prepared(self, key: object, make: Callable[[], object]) -> object:
        """What `make` gives, made once for a key as long as not too much else was made meanwhile."""
        if key not in self._prepared:
            self._prepared[key] = make()
            while len(self._prepared) > _MOST_PREPARED:
                self._prepared.popitem(last=False)
        return self._prepared[key]


class _Shelf:
    """The last calibrations of this process. Safe to share between sessions and threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._kept: OrderedDict[tuple[Ground, Measure], Kept] = OrderedDict()

    def put(self, ground: Ground, found: Calibration) -> None:
        with self._guard:
            twin = self._any_of(ground)
            if twin is not None:
                # equal by construction, and large
                found = dataclasses.replace(found, variants=twin.found.variants)
            self._kept[ground, found.demands.measure] = Kept(ground=ground, found=found)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)

    def find(self, ground: Ground, measure: Measure) -> Kept | None:
        with self._guard:
            return self._kept.get((ground, measure)) or self._any_of(ground)

    def _any_of(self, ground: Ground) -> Kept | None:
        return next((kept for (own, _), kept in reversed(self._kept.items()) if own == ground), None)


def ground_of(view: Frame, golden: GoldenSet) -> Ground:
    """The ground as it is now; the project must be indexed.

    Raises:
        DatabaseUnavailable: The database does not answer.
    """
    opened = workbench()
    if view.overview is None:
        raise ValueError("a calibration stands on an index")
    today = view.overview.judged
    ranking = dataclasses.replace(today.ranking, limit=golden.limit or today.ranking.limit)
    url = opened.services.database.url
    return Ground(
        url=url,
        project_id=view.project.project_id,
        fingerprint=_fingerprint(
            (url, view.project.project_id, view.version.index_generation),
            lambda: opened.services.calibrator.fingerprint(view.project),
        ),
        settings_id=today.with_ranking(ranking).id,
        golden=golden,
    )


def kept_for(ground: Ground, measure: Measure) -> Kept | None:
    """The calibration for a measure, else one of the same ground for another; None before any."""
    return _shelf().find(ground, measure)


def start_calibration(view: Frame, demands: Demands) -> None:
    """Begin one outside this page's thread, unless one is going on."""
    opened, actor, project, shelf = workbench(), visitor(), view.project, _shelf()
    work, calibrator, url = opened.work, opened.services.calibrator, opened.services.database.url

    def calibrate() -> None:
        found = calibrator.calibrate(project, actor=actor, demands=demands, listener=work.heed)
        ground = Ground(
            url=url,
            project_id=project.project_id,
            fingerprint=found.index.fingerprint,
            settings_id=found.findings.settings.id,
            golden=found.golden,
        )
        shelf.put(ground, found)

    work.start(_key(view), calibrate)


def last_calibration(view: Frame) -> Run | None:
    """The calibration started last, whatever became of it; read anew each time."""
    return workbench().services.calibrator.last_run(view.project)


def is_running(view: Frame, last: Run | None) -> bool:
    """Whether one of the project goes on, in this process or another."""
    return workbench().work.is_going(_key(view)) or (last is not None and last.state == "running")


@st.fragment(run_every=_LOOKED_AT_EVERY_S)
def follow(view: Frame) -> None:
    """The progress of the one that goes on, and a way to stop it; ends in a new run of the page."""
    with guarded("calibration-progress"):
        last = last_calibration(view)
        if not is_running(view, last):
            st.rerun()
        progress = last.progress if last is not None and last.state == "running" else {}
        done, total = _number(progress.get("done")), _number(progress.get("total"))
        name = str(progress.get("step"))
        counted = f", question {done + 1:,} of {total:,}" if total and name in ("embed", "search") else ""
        st.progress(min(1.0, done / total) if total else 0.0, text=f"{_STEPS.get(name, 'Starting')}{counted}")
        if last is None or last.state != "running":
            return
        if st.button("Stop this calibration", key="stop-calibration"):
            workbench().services.calibrator.stop(view.project, last)


def draw_failure(view: Frame, last: Run | None) -> None:
    """How the last one failed, where it did, with what to do."""
    failure = workbench().work.failure(_key(view)) or recorded_failure(last, advice=_AFTER_DEATH)
    if failure is None:
        return
    draw_banner(failure, key="calibration-run", retry=False)
    if "degraded" in failure.message:
        st.text("The page Index shows what the embedding provider lacks, and can index again.")


def _key(view: Frame) -> str:
    return f"calibration {view.project.project_id}"


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


@st.cache_resource(show_spinner=False)
def _shelf() -> _Shelf:
    return _Shelf()


@st.cache_data(max_entries=32, show_spinner=False)
def _fingerprint(key: tuple[object, ...], _read: Callable[[], str]) -> str:  # noqa: ARG001  the cache reads it
    return _read()
