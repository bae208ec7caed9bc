"""The Calibration page in a real browser: calibrated while another page is looked at, moved by keys and by a click."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from browser_material import SETTLED, eventually

if TYPE_CHECKING:
    from playwright.sync_api import Page

OpenPage = Callable[..., AbstractContextManager["Page"]]
PATIENCE_MS = 120_000
CURVE, MAP = ".st-key-calibration-curve", ".st-key-calibration-map"


def settled(page: "Page") -> None:
    page.wait_for_timeout(300)
    page.wait_for_function(SETTLED)


def calibrated(page: "Page") -> None:
    """Calibrate unless an earlier test has done so in the same workbench."""
    if not page.locator(CURVE).count():
        page.get_by_role("button", name="Calibrate", exact=True).click()
        page.locator(MAP).wait_for(timeout=PATIENCE_MS)
        settled(page)


def until(page: "Page", act: Callable[[], None], told: str) -> None:
    """Act until the address tells of it: what is drawn may be drawn anew just when it is touched."""
    for _ in range(6):
        act()
        for _ in range(80):
            page.wait_for_timeout(250)
            if told in page.url:
                settled(page)
                return
    raise AssertionError(f"the address never told {told}")


def click_map(page: "Page") -> None:
    box = page.locator(f"{MAP} .nsewdrag").bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] * 0.8, box["y"] + box["height"] * 0.3)


def test_a_calibration_goes_on_while_another_page_is_looked_at_and_a_setting_is_reached_by_key_and_click(
    visit: OpenPage,
):
    with visit("/calibration") as page:
        elsewhere: list[str] = []
        page.on("request", lambda request: elsewhere.append(request.url))
        page.get_by_role("button", name="Calibrate", exact=True).click()
        # a page that is left before its run has begun has begun nothing
        page.get_by_role("button", name="Calibrate", exact=True).wait_for(state="detached")
        # a link that is clicked before the last one has led anywhere leads nowhere
        for name in ("Search", "Calibration"):
            page.get_by_role("link", name=name).first.click()
            page.get_by_role("heading", name=name, exact=True).wait_for(timeout=PATIENCE_MS)
            settled(page)
        page.locator(MAP).wait_for(timeout=PATIENCE_MS)
        settled(page)
        assert "Keep today's numbers" in page.locator("[data-testid=stAlert]").first.inner_text()

        slider = page.locator(".st-key-calibration-weight input[type=range]")
        slider.focus()
        until(page, lambda: slider.press("ArrowRight"), "at-weight=")
        weight = slider.input_value()
        assert float(weight) > 0.4
        assert f"at-weight={weight}" in page.url

        page.locator(MAP).scroll_into_view_if_needed()
        settled(page)
        until(page, lambda: click_map(page), "at-threshold=")
        assert 0.75 < float(slider.input_value()) < 0.85
        # one click chose two numbers, and one step back gives both back
        page.go_back()
        page.wait_for_url(lambda url: "at-threshold" not in url, timeout=PATIENCE_MS)
        eventually(page, lambda: slider.input_value() == weight)
        assert f"at-weight={weight}" in page.url

        outside = [url for url in elsewhere if "127.0.0.1" not in url]
        assert not [url for url in outside if not url.startswith(("data:", "blob:"))]


def test_the_dialog_of_adopting_shows_what_changes_and_closes_without_a_trace(visit: OpenPage):
    with visit("/calibration?at-weight=0.35") as page:
        calibrated(page)
        page.get_by_role("button", name="Adopt these numbers…").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="Adopt", exact=True).wait_for()
        assert "What changes for every search of entrega from now on" in dialog.inner_text()
        assert "Recorded as human:" in dialog.inner_text()
        page.keyboard.press("Escape")
        dialog.wait_for(state="detached")
        settled(page)
        assert "at-weight=0.35" in page.url
        assert "vector 0.4, lexical 0.6" in page.locator(".st-key-frame").inner_text()


def test_nothing_of_it_is_wider_than_a_page_of_400_px(visit: OpenPage):
    for dark, part in ((False, "cases"), (True, "signals")):
        with visit(f"/calibration?at-weight=0.35&evidence={part}", width=400, dark=dark) as page:
            calibrated(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= 400
            assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 400
            assert not page.locator("[data-testid=stException]").count()
