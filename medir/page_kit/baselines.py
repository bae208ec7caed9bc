"""The baselines of a project, as every page lists them."""

from pathlib import Path

import streamlit as st

from rag_core.evaluation.baselines import BaselineEntry, list_baselines


def baselines_in(folder: Path) -> tuple[BaselineEntry, ...]:
    """The baselines of a folder, read again only when a file of it has changed."""
    if not folder.is_dir():
        return ()
    files = sorted(folder.glob("*.json"))
    # a link may lead nowhere
    states = [(file.name, file.lstat()) for file in files]
    state = tuple((name, found.st_mtime_ns, found.st_size) for name, found in states)
    return _read_baselines(str(folder), state)


@st.cache_resource(max_entries=8, show_spinner="Reading the baselines…")
def _read_baselines(folder: str, state: tuple[tuple[str, int, int], ...]) -> tuple[BaselineEntry, ...]:  # noqa: ARG001  the cache reads it
    return list_baselines(Path(folder))
