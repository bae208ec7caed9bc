"""A question's postings, read in its snapshot, and the chunks that they score best."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.database.connecting import Connection
from rag_core.errors import Unavailable
from rag_core.lexical.postings import ENTRY, Floats, Integers, Lexicon, TermPostings, score_postings
from rag_core.lexical.tsquery import LexicalQuery
from rag_core.model import ALL_SCOPES, Scope

_Postings = Mapping[tuple[str, bool], list[NDArray[np.void]]]


def posted_scores(
    connection: Connection,
    project_id: str,
    query: LexicalQuery,
    scopes: Sequence[Scope],
    *,
    at_most: int | None = None,
) -> tuple[Integers, Floats]:
    """The numbers of the matching chunks in scope, best first, ties as everywhere, and their scores.

    Raises:
        Unavailable: The project has chunks but no word statistics.
    """
    lexicon = _read_lexicon(connection, project_id)
    if lexicon is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    in_scope, outside = _read_postings(connection, project_id, query, scopes)
    terms = [_of_term(term, (in_scope, outside)) for term in query.terms]
    allowed = None
    if len(scopes) < len(ALL_SCOPES):
        allowed = np.zeros(lexicon.chunks, dtype=bool)
        for entries in (each for found in in_scope.values() for each in found):
            allowed[entries["number"]] = True
    return score_postings(terms, lexicon, query.way, at_most=at_most, allowed=allowed)


def chunk_ids_of(connection: Connection, project_id: str, numbers: Integers) -> list[str]:
    """The ids of some chunks by their numbers, in the order given."""
    rows = connection.execute(
        """
        select encode(substring(chunk_ids from wanted.number * 16 + 1 for 16), 'hex')::uuid::text
        from lexicons, unnest(%(numbers)s::integer[]) with ordinality wanted (number, position)
        where project_id = %(project)s
        order by wanted.position
        """,
        {"project": project_id, "numbers": numbers.tolist()},
    ).fetchall()
    return [chunk_id for (chunk_id,) in rows]


def _read_lexicon(connection: Connection, project_id: str) -> Lexicon | None:
    row = connection.execute(
        "select chunks, text_length from lexicons where project_id = %s", (project_id,)
    ).fetchone()
    if row is not None:
        return Lexicon(chunks=row[0], text_length=row[1])
    unread = connection.execute(
        "select exists (select from chunks where project_id = %s)", (project_id,)
    ).fetchone()
    if unread == (True,):
        raise Unavailable("This index has no word statistics yet.", hint="Run: medir index")
    return None


def _read_postings(
    connection: Connection, project_id: str, query: LexicalQuery, scopes: Sequence[Scope]
) -> tuple[_Postings, _Postings]:
    """Entries by lexeme and whether of titles: those of the scopes, and those of the others."""
    # a row is a lexeme of one scope in texts or titles, by the primary key
    rows = connection.execute(
        """
        select lexeme, in_title, scope::text, entries from postings
        where project_id = %s and lexeme = any(%s::text[])
        """,
        (project_id, sorted({lexeme for term in query.terms for lexeme in term})),
        binary=True,
    ).fetchall()
    found: tuple[
        dict[tuple[str, bool], list[NDArray[np.void]]], dict[tuple[str, bool], list[NDArray[np.void]]]
    ]
    found = ({}, {})
    for lexeme, in_title, scope, entries in rows:
        part = found[0] if Scope(scope) in scopes else found[1]
        part.setdefault((lexeme, in_title), []).append(np.frombuffer(entries, dtype=ENTRY))
    return found


def _of_term(term: Sequence[str], parts: Sequence[_Postings]) -> TermPostings:
    in_text, in_title = (
        [entries for part in parts for lexeme in term for entries in part.get((lexeme, title), ())]
        for title in (False, True)
    )
    return TermPostings(in_text=in_text, in_title=in_title)
