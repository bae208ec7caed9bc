"""The spellings of a project's words, so that a question finds each of them.

They stand beside the index: `search_vector` and its meaning are as they were, and a project without spellings is
searched for exactly the words that were typed.
"""

from collections import Counter

from rag_core.database.connecting import Connection
from rag_core.lexical.spellings import key_of_identifier, key_of_letters, keys_of_word

# longer ones are keys, hashes and base64, which nobody types; an index row has a limit of its own
_LONGEST_WORD = 100


def write_spellings(connection: Connection, project_id: str) -> None:
    """Bring a project's spellings up to date with its chunks; reads all of them."""
    counted = Counter[tuple[str, str]]()
    for word, lexeme, chunks in _words(connection, project_id):
        for key in keys_of_word(word):
            counted[key, lexeme] += chunks
    for letters, digits, letters_lexeme, number_lexeme, chunks in _identifiers(connection, project_id):
        counted[key_of_letters(letters, digits), letters_lexeme] += chunks
        counted[key_of_identifier(letters, digits), number_lexeme] += chunks
    connection.execute("delete from spellings where project_id = %s", (project_id,))
    with (
        connection.cursor() as cursor,
        cursor.copy("copy spellings (project_id, key, lexeme, chunks) from stdin") as copy,
    ):
        for (key, lexeme), chunks in sorted(counted.items()):
            copy.write_row((project_id, key, lexeme, chunks))


def has_spellings(connection: Connection, project_id: str) -> bool:
    """Whether a run has ever written the project's spellings."""
    row = connection.execute(
        "select exists (select from spellings where project_id = %s)", (project_id,)
    ).fetchone()
    return row == (True,)


def _words(connection: Connection, project_id: str) -> list[tuple[str, str, int]]:
    """Each word of the chunks in lower case, its lexeme, and how many chunks hold it; numbers are left out.

    A word of titles alone is held by 0: only functions that look there ask for it.
    """
    # a row is a word of one language; the lexeme at position 1 is that of the whole word where it has parts
    return connection.execute(
        """
        with of_project as materialized (
            select language, content, medir_title(metadata, source_path) as title
            from chunks where project_id = %(project)s
        )
        select word.lexeme, stem.lexeme, word.chunks
        from (
            select language, lexeme, sum(held)::integer as chunks
            from (
                select language, lexeme, 1 as held
                from of_project, unnest(medir_tsvector('simple', content))
                union all
                select language, lexeme, 0
                from (select distinct language, title from of_project) titles,
                    unnest(medir_tsvector('simple', title))
            ) written
            group by language, lexeme
            having length(lexeme) <= %(longest)s and lexeme !~ '^[-+0-9.,]+$'
        ) word, unnest(medir_tsvector(word.language, word.lexeme)) stem
        where 1 = any(stem.positions)
        """,
        {"project": project_id, "longest": _LONGEST_WORD},
    ).fetchall()


def _identifiers(connection: Connection, project_id: str) -> list[tuple[str, str, str, str, int]]:
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
            where project_id = %(project)s and (part[2] <> ' ' or part[1] = upper(part[1]))
            group by 1, 2, 3, 4
        ) identifier, unnest(medir_tsvector(language, letters)) stem
        """,
        {"project": project_id},
    ).fetchall()
