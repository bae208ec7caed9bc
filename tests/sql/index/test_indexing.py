"""A full index run: what git holds becomes rows in one step, with an honest account of what did not."""

import hashlib
import threading
import uuid
from collections.abc import Mapping
from pathlib import Path

import pytest
import rows

from bag_of_words import BagOfWords
from material import ANA, DOCUMENTS, Fixed, Repository, Services, make_project, services
from ollama_server import Fault, OllamaServer
from rag_core.chunking import CHUNKER_VERSION
from rag_core.clock import SystemClock
from rag_core.database.connections import Database
from rag_core.database.index.identity import fingerprint, read_identity, read_scope_states
from rag_core.database.index.sessions import append_events
from rag_core.database.runs import recent_runs
from rag_core.database.search.candidates import QUERY_VERSION
from rag_core.embedding.providers import Providers
from rag_core.errors import Busy, Refused, UsageError
from rag_core.index.coverage import measure_coverage
from rag_core.index.outcome import IndexReport
from rag_core.model import Project, Scope
from rag_core.model.session_events import SessionEvent
from rag_core.project.projects import add_project, set_project


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


@pytest.fixture
def project(database: Database, repository: Repository) -> Project:
    return add_project(database, "entrega", repo=repository.folder)


def event(session_id: str, number: int, kind: str, text: str) -> SessionEvent:
    return SessionEvent(
        session_id=session_id,
        event_id=f"{session_id}-e{number}",
        type=kind,
        created_at=rows.NOON,
        actor_kind="human",
        actor_id="ana",
        title="Plantão de sexta",
        payload={"text": text},
    )


def talk(database: Database, session_id: str = "s1") -> None:
    with database.connection() as connection:
        append_events(
            connection,
            "entrega",
            [
                event(session_id, 1, "chat.message", "A fila travou de novo."),
                event(session_id, 2, "tool.call", "select 1"),
                event(session_id, 3, "agent.response", "Reinicie o coletor."),
            ],
        )


def chunks(database: Database, columns: str) -> list[tuple[object, ...]]:
    with database.connection() as connection:
        return connection.execute(
            f"""
            select {columns} from chunks
            order by scope = 'session', coalesce(source_path, session_id) collate "C", ordinal
            """.encode()
        ).fetchall()


def full(made: Services, project: Project, **options: object) -> IndexReport:
    return made.indexing.run(project, actor=ANA, mode="full", **options)


def test_what_git_holds_becomes_rows_with_scope_path_order_and_trail(
    database: Database, project: Project
) -> None:
    full(services(database), project)
    found = chunks(
        database, "scope::text, source_path, ordinal, metadata ->> 'title', metadata -> 'headingPath'"
    )
    assert found == [
        ("adr", "docs/adr/0001-fila.md", 0, "Fila de eventos", ["Fila de eventos", "Decisão"]),
        ("adr", "docs/adr/0002-rota.md", 0, "Rota em duas fases", ["Rota em duas fases", "Decisão"]),
        ("docs", "docs/frete.md", 0, "Frete", ["Frete"]),
        ("docs", "docs/frete.md", 1, "Frete", ["Frete", "Pedágio"]),
        ("docs", "docs/motorista.md", 0, "Motorista", ["Motorista"]),
        ("docs", "docs/seguranca.md", 0, "Segurança", ["Segurança"]),
    ]


def test_each_content_is_a_piece_of_its_file_with_its_hash_and_its_models_name(
    database: Database, project: Project
) -> None:
    full(services(database), project)
    for path, content, content_hash, model in chunks(
        database, "source_path, content, content_hash, embedding_model"
    ):
        assert str(content) in DOCUMENTS[str(path)]
        assert content_hash == hashlib.sha256(str(content).encode()).hexdigest()
        assert model == BagOfWords().identify().id


def test_only_what_was_said_in_a_session_is_indexed_and_it_names_its_event(
    database: Database, project: Project
) -> None:
    talk(database)
    report = full(services(database), project)
    assert report.counts[Scope.SESSION] == (1, 2)
    found = [row for row in chunks(database, "session_id, ordinal, content, metadata") if row[0]]
    assert found == [
        ("s1", 0, "A fila travou de novo.", {"title": "Plantão de sexta", "sourceRef": "s1-e1"}),
        ("s1", 1, "Reinicie o coletor.", {"title": "Plantão de sexta", "sourceRef": "s1-e3"}),
    ]


