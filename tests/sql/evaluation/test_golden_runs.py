"""A golden run on a real index: the same twice, exact, gated, and refused where it would mislead."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import rows

from bag_of_words import BagOfWords
from material import ANA, CASES, Fixed, Repository, Services, services
from medir.contract.explanation import CaseExplained
from ollama_server import closed_port
from rag_core.clock import SystemClock
from rag_core.database.connections import Database
from rag_core.database.index.sessions import append_events
from rag_core.database.runs import recent_runs
from rag_core.embedding.providers import Providers
from rag_core.errors import FaultyGoldenSet, InvalidInput, Refused, UsageError
from rag_core.evaluation.explaining import explain_case
from rag_core.evaluation.floor import raise_project_floor
from rag_core.evaluation.golden_runs import GoldenRun
from rag_core.model import Project
from rag_core.model.session_events import SessionEvent
from rag_core.settings.overrides import Overrides


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a cases file outside any repository."""

    def written(text: str) -> Path:
        file = tmp_path / "cases.yaml"
        file.write_text(text, encoding="utf-8")
        return file

    return written


def run(made: Services, project: Project, **options: object) -> GoldenRun:
    return made.evaluation.run_golden(project, actor=ANA, **options)


def without(told: object, dropped: Callable[[str], bool]) -> object:
    """A JSON value without the keys that `dropped` names, at any depth."""
    if isinstance(told, dict):
        return {key: without(value, dropped) for key, value in told.items() if not dropped(key)}
    if isinstance(told, list):
        return [without(value, dropped) for value in told]
    return told


def timeless(golden: GoldenRun) -> bytes:
    """The run's JSON but for its time fields, which are those whose names end in `Ms` or `At`."""
    told = without(golden.to_json(), lambda key: key.endswith(("Ms", "At")))
    return json.dumps(told, ensure_ascii=False).encode()


def case(golden: GoldenRun, case_id: str) -> dict[str, object]:
    cases = golden.to_json()["cases"]
    assert isinstance(cases, list)
    return next(entry for entry in cases if entry["id"] == case_id)


def test_a_run_has_the_contracts_keys_and_finds_what_it_should(made: Services, project: Project) -> None:
    told = run(made, project).to_json()
    assert {
        "passed", "total", "floor", "trial", "settings", "index", "cases"
    } <= set(told)  # fmt: skip
    assert (told["passed"], told["total"], told["floor"], told["trial"]) == (3, 3, 3, False)
    assert set(told["index"]) == {
        "fingerprint", "commit", "model", "chunkerVersion", "queryVersion", "chunks", "withoutVector"
    }  # fmt: skip
    for entry in told["cases"]:
        assert {
            "id", "question", "expected", "tags", "mustPass", "passed", "rank", "wholeRank", "vectorRank",
            "lexicalRank", "removedBy", "hits",
        } <= set(entry)  # fmt: skip
        assert all("content" not in hit for hit in entry["hits"])


def test_a_case_tells_the_expected_files_ranks(made: Services, project: Project) -> None:
    frete = case(run(made, project), "frete")
    assert frete["passed"] is True
    assert (frete["rank"], frete["wholeRank"], frete["vectorRank"], frete["lexicalRank"]) == (1, 1, 1, 1)
    assert (frete["removedBy"], frete["mustPass"], frete["tags"]) == (None, False, ["preco"])
    assert frete["expected"] == ["docs/frete.md"]
    assert case(run(made, project), "motorista")["mustPass"] is True


def test_two_runs_are_byte_equal_but_for_their_time(made: Services, project: Project) -> None:
    assert timeless(run(made, project)) == timeless(run(made, project))


def test_a_rebuilt_approximate_index_changes_not_one_byte(made: Services, project: Project) -> None:
    before = timeless(run(made, project))
    with made.database.connection() as connection:
        connection.execute("reindex table chunks")
    assert timeless(run(made, project)) == before


