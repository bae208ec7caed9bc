"""From a number of the report to the searches behind it, and from a search to its hits and votes."""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import rows
from psycopg.types.json import Jsonb

from material import ANA, make_project, services
from rag_core.clock import SystemClock
from rag_core.database.connections import Connection, Database
from rag_core.errors import UsageError
from rag_core.report.searches import SearchFilter, list_searches, read_search
from rag_core.report.window import Window
from rag_core.votes import cast_vote

NOON = rows.NOON
DAY = Window(start=NOON - timedelta(hours=12), end=NOON + timedelta(hours=12))


@pytest.fixture
def connection(database: Database) -> Iterator[Connection]:
    with database.connection() as opened:
        yield opened


def ids(database: Database, chosen: SearchFilter, **options: object) -> list[uuid.UUID]:
    return [line.id for line in list_searches(database, "p", DAY, chosen, **options)]  # type: ignore[arg-type]


def test_pages_go_back_in_time_without_a_gap_or_a_twin(database: Database, connection: Connection) -> None:
    rows.project(connection, "p")
    # three moments, four searches each, so that a page ends among equals
    for number in range(12):
        rows.search(connection, "p", created_at=NOON + timedelta(hours=number % 3))
    seen = []
    after = None
    while page := list_searches(database, "p", DAY, SearchFilter(), after=after, count=5):
        seen += page
        after = page[-1]
    assert len(seen) == len({line.id for line in seen}) == 12
    assert seen == sorted(seen, key=lambda line: (line.asked_at, line.id), reverse=True)


def test_each_split_leads_to_its_own_searches(database: Database, connection: Connection) -> None:
    rows.project(connection, "p")
    rows.insert(
        connection,
        "search_settings",
        {"project_id": "p", "id": "b" * 16, "settings": Jsonb({"embeddingModel": "m"})},
    )
    plain = rows.search(connection, "p")
    other = rows.search(
        connection,
        "p",
        settings_id="b" * 16,
        actor_kind="agent",
        actor_id="bot",
        surface="mcp",
        scopes=["adr"],
        created_at=NOON + timedelta(hours=11),
        degraded=True,
        hit_count=2,
    )
    for chosen in (
        SearchFilter(settings_id="b" * 16),
        SearchFilter(model="m"),
        SearchFilter(actor="agent:bot"),
        SearchFilter(surface="mcp"),
        SearchFilter(degraded=True),
        SearchFilter(no_hit=False),
    ):
        assert ids(database, chosen) == [other]
    assert ids(database, SearchFilter(model="none")) == [plain]
    assert ids(database, SearchFilter(scope="docs")) == [plain]
    assert ids(database, SearchFilter(scope="adr")) == [other, plain]
    assert ids(database, SearchFilter(day="2026-01-02")) == [other, plain]
    assert ids(database, SearchFilter(day="2026-01-03")) == []


def test_a_vote_leads_to_the_search_that_it_is_on(database: Database, connection: Connection) -> None:
    rows.project(connection, "p")
    chunk_id = rows.chunk(connection, "p")
    voted, _ = (rows.search(connection, "p", hit_count=1) for _ in range(2))
    rows.vote(connection, "p", voted, chunk_id, rank=3, verdict="irrelevante")
    assert ids(database, SearchFilter(verdict="irrelevante")) == [voted]
    assert ids(database, SearchFilter(rank=3)) == [voted]
    assert ids(database, SearchFilter(verdict="util", rank=3)) == []
    (line,) = list_searches(database, "p", DAY, SearchFilter(rank=3))
    assert (line.votes, line.useful) == (1, 0)


def test_synthetic_rows_are_left_out_and_a_long_question_is_cut(
    database: Database, connection: Connection
) -> None:
    rows.project(connection, "p")
    made = rows.search(connection, "p", synthetic=True, question="a" * 2000)
    assert ids(database, SearchFilter()) == []
    (line,) = list_searches(database, "p", DAY, SearchFilter(), synthetic=True)
    assert (line.id, len(line.question)) == (made, 300)


def test_a_search_has_its_hits_and_votes_and_says_which_chunk_is_gone(
    database: Database, tmp_path: Path
) -> None:
    made = services(database)
    made.indexing.run(make_project(database, tmp_path / "repository"), actor=ANA)
    answer = made.search.ask("entrega", "Quando o frete é calculado?", actor=ANA)
    first, second = answer.ranking.hits[:2]
    cast_vote(
        database,
        SystemClock(),
        "entrega",
        search_id=str(answer.search_id),
        chunk_id=first.candidate.chunk_id,
        verdict="util",
        actor=ANA,
    )
    with database.connection() as opened:
        opened.execute("delete from chunks where id = %s", (second.candidate.chunk_id,))
    found = read_search(database, "entrega", uuid.UUID(str(answer.search_id)))
    assert (found.question, found.settings) == (answer.question, answer.settings.to_json())
    assert [hit.chunk_id for hit in found.hits] == [hit.candidate.chunk_id for hit in answer.ranking.hits]
    assert found.hits[0].origin == first.candidate.origin
    assert found.hits[1].origin is None
    assert [(vote.chunk_id, vote.verdict) for vote in found.votes] == [(first.candidate.chunk_id, "util")]


def test_a_search_that_does_not_exist_is_refused(database: Database, connection: Connection) -> None:
    rows.project(connection, "p")
    with pytest.raises(UsageError, match="no search"):
        read_search(database, "p", uuid.uuid4())
