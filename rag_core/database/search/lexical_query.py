"""From a question to its lexical query, in one snapshot: its words, their spellings in the index, its terms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_core.database.connecting import Connection
from rag_core.database.index.identity import read_languages
from rag_core.lexical.stop_words import stop_words_of
from rag_core.lexical.terms import ParserToken, asked_terms, keys_of, left_out, resolved_terms
from rag_core.lexical.tsquery import LexicalQuery, all_terms, any_of
from rag_core.model import LexicalOperator, LexicalWay
from rag_core.model.languages import DEFAULT_LANGUAGE

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

    PostgreSQL takes the question apart in each language that the index has chunks of; the text itself never
    becomes part of a query, and each lexeme is quoted as a tsquery literal.

    Args:
        connection: An open snapshot, the same that is searched.
        question: Clean text.
        way: Whether a chunk must hold any or all of the terms, and how it is scored.
        project_id: Whose languages and spellings the terms have. None: each word only as it was typed.
    """
    languages = (DEFAULT_LANGUAGE,) if project_id is None else read_languages(connection, project_id)
    asked = asked_terms(
        read_tokens(connection, question, languages),
        stop_words=_left_out_in(languages),
        languages=languages,
    )
    if not asked:
        return None
    spellings = (
        {}
        if project_id is None
        else read_spellings(connection, project_id, keys_of(asked), of_titles=way.function.knows_rarity)
    )
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


def words_left_out(connection: Connection, project_id: str, question: str) -> tuple[str, ...]:
    """The question's words that no chunk is looked for, as they were typed, each once."""
    languages = read_languages(connection, project_id)
    tokens = read_tokens(connection, question, languages)
    return left_out(tokens, stop_words=_left_out_in(languages))


def read_tokens(
    connection: Connection, question: str, languages: Sequence[str] = (DEFAULT_LANGUAGE,)
) -> list[ParserToken]:
    """The question as PostgreSQL takes it apart, in its order; each word's lexemes are those of all the languages.

    A word that any of them leaves out is left out. A word that is too long to be in an index is as a stop word: a
    tsquery can't hold it.
    """
    # a row is a token, which all languages cut alike; `lexemes` has an entry a language: null where it has no use
    # for the token (a space, a sign), empty where the token is a stop word
    rows = connection.execute(
        """
        select token.alias, token.token, jsonb_agg(to_jsonb(token.lexemes) order by language.number)
        from unnest(%s::text[]) with ordinality language (name, number),
            ts_debug(language.name::regconfig, medir_plain(%s::text)) with ordinality
                token (alias, description, token, dictionaries, dictionary, lexemes, number)
        group by token.number, token.alias, token.token
        order by token.number
        """,
        (list(languages), question),
    ).fetchall()
    return [
        ParserToken(
            alias=alias,
            text=text,
            lexemes=_together([_storable(lexemes) for lexemes in each if lexemes is not None]),
        )
        for alias, text, each in rows
    ]


def _left_out_in(languages: Sequence[str]) -> frozenset[str]:
    return frozenset().union(*map(stop_words_of, languages))


def _together(each: Sequence[Sequence[str]]) -> tuple[str, ...] | None:
    if not each:
        return None
    return tuple(sorted(set().union(*each))) if all(each) else ()


def _storable(lexemes: Sequence[str]) -> list[str]:
    return [lexeme for lexeme in lexemes if len(lexeme.encode()) < _TOO_LONG_BYTES]


def read_spellings(
    connection: Connection, project_id: str, keys: Sequence[str], *, of_titles: bool
) -> Mapping[str, tuple[Spelling, ...]]:
    """The lexemes that the project's chunks hold under each of the keys, in their titles alone too if asked for."""
    # a row is a spelling, by the primary key
    rows = connection.execute(
        """
        select key, lexeme, chunks from spellings
        where project_id = %s and key = any(%s::text[]) and (%s or chunks > 0)
        order by key collate "C", lexeme collate "C"
        """,
        (project_id, list(keys), of_titles),
    ).fetchall()
    found: dict[str, tuple[Spelling, ...]] = {}
    for key, lexeme, chunks in rows:
        found[key] = (*found.get(key, ()), Spelling(lexeme=lexeme, chunks=chunks))
    return found
