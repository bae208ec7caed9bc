"""How many searches took no longer than so many milliseconds."""

from dataclasses import dataclass

from rag_core.database.connections import Database
from rag_core.database.latency_curve import read_latency_curve
from rag_core.database.report.counts import Span
from rag_core.report.window import Window

_STEPS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyCurve:
    """Points (milliseconds, share of the searches that took no longer), rising; of `n` searches, empty for none."""

    n: int
    points: tuple[tuple[float, float], ...]


def latency_curve(
    database: Database, project_id: str, window: Window, *, synthetic: bool = False
) -> LatencyCurve:
    """The curve of a window's total latencies at 101 even shares, the fastest and the slowest among them.

    Raises:
        DatabaseUnavailable: The database does not answer.
    """
    span = Span(
        project_id=project_id, start=window.start, end=window.end, zone=window.zone, synthetic=synthetic
    )
    shares = [step / _STEPS for step in range(_STEPS + 1)]
    with database.connection() as connection:
        n, latencies = read_latency_curve(connection, span, shares)
    return LatencyCurve(n=n, points=tuple(zip(latencies, shares, strict=True)) if n else ())
