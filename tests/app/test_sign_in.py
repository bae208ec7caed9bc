"""Signing in to the pages: without tokens nobody is asked; with them the role decides what is offered."""

from collections.abc import Mapping
from pathlib import Path

import psycopg
import pytest
from streamlit.testing.v1 import AppTest

from rag_core.model import Actor
from rag_core.tokens import create_token, revoke_token
from workbench_material import SCRIPTS, Installation, open_page, said, services_of, texts

OPERATOR = Actor(kind="human", id="ana", surface="cli")
PEOPLE = """
[sign_in]
"Ana@example.org" = "maintainer"
"bia@example.org" = "viewer"

[oidc]
redirect_uri = "http://localhost:8501/oauth2callback"
cookie_secret = "a-secret-of-the-tests"
client_id = "medir"
client_secret = "another-secret-of-the-tests"
server_metadata_url = "http://127.0.0.1:9/.well-known/openid-configuration"
"""
MAINTAINERS = ("reindex", "dry-run", "raise-floor")


@pytest.fixture
def tokens(own_installation: Installation) -> Mapping[str, str]:
    """A token of each role by the role, which is its name too."""
    with services_of(own_installation.environment) as opened:
        return {
            role: create_token(opened.database, opened.clock, name=role, role=role, actor=OPERATOR).text
            for role in ("viewer", "maintainer", "engine")
        }


def sign_in(page: AppTest, token: str) -> AppTest:
    page.text_input(key="sign-in-token").set_value(token)
    return page.button(key="sign-in").click().run()


def keys(page: AppTest) -> set[str | None]:
    return {button.key for button in page.button}


def actors(installation: Installation) -> list[tuple[str, str, str]]:
    with psycopg.connect(installation.environment["DATABASE_URL"]) as connection:
        found = connection.execute(
            "select actor_kind::text, actor_id, surface::text from rag_searches where surface = 'app'"
        ).fetchall()
    return [(kind, name, surface) for kind, name, surface in found]


def test_without_tokens_nobody_is_asked_and_everything_is_offered(installation: Installation) -> None:
    page = open_page("index", part="reindex")
    assert "local" in said(page)
    assert {"reindex", "dry-run"} <= keys(page)


@pytest.mark.parametrize("path", ["report", "search", "golden-set", "index"])
def test_with_tokens_every_page_asks_first_and_shows_nothing(
    own_installation: Installation, tokens: Mapping[str, str], path: str
) -> None:
    page = open_page(path, q="Quando o frete é calculado?")
    assert page.header[0].value == "Sign in"
    assert len(page.header) == 1
    assert not page.exception
    assert not page.code
    assert "entrega" not in texts(page)
    assert (
        page.text_input(key="sign-in-token").proto.type == page.text_input(key="sign-in-token").proto.PASSWORD
    )
    assert actors(own_installation) == []


def test_a_viewer_may_ask_and_vote_and_is_offered_nothing_of_a_maintainer(
    own_installation: Installation, tokens: Mapping[str, str]
) -> None:
    page = sign_in(open_page("search", q="Quando o frete é calculado?"), tokens["viewer"])
    assert not page.exception
    assert "viewer" in said(page)
    assert tokens["viewer"] not in repr(page.session_state)
    assert actors(own_installation) == []
    page.button(key="ask-now").click().run()
    assert actors(own_installation) == [("human", "viewer", "app")]
    for path in ("index", "golden-set"):
        page.switch_page(SCRIPTS[path]).run()
        page.query_params["part"] = "reindex"
        page.run()
        assert not page.exception
        assert not keys(page) & set(MAINTAINERS), path


def test_a_maintainer_is_offered_it(own_installation: Installation, tokens: Mapping[str, str]) -> None:
    page = sign_in(open_page("index", part="reindex"), tokens["maintainer"])
    assert "maintainer" in said(page)
    assert {"reindex", "dry-run"} <= keys(page)


@pytest.mark.parametrize("given", ["", "medir_000000000000_x", "{viewer}x"])
def test_what_is_no_token_is_said_and_leaves_the_field(
    own_installation: Installation, tokens: Mapping[str, str], given: str
) -> None:
    page = sign_in(open_page("search"), given.replace("{viewer}", tokens["viewer"]))
    assert page.header[0].value == "Sign in"
    assert "This token is not valid" in texts(page)
    assert page.text_input(key="sign-in-token").value == ""


def test_an_engines_token_opens_no_page(own_installation: Installation, tokens: Mapping[str, str]) -> None:
    page = sign_in(open_page("search"), tokens["engine"])
    assert page.header[0].value == "Sign in"
    assert "The role engine may not do this" in texts(page)


def test_signing_out_ends_it(own_installation: Installation, tokens: Mapping[str, str]) -> None:
    page = sign_in(open_page("search"), tokens["viewer"])
    page.button(key="sign-out").click().run()
    assert page.header[0].value == "Sign in"
    assert page.text_input(key="sign-in-token").value == ""


def test_a_token_that_is_revoked_opens_nothing_more_in_a_page_that_stands_open(
    own_installation: Installation, tokens: Mapping[str, str]
) -> None:
    page = sign_in(open_page("index", part="reindex"), tokens["maintainer"])
    with services_of(own_installation.environment) as opened:
        revoke_token(opened.database, opened.clock, "maintainer", actor=OPERATOR)
        runs = count_runs(own_installation)
    page.button(key="reindex").click().run()
    assert page.header[0].value == "Sign in"
    assert "not valid" in texts(page)
    assert count_runs(own_installation) == runs


def test_a_person_signs_in_with_the_provider_under_the_role_of_their_address(
    own_installation: Installation,
) -> None:
    home = Path(own_installation.environment["MEDIR_HOME"])
    home.mkdir(exist_ok=True)
    file = home / "medir.toml"
    file.write_text(PEOPLE, encoding="utf-8")
    try:
        for user, role in (
            ({"is_logged_in": True, "email": "ana@example.org", "email_verified": True}, "maintainer"),
            ({"is_logged_in": True, "email": "BIA@example.org"}, "viewer"),
        ):
            page = page_of(user)
            assert role in said(page)
            assert str(user["email"]).lower() in texts(page)
        for user, told in (
            ({"is_logged_in": True, "email": "eva@example.org"}, "eva@example.org has no role"),
            (
                {"is_logged_in": True, "email": "ana@example.org", "email_verified": False},
                "Nobody is signed in",
            ),
            ({"is_logged_in": False, "email": "ana@example.org"}, "Nobody is signed in"),
            ({}, "Nobody is signed in"),
        ):
            page = page_of(user)
            assert page.header[0].value == "Sign in"
            assert told in texts(page)
    finally:
        file.unlink()


def page_of(user: Mapping[str, object]) -> AppTest:
    """The search page as somebody opens it whom the provider calls so."""
    page = open_page("search")
    page.user = dict(user)
    return page.run()


def count_runs(installation: Installation) -> int:
    with psycopg.connect(installation.environment["DATABASE_URL"]) as connection:
        row = connection.execute("select count(*) from runs").fetchone()
    return int(row[0]) if row else 0
