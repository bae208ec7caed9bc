"""A language by project and by document; a change of it is a move, which keeps ids, vectors and votes."""

from collections import Counter
from pathlib import Path

import pytest
import rows
from psycopg.types.json import Jsonb

from material import ANA, Repository, services
from rag_core.database.connections import Database
from rag_core.database.index.identity import read_identity, read_languages
from rag_core.errors import InvalidInput
from rag_core.index.coverage import measure_coverage
from rag_core.index.session_import import import_sessions
from rag_core.model import Project, Scope
from rag_core.project.projects import add_project, choose_project, set_project, told_reindex
from rag_core.project.staleness import is_of_today, told_standing
from rag_core.search.citations import read_matched_words

RUNNERS = "# Runners\n\nThe runners were running.\n"
CORRIDA = "---\nlang: pt-BR\n---\n# Corrida\n\nOs corredores corriam; the runners.\n"
KLINGON = "---\nlang: tlh\n---\n# Words\n\nOdd words.\n"
FILES = {"docs/runners.md": RUNNERS, "docs/corrida.md": CORRIDA}
SPOKEN = (
    '{"sessionId": "s", "eventId": "e", "type": "chat.message", "createdAt": "2026-01-02T03:04:05Z", '
    '"actor": {"kind": "human", "id": "ana"}, "payload": {"text": "The runners were running again."}}\n'
)


def rows_of(database: Database, project: Project) -> list[tuple[object, ...]]:
    with database.connection() as connection:
        return connection.execute(
            """
            select coalesce(source_path, session_id), ordinal, content_hash, language, search_vector::text,
                embedding::text
            from chunks where project_id = %s order by 1, 2
            """,
            (project.project_id,),
        ).fetchall()


def spellings_of(database: Database, project: Project) -> list[tuple[object, ...]]:
    with database.connection() as connection:
        return connection.execute(
            "select key, lexeme, chunks from spellings where project_id = %s order by 1, 2",
            (project.project_id,),
        ).fetchall()


def ids_of(database: Database, project: Project) -> dict[object, object]:
    with database.connection() as connection:
        return dict(
            connection.execute(
                "select content_hash, id from chunks where project_id = %s", (project.project_id,)
            ).fetchall()
        )


def languages_of(database: Database, project: Project) -> dict[object, object]:
    return {place: language for place, _, _, language, _, _ in rows_of(database, project)}


def state_of(database: Database, project: Project) -> tuple[str, tuple[str, ...]]:
    with database.connection() as connection:
        identity = read_identity(connection, project.project_id)
        languages = read_languages(connection, project.project_id)
    return (identity.text_search_config if identity else "", languages)


def test_a_document_that_names_a_language_has_it_and_one_that_names_none_known_is_noted(
    database: Database, tmp_path: Path
) -> None:
    repository = Repository(tmp_path / "repository", FILES | {"docs/klingon.md": KLINGON})
    project = add_project(database, "p", repo=repository.folder, language="en")
    assert choose_project(database, "p").language == "english"

    report = services(database).indexing.run(project, actor=ANA)

    assert languages_of(database, project) == {
        "docs/runners.md": "english",
        "docs/corrida.md": "portuguese",
        "docs/klingon.md": "english",
    }
    assert [(note["path"], "'tlh' is no language" in str(note["note"])) for note in report.notes] == [
        ("docs/klingon.md", True)
    ]
    assert [note["path"] for note in measure_coverage(database, project).scopes[0].notes] == [
        "docs/klingon.md"
    ]
    assert state_of(database, project) == ("english+2", ("english", "portuguese"))


def test_a_language_that_is_none_is_refused_with_those_that_there_are(
    database: Database, tmp_path: Path
) -> None:
    repository = Repository(tmp_path / "repository", FILES)
    with pytest.raises(InvalidInput, match="klingon") as refusal:
        add_project(database, "p", repo=repository.folder, language="klingon")
    assert "english (en)" in refusal.value.hint
    assert "simple" in refusal.value.hint


