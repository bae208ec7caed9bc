"""Calibrations on a page: made elsewhere, by whomever, found by what they stand on, followed by their row.

Candidates depend on the ground alone; only the verdict depends on the measure too. So a calibration of the same ground
for another measure still draws every picture.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar, cast
from uuid import UUID

import streamlit as st

from medir.page_kit.frame import Frame
from medir.page_kit.guard import draw_banner, refusal_told
from medir.page_kit.long_work import LongWork
from medir.page_kit.services import visitor, workbench
from medir.work import tasks
from medir.work.calibration_shelf import CalibrationShelf
from rag_core.calibration.choice.contenders import TODAY
from rag_core.evaluation.calibrations import Calibration, Demands, as_judged, cases_digest
from rag_core.golden.cases import GoldenSet
from rag_core.metrics.measures import Measure
from rag_core.model import Run

_T = TypeVar("_T")
BEFORE = "before"
_TODAYS = "today's numbers"
_THEN = {_TODAYS: "the numbers from before", "today's settings": "the settings from before"}
INDEX, CASES, SETTINGS = "the index", "the cases", "the settings"
_MOST_KEPT = 4
_RUNS_LOOKED_AT = 16
_MOST_PREPARED = 24
_STEPS = {
    "embed": "Embedding the questions",
    "search": "Fetching candidates in every lexical way",
    "replay": "Laying out candidates",
    "choose": "Choosing, and trying the choice on cases that took no part",
}


def _at(run: Run) -> str:
    at = run.progress
    asking = at.counted if at.step in ("embed", "search") else None
    counted = f", question {asking[0] + 1:,} of {asking[1]:,}" if asking else ""
    return f"{_STEPS.get(at.step or '', 'Starting')}{counted}"


CALIBRATION = LongWork(
    name="calibration",
    kind="calibration",
    at=_at,
    stop="Stop this calibration",
    after_death="Nothing is lost but that run. Calibrate again.",
)


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
    """A calibration and its row, with what was prepared from it since.

    `settings_moved` says whether other numbers are in force than those it started from: its evidence is about the
    numbers of then.
    """

    run: Run
    found: Calibration
    settings_moved: bool = False
    _prepared: OrderedDict[object, object] = field(default_factory=OrderedDict)

    @property
    def today(self) -> str:
        """What the numbers are called that it started from."""
        return BEFORE if self.settings_moved else TODAY

    def prepared(self, key: object, make: Callable[[], _T]) -> _T:
        """What `make` gives, made once for a key as long as not too much else was made meanwhile."""
        if key not in self._prepared:
            self._prepared[key] = make()
            while len(self._prepared) > _MOST_PREPARED:
                self._prepared.popitem(last=False)
        return cast("_T", self._prepared[key])


class _Shelf:
    """The calibrations that this process looked at last. Safe to share between sessions and threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._kept: OrderedDict[UUID, Kept] = OrderedDict()

    def find(self, run: Run, files: CalibrationShelf) -> Kept | None:
        with self._guard:
            if run.id not in self._kept:
                found = files.find(run.id)
                if found is None:
                    return None
                self._kept[run.id] = Kept(run=run, found=found)
                while len(self._kept) > _MOST_KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(run.id)
            return self._kept[run.id]


def ground_of(view: Frame, golden: GoldenSet) -> Ground:
    """The ground as it is now; the project must be indexed.

    Raises:
        DatabaseUnavailable: The database does not answer.
    """
    opened = workbench()
    if view.overview is None:
        raise ValueError("a calibration stands on an index")
    today = view.overview.in_force.judged
    url = opened.services.database.url
    return Ground(
        url=url,
        project_id=view.project.project_id,
        fingerprint=_fingerprint(
            (url, view.project.project_id, view.version.index_generation),
            lambda: opened.services.calibrator.fingerprint(view.project),
        ),
        settings_id=as_judged(today, golden).id,
        golden=golden,
    )


