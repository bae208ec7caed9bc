"""The Report page in a real browser: from a bar to the searches behind it, back again, and a vote that is seen."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_material import served
from playwright.sync_api import Page, expect

from material import ANA, DOCUMENTS, Repository
from medir.configuration import load_configuration
from medir.wiring import open_services
from rag_core.project.projects import add_project
from rag_core.search.votes import cast_vote

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
    with served(chosen, tmp_path / "serve.log") as listening:
        yield listening


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
    page.wait_for_url("**last=30d*")

    bar = page.locator(".st-key-report-ranks .bars .point path").first
    bar.scroll_into_view_if_needed()
    # plotly listens on the layer above its bars
    box = bar.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url("**which=useful*rank=1*")
    expect(page.get_by_text("1 to 1, the newest first")).to_be_visible()

    # a point of the figure of steps leads to the searches that took so long in that step
    page.get_by_text("all", exact=True).first.click()
    point = page.locator(".st-key-report-steps .points path").first
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url("**took=total*")
    expect(page.get_by_text("1 to 1, the newest first")).to_be_visible()

    page.goto(f"{address}/search?project=entrega&q=pedágio")
    page.get_by_role("button", name="Ask now").click()
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
