"""Votes: one a hit and actor, with the hit's rank; what refers to nothing is refused, and nothing is written."""

import re
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
import rows
from psycopg.types.json import Jsonb

import rag_core
from material import ANA, Services, make_project, services
from rag_core.clock import SystemClock
from rag_core.database.connecting import Connection
from rag_core.database.connections import Database
from rag_core.errors import InvalidInput, Refused
from rag_core.model import Actor
from rag_core.model.session_events import INDEXED_EVENT_TYPES
from rag_core.search.answer import Answer
from rag_core.search.votes import Vote, cast_vote, purge_searches, read_votes

BIA = Actor(kind="agent", id="bia", surface="mcp")
CLOCK = SystemClock()


@pytest.fixture
def made(database: Database, tmp_path: Path) -> Services:
    """The project `entrega`, indexed."""
    opened = services(database)
    opened.indexing.run(make_project(database, tmp_path / "repository"), actor=ANA)
    return opened


@pytest.fixture
def answer(made: Services) -> Answer:
    found = made.search.ask("entrega", "Quando o frete é calculado?", actor=ANA)
    assert found.search_id is not None
    assert len(found.ranking.hits) > 1
    return found


@pytest.fixture
def connection(database: Database) -> Iterator[Connection]:
    with database.connection() as opened:
        yield opened


def vote(
    database: Database, search_id: object, chunk_id: object, verdict: str = "util", **changes: object
) -> Vote:
    options = {"project_id": "entrega", "actor": ANA} | changes
    return cast_vote(
        database,
        CLOCK,
        str(options["project_id"]),
        search_id=str(search_id),
        chunk_id=str(chunk_id),
        verdict=verdict,
        actor=options["actor"],  # type: ignore[arg-type]
    )


def chunk_of(answer: Answer, rank: int = 1) -> str:
    return answer.ranking.hits[rank - 1].candidate.chunk_id


def test_a_vote_keeps_the_hits_rank_and_the_searchs_time_and_settings(
    made: Services, answer: Answer, connection: Connection
) -> None:
    cast = vote(made.database, answer.search_id, chunk_of(answer, 2))
    assert cast.to_json() == {
        "searchId": answer.search_id,
        "chunkId": chunk_of(answer, 2),
        "verdict": "util",
        "rank": 2,
        "changed": False,
    }
    kept = connection.execute(
        """
        select f.rank, f.verdict::text, f.actor_kind::text, f.actor_id, f.searched_at = s.created_at,
            f.settings_id = s.settings_id
        from rag_feedback f join rag_searches s on s.id = f.search_id
        """
    ).fetchall()
    assert kept == [(2, "util", "human", "ana", True, True)]


def test_up_twice_then_down_then_read_again_is_one_vote_and_the_last(
    made: Services, answer: Answer, connection: Connection
) -> None:
    chunk_id = chunk_of(answer)
    assert [
        vote(made.database, answer.search_id, chunk_id, verdict).changed
        for verdict in ("util", "util", "irrelevante", "irrelevante")
    ] == [False, False, True, False]
    assert rows.count(connection, "rag_feedback") == 1
    (kept,) = read_votes(made.database, "entrega", [str(answer.search_id)])[str(answer.search_id)]
    assert (kept.chunk_id, kept.rank, kept.verdict, kept.actor) == (chunk_id, 1, "irrelevante", "human:ana")


def test_clicks_at_once_make_one_vote(made: Services, answer: Answer, connection: Connection) -> None:
    with ThreadPoolExecutor(4) as threads:
        casts = list(
            threads.map(
                lambda number: vote(
                    made.database, answer.search_id, chunk_of(answer), ("util", "irrelevante")[number % 2]
                ),
                range(8),
            )
        )
    assert len(casts) == 8
    assert rows.count(connection, "rag_feedback") == 1


def test_two_actors_votes_on_one_hit_are_two(made: Services, answer: Answer, connection: Connection) -> None:
    vote(made.database, answer.search_id, chunk_of(answer))
    cast = vote(made.database, answer.search_id, chunk_of(answer), "irrelevante", actor=BIA)
    assert cast.changed is False
    assert rows.count(connection, "rag_feedback") == 2


def test_the_same_id_of_another_kind_of_actor_is_another_actor(
    made: Services, answer: Answer, connection: Connection
) -> None:
    vote(made.database, answer.search_id, chunk_of(answer))
    vote(
        made.database, answer.search_id, chunk_of(answer), actor=Actor(kind="agent", id="ana", surface="mcp")
    )
    assert rows.count(connection, "rag_feedback") == 2


