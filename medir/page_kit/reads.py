"""What pages read, kept as long as the data's version stays the same; a search is never kept.

Every key begins with the database's address and the name of the read, then holds all that its result depends on.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import streamlit as st

from medir.page_kit.services import workbench
from medir.wiring import Services
from rag_core.errors import FaultyGoldenSet
from rag_core.evaluation import history
from rag_core.evaluation.explaining import explain_case
from rag_core.evaluation.explanation import CaseExplanation
from rag_core.evaluation.history import GoldenRecord
from rag_core.golden.baseline_file import Baseline
from rag_core.golden.cases import GoldenSet
from rag_core.project import overview as overviews
from rag_core.project.overview import DataVersion, IndexOverview, Project
from rag_core.search import citations
from rag_core.settings.golden_folder import settings_path

T = TypeVar("T")

_KEPT = 128
# the repository is outside the database: nothing tells us when it moves on
_REPOSITORY_LOOKED_AT_EVERY_S = 20


def projects() -> tuple[Project, ...]:
    """Every project, by id."""
    return overviews.all_projects(workbench().services.database)


def version(project: Project) -> DataVersion:
    """The version of the project's data now."""
    return overviews.data_version(workbench().services.database, project)


def overview(project: Project, at: DataVersion) -> IndexOverview | None:
    """The project's index at a glance; whether its repository has moved on may be some seconds old."""
    services = workbench().services
    return _kept_for_a_while(
        (services.database.url, "overview", project, at.ground, _state_of(settings_path(project))),
        lambda: overviews.read_overview(services.database, project),
    )


def golden_history(project: Project, cases: str, at: DataVersion) -> list[GoldenRecord]:
    """The finished golden runs over a cases file, newest first."""
    return kept(
        ("history", project.project_id, cases, at.run_at),
        lambda services: history.golden_history(services.database, project, cases=cases),
    )


def golden_result(project: Project, run_id: str) -> Mapping[str, object]:
    """The whole result of one finished golden run; it never changes."""
    return kept(
        ("result", project.project_id, run_id),
        lambda services: history.golden_result(services.database, project.project_id, run_id),
    )


def golden_set(
    project: Project, file: Path, at: DataVersion
) -> tuple[GoldenSet | None, tuple[Mapping[str, object], ...]]:
    """The golden set, None where it does not parse, and its faults.

    Raises:
        UsageError: The file or the index does not exist.
    """

    def read(services: Services) -> tuple[GoldenSet, tuple[Mapping[str, object], ...]]:
        golden, faults = services.evaluation.lint(project, cases=file)
        return golden, tuple(fault.to_json() for fault in faults)

    try:
        return kept(("lint", project, at.ground, _state_of(file)), read)
    except FaultyGoldenSet as error:
        return None, error.faults


def explanation(
    project: Project, case_id: str, file: Path, at: DataVersion, baseline: Baseline | None = None
) -> CaseExplanation:
    """One case asked of today's index; of a lost one, what happened since the baseline or the last run it passed in."""
    checksum = None if baseline is None else baseline.checksum
    files = (_state_of(file), _state_of(settings_path(project, file)))
    return kept(
        ("explanation", project, case_id, at.ground, at.run_at, checksum, files),
        lambda services: explain_case(services.evaluation, project, case_id, cases=file, baseline=baseline),
    )


def texts(project: Project, chunk_ids: tuple[str, ...], at: DataVersion) -> Mapping[str, str]:
    """The texts of some chunks by id."""
    return kept(
        ("texts", project.project_id, chunk_ids, at.ground),
        lambda services: citations.read_texts(services.database, project.project_id, chunk_ids),
    )


def surroundings(project: Project, chunk_id: str, neighbours: int, at: DataVersion) -> citations.Surroundings:
    """A chunk with its neighbours, where it stands now.

    Raises:
        UsageError: The chunk is no longer in the index.
    """
    return kept(
        ("surroundings", project.project_id, chunk_id, neighbours, at.ground),
        lambda services: citations.read_surroundings(
            services.database, project.project_id, chunk_id, neighbours=neighbours
        ),
    )


def matched_words(
    project: Project, question: str, quoted: tuple[str, ...], at: DataVersion
) -> tuple[frozenset[str], ...]:
    """Of each text the words that the question asked for."""
    return kept(
        ("words", project.project_id, question, quoted, at.ground),
        lambda services: citations.read_matched_words(
            services.database, project.project_id, question, quoted
        ),
    )


def kept(key: tuple[object, ...], read: Callable[[Services], T]) -> T:
    """What is read, as long as the key stays the same: its first part names the read."""
    services = workbench().services
    return _kept((services.database.url, *key), lambda: read(services))


def _state_of(file: Path | None) -> tuple[str, int, int] | None:
    state = file.stat() if file is not None and file.exists() else None
    return (str(file), state.st_mtime_ns, state.st_size) if state else None


@st.cache_data(max_entries=_KEPT, show_spinner=False)
def _kept(key: tuple[object, ...], _read: Callable[[], T]) -> T:  # noqa: ARG001  the cache reads it
    return _read()


@st.cache_data(max_entries=_KEPT, ttl=_REPOSITORY_LOOKED_AT_EVERY_S, show_spinner=False)
def _kept_for_a_while(key: tuple[object, ...], _read: Callable[[], T]) -> T:  # noqa: ARG001  the cache reads it
    return _read()
