"""From a question to its lexical query, in one snapshot: its words, their spellings in the index, its terms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_core.database.connecting import Connection
from rag_core.lexical.terms import ParserToken, asked_terms, keys_of, left_out, resolved_terms
from rag_core.lexical.tsquery import LexicalQuery, all_terms, any_of
from rag_core.model import LexicalOperator, LexicalWay

# PostgreSQL leaves longer words out of a tsvector, and refuses them in a tsquery
_TOO_LONG_BYTES = 2047


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """A lexeme that chunks hold for a word with some key, and about how many chunks do."""

    lexeme: str
    chunks: int


def build_lexical_query(
    connection: Connection, question: str, way: LexicalWay, *, project_id: str | None = None
) -> LexicalQuery | None:
    """The question's terms joined by OR or AND; None when it has no searchable word.

    PostgreSQL takes the question apart with the configuration that made the index; the text itself never
    becomes part of a query, and each lexeme is quoted as a tsquery literal.

    Args:
        connection: An open snapshot, the same that is searched.
        question: Clean text.
        way: Whether a chunk must hold any or all of the terms, and how it is scored.
        project_id: Whose spellings the terms have. None: each word only as it was typed.
    """
    asked = asked_terms(read_tokens(connection, question))
    if not asked:
        return None
    spellings = {} if project_id is None else read_spellings(connection, project_id, keys_of(asked))
    terms = resolved_terms(
        asked,
        {key: [spelling.lexeme for spelling in found] for key, found in spellings.items()},
        with_parts=way.operator is LexicalOperator.ANY,
    )
    held = {spelling.lexeme: spelling.chunks for found in spellings.values() for spelling in found}
    terms = tuple(sorted(terms, key=lambda term: (-sum(held.get(lexeme, 0) for lexeme in term), term)))
    everything = sorted({lexeme for term in terms for lexeme in term})
    return LexicalQuery(
        tsquery=all_terms(sorted(terms)) if way.operator is LexicalOperator.ALL else any_of(everything),
        terms=terms,
        way=way,
        matching=sum(held.values()) if held else None,
    )


def words_left_out(connection: Connection, question: str) -> tuple[str, ...]:
    """The question's words that no chunk is looked for, as they were typed, each once."""
    return left_out(read_tokens(connection, question))


def read_tokens(connection: Connection, question: str) -> list[ParserToken]:
    """The question as the text search configuration of the index takes it apart, in its order.

    A word that is too long to be in an index is as a stop word: a tsquery can't hold it.
    """
    # a row is a token; lexemes is null where no dictionary knows it, and for spaces
    rows = connection.execute(
        "select alias, token, lexemes from ts_debug('portuguese', medir_plain(%s::text))", (question,)
    ).fetchall()
    return [
        ParserToken(
            alias=alias,
            text=text,
            lexemes=None
            if lexemes is None
            else tuple(lexeme for lexeme in lexemes if len(lexeme.encode()) < _TOO_LONG_BYTES),
        )
        for alias, text, lexemes in rows
    ]


def read_spellings(
    connection: Connection, project_id: str, keys: Sequence[str]
) -> Mapping[str, tuple[Spelling, ...]]:
    """The lexemes that the project's chunks hold under each of the keys; keys that none has are left out."""
    # a row is a spelling, by the primary key
    rows = connection.execute(
        """
        select key, lexeme, chunks from spellings
        where project_id = %s and key = any(%s::text[])
        order by key collate "C", lexeme collate "C"
        """,
        (project_id, list(keys)),
    ).fetchall()
    found: dict[str, tuple[Spelling, ...]] = {}
    for key, lexeme, chunks in rows:
        found[key] = (*found.get(key, ()), Spelling(lexeme=lexeme, chunks=chunks))
    return found