def refusal(made: Services, search_id: object, chunk_id: object, **changes: object) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        vote(made.database, search_id, chunk_id, **changes)  # type: ignore[arg-type]
    with made.database.connection() as opened:
        assert rows.count(opened, "rag_feedback") == 0
    assert caught.value.hint
    return caught.value


def test_an_unknown_search_is_refused(made: Services, answer: Answer) -> None:
    error = refusal(made, uuid.uuid4(), chunk_of(answer))
    assert error.message.startswith("There is no search ")
    assert error.where == {"field": "searchId"}


def test_another_projects_search_is_refused(made: Services, answer: Answer, connection: Connection) -> None:
    rows.project(connection, "other")
    error = refusal(made, answer.search_id, chunk_of(answer), project_id="other")
    assert error.message == f"The search {answer.search_id} belongs to another project."


@pytest.mark.parametrize(
    "malformed",
    ["", "null", "1", "{d9428888-122b-11e1-b85c-61cd3cbb3210}", "d9428888122b11e1b85c61cd3cbb3210", "\x00"],
)
def test_a_malformed_id_is_refused_and_the_field_named(
    made: Services, answer: Answer, malformed: str
) -> None:
    assert refusal(made, malformed, chunk_of(answer)).where == {"field": "searchId"}
    error = refusal(made, answer.search_id, malformed)
    assert error.where == {"field": "chunkId"}
    assert "malformed" in error.message


def test_a_chunk_that_was_not_among_the_hits_is_refused(
    made: Services, answer: Answer, connection: Connection
) -> None:
    rows_found = connection.execute("select id::text from chunks").fetchall()
    missed = next(
        chunk_id
        for (chunk_id,) in rows_found
        if chunk_id not in {hit.candidate.chunk_id for hit in answer.ranking.hits}
    )
    error = refusal(made, answer.search_id, missed)
    assert error.message == f"The chunk {missed} was not among the hits of the search {answer.search_id}."


def test_a_hit_whose_chunk_a_reindex_removed_is_refused_and_told_why(
    made: Services, answer: Answer, connection: Connection
) -> None:
    connection.execute("delete from chunks where id = %s", (chunk_of(answer),))
    error = refusal(made, answer.search_id, chunk_of(answer))
    assert "a reindex has removed it" in error.message


def test_a_word_that_is_no_verdict_is_refused(made: Services, answer: Answer) -> None:
    error = refusal(made, answer.search_id, chunk_of(answer), verdict="useful")
    assert error.where == {"field": "verdict"}


def test_an_id_in_capitals_is_the_same_id(made: Services, answer: Answer) -> None:
    cast = vote(made.database, str(answer.search_id).upper(), chunk_of(answer).upper())
    assert (cast.search_id, cast.chunk_id) == (answer.search_id, chunk_of(answer))


# --- narration ------------------------------------------------------------------------------------------------


def events(connection: Connection) -> list[tuple[object, ...]]:
    return connection.execute(
        "select type, seq, actor_kind::text || ':' || actor_id, payload from session_events order by seq"
    ).fetchall()


def test_a_search_and_a_vote_are_told_in_their_session(made: Services, connection: Connection) -> None:
    rows.session(connection, "entrega", "s1")
    asked = made.search.ask("entrega", "Quando o frete é calculado?", actor=BIA, session_id="s1")
    vote(made.database, asked.search_id, chunk_of(asked), actor=ANA)
    first, second = events(connection)
    assert first[:3] == ("rag.search", 1, "agent:bia")
    assert first[3] == {
        "searchId": asked.search_id,
        "question": "Quando o frete é calculado?",
        "degraded": False,
        "hits": [
            {
                "rank": hit.rank,
                "chunkId": hit.candidate.chunk_id,
                "citation": hit.candidate.origin.citation,
            }
            for hit in asked.ranking.hits
        ],
    }
    assert second[:3] == ("rag.feedback", 2, "human:ana")
    assert second[3] == {
        "searchId": asked.search_id,
        "chunkId": chunk_of(asked),
        "rank": 1,
        "verdict": "util",
    }


def test_only_a_vote_that_says_something_new_is_told(made: Services, connection: Connection) -> None:
    rows.session(connection, "entrega", "s1")
    asked = made.search.ask("entrega", "Quando o frete é calculado?", actor=ANA, session_id="s1")
    for verdict in ("util", "util", "irrelevante"):
        vote(made.database, asked.search_id, chunk_of(asked), verdict)
    assert [event[0] for event in events(connection)] == ["rag.search", "rag.feedback", "rag.feedback"]


def test_nothing_is_told_without_a_session_or_in_one_that_does_not_exist(
    made: Services, answer: Answer, connection: Connection
) -> None:
    vote(made.database, answer.search_id, chunk_of(answer))
    asked = made.search.ask("entrega", "Quando o frete é calculado?", actor=ANA, session_id="nowhere")
    vote(made.database, asked.search_id, chunk_of(asked))
    assert events(connection) == []
    assert rows.count(connection, "sessions") == 0


