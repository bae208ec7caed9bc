"""Installations that the tests of the API share or have alone."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from api_material import ApiInstallation, api_installation, client_of
from starlette.testclient import TestClient

CopyDatabase = Callable[[], AbstractContextManager[str]]


@pytest.fixture(scope="module")
def installation(
    copy_database: CopyDatabase, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ApiInstallation]:
    """With a token of each role."""
    with copy_database() as url, api_installation(url, tmp_path_factory.mktemp("api")) as made:
        yield made


@pytest.fixture
def client(installation: ApiInstallation) -> Iterator[TestClient]:
    with client_of(installation.configuration) as made:
        yield made


@pytest.fixture
def own_installation(database_url: str, tmp_path: Path) -> Iterator[ApiInstallation]:
    """For one test alone."""
    with api_installation(database_url, tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def open_installation(
    copy_database: CopyDatabase, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ApiInstallation]:
    """Without any token."""
    with copy_database() as url, api_installation(url, tmp_path_factory.mktemp("open"), tokens=False) as made:
        yield made
