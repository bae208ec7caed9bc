"""Opening, reloading and sharing any page adds no row to any table; only a person who asks does."""

from collections.abc import Iterator, Mapping

import psycopg
import pytest
from psycopg import sql
from streamlit.testing.v1 import AppTest

from rag_core.search.votes import cast_vote
from workbench_material import ANA, SCRIPTS, Installation, forget_workbenches, open_page, services_of, texts

QUESTION = "Por quantos dias a fila guarda eventos?"
# a question that was never embedded
REWORDED = ("Quando o frete é calculado?", "Em que momento se calcula o frete?")


def rows(connection: psycopg.Connection) -> Mapping[str, int]:
    """How many rows every table holds."""
    tables = connection.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
    counts = {}
    for (table,) in tables:
        found = connection.execute(
            sql.SQL("select count(*) from {}").format(sql.Identifier(table))
        ).fetchone()
        counts[table] = found[0] if found else 0
    return counts


@pytest.fixture
def connection(own_installation: Installation) -> Iterator[psycopg.Connection]:
    with psycopg.connect(own_installation.environment["DATABASE_URL"], autocommit=True) as opened:
        yield opened


@pytest.fixture
def search_id(own_installation: Installation) -> str:
    """A search of Ana's with a vote on its first hit."""
    project = own_installation.project
    with services_of(own_installation.environment) as opened:
        answer = opened.search.ask(project.project_id, QUESTION, actor=ANA)
        cast_vote(
            opened.database,
            opened.clock,
            project.project_id,
            search_id=str(answer.search_id),
            chunk_id=answer.ranking.hits[0].candidate.chunk_id,
            verdict="util",
            actor=ANA,
        )
    return str(answer.search_id)


def addresses(search_id: str) -> list[tuple[str, dict[str, str]]]:
    return [
        ("report", {}),
        ("report", {"last": "7d", "which": "useful", "search": search_id}),
        ("report", {"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z", "synthetic": "counted"}),
        ("search", {}),
        ("search", {"q": QUESTION}),
        ("search", {"q": "uma pergunta que ninguém fez", "scope": "adr", "threshold": "0", "whole": "shown"}),
        ("search", {"asked": search_id}),
        ("search", {"q": QUESTION, "asked": search_id, "limit": "2"}),
        ("golden-set", {}),
        ("golden-set", {"case": "senha", "show": "failing"}),
        ("golden-set", {"case": "frete"}),
        ("calibration", {}),
        ("calibration", {"at-weight": "0.35", "at-threshold": "0.1"}),
        ("index", {}),
        ("index", {"part": "reindex", "mode": "full"}),
        ("index", {"part": "chunks", "place": "docs/frete.md", "find": "frete"}),
    ]


def test_every_page_is_opened_reloaded_and_shared_without_a_row(
    own_installation: Installation, connection: psycopg.Connection, search_id: str
) -> None:
    with services_of(own_installation.environment) as opened:
        opened.calibrator.calibrate(own_installation.project, actor=ANA)
    cases = own_installation.cases
    cases.write_text(cases.read_text(encoding="utf-8").replace(*REWORDED), encoding="utf-8")
    before = rows(connection)
    for path, query in addresses(search_id):
        page = open_page(path, **query)
        assert not page.exception, (path, query)
        if path == "search":
            # as when a person comes back to it
            page.switch_page(SCRIPTS["index"]).run()
            page.switch_page(SCRIPTS[path]).run()
        assert rows(connection) == before, (path, query)
    # nothing that one process keeps may hide what another would write
    forget_workbenches()
    for path, query in addresses(search_id):
        open_page(path, **query)
        assert rows(connection) == before, (path, query)


def address_of(page: AppTest) -> dict[str, str]:
    return {name: value if isinstance(value, str) else value[0] for name, value in page.query_params.items()}


def vote(page: AppTest) -> str:
    (standing,) = [button for button in page.button if str(button.label).endswith(", your vote")]
    return str(standing.key)


