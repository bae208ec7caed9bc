"""What a server is and lets the role do, learned by reading alone: for `migrate`, which refuses, and `doctor`."""

from dataclasses import dataclass

from psycopg.rows import class_row

from rag_core.database.address import identifier, psql
from rag_core.database.connecting import Connection
from rag_core.errors import DatabaseReadOnly, OperatorNeeded, Unavailable

_MINIMUM_SERVER = 150_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One database as its role sees it.

    `schema` is where unqualified names are made, None where the search path names nothing that is there.
    `unicode_cases` is false where a capital letter's small one is another than Unicode's, as under Turkish rules.
    `connections` is how many the role may hold, None without a limit. `vector_schema` is None without the extension.
    `may_write` is false where the tables are there and the role may not change them; `pooled` tells of a pooler.
    `idle_session_s` is after how many seconds an idle connection is ended, 0 for never.
    """

    version: str
    version_number: int
    database: str
    role: str
    schema: str | None
    may_create: bool
    encoding: str
    accents: bool
    unicode_cases: bool
    locale: str
    standby: bool
    read_only: bool
    connections: int | None
    idle_session_s: int
    vector_version: str | None
    vector_schema: str | None
    vector_usable: bool
    may_write: bool
    pooled: bool


def read_standing(connection: Connection) -> Standing:
    """Everything at once, in one row."""
    with connection.cursor(row_factory=class_row(Standing)) as cursor:
        found = cursor.execute(
            """
            select
                current_setting('server_version') as version,
                current_setting('server_version_num')::int as version_number,
                d.datname::text as database,
                r.rolname::text as role,
                current_schema()::text as schema,
                coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create,
                pg_encoding_to_char(d.encoding)::text as encoding,
                lower('É') = 'é' as accents,
                lower('ABCDEFGHIJKLMNOPQRSTUVWXYZ') = 'abcdefghijklmnopqrstuvwxyz'
                    and to_tsvector('simple', 'INDICE') = to_tsvector('simple', 'indice') as unicode_cases,
                d.datctype::text as locale,
                pg_is_in_recovery() as standby,
                current_setting('transaction_read_only')::bool as read_only,
                nullif(r.rolconnlimit, -1) as connections,
                coalesce((
                    select setting::bigint / 1000 from pg_settings where name = 'idle_session_timeout'
                ), 0)::int as idle_session_s,
                e.extversion as vector_version,
                n.nspname::text as vector_schema,
                coalesce(has_schema_privilege(n.oid, 'usage'), false) as vector_usable,
                coalesce((
                    select has_table_privilege(c.oid, 'insert') and has_table_privilege(c.oid, 'update')
                    from pg_class c where c.oid = to_regclass('rag_searches')
                ), true) as may_write,
                pg_backend_pid() <> %s as pooled
            from pg_database d
                join pg_roles r on r.rolname = current_user
                left join pg_extension e on e.extname = 'vector'
                left join pg_namespace n on n.oid = e.extnamespace
            where d.datname = current_database()
            """,
            (connection.info.backend_pid,),
        ).fetchone()
    assert found is not None  # noqa: S101  a connection has a database and a role
    return found


def require_server(found: Standing) -> None:
    """Refuse a server whose texts or version would make every answer wrong.

    Raises:
        Unavailable: It is one.
    """
    if found.version_number < _MINIMUM_SERVER:
        raise Unavailable(
            f"The server is PostgreSQL {found.version_number // 10_000}; Medir needs 15 or newer.",
            hint="Point DATABASE_URL at a newer server, or leave it out to use the embedded one.",
        )
    if found.encoding != "UTF8":
        raise Unavailable(
            "The database is not in UTF-8.",
            hint="Create one with: create database medir encoding 'UTF8' template template0;",
        )
    problem = locale_problem(found)
    if problem is not None:
        raise Unavailable(
            problem,
            hint="Create one with: create database medir encoding 'UTF8' lc_ctype 'C.UTF-8' template template0;",
        )
    if found.vector_schema is not None and not found.vector_usable:
        grant = f"grant usage on schema {identifier(found.vector_schema)} to {identifier(found.role)}"
        raise OperatorNeeded(
            f"The extension `vector` stands in the schema {found.vector_schema}, which this role may not use.",
            hint=f"Ask the operator to run once: {psql(grant)}",
        )


def locale_problem(found: Standing) -> str | None:
    """What is wrong with the letters' cases, in a sentence; None where nothing is."""
    if not found.accents:
        return "The database's locale does not know accented letters."
    if not found.unicode_cases:
        return (
            f"The database's locale {found.locale} has other small letters than Unicode (I is not the capital of i): "
            "words in capitals would not be found."
        )
    return None


def require_place(found: Standing, pending: str) -> None:
    """Refuse to migrate where nothing can be made.

    Raises:
        OperatorNeeded: The role has no schema to make tables in, or may not; the hint holds the command.
        DatabaseReadOnly: It lets itself be read only.
    """
    if found.read_only or found.standby:
        kind = "a standby" if found.standby else "read-only"
        raise DatabaseReadOnly(
            f"The database is {kind} and lacks {pending}.",
            hint="Run `medir db migrate` with DATABASE_URL at the server that takes writes.",
        )
    role = identifier(found.role)
    if found.schema is None:
        raise OperatorNeeded(
            f"No schema on the search path of the role {found.role} is there for it, so no table can be made.",
            hint=f"Run once: {psql(f'alter role {role} set search_path = public')}",
        )
    if not found.may_create:
        grant = f"grant usage, create on schema {identifier(found.schema)} to {role}"
        raise OperatorNeeded(
            f"The role {found.role} may not make tables in the schema {found.schema}.",
            hint=f"Ask the operator to run once: {psql(grant)} (as the owner of that schema)",
        )
