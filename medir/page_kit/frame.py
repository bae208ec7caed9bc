"""What stands above every page: which project, its index in a line, the settings in force, the role."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import streamlit as st

from medir.page_kit import address, reads
from medir.page_kit.services import workbench
from medir.page_kit.sign_in import draw_role
from medir.page_kit.signs import age, draw_badge, model_name
from rag_core.chunking import FORMAT_NAMES
from rag_core.project.overview import DataVersion, IndexOverview, Project
from rag_core.project.projects import SAMPLE
from rag_core.words.settings import settings_at_a_glance

_FACTS = "frame-facts"
# a file of ours: named icons would be fetched from elsewhere
ICON = Path(__file__).with_name("icon.svg")
_STYLE = Path(__file__).with_name("style.css")
PROJECT = address.text_parameter("project", at_most=63)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The project in view, and its data's version. `overview` is None before its first index run."""

    project: Project
    version: DataVersion
    overview: IndexOverview | None


def draw_frame() -> None:
    """Draw the frame, and keep what it found for the page; without any project, say how to get one and stop.

    Raises:
        DatabaseUnavailable: The database does not answer.
    """
    projects = reads.projects()
    if not projects:
        _draw_no_projects()
        st.stop()
    st.html(_STYLE)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="frame"):
        project = _pick(projects)
        version = reads.version(project)
        overview = reads.overview(project, version)
        with st.container(gap=None, width="content"):
            _draw_index(overview)
        if overview is not None and overview.moved:
            draw_badge("moved")
        if overview is not None and overview.words_changed is not None:
            draw_badge("other words")
        if overview is not None and overview.in_force.of_another_model:
            draw_badge("another model")
        if overview is not None and overview.in_force.disagreement is not None:
            draw_badge("settings differ")
        if overview is not None and overview.in_force.committed.problem is not None:
            draw_badge("faulty settings")
        draw_role()
    address.hold(PROJECT)
    st.session_state[_FACTS] = Frame(project=project, version=version, overview=overview)


def frame() -> Frame:
    """What the frame found in this run."""
    return cast("Frame", st.session_state[_FACTS])


def _pick(projects: tuple[Project, ...]) -> Project:
    known = {project.project_id: project for project in projects}
    chosen = PROJECT.read()
    if chosen and chosen not in known:
        chosen = address.refuse(PROJECT, chosen)
    if not chosen:
        PROJECT.choose(SAMPLE if SAMPLE in known else next(iter(known)))
    take = PROJECT.mirror("project_picker")
    picked = st.selectbox(
        "Project",
        list(known),
        key="project_picker",
        on_change=take,
        label_visibility="collapsed",
        width=200,
        help="The project whose index is looked at.",
    )
    return known[picked]


def _draw_index(overview: IndexOverview | None) -> None:
    if overview is None:
        st.text("not indexed yet")
        return
    parts = [
        f"commit {overview.commit[:7]}" if overview.commit else "no documents",
        f"{overview.chunks:,} chunks",
        model_name(overview.model_id),
    ]
    if overview.without_vector:
        parts.append(f"{overview.without_vector:,} without a vector")
    if overview.indexed_at is not None:
        parts.append(f"indexed {age(overview.indexed_at, workbench().services.clock.now())}")
    st.text(" · ".join(parts))
    st.text(settings_at_a_glance(overview.in_force.settings))


def _draw_no_projects() -> None:
    st.header("No project yet")
    st.markdown(
        f"Medir measures the search of a project: a git repository with {FORMAT_NAMES} documents, and its sessions. "
        "Add the sample, or a repository of yours, then come back here."
    )
    st.code("medir up\n\nmedir project add NAME --repo PATH\nmedir index --project NAME", language=None)
    draw_role()
    if st.button("Look again", key="look-again", icon=":material/refresh:"):
        st.rerun()
