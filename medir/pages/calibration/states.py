"""What the page says of a calibration besides its verdict: whose it is and of what, or that there is none."""

from collections.abc import Mapping
from typing import cast

import pandas as pd
import streamlit as st

from medir.page_kit.frame import Frame
from medir.page_kit.plain_text import escaped
from medir.page_kit.services import workbench
from medir.page_kit.signs import DASH, LOST, age
from medir.pages.calibration.running import (
    SETTINGS,
    Ground,
    Kept,
    moved_since,
    of_then,
    verdict_told,
    whose_numbers,
)
from rag_core.metrics.intervals import Interval
from rag_core.metrics.measures import Measure, parse_measure
from rag_core.model import Run
from rag_core.settings.adopting import settings_history
from rag_core.words.numbers import p_value
from rag_core.words.plurals import counted

_IN_ORDER = ("the index", "the cases", "the settings")


def draw_made_from(view: Frame, run: Run, ground: Ground) -> None:
    """When it was made, by whom and from what; what has been adopted since, where something was."""
    result, asked = run.result or {}, run.parameters
    ended = run.finished_at or run.started_at
    now = workbench().services.clock.now()
    baseline = asked.get("baseline")
    held = f", against the baseline {baseline}" if baseline else ""
    index = result.get("index")
    commit = index.get("commit") if isinstance(index, Mapping) else None
    of_commit = f" at commit {commit[:7]}" if isinstance(commit, str) else ""
    cases = result.get("cases")
    counts = counted(cases, "case") if isinstance(cases, int) else "the cases"
    st.caption(
        f"Calibrated {ended:%d %b %H:%M} UTC ({age(ended, now)}) by {run.actor_kind}:{run.actor_id}, for "
        f"{asked.get('metric')}, from {counts} and the index{of_commit}{held}."
    )
    if SETTINGS in moved_since(run, ground):
        _draw_adopted_since(view, run)


def _draw_adopted_since(view: Frame, run: Run) -> None:
    services = workbench().services
    decisions = [each.adopted for each in settings_history(services.database, view.project)]
    since = [each for each in decisions if each.adopted_at > run.started_at]
    st.warning(
        "**Other numbers are in force now.** This is the evidence from before.", icon=":material/history:"
    )
    for each in since[:3]:
        st.text(f"Adopted {each.adopted_at:%d %b %H:%M} UTC by {each.adopted_by}: {each.reason}")


def draw_recorded(run: Run, ground: Ground) -> None:
    """The evidence of a calibration whose pictures were not kept here, as its row tells it."""
    proposal = _part(run.result, "proposal")
    moved = SETTINGS in moved_since(run, ground)
    numbers = whose_numbers(moved=moved)
    if _part(proposal, "floor").get("holds") is False:
        st.error(f"{LOST} **{numbers.capitalize()} break the floor.**")
    else:
        st.info(verdict_told(str(proposal.get("verdict")), moved=moved), icon=":material/balance:")
    st.text(of_then(str(proposal.get("reason", "")), moved=moved))
    measure = parse_measure(str(proposal.get("metric")))
    cases = int(str(_part(proposal, "heldOut").get("n", 0)))
    rivals = proposal.get("rivals")
    if isinstance(rivals, list):
        st.dataframe(
            pd.DataFrame([_rival(cast("Mapping[str, object]", row), measure, cases) for row in rivals]),
            key="calibration-recorded",
            hide_index=True,
            placeholder=DASH,
        )
    st.caption("It was made in another installation, or long ago: calibrate here to draw its pictures.")


def draw_not_calibrated(measure: Measure, kept: Kept | None, last: Run | None, ground: Ground) -> None:
    """Why there is no verdict, what a calibration would tell, and what the last one said."""
    if kept is not None:
        st.info(
            f"Not decided yet for {escaped(str(measure))}: the picture is exact, the verdict needs a calibration."
        )
        return
    st.info("Not calibrated yet, as things stand.", icon=":material/hourglass_empty:")
    st.text(
        "A calibration asks every golden case once and says which numbers the cases speak for, how sure one can be of "
        "that, and what each number would win and lose. It takes some seconds, changes nothing, and records no search."
    )
    reason = str(_part(last.result, "proposal").get("reason", "")) if last is not None else ""
    if last is None or not reason:
        return
    st.text(
        f"The last one, {last.started_at:%d %b %H:%M} UTC by {last.actor_kind}:{last.actor_id}, said: {reason}"
    )
    moved = [name for name in _IN_ORDER if name in moved_since(last, ground)]
    if moved:
        told = " and ".join(moved)
        st.caption(f"Not the same any more: {told}. A verdict belongs to what it was made from.")
    else:
        st.caption(f"It worked for {escaped(str(last.parameters.get('metric')))}.")


def _rival(row: Mapping[str, object], measure: Measure, cases: int) -> dict[str, object]:
    numbers = {key: value for key, value in row.items() if isinstance(value, int | float)}
    low, high = numbers.get("low"), numbers.get("high")
    span = None if low is None or high is None else Interval(float(low), float(high))
    return {
        "": str(row.get("name")),
        "score": measure.told(numbers.get("value"), cases),
        "95 %": measure.told_span(span, cases),
        "won": str(numbers.get("won", DASH)),
        "lost": str(numbers.get("lost", DASH)),
        "p": p_value(numbers.get("pValue")) or DASH,
    }


def _part(of: Mapping[str, object] | None, name: str) -> Mapping[str, object]:
    found = of.get(name) if of is not None else None
    return cast("Mapping[str, object]", found) if isinstance(found, Mapping) else {}
