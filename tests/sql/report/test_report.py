"""The report over real rows: its verdict, its window, and what other settings would have shown."""

import dataclasses
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import rows
from psycopg.types.json import Jsonb

from material import ANA, Services, make_project, services
from medir.contract.report import ReportAnswer
from rag_core.clock import SystemClock
from rag_core.database.connecting import Connection
from rag_core.database.connections import Database
from rag_core.database.projects import find_project
from rag_core.errors import InvalidInput, UsageError
from rag_core.model import LexicalFunction, LexicalOperator, Scope, Window
from rag_core.report.counterfactual import compare_with, find_rival
from rag_core.report.making import make_report
from rag_core.report.numbers import Counterfactual, JudgedSearches, Report
from rag_core.settings.adopting import adopt_settings
from rag_core.settings.overrides import Overrides
from rag_core.settings.presets import SEEDS

NOON = rows.NOON
DAY = Window(start=NOON - timedelta(hours=12), end=NOON + timedelta(hours=12))
EVER = Window(start=datetime(2020, 1, 1, tzinfo=UTC), end=datetime(2100, 1, 1, tzinfo=UTC))


@pytest.fixture
def connection(database: Database) -> Iterator[Connection]:
    with database.connection() as opened:
        yield opened


def report(database: Database, window: Window = DAY) -> Report:
    return make_report(database, "p", window)


def test_an_empty_project_is_not_measured_and_passes(database: Database, connection: Connection) -> None:
    rows.project(connection, "p")
    made = report(database)
    assert (made.verdict.passed, made.verdict.measured) == (True, False)
    assert ReportAnswer.of(made).to_json()["precision"] == {
        depth: {"value": None, "useful": 0, "votes": 0, "judgedHits": 0, "low": None, "high": None}
        for depth in ("1", "3", "5", "10")
    }


def test_a_window_without_the_vector_signal_fails_and_one_healthy_search_passes_it(
    database: Database, connection: Connection
) -> None:
    rows.project(connection, "p")
    for _ in range(3):
        rows.search(connection, "p", vector_available=False, degraded=True, degraded_reason="provider")
    failed = report(database)
    assert failed.verdict.passed is False
    assert "none of 3 searches" in failed.verdict.reason
    rows.search(connection, "p")
    assert report(database).verdict.passed is True


def test_degraded_is_not_the_same_as_unavailable(database: Database, connection: Connection) -> None:
    rows.project(connection, "p")
    rows.search(connection, "p", degraded=True, degraded_reason="someVectorsMissing", vector_available=True)
    made = report(database)
    assert (made.whole.degraded, made.whole.vector_unavailable) == (1, 0)
    assert made.verdict.passed is True


def test_a_degraded_searchs_votes_latency_and_hits_are_left_out_and_it_is_counted(
    database: Database, connection: Connection
) -> None:
    rows.project(connection, "p")
    chunk_id = rows.chunk(connection, "p")
    search_id = rows.search(connection, "p", degraded=True, hit_count=1)
    rows.vote(connection, "p", search_id, chunk_id)
    made = report(database)
    assert (made.whole.searches, made.whole.degraded, made.whole.shown) == (1, 1, 0)
    assert made.whole.precision[1].value is None
    assert made.whole.latency["total"].n == 0
    assert made.whole.judged_share is None
    assert made.ranks == {"util": (), "irrelevante": ()}


def test_of_five_hits_two_judged_precision_is_of_the_two_and_says_so(
    database: Database, connection: Connection
) -> None:
    rows.project(connection, "p")
    search_id = rows.search(connection, "p", hit_count=5)
    # useful, unjudged, irrelevant, unjudged, unjudged
    rows.vote(connection, "p", search_id, rows.chunk(connection, "p", ordinal=1), rank=1)
    rows.vote(
        connection, "p", search_id, rows.chunk(connection, "p", ordinal=2), rank=3, verdict="irrelevante"
    )
    whole = report(database).whole
    assert [(whole.precision[k].useful, whole.precision[k].votes) for k in (1, 3, 5, 10)] == [
        (1, 1),
        (1, 2),
        (1, 2),
        (1, 2),
    ]
    assert whole.precision[5].value == 0.5
    assert (whole.judged, whole.shown, whole.judged_share) == (2, 5, 0.4)


