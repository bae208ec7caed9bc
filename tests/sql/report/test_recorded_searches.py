"""From a number of the report to the searches behind it, and from a search to its hits and votes."""

import dataclasses
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import rows
from psycopg.types.json import Jsonb

from material import ANA, make_project, services
from rag_core.clock import SystemClock
from rag_core.database.connecting import Connection
from rag_core.database.connections import Database
from rag_core.errors import UsageError
from rag_core.model import Window
from rag_core.report.searches import SearchFilter, list_searches, read_search
from rag_core.search.votes import cast_vote

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


def test_no_page_is_longer_than_two_hundred_searches(database: Database, connection: Connection) -> None:
    rows.project(connection, "p")
    for _ in range(201):
        rows.search(connection, "p")
    assert len(ids(database, SearchFilter(), count=10_000)) == 200


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


def test_votes_on_a_rank_or_better_lead_to_their_searches(database: Database, connection: Connection) -> None:
    rows.project(connection, "p")
    chunk_id = rows.chunk(connection, "p")
    third, first = (
        rows.search(connection, "p", hit_count=1, created_at=NOON + timedelta(hours=hour))
        for hour in range(2)
    )
    rows.vote(connection, "p", third, chunk_id, rank=3)
    rows.vote(connection, "p", first, chunk_id, rank=1, verdict="irrelevante")
    assert ids(database, SearchFilter(rank_at_most=3)) == [first, third]
    assert ids(database, SearchFilter(rank_at_most=2)) == [first]
    assert ids(database, SearchFilter(rank_at_most=3, verdict="util")) == [third]


def test_a_latency_leads_to_the_searches_that_took_so_long_or_longer(
    database: Database, connection: Connection
) -> None:
    rows.project(connection, "p")
    for hour, (total, vector) in enumerate([(10.0, 1.0), (20.0, 5.0), (30.0, 2.0)]):
        rows.search(
            connection, "p", latency_ms=total, vector_ms=vector, created_at=NOON + timedelta(hours=hour)
        )
    # however long it took, a degraded search is in no percentile
    rows.search(connection, "p", latency_ms=99.0, vector_ms=99.0, degraded=True)

    def took(**chosen: object) -> list[float]:
        found = list_searches(database, "p", DAY, SearchFilter(**chosen))  # type: ignore[arg-type]
        return [line.latency_ms for line in found]

    assert took(took_ms=20.0) == [30.0, 20.0]
    assert took(took_ms=20.1) == [30.0]
    assert took(step="vector", took_ms=2.0) == [30.0, 20.0]
    assert took(step="rank", took_ms=1_000.0) == []


def test_synthetic_rows_are_left_out_and_a_long_question_is_cut(
    database: Database, connection: Connection
) -> None:
    rows.project(connection, "p")
    made = rows.search(connection, "p", synthetic=True, question="a" * 2000)
    assert ids(database, SearchFilter()) == []
    (line,) = list_searches(database, "p", dataclasses.replace(DAY, synthetic=True), SearchFilter())
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
