"""Sessions: imported as often as one likes, masked before anything is stored, indexed from what was said."""

import json
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
import rows
from psycopg import sql

from material import ANA, make_project, services
from rag_core.database.connections import Database
from rag_core.errors import InvalidInput, UsageError
from rag_core.index.coverage import SourceParts, measure_coverage
from rag_core.index.session_import import import_sessions
from rag_core.model import Project, Scope

# put together here, so that no scanner takes this file for a leak
TOKEN = "ghp_" + "a1B2" * 9
KEY = "AKIA" + "ABCDEFGHIJKLMNOP"
PASSWORD = "s3nh4secreta"


@pytest.fixture
def project(database: Database, tmp_path: Path) -> Project:
    return make_project(database, tmp_path / "repository")


def event(number: int, text: str = "", **changes: object) -> dict[str, object]:
    return {
        "sessionId": "s1",
        "eventId": f"e{number}",
        "type": "chat.message",
        "createdAt": f"2026-01-02T09:{number:02}:00Z",
        "actor": {"kind": "human", "id": "ana"},
        "payload": {"text": text or f"Mensagem {number}."},
    } | changes


def write(path: Path, entries: Iterable[Mapping[str, object] | str]) -> Path:
    path.write_text(
        "\n".join(entry if isinstance(entry, str) else json.dumps(entry) for entry in entries),
        encoding="utf-8",
    )
    return path


def log_of(database: Database, session_id: str) -> list[tuple[int, str]]:
    with database.connection() as connection:
        return connection.execute(
            "select seq, id from session_events where session_id = %s order by seq", (session_id,)
        ).fetchall()


def chunks_of(database: Database, session_id: str) -> list[tuple[str, object, str | None, str | None]]:
    with database.connection() as connection:
        return connection.execute(
            """
            select content, id, metadata ->> 'sourceRef', metadata ->> 'title' from chunks
            where session_id = %s order by ordinal
            """,
            (session_id,),
        ).fetchall()


def everywhere(database: Database, secret: str) -> list[str]:
    """The columns of text or jsonb, in any table, that hold the secret."""
    with database.connection() as connection:
        columns = connection.execute(
            """
            select table_name, column_name from information_schema.columns
            where table_schema = 'public' and data_type in ('text', 'jsonb', 'tsvector', 'ARRAY')
            order by table_name, column_name
            """
        ).fetchall()
        assert len(columns) > 50
        return [
            f"{table}.{column}"
            for table, column in columns
            if connection.execute(
                sql.SQL("select from {} where strpos(lower({}::text), lower(%s)) > 0 limit 1").format(
                    sql.Identifier(table), sql.Identifier(column)
                ),
                (secret,),
            ).rowcount
        ]


def test_events_are_numbered_in_the_order_of_the_file_in_each_session(
    database: Database, project: Project, tmp_path: Path
) -> None:
    path = write(
        tmp_path / "s.jsonl",
        [event(3), event(1), event(9, sessionId="s2"), event(2, type="tool.result", payload={"any": 1})],
    )

    done = import_sessions(database, project.project_id, path)

    assert (done.sessions, done.events, done.refused, done.masked) == (2, 4, (), 0)
    assert log_of(database, "s1") == [(1, "e3"), (2, "e1"), (3, "e2")]
    assert log_of(database, "s2") == [(1, "e9")]


def test_importing_again_changes_nothing_and_events_that_came_later_go_on_with_the_numbers(
    database: Database, project: Project, tmp_path: Path
) -> None:
    path = write(tmp_path / "s.jsonl", [event(1), event(2)])
    import_sessions(database, project.project_id, path)

    again = import_sessions(database, project.project_id, path)
    write(path, [event(1), event(2), event(3), event(4, sessionId="s2")])
    more = import_sessions(database, project.project_id, path)

    assert (again.sessions, again.events) == (0, 0)
    assert (more.sessions, more.events) == (1, 2)
    assert log_of(database, "s1") == [(1, "e1"), (2, "e2"), (3, "e3")]


