"""Browsing an index: its places, a place's chunks, where a chunk stands, and the searches that showed it."""

from datetime import timedelta
from uuid import UUID, uuid4

import rows
from psycopg.types.json import Jsonb

from rag_core.database.connections import Database
from rag_core.index.reading import list_places, locate, read_chunk_page, searches_with
from rag_core.model import Place, Scope

P = "entrega"


def fill(database: Database) -> list[UUID]:
    """Two chunks of one file, one of a decision, one of a session."""
    with database.connection() as connection:
        rows.project(connection, P)
        rows.session(connection, P, "s1")
        return [
            rows.chunk(
                connection, P, content="abc", metadata=Jsonb({"title": "Guia", "headingPath": ["Guia"]})
            ),
            rows.chunk(connection, P, content="defgh", ordinal=1, metadata=Jsonb({"title": "Guia"})),
            rows.chunk(connection, P, scope="adr", source_path="docs/adr/1.md", content="x"),
            rows.chunk(connection, P, scope="session", source_path=None, session_id="s1", content="oi"),
        ]


def hit(chunk_id: UUID, rank: int) -> dict[str, object]:
    return {"chunkId": str(chunk_id), "rank": rank, "score": 0.5, "vectorScore": None, "lexicalScore": 0.5}


def test_places_are_counted_and_stand_with_files_before_sessions(database: Database) -> None:
    fill(database)
    places, total = list_places(database, P, scope=None, containing="")
    assert [str(entry.place) for entry in places] == ["docs/a.md", "docs/adr/1.md", "session:s1"]
    assert (places[0].chunks, places[0].chars, places[0].without_vector, places[0].title) == (2, 8, 2, "Guia")
    assert total == 3


def test_a_filter_looks_at_names_and_titles_whatever_their_case_and_takes_signs_as_they_are(
    database: Database,
) -> None:
    fill(database)
    assert [str(entry.place) for entry in list_places(database, P, scope=None, containing="GUIA")[0]] == [
        "docs/a.md"
    ]
    assert list_places(database, P, scope=None, containing="%") == ((), 0)
    assert [
        str(entry.place) for entry in list_places(database, P, scope=Scope.ADR, containing="docs")[0]
    ] == ["docs/adr/1.md"]


def test_a_page_holds_a_places_chunks_in_order_with_their_numbers(database: Database) -> None:
    first, second, *_ = fill(database)
    page = read_chunk_page(database, P, Place("file", "docs/a.md"), first=1)
    assert [(chunk.chunk_id, chunk.number, chunk.content) for chunk in page.chunks] == [
        (str(first), 1, "abc"),
        (str(second), 2, "defgh"),
    ]
    assert page.chunks[0].origin.heading_path == ("Guia",)
    assert page.chunks[0].model_id is None
    assert page.total == 2
    assert read_chunk_page(database, P, Place("file", "docs/a.md"), first=3).chunks == ()


def test_a_chunk_is_found_by_its_id_and_nonsense_is_not(database: Database) -> None:
    _, second, _, spoken = fill(database)
    assert locate(database, P, str(second)) == (Place("file", "docs/a.md"), 2)
    assert locate(database, P, str(spoken)) == (Place("session", "s1"), 1)
    assert locate(database, P, str(uuid4())) is None
    assert locate(database, P, "' or 1=1") is None
    assert locate(database, "outro", str(second)) is None


def test_the_searches_that_showed_a_chunk_come_newest_first_with_its_rank_and_votes(
    database: Database,
) -> None:
    first, second, *_ = fill(database)
    with database.connection() as connection:
        older = rows.search(connection, P, question="um?", hits=Jsonb([hit(second, 1), hit(first, 2)]))
        newer = rows.search(
            connection,
            P,
            question="dois?",
            hits=Jsonb([hit(first, 1)]),
            created_at=rows.NOON + timedelta(hours=1),
        )
        rows.search(connection, P, question="três?", hits=Jsonb([hit(second, 1)]))
        rows.vote(connection, P, older, first, rank=2)
        rows.vote(connection, P, older, first, rank=2, actor_id="bia", verdict="irrelevante")
        rows.vote(connection, P, older, second)
    shown = searches_with(database, P, str(first))
    assert [(entry.search_id, entry.question, entry.rank) for entry in shown] == [
        (str(newer), "dois?", 1),
        (str(older), "um?", 2),
    ]
    assert [(entry.useful, entry.irrelevant) for entry in shown] == [(0, 0), (1, 1)]


def test_a_chunk_that_nobody_was_shown_has_no_searches(database: Database) -> None:
    first, *_ = fill(database)
    assert searches_with(database, P, str(first)) == ()