def test_what_is_not_committed_or_not_under_docs_is_not_read(
    database: Database, project: Project, repository: Repository
) -> None:
    repository.commit({"README.md": "# Leia\n", "notas/a.md": "# Nota\n", "src/docs/b.md": "# Fonte\n"})
    (repository.folder / "docs" / "rascunho.md").write_text("# Rascunho\n", encoding="utf-8")
    (repository.folder / "docs" / "frete.md").write_text("# Mudado\n", encoding="utf-8")
    full(services(database), project)
    found = chunks(database, "source_path, content")
    assert {path for path, _ in found} == set(DOCUMENTS)
    assert not any("Mudado" in str(content) for _, content in found)


def test_a_symlink_is_listed_by_rule_and_never_followed(
    database: Database, project: Project, repository: Repository, tmp_path: Path
) -> None:
    (tmp_path / "segredo.md").write_text("# Segredo\n", encoding="utf-8")
    (repository.folder / "docs" / "elo.md").symlink_to(tmp_path / "segredo.md")
    repository.commit({"docs/figura.png": b"\x89PNG"})
    report = full(services(database), project)
    assert {(entry["path"], entry["reason"], entry["byRule"]) for entry in report.skipped} == {
        ("docs/elo.md", "symlink", True),
        ("docs/figura.png", "notMarkdown", True),
    }
    assert report.complete
    assert set(DOCUMENTS) == {path for (path,) in chunks(database, "source_path")}


def test_a_file_that_cannot_be_read_is_listed_and_makes_the_run_incomplete(
    database: Database, project: Project, repository: Repository
) -> None:
    repository.commit(
        {"docs/bytes.md": b"\x81\x8d\xff\xfe\x00 \x90", "docs/velho.md": "# Ação\n".encode("cp1252")}
    )
    report = full(services(database), project)
    assert [(entry["path"], entry["reason"], entry["byRule"]) for entry in report.skipped] == [
        ("docs/bytes.md", "encoding", False)
    ]
    assert report.notes == ({"path": "docs/velho.md", "note": "read as cp1252"},)
    assert not report.complete


def test_another_ref_and_a_folder_of_the_repository_can_be_indexed(
    database: Database, repository: Repository
) -> None:
    old = repository.git("rev-parse", "HEAD")
    repository.commit({"sub/docs/so.md": "# Só\n\nSó isto.\n"})
    repository.remove("docs/frete.md")
    below = add_project(database, "abaixo", repo=repository.folder, root="sub")
    made = services(database)
    assert full(made, below).counts[Scope.DOCS] == (1, 1)
    whole = add_project(database, "entrega", repo=repository.folder)
    assert full(made, whole, ref=old).counts[Scope.DOCS] == (3, 4)
    assert full(made, whole).counts[Scope.DOCS] == (2, 2)


def test_a_change_of_the_projects_folders_is_followed_by_the_next_run(
    database: Database, repository: Repository
) -> None:
    repository.commit({"rfc/0009-troca.md": "# Troca\n\nTrocas em sete dias.\n"})
    project = add_project(database, "entrega", repo=repository.folder)
    made = services(database)
    full(made, project)
    moved = set_project(database, project, docs=["docs/adr"], adr=["rfc"])
    report = made.indexing.run(moved, actor=ANA)
    assert (report.counts[Scope.DOCS], report.counts[Scope.ADR]) == ((2, 2), (1, 1))
    assert {
        scope.scope: (scope.sources, scope.indexed) for scope in measure_coverage(database, moved).scopes
    } == {
        Scope.DOCS: (2, 2),
        Scope.ADR: (1, 1),
        Scope.SESSION: (0, 0),
    }


def test_the_report_has_the_contracts_keys_and_counts_every_chunk(
    database: Database, project: Project, repository: Repository
) -> None:
    report = full(services(database), project)
    told = report.to_json()
    assert uuid.UUID(str(told.pop("runId")))
    assert told == {
        "mode": "full",
        "dryRun": False,
        "commit": repository.git("rev-parse", "HEAD"),
        "scopes": {
            "docs": {"files": 3, "chunks": 4},
            "adr": {"files": 2, "chunks": 2},
            "session": {"sessions": 0, "chunks": 0},
        },
        "embedding": {"available": True, "embedded": 6, "reused": 0, "skipped": 0, "reason": None},
        "changes": {"kept": 0, "moved": 0, "added": 6, "removed": 0},
        "skipped": [],
        "notes": [],
        "votesLost": 0,
    }


