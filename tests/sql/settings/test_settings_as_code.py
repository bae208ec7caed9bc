"""`settings.yaml`: in force without an adoption, judged before one, written by one, and told where the two differ."""

import subprocess
from pathlib import Path

import pytest

from material import ANA, CASES, Repository, Services, services
from medir.contract.search import SearchAnswer
from rag_core.clock import SystemClock
from rag_core.database.connections import Database
from rag_core.errors import FaultySettings, Refused, UsageError
from rag_core.evaluation.explaining import explain_case
from rag_core.evaluation.floor import raise_project_floor
from rag_core.model import Project
from rag_core.project.overview import read_overview
from rag_core.project.projects import add_project
from rag_core.project.staleness import told_standing
from rag_core.settings.adopting import Adoption, adopt_settings
from rag_core.settings.committed import Limits
from rag_core.settings.in_force import settings_in_force
from rag_core.settings.overrides import Overrides
from rag_core.settings.presets import EMBEDDED

QUESTION = "Quando o frete é calculado?"


@pytest.fixture
def file(repository: Repository) -> Path:
    return repository.folder / "golden_set" / "settings.yaml"


def adopt(database: Database, project: Project, *, write: bool = False, **numbers: object) -> Adoption:
    return adopt_settings(
        database,
        SystemClock(),
        project,
        overrides=Overrides(**numbers),
        reason="medido em três casos",
        actor=ANA,
        write=write,
    )


def source_and_weight(settings: dict[str, object]) -> tuple[object, object]:
    return settings["source"], settings["weightVector"]


def searched(made: Services, project: Project) -> tuple[object, object]:
    return source_and_weight(made.search.ask(project.project_id, QUESTION, actor=ANA).settings.to_json())


def judged(made: Services, project: Project, **options: object) -> tuple[object, object]:
    run = made.evaluation.run_golden(project, actor=ANA, **options)
    return source_and_weight(run.to_json()["settings"])


def test_a_committed_file_is_in_force_on_every_machine_that_has_adopted_nothing(
    made: Services, project: Project, file: Path
) -> None:
    assert searched(made, project) == ("preset", EMBEDDED.ranking.weight_vector)
    file.write_text("weightVector: 0.5\n")
    assert searched(made, project) == ("committed", 0.5)
    assert judged(made, project) == ("committed", 0.5)
    assert made.calibrator.calibrate(project, actor=ANA).findings.settings.source == "committed"
    found = settings_in_force(made.database, project).to_json()
    assert source_and_weight(found["settings"]) == ("committed", 0.5)
    assert (found["adoptedBy"], found["adoptedAt"], found["reason"]) == (None, None, None)
    file.write_text("weightVector: 0.25\n")
    assert searched(made, project) == ("committed", 0.25)
    file.unlink()
    assert searched(made, project) == ("preset", EMBEDDED.ranking.weight_vector)


def test_searches_take_the_adoption_and_golden_runs_the_file_unless_asked_for_what_is_in_force(
    made: Services, project: Project, file: Path
) -> None:
    adopt(made.database, project, weight_vector=0.75)
    file.write_text("weightVector: 0.5\n")
    assert searched(made, project) == ("adopted", 0.75)
    assert judged(made, project) == ("committed", 0.5)
    assert judged(made, project, in_force=True) == ("adopted", 0.75)
    assert judged(made, project, overrides=Overrides(threshold=None)) == ("trial", 0.5)
    explained = explain_case(made.evaluation, project, "frete")
    assert explained.settings.source == "committed"
    assert explain_case(made.evaluation, project, "frete", in_force=True).settings.source == "adopted"
    calibrated = made.calibrator.calibrate(project, actor=ANA, in_force=True)
    assert calibrated.findings.settings.source == "adopted"


def test_the_cases_files_limit_stands_above_the_committed_one(
    made: Services, project: Project, repository: Repository, file: Path
) -> None:
    file.write_text("limit: 9\n")
    run = made.evaluation.run_golden(project, actor=ANA)
    assert (run.measured.settings.ranking.limit, run.measured.settings.source) == (5, "committed")
    (file.parent / "cases.yaml").write_text(CASES.replace("limit: 5\n", ""), encoding="utf-8")
    assert made.evaluation.run_golden(project, actor=ANA).measured.settings.ranking.limit == 9


