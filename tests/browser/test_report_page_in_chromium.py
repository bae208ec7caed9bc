"""The Report page in a real browser: from a bar to the searches behind it, back again, and a vote that is seen."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from material import ANA, DOCUMENTS, Repository
from medir.configuration import load_configuration
from medir.wiring import open_services
from rag_core.projects import add_project
from rag_core.votes import cast_vote

pytestmark = pytest.mark.browser

CHROMIUM = Path("/usr/bin/chromium")
STARTS_WITHIN_S = 60
PATIENCE_MS = 60_000


@pytest.fixture
def address(database_url: str, tmp_path: Path) -> Iterator[str]:
    """A workbench of its own over a project with one search, whose first hit was found useful."""
    chosen = {
        "DATABASE_URL": database_url,
        "MEDIR_EMBEDDING": "embedded",
        "MEDIR_HOME": str(tmp_path / "home"),
    }
    repository = Repository(tmp_path / "repository", DOCUMENTS)
    with open_services(load_configuration({"HOME": os.devnull, **chosen})) as opened:
        project = add_project(opened.database, "entrega", repo=repository.folder)
        opened.indexing.run(project, actor=ANA)
        answer = opened.search.ask("entrega", "Quando o frete é calculado?", actor=ANA)
        cast_vote(
            opened.database,
            opened.clock,
            "entrega",
            search_id=str(answer.search_id),
            chunk_id=answer.ranking.hits[0].candidate.chunk_id,
            verdict="util",
            actor=ANA,
        )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", "from medir.cli import main; main()", "serve", "--port", str(port)]
    environment = {**os.environ, "CI": "1", **chosen}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as server:
        try:
            wait_until(lambda: listens(port), "the workbench did not start")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


@pytest.fixture
def page() -> Iterator[Page]:
    """An empty browser window."""
    if not CHROMIUM.exists():
        pytest.skip("there is no chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        opened = browser.new_page()
        opened.set_default_timeout(PATIENCE_MS)
        yield opened
        browser.close()


def wait_until(happened: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + STARTS_WITHIN_S
    while not happened():
        if time.monotonic() > until:
            raise TimeoutError(what)
        time.sleep(0.05)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_bar_leads_to_its_searches_a_vote_is_seen_and_a_narrow_page_holds(address: str, page: Page) -> None:
    elsewhere: list[str] = []
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith((address, "data:", "blob:")) else elsewhere.append(request.url)
        ),
    )
    page.goto(f"{address}/?project=entrega")
    expect(page.get_by_role("heading", name="Report")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_text("1.00 of 1 vote;")).to_be_visible(timeout=PATIENCE_MS)
    page.wait_for_url("**from=*to=*")

    bar = page.locator(".st-key-report-ranks .bars .point path").first
    bar.scroll_into_view_if_needed()
    # plotly listens on the layer above its bars
    box = bar.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url("**which=useful*rank=1*")
    expect(page.get_by_text("1 to 1, the newest first.")).to_be_visible()

    page.goto(f"{address}/search?project=entrega&q=pedágio")
    page.get_by_role("button", name="▲ useful").first.dblclick()
    expect(page.get_by_role("button", name="▲ useful, your vote")).to_have_count(1, timeout=PATIENCE_MS)
    page.get_by_role("button", name="▼ irrelevant").first.click()
    expect(page.get_by_role("button", name="▼ irrelevant, your vote")).to_have_count(1, timeout=PATIENCE_MS)
    expect(page.get_by_role("button", name="▲ useful, your vote")).to_have_count(0)
    page.get_by_role("link", name="Report").click()
    expect(page.get_by_text("0.50 of 2 votes;")).to_be_visible(timeout=PATIENCE_MS)

    page.set_viewport_size({"width": 400, "height": 800})
    expect(page.get_by_text("0.50 of 2 votes;")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert not elsewhere
