"""The page Report: verdict and numbers first, never 0 for what was not measured, and a way to every search."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from streamlit.testing.v1 import AppTest

from rag_core.search.votes import cast_vote
from workbench_material import ANA, SCRIPTS, Installation, open_page, said, services_of, texts

FRETE = "Quando o frete é calculado?"
FILA = "Por quantos dias a fila guarda eventos?"


@pytest.fixture
def connection(own_installation: Installation) -> Iterator[psycopg.Connection]:
    with psycopg.connect(own_installation.environment["DATABASE_URL"], autocommit=True) as opened:
        yield opened


def ask(installation: Installation, *questions: str, synthetic: bool = False, votes: str = "") -> list[str]:
    """Searches by Ana; a vote on the first hit of each, `+` useful and `-` irrelevant in turn. Their ids."""
    ids = []
    with services_of(installation.environment) as opened:
        for number, question in enumerate(questions):
            answer = opened.search.ask(
                installation.project.project_id, question, actor=ANA, synthetic=synthetic
            )
            ids.append(str(answer.search_id))
            if number < len(votes):
                cast_vote(
                    opened.database,
                    opened.clock,
                    installation.project.project_id,
                    search_id=str(answer.search_id),
                    chunk_id=answer.ranking.hits[0].candidate.chunk_id,
                    verdict="util" if votes[number] == "+" else "irrelevante",
                    actor=ANA,
                )
    return ids


def one(value: object) -> str:
    return str(value[0]) if isinstance(value, list) else str(value)


def numbers(page: AppTest) -> dict[str, str]:
    return {metric.label: str(metric.value) for metric in page.metric}


def table(page: AppTest, column: str) -> list[str]:
    """A column of the table of searches, the last on the page."""
    found = [frame.value for frame in page.dataframe if "question" in frame.value]
    return list(found[-1][column]) if found else []


def test_nothing_recorded_is_not_measured_and_says_the_next_step(own_installation: Installation):
    page = open_page("report")
    assert not page.exception
    assert page.info[0].value == "Not measured: the window holds no search."
    assert "Ask something on the page Search" in texts(page)
    assert not list(page.metric)
    assert "Failed" not in said(page)


def test_the_first_glance_is_an_answer_and_four_numbers_with_what_they_are_of(own_installation: Installation):
    ask(own_installation, FRETE, FILA, "rota", votes="+-")
    page = open_page("report")
    assert not list(page.success)
    told = said(page)
    # Wilson, 1 of 2: 0.0945 to 0.9055
    assert "**50% of 2 votes on the first five hits say useful (95 % interval 9% to 91%).**" in told
    assert "0% of 3 searches showed no hit; p95 latency not measured (n = 3, and it needs 20)." in told
    assert ":gray-badge[Vector signal ✓ 3 of 3]" in told
    assert numbers(page) == {
        "Searches": "3",
        "Precision@5": "0.50",
        "p95 latency": "—",
        "Without a hit": "0%",
    }
    assert "0.50 of 2 votes; 95 % interval 0.09 to 0.91; few judgements" in told
    assert "p95 needs 20 and p99 needs 100 searches; there are 3" in told
    assert "fewer than 20 searches were judged" in told
    # no arrow and no colour against a window that can't say anything
    assert not any(metric.delta for metric in page.metric)


def test_a_window_without_any_vector_signal_fails_and_says_why(
    own_installation: Installation, connection: psycopg.Connection
):
    ask(own_installation, FRETE, FILA)
    connection.execute(
        "update rag_searches set vector_available = false, degraded = true, degraded_reason = 'provider'"
    )
    page = open_page("report")
    assert page.warning[0].value.startswith("The vector signal was available in none of 2 searches")
    assert ":red-badge[Vector signal ✗ 0 of 2]" in said(page)
    assert "degraded]" in said(page)
    # a degraded search says nothing about precision or latency, and 0 would be a lie
    assert numbers(page)["Precision@5"] == "—"
    assert numbers(page)["p95 latency"] == "—"
    assert "not measured: every search was degraded; every search was degraded, so their hits" in said(page)
    assert "not measured: no search that was not degraded" in said(page)
    # the list below has their hits, and a signal that was not run did not look for them
    assert "no hit was shown" not in said(page)
    assert "0" not in table(page, "hits")


def test_synthetic_rows_are_left_out_until_they_are_asked_for_and_then_badged(own_installation: Installation):
    ask(own_installation, FRETE, synthetic=True)
    page = open_page("report")
    assert page.info[0].value.startswith("Not measured")
    assert "synthetic]" not in said(page)
    page.toggle(key="report-synthetic-on").set_value(True).run()
    assert numbers(page)["Searches"] == "1"
    assert ":violet-badge[:material/science: synthetic]" in said(page)
    assert one(page.query_params["synthetic"]) == "counted"


def window_of(page: AppTest) -> timedelta:
    """How long the window is that the page tells."""
    told = next(
        caption.value
        for caption in page.caption
        if caption.value.endswith(", UTC") and " to " in caption.value
    )
    start, end = (
        datetime.strptime(text, "%d %b %Y %H:%M").replace(tzinfo=UTC)
        for text in told.removesuffix(", UTC").split(" to ")
    )
    assert timedelta(0) <= end - datetime.now(UTC) + timedelta(minutes=1) <= timedelta(minutes=2)
    return end - start


def address(page: AppTest) -> dict[str, str]:
    return {name: one(value) for name, value in page.query_params.items() if name != "project"}


def test_a_relative_window_stays_relative_in_the_address_and_when_it_is_opened_again(
    own_installation: Installation,
):
    ask(own_installation, FRETE)
    page = open_page("report")
    assert (address(page), window_of(page)) == ({"last": "30d"}, timedelta(days=30))
    again = open_page("report", **address(page))
    assert (address(again), window_of(again)) == ({"last": "30d"}, timedelta(days=30))
    assert again.segmented_control(key="report-length").value == "30d"
    page.segmented_control(key="report-length").set_value("1d").run()
    assert (address(page), window_of(page)) == ({"last": "1d"}, timedelta(days=1))
    again = open_page("report", **address(page))
    assert (address(again), window_of(again)) == ({"last": "1d"}, timedelta(days=1))


def test_times_stand_in_the_address_once_a_person_fixes_them(own_installation: Installation):
    ask(own_installation, FRETE)
    page = open_page("report", last="7d")
    page.segmented_control(key="report-length").set_value("fixed").run()
    fixed = address(page)
    assert set(fixed) == {"from", "to"}
    start, end = (datetime.fromisoformat(fixed[name]) for name in ("from", "to"))
    assert end - start == timedelta(days=7)
    again = open_page("report", **fixed)
    assert address(again) == fixed
    assert again.segmented_control(key="report-length").value == "fixed"
    assert numbers(again)["Searches"] == "1"
    again.segmented_control(key="report-length").set_value("30d").run()
    assert address(again) == {"last": "30d"}


def test_an_address_with_times_of_its_own_shows_that_window(
    own_installation: Installation, connection: psycopg.Connection
):
    ask(own_installation, FRETE)
    # a link with times of its own
    connection.execute("update rag_searches set created_at = '2026-01-02T12:00:00Z'")
    page = open_page("report", **{"from": "2026-01-02T00:00:00Z", "to": "2026-01-03T00:00:00-03:00"})
    assert numbers(page)["Searches"] == "1"
    assert one(page.query_params["to"]) == "2026-01-03T03:00:00Z"
    assert page.segmented_control(key="report-length").value == "fixed"
    assert "02 Jan 2026 00:00 to 03 Jan 2026 03:00, UTC" in said(page)
    page.segmented_control(key="report-length").set_value("7d").run()
    assert page.info[0].value.startswith("Not measured")


@pytest.mark.parametrize(
    "query",
    [
        {"from": "yesterday"},
        {"from": "2026-01-02T00:00:00"},
        {"from": "2026-02-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"},
        {"tz": "Mars/Olympus"},
        {"day": "today"},
        {"search": "17"},
        {"settings": ":red[x]"},
        {"rank": "-1"},
        {"rank": "1-7"},
        {"took": "vector"},
        {"took": "model:12"},
    ],
)
def test_an_address_that_makes_no_sense_is_a_notice_and_the_default(
    own_installation: Installation, query: dict[str, str]
):
    ask(own_installation, FRETE)
    page = open_page("report", **query)
    assert not page.exception
    assert not list(page.error)
    assert "Part of this address is not known" in said(page)
    assert numbers(page)["Searches"] == "1"


def test_the_time_zone_of_days_stands_in_the_address_and_beside_the_times(
    own_installation: Installation, connection: psycopg.Connection
):
    ask(own_installation, FRETE)
    connection.execute("update rag_searches set created_at = '2026-01-03T01:30:00Z'")
    times = {"from": "2026-01-01T00:00:00Z", "to": "2026-01-05T00:00:00Z"}
    page = open_page("report", tz="America/Sao_Paulo", **times)
    # half past one in London is still the day before in São Paulo
    assert "to 04 Jan 2026 21:00, America/Sao_Paulo" in said(page)
    assert table(page, "asked") == ["2026-01-02 22:30:00"]
    assert one(page.query_params["tz"]) == "America/Sao_Paulo"
    page = open_page("report", tz="America/Sao_Paulo", day="2026-01-03", **times)
    assert "The address asks for day = 2026-01-03, which is not known here." in texts(page)


def test_the_list_is_narrowed_by_what_is_chosen_and_kept_over_a_visit_elsewhere(
    own_installation: Installation,
):
    ask(own_installation, FRETE, FILA, "rota", votes="+-")
    page = open_page("report")
    assert table(page, "question") == ["rota", FILA, FRETE]
    page.segmented_control(key="report-which").set_value("irrelevant").run()
    assert table(page, "question") == [FILA]
    assert one(page.query_params["which"]) == "irrelevant"
    page.switch_page(SCRIPTS["search"]).run()
    page.switch_page(SCRIPTS["report"]).run()
    assert page.segmented_control(key="report-which").value == "irrelevant"
    page.segmented_control(key="report-which").set_value("no-hit").run()
    assert "No search is like that." in texts(page)


def test_a_link_to_slow_searches_lists_them_and_the_control_says_how_slow(
    own_installation: Installation, connection: psycopg.Connection
):
    ask(own_installation, FRETE, FILA)
    connection.execute("update rag_searches set vector_ms = 500 where question = %s", (FILA,))
    page = open_page("report", took="vector:400.5")
    assert table(page, "question") == [FILA]
    control = page.selectbox(key="report-filter-took")
    assert control.label == "Took at least"
    assert "vector 400.5 ms" in control.options
    control.set_value("").run()
    assert table(page, "question") == [FILA, FRETE]
    assert "took" not in page.query_params


def test_votes_on_a_rank_or_better_can_be_chosen(own_installation: Installation):
    ask(own_installation, FRETE, FILA, votes="+")
    page = open_page("report", rank="1-3")
    assert table(page, "question") == [FRETE]
    assert "3 or better" in page.selectbox(key="report-filter-rank").options


def test_many_searches_come_a_page_at_a_time(own_installation: Installation, connection: psycopg.Connection):
    ask(own_installation, FRETE)
    connection.execute(
        """
        insert into rag_searches (project_id, id, created_at, question, hits, hit_count, weights, settings_id,
            degraded, vector_available, latency_ms, embed_ms, vector_ms, lexical_ms, rank_ms, scopes, actor_kind,
            actor_id, surface)
        select project_id, gen_random_uuid(), created_at - n * interval '1 second', 'pergunta ' || n, hits, hit_count,
            weights, settings_id, degraded, vector_available, latency_ms, embed_ms, vector_ms, lexical_ms, rank_ms,
            scopes, actor_kind, actor_id, surface
        from rag_searches, generate_series(1, 59) n
        """
    )
    page = open_page("report")
    assert table(page, "question") == [FRETE, *(f"pergunta {n}" for n in range(1, 25))]
    assert "1 to 25, the newest first" in said(page)
    page.button(key="report-older").click().run()
    page.button(key="report-older").click().run()
    assert table(page, "question") == [f"pergunta {n}" for n in range(50, 60)]
    assert "51 to 60" in said(page)
    assert not [button for button in page.button if button.key == "report-older"]
    page.button(key="report-newer").click().run()
    assert table(page, "question")[0] == "pergunta 25"
    page.segmented_control(key="report-which").set_value("degraded").run()
    assert "No search is like that." in texts(page)


def test_a_search_opens_with_its_hits_and_votes_and_closes(own_installation: Installation):
    (search,) = ask(own_installation, FILA, votes="+")
    page = open_page("report", search=search)
    told = texts(page)
    assert "1.  docs/adr/0001-fila.md › Fila de eventos › Decisão" in told
    assert "▲ useful (human:ana)" in told
    assert "A fila guarda eventos do coletor por sete dias." in told
    page.button(key="report-search-close").click().run()
    assert "▲ useful (human:ana)" not in texts(page)
    assert "search" not in page.query_params


def test_a_recorded_hit_without_a_vector_score_says_that_the_signal_was_not_run(
    own_installation: Installation, connection: psycopg.Connection
):
    (search,) = ask(own_installation, FILA)
    connection.execute(
        """
        update rag_searches set degraded = true, vector_available = false, degraded_reason = 'provider',
            hits = (select jsonb_agg(hit || '{"vectorScore": null}') from jsonb_array_elements(hits) hit)
        """
    )
    told = texts(open_page("report", search=search))
    assert "vector not run, lexical 0." in told
    assert "vector not found" not in told


def test_what_every_search_has_in_common_is_a_line_and_no_table(own_installation: Installation):
    ask(own_installation, FRETE, FILA)
    page = open_page("report", by="scope")
    assert "By scope: the same in every search (adr, docs, session)." in texts(page)
    assert not [frame for frame in page.dataframe if "precision@5" in frame.value]


def test_a_hit_that_a_reindex_removed_is_said_to_be_gone(
    own_installation: Installation, connection: psycopg.Connection
):
    (search,) = ask(own_installation, FILA)
    connection.execute("delete from chunks")
    page = open_page("report", search=search)
    assert "1.  A chunk that is gone" in texts(page)
    assert "This chunk is no longer in the index." in texts(page)


def test_what_people_and_documents_wrote_is_never_markdown(own_installation: Installation):
    hostile = "frete :red[x] $5 e $6 <img src=x onerror=alert(1)> **não**"
    (search,) = ask(own_installation, hostile)
    page = open_page("report", search=search)
    assert hostile in texts(page)
    for sign in (":red[x]", "onerror", "**não**"):
        assert sign not in said(page)


def test_mixed_settings_are_badged_and_the_change_is_told(
    own_installation: Installation, connection: psycopg.Connection
):
    ask(own_installation, FRETE, FILA)
    connection.execute(
        """
        insert into search_settings (project_id, id, settings)
        select project_id, repeat('b', 16), settings || '{"weightVector": 0.75, "weightLexical": 0.25}'
        from search_settings limit 1
        """
    )
    connection.execute(
        "update rag_searches set settings_id = repeat('b', 16), created_at = created_at + interval '1 millisecond' "
        "where question = %s",
        (FILA,),
    )
    page = open_page("report")
    assert "mixed settings]" in said(page)
    assert "What changed: settings (weightLexical 0.6 → 0.25, weightVector 0.4 → 0.75)" in texts(page)
    page.selectbox(key="report-filter-settings").set_value("b" * 16).run()
    assert table(page, "question") == [FILA]
    assert json.dumps(one(page.query_params["settings"])) == json.dumps("b" * 16)