def test_a_line_that_was_cut_is_taken_once_it_is_whole(
    database: Database, project: Project, tmp_path: Path
) -> None:
    whole = json.dumps(event(2))
    path = write(tmp_path / "s.jsonl", [event(1), whole[:-9]])

    first = import_sessions(database, project.project_id, path)
    write(path, [event(1), whole])
    second = import_sessions(database, project.project_id, path)

    assert (first.events, [entry.line for entry in first.refused]) == (1, [2])
    assert (second.events, second.refused) == (1, ())


def test_an_import_that_was_interrupted_is_finished_by_the_next_one(
    database: Database, project: Project, tmp_path: Path
) -> None:
    """The database goes away after some batches: what was taken stays, and nothing is taken twice."""
    path = write(tmp_path / "s.jsonl", [event(number % 60, eventId=f"e{number}") for number in range(1200)])
    with database.transaction() as connection:
        connection.execute(
            """
            create function refuse() returns trigger language plpgsql as
            $$ begin raise exception 'gone' using errcode = 'admin_shutdown'; end $$
            """
        )
        connection.execute(
            "create trigger gone before insert on session_events for each row when (new.id = 'e700') "
            "execute function refuse()"
        )
    with pytest.raises(Exception, match="gone"):
        import_sessions(database, project.project_id, path)
    taken = len(log_of(database, "s1"))
    with database.transaction() as connection:
        connection.execute("drop trigger gone on session_events")

    done = import_sessions(database, project.project_id, path)

    assert taken == 500
    assert done.events == 700
    assert log_of(database, "s1") == [(number + 1, f"e{number}") for number in range(1200)]