def test_a_full_reindex_changes_nothing_but_chunk_ids(made: Services, project: Project) -> None:
    def comparable(golden: GoldenRun) -> object:
        return without(golden.to_json(), lambda key: key == "chunkId" or key.endswith(("Ms", "At")))

    before = run(made, project)
    made.indexing.run(project, actor=ANA, mode="full")
    after = run(made, project)
    assert comparable(after) == comparable(before)
    ids = {hit.candidate.chunk_id for ranking in before.measured.rankings for hit in ranking.hits}
    assert not ids & {hit.candidate.chunk_id for ranking in after.measured.rankings for hit in ranking.hits}


def test_each_question_is_embedded_alone_and_once_for_good(database: Database, project: Project) -> None:
    embedder = BagOfWords()
    made = services(database, providers=Fixed(embedder))
    made.indexing.run(project, actor=ANA)
    before = len(embedder.embedded)
    run(made, project)
    assert embedder.embedded[before:] == [
        "Quando o frete é calculado?",
        "O aplicativo do motorista funciona sem rede?",
        "Por quantos dias a fila guarda eventos?",
    ]
    run(made, project)
    assert len(embedder.embedded) == before + 3


@pytest.mark.parametrize("wrong", ["docs/fretes.md", "docs/adr/0001-fila", "session:nenhuma", "frete.md"])
def test_an_expected_place_that_is_not_there_is_a_fault_of_the_set_named_by_its_case(
    made: Services, project: Project, write: Callable[[str], Path], wrong: str
) -> None:
    file = write(CASES.replace("docs/frete.md", wrong))
    with pytest.raises(FaultyGoldenSet) as refusal:
        run(made, project, cases=file)
    (fault,) = refusal.value.faults
    assert (fault["case"], fault["field"], fault["line"]) == ("frete", "expected", 6)
    assert wrong.removeprefix("session:") in str(fault["message"])
    _, faults = made.evaluation.lint(project, cases=file)
    assert [found.case for found in faults] == ["frete"]


def test_a_floor_above_what_passes_fails_the_gate(
    strict: Services, project: Project, write: Callable[[str], Path]
) -> None:
    hard = CASES.replace("question: Quando o frete é calculado?", "question: vulcanologia islandesa")
    golden = run(strict, project, cases=write(hard))
    assert (golden.outcome.passed, golden.outcome.floor, golden.gate_passed) == (2, 3, False)
    met = run(strict, project, cases=write(hard.replace("floor: 3", "floor: 2")))
    assert met.gate_passed


def test_a_lost_must_pass_case_fails_the_gate_although_the_floor_is_met(
    strict: Services, project: Project, write: Callable[[str], Path]
) -> None:
    text = CASES.replace("floor: 3", "floor: 2").replace(
        "question: O aplicativo do motorista funciona sem rede?", "question: vulcanologia islandesa"
    )
    golden = run(strict, project, cases=write(text))
    assert golden.outcome.passed == 2
    assert golden.outcome.lost_must_pass == ("motorista",)
    assert not golden.gate_passed


STEPS = """\
limit: 1
cases:
  - id: threshold
    question: frete calculado na coleta
    expected: docs/motorista.md
  - id: limit
    question: a rota passa por praça
    expected: docs/adr/0002-rota.md
"""


def test_a_lost_case_names_the_step_that_removed_the_file_and_where_it_stood(
    made: Services, project: Project, write: Callable[[str], Path]
) -> None:
    golden = run(made, project, cases=write(STEPS), overrides=Overrides(preset="seeds", threshold=0.1))
    strict = case(golden, "threshold")
    assert (strict["passed"], strict["rank"], strict["removedBy"]) == (False, None, "threshold")
    assert isinstance(strict["wholeRank"], int)
    cut = case(golden, "limit")
    assert (cut["passed"], cut["rank"], cut["removedBy"]) == (False, None, "limit")
    assert cut["wholeRank"] == 2
    shallow = run(made, project, cases=write(STEPS), overrides=Overrides(candidates=1, threshold=None))
    assert case(shallow, "threshold")["removedBy"] == "candidates"
    assert case(shallow, "threshold")["wholeRank"] is None


