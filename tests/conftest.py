"""What all tests share: a clean environment, one PostgreSQL a session, a fresh database for each test that writes.

`DATABASE_URL` may name the server to test against: its role needs CREATEDB, and the extension `vector` must
stand in `template1` or in the database that the URL names. Without it an embedded server is started.
"""

import gc
import itertools
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import settings
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from databases import create_database, drop_database
from outbound import Watch
from rag_core.database.connections import Database
from rag_core.database.migration import migrate
from rag_core.database.server.server import EmbeddedServer
from temporary import make_temporary_folder

EXTERNAL_URL = pytest.StashKey[str | None]()
WATCH = pytest.StashKey[Watch]()

settings.register_profile("medir", derandomize=True, deadline=None)
# the first of the same examples, for `make check`
settings.register_profile("fast", settings.get_profile("medir"), max_examples=25)
settings.load_profile("medir")

CopyDatabase = Callable[[], AbstractContextManager[str]]


def pytest_configure(config: pytest.Config) -> None:
    # thousands of tests are collected, and nothing of them is garbage until the end
    gc.set_threshold(100_000, 20, 20)
    # ended politely, a session stops its server and drops its databases, as after Ctrl-C
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # a shell without job control has its background jobs ignore Ctrl-C, and they hand that on
    signal.signal(signal.SIGINT, signal.default_int_handler)
    of_worker: dict[str, str | None] | None = getattr(config, "workerinput", None)
    named = os.environ.get("DATABASE_URL") if of_worker is None else of_worker["external_url"]
    config.stash[EXTERNAL_URL] = named or None
    for name in list(os.environ):
        if name in ("DATABASE_URL", "OLLAMA_HOST") or name.startswith(("MEDIR_", "GIT_", "PG")):
            del os.environ[name]
    # nobody's own settings of git decide how a test's repository is made
    os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    if config.option.basetemp is None:
        # pytest would leave the folders of its last three runs behind
        folder = make_temporary_folder()
        config.option.basetemp = folder / "made"
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        # workers and all other processes find it there
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    watch = config.stash[WATCH] = Watch()
    watch.begin()
    config.add_cleanup(watch.end)


@pytest.fixture(scope="session")
def outbound(pytestconfig: pytest.Config) -> Watch:
    """The watch over what calls out of this machine."""
    return pytestconfig.stash[WATCH]


@pytest.fixture(autouse=True)
def _nothing_calls_out(outbound: Watch) -> Iterator[None]:
    """No process of the product opens a connection beyond this machine but to what was configured."""
    yield
    called = outbound.news()
    assert not called, f"something called out of this machine: {called}"


def pytest_sessionfinish(session: pytest.Session) -> None:
    # what ended after the last test
    called = session.config.stash[WATCH].news()
    if called:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        raise pytest.PytestWarning(f"something called out of this machine: {called}")


def pytest_collection_finish() -> None:
    # else every collection looks through them all, and Streamlit asks for one whenever a page has been drawn
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """A worker of a parallel run is told which server to test against: its environment is clean already."""
    node.workerinput["external_url"] = node.config.stash[EXTERNAL_URL]


@pytest.fixture(scope="session")
def server_url(pytestconfig: pytest.Config) -> Iterator[str]:
    """The URL of a server whose role may create databases."""
    external = pytestconfig.stash[EXTERNAL_URL]
    if external is not None:
        yield external
        return
    with _home_folder() as home, EmbeddedServer(home) as url:
        yield url


@pytest.fixture(scope="module")
def open_homes() -> Iterator[Callable[[], Path]]:
    """Makes empty home folders that the server's own account may enter, which no parent folder keeps it from."""
    with ExitStack() as homes:
        yield lambda: homes.enter_context(_home_folder())


@pytest.fixture(scope="module")
def open_home(open_homes: Callable[[], Path]) -> Path:
    """One such folder."""
    return open_homes()


@pytest.fixture(scope="session")
def blank_database(server_url: str) -> Iterator[str]:
    """The name of a database that holds nothing, but in which the role has, or can make, the extension."""
    name = f"medir_test_{os.getpid()}_blank"
    create_database(server_url, name, template="template1")
    try:
        if not _can_have_extension(url_of(server_url, name)):
            # an operator has made the extension in the database that DATABASE_URL names
            drop_database(server_url, name)
            named = str(conninfo_to_dict(server_url)["dbname"])
            create_database(url_of(server_url, "template1"), name, template=named)
            _execute(url_of(server_url, name), sql.SQL("drop owned by current_user cascade"))
        yield name
    finally:
        drop_database(server_url, name)


@pytest.fixture(scope="session")
def template_database(server_url: str, blank_database: str) -> Iterator[str]:
    """The name of a database with the current schema and nothing in it; nobody is connected to it."""
    name = f"medir_test_{os.getpid()}_template"
    create_database(server_url, name, template=blank_database)
    try:
        migrate(url_of(server_url, name))
        yield name
    finally:
        drop_database(server_url, name)


@pytest.fixture(scope="session")
def copy_database(server_url: str, template_database: str) -> CopyDatabase:
    """Makes a fresh database with the current schema, which lasts as long as its context."""
    numbers = itertools.count(1)

    @contextmanager
    def copy() -> Iterator[str]:
        name = f"medir_test_{os.getpid()}_{next(numbers)}"
        create_database(server_url, name, template=template_database)
        try:
            yield url_of(server_url, name)
        finally:
            drop_database(server_url, name)

    return copy


@pytest.fixture(scope="session")
def empty_database(server_url: str, blank_database: str) -> CopyDatabase:
    """Makes a database without any schema of ours, which lasts as long as its context."""
    numbers = itertools.count(1)

    @contextmanager
    def create() -> Iterator[str]:
        name = f"medir_test_{os.getpid()}_empty_{next(numbers)}"
        create_database(server_url, name, template=blank_database)
        try:
            yield url_of(server_url, name)
        finally:
            drop_database(server_url, name)

    return create


@pytest.fixture
def database_url(copy_database: CopyDatabase) -> Iterator[str]:
    """A fresh database of one test."""
    with copy_database() as url:
        yield url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A pool on a fresh database of one test."""
    with Database(database_url, max_size=4) as opened:
        yield opened


@pytest.fixture(scope="module")
def module_database_url(copy_database: CopyDatabase) -> Iterator[str]:
    """A fresh database that the tests of a module share."""
    with copy_database() as url:
        yield url


@pytest.fixture(scope="module")
def module_database(module_database_url: str) -> Iterator[Database]:
    """A pool on a fresh database that the tests of a module share."""
    with Database(module_database_url, max_size=4) as opened:
        yield opened


def url_of(server_url: str, name: str) -> str:
    """The same server and role, another database."""
    return make_conninfo(server_url, dbname=name)


def _can_have_extension(url: str) -> bool:
    with psycopg.connect(url, autocommit=True) as connection:
        there = connection.execute("select 1 from pg_extension where extname = 'vector'").fetchone()
        return bool(there) or connection.info.parameter_status("is_superuser") == "on"


@contextmanager
def _home_folder() -> Iterator[Path]:
    home = Path(tempfile.mkdtemp(prefix="medir-test-"))
    home.chmod(0o755)
    try:
        yield home
    finally:
        EmbeddedServer(home).stop()
        shutil.rmtree(home)


def _execute(url: str, statement: sql.SQL | sql.Composed) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)
