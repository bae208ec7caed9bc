"""One project, indexed once a session; each test that writes gets a copy of its database and its repository."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from workbench_material import Installation, Make, environment_of, forget_workbenches, installations


@pytest.fixture(scope="session")
def make_installation(
    server_url: str, template_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Make]:
    """Makes installations with the project `entrega`, indexed and measured twice."""
    with installations(server_url, template_database, tmp_path_factory.mktemp("app")) as make:
        yield make


@pytest.fixture(scope="session")
def shared_installation(make_installation: Make) -> Installation:
    return make_installation()


@pytest.fixture
def installation(shared_installation: Installation, monkeypatch: pytest.MonkeyPatch) -> Installation:
    """For tests that write nothing but searches."""
    _choose(shared_installation.environment, monkeypatch)
    return shared_installation


@pytest.fixture
def own_installation(make_installation: Make, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installation]:
    """For one test alone."""
    made = make_installation()
    _choose(made.environment, monkeypatch)
    yield made
    forget_workbenches()


@pytest.fixture
def empty_installation(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A database without any project."""
    _choose(environment_of(database_url, tmp_path), monkeypatch)
    yield database_url
    forget_workbenches()


def _choose(environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
