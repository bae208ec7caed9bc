"""What the Index page reads: kept as long as the data's version stays the same, or for some seconds.

The repository and the provider are outside the database: nothing tells us when they change.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st

from medir.page_kit.reads import kept
from medir.page_kit.services import workbench
from medir.page_kit.signs import model_name
from rag_core.errors import MedirError
from rag_core.index import reading as index_reading
from rag_core.index.coverage import Coverage, measure_coverage
from rag_core.index.reading import ChunkPage, IndexedPlace, Showing
from rag_core.model import EmbeddingModel, Place, Run, Scope
from rag_core.project.following import last_runs
from rag_core.project.overview import DataVersion, Project

T = TypeVar("T")

_KEPT = 64
_LOOKED_AT_EVERY_S = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderState:
    """What embeds, and whether it answers. `model_id` is None where it does not; `remedy` may be empty then.

    `configured` is what the installation asks for, `index_model` the model of the index's vectors; `can_serve` says
    whether the two are of one kind.
    """

    configured: str
    model_id: str | None
    index_model: str | None
    found: str
    remedy: str
    can_serve: bool

    @property
    def mismatch(self) -> bool:
        """Whether it answers with another model than the index's."""
        return None not in (self.model_id, self.index_model) and self.model_id != self.index_model


def coverage(project: Project, at: DataVersion) -> Coverage:
    """The index against its sources."""
    opened = workbench().services
    return _kept_for_a_while(
        (opened.database.url, "coverage", project, at.ground),
        lambda: measure_coverage(opened.database, project),
    )


def provider(index_model: str | None) -> ProviderState:
    """Asks the provider what it is, which takes its own bounded time at most and embeds nothing."""
    opened = workbench().services
    return _kept_for_a_while(
        (opened.configuration.embedding, opened.configuration.ollama_host, "provider", index_model),
        lambda: _ask_provider(index_model),
    )


def runs(project: Project) -> list[Run]:
    """The last index runs, newest first; read anew each time."""
    return last_runs(workbench().services.database, project.project_id, "index")


def places(
    project: Project, scope: Scope | None, containing: str, at: DataVersion
) -> tuple[tuple[IndexedPlace, ...], int]:
    """The first places whose name or title contains a text, and how many there are."""
    return kept(
        ("places", project.project_id, scope, containing, at.ground),
        lambda services: index_reading.list_places(
            services.database, project.project_id, scope=scope, containing=containing
        ),
    )


def chunk_page(project: Project, place: Place, first: int, at: DataVersion) -> ChunkPage:
    """Some chunks of a place in a row."""
    return kept(
        ("chunk-page", project.project_id, place, first, at.ground),
        lambda services: index_reading.read_chunk_page(
            services.database, project.project_id, place, first=first
        ),
    )


def location(project: Project, chunk_id: str, at: DataVersion) -> tuple[Place, int] | None:
    """A chunk's place and its number there; None where it is gone."""
    return kept(
        ("location", project.project_id, chunk_id, at.ground),
        lambda services: index_reading.locate(services.database, project.project_id, chunk_id),
    )


def searches_with(project: Project, chunk_id: str) -> tuple[Showing, ...]:
    """The newest searches that showed a chunk; read anew each time, since votes come and go."""
    return index_reading.searches_with(workbench().services.database, project.project_id, chunk_id)


def _ask_provider(index_model: str | None) -> ProviderState:
    providers = workbench().services.providers
    model = EmbeddingModel.parse(index_model) if index_model else None
    model_id, found, remedy = None, "", ""
    try:
        outcome = providers.service_for(model).identify()
    except MedirError as error:
        found, remedy = error.message, error.hint
    else:
        model_id = outcome.model.id if outcome.model else None
        found, remedy = outcome.reason or model_name(model_id), outcome.hint
    return ProviderState(
        configured=providers.configured,
        model_id=model_id,
        index_model=index_model,
        found=found,
        remedy=remedy,
        can_serve=providers.can_serve(model),
    )


@st.cache_data(max_entries=_KEPT, ttl=_LOOKED_AT_EVERY_S, show_spinner=False)
def _kept_for_a_while(key: tuple[object, ...], _read: Callable[[], T]) -> T:  # noqa: ARG001  the cache reads it
    return _read()