def test_searches_are_judged_once_each_whoever_voted_how_often(
    database: Database, connection: Connection
) -> None:
    rows.project(connection, "p")
    chunks = [rows.chunk(connection, "p", ordinal=ordinal) for ordinal in range(5)]

    def voted(hit_count: int, *ballots: str, degraded: bool = False) -> None:
        """A search with votes: `1u` says that the first hit is useful, `2i` that the second is irrelevant."""
        search_id = rows.search(connection, "p", hit_count=hit_count, degraded=degraded)
        for ballot in ballots:
            rank, verdict = int(ballot[0]), "util" if ballot[1] == "u" else "irrelevante"
            rows.vote(
                connection, "p", search_id, chunks[rank - 1], rank=rank, verdict=verdict, actor_id=ballot
            )

    voted(5, "1u", "1i", "2i", "3i", "4i", "5i")  # answered, by its first hit in somebody's eyes
    voted(5, "1i", "2u")  # answered, below its first hit
    voted(5, "4u")  # answered, its first hit not judged
    voted(5, "1i", "2i", "3i")  # its first three hits are no answer
    voted(2, "1i", "2i")  # nor are both of two
    voted(5, "1i", "2i", "4i")  # the third may be one: nobody knows
    voted(5, "1i", degraded=True)
    voted(5)
    assert report(database).whole.judged_searches == JudgedSearches(
        answered=3, unanswered=2, first_judged=2, first_useful=1
    )


def test_a_report_over_many_searches_is_a_page_of_numbers_even_where_the_pool_has_one_connection(
    database: Database, database_url: str, connection: Connection
) -> None:
    rows.project(connection, "p")
    rows.search(connection, "p", latency_ms=0.0, created_at=NOON - timedelta(seconds=1))
    connection.execute(
        """
        insert into rag_searches (project_id, id, created_at, question, hits, hit_count, weights, settings_id,
            degraded, vector_available, latency_ms, embed_ms, vector_ms, lexical_ms, rank_ms, scopes, actor_kind,
            actor_id, surface)
        select project_id, gen_random_uuid(), created_at + n * interval '1 second', question, hits, hit_count, weights,
            settings_id, degraded, vector_available, n, embed_ms, vector_ms, lexical_ms, rank_ms, scopes, actor_kind,
            'actor-' || n % 40, surface
        from rag_searches, generate_series(1, 20000) n
        """
    )
    with Database(database_url, max_size=1) as narrow:
        made = report(narrow)
    assert made.whole.searches == 20_001
    # of 0, 1, 2, … 20,000 milliseconds
    latency = made.whole.latency["total"]
    assert (latency.p50, latency.p95, latency.p99) == (10_000.0, 19_000.0, 19_800.0)
    assert sum(part.searches for _, part in made.splits["actor"]) == 20_001
    assert len(json.dumps(ReportAnswer.of(made).to_json())) < 150_000


def test_percentiles_of_five_searches_are_the_median_alone_and_say_why(
    database: Database, connection: Connection
) -> None:
    rows.project(connection, "p")
    for latency in (10, 20, 30, 40, 1000):
        rows.search(connection, "p", latency_ms=latency)
    total = report(database).whole.latency["total"]
    assert (total.n, total.p50, total.p95, total.p99) == (5, 30.0, None, None)
    assert total.why == "p95 needs 20 and p99 needs 100 searches; there are 5."


def test_percentiles_lie_between_the_nearest_two(database: Database, connection: Connection) -> None:
    rows.project(connection, "p")
    for latency in range(1, 21):
        rows.search(connection, "p", latency_ms=latency)
    # of 1 to 20, p50 stands at position 9.5 and p95 at 18.05, counted from 0
    total = report(database).whole.latency["total"]
    assert total.p50 == pytest.approx(10.5)
    assert total.p95 == pytest.approx(19.05)
    assert total.p99 is None


