"""A search on a real database: one snapshot, two signals, one ranking, and honesty when half of it is missing."""

import dataclasses
import time
import unicodedata
import uuid
from pathlib import Path

import psycopg
import pytest
import rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from bag_of_words import BagOfWords
from material import ANA, DOCUMENTS, Fixed, Repository, Services, make_project, services
from medir.contract.search import FullSearchAnswer, SearchAnswer
from ollama_server import OllamaServer, closed_port
from rag_core.clock import SystemClock
from rag_core.database.connections import Database
from rag_core.database.index.contents import read_indexed_places
from rag_core.database.index.sessions import append_events
from rag_core.embedding.providers import Providers
from rag_core.errors import InvalidInput
from rag_core.evaluation.explaining import explain_case
from rag_core.index.reading import read_chunk_page
from rag_core.model import (
    ALL_SCOPES,
    CandidateSet,
    DegradedReason,
    Fate,
    Fusion,
    LexicalFunction,
    LexicalOperator,
    Place,
    Project,
    Scope,
)
from rag_core.model.session_events import SessionEvent
from rag_core.project.projects import add_project
from rag_core.ranking.ranking import rank
from rag_core.search.answer import Answer
from rag_core.search.citations import require_indexed
from rag_core.settings import presets
from rag_core.settings.overrides import Overrides

SEEDS = Overrides(preset="seeds")


@pytest.fixture(scope="module")
def indexed(module_database: Database, tmp_path_factory: pytest.TempPathFactory) -> Services:
    """The project `entrega`, indexed by a bag of words; tests only read it."""
    made = services(module_database)
    project = make_project(module_database, tmp_path_factory.mktemp("read") / "repository")
    with module_database.connection() as connection:
        append_events(connection, project.project_id, [said("s1", "e1", "A praça de pedágio mudou.")])
    made.indexing.run(project, actor=ANA)
    return made


@pytest.fixture
def project(database: Database, tmp_path: Path) -> Project:
    """The same documents in a database of the test's own, not indexed yet."""
    return make_project(database, tmp_path / "repository")


def said(session_id: str, event_id: str, text: str) -> SessionEvent:
    return SessionEvent(
        session_id=session_id,
        event_id=event_id,
        type="chat.message",
        created_at=rows.NOON,
        actor_kind="human",
        actor_id="ana",
        title="Plantão",
        payload={"text": text},
    )


def ask(made: Services, question: str, **options: object) -> Answer:
    return made.search.ask("entrega", question, actor=ANA, **options)


def places(answer: Answer) -> list[str]:
    return [str(hit.candidate.origin.place) for hit in answer.ranking.hits]


def outcome(answer: Answer) -> list[tuple[object, ...]]:
    """Everything of an answer but ids and times."""
    return [
        (
            entry.candidate.tie_key,
            entry.score,
            entry.candidate.vector_rank,
            entry.candidate.lexical_rank,
            entry.rank,
            entry.fate,
        )
        for entry in answer.ranking.whole_set
    ] + [(hit.rank, answer.contents[hit.candidate.chunk_id]) for hit in answer.ranking.hits]


def row_of(made: Services, answer: Answer) -> dict[str, object]:
    with made.database.connection() as connection, connection.cursor() as cursor:
        cursor.row_factory = psycopg.rows.dict_row
        found = cursor.execute("select * from rag_searches where id = %s", (answer.search_id,)).fetchone()
    assert found is not None
    return dict(found)


def test_a_question_finds_the_document_that_answers_it(indexed: Services) -> None:
    answer = ask(indexed, "Quando o frete é calculado?")
    assert places(answer)[0] == "docs/frete.md"
    assert (answer.found.vector_available, answer.found.degraded) == (True, False)
    best = answer.ranking.hits[0].candidate
    assert best.vector_rank == best.lexical_rank == 1
    assert "calculado na coleta" in answer.contents[best.chunk_id]
    numbers = presets.EMBEDDED.ranking
    assert answer.ranking.hits[0].score == pytest.approx(
        numbers.weight_vector * (best.vector_score or 0) + numbers.weight_lexical * (best.lexical_score or 0),
        abs=1e-15,
    )


def test_an_adr_a_document_and_a_session_are_found_and_cited_each_in_its_way(indexed: Services) -> None:
    citations: dict[str, str] = {}
    for question in ("fila guarda eventos", "senha do coletor", "praça de pedágio mudou"):
        for hit in ask(indexed, question).ranking.hits:
            # the best hit of the first question that finds the scope
            citations.setdefault(str(hit.candidate.scope), hit.candidate.origin.citation)
    assert citations["adr"] == "docs/adr/0001-fila.md › Fila de eventos › Decisão"
    assert citations["session"] == "session:s1 › e1"