def runs_for(view: Frame, ground: Ground, measure: Measure) -> tuple[Run, ...]:
    """The calibrations of this index and these cases, whoever made them, the one that tells most first.

    Those from the settings in force come first, and of those the ones for the measure. Then those for the measure
    from before other settings were put in force; numbers that were only tried were never in force.
    """
    same = [run for run in ended(view) if not moved_since(run, ground) - {SETTINGS}]
    own = [run for run in same if not moved_since(run, ground)]
    own.sort(key=lambda run: not is_for(run, measure))
    before = [
        run for run in same if run not in own and is_for(run, measure) and not run.parameters.get("trial")
    ]
    return (*own, *before)


def kept_for(runs: tuple[Run, ...], ground: Ground) -> Kept | None:
    """The first of these calibrations that was kept in this installation's home; None where none was."""
    files, shelf = CalibrationShelf(workbench().services.configuration.home), _shelf()
    for run in runs:
        kept = shelf.find(run, files)
        if kept is not None and kept.found.golden.cases == ground.golden.cases:
            kept.settings_moved = bool(moved_since(run, ground))
            return kept
    return None


def ended(view: Frame) -> tuple[Run, ...]:
    """The last calibrations of the project that ended well, whoever made them, the newest first."""
    opened = workbench()
    key = (opened.services.database.url, view.project.project_id, view.version.run_at)
    return _ended(key, lambda: opened.services.calibrator.ended_runs(view.project, count=_RUNS_LOOKED_AT))


def moved_since(run: Run, ground: Ground) -> set[str]:
    """What of the ground is another now than when a calibration was made, as its row tells."""
    result = run.result or {}
    index, own = result.get("index"), result.get("ground")
    if not (isinstance(index, Mapping) and isinstance(own, Mapping)):
        return {INDEX, CASES, SETTINGS}
    now = {
        INDEX: (index.get("fingerprint"), ground.fingerprint),
        CASES: (own.get("cases"), cases_digest(ground.golden)),
        SETTINGS: (own.get("settings"), ground.settings_id),
    }
    return {name for name, (then, today) in now.items() if then != today}


def is_for(run: Run, measure: Measure) -> bool:
    """Whether a calibration worked for a measure."""
    return run.parameters.get("metric") == str(measure)


def whose_numbers(*, moved: bool) -> str:
    """What the numbers are called that a calibration started from; `moved` where others are in force now."""
    return _THEN[_TODAYS] if moved else _TODAYS


def verdict_told(verdict: str, *, moved: bool) -> str:
    """Keep or adopt, in Markdown: advice, or what was advised where other numbers are in force now."""
    if not moved:
        return "**Adopt the proposal.**" if verdict == "adopt" else f"**Keep {_TODAYS}.**"
    advice = "adopt the proposal" if verdict == "adopt" else f"keep {_THEN[_TODAYS]}"
    return f"**The verdict was to {advice}.**"


def of_then(sentence: str, *, moved: bool) -> str:
    """A sentence of a calibration, which calls today's the numbers of its day, in the words of now."""
    for now, then in _THEN.items() if moved else ():
        sentence = sentence.replace(now, then).replace(now.capitalize(), then.capitalize())
    return sentence


def prepare_calibration() -> None:
    """Have a process ready for one."""
    workbench().work.prepare()


def start_calibration(view: Frame, demands: Demands) -> None:
    """Begin one outside this process, unless one is going on."""
    with refusal_told():
        task = partial(tasks.calibrate, project=view.project, actor=visitor(), demands=demands)
        CALIBRATION.begin(view, task)


def draw_failure(view: Frame, last: Run | None) -> None:
    """How the last one failed, where it did, with what to do."""
    failure = CALIBRATION.failure(view, last)
    if failure is None:
        return
    draw_banner(failure, key="calibration-run", retry=False)
    if "degraded" in failure.message:
        st.text("The page Index shows what the embedding provider lacks, and can index again.")


@st.cache_resource(show_spinner=False)
def _shelf() -> _Shelf:
    return _Shelf()


@st.cache_data(max_entries=32, show_spinner=False)
def _fingerprint(key: tuple[object, ...], _read: Callable[[], str]) -> str:  # noqa: ARG001  the cache reads it
    return _read()


@st.cache_data(max_entries=8, show_spinner=False)
def _ended(key: tuple[object, ...], _read: Callable[[], tuple[Run, ...]]) -> tuple[Run, ...]:  # noqa: ARG001  the cache reads it
    return _read()
