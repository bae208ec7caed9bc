"""The workbench as a person sees it: real pages in a real browser."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import psycopg
import pytest
from browser_material import SETTLED, eventually

from medir.pages import PAGES
from workbench_material import Installation

if TYPE_CHECKING:
    from playwright.sync_api import Page

OpenPage = Callable[..., AbstractContextManager["Page"]]
CASE = "/golden-set?case=senha"
ASKED = "/search?q=Por quantos dias a fila guarda eventos?&threshold=0"
ADDRESSES = (
    *("/golden-set", CASE, "/search", ASKED, "/search?q=fila&threshold=1", "/index"),
    *("/report?last=7d", "/calibration"),
)


def settled(page: "Page") -> None:
    page.wait_for_timeout(300)
    page.wait_for_function(SETTLED)


def test_the_golden_set_shows_its_verdict_and_its_table(visit: OpenPage):
    with visit("/golden-set") as page:
        assert "2 of 3 pass, floor 2" in page.locator("[data-testid=stAlert]").first.inner_text()
        page.locator("[data-testid=stDataFrame] canvas").first.wait_for()
        assert "lost: senha" in page.inner_text("body")


def test_the_root_leads_to_the_first_page_with_what_the_address_asks_for(visit: OpenPage):
    with visit("/?project=entrega") as page:
        assert f"/{PAGES[0].path}?project=entrega" in page.url


def test_a_row_that_is_selected_is_explained_and_back_leads_back(visit: OpenPage):
    with visit("/golden-set") as page:
        table = page.locator("[data-testid=stDataFrame]").first.bounding_box()
        assert table
        for row, case in ((1, "frete"), (3, "senha")):
            # rows are 35 px high, the first is the heading
            page.mouse.click(table["x"] + 18, table["y"] + 35 * row + 17)
            page.wait_for_url(f"**case={case}**")
            settled(page)
        assert page.locator("h3").first.inner_text() == "✗ This case fails"
        page.go_back()
        page.wait_for_url("**case=frete**")
        eventually(page, lambda: page.locator("h3").first.inner_text() == "✓ This case passes")


def test_back_to_an_address_that_did_not_say_it_yet_takes_the_choice_back(visit: OpenPage):
    with visit("/golden-set?project=entrega") as page:
        page.get_by_text("3 of 3 cases").wait_for()
        page.get_by_role("radio", name="failing").click()
        page.wait_for_url("**show=failing**")
        page.get_by_text("1 of 3 cases").wait_for()
        page.go_back()
        page.get_by_text("3 of 3 cases").wait_for()
        assert "show=" not in page.url
        assert page.get_by_role("radio", name="all").get_attribute("aria-checked") == "true"
        page.go_forward()
        page.get_by_text("1 of 3 cases").wait_for()
        # on the way to another page and back, a choice is kept
        page.get_by_role("link", name="Index").click()
        page.wait_for_url("**/index**")
        settled(page)
        # and what one page was asked for is not asked of another
        assert not page.get_by_text("Part of this address is not known").count()
        page.get_by_role("link", name="Golden set").click()
        page.get_by_text("1 of 3 cases").wait_for()
        settled(page)
        # the page writes its choices into the address that led to it: a step of their own
        page.go_back()
        page.go_back()
        page.wait_for_url("**/index**", timeout=10_000)
        settled(page)
        assert not page.get_by_text("Part of this address is not known").count()


def test_a_question_is_answered_with_its_words_marked(visit: OpenPage):
    with visit("/search") as page:
        box = page.locator(".st-key-search_question input")
        box.fill("Por quantos dias a fila guarda eventos?")
        box.press("Enter")
        settled(page)
        first = page.locator(".st-key-hit-1")
        assert "docs/adr/0001-fila.md" in first.inner_text()
        first.locator("mark").first.wait_for()
        assert "fila" in [mark.lower() for mark in first.locator("mark").all_inner_texts()]
        assert "q=Por" in page.url
        box.fill("O que entra no frete?")
        box.press("Enter")
        page.wait_for_url("**q=O*")
        settled(page)
        page.go_back()
        eventually(page, lambda: box.input_value() == "Por quantos dias a fila guarda eventos?")
        eventually(page, lambda: "docs/adr/0001-fila.md" in page.locator(".st-key-hit-1").inner_text())


def test_what_was_asked_and_voted_on_survives_reload_back_and_a_shared_link_and_is_one_search(
    visit: OpenPage, workbench_address: str
):
    with visit("/search?threshold=0") as page:

        def recorded() -> int:
            return page.request.get(f"{workbench_address}/api/projects/entrega/rag/report").json()["searches"]

        before = recorded()
        box = page.locator(".st-key-search_question input")
        voted = page.get_by_role("button", name="▲ useful, your vote")
        box.fill("De noite se planeja a rota?")
        box.press("Enter")
        page.wait_for_url("**asked=*")
        settled(page)
        page.get_by_role("button", name="▲ useful").first.click()
        voted.wait_for()
        asked = page.url
        page.reload()
        voted.wait_for()
        assert page.url == asked
        assert recorded() == before + 1
        box.fill("E de dia?")
        box.press("Enter")
        page.wait_for_url("**q=E*asked=*")
        settled(page)
        assert voted.count() == 0
        page.go_back()
        voted.wait_for()
        assert page.url == asked
        assert recorded() == before + 2
    with visit(asked.removeprefix(workbench_address)) as page:
        voted = page.get_by_role("button", name="▲ useful, your vote")
        voted.wait_for()
        assert page.locator(".st-key-search_question input").input_value() == "De noite se planeja a rota?"
        assert recorded() == before + 2


def test_two_people_who_search_at_the_same_time_see_each_their_own_answer(visit: OpenPage):
    with visit("/search?threshold=0") as one, visit("/search?threshold=0") as other:
        for mine, yours in (("frete", "fila"), ("rota", "senha"), ("fila", "frete"), ("senha", "rota")):
            # neither waits for the other's answer
            for page, question in ((one, mine), (other, yours)):
                box = page.locator(".st-key-search_question input")
                box.fill(question)
                box.press("Enter")
            for page, question in ((one, mine), (other, yours)):
                page.wait_for_url(f"**q={question}*")
                settled(page)
                marks = page.locator(".st-key-hit-1 mark")
                marks.first.wait_for()
                assert {mark.lower() for mark in marks.all_inner_texts()} == {question}


def test_hostile_text_is_seen_as_it_was_written_and_fetches_nothing(visit: OpenPage):
    with visit("/search?q=tarifa hostil&threshold=0") as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.reload()
        settled(page)
        quoted = page.locator(".st-key-hit-1 .quoted", has_text="R$ 10,00").inner_text()
        assert "R$ 10,00 e R$ 20,00 com _taxa_ :red[x] ~5~ $5 e $6." in quoted
        assert "<img src=x onerror=alert(1)> ![rastreio](https://rastreio.example/pixel.png)" in quoted
        assert page.locator(".st-key-hit-1 img").count() == 0
        assert page.locator(".st-key-hit-1 .katex").count() == 0
        assert not [url for url in asked if "127.0.0.1" not in url and not url.startswith(("data:", "blob:"))]


def test_a_citation_opens_its_source_and_the_address_leads_to_it(visit: OpenPage):
    with visit(ASKED) as page:
        page.locator(".st-key-open-1 button").click()
        settled(page)
        dialog = page.get_by_role("dialog")
        assert "← cited" in dialog.inner_text()
        assert "open=" in page.url
        shared = page.url.partition("/search")[2]
        page.keyboard.press("Escape")
        settled(page)
        assert "open=" not in page.url
    with visit("/search" + shared) as page:
        assert "← cited" in page.get_by_role("dialog").inner_text()


def golden_runs(installation: Installation) -> list[str]:
    """The states of the golden runs that there are, the oldest first."""
    with psycopg.connect(installation.environment["DATABASE_URL"]) as connection:
        states = connection.execute(
            "select state::text from runs where kind = 'golden' order by started_at, id"
        )
        return [state for (state,) in states]


def test_a_run_goes_on_while_another_page_is_looked_at(visit: OpenPage, installation: Installation):
    before = golden_runs(installation)
    with visit("/golden-set") as page:
        button = page.locator(".st-key-run-golden button")
        button.click()
        # a page that is left before its run has begun has begun nothing, and one of three cases may end before a look
        eventually(page, lambda: len(golden_runs(installation)) > len(before))
        # a link that is clicked before the last one has led anywhere leads nowhere
        for name in ("Search", "Golden set"):
            page.get_by_role("link", name=name).first.click()
            page.get_by_role("heading", name=name, exact=True).wait_for()
            settled(page)
        button.wait_for()
        eventually(page, lambda: golden_runs(installation) == [*before, "done"])
        eventually(page, lambda: "0 lost" in page.locator("[data-testid=stAlert]").first.inner_text())


@pytest.mark.parametrize(("address", "dark"), list(zip(ADDRESSES, [True, False] * 4, strict=True)))
def test_nothing_is_wider_than_a_page_of_400_px(visit: OpenPage, address: str, dark: bool):
    with visit(address, width=400, dark=dark) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 400
        assert not page.locator("[data-testid=stException]").count()


def test_the_dark_theme_is_dark_and_its_ink_is_light(visit: OpenPage):
    with visit("/golden-set", dark=True) as page:
        app = page.locator("[data-testid=stApp]")
        assert app.evaluate("element => getComputedStyle(element).backgroundColor") == "rgb(21, 24, 28)"
        assert app.evaluate("element => getComputedStyle(element).color") == "rgb(240, 242, 244)"


def test_the_light_theme_is_light(visit: OpenPage):
    with visit("/golden-set") as page:
        app = page.locator("[data-testid=stApp]")
        assert app.evaluate("element => getComputedStyle(element).backgroundColor") == "rgb(255, 255, 255)"
