"""Texts as an index of one chunk a place, and what a question finds in them by its words."""

import dataclasses
import uuid
from collections.abc import Mapping

import rows

from rag_core.database.connecting import Connection
from rag_core.database.index.chunks import ChunkRow, insert_chunks
from rag_core.database.index.postings import write_postings
from rag_core.database.index.spellings import write_spellings
from rag_core.database.search.candidates import lexical_candidates
from rag_core.database.search.lexical_query import build_lexical_query
from rag_core.lexical.tsquery import LexicalQuery
from rag_core.model import (
    CandidateSettings,
    Chunk,
    LexicalFunction,
    LexicalWay,
    Origin,
    Place,
    Scope,
)

EVERYTHING = CandidateSettings(fetch_depth=50)
COVERAGE = dataclasses.replace(EVERYTHING, lexical=LexicalWay(function=LexicalFunction.COVERAGE))


def fill(connection: Connection, texts: Mapping[str, str], project_id: str = "p") -> None:
    """One chunk a place, with the spellings that an index run writes."""
    rows.project(connection, project_id)
    insert_chunks(
        connection,
        project_id,
        [
            ChunkRow(
                id=uuid.uuid4(),
                chunk=Chunk(
                    scope=Scope.DOCS, origin=Origin(place=Place("file", place)), ordinal=0, content=content
                ),
                embedding=None,
                embedding_model=None,
            )
            for place, content in texts.items()
        ],
    )
    write_spellings(connection, project_id)
    write_postings(connection, project_id)


def query_of(
    connection: Connection, question: str, way: LexicalWay = EVERYTHING.lexical, project_id: str = "p"
) -> LexicalQuery:
    query = build_lexical_query(connection, question, way, project_id=project_id)
    assert query is not None
    return query


def ask(
    connection: Connection,
    question: str,
    settings: CandidateSettings = EVERYTHING,
    project_id: str = "p",
) -> dict[str, float]:
    """The scores by place, best first."""
    query = query_of(connection, question, settings.lexical, project_id)
    found = lexical_candidates(connection, project_id, query, settings)
    return {str(row.origin.place): row.score for row in found}
