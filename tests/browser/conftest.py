"""One workbench and one browser a session, over an indexed project with a lost case."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser_material import ARGUMENTS, CHROMIUM, SETTLED, served, why_no_browser

from workbench_material import Installation, installations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TIMEOUT_MS = 60_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = why_no_browser()
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if reason is not None:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def installation(
    server_url: str, template_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    """What the workbench shows."""
    with installations(server_url, template_database, tmp_path_factory.mktemp("browser")) as make:
        yield make()


@pytest.fixture(scope="session")
def workbench_address(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the workbench listens."""
    with served(installation.environment, tmp_path_factory.mktemp("served") / "serve.log") as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    """One chromium; its driver's event loop runs in this thread, where other tests need one of their own."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  not there where these tests are skipped

    with tempfile.TemporaryDirectory(prefix="medir-browser-") as home, sync_playwright() as driver:
        opened = driver.chromium.launch(
            executable_path=str(CHROMIUM), args=list(ARGUMENTS), env={"HOME": home}
        )
        yield opened
        opened.close()


@pytest.fixture
def page(browser: "Browser") -> Iterator["Page"]:
    """An empty window of its own."""
    context = browser.new_context()
    try:
        opened = context.new_page()
        opened.set_default_timeout(TIMEOUT_MS)
        yield opened
    finally:
        context.close()


OpenPage = Callable[..., AbstractContextManager["Page"]]


@pytest.fixture
def visit(workbench_address: str, browser: "Browser") -> OpenPage:
    """Opens a path of the workbench and waits until it is drawn; nothing may be missing or wrong meanwhile."""

    @contextmanager
    def opened(path: str, *, width: int = 1300, dark: bool = False) -> Iterator["Page"]:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
        )
        try:
            page = context.new_page()
            page.set_default_timeout(TIMEOUT_MS)
            faults: list[str] = []
            page.on("console", lambda told: faults.append(told.text) if told.type == "error" else None)
            page.on(
                "response",
                lambda answer: (
                    faults.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None
                ),
            )
            page.goto(workbench_address + path)
            settle(page)
            yield page
            assert not faults
        finally:
            context.close()

    return opened


def settle(page: "Page") -> None:
    """Wait until the script has run and the page stands still."""
    page.wait_for_timeout(300)
    page.wait_for_function(SETTLED, timeout=TIMEOUT_MS)
