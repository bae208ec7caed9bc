"""Baselines on a real index: frozen once, compared case by case, settings told from index."""

import json
from pathlib import Path

import pytest

from material import ANA, CASES, DOCUMENTS, Repository, Services
from rag_core.clock import SystemClock
from rag_core.database.connections import Database
from rag_core.errors import InvalidInput, Refused, UsageError
from rag_core.evaluation.baselines import (
    baselines_folder,
    freeze,
    list_baselines,
    make_baseline,
    read_baseline,
    verify_baseline,
)
from rag_core.evaluation.comparison import (
    BaselineComparison,
    compare_baselines,
    compare_recorded,
    run_against,
)
from rag_core.evaluation.history import golden_result
from rag_core.golden.baseline_file import Baseline, encode_baseline
from rag_core.model import LexicalFunction, Project
from rag_core.project.following import last_run
from rag_core.project.overview import read_overview
from rag_core.settings.adopting import adopt_settings, settings_history
from rag_core.settings.in_force import settings_in_force
from rag_core.settings.overrides import Overrides

NOTHING_TURNED = {"won": [], "lost": []}


@pytest.fixture
def frozen(made: Services, project: Project) -> Baseline:
    return freeze_as(made, project, "antes")


@pytest.fixture
def folder(project: Project) -> Path:
    return baselines_folder(project)


def freeze_as(made: Services, project: Project, name: str, **options: object) -> Baseline:
    return freeze(made.evaluation, project, name, clock=SystemClock(), actor=ANA, **options)[0]


def against(made: Services, project: Project, frozen: Baseline, **options: object) -> BaselineComparison:
    return run_against(made.evaluation, project, frozen, actor=ANA, **options)[1]


def last_result(made: Services, project: Project) -> dict[str, object]:
    last = last_run(made.database, project.project_id, "golden")
    assert last is not None
    return golden_result(made.database, project.project_id, str(last.id))


def rewrite(repository: Repository, text: str) -> None:
    (repository.folder / "golden_set" / "cases.yaml").write_text(text, encoding="utf-8")


def test_a_frozen_run_lies_beside_the_cases_with_its_whole_identity(
    frozen: Baseline, folder: Path, repository: Repository
) -> None:
    assert folder == repository.folder / "golden_set" / "baselines"
    assert [file.name for file in folder.iterdir()] == ["antes.json"]
    kept = read_baseline(folder, "antes")
    assert kept.checksum == frozen.checksum
    assert set(kept.identity) == {
        "settings", "limit", "floor", "casesDigest", "index", "textSearchConfig", "degraded", "allowDegraded",
        "versions",
    }  # fmt: skip
    assert kept.identity["textSearchConfig"] == "portuguese+2"
    assert [case.id for case in kept.cases] == ["frete", "motorista", "fila"]
    assert all(vector is not None and vector.shape == (768,) for vector in kept.vectors)
    assert kept.passed == {"frete": True, "motorista": True, "fila": True}
    assert verify_baseline(folder, "antes") is None


def test_freezing_never_overwrites_and_leaves_no_scratch_file(
    made: Services, project: Project, frozen: Baseline, folder: Path
) -> None:
    before = (folder / "antes.json").read_bytes()
    with pytest.raises(Refused, match="never overwritten"):
        freeze_as(made, project, "antes")
    assert (folder / "antes.json").read_bytes() == before
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("name", ["", "../fora", "a/b", ".oculto", "com espaço", "x" * 101, "a\n"])
def test_a_name_that_could_leave_the_folder_is_refused(made: Services, project: Project, name: str) -> None:
    with pytest.raises(InvalidInput, match="name of a baseline"):
        freeze_as(made, project, name)


def test_a_trial_is_never_a_baseline(made: Services, project: Project) -> None:
    trial = made.evaluation.run_golden(project, actor=ANA, overrides=Overrides(weight_vector=0.5))
    with pytest.raises(Refused, match="trial"):
        make_baseline(trial, name="x", frozen_at="2026-01-01T00:00:00+00:00")


def test_a_degraded_run_is_frozen_only_when_allowed_and_its_identity_says_so(
    database: Database, made: Services, project: Project
) -> None:
    whole = freeze_as(made, project, "inteira")
    with database.connection() as connection:
        connection.execute("update chunks set embedding = null, embedding_model = null where scope = 'adr'")
    with pytest.raises(Refused, match="degraded"):
        freeze_as(made, project, "meia")
    half = freeze_as(made, project, "meia", allow_degraded=True)
    assert (half.identity["degraded"], half.identity["allowDegraded"]) == (True, True)
    assert "degraded" in compare_baselines(whole, half).differs


