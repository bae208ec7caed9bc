"""The cumulative curve of latencies: percentiles at even shares, of what was measured and nothing else."""

import dataclasses
from datetime import timedelta

import pytest
import rows

from rag_core.database.connections import Database
from rag_core.model import Window
from rag_core.report.making import LatencyCurve, latency_curve

DAY = Window(start=rows.NOON, end=rows.NOON + timedelta(days=1))


def test_the_curve_runs_from_the_fastest_to_the_slowest_search(database: Database) -> None:
    with database.connection() as connection:
        rows.project(connection, "p")
        for latency in (10, 20, 30, 40, 1000):
            rows.search(connection, "p", latency_ms=latency)
    curve = latency_curve(database, "p", DAY)
    assert curve.n == 5
    assert len(curve.points) == 101
    assert curve.points[0] == (10.0, 0.0)
    assert curve.points[50] == (30.0, 0.5)
    # between 40 and 1000, four fifths of the way: percentile_cont
    assert curve.points[95] == (pytest.approx(808.0), 0.95)
    assert curve.points[100] == (1000.0, 1.0)
    assert [milliseconds for milliseconds, _ in curve.points] == sorted(
        milliseconds for milliseconds, _ in curve.points
    )


def test_what_is_not_measured_is_left_out(database: Database) -> None:
    with database.connection() as connection:
        rows.project(connection, "p")
        rows.project(connection, "other")
        rows.search(connection, "p", latency_ms=7)
        rows.search(connection, "p", latency_ms=900, degraded=True, degraded_reason="provider")
        rows.search(connection, "p", latency_ms=901, synthetic=True)
        rows.search(connection, "p", latency_ms=902, created_at=DAY.end)
        rows.search(connection, "p", latency_ms=903, created_at=DAY.start - timedelta(microseconds=1))
        rows.search(connection, "other", latency_ms=904)
    assert {milliseconds for milliseconds, _ in latency_curve(database, "p", DAY).points} == {7.0}
    assert latency_curve(database, "p", dataclasses.replace(DAY, synthetic=True)).n == 2


def test_an_empty_window_has_no_points(database: Database) -> None:
    with database.connection() as connection:
        rows.project(connection, "p")
    assert latency_curve(database, "p", DAY) == LatencyCurve(n=0, points=())
