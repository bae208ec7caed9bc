"""An incremental run leaves the rows of a fresh full run, ids apart, and keeps ids and votes of what stayed."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
import rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from bag_of_words import BagOfWords
from material import ANA, Fixed, Repository, make_project, services
from rag_core.database.connections import Database
from rag_core.database.index.sessions import append_events
from rag_core.errors import DatabaseUnavailable, EmbeddingFailed, Refused
from rag_core.model import Project
from rag_core.model.session_events import SessionEvent
from rag_core.project.projects import add_project

PATHS = ("docs/a.md", "docs/b.md", "docs/adr/0001-c.md", "docs/pasta/d.md")
SECTIONS = (
    "# Frete\n\nO frete é fixo.\n",
    "## Pedágio\n\nO pedágio é pago.\n",
    "# Fila\n\nA fila espera.\n",
    "Solto.\n",
    "# Canais\n\nRN-058 e RN058 valem em entrada/saída; keys, e-mail.\n",
)
FRONT_MATTER = ("", "---\ntitle: Pedágios\n---\n", "---\nlang: english\n---\n")

contents = st.builds(
    str.__add__,
    st.sampled_from(FRONT_MATTER),
    st.lists(st.sampled_from(SECTIONS), max_size=4).map("\n".join),
)
trees = st.dictionaries(st.sampled_from(PATHS), contents, min_size=1)


class CountingBag(BagOfWords):
    """Counts the texts that it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def embed(self, texts, role):
        self.texts.extend(texts)
        return super().embed(texts, role)


def chunks_of(database: Database, project: Project) -> list[tuple[object, ...]]:
    with database.connection() as connection:
        return connection.execute(
            """
            select scope::text, session_id, source_path, ordinal, content, content_hash, metadata, embedding::text,
                embedding_model, search_vector::text
            from chunks where project_id = %s
            order by coalesce(source_path, session_id) collate "C", ordinal
            """,
            (project.project_id,),
        ).fetchall()


def words_of(database: Database, project: Project) -> tuple[list[tuple[object, ...]], ...]:
    """Postings, lexicon and spellings, as they are whatever the chunks' ids."""
    with database.connection() as connection:
        held = connection.execute(
            "select lexeme, scope::text, in_title, entries from postings where project_id = %s",
            (project.project_id,),
            binary=True,
        ).fetchall()
        rest = [
            connection.execute(query, (project.project_id,)).fetchall()
            for query in (
                "select chunks, text_length, length(chunk_ids) from lexicons where project_id = %s",
                (
                    'select key, lexeme, chunks from spellings where project_id = %s order by key collate "C", '
                    'lexeme collate "C"'
                ),
            )
        ]
    # the entries of a row are in no order
    postings = sorted((*key, tuple(sorted(np.frombuffer(data, ">u8").tolist()))) for *key, data in held)
    return postings, *rest


def ids_by_content(database: Database, project: Project) -> dict[str, object]:
    with database.connection() as connection:
        found = connection.execute(
            "select content, id from chunks where project_id = %s", (project.project_id,)
        ).fetchall()
    return dict(found)


def vote_for(connection, project: Project, chunk_id) -> None:
    rows.insert(
        connection,
        "search_settings",
        {"project_id": project.project_id, "id": rows.SETTINGS_ID, "settings": Jsonb({})},
    )
    search_id = rows.search(connection, project.project_id)
    rows.vote(connection, project.project_id, search_id, chunk_id)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=st.lists(trees, min_size=2, max_size=4))
def test_after_each_run_the_rows_equal_those_of_a_fresh_full_run(
    history: list[dict[str, str]], module_database: Database
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="medir-test-"))
    try:
        repository = Repository(folder / "repository", {"docs/a.md": SECTIONS[0]})
        with module_database.transaction() as connection:
            connection.execute("truncate projects cascade")
        grown = add_project(module_database, "grown", repo=repository.folder)
        fresh = add_project(module_database, "fresh", repo=repository.folder)
        use = services(module_database)
        for tree in history:
            for path in PATHS:
                (repository.folder / path).unlink(missing_ok=True)
            repository.commit(tree)

            use.indexing.run(grown, actor=ANA, mode="incremental")
            use.indexing.run(fresh, actor=ANA, mode="full")

            assert chunks_of(module_database, grown) == chunks_of(module_database, fresh)
            assert words_of(module_database, grown) == words_of(module_database, fresh)
    finally:
        shutil.rmtree(folder)


def test_a_run_that_dies_at_its_very_end_leaves_the_words_of_the_old_index(
    database: Database, tmp_path: Path
) -> None:
    use = services(database)
    repository = Repository(tmp_path / "repository", {"docs/a.md": SECTIONS[0]})
    project = add_project(database, "p", repo=repository.folder)
    use.indexing.run(project, actor=ANA)
    before = words_of(database, project)
    assert all(before)
    with database.transaction() as connection:
        connection.execute(
            "create function dies() returns trigger language plpgsql as $$ "
            "begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$"
        )
        connection.execute(
            "create trigger dying before insert or update on index_scopes for each row execute function dies()"
        )
    repository.commit({"docs/a.md": SECTIONS[1], "docs/b.md": SECTIONS[2]})

    with pytest.raises(DatabaseUnavailable):
        use.indexing.run(project, actor=ANA)

    assert words_of(database, project) == before
    with database.transaction() as connection:
        connection.execute("drop trigger dying on index_scopes")
    use.indexing.run(project, actor=ANA)
    assert words_of(database, project) != before