def test_votes_on_synthetic_searches_count_only_when_asked_for(
    database: Database, connection: Connection
) -> None:
    rows.project(connection, "p")
    chunk_id = rows.chunk(connection, "p")
    search_id = rows.search(connection, "p", synthetic=True, hit_count=1)
    rows.vote(connection, "p", search_id, chunk_id)
    assert report(database).whole.searches == 0
    assert report(database).ranks["util"] == ()
    shown = report(database, dataclasses.replace(DAY, synthetic=True))
    assert shown.whole.precision[1].value == 1
    assert [(entry.rank, entry.votes) for entry in shown.ranks["util"]] == [(1, 1)]
    assert ReportAnswer.of(shown).to_json()["synthetic"] is True


def test_a_search_under_no_model_is_in_the_split_none(database: Database, connection: Connection) -> None:
    rows.project(connection, "p")
    rows.search(connection, "p")
    assert [key for key, _ in report(database).splits["model"]] == ["none"]


def test_one_model_under_two_settings_is_measured_over_both(
    database: Database, connection: Connection
) -> None:
    rows.project(connection, "p")
    for settings_id, model, latency in (("a", "m1", 10), ("b", "m1", 30), ("c", "m2", 500)):
        rows.insert(
            connection,
            "search_settings",
            {"project_id": "p", "id": settings_id * 16, "settings": Jsonb({"embeddingModel": model})},
        )
        rows.search(connection, "p", settings_id=settings_id * 16, latency_ms=latency)
    models = dict(report(database).splits["model"])
    assert (models["m1"].latency["total"].n, models["m1"].latency["total"].p50) == (2, 20.0)
    assert (models["m2"].latency["total"].n, models["m2"].latency["total"].p50) == (1, 500.0)


def test_a_zone_that_only_the_program_knows_is_refused(database: Database, connection: Connection) -> None:
    rows.project(connection, "p")
    with pytest.raises(InvalidInput, match="no time zone"):
        report(database, Window(start=DAY.start, end=DAY.end, zone="Moon/Tranquility"))


def test_the_report_never_reads_the_event_log(database: Database, connection: Connection) -> None:
    rows.project(connection, "p")
    rows.search(connection, "p")
    connection.execute("drop table session_events, sessions cascade")
    assert report(database).whole.searches == 1


# --- what other settings would have shown ---------------------------------------------------------------------


@pytest.fixture
def made(database: Database, tmp_path: Path) -> Services:
    """The project `entrega`, indexed."""
    opened = services(database)
    opened.indexing.run(make_project(database, tmp_path / "repository"), actor=ANA)
    return opened


QUESTION = "Quando o frete é calculado?"


def adopt(made: Services, overrides: Overrides) -> None:
    with made.database.connection() as connection:
        project = find_project(connection, "entrega")
    assert project is not None
    adopt_settings(made.database, SystemClock(), project, overrides=overrides, reason="finds more", actor=ANA)


def ids_asked(made: Services, *trials: Overrides | None) -> list[str]:
    return [made.search.ask("entrega", QUESTION, actor=ANA, overrides=trial).settings.id for trial in trials]


def test_a_trial_is_no_change_of_settings_what_is_adopted_is_and_so_is_coming_back(made: Services) -> None:
    tried = Overrides(weight_vector=0.55)
    ids = ids_asked(made, None, tried, None)
    first = make_report(made.database, "entrega", EVER)
    # numbers under two rules are not one number, whoever tried the second
    assert [entry.settings_id for entry in first.mixed_settings] == ids[:2]
    assert [turn.settings_id for turn in first.turns] == ids[:1]

    adopt(made, tried)
    adopted_at = SystemClock().now()
    assert ids_asked(made, None) == [ids[1]]
    then = make_report(made.database, "entrega", EVER)
    assert [turn.settings_id for turn in then.turns] == ids[:2]
    # the change is when it came into force, not when somebody tried it
    assert then.turns[1].at >= adopted_at
    adopt(made, Overrides(preset="embedded"))
    assert ids_asked(made, tried, None) == [ids[1], ids[0]]
    back = make_report(made.database, "entrega", EVER)
    assert [turn.settings_id for turn in back.turns] == [ids[0], ids[1], ids[0]]


