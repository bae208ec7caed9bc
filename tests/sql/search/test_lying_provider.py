"""Whatever an Ollama server answers, no wrong vector is stored, the report is honest, and the next run mends it.

The server's true vectors depend on the text alone, so each stored one can be told from any other.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from bag_of_words import BagOfWords
from material import ANA, Fixed, Repository, Services, services
from medir.cli import medir
from medir.cli.frame import run as run_command
from ollama_server import Fault, OllamaServer, closed_port, vector_of
from rag_core.clock import SystemClock
from rag_core.database.connections import Database
from rag_core.embedding.ollama import OllamaEmbedder
from rag_core.embedding.providers import Providers
from rag_core.embedding.service import EmbeddingService
from rag_core.errors import Refused
from rag_core.model import EmbeddingModel, Project, Scope
from rag_core.project.projects import add_project

FILES = {f"docs/{number:02}.md": f"# Tema {number}\n\nTexto do tema {number}.\n" for number in range(24)}
MODEL = "ollama/nomic-embed-text@0a109f422b47+search-v1"


class Ollama(Providers):
    """Providers over one server, with the patience that a test has."""

    def __init__(self, host: str, *, document_timeout_s: float = 60) -> None:
        super().__init__(configured="ollama", ollama_host=host, clock=SystemClock())
        self._patient = OllamaEmbedder(host, identify_timeout_s=20, document_timeout_s=document_timeout_s)
        self._in_front = EmbeddingService(self._patient, clock=SystemClock())

    def service_for(self, index_model: EmbeddingModel | None) -> EmbeddingService:
        return self._in_front


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer() as running:
        yield running


@pytest.fixture
def use(database: Database, server: OllamaServer) -> Services:
    return services(database, providers=Ollama(server.host))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository", FILES)


@pytest.fixture
def project(database: Database, repository: Repository) -> Project:
    return add_project(database, "entrega", repo=repository.folder)


def stored(database: Database) -> dict[str, tuple[object, np.ndarray | None, str | None]]:
    """Id, vector and model of each chunk by its content; contents are distinct here."""
    with database.connection() as connection:
        rows = connection.execute("select content, id, embedding, embedding_model from chunks").fetchall()
    found = {
        content: (chunk_id, None if vector is None else vector.to_numpy(), model)
        for content, chunk_id, vector, model in rows
    }
    assert len(found) == len(rows)
    return found


def missing(database: Database) -> set[str]:
    return {content for content, (_, vector, _) in stored(database).items() if vector is None}


def ids(database: Database) -> dict[str, object]:
    return {content: chunk_id for content, (chunk_id, _, _) in stored(database).items()}


def assert_no_wrong_vector(database: Database) -> None:
    """Every vector, of a chunk or kept for later, is the true one of its text: 768 numbers, length 1."""
    true = {content: vector_of(f"search_document: {content}") for content in stored(database)}
    for content, (_, vector, model) in stored(database).items():
        if vector is None:
            assert model is None
            continue
        assert vector.shape == (768,)
        assert abs(float(np.linalg.norm(vector.astype(np.float64))) - 1) < 1e-5
        assert np.allclose(vector, true[content], atol=1e-6)
    with database.connection() as connection:
        kept = connection.execute(
            """
            select c.content, k.embedding
            from embedding_cache k join chunks c on c.project_id = k.project_id and c.content_hash = k.text_hash
            """
        ).fetchall()
    assert all(np.allclose(vector.to_numpy(), true[content], atol=1e-6) for content, vector in kept)


def assert_mended_by_a_healthy_run(
    use: Services, server: OllamaServer, project: Project, *, without: set[str], before: dict[str, object]
) -> None:
    """The next run sends what was missing, each text once and the checks of its two batches, and keeps every id."""
    server.fault = Fault.NONE
    server.bodies.clear()
    report = use.indexing.run(project, actor=ANA)
    assert set(server.sent) == {f"search_document: {content}" for content in without}
    assert len(server.sent) <= len(without) + 3
    assert report.complete
    assert (report.embedding.embedded, report.embedding.skipped, report.embedding.reason) == (
        len(without),
        0,
        None,
    )
    assert missing(use.database) == set()
    assert ids(use.database) == before
    assert_no_wrong_vector(use.database)


OUTAGES = [
    Fault.MODEL_MISSING,
    Fault.ALWAYS_500,
    Fault.BUSY,
    Fault.WRONG_DIMENSION,
    Fault.TOO_FEW,
    Fault.TOO_MANY,
    Fault.NAN_INSIDE,
    Fault.ZEROS,
    Fault.EMPTY_LIST,
    Fault.GARBAGE,
    Fault.OTHER_JSON,
    Fault.ERROR_IS_NO_OBJECT,
    Fault.CUT,
]


@pytest.mark.parametrize("fault", OUTAGES)
def test_a_provider_that_fails_for_every_text_leaves_chunks_without_vectors_and_says_why(
    use: Services, server: OllamaServer, project: Project, fault: Fault
) -> None:
    server.fault = fault

    report = use.indexing.run(project, actor=ANA)

    embedding = report.embedding
    assert (embedding.available, embedding.embedded, embedding.reused, embedding.skipped) == (False, 0, 0, 24)
    assert embedding.reason
    assert not report.complete
    assert len(missing(use.database)) == 24
    # no retry storm: a batch by halves down to single texts, then an end
    assert len(server.bodies) <= 12
    assert_mended_by_a_healthy_run(
        use, server, project, without=missing(use.database), before=ids(use.database)
    )


@pytest.mark.parametrize("fault", OUTAGES)
def test_a_provider_that_fails_in_the_middle_keeps_what_it_made_and_the_rest_is_filled_later(
    use: Services, server: OllamaServer, project: Project, fault: Fault
) -> None:
    # sixteen texts, and the first and last of them alone as a check
    server.fault, server.fault_after = fault, 3

    report = use.indexing.run(project, actor=ANA)

    without = missing(use.database)
    assert (report.embedding.embedded, report.embedding.skipped) == (24 - len(without), len(without))
    assert (len(without), report.embedding.available, report.complete) == (8, False, False)
    assert_no_wrong_vector(use.database)
    assert_mended_by_a_healthy_run(use, server, project, without=without, before=ids(use.database))


def test_a_provider_that_hangs_is_waited_for_once_and_the_chunks_are_written(
    database: Database, server: OllamaServer, project: Project
) -> None:
    server.fault = Fault.HANG
    use = services(database, providers=Ollama(server.host, document_timeout_s=0.5))

    report = use.indexing.run(project, actor=ANA)

    assert (report.embedding.available, report.embedding.skipped) == (False, 24)
    assert "did not answer" in str(report.embedding.reason)
    assert len(server.bodies) == 1
    server.stop()
    server.start()
    patient = services(database, providers=Ollama(server.host))
    assert_mended_by_a_healthy_run(patient, server, project, without=missing(database), before=ids(database))


@pytest.mark.parametrize("fault", [Fault.SHUFFLED, Fault.DRIFTING, Fault.SCALED])
def test_a_provider_whose_batches_are_in_another_order_or_on_another_scale_is_still_read_rightly(
    use: Services, server: OllamaServer, project: Project, fault: Fault
) -> None:
    server.fault = fault

    report = use.indexing.run(project, actor=ANA)

    assert (report.complete, report.embedding.embedded) == (True, 24)
    assert_no_wrong_vector(use.database)


@pytest.mark.parametrize("word", ["NAN!", "NULL!", "ZERO!"])
def test_a_text_that_breaks_the_model_costs_only_itself_and_is_tried_again_alone(
    use: Services, server: OllamaServer, repository: Repository, project: Project, word: str
) -> None:
    repository.commit({"docs/17.md": f"# Tema 17\n\nAqui há {word} no meio.\n"})
    bad = f"# Tema 17\n\nAqui há {word} no meio."

    first = use.indexing.run(project, actor=ANA)
    server.bodies.clear()
    second = use.indexing.run(project, actor=ANA)

    assert missing(use.database) == {bad}
    assert (first.embedding.available, first.embedding.embedded, first.embedding.skipped) == (True, 23, 1)
    assert "1 of 24 texts got no vector" in str(first.embedding.reason)
    assert set(server.sent) == {f"search_document: {bad}"}
    assert (second.embedding.reused, second.embedding.skipped, second.complete) == (23, 1, False)
    assert_no_wrong_vector(use.database)
    repository.commit({"docs/17.md": "# Tema 17\n\nAqui já não.\n"})
    assert use.indexing.run(project, actor=ANA).complete


def test_a_cold_model_is_waited_for(use: Services, server: OllamaServer, project: Project) -> None:
    server.load_s = 1.0

    assert use.indexing.run(project, actor=ANA).complete
    assert server.loads_given_up == 0
    assert_no_wrong_vector(use.database)


def test_without_a_server_or_a_model_the_reason_names_the_remedy(
    database: Database, server: OllamaServer, project: Project
) -> None:
    away = services(database, providers=Ollama(f"127.0.0.1:{closed_port()}")).indexing.run(project, actor=ANA)
    server.models = {}
    not_pulled = services(database, providers=Ollama(server.host)).indexing.run(project, actor=ANA)

    assert "ollama serve" in str(away.embedding.reason)
    assert "ollama pull nomic-embed-text" in str(not_pulled.embedding.reason)
    assert (away.embedding.skipped, not_pulled.embedding.skipped, server.bodies) == (24, 24, [])


def test_a_wrong_dimension_is_named_with_both_numbers_before_any_vector_is_stored(
    use: Services, server: OllamaServer, project: Project
) -> None:
    server.fault = Fault.WRONG_DIMENSION

    report = use.indexing.run(project, actor=ANA)

    assert "1024 dimensions; 768 are expected" in str(report.embedding.reason)
    # the batch, and one text more that shows whose fault it is
    assert len(server.bodies) == 2


def test_another_model_is_refused_with_its_price_until_a_full_run_brings_it(
    use: Services, server: OllamaServer, project: Project
) -> None:
    use.indexing.run(project, actor=ANA)
    before = stored(use.database)
    server.models = {"nomic-embed-text:latest": "sha256:" + "b" * 64}
    server.bodies.clear()

    for mode, scopes in (("incremental", tuple(Scope)), ("full", (Scope.DOCS,))):
        with pytest.raises(Refused, match=re.escape(f"was made by {MODEL},")) as refusal:
            use.indexing.run(
                project, actor=ANA, mode="full" if mode == "full" else "incremental", scopes=scopes
            )
        assert "embeds all 24 chunks anew" in refusal.value.hint
    assert server.bodies == []
    assert ids(use.database) == {content: chunk_id for content, (chunk_id, _, _) in before.items()}

    report = use.indexing.run(project, actor=ANA, mode="full")

    assert (report.embedding.embedded, report.embedding.reused, report.complete) == (24, 0, True)
    assert {model for _, _, model in stored(use.database).values()} == {
        "ollama/nomic-embed-text@bbbbbbbbbbbb+search-v1"
    }


def test_a_model_replaced_while_a_run_embeds_leaves_no_vector_of_either(
    use: Services, server: OllamaServer, project: Project
) -> None:
    def replace(step: str, done: int, total: int) -> None:
        if step == "embed" and done:
            server.models = {"nomic-embed-text:latest": "c" * 64}

    report = use.indexing.run(project, actor=ANA, listener=replace)

    assert "was replaced" in str(report.embedding.reason)
    assert (report.embedding.available, report.embedding.skipped) == (False, 24)
    assert len(missing(use.database)) == 24
    assert_mended_by_a_healthy_run(
        use, server, project, without=missing(use.database), before=ids(use.database)
    )


def test_while_the_provider_is_away_what_was_embedded_before_stays_and_only_new_texts_lack_vectors(
    use: Services, server: OllamaServer, repository: Repository, project: Project
) -> None:
    use.indexing.run(project, actor=ANA)
    server.stop()
    repository.commit({"docs/17.md": "# Tema 17\n\nOutro texto.\n"})

    for mode in ("incremental", "full"):
        report = use.indexing.run(project, actor=ANA, mode="full" if mode == "full" else "incremental")
        assert (report.embedding.reused, report.embedding.skipped, report.complete) == (23, 1, False)
        assert missing(use.database) == {"# Tema 17\n\nOutro texto."}
        assert_no_wrong_vector(use.database)


def test_a_provider_of_another_kind_that_is_away_takes_no_vector_from_the_index(
    database: Database, server: OllamaServer, project: Project
) -> None:
    """Whoever configures Ollama before it runs must not be told that the vectors there are missing."""
    services(database, providers=Fixed(BagOfWords())).indexing.run(project, actor=ANA)
    server.stop()

    report = services(database, providers=Ollama(server.host)).indexing.run(project, actor=ANA)

    assert (report.embedding.available, report.embedding.reused, report.embedding.skipped) == (False, 24, 0)
    assert missing(database) == set()


def test_the_command_ends_with_3_while_vectors_are_missing_and_with_0_when_they_are_filled(
    database: Database,
    server: OllamaServer,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in {
        "DATABASE_URL": database.url,
        "OLLAMA_HOST": server.host,
        "MEDIR_EMBEDDING": "ollama",
        "MEDIR_HOME": f"{project.repo}/home",
    }.items():
        monkeypatch.setenv(name, value)
    server.fault = Fault.ZEROS
    assert run_command(medir, ["index", "--json"]) == 3
    part = json.loads(capsys.readouterr().out)
    assert run_command(medir, ["index"]) == 3
    said = capsys.readouterr().out
    server.fault = Fault.NONE
    assert run_command(medir, ["index", "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)

    assert part["embedding"]["reason"]
    assert "Not everything is indexed" in said
    assert {key: part["embedding"][key] for key in ("available", "embedded", "reused", "skipped")} == {
        "available": False,
        "embedded": 0,
        "reused": 0,
        "skipped": 24,
    }
    assert whole["embedding"] == {
        "available": True,
        "embedded": 24,
        "reused": 0,
        "skipped": 0,
        "reason": None,
    }
