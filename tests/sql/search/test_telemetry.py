"""One row a search, frozen as it was asked; and a row that can't be written costs the row, never the answer."""

import json
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
import rows

from bag_of_words import BagOfWords
from material import ANA, CASES, Fixed, Services, make_project, services
from medir.contract.search import SearchAnswer
from rag_core.database.connections import Database
from rag_core.database.projects import find_project
from rag_core.evaluation.explaining import explain_case
from rag_core.model import Actor, Project, Scope
from rag_core.ports import EmbeddingRole, Vectors
from rag_core.search.answer import Answer
from rag_core.search.asking import Search
from rag_core.search.losses import Losses
from rag_core.search.telemetry import Telemetry
from rag_core.settings.overrides import Overrides


@pytest.fixture
def loss_log(tmp_path: Path) -> Path:
    return tmp_path / "lost.jsonl"


@pytest.fixture
def made(database: Database, tmp_path: Path, loss_log: Path) -> Services:
    """The project `entrega`, indexed, with golden cases."""
    opened = services(database, loss_log=loss_log)
    project = make_project(database, tmp_path / "repository", cases=CASES)
    opened.indexing.run(project, actor=ANA)
    return opened


@pytest.fixture
def project(made: Services) -> Project:
    with made.database.connection() as connection:
        found = find_project(connection, "entrega")
    assert found is not None
    return found


def ask(made: Services, question: str = "Quando o frete é calculado?", **options: object) -> Answer:
    return made.search.ask("entrega", question, **({"actor": ANA} | options))


def row(made: Services, columns: str) -> tuple[object, ...]:
    """The only search's row."""
    with made.database.connection() as connection:
        found = connection.execute(f"select {columns} from rag_searches".encode()).fetchall()
    assert len(found) == 1
    return tuple(found[0])


def counts(made: Services) -> tuple[int, int, int]:
    with made.database.connection() as connection:
        return (
            rows.count(connection, "rag_searches"),
            rows.count(connection, "rag_candidates"),
            rows.count(connection, "search_settings"),
        )


def test_a_search_writes_one_row_with_its_hits_as_they_were_shown(made: Services) -> None:
    answer = ask(made)
    search_id, question, hits, hit_count = row(made, "id::text, question, hits, hit_count")
    assert (search_id, question) == (answer.search_id, "Quando o frete é calculado?")
    assert hit_count == len(answer.ranking.hits) > 1
    assert hits == [
        {
            "chunkId": hit.candidate.chunk_id,
            "rank": hit.rank,
            "score": hit.score,
            "vectorScore": hit.candidate.vector_score,
            "lexicalScore": hit.candidate.lexical_score,
        }
        for hit in answer.ranking.hits
    ]


def test_all_settings_in_force_are_frozen_in_the_row_the_model_included(made: Services) -> None:
    answer = ask(made, overrides=Overrides(weight_vector=0.25, threshold=0.01))
    weights, settings_id = row(made, "weights, settings_id")
    assert weights == answer.settings.to_json()
    assert isinstance(weights, dict)
    assert (weights["source"], weights["weightVector"], weights["threshold"]) == ("trial", 0.25, 0.01)
    assert weights["embeddingModel"] == "embedded/bag-of-words@0123456789ab+none"
    assert settings_id == answer.settings.id


def test_a_distinct_set_of_numbers_is_kept_once_however_often_it_is_used(made: Services) -> None:
    ask(made)
    ask(made, "A fila guarda eventos")
    ask(made, overrides=Overrides(threshold=0.1))
    assert counts(made) == (3, 3, 2)


def test_who_asked_where_and_how_stands_in_the_row(made: Services) -> None:
    agent = Actor(kind="agent", id="bot-7", surface="mcp")
    ask(made, actor=agent, scopes=(Scope.DOCS, Scope.ADR), session_id="s9", synthetic=True)
    assert row(made, "actor_kind::text, actor_id, surface::text, session_id, synthetic, scopes::text") == (
        "agent",
        "bot-7",
        "mcp",
        "s9",
        True,
        "{docs,adr}",
    )


def test_without_a_session_the_row_has_none_and_all_three_scopes(made: Services) -> None:
    ask(made)
    assert row(made, "session_id, synthetic, scopes::text") == (None, False, "{docs,adr,session}")


def test_the_parts_of_the_latency_are_kept(made: Services) -> None:
    timings = ask(made).timings
    kept = row(made, "latency_ms, embed_ms, vector_ms, lexical_ms, rank_ms")
    assert kept == pytest.approx(
        (timings.total_ms, timings.embed_ms, timings.vector_ms, timings.lexical_ms, timings.rank_ms), rel=1e-4
    )
    assert timings.total_ms >= timings.embed_ms + timings.vector_ms + timings.lexical_ms + timings.rank_ms


class Passing:
    """A clock that stands still but for what is done to it."""

    def __init__(self) -> None:
        self.ms = 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 2, 12, tzinfo=UTC)

    def monotonic_ms(self) -> float:
        return self.ms


class Cold(BagOfWords):
    """Takes a second to be loaded, once, and four milliseconds a text."""

    def __init__(self, clock: Passing) -> None:
        super().__init__()
        self._clock = clock
        self._loaded = False

    def load(self) -> None:
        self._clock.ms += 0.0 if self._loaded else 1000.0
        self._loaded = True

    def embed(self, texts: Sequence[str], role: EmbeddingRole) -> Vectors:
        self.load()
        self._clock.ms += 4.0 * len(texts)
        return super().embed(texts, role)