def test_numbers_that_were_tried_first_and_are_the_presets_own_are_in_force(made: Services) -> None:
    preset = made.search.ask("entrega", QUESTION, actor=ANA, synthetic=True).settings
    # asked for by name, the numbers in force are a trial; asked for by nobody, they are in force
    same = Overrides(threshold=preset.ranking.threshold)
    with made.database.connection() as connection:
        connection.execute("delete from rag_searches")
        connection.execute("delete from search_settings")
    assert ids_asked(made, same) == [preset.id]
    assert make_report(made.database, "entrega", EVER).turns == ()
    assert ids_asked(made, None) == [preset.id]
    assert [turn.settings_id for turn in make_report(made.database, "entrega", EVER).turns] == [preset.id]


def test_a_callers_limit_is_no_setting_and_stands_in_the_searchs_frozen_copy(made: Services) -> None:
    usual, short, deep = ids_asked(made, None, Overrides(limit=1), Overrides(limit=9))
    assert usual == short == deep
    found = make_report(made.database, "entrega", EVER)
    assert (found.mixed_settings, len(found.splits["settings"]), len(found.turns)) == ((), 1, 1)
    with made.database.connection() as connection:
        frozen = connection.execute(
            "select weights ->> 'limit' from rag_searches order by created_at"
        ).fetchall()
        kept = connection.execute("select settings ->> 'limit' from search_settings").fetchall()
    assert (frozen, kept) == ([("5",), ("1",), ("9",)], [("5",)])
    # a limit that a maintainer adopted is a change
    adopt(made, Overrides(limit=9))
    (adopted,) = ids_asked(made, None)
    after = make_report(made.database, "entrega", EVER)
    assert [turn.settings_id for turn in after.turns] == [usual, adopted]
    assert after.turns[1].settings["limit"] == 9


def test_a_rival_shows_as_many_hits_as_the_caller_asked_for(made: Services) -> None:
    usual = made.search.ask("entrega", QUESTION, actor=ANA, synthetic=True)
    assert len(usual.ranking.hits) > 1
    made.search.ask("entrega", QUESTION, actor=ANA, overrides=Overrides(limit=1))
    found = compared(made, f"settings:{usual.settings.id}")
    assert (found.searches, found.overlap) == (1, 1.0)


def compared(made: Services, against: str) -> Counterfactual:
    rival = find_rival(made.database, "entrega", against)
    return compare_with(made.database, "entrega", EVER, rival)


def test_the_settings_themselves_would_show_the_same(made: Services) -> None:
    for question in ("Quando o frete é calculado?", "A fila guarda eventos", "xyzzy"):
        asked = made.search.ask("entrega", question, actor=ANA)
    found = compared(made, f"settings:{asked.settings.id}")
    assert (found.searches, found.not_replayable) == (3, 0)
    assert found.overlap == pytest.approx(1)
    assert found.rbo == pytest.approx(1)


def test_a_shorter_limit_keeps_the_top(made: Services) -> None:
    shown = made.search.ask(
        "entrega",
        "Quando o frete é calculado?",
        actor=ANA,
        overrides=Overrides(threshold=None, max_per_file=1),
    )
    one = made.search.ask(
        "entrega",
        "Quando o frete é calculado?",
        actor=ANA,
        synthetic=True,
        overrides=Overrides(threshold=None, max_per_file=1, limit=1),
    )
    places = len({hit.candidate.origin.place for hit in shown.ranking.hits})
    assert places == len(shown.ranking.hits) > 1
    found = compared(made, f"settings:{one.settings.id}")
    # the synthetic search is left out; one place of several is shared, at the top
    assert found.searches == 1
    assert found.overlap == pytest.approx(1 / places)
    assert found.rbo == pytest.approx(1)