@pytest.mark.parametrize("scope", ALL_SCOPES)
def test_only_the_scopes_asked_for_are_searched(indexed: Services, scope: Scope) -> None:
    answer = ask(indexed, "pedágio, fila, rota e frete", scopes=(scope,))
    assert {entry.candidate.scope for entry in answer.ranking.whole_set} == {scope}
    assert SearchAnswer.of(answer).to_json()["scopes"] == [str(scope)]
    assert row_of(indexed, answer)["scopes"] == f"{{{scope}}}"


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    question=st.sampled_from(["frete na coleta", "rota e fila", "de a o", "pedágio"]),
    overrides=st.builds(
        Overrides,
        weight_vector=st.floats(0, 1),
        threshold=st.one_of(st.none(), st.floats(0, 0.5)),
        candidates=st.integers(1, 12),
        max_per_file=st.one_of(st.none(), st.integers(1, 3)),
        limit=st.integers(1, 9),
        fusion=st.sampled_from(Fusion),
        lexical_operator=st.sampled_from(LexicalOperator),
        lexical_function=st.sampled_from(LexicalFunction),
    ),
)
def test_what_is_shown_is_the_one_ranking_of_what_was_fetched_and_so_is_a_replay_of_the_stored_set(
    indexed: Services, question: str, overrides: Overrides
) -> None:
    answer = ask(indexed, question, overrides=overrides)
    assert answer.ranking == rank(answer.found, answer.settings.ranking)
    stored = stored_candidates(indexed, answer)
    replayed = rank(dataclasses.replace(answer.found, candidates=stored.candidates), answer.settings.ranking)
    assert [
        (entry.candidate.tie_key, entry.score, entry.rank, entry.fate) for entry in replayed.whole_set
    ] == [
        (entry.candidate.tie_key, entry.score, entry.rank, entry.fate) for entry in answer.ranking.whole_set
    ]


def stored_candidates(made: Services, answer: Answer) -> CandidateSet:
    """The candidates as `rag_candidates` holds them, with ids from nowhere."""
    with made.database.connection() as connection:
        arrays = connection.execute(
            """
            select places, ordinals, content_hashes, vector_scores, vector_ranks, lexical_scores, lexical_ranks
            from rag_candidates where search_id = %s
            """,
            (answer.search_id,),
        ).fetchone()
    assert arrays is not None
    known = {
        (str(entry.candidate.origin.place), entry.candidate.ordinal): entry.candidate
        for entry in answer.ranking.whole_set
    }
    return dataclasses.replace(
        answer.found,
        candidates=tuple(
            dataclasses.replace(
                known[place, ordinal],
                chunk_id=str(uuid.uuid4()),
                content_hash=content_hash,
                vector_score=vector_score,
                vector_rank=vector_rank,
                lexical_score=lexical_score,
                lexical_rank=lexical_rank,
            )
            for place, ordinal, content_hash, vector_score, vector_rank, lexical_score, lexical_rank in zip(
                *arrays, strict=True
            )
        ),
    )


def test_a_full_reindex_committed_between_the_two_queries_changes_nothing_in_the_answer(
    database: Database, tmp_path: Path
) -> None:
    repository = Repository(tmp_path / "repository")
    project = add_project(database, "entrega", repo=repository.folder)
    before = services(database)
    before.indexing.run(project, actor=ANA)
    undisturbed = ask(before, "Quando o frete é calculado?")

    fired: list[str] = []

    def reindex() -> None:
        repository.remove("docs/frete.md")
        repository.commit({"docs/novo.md": "# Novo\n\nO frete é calculado na entrega.\n"})
        fired.append(services(database).indexing.run(project, actor=ANA, mode="full").mode)

    disturbed = ask(services(database, between_queries=reindex), "Quando o frete é calculado?")
    assert fired == ["full"]
    assert outcome(disturbed) == outcome(undisturbed)
    assert disturbed.found.degraded is False

    afterwards = ask(before, "Quando o frete é calculado?")
    assert "docs/frete.md" not in places(afterwards)
    assert places(afterwards)[0] == "docs/novo.md"


