"""Signing in with a certified provider: roles by address and by claim, a stranger, an expiry, one that is away."""

import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser_material import SETTLED, free_port, served

from workbench_material import Installation

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FOLDER = os.environ.get("TEST_OIDC_PROVIDER", "")
PROGRAM = Path(__file__).parent / "provider" / "provider.mjs"
TIMEOUT_MS = 60_000
# the provider's clock is so far behind that a sign-in which is good for a minute has expired already
BEHIND_S = 120
FOR_A_MINUTE = 'lasts = "1m"\n'
PEOPLE = {
    "ana": {"email": "Ana@example.org", "email_verified": True, "name": "Ana"},
    "bia": {"email": "bia@example.org", "email_verified": True, "groups": ["staff", "readers"]},
    "eva": {"email": "eva@example.org", "email_verified": True, "groups": ["staff"]},
    "ivo": {"email": "ana@example.org", "email_verified": False},
}
CONFIGURATION = """
[sign_in]
"ana@example.org" = "maintainer"

[sign_in_claim]
"readers" = "viewer"

[oidc]
redirect_uri = "{address}/oauth2callback"
cookie_secret = "a-secret-of-the-tests-that-is-long-enough"
client_id = "medir"
client_secret = "a-secret-of-the-tests"
server_metadata_url = "{provider}/.well-known/openid-configuration"
role_claim = "groups"
"""

pytestmark = [
    pytest.mark.skipif(not FOLDER, reason="TEST_OIDC_PROVIDER names no folder with oidc-provider in it"),
    pytest.mark.skipif(importlib.util.find_spec("authlib") is None, reason="authlib is not installed"),
    pytest.mark.skipif(shutil.which("node") is None, reason="there is no node to run a provider with"),
]


@contextmanager
def provider(port: int, address: str) -> Iterator[None]:
    """The provider, for as long as the context lasts."""
    command = ["node", str(PROGRAM), FOLDER, str(port), f"{address}/oauth2callback", json.dumps(PEOPLE)]
    command.append(str(BEHIND_S))
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        assert any(line == "ready\n" for line in process.stdout), "the provider did not start"
        yield
    finally:
        process.terminate()
        process.wait(20)
        if process.stdout is not None:
            process.stdout.close()


@contextmanager
def window(browser: "Browser", address: str) -> Iterator["Page"]:
    """The page Index in a browser that has never signed in."""
    context = browser.new_context()
    try:
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.goto(f"{address}/index?part=reindex")
        drawn(page)
        yield page
    finally:
        context.close()


def drawn(page: "Page") -> str:
    """All that the page says, once it stands still."""
    page.wait_for_timeout(300)
    page.wait_for_function(SETTLED, timeout=TIMEOUT_MS)
    return page.locator("[data-testid=stApp]").inner_text()


def sign_in(page: "Page", account: str) -> str:
    page.get_by_role("button", name="Sign in with your provider").click()
    page.locator("input[name=account]").fill(account)
    page.get_by_role("button", name="Go").click()
    page.locator("[data-testid=stApp]").wait_for()
    page.get_by_text("Sign out").wait_for()
    return drawn(page)


@contextmanager
def lower_floor(cases: Path) -> Iterator[None]:
    """One case fewer has to pass than does, so that the page offers to raise the floor in a dialog."""
    before = cases.read_text(encoding="utf-8")
    cases.write_text(before.replace("floor: 2", "floor: 1"), encoding="utf-8")
    try:
        yield
    finally:
        cases.write_text(before, encoding="utf-8")


def is_asked_again(page: "Page") -> None:
    """The page and its dialog have given way to the form, and nothing of the project is to be seen."""
    page.get_by_text("This sign-in has expired").wait_for()
    said = drawn(page)
    assert "Sign in with your provider" in said
    assert "entrega" not in said
    assert page.get_by_role("dialog").count() == 0


def test_people_sign_in_with_a_provider_and_out_again(
    browser: "Browser", installation: Installation, tmp_path: Path
) -> None:
    port, other = free_port(), free_port()
    address = f"http://127.0.0.1:{port}"
    home = tmp_path / "home"
    home.mkdir()
    told = CONFIGURATION.format(address=address, provider=f"http://127.0.0.1:{other}")
    configuration = home / "medir.toml"
    configuration.write_text(told, encoding="utf-8")
    environment = {**installation.environment, "MEDIR_HOME": str(home)}
    with served(environment, tmp_path / "serve.log", port=port):
        with provider(other, address):
            with window(browser, address) as page:
                assert "Nobody is signed in" in drawn(page)
                assert "entrega" not in drawn(page)
                said = sign_in(page, "ana")
                assert "maintainer" in said
                assert "ana@example.org" in said
                page.goto(f"{address}/index?part=reindex")
                drawn(page)
                page.get_by_role("button", name="Reindex", exact=True).wait_for()
                page.get_by_role("button", name="Sign out").click()
                # the provider asks whether its own session is to end too, and sends the browser back
                page.get_by_role("button", name="Yes, sign me out").click()
                page.get_by_text("Nobody is signed in").wait_for()
                page.reload()
                assert "Nobody is signed in" in drawn(page)
            with window(browser, address) as page:
                said = sign_in(page, "bia")
                assert "viewer" in said
                page.goto(f"{address}/index?part=reindex")
                drawn(page)
                assert page.get_by_role("button", name="Reindex", exact=True).count() == 0
            with window(browser, address) as page, lower_floor(installation.cases):
                sign_in(page, "ana")
                page.goto(f"{address}/golden-set")
                page.get_by_role("button", name="Raise the floor to 2").click()
                page.get_by_role("dialog").get_by_label("Why does it rise?").fill("Two pass.")
                configuration.write_text(told + FOR_A_MINUTE, encoding="utf-8")
                page.get_by_role("button", name="Raise it").click()
                is_asked_again(page)
                page.reload()
                is_asked_again(page)
                configuration.write_text(told, encoding="utf-8")
                sign_in(page, "ana")
                configuration.write_text(told + FOR_A_MINUTE, encoding="utf-8")
                page.get_by_role("link", name="Index").click()
                is_asked_again(page)
                configuration.write_text(told, encoding="utf-8")
                assert "floor: 1" in installation.cases.read_text(encoding="utf-8")
            with window(browser, address) as page:
                said = sign_in(page, "eva")
                assert "eva@example.org has no role in this installation." in said
                assert "entrega" not in said
        with window(browser, address) as page:
            page.get_by_role("button", name="Sign in with your provider").click()
            page.get_by_text("The provider that people sign in with does not answer").wait_for()
            page.goto(address)
            assert "Nobody is signed in" in drawn(page)