def test_a_tampered_truncated_newer_or_renamed_file_is_refused_by_name_and_reason(
    frozen: Baseline, folder: Path
) -> None:
    text = (folder / "antes.json").read_text(encoding="utf-8")
    (folder / "mexida.json").write_text(text.replace('"passed":true', '"passed":false', 1), encoding="utf-8")
    (folder / "cortada.json").write_text(text[: len(text) // 2], encoding="utf-8")
    (folder / "nova.json").write_text(text.replace('"format": 1', '"format": 2'), encoding="utf-8")
    (folder / "outra.json").write_text(text, encoding="utf-8")
    (folder / "bytes.json").write_bytes(b"\xff\xfe\x00")
    reasons = {entry.name: entry.reason for entry in list_baselines(folder)}
    assert reasons.pop("antes") is None
    for name, reason in {
        "mexida": "checksum", "cortada": "truncated", "nova": "format 2", "outra": "another name",
        "bytes": "UTF-8",
    }.items():  # fmt: skip
        told = reasons[name]
        assert told is not None
        assert name in told
        assert reason in told
        assert verify_baseline(folder, name) == told


def test_a_baseline_whose_candidates_no_longer_give_its_results_is_not_sound(
    frozen: Baseline, folder: Path
) -> None:
    results = [dict(result) for result in json.loads(json.dumps(frozen.run))["cases"]]
    results[0]["passed"] = False
    forged = make_forged(frozen, {**frozen.run, "cases": results})
    (folder / "forjada.json").write_text(encode_baseline(forged), encoding="utf-8")
    assert "other results for: frete" in (verify_baseline(folder, "forjada") or "")


def make_forged(frozen: Baseline, run: dict[str, object]) -> Baseline:
    return Baseline(
        name="forjada",
        frozen_at=frozen.frozen_at,
        identity=frozen.identity,
        cases=frozen.cases,
        vectors=frozen.vectors,
        found=frozen.found,
        run=run,
    )


def test_a_name_that_is_not_there_is_wrong_use_and_the_others_are_named(
    frozen: Baseline, folder: Path
) -> None:
    with pytest.raises(UsageError, match="no baseline 'depois'") as refusal:
        read_baseline(folder, "depois")
    assert "antes" in refusal.value.hint


def test_the_same_run_on_the_same_ground_wins_and_loses_nothing(
    made: Services, project: Project, frozen: Baseline
) -> None:
    assert against(made, project, frozen).to_json() == {
        "name": "antes",
        "comparable": True,
        "differs": [],
        "won": [],
        "lost": [],
        "new": [],
        "gone": [],
        "changed": [],
        "effects": {"settings": NOTHING_TURNED, "index": NOTHING_TURNED},
    }


def test_other_settings_are_comparable_and_the_effect_is_theirs(
    made: Services, project: Project, frozen: Baseline
) -> None:
    told = against(made, project, frozen, overrides=Overrides(threshold=0.99)).to_json()
    assert (told["comparable"], told["differs"]) == (True, ["settings.threshold"])
    assert (told["won"], told["lost"]) == ([], ["frete", "motorista", "fila"])
    assert told["effects"] == {
        "settings": {"won": [], "lost": ["frete", "motorista", "fila"]},
        "index": NOTHING_TURNED,
    }


def test_another_lexical_function_on_the_same_index_is_all_the_settings_effect(
    made: Services, project: Project, frozen: Baseline
) -> None:
    trial = Overrides(lexical_function=LexicalFunction.COVERAGE, threshold=None)
    told = against(made, project, frozen, overrides=trial).to_json()
    assert "settings.lexicalFunction" in told["differs"]
    assert told["effects"]["index"] == NOTHING_TURNED
    assert told["effects"]["settings"] == {"won": told["won"], "lost": told["lost"]}


def test_on_another_index_the_cases_are_still_held_against_each_other_and_both_effects_are_told(
    strict: Services, project: Project, repository: Repository
) -> None:
    frozen = freeze_as(strict, project, "antes")
    # the file stays, but says nothing of the question any more; another one does
    repository.commit(
        {"docs/frete.md": "# Outra coisa\n\nNada aqui.\n", "docs/novo.md": DOCUMENTS["docs/frete.md"]}
    )
    strict.indexing.run(project, actor=ANA)
    told = against(strict, project, frozen, overrides=Overrides(max_per_file=1, threshold=0.2)).to_json()
    assert (told["comparable"], told["won"], told["lost"]) == (True, [], ["frete"])
    assert told["differs"] == ["index", "commit", "settings.threshold", "settings.maxPerFile"]
    assert told["effects"]["settings"] == NOTHING_TURNED
    assert told["effects"]["index"] == {"won": [], "lost": ["frete"]}


def test_where_the_cases_changed_the_effects_are_of_those_that_both_have_and_the_rest_is_named(
    made: Services, project: Project, frozen: Baseline, repository: Repository
) -> None:
    changed = CASES.replace("Quando o frete é calculado?", "Quando se calcula o frete?").replace(
        "floor: 3", "floor: 0"
    )
    rewrite(
        repository, changed + "  - id: senha\n    question: vulcanologia\n    expected: docs/seguranca.md\n"
    )
    told = against(made, project, frozen, overrides=Overrides(threshold=0.99)).to_json()
    assert (told["comparable"], told["won"], told["lost"]) == (True, [], ["motorista", "fila"])
    assert (told["new"], told["gone"], told["changed"]) == (["senha"], [], ["frete"])
    assert told["differs"] == ["cases", "case:frete", "case:senha", "settings.threshold"]
    assert told["effects"]["settings"] == {"won": [], "lost": ["motorista", "fila"]}
    assert told["effects"]["index"] == NOTHING_TURNED


def test_another_limit_is_other_ground_and_the_reason_names_both(
    made: Services, project: Project, frozen: Baseline, repository: Repository
) -> None:
    rewrite(repository, CASES.replace("limit: 5", "limit: 4"))
    told = against(made, project, frozen).to_json()
    assert (told["comparable"], told["won"], told["lost"]) == (False, None, None)
    assert told["differs"] == ["limit"]
    assert told["reason"] == "the limit is 4, and was 5 in antes"


def test_a_case_with_another_scope_is_named_as_changed_and_the_others_are_compared(
    made: Services, project: Project, frozen: Baseline, repository: Repository
) -> None:
    rewrite(repository, CASES.replace("scope: adr", "scope: [docs, adr]"))
    comparison = against(made, project, frozen)
    assert (comparison.comparable, comparison.changed) == (True, ("fila",))
    assert comparison.passed_before == ("fila",)
    assert comparison.shared == ("frete", "motorista")


def test_a_removed_case_is_named_and_one_without_any_common_case_can_not_be_compared(
    made: Services, project: Project, frozen: Baseline, repository: Repository
) -> None:
    head, frete, *_ = CASES.split("  - ")
    rewrite(repository, head.replace("floor: 3", "floor: 1") + f"  - {frete}")
    comparison = against(made, project, frozen)
    assert (comparison.comparable, comparison.gone) == (True, ("motorista", "fila"))
    assert comparison.passed_before == ("motorista", "fila")
    rewrite(
        repository, head.replace("floor: 3", "floor: 1") + "  - " + frete.replace("id: frete", "id: outra")
    )
    apart = against(made, project, frozen)
    assert (apart.comparable, apart.obstacle) == (False, "not one case is the same in antes")
    assert (apart.new, apart.gone) == (("outra",), ("frete", "motorista", "fila"))


def test_a_degraded_run_is_not_held_against_a_whole_one(
    made: Services, project: Project, frozen: Baseline, database: Database
) -> None:
    with database.connection() as connection:
        connection.execute("update chunks set embedding = null, embedding_model = null where scope = 'adr'")
    apart = against(made, project, frozen, allow_degraded=True)
    assert not apart.comparable
    assert apart.obstacle == "vectors were missing when this side was measured, and not on the other side"


def test_a_raised_floor_or_another_order_of_the_cases_is_the_same_ground(
    made: Services, project: Project, frozen: Baseline, repository: Repository
) -> None:
    head, *cases = CASES.split("  - ")
    rewrite(
        repository, head.replace("floor: 3", "floor: 2") + "".join(f"  - {case}" for case in reversed(cases))
    )
    assert against(made, project, frozen).comparable


def test_two_baselines_are_compared_the_newer_against_the_older(
    made: Services, project: Project, frozen: Baseline, database: Database
) -> None:
    adopt_settings(
        database,
        SystemClock(),
        project,
        overrides=Overrides(threshold=0.99),
        reason="para ver",
        actor=ANA,
    )
    later = freeze_as(made, project, "depois")
    told = compare_baselines(frozen, later).to_json()
    assert (told["name"], told["comparable"], told["lost"]) == ("antes", True, ["frete", "motorista", "fila"])
    assert compare_baselines(later, frozen).to_json()["won"] == ["frete", "motorista", "fila"]


def test_adopted_settings_are_in_force_for_searches_and_recorded_with_who_when_and_why(
    made: Services, project: Project, database: Database
) -> None:
    before = settings_in_force(database, project)
    assert (before.settings.source, before.adopted) == ("preset", None)
    assert settings_history(database, project) == ()
    clock = SystemClock()
    adopt_settings(
        database, clock, project, overrides=Overrides(preset="seeds"), reason="sementes", actor=ANA
    )
    adopt_settings(
        database, clock, project, overrides=Overrides(weight_vector=0.25), reason=" medido ", actor=ANA
    )
    now = settings_in_force(database, project)
    adopted = now.adopted
    assert adopted is not None
    assert (adopted.adopted_by, adopted.reason, now.settings.source) == ("human:ana", "medido", "adopted")
    assert adopted.adopted_at.tzinfo is not None
    assert (now.settings.ranking.weight_vector, now.settings.ranking.threshold) == (0.25, 0.2)
    assert [(each.adopted.reason, each.settings.preset) for each in settings_history(database, project)] == [
        ("medido", None),
        ("sementes", "seeds"),
    ]
    answer = made.search.ask("entrega", "frete", actor=ANA)
    assert (answer.settings.source, answer.settings.ranking) == ("adopted", now.settings.ranking)
    with database.connection() as connection:
        (stored,) = connection.execute("select weights from rag_searches").fetchone() or ()
    assert (stored["source"], stored["weightVector"]) == ("adopted", 0.25)


@pytest.mark.parametrize(
    ("overrides", "reason", "error"),
    [
        (Overrides(), "porque sim", UsageError),
        (Overrides(weight_vector=0.5), "  ", InvalidInput),
        (Overrides(weight_vector=1.5), "demais", InvalidInput),
        (Overrides(preset="nenhum"), "nome", UsageError),
    ],
)
def test_nothing_is_adopted_without_a_reason_without_numbers_or_out_of_range(
    made: Services,
    project: Project,
    *,
    database: Database,
    overrides: Overrides,
    reason: str,
    error: type[Exception],
) -> None:
    with pytest.raises(error):
        adopt_settings(database, SystemClock(), project, overrides=overrides, reason=reason, actor=ANA)
    assert settings_history(database, project) == ()


def test_no_numbers_are_adopted_for_a_project_without_an_index(database: Database, project: Project) -> None:
    with pytest.raises(UsageError, match="no index"):
        adopt_settings(
            database, SystemClock(), project, overrides=Overrides(preset="seeds"), reason="cedo", actor=ANA
        )


def test_numbers_adopted_for_another_model_than_the_indexs_are_told_apart(
    database: Database, made: Services, project: Project
) -> None:
    adopt_settings(
        database, SystemClock(), project, overrides=Overrides(weight_vector=0.5), reason="medido", actor=ANA
    )
    overview = read_overview(database, project)
    assert overview is not None
    assert (settings_in_force(database, project).of_another_model, overview.in_force.of_another_model) == (
        False,
        False,
    )
    with database.connection() as connection:
        connection.execute("update indexes set embedding_model = 'embedded/outro@0123456789ab+none'")
    overview = read_overview(database, project)
    assert overview is not None
    assert (settings_in_force(database, project).of_another_model, overview.in_force.of_another_model) == (
        True,
        True,
    )


def test_a_run_against_a_baseline_is_recorded_with_what_it_came_to(
    made: Services, project: Project, frozen: Baseline
) -> None:
    told = against(made, project, frozen, overrides=Overrides(threshold=0.99))
    assert told.outcome is not None
    assert told.outcome.lost == ("frete", "motorista", "fila")
    assert last_result(made, project)["baseline"] == told.to_json()


def test_a_recorded_run_is_held_against_a_baseline_as_well_as_a_fresh_one_on_the_same_ground(
    made: Services, project: Project, frozen: Baseline
) -> None:
    told = against(made, project, frozen, overrides=Overrides(threshold=0.99))
    recorded = compare_recorded(frozen, last_result(made, project), frozen.cases)
    assert recorded.to_json() == told.to_json()


def test_of_a_recorded_run_on_another_index_only_the_settings_part_is_known(
    made: Services, project: Project, frozen: Baseline, repository: Repository
) -> None:
    repository.commit({"docs/novo.md": "# Novo\n\nUm texto novo.\n"})
    made.indexing.run(project, actor=ANA)
    told = against(made, project, frozen, overrides=Overrides(threshold=0.99))
    recorded = compare_recorded(frozen, last_result(made, project), frozen.cases)
    assert (recorded.outcome, recorded.by_index) == (told.outcome, None)
    assert recorded.by_settings == told.by_settings
    assert recorded.differs == told.differs
