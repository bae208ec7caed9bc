"""Two sources of settings that say different things: said wherever either of them is stood on."""

import streamlit as st

from medir.page_kit.frame import Frame
from rag_core.words.settings import settings_at_a_glance


def draw_settings_differ(view: Frame) -> None:
    """Where adoption and `settings.yaml` differ, with both; or why that file is not heeded."""
    if view.overview is None:
        return
    found = view.overview.in_force
    problem, differ = found.committed.told_problem, found.disagreement
    if problem is not None:
        st.warning("The project's settings.yaml has faults, so nothing is measured.", icon=":material/rule:")
        st.text(problem)
    if differ is not None:
        st.warning(
            "The adopted settings and settings.yaml differ: searches use the one, golden runs and calibrations the "
            "other.",
            icon=":material/rule:",
        )
        with st.container(gap="xxsmall"):
            st.text(f"Searches: {settings_at_a_glance(differ.adopted)}")
            st.text(f"Golden runs and calibrations: {settings_at_a_glance(differ.committed)}")
            st.text(differ.sentence)
        st.caption("To make them one, adopt numbers on the page Calibration: that writes the file too.")
