"""Home folders of the embedded server: one that the tests of a file share, and copies of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from server_homes import copy_home, open_folder

from rag_core.database.server.server import EmbeddedServer


@pytest.fixture(scope="module")
def stopped_home() -> Iterator[Path]:
    with open_folder() as folder:
        with EmbeddedServer(folder / "home"):
            pass
        yield folder / "home"


@pytest.fixture
def home(stopped_home: Path) -> Iterator[Path]:
    """A home folder that the tests of this file share; each finds and leaves its server stopped."""
    yield stopped_home
    EmbeddedServer(stopped_home).stop()


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


@pytest.fixture
def own_home(stopped_home: Path, folder: Path) -> Path:
    """A home folder of one test, for what does not leave it as it was."""
    return copy_home(stopped_home, folder / "home")
