"""Votes on the page Search: one a person and hit, whatever is clicked, and what is shown is what is stored."""

from collections.abc import Iterator

import psycopg
import pytest
from streamlit.testing.v1 import AppTest

from medir.page_kit.services import visitor
from workbench_material import Installation, ask_on_page, open_page, said, texts

QUESTION = "Por quantos dias a fila guarda eventos?"


@pytest.fixture
def connection(own_installation: Installation) -> Iterator[psycopg.Connection]:
    with psycopg.connect(own_installation.environment["DATABASE_URL"], autocommit=True) as opened:
        yield opened


def votes(connection: psycopg.Connection) -> list[tuple[str, int, str, str]]:
    return connection.execute(
        "select verdict::text, rank, actor_kind::text, actor_id from rag_feedback order by rank, verdict"
    ).fetchall()


def first_chunk(connection: psycopg.Connection) -> str:
    row = connection.execute("select hits -> 0 ->> 'chunkId' from rag_searches").fetchone()
    assert row is not None
    return str(row[0])


def marked(page: AppTest, chunk: str) -> list[str]:
    """The verdicts whose button is marked as the one that stands."""
    return [
        verdict
        for verdict in ("util", "irrelevante")
        if page.button(key=f"vote-{verdict}-{chunk}").label.endswith(", your vote")
    ]


def test_two_clicks_are_one_vote_and_the_other_button_changes_it(connection: psycopg.Connection):
    page = ask_on_page(QUESTION)
    chunk, me = first_chunk(connection), visitor().id
    assert marked(page, chunk) == []
    page.button(key=f"vote-util-{chunk}").click().run()
    page.button(key=f"vote-util-{chunk}").click().run()
    assert votes(connection) == [("util", 1, "human", me)]
    assert marked(page, chunk) == ["util"]
    page.button(key=f"vote-irrelevante-{chunk}").click().run()
    assert votes(connection) == [("irrelevante", 1, "human", me)]
    assert marked(page, chunk) == ["irrelevante"]


def test_what_is_marked_is_read_from_the_database(
    own_installation: Installation, connection: psycopg.Connection
):
    page = ask_on_page(QUESTION)
    chunk = first_chunk(connection)
    page.button(key=f"vote-util-{chunk}").click().run()
    # as if another window of the same person had changed it
    connection.execute("update rag_feedback set verdict = 'irrelevante'")
    page.run()
    assert marked(page, chunk) == ["irrelevante"]
    connection.execute("update rag_feedback set actor_id = 'another-person'")
    page.run()
    assert marked(page, chunk) == []


def test_a_vote_on_a_chunk_that_is_gone_is_refused_in_words(connection: psycopg.Connection):
    page = ask_on_page(QUESTION)
    chunk = first_chunk(connection)
    connection.execute("delete from chunks where id = %s::uuid", (chunk,))
    page.button(key=f"vote-util-{chunk}").click().run()
    assert "a reindex has removed it since the search" in texts(page)
    assert votes(connection) == []
    assert not page.exception
    page.run()
    assert "a reindex has removed it since the search" not in texts(page)


def test_only_hits_that_the_search_itself_showed_can_be_judged(connection: psycopg.Connection):
    page = ask_on_page(QUESTION, threshold="0")
    row = connection.execute("select hit_count from rag_searches").fetchone()
    assert row is not None
    offered = [button for button in page.button if str(button.key).startswith("vote-util-")]
    assert len(offered) == row[0]
    # without a threshold the page shows five
    assert said(page).count("the search itself did not show it") == 5 - row[0]


def test_a_search_that_was_not_recorded_offers_no_vote_and_says_why(
    own_installation: Installation, connection: psycopg.Connection
):
    # nothing can be written there any more
    connection.execute("alter table rag_searches rename column surface to lost")
    page = ask_on_page(QUESTION)
    assert page.code
    assert not [button for button in page.button if str(button.key).startswith("vote-")]
    assert "Can't be judged: this search was not recorded." in said(page)
    assert "so its hits can't be judged" in said(page)


def test_a_vote_is_seen_by_the_report_at_once(own_installation: Installation, connection: psycopg.Connection):
    page = open_page("report")
    assert not list(page.metric)
    asking = ask_on_page(QUESTION)
    page.run()
    assert page.metric[1].value == "—"
    asking.button(key=f"vote-util-{first_chunk(connection)}").click().run()
    page.run()
    assert page.metric[1].value == "1.00"
    assert "1.00 of 1 vote; 95 %" in said(page)
