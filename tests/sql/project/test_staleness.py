"""A golden run says how far its index is behind, whether that matters, and whether the provider is still the same."""

import dataclasses
from pathlib import Path

import pytest

from bag_of_words import BagOfWords
from material import ANA, CASES, DOCUMENTS, Fixed, Repository, Services, services
from ollama_server import closed_port
from rag_core.clock import SystemClock
from rag_core.database.connections import Database
from rag_core.database.index.identity import read_scope_states
from rag_core.embedding.providers import Providers
from rag_core.model import EmbeddingModel, Project, Scope
from rag_core.project.projects import add_project
from rag_core.project.staleness import Staleness, measure_staleness, told_standing


def stale(made: Services, project: Project) -> object:
    return made.evaluation.run_golden(project, actor=ANA).to_json()["stale"]


def test_an_index_of_the_repositorys_commit_is_not_stale_whatever_is_not_committed(
    made: Services, project: Project, repository: Repository
) -> None:
    assert stale(made, project) is None
    (repository.folder / "docs" / "frete.md").write_text("# Outro\n\nNada.\n", encoding="utf-8")
    assert stale(made, project) is None


@pytest.mark.parametrize(
    ("files", "changed"),
    [
        ({"src/main.py": "print()\n"}, False),
        ({"docs/figura.png": b"\x89PNG"}, False),
        ({"docs/frete.md": DOCUMENTS["docs/frete.md"] + "\n<!-- nota -->\n"}, False),
        ({"docs/frete.md": "# Frete\n\nO frete mudou.\n"}, True),
        ({"docs/adr/0001-fila.md": "# Fila\n\nOutra.\n"}, True),
        ({"docs/nova.md": "# Nova\n\nTexto.\n"}, True),
        ({"docs/vazia.md": ""}, False),
    ],
)
def test_only_a_text_that_would_be_indexed_otherwise_counts_as_changed(
    made: Services, project: Project, repository: Repository, files: dict[str, str | bytes], changed: bool
) -> None:
    repository.commit({"README.md": "um"})
    repository.commit(files)
    assert stale(made, project) == {"commitsBehind": 2, "textChanged": changed}
    made.indexing.run(project, actor=ANA)
    assert stale(made, project) is None


def test_a_deleted_and_a_renamed_file_are_changes(
    made: Services, project: Project, repository: Repository
) -> None:
    repository.git("mv", "docs/seguranca.md", "docs/senhas.md")
    repository.git("commit", "--quiet", "--message", "Rename")
    assert stale(made, project) == {"commitsBehind": 1, "textChanged": True}
    made.indexing.run(project, actor=ANA)
    repository.remove("docs/senhas.md")
    assert stale(made, project) == {"commitsBehind": 1, "textChanged": True}


def test_commits_outside_the_projects_folder_are_not_counted(database: Database, tmp_path: Path) -> None:
    files = {f"produto/{path}": text for path, text in DOCUMENTS.items()}
    repository = Repository(tmp_path / "mono", {**files, "golden_set/cases.yaml": CASES})
    project = add_project(database, "mono", repo=repository.folder, root="produto")
    made = services(database)
    made.indexing.run(project, actor=ANA)
    repository.commit({"outro/x.md": "# X\n"})
    assert stale(made, project) is None
    repository.commit({"produto/notas.txt": "x"})
    assert stale(made, project) == {"commitsBehind": 1, "textChanged": False}


def test_where_history_does_not_tell_the_number_is_null_and_the_texts_are_compared(
    made: Services, project: Project, repository: Repository
) -> None:
    # the commit that was indexed is gone: the same documents, begun anew
    repository.git("checkout", "--quiet", "--orphan", "anew")
    repository.git("commit", "--quiet", "--message", "Anew")
    repository.git("branch", "-D", "main")
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("gc", "--quiet", "--prune=now")
    assert stale(made, project) == {"commitsBehind": None, "textChanged": False}
    repository.commit({"docs/frete.md": "# Frete\n\nO frete mudou.\n"})
    assert stale(made, project) == {"commitsBehind": None, "textChanged": True}


def test_a_scope_that_was_never_indexed_makes_the_index_stale(database: Database, project: Project) -> None:
    services(database).indexing.run(project, actor=ANA, scopes=(Scope.ADR,))
    with database.connection() as connection:
        states = read_scope_states(connection, project.project_id)
    assert measure_staleness(database, project, states) == Staleness(commits_behind=None, text_changed=True)


def test_where_the_repository_can_not_be_read_it_is_not_called_fresh(
    made: Services, project: Project, repository: Repository, tmp_path: Path
) -> None:
    kept = tmp_path / "golden"
    kept.mkdir()
    (kept / "cases.yaml").write_bytes((repository.folder / "golden_set" / "cases.yaml").read_bytes())
    gone = dataclasses.replace(project, repo=str(tmp_path / "gone"), golden=str(kept))
    told = made.evaluation.run_golden(gone, actor=ANA).to_json()
    assert (told["stale"]["commitsBehind"], told["stale"]["textChanged"]) == (None, None)
    assert told_standing(told)[0].startswith("Whether the index is stale can't be told: The repository of")


class OtherDigest(BagOfWords):
    """The same model by name, with other weights."""

    def identify(self) -> EmbeddingModel:
        return dataclasses.replace(super().identify(), digest="ffffffffffff")


def test_a_model_of_another_digest_is_said_although_kept_vectors_carry_the_run(
    made: Services, project: Project, database: Database
) -> None:
    assert made.evaluation.run_golden(project, actor=ANA).to_json()["providerChanged"] is False
    changed = services(database, providers=Fixed(OtherDigest()))
    answer = changed.search.ask(project.project_id, "Quando o frete é calculado?", actor=ANA)
    assert answer.found.vector_available is False
    run = changed.evaluation.run_golden(project, actor=ANA)
    told = run.to_json()
    assert (told["passed"], told["degraded"], told["providerChanged"]) == (3, False, True)
    (sentence,) = told_standing(told)
    assert sentence == (
        "The embedding model has changed: embedded/bag-of-words@0123456789ab+none made the index, and the provider is "
        "embedded/bag-of-words@ffffffffffff+none now. Live searches are lexical only until that model is back, or "
        "the index is made anew: medir index --mode full"
    )


def test_a_provider_of_another_kind_is_another_and_one_that_does_not_answer_is_only_away(
    made: Services, project: Project, database: Database
) -> None:
    made.evaluation.run_golden(project, actor=ANA)
    down = Providers(configured="ollama", ollama_host=f"127.0.0.1:{closed_port()}", clock=SystemClock())
    asked = services(database, providers=down).search.provider_now(
        "ollama/nomic-embed-text@0a109f422b47+search-v1"
    )
    assert asked.changed is False
    assert asked.reason is not None
    told = told_standing({"stale": None, "providerChanged": False, "providerReason": asked.reason})
    assert told[0].startswith("The embedding provider does not answer, so live searches are lexical only")
    # the index is by the embedded encoder, and this installation asks Ollama
    assert (
        services(database, providers=down)
        .search.provider_now("embedded/bag-of-words@0123456789ab+none")
        .changed
        is True
    )
    assert made.search.provider_now(None).changed is False
