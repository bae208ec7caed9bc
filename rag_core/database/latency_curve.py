"""How latencies are spread: percentiles of one window at even steps, for a cumulative curve."""

from collections.abc import Sequence

from rag_core.database.connections import Connection
from rag_core.database.report.counts import Span


def read_latency_curve(
    connection: Connection, span: Span, shares: Sequence[float]
) -> tuple[int, list[float]]:
    """How many searches were measured, and the total latency in ms at each share from 0 to 1; none for none.

    Degraded searches are left out, as everywhere where latency is told.
    """
    # one row, over rag_searches_report alone
    row = connection.execute(
        """
        select count(*), percentile_cont(%(shares)s::float8[]) within group (order by s.latency_ms)
        from rag_searches s
        where s.project_id = %(project)s and s.created_at >= %(start)s and s.created_at < %(end)s
          and not s.degraded and (%(synthetic)s or not s.synthetic)
        """,
        span.parameters | {"shares": list(shares)},
    ).fetchone()
    if row is None or not row[0]:
        return 0, []
    return row[0], row[1]