def test_loading_a_model_into_the_process_is_no_searchs_time(made: Services) -> None:
    clock = Passing()
    search = Search(
        database=made.database,
        providers=Fixed(Cold(clock)),
        telemetry=Telemetry(made.database, loss_log=None),
        clock=clock,
    )
    for _ in ("the first of its process", "the second"):
        answer = search.ask("entrega", "Quando o frete é calculado?", actor=ANA)
        assert answer.found.vector_available
        assert (answer.timings.embed_ms, answer.timings.total_ms) == (4.0, 4.0)
    assert clock.ms == 1008.0


def test_availability_and_degradation_are_two_facts_in_the_row(made: Services) -> None:
    with made.database.connection() as connection:
        connection.execute("update chunks set embedding = null, embedding_model = null where scope = 'adr'")
    ask(made)
    assert row(made, "vector_available, degraded, degraded_reason") == (True, True, "someVectorsMissing")


def test_the_whole_set_goes_beside_the_row_in_fused_order_with_nulls_kept(made: Services) -> None:
    answer = ask(made)
    with made.database.connection() as connection:
        kept = connection.execute(
            """
            select places, ordinals, content_hashes, vector_scores, vector_ranks, lexical_scores, lexical_ranks
            from rag_candidates where search_id = %s
            """,
            (answer.search_id,),
        ).fetchone()
    whole = [entry.candidate for entry in answer.ranking.whole_set]
    assert kept == (
        [str(candidate.origin.place) for candidate in whole],
        [candidate.ordinal for candidate in whole],
        [candidate.content_hash for candidate in whole],
        [candidate.vector_score for candidate in whole],
        [candidate.vector_rank for candidate in whole],
        [candidate.lexical_score for candidate in whole],
        [candidate.lexical_rank for candidate in whole],
    )
    assert None in kept[5]


def test_quotes_and_signs_in_a_question_are_kept_as_they_were(made: Services) -> None:
    ask(made, 'o "frete" d\'água; -- %s \\ {}')
    assert row(made, "question") == ('o "frete" d\'água; -- %s \\ {}',)


def test_golden_runs_linting_and_explanations_ask_nothing_and_write_no_row(
    made: Services, project: Project
) -> None:
    made.evaluation.lint(project)
    assert made.evaluation.run_golden(project, actor=ANA).gate_passed
    explain_case(made.evaluation, project, "frete")
    assert counts(made) == (0, 0, 0)


@pytest.fixture
def locked(made: Services) -> Iterator[None]:
    """Another session holds the table, as a long migration would."""
    with psycopg.connect(made.database.url) as other:
        other.execute("lock table rag_searches in access exclusive mode")
        yield
        other.rollback()


@pytest.mark.usefixtures("locked")
def test_a_locked_table_costs_the_row_within_two_seconds_and_never_the_hits(
    made: Services, loss_log: Path, caplog: pytest.LogCaptureFixture
) -> None:
    started = time.monotonic()
    answer = ask(made)
    assert time.monotonic() - started < 2
    assert SearchAnswer.of(answer).to_json()["searchId"] is None
    assert str(answer.ranking.hits[0].candidate.origin.place) == "docs/frete.md"
    assert answer.contents
    assert Losses(loss_log).count() == 1
    (logged,) = [record for record in caplog.records if record.name == "medir.telemetry"]
    assert logged.levelname == "WARNING"
    assert "origin: infra" in logged.message


@pytest.mark.parametrize(
    "damage",
    [
        "alter table rag_searches drop column question",
        "drop table rag_candidates",
        "alter table rag_searches add constraint none check (false)",
    ],
)
def test_a_damaged_table_costs_the_row_and_never_the_hits(
    made: Services, loss_log: Path, damage: str
) -> None:
    with made.database.connection() as connection:
        connection.execute(damage.encode())
    answer = ask(made)
    assert answer.search_id is None
    assert answer.ranking.hits
    assert Losses(loss_log).count() == 1


def test_a_row_is_written_whole_or_not_at_all(made: Services) -> None:
    with made.database.connection() as connection:
        connection.execute("drop table rag_candidates")
    assert ask(made).search_id is None
    with made.database.connection() as connection:
        assert rows.count(connection, "rag_searches") == 0
        assert rows.count(connection, "search_settings") == 0


def test_losses_are_counted_on_with_time_and_cause_and_without_the_question(
    made: Services, loss_log: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with made.database.connection() as connection:
        connection.execute("alter table rag_searches add constraint none check (false)")
    ask(made, "um segredo")
    ask(made, "outro segredo")
    assert Losses(loss_log).count() == 2
    lines = [json.loads(line) for line in loss_log.read_text(encoding="utf-8").splitlines()]
    assert {line["origin"] for line in lines} == {"infra"}
    assert {line["error"] for line in lines} == {"CheckViolation"}
    assert all(line["at"].endswith("+00:00") for line in lines)
    assert "segredo" not in loss_log.read_text(encoding="utf-8") + caplog.text


def test_a_loss_that_cannot_be_counted_costs_nothing_more(
    made: Services, database: Database, tmp_path: Path
) -> None:
    unwritable = services(database, loss_log=tmp_path / "no" / "such" / "folder.jsonl")
    with database.connection() as connection:
        connection.execute("alter table rag_searches drop column question")
    assert unwritable.search.ask("entrega", "frete", actor=ANA).ranking.hits


def test_no_loss_so_far_is_zero(tmp_path: Path) -> None:
    assert Losses(tmp_path / "none.jsonl").count() == 0
    (tmp_path / "file").touch()
    assert Losses(tmp_path / "file" / "none.jsonl").count() == 0
