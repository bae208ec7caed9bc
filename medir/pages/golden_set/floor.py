"""The floor: its history under what passed, and raising it, for a reason."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from medir.page_kit.choosing import draw_table
from medir.page_kit.figures import draw_figure
from medir.page_kit.frame import Frame
from medir.page_kit.parts import dialog
from medir.page_kit.services import may_maintain
from medir.page_kit.signs import FAILED, PASSED, theme
from medir.pages.golden_set.running import start_raising_floor
from rag_core.evaluation.history import GoldenRecord
from rag_core.figures.floor_history import FloorPoint, floor_history

_ASKING = "floor-asking"


def draw_history(records: Sequence[GoldenRecord]) -> None:
    """The runs over time, oldest first, and the same as a table."""
    points = [
        FloorPoint(
            at=record.started_at,
            passed=record.passed,
            total=record.total,
            floor=record.floor,
            gate_passed=record.gate_passed,
        )
        for record in reversed(records)
    ]
    draw_figure(floor_history(points, theme()), key="floor-history")
    with st.expander("The same as a table"):
        draw_table(
            [
                {
                    "verdict": PASSED if record.gate_passed else FAILED,
                    "started (UTC)": f"{record.started_at:%Y-%m-%d %H:%M:%S}",
                    "passed": record.passed,
                    "cases": record.total,
                    "floor": record.floor,
                    "settings": str(record.settings.get("preset") or record.settings.get("source")),
                    "index": str(record.index.get("fingerprint")),
                    "degraded": record.degraded,
                }
                for record in records
            ],
            key="history-table",
        )


def draw_raise(view: Frame, file: Path, *, passed: int, floor: int) -> None:
    """The button that opens the dialog, for a maintainer, where more pass than the floor asks for."""
    if passed <= floor or not may_maintain():
        return
    st.button(
        f"Raise the floor to {passed}…",
        key="raise-floor",
        icon=":material/vertical_align_top:",
        on_click=_set_asking,
        args=(True,),
    )
    if st.session_state.get(_ASKING):
        _ask_why(view, file, passed, floor)


def _set_asking(asking: bool = False) -> None:
    st.session_state[_ASKING] = asking


@dialog("Raise the floor", icon=":material/vertical_align_top:", on_dismiss=_set_asking)
def _ask_why(view: Frame, file: Path, passed: int, floor: int) -> None:
    st.markdown(
        f"From now on at least **{passed}** cases must pass instead of **{floor}**. Nothing lowers a floor again; "
        "the set is measured once more before it is written."
    )
    st.text(f"Written into {file}. Commit it afterwards.")
    reason = st.text_area("Why does it rise?", key="floor-reason", max_chars=500).strip()
    if st.button("Raise it", key="floor-confirm", type="primary"):
        if reason:
            start_raising_floor(view, file, reason)
            _set_asking()
            st.rerun()
        st.warning("A floor is raised for a reason: say why.", icon=":material/edit_note:")