def test_where_the_two_differ_everything_says_so_with_both_and_no_floor_is_raised(
    made: Services, project: Project, file: Path
) -> None:
    adopt(made.database, project, weight_vector=0.75)
    file.write_text("weightVector: 0.5\n")
    sentence = (
        "The adopted settings and settings.yaml differ: weightVector is 0.75 adopted and 0.5 in the file; "
        "weightLexical is 0.25 adopted and 0.5 in the file."
    )
    run = made.evaluation.run_golden(project, actor=ANA)
    assert run.disagreement is not None
    assert run.disagreement.sentence == sentence
    told = run.to_json()["settingsDiffer"]
    assert told["differs"] == ["weightVector", "weightLexical"]
    assert (source_and_weight(told["adopted"]), source_and_weight(told["committed"])) == (
        ("adopted", 0.75),
        ("committed", 0.5),
    )
    assert made.calibrator.calibrate(project, actor=ANA).to_json()["settingsDiffer"] == told
    shown = settings_in_force(made.database, project).to_json()
    assert (source_and_weight(shown["settings"]), source_and_weight(shown["committed"]["settings"])) == (
        ("adopted", 0.75),
        ("committed", 0.5),
    )
    overview = read_overview(made.database, project)
    assert overview is not None
    assert (overview.in_force.disagreement, overview.in_force.settings.source, overview.in_force.judged.source) == (
        run.disagreement, "adopted", "committed"
    )  # fmt: skip
    cases = file.parent / "cases.yaml"
    cases.write_text(CASES.replace("floor: 3", "floor: 0"), encoding="utf-8")
    with pytest.raises(Refused, match=r"weightVector is 0\.75 adopted and 0\.5"):
        raise_project_floor(made.evaluation, project, file=cases, actor=ANA, reason="mais casos")
    assert "floor: 0" in cases.read_text(encoding="utf-8")
    file.write_text("weightVector: 0.75\n")
    assert made.evaluation.run_golden(project, actor=ANA).disagreement is None
    assert raise_project_floor(made.evaluation, project, file=cases, actor=ANA, reason="ok").after == 3


def test_an_adoption_is_written_into_the_file_which_keeps_its_limits(
    made: Services, project: Project, file: Path
) -> None:
    file.write_text("# da equipe\nlimits: {useful: 0.5}\n", encoding="utf-8")
    now = adopt(made.database, project, weight_vector=0.75, write=True)
    assert now.written is not None
    assert (now.written.file, now.written.reason, now.in_force.disagreement) == (file, None, None)
    text = file.read_text(encoding="utf-8")
    assert text == now.written.text
    assert "by human:ana: medido em três casos\n# da equipe\nlimits: {useful: 0.5}\n" in text
    said = now.in_force.committed.settings
    assert said is not None
    assert said.limits == Limits(useful=0.5)
    assert judged(made, project) == ("committed", 0.75)
    assert sorted(path.name for path in file.parent.iterdir()) == ["cases.yaml", "settings.yaml"]
    # without other numbers, those adopted before
    file.write_text("weightVector: 0.5\n")
    assert adopt(made.database, project, write=True).in_force.disagreement is None
    assert searched(made, project) == ("adopted", 0.75)


def test_what_is_committed_can_be_adopted(made: Services, project: Project, file: Path) -> None:
    def adopt_committed() -> Adoption:
        return adopt_settings(
            made.database,
            SystemClock(),
            project,
            overrides=Overrides(),
            reason="da revisão",
            actor=ANA,
            committed=True,
        )

    with pytest.raises(UsageError, match=r"no settings\.yaml with numbers"):
        adopt_committed()
    adopt(made.database, project, weight_vector=0.75)
    file.write_text("weightVector: 0.5\n")
    now = adopt_committed()
    assert (now.in_force.disagreement, now.in_force.settings.ranking.weight_vector) == (None, 0.5)
    assert searched(made, project) == ("adopted", 0.5)
    file.write_text("weightVector: 0.5\nembeddingModel: ollama/other@0123456789ab+search-v1\n")
    with pytest.raises(Refused, match="chosen for ollama/other"):
        adopt_committed()