def test_two_imports_at_once_give_every_event_its_own_number(
    database: Database, project: Project, tmp_path: Path
) -> None:
    import_sessions(database, project.project_id, write(tmp_path / "s.jsonl", [event(0)]))
    paths = [
        write(
            tmp_path / f"{name}.jsonl",
            [event(number % 60, eventId=f"{name}{number}") for number in range(150)],
        )
        for name in "ab"
    ]
    faults: list[Exception] = []

    def work(path: Path) -> None:
        try:
            import_sessions(database, project.project_id, path)
        except Exception as error:  # noqa: BLE001 - told to the test's own thread
            faults.append(error)

    threads = [threading.Thread(target=work, args=(path,)) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert faults == []
    assert [seq for seq, _ in log_of(database, "s1")] == list(range(1, 302))


def test_refused_lines_are_reported_in_order_and_the_rest_is_taken(
    database: Database, project: Project, tmp_path: Path
) -> None:
    path = write(
        tmp_path / "s.jsonl",
        [
            "no json",
            event(1),
            event(1, sessionId="other"),
            event(2, createdAt="2026-01-02T09:00:00"),
            event(3),
        ],
    )

    done = import_sessions(database, project.project_id, path)

    assert [entry.line for entry in done.refused] == [1, 3, 4]
    assert done.refused[1].reason == "eventId: is one of session 's1' already"
    assert (done.sessions, done.events) == (1, 2)
    assert log_of(database, "s1") == [(1, "e1"), (2, "e3")]
    assert log_of(database, "other") == []
    elsewhere = write(tmp_path / "other.jsonl", [event(1, sessionId="other")])
    with pytest.raises(
        InvalidInput, match=r"No event of .* was imported; line 1: .* session 's1'"
    ) as refusal:
        import_sessions(database, project.project_id, elsewhere)
    assert "unique" in refusal.value.hint


def test_an_event_that_is_known_with_another_content_is_refused_and_the_first_stays(
    database: Database, project: Project, tmp_path: Path
) -> None:
    path = write(tmp_path / "s.jsonl", [event(1), event(1, payload={"text": "outra coisa"}), event(1)])
    done = import_sessions(database, project.project_id, path)
    assert [(entry.line, entry.reason) for entry in done.refused] == [
        (2, "eventId: is known already, with another content")
    ]
    assert (done.events, log_of(database, "s1")) == (1, [(1, "e1")])
    again = import_sessions(database, project.project_id, path)
    assert ([entry.line for entry in again.refused], again.events) == ([2], 0)


def test_a_file_without_any_event_is_refused_and_names_its_first_fault(
    database: Database, project: Project, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="line 2: holds only NULs") as refusal:
        import_sessions(database, project.project_id, write(tmp_path / "bad.jsonl", ["", "\0\0", "x"]))
    assert refusal.value.where == {"file": str(tmp_path / "bad.jsonl")}
    with pytest.raises(InvalidInput, match="holds no session event"):
        import_sessions(database, project.project_id, write(tmp_path / "empty.jsonl", []))
    with database.connection() as connection:
        assert rows.count(connection, "sessions") == 0


def test_the_first_title_that_a_session_is_given_stays_its_own(
    database: Database, project: Project, tmp_path: Path
) -> None:
    write(tmp_path / "s.jsonl", [event(1), event(2, title="Frete"), event(3, title="Outra coisa")])
    import_sessions(database, project.project_id, tmp_path / "s.jsonl")
    services(database).indexing.run(project, actor=ANA, scopes=(Scope.SESSION,))

    assert {title for _, _, _, title in chunks_of(database, "s1")} == {"Frete"}


def test_only_what_people_and_agents_said_is_indexed_and_leads_back_to_its_event(
    database: Database, project: Project, tmp_path: Path
) -> None:
    path = write(
        tmp_path / "s.jsonl",
        [
            event(1, "Qual é o frete?"),
            event(2, "O frete é fixo.", type="agent.response", actor={"kind": "agent", "id": "bot"}),
            event(3, "segredo de ferramenta", type="tool.result"),
            event(4, "narração", type="rag.search"),
            event(5, payload={}),
            event(6, payload={"text": 7}),
            event(7, payload={"text": "   "}),
        ],
    )
    import_sessions(database, project.project_id, path)

    report = services(database).indexing.run(project, actor=ANA, scopes=(Scope.SESSION,))

    assert [(content, ref) for content, _, ref, _ in chunks_of(database, "s1")] == [
        ("Qual é o frete?", "e1"),
        ("O frete é fixo.", "e2"),
    ]
    assert report.counts == {Scope.SESSION: (1, 2)}
    assert report.complete


@pytest.mark.parametrize("mode", ["full", "incremental"])
def test_the_reindex_of_one_session_touches_no_other_row(
    database: Database, project: Project, tmp_path: Path, mode: str
) -> None:
    use = services(database)
    path = tmp_path / "s.jsonl"
    import_sessions(database, project.project_id, write(path, [event(1), event(2, sessionId="s2")]))
    use.indexing.run(project, actor=ANA)
    before = everything_but(database, "s1")
    import_sessions(
        database, project.project_id, write(path, [event(3, "Nova."), event(4, "Nova.", sessionId="s2")])
    )

    report = use.indexing.run(
        project, actor=ANA, session_id="s1", mode="full" if mode == "full" else "incremental"
    )

    assert report.counts == {Scope.SESSION: (1, 2)}
    assert [content for content, *_ in chunks_of(database, "s1")] == ["Mensagem 1.", "Nova."]
    assert everything_but(database, "s1") == before
    assert len(before) > 5


def test_a_session_that_was_never_imported_is_refused(database: Database, project: Project) -> None:
    with pytest.raises(UsageError, match="no session 'nenhuma'"):
        services(database).indexing.run(project, actor=ANA, session_id="nenhuma")


def test_no_secret_is_anywhere_in_the_database_wherever_it_stood(
    database: Database, project: Project, tmp_path: Path
) -> None:
    use = services(database)
    commit = "9d0c0630100530607acdacb25395449b1fd15494"
    text = f"use {TOKEN} em postgres://ana:{PASSWORD}@db.exemplo.com.br/x, commit {commit}"
    path = write(
        tmp_path / "s.jsonl",
        [
            event(1, text, title=f"A chave {KEY}"),
            event(2, type="tool.result", payload={"env": [{"deep": TOKEN, KEY: {KEY: TOKEN}}], "n": 1}),
            event(3, f"de novo: {TOKEN}", type="agent.response"),
        ],
    )

    done = import_sessions(database, project.project_id, path)
    use.indexing.run(project, actor=ANA)

    assert done.masked == 8
    assert [everywhere(database, secret) for secret in (TOKEN, KEY, PASSWORD)] == [[], [], []]
    # the same search finds what is no secret
    assert {"chunks.content", "chunks.search_vector", "session_events.payload"} <= set(
        everywhere(database, commit)
    )
    assert chunks_of(database, "s1")[0][0].startswith(
        "use [masked: GitHub Token] em postgres://ana:[masked: "
    )


def everything_but(database: Database, session_id: str) -> list[tuple[object, ...]]:
    with database.connection() as connection:
        return connection.execute(
            """
            select id, scope::text, source_path, session_id, ordinal, content, metadata, embedding::text, created_at
            from chunks where session_id is distinct from %s order by id
            """,
            (session_id,),
        ).fetchall()


def test_the_text_of_blocks_is_masked_and_indexed_and_what_holds_none_is_not_waited_for(
    database: Database, project: Project, tmp_path: Path
) -> None:
    blocks = [
        {"type": "text", "text": f"O prazo é de sete dias; a chave é {TOKEN}."},
        {"type": "tool_use", "name": "calendario", "input": {"text": "não foi dito"}},
        {"type": "text", "text": "Depois disso, estorna."},
    ]
    path = write(
        tmp_path / "s.jsonl",
        [
            event(1, payload={"text": blocks}, type="agent.response"),
            event(2, sessionId="mudo", payload={"text": [{"type": "image", "source": "x"}]}),
            event(3, sessionId="mudo", payload={"text": "\u00a0\n"}),
            event(4, sessionId="vazio", payload={"text": 7}),
            event(5, sessionId="depois", payload={"text": {"text": "Ainda não lido."}}),
        ],
    )
    assert import_sessions(database, project.project_id, path).masked == 1
    use = services(database)
    for session in ("s1", "mudo", "vazio"):
        use.indexing.run(project, actor=ANA, session_id=session)

    (chunk,) = chunks_of(database, "s1")
    assert chunk[0] == "O prazo é de sete dias; a chave é [masked: GitHub Token].\n\nDepois disso, estorna."
    assert everywhere(database, TOKEN) == []
    parts = {scope.scope: scope.parts for scope in measure_coverage(database, project).scopes}
    assert parts[Scope.SESSION] == SourceParts(covered=1, without_text=2, faulty=0, pointers=0, waiting=1)


def test_a_nul_and_half_a_character_cost_no_message_and_are_said(
    database: Database, project: Project, tmp_path: Path
) -> None:
    path = write(tmp_path / "s.jsonl", [event(1, "O jaca\0ré \ud83d sumiu."), event(2)])
    done = import_sessions(database, project.project_id, path)
    services(database).indexing.run(project, actor=ANA, scopes=(Scope.SESSION,))

    assert (done.events, done.refused) == (2, ())
    assert [(note.line, note.note) for note in done.notes] == [
        (1, "1 NUL removed"),
        (1, "1 lone surrogate replaced by U+FFFD"),
    ]
    assert [chunk[0] for chunk in chunks_of(database, "s1")] == ["O jacaré \ufffd sumiu.", "Mensagem 2."]
    assert import_sessions(database, project.project_id, path).events == 0


def test_tax_numbers_are_masked_where_asked_for(database: Database, project: Project, tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [event(0, "O CPF é 111.444.777-35.")])
    done = import_sessions(database, project.project_id, path, tax_numbers=True)
    assert (done.events, done.masked) == (1, 1)
    assert everywhere(database, "111.444.777") == []


def test_a_file_of_something_else_is_given_up_and_what_was_taken_stays(
    database: Database, project: Project, tmp_path: Path
) -> None:
    path = write(tmp_path / "s.jsonl", [event(0), *["no event"] * 10_600])
    with pytest.raises(InvalidInput, match=r"More than 10,000 lines of .* are no session event; line 2"):
        import_sessions(database, project.project_id, path)
    assert log_of(database, "s1") == [(1, "e0")]
