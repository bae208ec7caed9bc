"""What holds on every page: the frame, the address, the session's memory, empty and broken installations."""

from pathlib import Path

import psycopg
import pytest
import streamlit as st

from medir.page_kit.services import workbench
from workbench_material import (
    ANA,
    SCRIPTS,
    Installation,
    commit,
    open_page,
    said,
    services_of,
    texts,
    workbench_page,
)

PATHS = sorted(SCRIPTS)


@pytest.mark.parametrize("path", PATHS)
def test_every_page_of_an_empty_database_says_how_to_begin(empty_installation: str, path: str):
    page = open_page(path)
    assert not page.exception
    assert page.header[0].value == "No project yet"
    assert "medir up" in page.code[0].value


@pytest.mark.parametrize("path", ["golden-set", "search"])
def test_a_project_that_was_never_indexed_says_what_to_run(own_installation: Installation, path: str):
    with psycopg.connect(own_installation.environment["DATABASE_URL"]) as connection:
        connection.execute("delete from indexes")
        connection.execute("delete from chunks")
    page = open_page(path)
    assert not page.exception
    assert "not indexed yet" in page.info[0].value
    assert page.code[0].value == "medir index --project entrega"


def test_the_frame_says_index_settings_and_role(installation: Installation):
    page = open_page("search")
    told = texts(page)
    assert "8 chunks · embedded/use-multilingual-v3 · indexed " in told
    assert "preset embedded: vector 0.4, lexical 0.6, no threshold, at most 2 per file, limit 5" in told
    assert ":gray-badge[:material/computer: local]" in said(page)
    assert page.query_params["project"] in ("entrega", ["entrega"])


def test_the_frame_says_when_the_repository_has_moved_on(own_installation: Installation):
    commit(Path(own_installation.project.repo), {"docs/novo.md": "# Novo\n\nAlgo novo.\n"})
    assert "repository has moved on" in said(open_page("search"))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "query",
    [
        {"project": "<script>alert(1)</script>"},
        {"run": "999999"},
        {"case": "<img onerror=alert(1)>"},
        {"show": "everything"},
        {"weight": "heavy"},
        {"threshold": "nan"},
        {"limit": "-3", "depth": "1e99", "cap": "7"},
        {"split": "x", "tag": ":red[x]", "scope": "code", "whole": "1"},
    ],
)
def test_a_bad_address_is_a_notice_and_the_default(
    installation: Installation, path: str, query: dict[str, str]
):
    page = open_page(path, **query)
    assert not page.exception
    assert page.header[0].value
    assert not list(page.error)
    # the report's window stands in its address
    assert set(page.query_params) - {"last"} == {"project"}
    assert page.query_params["project"] in ("entrega", ["entrega"])


def test_an_unknown_value_is_said(installation: Installation):
    page = open_page("golden-set", run="999999", show="everything")
    assert "Part of this address is not known" in said(page)
    assert "The address asks for run = 999999, which is not known here." in texts(page)
    assert "The address asks for show = everything, which is not known here." in texts(page)
    page.run()
    assert "The address asks for" not in texts(page)


def test_a_word_that_the_page_does_not_take_is_said_like_a_value_that_it_does_not_know(
    installation: Installation,
):
    page = open_page("golden-set", baseline="../../x")
    assert "The address asks for baseline = ../../x, which is not known here." in texts(page)
    assert set(page.query_params) == {"project"}
    page.run()
    assert "The address asks for" not in texts(page)
    page = open_page("index", **{f"word{number}": "x" for number in range(10)})
    assert [warning.value for warning in page.warning].count("Part of this address is not known") == 1
    assert "So it is with 2 more." in texts(page)


def test_what_was_chosen_survives_a_visit_to_another_page(installation: Installation):
    page = open_page("search", q="Quando o frete é calculado?", limit="2")
    page.switch_page(SCRIPTS["golden-set"]).run()
    assert "q" not in page.query_params
    page.segmented_control(key="show-cases").set_value("failing").run()
    page.switch_page(SCRIPTS["search"]).run()
    assert page.text_input(key="search_question").value == "Quando o frete é calculado?"
    assert page.slider(key="try-limit").value == 2
    assert "**2 hits** of" in said(page)
    page.switch_page(SCRIPTS["golden-set"]).run()
    assert page.segmented_control(key="show-cases").value == "failing"
    assert list(page.dataframe[0].value["case"]) == ["senha"]


def test_the_workbench_opens_at_its_first_page(installation: Installation):
    page = workbench_page().run()
    assert page.header[0].value == "Report"


def test_a_database_that_is_away_is_a_banner_with_a_retry_and_comes_back(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
):
    st.cache_resource.clear()
    monkeypatch.setenv("DATABASE_URL", "postgresql://127.0.0.1:9/medir")
    page = open_page("search")
    assert not page.exception
    assert page.error[0].value == "A service does not answer"
    assert "The database does not answer" in texts(page)
    monkeypatch.setenv("DATABASE_URL", installation.environment["DATABASE_URL"])
    page.button(key="retry-search").click().run()
    assert not list(page.error)
    assert page.text_input(key="search_question")


def test_a_fault_of_ours_is_said_without_a_traceback(
    own_installation: Installation, caplog: pytest.LogCaptureFixture
):
    # a model that nobody can have written there is nothing that a visitor can cause or mend
    with psycopg.connect(own_installation.environment["DATABASE_URL"]) as connection:
        connection.execute("update indexes set embedding_model = 'x'")
    page = open_page("search")
    assert page.error[0].value == "A fault of Medir's own"
    assert not page.exception
    assert "Traceback" not in texts(page)
    assert any("a fault in search" in record.message for record in caplog.records)


def test_all_sessions_share_the_services_of_their_process(installation: Installation):
    open_page("search")
    first = workbench()
    open_page("golden-set")
    assert workbench() is first


def test_an_index_made_elsewhere_shows_at_the_next_look(own_installation: Installation):
    page = open_page("golden-set")
    assert "2 of 3 pass" in said(page)
    with services_of(own_installation.environment) as opened:
        opened.evaluation.run_golden(own_installation.project, actor=ANA)
    page.run()
    assert "▼ 0 lost, ▲ 0 won" in said(page)
