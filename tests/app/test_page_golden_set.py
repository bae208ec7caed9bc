"""The page Golden set: its verdict, its table, a case explained, a run from the page, the floor raised."""

import threading
from pathlib import Path

import psycopg
import pytest
from streamlit.testing.v1 import AppTest

from medir.page_kit.services import visitor, workbench
from rag_core.evaluation.baselines import freeze
from rag_core.golden.floor import read_floor
from rag_core.project.projects import choose_project
from rag_core.settings.adopting import adopt_settings
from rag_core.settings.overrides import Overrides
from workbench_material import ANA, CASES, Installation, commit, open_page, said, services_of, texts

WORK = "golden entrega"


def cases_shown(page: AppTest) -> list[str]:
    return list(page.dataframe[0].value["case"])


def test_the_first_sentence_says_what_passes_against_which_floor_and_what_was_lost(
    installation: Installation,
):
    page = open_page("golden-set")
    # 3 cases, floor 2; the fact behind `senha` has moved between the two runs
    (sentence,) = page.warning
    assert sentence.value.startswith("✓ **2 of 3 pass, floor 2:** ▼ 1 lost, ▲ 0 won against the run of ")
    assert "▼ lost: senha — De quanto em quanto tempo a senha do coletor é trocada?" in texts(page)
    assert "Between the two runs changed: the index." in texts(page)


def test_the_table_has_a_row_a_case_with_verdict_place_strip_and_change(installation: Installation):
    table = open_page("golden-set").dataframe[0].value.set_index("case")
    assert list(table.index) == ["frete", "fila", "senha"]
    assert list(table["verdict"]) == ["✓", "✓", "✗"]
    assert list(table["expected"]) == ["docs/frete.md", "docs/adr/0001-fila.md", "docs/seguranca.md"]
    assert list(table["change"]) == ["", "", "▼ lost"]
    assert table["stands"].str.startswith("data:image/svg+xml;base64,").all()
    assert table.loc["frete", "hit"] == "1"
    assert table.loc["senha", "hit"] == "—"


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ({"show": "lost"}, ["senha"]),
        ({"show": "failing"}, ["senha"]),
        ({"tag": "prazo"}, ["fila", "senha"]),
        ({"split": "holdout"}, ["fila"]),
        ({"show": "all", "tag": "preco", "split": "calibrate"}, ["frete"]),
    ],
)
def test_filters_stand_in_the_address(installation: Installation, query: dict[str, str], shown: list[str]):
    assert cases_shown(open_page("golden-set", **query)) == shown


def test_a_filter_that_no_case_meets_says_so(installation: Installation):
    page = open_page("golden-set", show="won")
    assert "No case is like that." in texts(page)


def test_a_filter_chosen_on_the_page_goes_into_the_address(installation: Installation):
    page = open_page("golden-set")
    page.segmented_control(key="show-cases").set_value("failing").run()
    assert page.query_params["show"] == "failing"
    assert cases_shown(page) == ["senha"]
    page.segmented_control(key="show-cases").set_value("all").run()
    assert "show" not in page.query_params


def test_a_lost_case_in_the_address_is_explained_with_what_happened_to_its_text(installation: Installation):
    page = open_page("golden-set", case="senha")
    assert page.subheader[0].value == "✗ This case fails"
    assert "case senha" in texts(page)
    told = texts(page)
    assert "expects docs/seguranca.md" in told
    assert "note: mudou de lugar na segunda versão" in told
    moved = "▼ The text that was found in docs/seguranca.md › Segurança stands in "
    assert f"{moved}docs/motorista.md › Motorista › Senha now" in told
    assert "It passed in the run of " in told
    # the text that won is gone: a wider limit would bring up another one
    assert "→ It passes with a limit of" not in told
    assert "or move the text back." in told
    hits = page.dataframe[1].value
    assert list(hits["citation"]) == ["docs/motorista.md › Motorista › Senha"]
    rivals = page.dataframe[2].value
    assert list(rivals["mark"])[-1] == "→"
    assert rivals["citation"].iloc[-1].startswith("docs/seguranca.md")


def test_a_run_that_is_not_the_last_can_be_looked_at(installation: Installation):
    page = open_page("golden-set")
    first = page.selectbox(key="run-in-view").options[-1]
    assert first.endswith("3 of 3")
    with psycopg.connect(installation.environment["DATABASE_URL"]) as connection:
        row = connection.execute(
            "select id::text from runs where kind = 'golden' order by started_at"
        ).fetchone()
    assert row
    page.selectbox(key="run-in-view").set_value(row[0]).run()
    assert page.success[0].value == "✓ **3 of 3 pass, floor 2:** the first run of these cases"
    assert page.query_params["run"] in (row[0], [row[0]])


