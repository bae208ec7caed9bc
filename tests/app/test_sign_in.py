"""Signing in to the pages: without tokens nobody is asked; with them the role decides what is offered."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from streamlit.testing.v1 import AppTest

from rag_core.model import Actor
from rag_core.project.access import create_token, revoke_token
from workbench_material import SCRIPTS, Installation, elements, open_page, said, services_of, texts

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
# a page whose fragment or dialog runs after the token has ended, as they do in a page that stands open
PAGE_WITH_PARTS = """
import os

import streamlit as st

from medir.page_kit.parts import dialog, fragment
from medir.page_kit.sign_in import require_sign_in
from medir.page_kit.services import workbench
from rag_core.model import Actor
from rag_core.project.access import revoke_token

@fragment()
def part() -> None:
    st.text("a part")

@dialog("Asks", icon=":material/edit:")
def asks() -> None:
    st.text("a dialog")

require_sign_in()
opened, ended = workbench().services, os.environ.get("TOKEN_ENDS_BEFORE")
if ended:
    revoke_token(
        opened.database, opened.clock, "viewer", actor=Actor(kind="human", id="ana", surface="cli")
    )
asks() if ended == "dialog" else part()
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


@pytest.mark.parametrize("kind", ["fragment", "dialog"])
def test_a_fragment_and_a_dialog_ask_at_each_run_who_is_there(
    own_installation: Installation, tokens: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    page = sign_in(AppTest.from_string(PAGE_WITH_PARTS, default_timeout=60).run(), tokens["viewer"])
    assert texts(page) == "a part"
    monkeypatch.setenv("TOKEN_ENDS_BEFORE", kind)
    page.run()
    assert page.header[0].value == "Sign in"
    assert "a part" not in texts(page)
    assert "a dialog" not in texts(page)


@pytest.mark.parametrize(
    ("path", "kind", "key"),
    [("golden-set", "golden", "stop-golden"), ("calibration", "calibration", "stop-calibration")],
)
def test_a_viewer_stops_runs_of_their_own_and_a_maintainer_stops_anybodys(
    own_installation: Installation, tokens: Mapping[str, str], path: str, kind: str, key: str
) -> None:
    page = sign_in(open_page(path), tokens["viewer"])
    going_on(own_installation, kind, by="maintainer")
    page.run()
    assert any(element.type == "progress" for element in elements(page)), [e.type for e in elements(page)]
    assert key not in keys(page)
    going_on(own_installation, kind, by="viewer")
    page.run().button(key=key).click().run()
    assert asked_to_stop(own_installation) == ["viewer"]
    going_on(own_installation, kind, by="viewer")
    page.button(key="sign-out").click().run()
    sign_in(page, tokens["maintainer"]).button(key=key).click().run()
    assert asked_to_stop(own_installation) == ["viewer", "viewer"]


def going_on(installation: Installation, kind: str, *, by: str) -> None:
    """A run of somebody's goes on in another process; what went on before has ended."""
    with psycopg.connect(installation.environment["DATABASE_URL"]) as connection:
        connection.execute("update runs set state = 'done', finished_at = now() where state = 'running'")
        connection.execute(
            """
            insert into runs (project_id, id, kind, state, parameters, progress, actor_kind, actor_id, surface,
                started_at, heartbeat_at)
            values ('entrega', gen_random_uuid(), %s, 'running', '{}', '{}', 'human', %s, 'app', now(),
                now() + interval '5 min')
            """,
            (kind, by),
        )


def asked_to_stop(installation: Installation) -> list[str]:
    with psycopg.connect(installation.environment["DATABASE_URL"]) as connection:
        found = connection.execute(
            "select actor_id from runs where cancel_requested order by started_at, id"
        ).fetchall()
    return [name for (name,) in found]


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
            (
                {"is_logged_in": True, "email": "ana@example.org", "iat": 1_700_000_000},
                "This sign-in has expired",
            ),
            ({}, "Nobody is signed in"),
        ):
            page = page_of(user)
            assert page.header[0].value == "Sign in"
            assert told in texts(page)
    finally:
        file.unlink()


def test_who_is_taken_out_of_the_file_is_out_at_the_next_click(own_installation: Installation) -> None:
    home = Path(own_installation.environment["MEDIR_HOME"])
    home.mkdir(exist_ok=True)
    file = home / "medir.toml"
    file.write_text(PEOPLE, encoding="utf-8")
    try:
        begun = int((datetime.now(UTC) - timedelta(minutes=5)).timestamp())
        page = page_of({"is_logged_in": True, "email": "ana@example.org", "iat": begun})
        assert "maintainer" in said(page)
        file.write_text(PEOPLE.replace("maintainer", "viewer"), encoding="utf-8")
        assert "maintainer" not in said(page.run())
        file.write_text(f'{PEOPLE}lasts = "1m"\n', encoding="utf-8")
        assert "This sign-in has expired" in texts(page.run())
        file.write_text(PEOPLE.replace("Ana@example.org", "ivo@example.org"), encoding="utf-8")
        assert "ana@example.org has no role" in texts(page.run())
        # with nobody left in it and no provider, it opens the workbench to nobody either
        file.write_text("", encoding="utf-8")
        assert "ana@example.org has no role" in texts(page.run())
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