def test_another_language_of_the_project_asks_for_an_index_run_which_moves_its_chunks_with_ids_and_votes(
    database: Database, tmp_path: Path
) -> None:
    repository = Repository(tmp_path / "repository", FILES)
    project = add_project(database, "p", repo=repository.folder)
    use = services(database)
    (tmp_path / "s.jsonl").write_text(SPOKEN, encoding="utf-8")
    import_sessions(database, "p", tmp_path / "s.jsonl")
    use.indexing.run(project, actor=ANA)
    before = ids_of(database, project)
    with database.transaction() as connection:
        rows.insert(
            connection,
            "search_settings",
            {"project_id": "p", "id": rows.SETTINGS_ID, "settings": Jsonb({})},
        )
        search_id = rows.search(connection, "p")
        for chunk_id in before.values():
            rows.vote(connection, "p", search_id, chunk_id)
    assert told_reindex(database, project) is None

    project = set_project(database, project, language="english")
    assert "Run: medir index" in str(told_reindex(database, project))
    coverage = measure_coverage(database, project)
    assert (coverage.language, coverage.index_language) == ("english", "portuguese")
    report = use.indexing.run(project, actor=ANA)

    assert (report.changes.moved, report.changes.kept, report.embedding.embedded) == (2, 1, 0)
    assert told_reindex(database, project) is None
    assert ids_of(database, project) == before
    with database.connection() as connection:
        assert rows.count(connection, "rag_feedback") == len(before)
    fresh = add_project(database, "fresh", repo=repository.folder, language="english")
    import_sessions(database, "fresh", tmp_path / "s.jsonl")
    use.indexing.run(fresh, actor=ANA, mode="full")
    assert rows_of(database, project) == rows_of(database, fresh)
    assert spellings_of(database, project) == spellings_of(database, fresh)
    assert state_of(database, project) == state_of(database, fresh)


def test_another_language_in_a_front_matter_is_a_change_of_the_index(
    database: Database, tmp_path: Path
) -> None:
    repository = Repository(tmp_path / "repository", FILES | {"golden_set/cases.yaml": CASES_OF_RUNNERS})
    project = add_project(database, "p", repo=repository.folder, language="english")
    use = services(database)
    use.indexing.run(project, actor=ANA)
    repository.commit({"docs/runners.md": f"---\nlang: fr\n---\n{RUNNERS}"})
    stale = use.evaluation.run_golden(project, actor=ANA).to_json()["stale"]
    assert stale == {"commitsBehind": 1, "textChanged": True}

    report = use.indexing.run(project, actor=ANA)

    assert (report.changes.moved, report.changes.added) == (1, 0)
    assert languages_of(database, project)["docs/runners.md"] == "french"
    assert state_of(database, project) == ("english+2", ("french", "portuguese"))


def test_a_run_of_one_scope_leaves_the_index_in_the_language_of_the_others(
    database: Database, tmp_path: Path
) -> None:
    repository = Repository(tmp_path / "repository", FILES)
    project = add_project(database, "p", repo=repository.folder)
    use = services(database)
    (tmp_path / "s.jsonl").write_text(SPOKEN, encoding="utf-8")
    import_sessions(database, "p", tmp_path / "s.jsonl")
    use.indexing.run(project, actor=ANA)
    project = set_project(database, project, language="english")
    use.indexing.run(project, actor=ANA, scopes=(Scope.DOCS, Scope.ADR))
    assert Counter(languages_of(database, project).values()) == {"portuguese": 2, "english": 1}
    assert state_of(database, project) == ("portuguese+2", ("english", "portuguese"))
    assert told_reindex(database, project) is not None
    use.indexing.run(project, actor=ANA)
    assert state_of(database, project) == ("english+2", ("english", "portuguese"))


def test_a_golden_run_says_that_its_index_was_made_in_another_language(
    database: Database, tmp_path: Path
) -> None:
    repository = Repository(tmp_path / "repository", FILES | {"golden_set/cases.yaml": CASES_OF_RUNNERS})
    project = add_project(database, "p", repo=repository.folder, language="english")
    use = services(database)
    use.indexing.run(project, actor=ANA)
    run = use.evaluation.run_golden(project, actor=ANA).to_json()
    assert "wordsChanged" not in run
    assert (told_standing(run), is_of_today(run)) == ((), True)

    run = use.evaluation.run_golden(set_project(database, project, language="fr"), actor=ANA).to_json()

    assert run["wordsChanged"] == {"made": "english+2", "wanted": "french+2"}
    (told,) = told_standing(run)
    assert told.startswith("The index was made in another language: in english, and the project's")
    assert told.endswith("Run: medir index")
    assert not is_of_today(run)


def test_words_are_marked_by_the_rules_of_their_chunks_language(database: Database, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository", FILES)
    project = add_project(database, "p", repo=repository.folder, language="english")
    services(database).indexing.run(project, actor=ANA)
    english = "# Runners\n\nThe runners were running."
    portuguese = "# Corrida\n\nOs corredores corriam; the runners."
    matched = read_matched_words(database, "p", "running corredor", [english, portuguese, "Corredores, run."])
    assert matched == (frozenset({"running"}), frozenset({"corredores"}), frozenset({"Corredores", "run"}))


CASES_OF_RUNNERS = "floor: 0\ncases:\n  - {id: a, question: Who runs?, expected: docs/runners.md}\n"