def test_any_of_several_places_will_do_and_a_session_is_one(
    database: Database, project: Project, write: Callable[[str], Path]
) -> None:
    with database.connection() as connection:
        spoken = SessionEvent(
            session_id="s1",
            event_id="e1",
            type="agent.response",
            created_at=rows.NOON,
            actor_kind="agent",
            actor_id="bot",
            title=None,
            payload={"text": "A balança do cais pesa demais."},
        )
        append_events(connection, "entrega", [spoken])
    made = services(database)
    made.indexing.run(project, actor=ANA)
    text = "cases:\n  - id: balanca\n    question: balança do cais\n    expected: [docs/frete.md, 'session:s1']\n"
    found = case(run(made, project, cases=write(text)), "balanca")
    assert (found["passed"], found["rank"], found["expected"]) == (True, 1, ["docs/frete.md", "session:s1"])


def test_a_case_that_expects_no_answer_passes_without_hits_and_has_no_ranks(
    made: Services, project: Project, write: Callable[[str], Path]
) -> None:
    text = "cases:\n  - id: nada\n    question: vulcanologia islandesa\n    no_answer: true\n"
    silent = case(run(made, project, cases=write(text), overrides=Overrides(preset="seeds")), "nada")
    assert (silent["passed"], silent["hits"], silent["removedBy"]) == (True, [], None)
    assert {silent[key] for key in ("rank", "wholeRank", "vectorRank", "lexicalRank")} == {None}
    talkative = case(run(made, project, cases=write(text), overrides=Overrides(threshold=None)), "nada")
    assert talkative["passed"] is False


def test_the_limit_of_the_file_stands_above_the_presets_and_below_the_flag(
    made: Services, project: Project, write: Callable[[str], Path]
) -> None:
    file = write(CASES.replace("limit: 5", "limit: 2"))
    assert run(made, project, cases=file).measured.settings.ranking.limit == 2
    flagged = run(made, project, cases=file, overrides=Overrides(limit=4))
    assert (flagged.measured.settings.ranking.limit, flagged.trial) == (4, True)


def test_an_override_makes_a_trial_held_to_the_same_floor(made: Services, project: Project) -> None:
    trial = run(made, project, overrides=Overrides(weight_vector=0.5, threshold=None))
    assert (trial.trial, trial.measured.settings.source, trial.outcome.floor) == (True, "trial", 3)
    impossible = run(made, project, overrides=Overrides(threshold=0.99))
    assert (impossible.outcome.passed, impossible.gate_passed) == (0, False)


def test_a_run_that_would_be_degraded_is_refused_unless_allowed_which_is_then_part_of_it(
    database: Database, made: Services, project: Project
) -> None:
    with database.connection() as connection:
        connection.execute("update chunks set embedding = null, embedding_model = null where scope = 'adr'")
    with pytest.raises(Refused, match="2 chunks have no vector") as refusal:
        run(made, project)
    assert "--allow-degraded" in refusal.value.hint
    told = run(made, project, allow_degraded=True).to_json()
    assert (told["allowDegraded"], told["degraded"]) == (True, True)
    assert told["index"]["withoutVector"] == 2


def test_without_its_provider_a_run_is_refused_and_says_why(
    database: Database, made: Services, project: Project
) -> None:
    away = Providers(configured="ollama", ollama_host=f"127.0.0.1:{closed_port()}", clock=SystemClock())
    with pytest.raises(Refused, match="would be degraded"):
        run(services(database, providers=away), project)


def test_a_set_or_an_index_that_is_not_there_is_wrong_use(
    database: Database, project: Project, tmp_path: Path
) -> None:
    unindexed = services(database)
    with pytest.raises(UsageError, match="not indexed"):
        run(unindexed, project)
    unindexed.indexing.run(project, actor=ANA)
    with pytest.raises(UsageError, match=r"nothing\.yaml"):
        run(unindexed, project, cases=tmp_path / "nothing.yaml")