def test_the_run_button_measures_outside_the_pages_thread(own_installation: Installation):
    page = open_page("golden-set")
    page.button(key="run-golden").click().run()
    workbench().work.wait(WORK, timeout_s=60)
    page.run()
    # nothing changed since the second run
    assert page.success[0].value.startswith("✓ **2 of 3 pass, floor 2:** ▼ 0 lost, ▲ 0 won")
    assert len(page.selectbox(key="run-in-view").options) == 4


def freeze_baseline(name: str) -> None:
    opened = workbench().services
    freeze(
        opened.evaluation,
        choose_project(opened.database, "entrega"),
        name,
        clock=opened.clock,
        actor=visitor(),
    )


def test_a_baseline_in_the_address_is_what_the_run_is_held_against(own_installation: Installation):
    open_page("golden-set")
    freeze_baseline("v1")
    page = open_page("golden-set", against="v1")
    assert page.success[0].value == "✓ **2 of 3 pass, floor 2:** ▼ 0 lost, ▲ 0 won against baseline v1"
    page.selectbox(key="golden-against").set_value("").run()
    assert "against the run of" in said(page)
    assert "against" not in page.query_params


def index_again(installation: Installation, files: dict[str, str]) -> None:
    commit(installation.cases.parent.parent, files)
    opened = workbench().services
    opened.indexing.run(choose_project(opened.database, "entrega"), actor=visitor())


def run_from(page: AppTest) -> AppTest:
    page.button(key="run-golden").click().run()
    workbench().work.wait(WORK, timeout_s=60)
    return page.run()


def test_on_another_index_than_the_baselines_the_cases_are_still_held_against_each_other(
    own_installation: Installation,
):
    open_page("golden-set")
    freeze_baseline("v1")
    index_again(own_installation, {"docs/seguranca.md": "# Segurança\n\nOutro texto.\n"})
    page = run_from(open_page("golden-set", against="v1"))
    assert "▼ 0 lost, ▲ 0 won against baseline v1" in said(page)
    assert "Between the two runs changed: the index." in texts(page)
    assert not set(page.dataframe[0].value["change"]) - {""}


def test_a_lost_case_that_must_pass_is_the_banners_first_word_and_a_new_case_is_named(
    own_installation: Installation,
):
    with_must = CASES.replace("tags: [preco]", "tags: [preco]\n    must_pass: true")
    own_installation.cases.write_text(with_must, encoding="utf-8")
    open_page("golden-set")
    freeze_baseline("v1")
    index_again(
        own_installation,
        {
            "docs/frete.md": "# Tabela\n\nVeja o anexo.\n",
            "docs/coleta.md": "# Frete\n\nO frete é calculado na coleta e congelado até a entrega.\n",
        },
    )
    added = "  - id: rota\n    question: Quando a rota é planejada?\n    expected: docs/adr/0002-rota.md\n"
    own_installation.cases.write_text(with_must + added, encoding="utf-8")
    page = run_from(open_page("golden-set", against="v1"))
    assert page.error[0].value.startswith("✗ **Must pass, and lost:** frete. **")
    assert "▼ lost, and must pass: frete — Quando o frete é calculado?" in texts(page)
    assert "New, so not compared: rota." in texts(page)
    table = page.dataframe[0].value.set_index("case")
    assert (table.loc["frete", "change"], table.loc["rota", "change"]) == ("▼ lost", "new")
    told = texts(open_page("golden-set", against="v1", case="frete"))
    assert "▼ The text that was found in docs/frete.md › Frete stands in docs/coleta.md › Frete now" in told
    assert "→ Expect docs/coleta.md in the case, or move the text back." in told


