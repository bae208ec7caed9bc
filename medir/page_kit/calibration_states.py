"""What the page says before there is a calibration of things as they stand."""

from collections.abc import Mapping

import streamlit as st

from medir.page_kit.calibration_running import Kept
from rag_core.calibrating import Run
from rag_core.metrics.measures import Measure


def draw_not_calibrated(measure: Measure, kept: Kept | None, last: Run | None) -> None:
    """Why there is no verdict, what a calibration would tell, and what the last one said."""
    if kept is not None:
        st.info(f"Not decided yet for {measure}: the picture is exact, the verdict needs a calibration.")
        return
    st.info("Not calibrated yet, as things stand.", icon=":material/hourglass_empty:")
    st.text(
        "A calibration asks every golden case once and says which numbers the cases speak for, how sure one can be of "
        "that, and what each number would win and lose. It takes some seconds, changes nothing, and records no search."
    )
    reason = _reason_of(last)
    if last is not None and reason:
        st.text(
            f"The last one, {last.started_at:%d %b %H:%M} UTC by {last.actor_kind}:{last.actor_id}, said: {reason}"
        )
        st.caption(
            "Since then the index, the cases or the settings have changed, or another process made it: a verdict "
            "belongs to what it was made from."
        )


def _reason_of(last: Run | None) -> str:
    proposal = last.result.get("proposal") if last is not None and last.result is not None else None
    return str(proposal.get("reason", "")) if isinstance(proposal, Mapping) else ""
