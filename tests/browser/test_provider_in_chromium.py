"""Signing in with a certified provider: roles by address and by claim, whom nobody knows, one that is away."""

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


def test_people_sign_in_with_a_provider_and_out_again(
    browser: "Browser", installation: Installation, tmp_path: Path
) -> None:
    port, other = free_port(), free_port()
    address = f"http://127.0.0.1:{port}"
    home = tmp_path / "home"
    home.mkdir()
    told = CONFIGURATION.format(address=address, provider=f"http://127.0.0.1:{other}")
    (home / "medir.toml").write_text(told, encoding="utf-8")
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
            with window(browser, address) as page:
                said = sign_in(page, "eva")
                assert "eva@example.org has no role in this installation." in said
                assert "entrega" not in said
        with window(browser, address) as page:
            page.get_by_role("button", name="Sign in with your provider").click()
            page.get_by_text("The provider that people sign in with does not answer").wait_for()
            page.goto(address)
            assert "Nobody is signed in" in drawn(page)