def test_a_log_that_can_not_be_written_costs_the_line_and_neither_answer_nor_vote(
    made: Services, connection: Connection, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    rows.session(connection, "entrega", "s1")
    with psycopg.connect(database_url) as holder:
        holder.execute("lock table session_events in access exclusive mode")
        asked = made.search.ask("entrega", "Quando o frete é calculado?", actor=ANA, session_id="s1")
        assert asked.search_id is not None
        assert vote(made.database, asked.search_id, chunk_of(asked)).rank == 1
    assert events(connection) == []
    told = [record.message for record in caplog.records if record.name == "medir.narration"]
    assert len(told) == 2
    assert all("infra" in message for message in told)


def test_the_list_of_event_types_is_that_of_the_code() -> None:
    package = Path(rag_core.__file__).parent
    emitted = {
        match
        for path in (*package.rglob("*.py"), *(package.parent / "medir").rglob("*.py"))
        for match in re.findall(r"""\btype=["']([a-z]+\.[a-z_.]+)["']""", path.read_text(encoding="utf-8"))
    }
    listed = set(
        re.findall(
            r"^\| `([a-z]+\.[a-z_.]+)`",
            (package.parent / "docs" / "events.md").read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    )
    assert {"rag.search", "rag.feedback"} <= emitted
    assert listed == emitted | set(INDEXED_EVENT_TYPES)


# --- purge ----------------------------------------------------------------------------------------------------

NOON = rows.NOON


@pytest.fixture
def recorded(database: Database, connection: Connection) -> Database:
    """Searches of ana and of the agent ana at noon, of bia an hour later; a vote on each; and another project."""
    for project_id in ("p", "q"):
        rows.project(connection, project_id)
        chunk_id = rows.chunk(connection, project_id)
        for actor_kind, actor_id, at in (
            ("human", "ana", NOON),
            ("agent", "ana", NOON),
            ("human", "bia", NOON + timedelta(hours=1)),
        ):
            search_id = rows.search(
                connection,
                project_id,
                actor_kind=actor_kind,
                actor_id=actor_id,
                created_at=at,
                hits=Jsonb([{"chunkId": str(chunk_id), "rank": 1}]),
                hit_count=1,
            )
            rows.vote(connection, project_id, search_id, chunk_id, searched_at=at)
    return database


def left(connection: Connection, project_id: str) -> list[str]:
    found = connection.execute(
        """
        select actor_kind::text || ':' || actor_id from rag_searches where project_id = %s
        order by actor_id, actor_kind
        """,
        (project_id,),
    ).fetchall()
    return [actor for (actor,) in found]


def test_a_purge_without_the_word_counts_and_deletes_nothing(
    recorded: Database, connection: Connection
) -> None:
    with pytest.raises(Refused, match="3 searches and the 3 votes") as caught:
        purge_searches(recorded, "p", confirmed=False)
    assert "--yes" in caught.value.hint
    assert rows.count(connection, "rag_searches") == 6


@pytest.mark.parametrize(
    ("chosen", "remain"),
    [
        ({}, []),
        ({"actor": "ana"}, ["human:bia"]),
        ({"actor": "agent:ana"}, ["human:ana", "human:bia"]),
        ({"actor": "nobody"}, ["human:ana", "agent:ana", "human:bia"]),
        ({"before": NOON}, ["human:ana", "agent:ana", "human:bia"]),
        ({"before": NOON + timedelta(seconds=1)}, ["human:bia"]),
        ({"actor": "ana", "before": NOON}, ["human:ana", "agent:ana", "human:bia"]),
        ({"actor": "human:ana", "before": datetime(2027, 1, 1, tzinfo=UTC)}, ["agent:ana", "human:bia"]),
    ],
)
def test_a_purge_takes_what_it_names_with_its_votes_and_no_other_projects(
    recorded: Database, connection: Connection, chosen: dict[str, object], remain: list[str]
) -> None:
    gone = purge_searches(recorded, "p", confirmed=True, **chosen)  # type: ignore[arg-type]
    assert left(connection, "p") == remain
    assert (gone.searches, gone.votes) == (3 - len(remain), 3 - len(remain))
    assert rows.count(connection, "rag_feedback") == 3 + len(remain)
    assert len(left(connection, "q")) == 3


def test_a_purge_of_nothing_needs_no_word(recorded: Database) -> None:
    gone = purge_searches(recorded, "p", actor="nobody", confirmed=False)
    assert (gone.searches, gone.votes) == (0, 0)
