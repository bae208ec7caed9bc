"""The Index page in a real browser: a run that survives leaving the page, and a document shown as text."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser_material import served
from playwright.sync_api import Page, Request, expect

from material import DOCUMENTS, Repository
from rag_core.database.connections import Database
from rag_core.index.reading import read_chunk_page
from rag_core.model import Place
from rag_core.project.projects import add_project

HOSTILE = (
    "# Preço\n\nCusta R$ 10,00 e R$ 20,00 com _tarifa_ :red[x] ~5~ <img src=x onerror=alert(1)> "
    "![t](http://rastreio.example/t.png) :material/delete:\n\n## Depois\n\n"
    + "A tarifa é congelada na coleta e revista na entrega. "
    * 40
)
RUN_BEGINS_WITHIN_S = 60
PATIENCE_MS = 60_000


@pytest.fixture
def address(database_url: str, tmp_path: Path) -> Iterator[str]:
    """A workbench of its own over one project that was never indexed."""
    repository = Repository(tmp_path / "repository", {**DOCUMENTS, "docs/hostil.md": HOSTILE})
    with Database(database_url, max_size=1) as database:
        add_project(database, "entrega", repo=repository.folder)
    environment = {
        "DATABASE_URL": database_url,
        "MEDIR_EMBEDDING": "embedded",
        "MEDIR_HOME": str(tmp_path / "home"),
    }
    with served(environment, tmp_path / "serve.log") as listening:
        yield listening


def wait_until(happened: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + RUN_BEGINS_WITHIN_S
    while not happened():
        if time.monotonic() > until:
            raise TimeoutError(what)
        time.sleep(0.05)


def has_run(database: Database) -> bool:
    with database.connection() as connection:
        return connection.execute("select from runs").fetchone() is not None


def test_an_index_is_made_while_somebody_looks_elsewhere_and_is_shown_as_text(
    address: str, page: Page, database_url: str
) -> None:
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    page.on("request", note)
    page.goto(f"{address}/index?project=entrega")
    page.get_by_role("button", name="Index it now").click()
    with Database(database_url, max_size=1) as database:
        wait_until(lambda: has_run(database), "no run began")
    page.get_by_role("link", name="Search").click()
    expect(page.get_by_role("heading", name="Search")).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_role("link", name="Index").click()
    expect(page.get_by_text("Everything is in the index:")).to_be_visible(timeout=PATIENCE_MS)

    page.goto(f"{address}/index?project=entrega&part=chunks&place=docs/hostil.md")
    with Database(database_url, max_size=1) as database:
        stored = read_chunk_page(database, "entrega", Place("file", "docs/hostil.md"), first=1).chunks
    expect(page.locator(".chunk")).to_have_count(len(stored), timeout=PATIENCE_MS)
    shown = page.locator(".chunk p").evaluate_all("texts => texts.map(text => text.textContent)")
    assert shown == [chunk.content for chunk in stored]
    assert page.locator(".chunk img").count() == 0
    assert not [url for url in asked if not url.startswith((address, "data:", "blob:"))]
    assert page.locator(".chunk .repeated").count() >= 1

    page.locator(".chunk button").nth(1).click()
    page.wait_for_url(f"**chunk={stored[1].chunk_id}*")
    expect(page.get_by_text("None of the last 20,000 searches showed it.")).to_be_visible()

    page.set_viewport_size({"width": 400, "height": 800})
    expect(page.locator(".chunk.chosen")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