def test_a_baseline_that_is_not_there_or_not_sound_is_said(own_installation: Installation):
    page = open_page("golden-set", against="v9")
    assert "against = v9" in texts(page)
    freeze_baseline("v1")
    file = own_installation.cases.parent / "baselines" / "v1.json"
    file.write_text(file.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    page = open_page("golden-set", against="v1")
    assert "can't be used" in said(page)
    assert "v1" not in page.selectbox(key="golden-against").options


def test_raising_the_floor_asks_why_and_writes_it_into_the_file(own_installation: Installation):
    cases = own_installation.cases
    cases.write_text(CASES.replace("floor: 2", "floor: 1"), encoding="utf-8")
    page = open_page("golden-set")
    page.button(key="raise-floor").click().run()
    page.button(key="floor-confirm").click().run()
    assert any("say why" in warning.value for warning in page.warning)
    assert read_floor(cases.read_text(encoding="utf-8")) == 1
    page.text_area(key="floor-reason").set_value("as good as it was").run()
    page.button(key="floor-confirm").click().run()
    workbench().work.wait(WORK, timeout_s=60)
    assert read_floor(cases.read_text(encoding="utf-8")) == 2
    page.run()
    assert "2 of 3 pass, floor 2" in said(page)


def test_a_stale_index_and_settings_that_differ_stand_beside_the_verdict(own_installation: Installation):
    project, settings = own_installation.project, own_installation.cases.with_name("settings.yaml")
    with services_of(own_installation.environment) as opened:
        adopt_settings(
            opened.database,
            opened.clock,
            project,
            overrides=Overrides(weight_vector=0.3),
            reason="x",
            actor=ANA,
        )
    settings.write_text("weightVector: 0.25\n", encoding="utf-8")
    commit(own_installation.cases.parent.parent, {"docs/seguranca.md": "# Segurança\n\nOutro texto.\n"})
    page = open_page("golden-set")
    assert "searches use the one, golden runs and calibrations the other" in said(page)
    page.button(key="run-golden").click().run()
    workbench().work.wait(WORK, timeout_s=60)
    page.run()
    told = texts(page)
    assert "Stale: the index is 1 commit behind the repository, and indexed text has changed since." in told
    assert any(warning.value.startswith("✓ **2 of 3 pass") for warning in page.warning)
    assert "Searches: adopted: vector 0.3" in told
    assert "Golden runs and calibrations: committed: vector 0.25" in told
    assert "weightVector is 0.3 adopted and 0.25 in the file" in told
    calibration = open_page("calibration")
    assert "weightVector is 0.3 adopted and 0.25 in the file" in texts(calibration)
    settings.write_text("weightVector: 2\n", encoding="utf-8")
    page.run()
    assert "has faults, so nothing is measured" in said(page)
    assert "settings.yaml, line 1, weightVector: weightVector is 2" in texts(page)
    assert not page.exception


def test_faults_of_the_golden_set_are_listed_and_nothing_can_be_run(own_installation: Installation):
    faulty = CASES.replace("docs/frete.md", "docs/nowhere.md").replace("id: fila", "id: frete")
    own_installation.cases.write_text(faulty, encoding="utf-8")
    page = open_page("golden-set")
    assert "The golden set has " in page.error[0].value
    assert page.button(key="run-golden").disabled
    table = page.dataframe[0].value
    assert {"line", "case", "field", "message"} == set(table.columns)
    assert len(table) >= 1


def test_a_refused_run_says_why_and_offers_to_measure_it_as_it_is(
    own_installation: Installation, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEDIR_EMBEDDING", "ollama")
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    page = open_page("golden-set")
    page.button(key="run-golden").click().run()
    workbench().work.wait(WORK, timeout_s=60)
    page.run()
    assert "This golden run would be degraded" in texts(page)
    page.button(key="run-degraded").click().run()
    workbench().work.wait(WORK, timeout_s=60)
    page.run()
    assert ":orange-badge[:material/warning: degraded]" in [badge.value for badge in page.markdown]


def test_a_project_without_golden_set_shows_how_to_write_one(own_installation: Installation):
    own_installation.cases.unlink()
    page = open_page("golden-set")
    assert "no golden set yet" in page.info[0].value
    assert "floor: 0" in page.code[0].value


def test_while_a_run_goes_on_its_progress_stands_in_the_place_of_the_button(own_installation: Installation):
    opened = open_page("golden-set")
    begun, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        go_on.wait(30)

    workbench().work.start(WORK, wait)
    try:
        assert begun.wait(10)
        # the page was left and is opened again, in the same session and in another
        for page in (opened.run(), open_page("golden-set")):
            assert [bar.proto.text for bar in page.get("progress")] == ["Starting"]
            assert "run-golden" not in [button.key for button in page.button]
            assert "2 of 3 pass" in said(page)
    finally:
        go_on.set()
        workbench().work.wait(WORK, timeout_s=30)
    opened.run()
    assert "run-golden" in [button.key for button in opened.button]


def test_the_project_folder_is_left_as_it_was(installation: Installation):
    open_page("golden-set")
    assert Path(installation.cases).read_text(encoding="utf-8") == CASES
