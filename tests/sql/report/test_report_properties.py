"""The report's SQL says what a slow and obvious computation over the same rows says, whatever the rows are."""

import math
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from examples import examples
from medir.contract.report import ReportAnswer
from rag_core.database.connections import Database
from rag_core.model import Window
from rag_core.report.making import make_report
from rag_core.report.overlap import overlap, rank_biased_overlap

Z = 1.959964
# midnight in São Paulo is 03:00 UTC; on 2026-03-29 the clocks of Lisbon skip an hour
START, END = datetime(2026, 3, 28, 3, tzinfo=UTC), datetime(2026, 3, 30, 3, tzinfo=UTC)
MOMENTS = (
    START - timedelta(microseconds=1),
    START,
    START + timedelta(hours=20, minutes=59),
    START + timedelta(hours=21, minutes=30),
    START + timedelta(days=1, hours=12),
    END - timedelta(microseconds=1),
    END,
)
ZONES = ("UTC", "America/Sao_Paulo", "Europe/Lisbon", "Asia/Kathmandu")
MODELS = {
    "a" * 16: "embedded/one@1+none",
    "b" * 16: "embedded/two@2+none",
    "c" * 16: "embedded/one@1+none",
    "d" * 16: None,
}
CHUNKS = tuple(uuid.UUID(int=number) for number in range(1, 13))
ACTORS = (("human", "ana"), ("human", "agent:bia"), ("agent", "bot"))


@dataclass(frozen=True)
class Ballot:
    """A vote: on which hit, by whom, and what."""

    rank: int
    actor: tuple[str, str]
    verdict: str


@dataclass(frozen=True)
class Asked:
    """A search as the generator makes it. Latencies are quarters of a millisecond: `real` holds them exactly."""

    at: datetime
    settings_id: str
    degraded: bool
    vector_available: bool
    hit_count: int
    synthetic: bool
    actor: tuple[str, str]
    surface: str
    scopes: tuple[str, ...]
    session_id: str | None
    latencies: tuple[float, ...]
    ballots: tuple[Ballot, ...]
    id: uuid.UUID = field(default_factory=uuid.uuid4)


@st.composite
def searches(draw: st.DrawFn) -> Asked:
    hit_count = draw(st.sampled_from((0, 1, 2, 5, 12)))
    ballots: dict[tuple[int, tuple[str, str]], Ballot] = {}
    if hit_count:
        for rank, actor, verdict in draw(
            st.lists(
                st.tuples(
                    st.integers(1, hit_count),
                    st.sampled_from(ACTORS),
                    st.sampled_from(("util", "irrelevante")),
                ),
                max_size=6,
            )
        ):
            ballots[rank, actor] = Ballot(rank=rank, actor=actor, verdict=verdict)
    quarters = st.integers(0, 4000).map(lambda number: number / 4)
    return Asked(
        at=draw(st.sampled_from(MOMENTS)),
        settings_id=draw(st.sampled_from(tuple(MODELS))),
        degraded=draw(st.booleans()),
        vector_available=draw(st.booleans()),
        hit_count=hit_count,
        synthetic=draw(st.sampled_from((False, False, False, True))),
        actor=draw(st.sampled_from(ACTORS)),
        surface=draw(st.sampled_from(("app", "cli", "engine"))),
        scopes=draw(st.sampled_from((("docs", "adr", "session"), ("docs",), ("adr", "session")))),
        session_id=draw(st.sampled_from((None, "s1"))),
        latencies=tuple(draw(st.lists(quarters, min_size=5, max_size=5))),
        ballots=tuple(ballots.values()),
    )


def plain(**changes: object) -> Asked:
    """A healthy search at noon with one hit."""
    values: dict[str, object] = {
        "at": MOMENTS[4],
        "settings_id": "a" * 16,
        "degraded": False,
        "vector_available": True,
        "hit_count": 1,
        "synthetic": False,
        "actor": ACTORS[0],
        "surface": "app",
        "scopes": ("docs", "adr", "session"),
        "session_id": None,
        "latencies": (8.0, 1.0, 2.0, 3.0, 0.25),
        "ballots": (),
    }
    return Asked(**(values | changes))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def prepared(module_database: Database) -> Callable[[list[Asked]], object]:
    """Puts searches into a project, beside one more project that must never show up."""
    with module_database.connection() as connection:
        for project_id in ("p", "q"):
            connection.execute(
                "insert into projects (project_id, name, repo) values (%s, %s, '/nowhere')",
                (project_id, project_id),
            )
            for cap, (settings_id, model) in enumerate(MODELS.items()):
                connection.execute(
                    "insert into search_settings (project_id, id, settings) values (%s, %s, %s)",
                    (
                        project_id,
                        settings_id,
                        Jsonb({"embeddingModel": model, "limit": 5, "maxPerFile": cap}),
                    ),
                )
            for number, chunk_id in enumerate(CHUNKS):
                connection.execute(
                    """
                    insert into chunks (project_id, id, scope, source_path, ordinal, content, content_hash)
                    values (%s, %s, 'docs', 'docs/a.md', %s, 'texto', repeat('0', 64))
                    """,
                    (project_id, chunk_id, number),
                )
        write(module_database, "q", [plain(ballots=(Ballot(rank=1, actor=ACTORS[0], verdict="util"),))])

    @contextmanager
    def filled(asked: list[Asked]) -> Iterator[Database]:
        write(module_database, "p", asked)
        try:
            yield module_database
        finally:
            with module_database.connection() as connection:
                connection.execute("delete from rag_searches where project_id = 'p'")

    return filled