def test_a_second_full_run_pays_for_no_vector_again_and_equals_the_first_but_for_ids(
    database: Database, project: Project
) -> None:
    embedder = BagOfWords()
    made = services(database, providers=Fixed(embedder))
    columns = "scope::text, source_path, ordinal, content, metadata, embedding::text, embedding_model"
    full(made, project)
    first, ids = chunks(database, columns), chunks(database, "id")
    calls = len(embedder.embedded)
    report = full(made, project)
    assert (report.embedding.embedded, report.embedding.reused) == (0, 6)
    assert len(embedder.embedded) == calls
    assert chunks(database, columns) == first
    assert not set(chunks(database, "id")) & set(ids)


def test_equal_texts_are_embedded_once(database: Database, tmp_path: Path) -> None:
    same = "# Aviso\n\nO mesmo aviso em dois lugares.\n"
    project = make_project(database, tmp_path / "r", {"docs/a.md": same, "docs/b.md": same})
    embedder = BagOfWords()
    report = full(services(database, providers=Fixed(embedder)), project)
    assert report.embedding.embedded == 2
    assert embedder.embedded.count(same.strip()) + embedder.embedded.count(same) == 1


def test_readers_see_the_old_index_until_the_whole_new_one_is_there(
    database: Database, project: Project, repository: Repository
) -> None:
    made = services(database)
    full(made, project)
    old = chunks(database, "id")
    repository.commit({"docs/novo.md": "# Novo\n\nOutro texto.\n"})
    seen: dict[str, list[tuple[object, ...]]] = {}

    def look(step: str, done: int, total: int) -> None:
        seen.setdefault(step, chunks(database, "id"))

    full(made, project, listener=look)
    assert {"read", "chunk", "embed", "write"} <= set(seen)
    assert all(found == old for found in seen.values())
    assert len(chunks(database, "id")) == 7


def test_a_run_that_dies_leaves_the_old_index_whole_and_its_vectors_for_the_next(
    database: Database, project: Project, repository: Repository
) -> None:
    made = services(database)
    full(made, project)
    before = chunks(database, "id, content")
    repository.commit({"docs/novo.md": "# Novo\n\nOutro texto.\n"})

    class Killed(Exception):
        pass

    def die(step: str, done: int, total: int) -> None:
        if step == "write":
            raise Killed

    with pytest.raises(Killed):
        full(made, project, listener=die)
    assert chunks(database, "id, content") == before
    report = full(made, project)
    assert (report.embedding.embedded, report.embedding.reused) == (0, 7)


def test_a_dry_run_counts_and_writes_nothing(database: Database, project: Project) -> None:
    report = full(services(database), project, dry_run=True)
    assert report.counts[Scope.DOCS] == (3, 4)
    assert (report.embedding.embedded, report.embedding.skipped) == (6, 0)
    assert chunks(database, "id") == []
    with database.connection() as connection:
        assert read_identity(connection, "entrega") is None
        assert rows.count(connection, "embedding_cache") == 0


def vote_on(database: Database, path: str) -> None:
    with database.connection() as connection:
        found = connection.execute(
            "select id from chunks where source_path = %s and ordinal = 0", (path,)
        ).fetchone()
        assert found is not None
        rows.insert(
            connection,
            "search_settings",
            {"project_id": "entrega", "id": rows.SETTINGS_ID, "settings": rows.Jsonb({})},
        )
        rows.vote(connection, "entrega", rows.search(connection, "entrega"), found[0])


def votes(database: Database) -> int:
    with database.connection() as connection:
        return rows.count(connection, "rag_feedback")


def test_votes_that_a_run_would_lose_are_counted_before_and_kept_unless_told(
    database: Database, project: Project
) -> None:
    made = services(database)
    full(made, project)
    vote_on(database, "docs/frete.md")
    assert full(made, project, dry_run=True).votes_lost == 1
    with pytest.raises(Refused, match="1 vote"):
        full(made, project)
    assert votes(database) == 1
    assert full(made, project, scopes=(Scope.ADR,)).votes_lost == 0
    assert full(made, project, allow_vote_loss=True).votes_lost == 1
    assert votes(database) == 0


