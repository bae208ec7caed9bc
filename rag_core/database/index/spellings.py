"""The spellings of a project's words, so that a question finds each of them.

They stand beside the index: `search_vector` and its meaning are as they were, and a project without spellings is
searched for exactly the words that were typed. What a chunk adds to them is its own alone, so that few changed chunks
are counted for themselves; a release that makes other keys or words has to delete what stands.
"""

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from rag_core.database.connecting import Connection
from rag_core.lexical.spellings import key_of_identifier, key_of_letters, keys_of_word

Spelled = Counter[tuple[str, str]]
"""How many chunks hold a word in their texts, by the key of its spelling and its lexeme."""

# longer ones are keys, hashes and base64, which nobody types; an index row has a limit of its own
_LONGEST_WORD = 100


def write_spellings(connection: Connection, project_id: str) -> None:
    """Make a project's spellings anew from its chunks; reads all of them."""
    _write(connection, project_id, count_spellings(connection, project_id), _standing(connection, project_id))


def change_spellings(connection: Connection, project_id: str, *, gone: Spelled, new: Spelled) -> None:
    """Bring a project's spellings in step with its chunks; reads the titles of all, and no text.

    Args:
        connection: The transaction that changed the chunks.
        project_id: The project, whose spellings were those of its chunks before.
        gone: Of the chunks that were removed, or are of another language now, as they were.
        new: Of those that were added, or are of another language now, as they are.
    """
    standing = _standing(connection, project_id)
    counted = Counter(standing)
    counted.update(new)
    counted.subtract(gone)
    _write(connection, project_id, +counted, standing)


def count_spellings(connection: Connection, project_id: str, ids: Sequence[UUID] | None = None) -> Spelled:
    """The spellings of the texts of some chunks, or of all."""
    counted = Spelled()
    if ids is not None and not ids:
        return counted
    chosen = None if ids is None else list(ids)
    for word, lexeme, chunks in _words(connection, project_id, chosen):
        for key in keys_of_word(word):
            counted[key, lexeme] += chunks
    for letters, digits, letters_lexeme, number_lexeme, chunks in _identifiers(
        connection, project_id, chosen
    ):
        counted[key_of_letters(letters, digits), letters_lexeme] += chunks
        counted[key_of_identifier(letters, digits), number_lexeme] += chunks
    return counted


def has_spellings(connection: Connection, project_id: str) -> bool:
    """Whether a run has ever written the project's spellings."""
    row = connection.execute(
        "select exists (select from spellings where project_id = %s)", (project_id,)
    ).fetchone()
    return row == (True,)


def _standing(connection: Connection, project_id: str) -> Spelled:
    rows = connection.execute(
        "select key, lexeme, chunks from spellings where project_id = %s", (project_id,)
    ).fetchall()
    return Spelled({(key, lexeme): chunks for key, lexeme, chunks in rows})


def _write(connection: Connection, project_id: str, counted: Spelled, standing: Spelled) -> None:
    # a word of titles alone is held by 0 chunks: only functions that look there ask for it
    wanted = {
        (key, lexeme): 0
        for word, lexeme in _words_of_titles(connection, project_id)
        for key in keys_of_word(word)
    }
    wanted |= counted
    stale = [spelling for spelling, chunks in standing.items() if wanted.get(spelling) != chunks]
    connection.execute(
        """
        delete from spellings using unnest(%(keys)s::text[], %(lexemes)s::text[]) stale (key, lexeme)
        where project_id = %(project)s and spellings.key = stale.key and spellings.lexeme = stale.lexeme
        """,
        {
            "project": project_id,
            "keys": [key for key, _ in stale],
            "lexemes": [lexeme for _, lexeme in stale],
        },
    )
    with (
        connection.cursor() as cursor,
        cursor.copy("copy spellings (project_id, key, lexeme, chunks) from stdin") as copy,
    ):
        for (key, lexeme), chunks in sorted(wanted.items() - standing.items()):
            copy.write_row((project_id, key, lexeme, chunks))


def _words(connection: Connection, project_id: str, ids: list[UUID] | None) -> list[tuple[str, str, int]]:
    """Each word of the texts in lower case, its lexeme, and how many chunks hold it; numbers are left out."""
    # a row is a word of one language; the lexeme at position 1 is that of the whole word where it has parts
    return connection.execute(
        """
        with word as materialized (
            select language, lexeme, count(*)::integer as chunks
            from chunks, unnest(medir_tsvector('simple', content))
            where project_id = %(project)s and (%(ids)s::uuid[] is null or id = any(%(ids)s::uuid[]))
            group by language, lexeme
        )
        select word.lexeme, stem.lexeme, word.chunks
        from word, unnest(medir_tsvector(word.language, word.lexeme)) stem
        where length(word.lexeme) <= %(longest)s and word.lexeme !~ '^[-+0-9.,]+$' and 1 = any(stem.positions)
        """,
        {"project": project_id, "ids": ids, "longest": _LONGEST_WORD},
    ).fetchall()


def _words_of_titles(connection: Connection, project_id: str) -> list[tuple[str, str]]:
    """Each word of the titles in lower case and its lexeme; numbers are left out."""
    # a row is a word of one language, as those of texts are
    return connection.execute(
        """
        with title as materialized (
            select distinct language, medir_title(metadata, source_path) as words
            from chunks where project_id = %(project)s
        ), word as materialized (
            select distinct language, lexeme from title, unnest(medir_tsvector('simple', title.words))
        )
        select word.lexeme, stem.lexeme
        from word, unnest(medir_tsvector(word.language, word.lexeme)) stem
        where length(word.lexeme) <= %(longest)s and word.lexeme !~ '^[-+0-9.,]+$' and 1 = any(stem.positions)
        """,
        {"project": project_id, "longest": _LONGEST_WORD},
    ).fetchall()


def _identifiers(
    connection: Connection, project_id: str, ids: list[UUID] | None
) -> list[tuple[str, str, str, str, int]]:
    """Each identifier of the chunks: letters, digits, the lexeme of each, and how often it is written so.

    RN-058, RN_058, RN#058, RN058 and, in capitals only, RN 058; "dia 10" is no identifier.
    """
    # a row is an identifier in one spelling and language; of rn058 the text search parser makes one lexeme, and -058 of
    # RN-058. Only signs of typography hide an identifier, and to look for them costs less than medir_plain
    return connection.execute(
        """
        select letters, digits,
            case sign when '' then letters || digits else stem.lexeme end,
            case sign when '' then letters || digits when '-' then '-' || digits else digits end,
            written
        from (
            select language, lower(part[1]) as letters, part[2] as sign, part[3] as digits, count(*)::integer as written
            from chunks, regexp_matches(
                case
                    when content ~ U&'[\\00A0-\\00AD\\02D7-\\036F\\058A-\\FFFF\\+0E0000-\\+0E0FFF]'
                    then medir_plain(content)
                    else content
                end,
                '(?<![[:alnum:]])([[:alpha:]]{1,12})([-_# ]?)([0-9]{1,9})(?![[:alnum:]])', 'g'
            ) part
            where project_id = %(project)s and (%(ids)s::uuid[] is null or id = any(%(ids)s::uuid[]))
                and (part[2] <> ' ' or part[1] = upper(part[1]))
            group by 1, 2, 3, 4
        ) identifier, unnest(medir_tsvector(language, letters)) stem
        """,
        {"project": project_id, "ids": ids},
    ).fetchall()
