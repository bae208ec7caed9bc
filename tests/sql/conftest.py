"""What tests of golden runs and baselines share: an indexed project with cases, over a fresh database."""

from pathlib import Path

import pytest

from material import ANA, CASES, DOCUMENTS, Repository, Services, services
from rag_core.clock import SystemClock
from rag_core.database.connections import Database
from rag_core.model import Project
from rag_core.project.projects import add_project
from rag_core.settings.adopting import adopt_settings
from rag_core.settings.overrides import Overrides


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository", {**DOCUMENTS, "golden_set/cases.yaml": CASES})


@pytest.fixture
def project(database: Database, repository: Repository) -> Project:
    return add_project(database, "entrega", repo=repository.folder)


@pytest.fixture
def made(database: Database, project: Project) -> Services:
    opened = services(database)
    opened.indexing.run(project, actor=ANA)
    return opened


@pytest.fixture
def strict(made: Services, project: Project) -> Services:
    """The same, with numbers adopted under which a question about nothing here gets no hit."""
    adopt_settings(
        made.database,
        SystemClock(),
        project,
        overrides=Overrides(preset="embedded-strict"),
        reason="recusa o que não sabe",
        actor=ANA,
    )
    return made