def test_a_vote_cast_while_the_run_embeds_is_not_lost_either(database: Database, project: Project) -> None:
    made = services(database)
    full(made, project)

    def vote(step: str, done: int, total: int) -> None:
        if step == "write":
            vote_on(database, "docs/frete.md")

    with pytest.raises(Refused, match="1 vote"):
        full(made, project, listener=vote)
    assert votes(database) == 1


def test_one_scope_can_be_indexed_and_the_others_keep_their_chunks(
    database: Database, project: Project, repository: Repository
) -> None:
    made = services(database)
    full(made, project)
    docs = [row for row in chunks(database, "scope::text, id") if row[0] == "docs"]
    repository.commit({"docs/adr/0003-x.md": "# X\n\nMais uma.\n", "docs/y.md": "# Y\n\nOutra.\n"})
    report = full(made, project, scopes=(Scope.ADR,))
    assert list(report.to_json()["scopes"]) == ["adr"]
    assert report.counts[Scope.ADR] == (3, 3)
    assert [row for row in chunks(database, "scope::text, id") if row[0] == "docs"] == docs


def test_one_session_can_be_indexed_by_itself(database: Database, project: Project) -> None:
    made = services(database)
    talk(database, "s1")
    full(made, project)
    others = chunks(database, "id")
    talk(database, "s2")
    assert full(made, project, session_id="s2").counts == {Scope.SESSION: (1, 2)}
    assert set(others) < set(chunks(database, "id"))
    with pytest.raises(UsageError, match="'s9'"):
        full(made, project, session_id="s9")


def test_the_state_of_each_scope_says_when_and_at_which_commit(
    database: Database, project: Project, repository: Repository
) -> None:
    talk(database)
    full(services(database), project)
    with database.connection() as connection:
        states = read_scope_states(connection, "entrega")
        identity = read_identity(connection, "entrega")
    commit = repository.git("rev-parse", "HEAD")
    assert {scope: (state.commit, state.files, state.chunks) for scope, state in states.items()} == {
        Scope.DOCS: (commit, 3, 4),
        Scope.ADR: (commit, 2, 2),
        Scope.SESSION: (None, 1, 2),
    }
    assert identity is not None
    assert identity.embedding_model == BagOfWords().identify().id
    assert (identity.chunker_version, identity.text_search_config) == (CHUNKER_VERSION, "portuguese+2")


def fingerprint_of(database: Database, query_version: str = QUERY_VERSION) -> str:
    with database.connection() as connection:
        return fingerprint(connection, "entrega", query_version=query_version)


def test_the_fingerprint_is_of_what_decides_an_answer_and_not_of_ids_or_times(
    database: Database, project: Project, repository: Repository
) -> None:
    made = services(database)
    full(made, project)
    first = fingerprint_of(database)
    full(made, project)
    assert fingerprint_of(database) == first
    assert fingerprint_of(database, "another") != first

    full(services(database, providers=Fixed(BagOfWords("another"))), project)
    other_model = fingerprint_of(database)
    assert other_model != first

    full(made, project)
    assert fingerprint_of(database) == first
    repository.commit({"docs/frete.md": DOCUMENTS["docs/frete.md"] + "\nMais.\n"})
    full(made, project)
    assert fingerprint_of(database) != first


@pytest.mark.parametrize(
    "change",
    [
        "update chunks set ordinal = 7 where source_path = 'docs/motorista.md'",
        "update chunks set source_path = 'docs/outro.md' where source_path = 'docs/motorista.md'",
        "update chunks set embedding = null, embedding_model = null where source_path = 'docs/motorista.md'",
        "update indexes set chunker_version = 'x'",
        "update indexes set text_search_config = 'simple'",
    ],
)
def test_the_fingerprint_covers_places_vectors_and_versions(
    database: Database, project: Project, change: str
) -> None:
    full(services(database), project)
    before = fingerprint_of(database)
    with database.connection() as connection:
        connection.execute(change.encode())
    assert fingerprint_of(database) != before


