"""Word statistics of a project's chunks, from which `bm25` and `coverageIdf` are scored without reading a chunk.

A row holds every chunk of a scope that has a lexeme, in its text or in its title. They are as of the index: one
transaction writes both.
"""

from rag_core.database.connecting import Connection

# the aggregate of 50,000 chunks takes twice as long where it has to go to disk
_MEMORY = "64MB"


def write_postings(connection: Connection, project_id: str) -> None:
    """Make a project's postings and lexicon anew from its chunks; reads all of them, and writes what differs."""
    connection.execute("select set_config('work_mem', %s, true)", (_MEMORY,))
    parameters = {"project": project_id}
    connection.execute("delete from lexicons where project_id = %(project)s", parameters)
    connection.execute(
        """
        with titled as materialized (
            select id, scope, search_vector, language, medir_title(metadata, source_path) as title,
                scope = 'session' as last, coalesce(source_path, session_id) as place, ordinal
            from chunks where project_id = %(project)s
        ), numbered as materialized (
            select id, scope, search_vector, medir_tsvector(language, title) as title_vector,
                row_number() over (order by last, place collate "C", ordinal) - 1 as number,
                (select coalesce(sum(cardinality(positions)), 0) from unnest(search_vector)) as length
            from titled
        ), counted as (
            insert into lexicons (project_id, chunks, text_length, chunk_ids)
            select %(project)s, count(*), coalesce(sum(length), 0),
                coalesce(string_agg(uuid_send(id), '' order by number), '')
            from numbered
        ), made as materialized (
            select lexeme, scope, in_title,
                string_agg(
                    int8send((number << 32) | (least(written, 65535)::bigint << 16) | least(length, 65535)::bigint), ''
                ) as entries
            from numbered cross join lateral (
                select lexeme, cardinality(positions) as written, false as in_title from unnest(search_vector)
                union all
                select lexeme, cardinality(positions), true from unnest(title_vector)
            ) held
            group by lexeme, scope, in_title
        ), gone as (
            delete from postings
            where project_id = %(project)s
              and (lexeme, scope, in_title) not in (select lexeme, scope, in_title from made)
        )
        insert into postings (project_id, lexeme, scope, in_title, entries)
        select %(project)s, lexeme, scope, in_title, entries from made
        on conflict (project_id, lexeme, scope, in_title) do update
        set entries = excluded.entries where postings.entries <> excluded.entries
        """,
        parameters,
    )


def counts_all_chunks(connection: Connection, project_id: str) -> bool:
    """Whether the word statistics are there, and of as many chunks as stand."""
    row = connection.execute(
        """
        select exists (
            select from lexicons where project_id = %(project)s
              and chunks = (select count(*) from chunks where project_id = %(project)s)
        )
        """,
        {"project": project_id},
    ).fetchone()
    return row == (True,)