def test_a_threshold_that_cuts_everything_leaves_no_overlap(made: Services) -> None:
    made.search.ask("entrega", "Quando o frete é calculado?", actor=ANA, overrides=Overrides(threshold=None))
    strict = made.search.ask(
        "entrega", "frete", actor=ANA, synthetic=True, overrides=Overrides(threshold=99.0)
    )
    found = compared(made, f"settings:{strict.settings.id}")
    assert (found.searches, found.overlap, found.rbo) == (1, 0.0, 0.0)


def test_two_empty_lists_are_alike(made: Services) -> None:
    strict = made.search.ask("entrega", "Frete", actor=ANA, overrides=Overrides(threshold=99.0))
    found = compared(made, f"settings:{strict.settings.id}")
    assert (found.searches, found.overlap, found.rbo) == (1, 1.0, 1.0)


@pytest.mark.parametrize(
    "change",
    [
        Overrides(lexical_function=LexicalFunction.COVERAGE),
        Overrides(lexical_operator=LexicalOperator.ALL),
        Overrides(candidates=101),
    ],
    ids=["function", "operator", "depth"],
)
def test_what_would_need_other_candidates_is_counted_and_not_compared(
    made: Services, change: Overrides
) -> None:
    made.search.ask("entrega", "Quando o frete é calculado?", actor=ANA)
    rival = made.search.ask("entrega", "frete", actor=ANA, synthetic=True, overrides=change)
    found = compared(made, f"settings:{rival.settings.id}")
    assert found == Counterfactual(
        against=f"settings:{rival.settings.id}", searches=0, overlap=None, rbo=None, not_replayable=1
    )


def test_another_model_is_not_replayable_under_settings_of_its_own_but_under_a_preset(made: Services) -> None:
    # a preset of another model's family, which has the function of its own
    own = Overrides(lexical_function=SEEDS.lexical.function)
    asked = made.search.ask("entrega", "Quando o frete é calculado?", actor=ANA, overrides=own)
    with made.database.connection() as connection:
        connection.execute(
            """
            insert into search_settings (project_id, id, settings)
            select project_id, repeat('f', 16), settings || '{"embeddingModel": "ollama/other@1+p"}'
            from search_settings where id = %s
            """,
            (asked.settings.id,),
        )
    assert compared(made, "settings:" + "f" * 16).not_replayable == 1
    assert compared(made, "preset:seeds").searches == 1


def test_without_its_whole_set_or_with_hits_that_it_does_not_give_a_search_is_not_replayed(
    made: Services,
) -> None:
    for question in ("Quando o frete é calculado?", "A fila guarda eventos"):
        asked = made.search.ask("entrega", question, actor=ANA)
    assert compared(made, "preset:embedded-strict").searches == 2
    with made.database.connection() as connection:
        connection.execute("delete from rag_candidates where search_id = %s", (asked.search_id,))
        connection.execute("update rag_searches set hit_count = 4 where id <> %s", (asked.search_id,))
    assert compared(made, "preset:embedded-strict").not_replayable == 2


def test_scopes_are_the_searchs_own_and_no_hindrance(made: Services) -> None:
    asked = made.search.ask("entrega", "A fila guarda eventos", actor=ANA, scopes=(Scope.ADR,))
    found = compared(made, f"settings:{asked.settings.id}")
    assert (found.searches, found.rbo) == (1, pytest.approx(1))


@pytest.mark.parametrize(
    "against", ["seeds", "preset:", "preset:nothing", "settings:", "settings:0000", "model:x"]
)
def test_what_names_no_settings_is_refused(made: Services, against: str) -> None:
    with pytest.raises(UsageError):
        find_rival(made.database, "entrega", against)