def test_the_same_index_and_question_give_the_same_hits_also_after_a_full_reindex(
    database: Database, project: Project, tmp_path: Path
) -> None:
    # a file's name is searched with its text, so equals have it too
    copies = {f"docs/{name}/frete.md": DOCUMENTS["docs/frete.md"] for name in ("z", "a", "Z", "é")}
    Repository(tmp_path / "other", dict(DOCUMENTS) | copies)
    project = dataclasses.replace(project, repo=str(tmp_path / "other"))
    made = services(database)
    made.indexing.run(project, actor=ANA)
    first = ask(made, "O frete é calculado na coleta")
    made.indexing.run(project, actor=ANA, mode="full")
    second = ask(made, "O frete é calculado na coleta")
    assert outcome(first) == outcome(second)
    assert places(first)[:5] == [
        "docs/Z/frete.md",
        "docs/a/frete.md",
        "docs/frete.md",
        "docs/z/frete.md",
        "docs/é/frete.md",
    ]


LONG_FILE = "# Balança\n\n" + "\n\n".join(
    f"A balança do cais {number} pesa o reboque. " + "A balança pesa de novo. " * 40 for number in range(70)
)
SHORT_FILES = {
    f"docs/curto-{number}.md": f"# Curto {number}\n\nUma nota sobre a balança, o cais e mais {number} coisas.\n"
    for number in range(10)
}


@pytest.fixture(scope="module")
def one_long_file(
    module_database: Database, tmp_path_factory: pytest.TempPathFactory, indexed: Services
) -> Services:
    """The project `longo`: one file of at least 60 chunks on the topic, and ten short ones."""
    project = make_project(
        module_database,
        tmp_path_factory.mktemp("long") / "repository",
        {"docs/longo.md": LONG_FILE, **SHORT_FILES},
        name="longo",
    )
    report = indexed.indexing.run(project, actor=ANA)
    assert report.counts[Scope.DOCS][1] >= 70
    return indexed


def test_one_long_file_on_the_topic_does_not_leave_a_short_page(one_long_file: Services) -> None:
    answer = one_long_file.search.ask("longo", "balança pesa no cais", actor=ANA)
    found = places(answer)
    assert len(found) == 5
    assert found.count("docs/longo.md") == 2
    assert len(set(found)) == 4


def test_where_the_candidates_of_a_signal_are_few_the_folded_ones_are_told_and_so_is_what_lay_deeper(
    one_long_file: Services,
) -> None:
    answer = one_long_file.search.ask(
        "longo",
        "balança pesa no cais",
        actor=ANA,
        overrides=Overrides(candidates=20),
        explain="docs/curto-3.md",
    )
    fates = [entry.fate for entry in answer.ranking.whole_set]
    folded = [e for e in answer.ranking.whole_set if str(e.candidate.origin.place) == "docs/longo.md"]
    assert fates.count(Fate.FILE_CAP) == len(folded) - 2
    assert answer.explanation is not None
    (short,) = answer.explanation.chunks
    assert short.vector_position is not None
    assert short.lexical_position is not None


HOSTILE = [
    "a & (b",
    "- " * 40,
    "'; -- drop table chunks",
    "-redis",
    "https://exemplo.org/a?x=1&y=2",
    "'",
    '"',
    "\\",
    "🙂",
    "frete\x00 fixo",
    "frete \udce9",
    "%s %(question)s {}",
    "a" * 2000,
    "frete:* <-> coleta",
    "\u202efrete",
]


@pytest.mark.parametrize("question", HOSTILE)
def test_any_question_gets_an_answer_and_a_row(indexed: Services, question: str) -> None:
    answer = ask(indexed, question)
    assert answer.search_id is not None
    assert answer.found.vector_available
    assert row_of(indexed, answer)["question"] == answer.question


def test_nul_bytes_in_a_question_are_taken_out(indexed: Services) -> None:
    assert ask(indexed, "fre\x00te").question == "frete"