def test_a_conversation_that_is_gone_is_in_no_word_after_the_next_run(
    database: Database, tmp_path: Path
) -> None:
    use = services(database)
    repository = Repository(tmp_path / "repository", {"docs/a.md": SECTIONS[0]})
    project = add_project(database, "p", repo=repository.folder)
    use.indexing.run(project, actor=ANA)
    before = words_of(database, project)
    with database.transaction() as connection:
        said = SessionEvent(
            session_id="s1",
            event_id="e1",
            type="chat.message",
            created_at=rows.NOON,
            actor_kind="human",
            actor_id="ana",
            title=None,
            payload={"text": "A balança do cais pesa demais."},
        )
        append_events(connection, "p", [said])
    use.indexing.run(project, actor=ANA)
    assert words_of(database, project) != before
    with database.transaction() as connection:
        connection.execute("delete from sessions")

    use.indexing.run(project, actor=ANA)

    assert words_of(database, project) == before


def test_an_unchanged_second_run_embeds_nothing_and_keeps_every_id(
    database: Database, tmp_path: Path
) -> None:
    bag = CountingBag()
    use = services(database, providers=Fixed(bag))
    project = make_project(database, tmp_path / "repository")
    use.indexing.run(project, actor=ANA)
    before, embedded = ids_by_content(database, project), len(bag.texts)

    report = use.indexing.run(project, actor=ANA)

    assert len(bag.texts) == embedded
    assert ids_by_content(database, project) == before
    assert (report.changes.added, report.changes.removed, report.changes.moved) == (0, 0, 0)
    assert (report.embedding.embedded, report.embedding.reused) == (0, len(before))


def test_editing_one_file_embeds_its_changed_chunk_only(database: Database, tmp_path: Path) -> None:
    bag = CountingBag()
    use = services(database, providers=Fixed(bag))
    repository = Repository(tmp_path / "repository", {"docs/a.md": "# Um\n\nprimeiro\n\n# Dois\n\nsegundo\n"})
    project = add_project(database, "p", repo=repository.folder)
    use.indexing.run(project, actor=ANA)
    bag.texts.clear()
    repository.commit({"docs/a.md": "# Um\n\nprimeiro\n\n# Dois\n\nterceiro\n"})

    report = use.indexing.run(project, actor=ANA)

    # one text, and the service's check of a batch against the same text alone
    assert set(bag.texts) == {"# Dois\n\nterceiro"}
    assert (report.changes.kept, report.changes.added, report.changes.removed) == (1, 1, 1)


def test_a_renamed_file_keeps_its_chunks_ids_and_their_votes(database: Database, tmp_path: Path) -> None:
    use = services(database)
    repository = Repository(tmp_path / "repository", {"docs/velho.md": "# Um\n\nprimeiro\n"})
    project = add_project(database, "p", repo=repository.folder)
    use.indexing.run(project, actor=ANA)
    before = ids_by_content(database, project)
    with database.transaction() as connection:
        (chunk_id,) = before.values()
        vote_for(connection, project, chunk_id)
    repository.git("mv", "docs/velho.md", "docs/novo.md")
    repository.commit({})

    report = use.indexing.run(project, actor=ANA)

    assert ids_by_content(database, project) == before
    assert (report.changes.moved, report.votes_lost) == (1, 0)
    with database.connection() as connection:
        assert rows.count(connection, "rag_feedback") == 1


def test_a_run_that_would_lose_a_vote_refuses_and_leaves_the_index(
    database: Database, tmp_path: Path
) -> None:
    use = services(database)
    repository = Repository(tmp_path / "repository", {"docs/a.md": "# Um\n\nprimeiro\n"})
    project = add_project(database, "p", repo=repository.folder)
    use.indexing.run(project, actor=ANA)
    before = chunks_of(database, project)
    with database.transaction() as connection:
        (chunk_id,) = ids_by_content(database, project).values()
        vote_for(connection, project, chunk_id)
    repository.commit({"docs/a.md": "# Um\n\noutro texto\n"})

    with pytest.raises(Refused, match="1 vote"):
        use.indexing.run(project, actor=ANA)
    assert chunks_of(database, project) == before

    report = use.indexing.run(project, actor=ANA, allow_vote_loss=True)
    assert report.votes_lost == 1


def test_vectors_that_were_missing_are_filled_by_the_next_run_under_the_same_ids(
    database: Database, tmp_path: Path
) -> None:
    class Sulking(BagOfWords):
        """Refuses one text until told otherwise."""

        sulking = True

        def embed(self, texts, role):
            if self.sulking and any("segundo" in text for text in texts):
                raise EmbeddingFailed("That text is too much.", content_fault=True)
            return super().embed(texts, role)

    embedder = Sulking()
    use = services(database, providers=Fixed(embedder))
    repository = Repository(tmp_path / "repository", {"docs/a.md": "# Um\n\nprimeiro\n\n# Dois\n\nsegundo\n"})
    project = add_project(database, "p", repo=repository.folder)
    first = use.indexing.run(project, actor=ANA)
    before = ids_by_content(database, project)
    embedder.sulking = False

    second = use.indexing.run(project, actor=ANA)

    assert (first.embedding.embedded, first.embedding.skipped, first.complete) == (1, 1, False)
    assert (second.embedding.embedded, second.embedding.reused, second.complete) == (1, 1, True)
    assert ids_by_content(database, project) == before
    assert all(row[7] is not None for row in chunks_of(database, project))
