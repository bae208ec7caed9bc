"""An installation, and the tools served over both transports, which all tests of the agent tools share."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest
from agent_material import (
    AGENT,
    SESSION,
    Agent,
    Installation,
    make_installation,
    over_http,
    over_stdio,
    served,
)

CopyDatabase = Callable[[], AbstractContextManager[str]]

PROJECT = ("--project", "entrega", "--agent", AGENT, "--session", SESSION)


@pytest.fixture(scope="session")
def installation(
    copy_database: CopyDatabase, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    """Two indexed projects; tests add searches and votes."""
    with copy_database() as url:
        yield make_installation(url, tmp_path_factory.mktemp("agents"))


@pytest.fixture(scope="session")
def address(installation: Installation) -> Iterator[str]:
    """Where the tools of `entrega` are served over HTTP."""
    with served(installation, *PROJECT) as found:
        yield found


@pytest.fixture(scope="module", params=["stdio", "http"])
def agent(request: pytest.FixtureRequest, installation: Installation) -> Iterator[Agent]:
    """A client of the tools of `entrega`, over each transport."""
    if request.param == "http":
        with over_http(request.getfixturevalue("address")) as connected:
            yield connected
    else:
        with over_stdio(installation, *PROJECT) as connected:
            yield connected