def test_where_the_folder_can_not_be_written_the_text_is_given(
    database: Database, repository: Repository, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "clone", "--quiet", "--bare", str(repository.folder), str(bare)], check=True)
    project = add_project(database, "nua", repo=bare)
    made = services(database)
    made.indexing.run(project, actor=ANA)
    now = adopt(database, project, weight_vector=0.75, write=True)
    assert now.written is not None
    assert now.written.file is None
    assert now.written.reason == "The project has no golden folder that could hold it."
    assert "weightVector: 0.75\n" in now.written.text
    # a colleague commits the text, and it stands for the same numbers
    elsewhere = add_project(database, "outra", repo=repository.folder)
    made.indexing.run(elsewhere, actor=ANA)
    (repository.folder / "golden_set" / "settings.yaml").write_text(now.written.text, encoding="utf-8")
    assert judged(made, elsewhere) == ("committed", 0.75)
    nowhere = add_project(database, "sem-pasta", repo=repository.folder, golden=Path("/proc/medir"))
    made.indexing.run(nowhere, actor=ANA)
    refused = adopt(database, nowhere, weight_vector=0.75, write=True).written
    assert refused is not None
    assert refused.reason is not None
    assert refused.reason.startswith("/proc/medir/settings.yaml can't be written:")


def test_a_faulty_file_refuses_what_measures_and_neither_stops_nor_silently_changes_a_search(
    made: Services, project: Project, file: Path
) -> None:
    file.write_text("limit: 5\nweightVector: much\n")
    place = f"{file}, line 2, weightVector"
    for work in (
        lambda: made.evaluation.run_golden(project, actor=ANA),
        lambda: made.evaluation.run_golden(project, actor=ANA, in_force=True),
        lambda: explain_case(made.evaluation, project, "frete"),
        lambda: made.calibrator.calibrate(project, actor=ANA),
        lambda: adopt(made.database, project, weight_vector=0.75, write=True),
    ):
        with pytest.raises(FaultySettings, match="weightVector must be a finite number") as refused:
            work()
        assert refused.value.message.startswith(place)
        assert refused.value.where == {"file": str(file), "line": 2, "field": "weightVector"}
    assert settings_in_force(made.database, project).adopted is None
    answer = SearchAnswer.of(made.search.ask(project.project_id, QUESTION, actor=ANA)).to_json()
    assert source_and_weight(answer["settings"]) == ("preset", EMBEDDED.ranking.weight_vector)
    assert answer["hits"]
    assert answer["settingsProblem"].startswith("settings.yaml, line 2, weightVector:")
    shown = settings_in_force(made.database, project).to_json()
    assert shown["committed"]["problem"].startswith(place)
    assert shown["committed"]["settings"] is None
    file.write_text("limit: 5\n")
    assert made.search.ask(project.project_id, QUESTION, actor=ANA).settings_problem is None


def test_with_other_cases_the_file_beside_them_counts(
    made: Services, project: Project, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "cases.yaml").write_text(CASES, encoding="utf-8")
    (other / "settings.yaml").write_text("weightVector: 0.5\n")
    assert judged(made, project, cases=other / "cases.yaml") == ("committed", 0.5)
    assert judged(made, project) == ("preset", EMBEDDED.ranking.weight_vector)
    assert searched(made, project) == ("preset", EMBEDDED.ranking.weight_vector)


def test_numbers_committed_for_another_model_are_said_to_be(
    made: Services, project: Project, file: Path
) -> None:
    file.write_text("weightVector: 0.5\nembeddingModel: ollama/other@0123456789ab+search-v1\n")
    found = settings_in_force(made.database, project)
    overview = read_overview(made.database, project)
    assert overview is not None
    assert (found.of_another_model, overview.in_force.of_another_model) == (True, True)
    assert found.made_for == "ollama/other@0123456789ab+search-v1"
    run = made.evaluation.run_golden(project, actor=ANA).to_json()
    assert run["settingsMadeFor"] == "ollama/other@0123456789ab+search-v1"
    (sentence,) = told_standing(run)
    assert sentence.startswith("These numbers were decided for ollama/other@0123456789ab+search-v1, ")
