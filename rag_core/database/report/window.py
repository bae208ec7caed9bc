"""Which rows are of a window: the predicate that every query of the report stands on, in the parts that they need."""

from psycopg import sql

from rag_core.model import Window

DURING = sql.SQL("s.project_id = %(project)s and s.created_at >= %(start)s and s.created_at < %(end)s")
"""Of `rag_searches s`: all that were asked in it."""

ASKED = sql.SQL("{during} and (%(synthetic)s or not s.synthetic)").format(during=DURING)
"""Those that are meant."""

MEASURED = sql.SQL("{asked} and not s.degraded").format(asked=ASKED)
"""Those that latency, precision and ranks are told of."""

NOT_MEASURED = sql.SQL("{during} and (s.degraded or (s.synthetic and not %(synthetic)s))").format(
    during=DURING
)
"""The rest of all."""

VOTED = sql.SQL("f.project_id = %(project)s and f.searched_at >= %(start)s and f.searched_at < %(end)s")
"""Of `rag_feedback f`: all votes on any of all, for a vote goes with its search."""


def parameters_of(project_id: str, window: Window) -> dict[str, object]:
    """What the predicate, and a day of the window's zone, are given."""
    return {
        "project": project_id,
        "start": window.start,
        "end": window.end,
        "zone": window.zone,
        "synthetic": window.synthetic,
    }