def write(database: Database, project_id: str, asked: list[Asked]) -> None:
    with database.transaction() as connection, connection.cursor() as cursor:
        cursor.executemany(
            """
            insert into rag_searches (
                project_id, id, created_at, question, hits, hit_count, weights, settings_id, degraded,
                vector_available, latency_ms, embed_ms, vector_ms, lexical_ms, rank_ms, scopes, actor_kind, actor_id,
                surface, session_id, synthetic
            ) values (
                %s, %s, %s, 'frete?', '[]', %s, '{}', %s, %s, %s, %s, %s, %s, %s, %s, %s::chunk_scope[], %s, %s, %s,
                %s, %s
            )
            """,
            [
                (
                    project_id,
                    search.id,
                    search.at,
                    search.hit_count,
                    search.settings_id,
                    search.degraded,
                    search.vector_available,
                    *search.latencies,
                    list(search.scopes),
                    *search.actor,
                    search.surface,
                    search.session_id,
                    search.synthetic,
                )
                for search in asked
            ],
        )
        cursor.executemany(
            """
            insert into rag_feedback (
                project_id, search_id, chunk_id, rank, verdict, actor_kind, actor_id, searched_at, settings_id
            ) values (%s, %s, %s, %s, %s, %s, %s, %s, %s)
            """,
            [
                (
                    project_id,
                    search.id,
                    CHUNKS[ballot.rank - 1],
                    ballot.rank,
                    ballot.verdict,
                    *ballot.actor,
                    search.at,
                    search.settings_id,
                )
                for search in asked
                for ballot in search.ballots
            ],
        )


# --- the slow and obvious computation -------------------------------------------------------------------------


def expected(asked: list[Asked], window: Window, *, synthetic: bool) -> dict[str, object]:
    """The report's numbers, one search after the other."""
    zone = ZoneInfo(window.zone)
    chosen = [
        search
        for search in asked
        if window.start <= search.at < window.end and (synthetic or not search.synthetic)
    ]
    healthy = [search for search in chosen if not search.degraded]
    shown = sum(search.hit_count for search in healthy)
    judged = sum(len({ballot.rank for ballot in search.ballots}) for search in healthy)
    used = sorted({search.settings_id for search in chosen})
    keys: dict[str, Callable[[Asked], list[str]]] = {
        "settings": lambda search: [search.settings_id],
        "model": lambda search: [MODELS[search.settings_id] or "none"],
        "actor": lambda search: [":".join(search.actor)],
        "surface": lambda search: [search.surface],
        "scope": lambda search: list(search.scopes),
        "day": lambda search: [search.at.astimezone(zone).date().isoformat()],
    }
    return {
        "searches": len(chosen),
        "degraded": sum(search.degraded for search in chosen),
        "noHit": sum(search.hit_count == 0 for search in chosen),
        "vectorUnavailable": sum(not search.vector_available for search in chosen),
        "precision": precision(healthy),
        "ranks": {
            verdict: [
                {"rank": rank, "votes": votes}
                for rank in range(1, 13)
                if (
                    votes := sum(
                        ballot.rank == rank and ballot.verdict == verdict
                        for search in healthy
                        for ballot in search.ballots
                    )
                )
            ]
            for verdict in ("util", "irrelevante")
        },
        "latency": latency(healthy),
        "judgedShare": judged / shown if shown else None,
        "mixedSettings": {
            settings_id: (
                sum(search.settings_id == settings_id for search in chosen),
                min(search.at for search in chosen if search.settings_id == settings_id).isoformat(),
                max(search.at for search in chosen if search.settings_id == settings_id).isoformat(),
            )
            for settings_id in (used if len(used) > 1 else [])
        },
        "splits": {
            name: [
                {"key": key} | part([search for search in chosen if key in of(search)])
                for key in sorted({key for search in chosen for key in of(search)})
            ]
            for name, of in keys.items()
        },
    }


def part(chosen: list[Asked]) -> dict[str, object]:
    healthy = [search for search in chosen if not search.degraded]
    return {
        "searches": len(chosen),
        "degraded": sum(search.degraded for search in chosen),
        "noHit": sum(search.hit_count == 0 for search in chosen),
        "precision": precision(healthy),
        "latency": latency(healthy),
    }