def test_a_change_of_model_needs_a_full_run_over_everything(database: Database, project: Project) -> None:
    full(services(database), project)
    other = services(database, providers=Fixed(BagOfWords("another")))
    for options in ({"mode": "incremental"}, {"mode": "full", "scopes": (Scope.DOCS,)}):
        with pytest.raises(Refused, match="another") as refusal:
            other.indexing.run(project, actor=ANA, **options)
        assert "--mode full" in refusal.value.hint
    assert {model for (model,) in chunks(database, "embedding_model")} == {BagOfWords().identify().id}
    full(other, project)
    assert {model for (model,) in chunks(database, "embedding_model")} == {
        BagOfWords("another").identify().id
    }


@pytest.mark.parametrize(
    "fault", [Fault.MODEL_MISSING, Fault.WRONG_DIMENSION, Fault.NAN_INSIDE, Fault.ALWAYS_500, Fault.GARBAGE]
)
def test_a_failing_provider_costs_vectors_and_never_chunks_and_nothing_says_complete(
    database: Database, project: Project, fault: Fault
) -> None:
    with OllamaServer() as ollama:
        ollama.fault = fault
        providers = Providers(configured="ollama", ollama_host=ollama.host, clock=SystemClock())
        made = services(database, providers=providers)
        report = full(made, project)
        assert report.embedding.embedded == 0
        assert report.embedding.skipped == len(chunks(database, "id")) == 6
        assert report.embedding.reason
        assert not report.complete
        ollama.fault = Fault.NONE
        mended = made.indexing.run(project, actor=ANA)
    assert (mended.embedding.embedded, mended.embedding.skipped) == (6, 0)
    assert mended.complete


def test_a_provider_that_stops_answering_halfway_leaves_what_it_made(
    database: Database, tmp_path: Path
) -> None:
    files: Mapping[str, str] = {f"docs/{n:03}.md": f"# Nota {n}\n\nTexto {n}.\n" for n in range(40)}
    project = make_project(database, tmp_path / "r", files)
    with OllamaServer() as ollama:
        ollama.fault, ollama.fault_after = Fault.MODEL_MISSING, 3
        providers = Providers(configured="ollama", ollama_host=ollama.host, clock=SystemClock())
        report = full(services(database, providers=providers), project)
    assert report.embedding.available is False
    assert 0 < report.embedding.embedded < 40
    assert report.embedding.embedded + report.embedding.skipped == 40
    kept = [vector for (vector,) in chunks(database, "embedding is not null")]
    assert sum(map(bool, kept)) == report.embedding.embedded


def test_a_second_run_of_a_project_is_refused_while_one_is_at_work(
    database: Database, project: Project
) -> None:
    made = services(database)
    reached, go_on = threading.Event(), threading.Event()

    def wait(step: str, done: int, total: int) -> None:
        if step == "write":
            reached.set()
            go_on.wait(20)

    first = threading.Thread(target=lambda: full(made, project, listener=wait))
    first.start()
    try:
        assert reached.wait(20)
        with pytest.raises(Busy, match="human:ana"):
            full(made, project)
    finally:
        go_on.set()
        first.join()
    assert full(made, project).complete


def test_a_run_is_recorded_with_who_asked_and_how_it_ended(database: Database, project: Project) -> None:
    made = services(database)
    report = full(made, project)
    with pytest.raises(UsageError):
        full(made, project, ref="no-such-branch")
    with database.connection() as connection:
        failed, done = recent_runs(connection, "entrega", "index", count=5)
    assert (done.state, done.actor_id, str(done.id)) == ("done", "ana", report.run_id)
    assert done.result == report.to_json()
    assert failed.state == "failed"
    assert failed.error is not None
    assert failed.error.code == "usage"


def test_a_repository_without_any_markdown_is_refused_and_the_index_stays(
    database: Database, project: Project, repository: Repository
) -> None:
    made = services(database)
    full(made, project)
    before = chunks(database, "id")
    repository.git("rm", "--quiet", "-r", "docs")
    repository.commit({"README.md": "# Leia\n"})
    with pytest.raises(UsageError, match="no Markdown file under docs/"):
        full(made, project)
    assert chunks(database, "id") == before
    with pytest.raises(UsageError, match="no Markdown file") as refusal:
        made.indexing.run(project, actor=ANA, scopes=(Scope.DOCS,))
    assert "medir index --yes" in refusal.value.hint
    assert made.indexing.run(project, actor=ANA, allow_emptied=True).changes.removed == len(before)
    with pytest.raises(UsageError, match="no Markdown file"):
        made.indexing.run(project, actor=ANA, allow_emptied=True)
