"""An installation that the tests of a module share."""

import pytest
from command_line import Caller, Installation

from material import CASES, DOCUMENTS, Repository


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    folder = tmp_path_factory.mktemp("cli") / "repository"
    return Repository(folder, {**DOCUMENTS, "golden_set/cases.yaml": CASES})


@pytest.fixture(scope="module")
def installation(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """An installation on an external database, with the embedded encoder."""
    return Installation(
        home=tmp_path_factory.mktemp("home"),
        environment={"DATABASE_URL": module_database_url, "MEDIR_EMBEDDING": "embedded"},
    )


@pytest.fixture
def medir_verb(installation: Installation, capsys: pytest.CaptureFixture[str]) -> Caller:
    return Caller(installation, capsys)