def precision(healthy: list[Asked]) -> dict[str, object]:
    told: dict[str, object] = {}
    for depth in (1, 3, 5, 10):
        ballots = [
            (search.id, ballot) for search in healthy for ballot in search.ballots if ballot.rank <= depth
        ]
        useful, votes = sum(ballot.verdict == "util" for _, ballot in ballots), len(ballots)
        low, high = wilson(useful, votes) if votes else (None, None)
        told[str(depth)] = {
            "value": useful / votes if votes else None,
            "useful": useful,
            "votes": votes,
            "judgedHits": len({(search_id, ballot.rank) for search_id, ballot in ballots}),
            "low": low,
            "high": high,
        }
    return told


def wilson(useful: int, votes: int) -> tuple[float, float]:
    share = useful / votes
    middle = (share + Z**2 / (2 * votes)) / (1 + Z**2 / votes)
    reach = Z / (1 + Z**2 / votes) * math.sqrt(share * (1 - share) / votes + Z**2 / (4 * votes**2))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def latency(healthy: list[Asked]) -> dict[str, object]:
    told: dict[str, object] = {}
    for position, step in enumerate(("total", "embed", "vector", "lexical", "rank")):
        values = sorted(search.latencies[position] for search in healthy)
        told[step] = {
            "n": len(values),
            "p50": percentile(values, 0.5) if values else None,
            "p95": percentile(values, 0.95) if len(values) >= 20 else None,
            "p99": percentile(values, 0.99) if len(values) >= 100 else None,
        }
    return told


def percentile(values: list[float], share: float) -> float:
    position = share * (len(values) - 1)
    below = math.floor(position)
    above = min(below + 1, len(values) - 1)
    return values[below] + (position - below) * (values[above] - values[below])


def told(report: dict[str, object]) -> dict[str, object]:
    """The report without its sentences, its mixed settings by id."""
    kept = {
        key: report[key]
        for key in report
        if key not in ("project", "from", "to", "verdict", "synthetic", "timeZone")
    }
    mixed = report["mixedSettings"]
    assert isinstance(mixed, list)
    kept["mixedSettings"] = {
        entry["settingsId"]: (entry["searches"], entry["from"], entry["to"]) for entry in mixed
    }
    return without_why(kept)  # type: ignore[return-value]


def without_why(value: object) -> object:
    if isinstance(value, dict):
        return {key: without_why(inner) for key, inner in value.items() if key != "why"}
    return [without_why(inner) for inner in value] if isinstance(value, list) else value


def close(left: object, right: object) -> bool:
    """Equal, floats up to rounding."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(close(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(close, left, right))
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)
    return left == right


@settings(
    max_examples=examples(40),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(searches(), max_size=8), st.sampled_from(ZONES), st.booleans())
@example([], "UTC", False)
@example([plain()], "Europe/Lisbon", False)
@example([plain(latencies=(5.0, 5.0, 5.0, 5.0, 5.0)) for _ in range(25)], "UTC", False)
@example([plain(latencies=(float(n), 1.0, 2.0, 3.0, 0.25)) for n in range(100)], "UTC", False)
@example(
    [plain(degraded=True, vector_available=False, ballots=(Ballot(1, ACTORS[0], "util"),))], "UTC", False
)
@example(
    [plain(at=moment, ballots=(Ballot(1, ACTORS[0], "util"),)) for moment in MOMENTS],
    "America/Sao_Paulo",
    False,
)
@example(
    [plain(ballots=tuple(Ballot(1, actor, "util") for actor in ACTORS)), plain(settings_id="b" * 16)],
    "UTC",
    True,
)
def test_sql_and_the_obvious_computation_agree(
    prepared: Callable[[list[Asked]], object], asked: list[Asked], zone: str, synthetic: bool
) -> None:
    window = Window(start=START, end=END, zone=zone, synthetic=synthetic)
    with prepared(asked) as database:  # type: ignore[attr-defined]
        report = ReportAnswer.of(make_report(database, "p", window)).to_json()
    wanted = expected(asked, window, synthetic=synthetic)
    assert close(told(report), wanted), (told(report), wanted)


places = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


@given(places, places)
def test_overlap_and_rbo_are_symmetric_shares_and_one_for_the_same_list(
    first: list[str], second: list[str]
) -> None:
    for alike in (overlap, rank_biased_overlap):
        assert 0 <= alike(first, second) <= 1
        assert alike(first, second) == pytest.approx(alike(second, first))
        assert alike(first, first) == pytest.approx(1)
    if not set(first) & set(second) and (first or second):
        assert overlap(first, second) == rank_biased_overlap(first, second) == 0


@given(places.filter(bool), st.floats(0.05, 0.95))
def test_rbo_of_lists_of_one_length_is_its_sum_over_an_endless_agreement(
    first: list[str], persistence: float
) -> None:
    # the definition, with the last agreement repeated for ever: (1 - p) * sum of p^(d-1) * agreement at d
    second = list(reversed(first))
    agreements = [len(set(first[:depth]) & set(second[:depth])) / depth for depth in range(1, len(first) + 1)]
    endless = agreements + [agreements[-1]] * 2000
    summed = (1 - persistence) * math.fsum(share * persistence**depth for depth, share in enumerate(endless))
    assert rank_biased_overlap(first, second, persistence=persistence) == pytest.approx(summed, abs=1e-9)
