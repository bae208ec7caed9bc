"""Golden runs that ended well, as the table of runs keeps them."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg import sql
from psycopg.rows import class_row

from rag_core.database.connecting import Connection

_COUNTED = sql.SQL("""
    project_id = %(project)s and kind = 'golden' and state = 'done' and result is not null
    and parameters->>'cases' = %(cases)s and not (result->>'trial')::boolean
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenRecord:
    """One golden run without its cases; what a line of the history needs.

    `settings` and `index` are the contract's objects, `cases_digest` the identity of the cases asked.
    """

    id: UUID
    started_at: datetime
    passed: int
    total: int
    floor: int
    gate_passed: bool
    degraded: bool
    cases_digest: str
    settings: dict[str, object]
    index: dict[str, object]


def read_golden_history(
    connection: Connection, project_id: str, *, cases: str, count: int
) -> list[GoldenRecord]:
    """The last runs over the file `cases`, newest first; trials are no part of a history.

    Empty where the file was never run to its end.
    """
    # a row is a finished run; newest first, by the index on (project_id, kind, started_at desc)
    with connection.cursor(row_factory=class_row(GoldenRecord)) as cursor:
        return cursor.execute(
            sql.SQL("""
            select id, started_at, (result->>'passed')::int as passed, (result->>'total')::int as total,
                (result->>'floor')::int as floor, (result->>'gatePassed')::boolean as gate_passed,
                (result->>'degraded')::boolean as degraded, result->>'casesDigest' as cases_digest,
                result->'settings' as settings, result->'index' as index
            from runs
            where {counted}
            order by started_at desc, id
            limit %(count)s
            """).format(counted=_COUNTED),
            {"project": project_id, "cases": cases, "count": count},
        ).fetchall()


def read_last_pass(
    connection: Connection, project_id: str, *, cases: str, case_id: str
) -> tuple[datetime, dict[str, object]] | None:
    """When the last run over the file `cases` in which a case passed began, and its result; trials are left out."""
    # a row is a finished run with that case among those that passed; the newest one
    row = connection.execute(
        sql.SQL("""
        select started_at, result
        from runs
        where {counted}
          and result->'cases' @> jsonb_build_array(jsonb_build_object('id', %(case)s::text, 'passed', true))
        order by started_at desc, id
        limit 1
        """).format(counted=_COUNTED),
        {"project": project_id, "cases": cases, "case": case_id},
    ).fetchone()
    return None if row is None else (row[0], row[1])
