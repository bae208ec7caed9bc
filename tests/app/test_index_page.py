"""The Index page: what it says of an index, how it makes one, and how it shows what is in there."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from material import ANA, DOCUMENTS, Repository
from medir.page_kit.services import workbench
from medir.pages.index.document_outline import outlined
from medir.pages.index.running import progress_line
from rag_core.database.connections import Database
from rag_core.index.reading import SourceChunk, read_chunk_page
from rag_core.model import Place
from rag_core.project.following import last_run
from rag_core.project.projects import add_project
from workbench_material import HOSTILE, HOSTILE_SIGNS, SCRIPTS, elements, open_page, texts

P = "entrega"
FRETE = Place("file", "docs/frete.md")


class Bench:
    """A repository that is a project, and a workbench over it."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database = database
        self.repository = Repository(folder, DOCUMENTS)
        self.project = add_project(database, P, repo=folder)

    def open(self, **address: str) -> AppTest:
        """The page as somebody sees it who comes some seconds later: what is kept for a while is read anew."""
        st.cache_data.clear()
        return open_page("index", project=P, **address)

    def finish(self, page: AppTest) -> AppTest:
        """Wait for the run that the page began, then look again."""
        workbench().work.wait(f"index {P}", timeout_s=60)
        return page.run()

    def index(self) -> None:
        """What the page's own first run does, without the page and the process that it starts."""
        workbench().services.indexing.run(self.project, actor=ANA)

    def begin(self) -> AppTest:
        """The first run, from the page."""
        page = self.open()
        page.button(key="index-first").click().run()
        return self.finish(page)

    def chunks(self, place: Place = FRETE) -> tuple[SourceChunk, ...]:
        return read_chunk_page(self.database, P, place, first=1).chunks

    def vote(self, question: str) -> str:
        """Ask, and vote for the best hit; returns its chunk's id."""
        answer = workbench().services.search.ask(P, question, actor=ANA)
        chunk_id = answer.ranking.hits[0].candidate.chunk_id
        with self.database.connection() as connection:
            connection.execute(
                """
                insert into rag_feedback (project_id, search_id, chunk_id, rank, verdict, actor_kind, actor_id,
                    searched_at, settings_id)
                select project_id, id, %s, 1, 'util', 'human', 'ana', created_at, settings_id from rag_searches
                """,
                (chunk_id,),
            )
        return chunk_id

    def votes(self) -> int:
        with self.database.connection() as connection:
            row = connection.execute("select count(*) from rag_feedback").fetchone()
        return row[0] if row else 0


@pytest.fixture
def bench(empty_installation: str, tmp_path: Path) -> Iterator[Bench]:
    """A project that was never indexed."""
    with Database(empty_installation, max_size=2) as database:
        yield Bench(database, tmp_path / "repository")


def metric(page: AppTest, label: str) -> str:
    return next(found.value for found in page.metric if found.label == label)


def table_with(page: AppTest, column: str):
    return next(table.value for table in page.dataframe if column in table.value)


def test_a_project_that_was_never_indexed_says_how_much_waits_and_offers_to_begin(bench: Bench) -> None:
    page = bench.open()
    assert "5 files and no sessions wait" in page.info[0].value
    assert page.button(key="index-first").label == "Index it now"


def test_after_the_first_run_everything_is_in_the_index(bench: Bench) -> None:
    page = bench.begin()
    assert (
        "Everything is in the index:** 5 files and no sessions, 6 chunks, each with a vector"
        in page.success[0].value
    )
    assert not page.warning
    assert not page.exception


def test_skipped_files_stand_with_their_reason_and_remedy(bench: Bench) -> None:
    odd = {
        "docs/quebrado.md": b"# \x81\x8d\x8f\n",
        "docs/a.png": b"x",
        "docs/b.png": b"x",
        "LEIA.md": "# L\n",
    }
    bench.repository.commit(odd)
    page = bench.begin()
    assert page.warning[0].value == "✗ **Not everything is in the index:** 1 file could not be indexed"
    assert table_with(page, "what to do").to_dict("records") == [
        {
            "": "✗",
            "file": "docs/quebrado.md",
            "why": "no encoding fits its bytes",
            "what to do": "Save it as UTF-8.",
        },
        *(
            {"": "—", "file": f"docs/{name}.png", "why": "no Markdown", "what to do": "nothing: by rule"}
            for name in "ab"
        ),
    ]
    told = "2 files left out by rule, 1 could not be indexed"
    assert f"**Skipped files** · {told}" in [element.value for element in page.markdown]
    scopes = table_with(page, "with chunks")
    assert list(scopes["could not be indexed"]) == ["1", "0", "—"]
    assert list(scopes["left out by rule"]) == ["2", "0", "—"]
    assert "1 Markdown file lies outside the indexed folders: LEIA.md." in texts(page)
    page = bench.open(part="reindex")
    assert f"Skipped: {told}." in texts(page)
    runs = table_with(page, "took")
    assert (list(runs["could not be indexed"]), list(runs["left out by rule"])) == (["1"], ["2"])