@pytest.mark.parametrize("question", ["", "  \n\t", "\x00", "\udc80"])
def test_an_empty_question_is_refused(indexed: Services, question: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        ask(indexed, question)
    assert refusal.value.where == {"field": "question"}


def test_a_question_over_2000_characters_is_refused_and_not_cut(indexed: Services) -> None:
    with pytest.raises(InvalidInput, match="2,001"):
        ask(indexed, "é" * 2001)


@pytest.mark.parametrize("question", ["- " * 40, "de a o", "🙂"])
def test_a_question_without_searchable_words_is_answered_by_meaning_alone_and_says_so(
    indexed: Services, question: str
) -> None:
    answer = ask(indexed, question, overrides=Overrides(threshold=None))
    assert SearchAnswer.of(answer).to_json()["notice"] == "noSearchableTerms"
    assert {entry.candidate.lexical_rank for entry in answer.ranking.whole_set} == {None}
    assert answer.ranking.hits


def test_an_unreachable_provider_costs_the_vectors_and_neither_the_index_nor_the_answer(
    database: Database, project: Project
) -> None:
    made = services(
        database,
        providers=Providers(
            configured="ollama", ollama_host=f"127.0.0.1:{closed_port()}", clock=SystemClock()
        ),
    )
    started = time.monotonic()
    report = made.indexing.run(project, actor=ANA)
    indexed_after = time.monotonic() - started
    assert indexed_after < 5
    assert (report.embedding.available, report.embedding.embedded) == (False, 0)
    assert report.embedding.skipped == sum(chunks for _, chunks in report.counts.values()) == 6
    assert report.embedding.reason
    assert not report.complete

    started = time.monotonic()
    answer = ask(made, "Quando o frete é calculado?")
    assert time.monotonic() - started < 5
    assert_degraded(made, answer, DegradedReason.PROVIDER)
    assert places(answer)[0] == "docs/frete.md"
    assert answer.provider_reason


def test_a_provider_that_goes_away_later_leaves_a_search_by_words_that_says_so(
    database: Database, project: Project
) -> None:
    with OllamaServer() as ollama:
        providers = Providers(configured="auto", ollama_host=ollama.host, clock=SystemClock())
        made = services(database, providers=providers)
        assert made.indexing.run(project, actor=ANA).embedding.embedded == 6
        healthy = ask(made, "Quando o frete é calculado?")
        assert (healthy.found.vector_available, healthy.settings.preset) == (True, "seeds")
    answer = ask(made, "Quando o frete é calculado?")
    assert_degraded(made, answer, DegradedReason.PROVIDER)
    assert places(answer)[0] == "docs/frete.md"
    # the index's model stays in the frozen settings although nobody could embed
    assert (
        SearchAnswer.of(answer).to_json()["settings"]["embeddingModel"]
        == healthy.settings.candidates.embedding_model
    )


def test_a_silent_provider_is_given_up_within_five_seconds(database: Database, project: Project) -> None:
    with OllamaServer() as ollama:
        providers = Providers(configured="auto", ollama_host=ollama.host, clock=SystemClock())
        made = services(database, providers=providers)
        made.indexing.run(project, actor=ANA)
        ollama.silent = True
        started = time.monotonic()
        answer = ask(made, "Quando o frete é calculado?")
        assert time.monotonic() - started < 5
    assert_degraded(made, answer, DegradedReason.PROVIDER)


def assert_degraded(made: Services, answer: Answer, reason: DegradedReason) -> None:
    """Words only, and both the answer and its row say so; the settings' threshold does not count then."""
    assert answer.settings.ranking.threshold == presets.SEEDS.ranking.threshold
    told = SearchAnswer.of(answer).to_json()
    assert (told["vectorAvailable"], told["degraded"], told["degradedReason"]) == (False, True, reason)
    assert told["threshold"] is None
    assert answer.ranking.hits
    assert {entry.candidate.vector_score for entry in answer.ranking.whole_set} == {None}
    row = row_of(made, answer)
    assert (row["vector_available"], row["degraded"], row["degraded_reason"]) == (False, True, reason)
    assert row["hit_count"] == len(answer.ranking.hits)


@pytest.mark.parametrize("configured", ["another model", "another provider"])
def test_vectors_of_two_models_are_never_compared(
    database: Database, project: Project, configured: str
) -> None:
    services(database).indexing.run(project, actor=ANA)
    with OllamaServer() as ollama:
        other = (
            Fixed(BagOfWords("another"))
            if configured == "another model"
            else Providers(configured="ollama", ollama_host=ollama.host, clock=SystemClock())
        )
        made = services(database, providers=other)
        answer = ask(made, "Quando o frete é calculado?", overrides=SEEDS)
    assert_degraded(made, answer, DegradedReason.MODEL_MISMATCH)
    assert SearchAnswer.of(answer).to_json()["settings"]["embeddingModel"] == BagOfWords().identify().id


def test_some_missing_vectors_degrade_a_search_that_still_has_its_vector_signal(
    database: Database, project: Project
) -> None:
    made = services(database)
    made.indexing.run(project, actor=ANA)
    with database.connection() as connection:
        connection.execute("update chunks set embedding = null, embedding_model = null where scope = 'adr'")
    answer = ask(made, "A fila guarda eventos e o frete é fixo", overrides=SEEDS)
    told = SearchAnswer.of(answer).to_json()
    assert (told["vectorAvailable"], told["degraded"]) == (True, True)
    assert told["degradedReason"] == "someVectorsMissing"
    assert told["threshold"] == presets.SEEDS.ranking.threshold
    # among the documents nothing is missing
    docs_only = ask(made, "O frete é fixo", scopes=(Scope.DOCS,))
    assert (docs_only.found.degraded, docs_only.found.degraded_reason) == (False, None)
    # among the ADRs nothing is there
    adr_only = ask(made, "A fila guarda eventos", scopes=(Scope.ADR,), overrides=SEEDS)
    assert_degraded(made, adr_only, DegradedReason.NO_VECTORS)


def test_a_scope_without_a_chunk_lacks_no_vector(database: Database, project: Project) -> None:
    made = services(database)
    made.indexing.run(project, actor=ANA)
    told = SearchAnswer.of(ask(made, "Quando o frete é calculado?", scopes=(Scope.SESSION,))).to_json()
    assert (told["vectorAvailable"], told["degraded"], told["degradedReason"]) == (True, False, None)
    assert told["hits"] == []


def test_an_index_without_any_vector_says_so_once_a_provider_answers(
    database: Database, project: Project
) -> None:
    away = Providers(configured="ollama", ollama_host=f"127.0.0.1:{closed_port()}", clock=SystemClock())
    services(database, providers=away).indexing.run(project, actor=ANA)
    made = services(database)
    answer = ask(made, "Quando o frete é calculado?", overrides=SEEDS)
    assert_degraded(made, answer, DegradedReason.NO_VECTORS)


def test_a_text_that_the_model_cannot_take_costs_no_other_its_vector(
    database: Database, tmp_path: Path
) -> None:
    project = make_project(
        database, tmp_path / "r", dict(DOCUMENTS) | {"docs/ruim.md": "# Ruim\n\nNULL! aqui.\n"}
    )
    with OllamaServer() as ollama:
        providers = Providers(configured="auto", ollama_host=ollama.host, clock=SystemClock())
        report = services(database, providers=providers).indexing.run(project, actor=ANA)
    assert (report.embedding.available, report.embedding.embedded, report.embedding.skipped) == (True, 6, 1)
    assert report.embedding.reason
    assert not report.complete


def test_a_vector_of_zeros_for_a_question_is_a_failed_provider_and_no_order_by_chance(
    database: Database, project: Project
) -> None:
    with OllamaServer() as ollama:
        providers = Providers(configured="auto", ollama_host=ollama.host, clock=SystemClock())
        made = services(database, providers=providers)
        made.indexing.run(project, actor=ANA)
        answer = ask(made, "O frete ZERO! é calculado")
    assert_degraded(made, answer, DegradedReason.PROVIDER)


def test_a_project_that_was_never_indexed_answers_with_nothing_and_says_so(
    database: Database, project: Project
) -> None:
    answer = ask(services(database), "frete")
    assert answer.ranking.whole_set == ()
    assert SearchAnswer.of(answer).to_json()["notice"] == "notIndexed"
    assert answer.found.degraded
    assert answer.search_id is not None


def test_a_question_about_nothing_here_gets_no_hit_where_the_settings_are_strict(indexed: Services) -> None:
    answer = ask(indexed, "vulcanologia islandesa", overrides=SEEDS)
    assert answer.ranking.hits == ()
    assert answer.search_id is not None
    assert {entry.fate for entry in answer.ranking.whole_set} == {Fate.THRESHOLD}


def test_an_explanation_follows_every_chunk_of_a_place_and_names_the_step_that_removed_it(
    indexed: Services,
) -> None:
    answer = ask(
        indexed,
        "frete na coleta",
        overrides=Overrides(candidates=1, limit=1),
        explain="docs/seguranca.md",
    )
    assert answer.explanation is not None
    (chunk,) = answer.explanation.chunks
    assert chunk.entry is None
    assert chunk.vector_position is not None
    assert chunk.vector_position > 1
    assert chunk.lexical_position is None
    told = FullSearchAnswer.in_full(answer, whole_set=False).to_json()["explanation"]
    assert told["place"] == "docs/seguranca.md"
    assert told["chunks"][0]["fate"] == "candidates"

    of_hit = ask(indexed, "Quando o frete é calculado?", explain="docs/frete.md").explanation
    assert of_hit is not None
    assert [chunk.ordinal for chunk in of_hit.chunks] == [0, 1]
    assert {chunk.entry.fate for chunk in of_hit.chunks if chunk.entry} <= {Fate.HIT}


def test_one_chunk_can_be_explained_by_its_id(indexed: Services) -> None:
    first = ask(indexed, "Quando o frete é calculado?").ranking.hits[0].candidate
    explanation = ask(indexed, "pedágio", explain=first.chunk_id).explanation
    assert explanation is not None
    assert [chunk.chunk_id for chunk in explanation.chunks] == [first.chunk_id]
    assert explanation.place == str(first.origin.place)


def test_a_place_that_is_not_indexed_has_an_empty_explanation(indexed: Services) -> None:
    explanation = ask(indexed, "frete", explain="docs/nenhum.md").explanation
    assert explanation is not None
    assert explanation.chunks == ()


def test_adopted_settings_are_in_force_and_named_in_the_answer(database: Database, project: Project) -> None:
    made = services(database)
    made.indexing.run(project, actor=ANA)
    adopted = ask(made, "frete", overrides=Overrides(limit=1, weight_vector=0.25)).settings.to_json()
    with database.connection() as connection:
        rows.insert(
            connection,
            "adopted_settings",
            {
                "project_id": "entrega",
                "settings": Jsonb(adopted),
                "adopted_by_kind": "human",
                "adopted_by_id": "ana",
                "reason": "medido",
            },
        )
    answer = ask(made, "frete")
    assert (answer.settings.source, answer.settings.ranking.weight_vector) == ("adopted", 0.25)
    assert len(answer.ranking.hits) == 1


def test_a_search_leaves_no_transaction_open(indexed: Services) -> None:
    ask(indexed, "frete")
    with indexed.database.connection() as connection:
        states = connection.execute(
            """
            select state from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
            """
        ).fetchall()
    assert {state for (state,) in states} <= {"idle"}


def test_the_search_recovers_by_itself_after_the_server_cut_its_connections(
    database: Database, project: Project
) -> None:
    made = services(database)
    made.indexing.run(project, actor=ANA)
    ask(made, "frete")
    with psycopg.connect(database.url, autocommit=True) as operator:
        cut = operator.execute(
            """
            select count(pg_terminate_backend(pid)) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
            """
        ).fetchone()
    assert cut is not None
    assert cut[0] >= 1
    assert ask(made, "frete").ranking.hits


def test_a_place_may_be_named_in_any_unicode_form(database: Database, tmp_path: Path) -> None:
    composed = "docs/opera\u00e7\u00e3o.md"
    decomposed = unicodedata.normalize("NFD", composed)
    folder = unicodedata.normalize("NFD", "decis\u00f5es")
    repository = Repository(
        tmp_path / "p",
        {
            decomposed: "# Operação\n\nA operação exige dois operadores.\n",
            f"{folder}/0001-fila.md": "# Fila\n\nA fila espera.\n",
            "golden_set/cases.yaml": (
                f"cases:\n  - id: op\n    question: quantos operadores?\n    expected: [{composed}]\n"
            ),
        },
    )
    project = add_project(database, "p", repo=repository.folder, adr=["decis\u00f5es"])
    assert project.folders.adr == (folder,)
    use = services(database)
    use.indexing.run(project, actor=ANA)

    run = use.evaluation.run_golden(project, actor=ANA)
    assert (run.outcome.passed, [str(place) for place in run.outcome.golden.cases[0].expected]) == (
        1,
        [decomposed],
    )
    assert explain_case(use.evaluation, project, "op").verdict.rank == 1
    require_indexed(database, "p", composed)
    explanation = use.search.ask("p", "quantos operadores?", actor=ANA, explain=composed).explanation
    assert explanation is not None
    assert (explanation.place, len(explanation.chunks)) == (decomposed, 1)
    page = read_chunk_page(database, "p", Place("file", composed), first=1)
    assert (page.place.key, page.total) == (decomposed, 1)
    with database.connection() as connection:
        found, total = read_indexed_places(
            connection, "p", scope=None, containing="opera\u00e7\u00e3o", count=5
        )
    assert ([entry.place.key for entry in found], total) == ([decomposed], 1)
