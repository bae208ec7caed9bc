"""The page Search: one question is one search, hits are citations, other numbers ask nothing again."""

import psycopg
import pytest
from streamlit.testing.v1 import AppTest

from medir.page_kit.plain_text import SHOWN_CHARS
from rag_core.model import Fusion
from rag_core.settings.adopting import adopt_settings
from rag_core.settings.overrides import Overrides
from workbench_material import (
    ANA,
    DOCUMENTS,
    HOSTILE,
    HOSTILE_SIGNS,
    Installation,
    blocks,
    elements,
    open_page,
    said,
    services_of,
    texts,
)

QUESTION = "Por quantos dias a fila guarda eventos?"


def searches(installation: Installation) -> int:
    """How many searches are recorded."""
    with psycopg.connect(installation.environment["DATABASE_URL"]) as connection:
        row = connection.execute("select count(*) from rag_searches").fetchone()
    return row[0] if row else 0


def quotes(page: AppTest) -> list[str]:
    """What each hit offers to be copied: its text and its citation."""
    return [element.value for element in page.code]


def ask(page: AppTest, question: str) -> AppTest:
    return page.text_input(key="search_question").set_value(question).run()


def put_in_force(installation: Installation, numbers: Overrides) -> None:
    with services_of(installation.environment) as opened:
        adopt_settings(
            opened.database, opened.clock, installation.project, overrides=numbers, reason="x", actor=ANA
        )


def test_a_question_typed_into_the_box_is_answered_with_citations(installation: Installation):
    page = ask(open_page("search"), QUESTION)
    assert "1.  docs/adr/0001-fila.md › Fila de eventos › Decisão" in texts(page)
    # the whole text of the chunk, then where it stands
    assert quotes(page)[0] == (
        "# Fila de eventos\n\n## Decisão\n\nA fila guarda eventos do coletor por sete dias.\n"
        "— docs/adr/0001-fila.md › Fila de eventos › Decisão"
    )
    assert page.query_params["q"] == [QUESTION] or page.query_params["q"] == QUESTION


def test_a_question_in_the_address_is_answered_and_not_recorded(installation: Installation):
    before = searches(installation)
    page = open_page("search", q=QUESTION)
    assert searches(installation) == before
    assert page.text_input(key="search_question").value == QUESTION
    assert "1.  docs/adr/0001-fila.md" in texts(page)


def test_a_question_is_one_search_however_often_the_page_is_drawn(installation: Installation):
    before = searches(installation)
    page = ask(open_page("search"), "Quando o frete é calculado?")
    assert searches(installation) == before + 1
    page.run()
    page.slider(key="try-weight").set_value(0.9).run()
    page.slider(key="try-limit").set_value(2).run()
    page.segmented_control(key="search-whole").set_value("shown").run()
    page.button(key="open-1").click().run()
    assert searches(installation) == before + 1
    ask(page, "Quando o pedágio entra no frete?")
    assert searches(installation) == before + 2


def test_the_sliders_rank_this_answer_again_and_say_what_moved(own_installation: Installation):
    put_in_force(own_installation, Overrides(threshold=0.175))
    page = ask(open_page("search"), QUESTION)
    first = quotes(page)
    assert 0 < len(first) < 5
    assert page.slider(key="try-threshold").value == 0.175
    page.slider(key="try-threshold").set_value(0.0).run()
    # without a threshold the limit is reached: 8 chunks, of which no file may give more than 2
    assert "**5 hits** of 8 candidates" in said(page)
    assert ":blue-badge[:material/experiment: trial]" in said(page)
    assert quotes(page)[: len(first)] == first
    assert texts(page).count("▲ new") == 5 - len(first)
    assert "threshold" in page.query_params
    page.slider(key="try-threshold").set_value(1.0).run()
    assert texts(page).count("▼ left: ") == len(first)
    page.button(key="try-reset").click().run()
    assert quotes(page) == first
    assert "threshold" not in page.query_params
    assert "left: " not in texts(page)


def test_numbers_of_the_address_are_tried_at_once(installation: Installation):
    page = open_page("search", q=QUESTION, threshold="0", limit="2", cap="1")
    assert "**2 hits** of" in said(page)
    assert page.slider(key="try-limit").value == 2
    assert page.segmented_control(key="try-cap").value == "1"