def test_a_dry_run_shows_what_would_change_and_writes_nothing(bench: Bench) -> None:
    bench.index()
    bench.repository.commit({"docs/nova.md": "# Nova\n\nUma página nova.\n"})
    page = bench.open(part="reindex")
    page.button(key="dry-run").click().run()
    page = bench.finish(page)
    counted = {
        label: metric(page, label)
        for label in ("chunks kept", "chunks added", "vectors to make", "votes at risk")
    }
    assert counted == {"chunks kept": "6", "chunks added": "1", "vectors to make": "1", "votes at risk": "0"}
    assert page.warning[0].value.startswith(
        "✗ **Not everything is in the index, and it is not of today:** 1 source not read yet; indexed at "
    )
    assert list(table_with(page, "took")["vectors"]) == ["1 to make", "6 made"]


def test_an_index_that_holds_all_but_the_last_commit_says_only_that(bench: Bench) -> None:
    bench.index()
    bench.repository.commit({"outro.txt": "nada"})
    page = bench.open()
    assert page.warning[0].value.startswith(
        "✗ **Everything is in the index, but it is not of today:** indexed at "
    )


def test_a_dry_run_can_be_carried_out(bench: Bench) -> None:
    bench.index()
    bench.repository.commit({"docs/nova.md": "# Nova\n\nUma página nova.\n"})
    page = bench.open(part="reindex")
    page.button(key="dry-run").click().run()
    bench.finish(page).button(key="carry-out").click().run()
    page = bench.finish(page)
    assert "6 files" in page.success[0].value
    assert metric(page, "vectors made") == "1"


def test_a_full_run_over_votes_changes_nothing_until_their_loss_is_confirmed(bench: Bench) -> None:
    bench.index()
    bench.vote("Quando o frete é calculado?")
    page = bench.open(part="reindex", mode="full")
    page.button(key="reindex").click().run()
    page = bench.finish(page)
    assert "Votes are at risk" in page.warning[0].value
    assert "This run would delete 1 vote." in texts(page)
    assert bench.votes() == 1
    page.button(key="lose-votes-refused").click().run()
    assert "nothing brings them back" in texts(page)
    assert bench.votes() == 1
    page.button(key="confirm-loss").click().run()
    page = bench.finish(page)
    assert bench.votes() == 0
    assert metric(page, "votes lost") == "▼ 1"


def test_documents_that_are_gone_stay_in_the_index_until_somebody_says_that_they_were_meant_to_go(
    bench: Bench,
) -> None:
    bench.index()
    bench.vote("Quando o frete é calculado?")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n"
    bench.repository.commit(dict.fromkeys(DOCUMENTS, pointer))
    page = bench.open(part="reindex")
    page.button(key="reindex").click().run()
    page = bench.finish(page)
    assert any("Documents are gone: nothing was changed" in told.value for told in page.warning)
    assert "3 LFS pointers" in texts(page)
    assert (len(bench.chunks()), bench.votes()) == (2, 1)
    page.button(key="empty-scope").click().run()
    page.button(key="confirm-empty").click().run()
    bench.finish(page)
    assert (bench.chunks(), bench.votes()) == ((), 0)


def test_a_run_over_one_scope_leaves_the_others_alone(bench: Bench) -> None:
    bench.index()
    bench.repository.commit({"docs/adr/0003-x.md": "# X\n\nTexto.\n", "docs/nova.md": "# Nova\n\nTexto.\n"})
    page = bench.open(part="reindex", over="adr")
    page.button(key="reindex").click().run()
    page = bench.finish(page)
    assert metric(page, "chunks added") == "1"
    assert "1 source not read yet" in page.warning[0].value


def test_a_run_of_another_process_is_followed_and_a_second_one_is_not_offered(bench: Bench) -> None:
    bench.index()
    with bench.database.connection() as connection:
        connection.execute(
            """
            insert into runs (project_id, id, kind, state, parameters, progress, actor_kind, actor_id, surface,
                started_at, heartbeat_at)
            values ('entrega', gen_random_uuid(), 'index', 'running', '{"mode": "full"}',
                '{"step": "embed", "done": 50, "total": 200}', 'human', 'bia', 'cli', now(), now() + interval '10 s')
            """
        )
    page = bench.open(part="reindex")
    assert "Run of human:bia since" in texts(page)
    assert page.button(key="reindex").disabled
    assert page.button(key="dry-run").disabled
    run = last_run(bench.database, bench.project.project_id, "index")
    assert run is not None
    assert "50 of 200, about 30 s left" in progress_line(run)
    page.button(key="stop-index").click().run()
    with bench.database.connection() as connection:
        asked = connection.execute("select cancel_requested from runs where state = 'running'").fetchone()
    assert asked == (True,)


