"""A project at a glance: its index, its settings in force, and whether its repository has moved on."""

from dataclasses import dataclass
from datetime import datetime

from rag_core.database.connections import Database
from rag_core.database.data_version import DataVersion, read_data_version
from rag_core.database.index.identity import count_chunks, read_scope_states
from rag_core.database.projects import list_projects
from rag_core.errors import MedirError
from rag_core.model import ALL_SCOPES, DOCUMENT_SCOPES, Project
from rag_core.project.projects import current_commit, words_changed
from rag_core.settings.golden_folder import committed_file
from rag_core.settings.in_force import SettingsInForce, read_sources

__all__ = ["DataVersion", "IndexOverview", "Project", "all_projects", "data_version", "read_overview"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexOverview:
    """An index in a line. `commit` is what the documents were read at, `head_commit` what stands now.

    `head_commit` is None where the repository can't be read; `commit` where no documents were indexed. `words_changed`
    says why the index must be made anew for its words, None where it need not.
    """

    commit: str | None
    head_commit: str | None
    chunks: int
    without_vector: int
    model_id: str | None
    indexed_at: datetime | None
    in_force: SettingsInForce
    words_changed: str | None

    @property
    def moved(self) -> bool:
        """Whether the repository has commits that the index has not seen."""
        return None not in (self.commit, self.head_commit) and self.commit != self.head_commit


def all_projects(database: Database) -> tuple[Project, ...]:
    """Every project, by id."""
    with database.connection() as connection:
        return tuple(list_projects(connection))


def data_version(database: Database, project: Project) -> DataVersion:
    """What changes whenever anything that a page shows of this project has changed."""
    with database.connection() as connection:
        return read_data_version(connection, project.project_id)


def read_overview(database: Database, project: Project) -> IndexOverview | None:
    """The project's index at a glance; None before the first index run."""
    committed = committed_file(project)
    with database.snapshot() as connection:
        sources = read_sources(connection, project.project_id, committed)
        if sources.index is None:
            return None
        states = read_scope_states(connection, project.project_id)
        chunks, without_vector = count_chunks(connection, project.project_id, ALL_SCOPES)
    documents = [states[scope] for scope in DOCUMENT_SCOPES if scope in states]
    return IndexOverview(
        commit=next((state.commit for state in documents if state.commit), None),
        head_commit=_head(project),
        chunks=chunks,
        without_vector=without_vector,
        model_id=sources.model_id,
        indexed_at=max((state.indexed_at for state in states.values()), default=None),
        in_force=sources.in_force(),
        words_changed=words_changed(project, sources.index),
    )


def _head(project: Project) -> str | None:
    try:
        return current_commit(project)
    except MedirError:
        # the index is there to be searched, whatever became of the repository
        return None