def test_a_k_is_tried_where_the_settings_in_force_take_one(own_installation: Installation):
    asked = {"q": QUESTION, "k": "2"}
    page = open_page("search", **asked)
    assert "The address asks for k = 2, which is not known here." in texts(page)
    assert not page.number_input
    put_in_force(own_installation, Overrides(fusion=Fusion.WEIGHTED_RRF, rrf_k=10, threshold=0.05))
    page = open_page("search", q=QUESTION, threshold="0.06")
    assert page.number_input(key="try-k").value == 10
    # what a first rank is worth is the most that can be reached: 1 / 11
    assert page.slider(key="try-threshold").max == pytest.approx(1 / 11, abs=1e-3)
    page.number_input(key="try-k").set_value(1).run()
    assert page.query_params["k"] in ("1", ["1"])
    # a threshold goes with the scale that it was chosen on
    assert "threshold" not in page.query_params
    assert (page.slider(key="try-threshold").value, page.slider(key="try-threshold").max) == (0.0, 0.5)
    assert ":blue-badge[:material/experiment: trial]" in said(page)


def test_a_threshold_that_cuts_everything_says_how_many_and_what_to_do(installation: Installation):
    page = open_page("search", q=QUESTION, threshold="1")
    (told,) = [info.value for info in page.info]
    assert told.startswith("The threshold 1.000 removed all ")
    assert "move its slider" in told


def test_the_whole_set_is_shown_on_demand_with_the_fate_of_each_candidate(installation: Installation):
    page = ask(open_page("search"), QUESTION)
    assert not list(page.dataframe)
    page.segmented_control(key="search-whole").set_value("shown").run()
    table = page.dataframe[0].value
    assert list(table["whole"]) == list(range(1, len(table) + 1))
    assert table["fate"].isin(["shown", "threshold", "file cap", "limit"]).all()


def test_the_scope_narrows_the_search_and_is_a_search_of_its_own(installation: Installation):
    before = searches(installation)
    page = ask(open_page("search"), "coletor")
    page.segmented_control(key="search-scope").set_value("adr").run()
    assert searches(installation) == before + 2
    assert all("— docs/adr/" in quote for quote in quotes(page))


def test_a_citation_opens_its_source_at_its_place_with_its_neighbours(installation: Installation):
    page = ask(open_page("search"), "O pedágio entra no frete")
    page.button(key="open-1").click().run()
    told = texts(page)
    assert "docs/frete.md  ·  chunk 2 of 2" in told
    assert DOCUMENTS["docs/frete.md"].split("\n\n")[1] in told
    assert "← cited" in told


def test_no_text_of_a_document_reaches_markdown_html_or_a_label(installation: Installation):
    page = ask(open_page("search"), "tarifa hostil em R$")
    page.segmented_control(key="search-whole").set_value("shown").run()
    page.button(key="open-1").click().run()
    quoted = next(quote for quote in quotes(page) if "hostil" in quote)
    # what can be seen is what is stored, character by character
    assert quoted.startswith(HOSTILE.strip()[:SHOWN_CHARS])
    shown_as_text = {"text", "code", "arrow_data_frame", "bidi_component", "component", "text_input"}
    for element in elements(page):
        if element.type not in shown_as_text:
            for sign in HOSTILE_SIGNS:
                assert sign not in str(element.proto), element.type
    for block in blocks(page):
        for sign in HOSTILE_SIGNS:
            assert sign not in str(getattr(block, "proto", "")), block.type


def test_marked_words_join_to_the_text_they_were_cut_from(installation: Installation):
    page = ask(open_page("search"), "tarifa hostil em R$")
    components = [element for element in elements(page) if "quoted" in str(element.proto)]
    assert components
    assert not any("<mark" in str(element.proto) for element in components)


def test_a_blank_question_asks_nothing(installation: Installation):
    before = searches(installation)
    page = ask(open_page("search"), "   ")
    assert searches(installation) == before
    assert "Ask as you would ask a colleague" in texts(page)


def test_a_search_without_its_provider_is_answered_by_words_and_says_so(
    own_installation: Installation, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEDIR_EMBEDDING", "ollama")
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    page = ask(open_page("search"), QUESTION)
    (warning,) = [warning.value for warning in page.warning]
    assert warning.startswith("Degraded: the configured embedding model is not the one that made the index.")
    # the settings in force have none that could be suspended
    assert "threshold" not in warning
    put_in_force(own_installation, Overrides(threshold=0.175))
    page = ask(open_page("search"), QUESTION)
    (warning,) = [warning.value for warning in page.warning]
    assert "The threshold, made for two signals, is suspended." in warning
    assert "degraded]" in said(page)
    assert "1.  docs/adr/0001-fila.md" in texts(page)


def test_a_reindex_is_told_and_the_question_can_be_asked_again(own_installation: Installation):
    page = ask(open_page("search"), QUESTION)
    with services_of(own_installation.environment) as opened:
        opened.indexing.run(own_installation.project, actor=ANA, mode="full")
    page.run()
    assert any("made again since this was asked" in info.value for info in page.info)
    page.button(key="search-again").click().run()
    assert searches(own_installation) == 2
    assert not any("made again" in info.value for info in page.info)