def test_a_run_whose_process_died_is_told_as_interrupted(bench: Bench) -> None:
    bench.index()
    with bench.database.connection() as connection:
        connection.execute(
            """
            insert into runs (project_id, id, kind, state, actor_kind, actor_id, surface, started_at, heartbeat_at)
            values ('entrega', gen_random_uuid(), 'index', 'running', 'human', 'bia', 'cli',
                now() + interval '1 s', now() - interval '1 min')
            """
        )
    page = bench.open(part="reindex")
    assert "its process died" in texts(page)
    assert not page.button(key="reindex").disabled


def test_a_provider_that_is_away_is_named_with_its_remedy_and_the_page_goes_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.index()
    monkeypatch.setenv("MEDIR_EMBEDDING", "ollama")
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:1")
    page = bench.open()
    assert "It does not answer" in [error.value for error in page.error]
    assert "No Ollama answers at http://127.0.0.1:1." in texts(page)
    assert "Start it with `ollama serve`" in texts(page)
    assert "The index was made by embedded/use-multilingual-v3" in texts(page)
    assert "Everything is in the index" in page.success[0].value


def test_a_repository_that_is_gone_leaves_the_index_to_look_at(bench: Bench) -> None:
    bench.index()
    bench.repository.folder.rename(bench.repository.folder.with_name("elsewhere"))
    page = bench.open()
    assert "The repository can't be read" in page.error[0].value
    assert page.code[0].value == "medir project set --project entrega --repo PATH"
    assert bench.open(part="reindex").button(key="reindex").disabled
    assert not bench.open(part="reindex", over="session").button(key="reindex").disabled


def test_what_was_chosen_stands_in_the_address_and_is_taken_from_it(bench: Bench) -> None:
    bench.index()
    page = bench.open(part="chunks", within="adr", find="fila", place="docs/adr/0001-fila.md")
    listed = next(table.value for table in page.dataframe if "place" in table.value)
    assert list(listed["place"]) == ["docs/adr/0001-fila.md"]
    assert "1 chunk" in texts(page)
    page.segmented_control(key="browser-scope").set_value("docs").run()
    assert page.query_params["within"] in ("docs", ["docs"])


def test_an_address_that_asks_for_what_is_not_there_is_told_and_shows_the_list(bench: Bench) -> None:
    bench.index()
    page = bench.open(part="chunks", place="docs/<b>x</b>.md", chunk="não é um id")
    assert "place = docs/<b>x</b>.md" in texts(page)
    assert "chunk = não é um id" in texts(page)
    assert not page.exception


def test_a_chunk_leads_to_the_searches_that_showed_it(bench: Bench) -> None:
    bench.index()
    chunk_id = bench.vote("O que é $frete$?")
    page = bench.open(part="chunks", chunk=chunk_id)
    assert "docs/frete.md" in [element.value for element in page.text]
    shown = table_with(page, "question")
    assert list(shown["question"]) == ["O que é $frete$?"]
    assert list(shown["rank"]) == [1]
    assert list(shown["votes"]) == ["▲1 ▼0"]


def test_a_chunks_text_is_drawn_character_by_character_and_is_never_markdown(bench: Bench) -> None:
    bench.repository.commit({"docs/hostil.md": HOSTILE})
    bench.index()
    chunks = bench.chunks(Place("file", "docs/hostil.md"))
    drawn = outlined(chunks, chosen="")
    assert [str(piece["repeated"]) + str(piece["rest"]) for piece in drawn] == [
        chunk.content for chunk in chunks
    ]
    page = bench.open(part="chunks", place="docs/hostil.md", chunk=chunks[0].chunk_id)
    assert not page.exception
    rendered = "\n".join(str(element.value) for element in elements(page) if element.type == "markdown")
    assert not any(sign in rendered for sign in HOSTILE_SIGNS)


def test_a_chunk_without_a_vector_is_marked_by_more_than_a_colour(bench: Bench) -> None:
    bench.index()
    with bench.database.connection() as connection:
        connection.execute("update chunks set embedding = null, embedding_model = null")
    assert all("✗ no vector" in str(drawn["told"]) for drawn in outlined(bench.chunks(), chosen=""))
    assert "6 chunks without a vector" in bench.open().warning[0].value


def test_what_was_chosen_survives_a_visit_to_another_page(bench: Bench) -> None:
    bench.index()
    page = bench.open(part="chunks", place="docs/frete.md")
    page.switch_page(SCRIPTS["search"]).run()
    page.switch_page(SCRIPTS["index"]).run()
    assert page.query_params["place"] in ("docs/frete.md", ["docs/frete.md"])
    assert "chunks 1 to 2 of 2" in texts(page)