def test_the_address_of_what_was_asked_shows_that_search_and_its_votes_to_whoever_opens_it(
    own_installation: Installation, connection: psycopg.Connection
) -> None:
    page = open_page("search")
    page.text_input(key="search_question").set_value(QUESTION).run()
    assert rows(connection)["rag_searches"] == 1
    first = next(str(button.key) for button in page.button if str(button.key).startswith("vote-util-"))
    page.button(key=first).click().run()
    address = {
        name: value[0] for name, value in page.query_params.items() if isinstance(value, list)
    } or dict(page.query_params)
    before = rows(connection)

    again = open_page("search", **address)

    assert again.text_input(key="search_question").value == QUESTION
    assert [element.value for element in again.code] == [element.value for element in page.code]
    assert vote(again) == vote(page) == first
    assert "This is what was found then." in texts(again)
    # other numbers rank that very search again, and leave its votes to it
    again.slider(key="try-threshold").set_value(0.0).run()
    assert vote(again) == first
    assert rows(connection) == before


def test_a_link_with_a_question_alone_is_answered_and_recorded_once_somebody_asks(
    own_installation: Installation, connection: psycopg.Connection
) -> None:
    page = open_page("search", q=QUESTION)
    assert page.code
    assert not [button for button in page.button if str(button.key).startswith("vote-")]
    assert rows(connection)["rag_searches"] == 0
    page.button(key="ask-now").click().run()
    page.run()
    assert rows(connection)["rag_searches"] == 1
    assert [button for button in page.button if str(button.key).startswith("vote-")]
    assert "ask-now" not in [button.key for button in page.button]
    (search_id,) = connection.execute("select id::text from rag_searches").fetchone() or ("",)
    assert page.query_params["asked"] in (search_id, [search_id])


def make_another_project(connection: psycopg.Connection) -> None:
    """`outro`, whose index is empty."""
    connection.execute(
        """
        insert into projects (project_id, name, repo) select 'outro', 'Outro', repo from projects
        """
    )
    connection.execute(
        "insert into indexes select 'outro', embedding_model, chunker_version, text_search_config from indexes"
    )


def test_a_search_of_another_project_is_not_shown(
    own_installation: Installation, connection: psycopg.Connection, search_id: str
) -> None:
    make_another_project(connection)
    page = open_page("search", project="outro", asked=search_id)
    assert f"The address asks for asked = {search_id}, which is not known here." in texts(page)
    assert QUESTION not in [page.text_input(key="search_question").value, *texts(page).splitlines()]
    assert not list(page.code)


def test_another_project_is_looked_at_with_the_same_question_and_nobody_has_asked_it(
    own_installation: Installation, connection: psycopg.Connection, search_id: str
) -> None:
    make_another_project(connection)
    page = open_page("search", project="entrega", asked=search_id)
    before = rows(connection)
    page.selectbox(key="project_picker").set_value("outro").run()
    assert address_of(page) == {"project": "outro", "q": QUESTION}
    assert page.button(key="ask-now")
    assert "which is not known here" not in texts(page)
    assert rows(connection) == before


def test_a_hit_whose_chunk_is_gone_keeps_its_place_and_can_not_be_judged(
    own_installation: Installation, connection: psycopg.Connection, search_id: str
) -> None:
    shown = open_page("search", asked=search_id)
    citations = [line for line in texts(shown).splitlines() if line.startswith(("1.  ", "2.  "))]
    connection.execute(
        "delete from chunks where id::text = (select hits -> 0 ->> 'chunkId' from rag_searches)"
    )
    page = open_page("search", asked=search_id)
    assert not page.exception
    told = texts(page)
    # the headings were the chunk's
    assert "1.  docs/adr/0001-fila.md\n" in told
    assert citations[1] in told
    assert "Can't be judged: a reindex has removed its chunk since." in [
        caption.value for caption in page.caption
    ]
    assert page.code[0].value.startswith("This chunk is no longer in the index.")


@pytest.mark.parametrize(
    ("spoiled", "told"),
    [
        ("update rag_searches set weights = '{}'", "which is not known here"),
        ("delete from rag_candidates", "which is not known here"),
        ("update rag_searches set hits = '[]'", "which is not known here"),
    ],
)
def test_a_search_of_which_too_little_was_kept_is_said_and_its_question_answered(
    own_installation: Installation, connection: psycopg.Connection, search_id: str, spoiled: str, told: str
) -> None:
    connection.execute(spoiled)
    page = open_page("search", q=QUESTION, asked=search_id)
    assert not page.exception
    assert told in texts(page)
    assert page.button(key="ask-now")