def test_a_run_is_recorded_with_its_result(made: Services, project: Project) -> None:
    golden = run(made, project, reason="antes da entrega")
    with made.database.connection() as connection:
        (kept,) = recent_runs(connection, "entrega", "golden", count=5)
    assert (kept.state, kept.actor_id) == ("done", "ana")
    assert kept.result == json.loads(json.dumps(golden.to_json()))
    assert kept.parameters["reason"] == "antes da entrega"


def test_a_floor_lower_than_it_ever_was_fails_with_the_commit_that_had_it_higher(
    made: Services, project: Project, repository: Repository
) -> None:
    higher = repository.git("rev-parse", "HEAD")
    assert run(made, project).gate_passed
    repository.commit({"golden_set/cases.yaml": CASES.replace("floor: 3", "floor: 1")})
    golden = run(made, project)
    assert golden.outcome.passed == 3
    assert not golden.gate_passed
    assert golden.floor_fall is not None
    assert higher[:7] in golden.floor_fall
    told = golden.to_json()["floorHistory"]
    assert told["highest"] == 3


def test_a_floor_lowered_but_not_committed_fails_as_well(
    made: Services, project: Project, repository: Repository
) -> None:
    cases = repository.folder / "golden_set" / "cases.yaml"
    cases.write_text(CASES.replace("floor: 3", "floor: 1"), encoding="utf-8")
    assert not run(made, project).gate_passed


def test_a_file_outside_git_is_said_to_be_unguarded(
    made: Services, project: Project, write: Callable[[str], Path]
) -> None:
    golden = run(made, project, cases=write(CASES))
    assert golden.gate_passed
    assert golden.to_json()["floorHistory"]["guarded"] is False


def test_the_floor_rises_to_what_passes_for_a_reason_and_nothing_else_in_the_file_changes(
    made: Services, project: Project, write: Callable[[str], Path]
) -> None:
    text = "# nossos casos\n" + CASES.replace("floor: 3", "floor: 1  # sobe devagar")
    file = write(text)
    raised = raise_project_floor(made.evaluation, project, file=file, actor=ANA, reason="melhorou")
    assert (raised.before, raised.after) == (1, 3)
    assert file.read_text(encoding="utf-8") == text.replace("floor: 1", "floor: 3")
    again = raise_project_floor(made.evaluation, project, file=file, actor=ANA, reason="de novo")
    assert (again.before, again.after) == (3, 3)


def test_a_floor_below_what_git_remembers_is_not_said_to_be_what_passes(
    strict: Services, project: Project, repository: Repository
) -> None:
    lost = CASES.replace("question: Quando o frete é calculado?", "question: vulcanologia islandesa")
    repository.commit({"golden_set/cases.yaml": lost.replace("floor: 3", "floor: 1")})
    file = repository.folder / "golden_set" / "cases.yaml"
    with pytest.raises(Refused, match=r"it was 3 in commit .*; it only rises\. Only 2 cases pass now"):
        raise_project_floor(strict.evaluation, project, file=file, actor=ANA, reason="medido")


def test_the_floor_never_falls_and_never_rises_without_a_reason(
    strict: Services, project: Project, write: Callable[[str], Path]
) -> None:
    text = CASES.replace("question: Quando o frete é calculado?", "question: vulcanologia islandesa")
    file = write(text)
    with pytest.raises(Refused, match="2 cases pass, and the floor is 3"):
        raise_project_floor(strict.evaluation, project, file=file, actor=ANA, reason="medido")
    with pytest.raises(InvalidInput, match="reason"):
        raise_project_floor(strict.evaluation, project, file=file, actor=ANA, reason="  ")
    assert file.read_text(encoding="utf-8") == text


def test_one_case_can_be_explained_with_its_whole_set_and_a_wrong_name_gets_a_suggestion(
    made: Services, project: Project
) -> None:
    explained = CaseExplained.of(explain_case(made.evaluation, project, "frete")).to_json()
    assert explained["case"]["passed"] is True
    whole = explained["wholeSet"]
    assert [entry["wholeRank"] for entry in whole] == list(range(1, len(whole) + 1))
    with pytest.raises(UsageError) as refusal:
        explain_case(made.evaluation, project, "fretes")
    assert refusal.value.hint == "Did you mean 'frete'?"
