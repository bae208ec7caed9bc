"""Reading what a search cites: texts by chunk, a citation's surroundings, the words that matched.

Reads only; nothing here is a search, and no telemetry is written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_core.database.connections import Database
from rag_core.database.index.chunks import indexed_places, read_contents
from rag_core.database.index.identity import read_languages
from rag_core.database.index.source_chunks import (
    SourceChunk,
    languages_of_texts,
    locate_chunk,
    matching_words,
    read_source_chunks,
)
from rag_core.database.search.lexical_query import build_lexical_query
from rag_core.database.search.positions import place_of_chunk
from rag_core.errors import UsageError
from rag_core.golden.document import shown
from rag_core.golden.names import Names
from rag_core.model import LexicalWay, Place
from rag_core.model.chunks import hash_of
from rag_core.model.place_names import PlaceNames
from rag_core.search.excerpts import words_of

NEIGHBOURS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """A stretch of a source around one chunk. `number` is that chunk's, `total` how many the source has."""

    place: Place
    chunks: tuple[SourceChunk, ...]
    number: int
    total: int


def read_texts(database: Database, project_id: str, chunk_ids: Sequence[str]) -> Mapping[str, str]:
    """The texts of some chunks by id; a chunk that a reindex has removed is left out."""
    with database.connection() as connection:
        return read_contents(connection, project_id, chunk_ids)


def require_indexed(database: Database, project_id: str, target: str) -> None:
    """Refuse a place or a chunk id that the index does not hold; an index that holds nothing refuses none.

    Raises:
        UsageError: It is not there; the message names the place that it is most like, if any.
    """
    with database.connection() as connection:
        places = indexed_places(connection, project_id)
        place = PlaceNames(places).meant(Place.parse(target))
        known = not places or place in places or place_of_chunk(connection, project_id, target)
    if not known:
        meant = Names(places, None).suggest(place)
        raise UsageError(
            f"{shown(target)} is not in the index{meant}",
            hint="Give a file's path, session:ID or a chunk's id, as the answers of a search name them.",
        )


def read_surroundings(
    database: Database, project_id: str, chunk_id: str, *, neighbours: int = NEIGHBOURS
) -> Surroundings:
    """The chunk where it stands now, with as many neighbours before and after it as there are, up to `neighbours` each.

    Raises:
        UsageError: The chunk is no longer in the index.
    """
    with database.snapshot() as connection:
        located = locate_chunk(connection, project_id, chunk_id)
        if located is None:
            raise UsageError(
                "This chunk is no longer in the index: a reindex has replaced it.",
                hint="Search again for what stands there now.",
            )
        place, number = located
        chunks, total = read_source_chunks(
            connection, project_id, place, first=number - neighbours, last=number + neighbours
        )
    return Surroundings(place=place, chunks=chunks, number=number, total=total)


def read_matched_words(
    database: Database, project_id: str, question: str, texts: Sequence[str]
) -> tuple[frozenset[str], ...]:
    """Of each text the words that the lexical signal counts as the question's.

    Stems and accents are compared by the database, in the language of the text's chunk; of a text that no chunk holds
    any more, in all languages of the index.
    """
    with database.snapshot() as connection:
        query = build_lexical_query(connection, question, LexicalWay(), project_id=project_id)
        if query is None:
            return tuple(frozenset() for _ in texts)
        known = languages_of_texts(connection, project_id, [hash_of(text) for text in texts])
        every = read_languages(connection, project_id)
        each = [((known[own],) if (own := hash_of(text)) in known else every) for text in texts]
        spoken = {language for languages in each for language in languages}
        words = {
            language: words_of(
                text for text, languages in zip(texts, each, strict=True) if language in languages
            )
            for language in sorted(spoken)
        }
        found = matching_words(connection, words, query)
    return tuple(
        frozenset(words_of([text])) & frozenset().union(*(found[language] for language in languages))
        for text, languages in zip(texts, each, strict=True)
    )
