"""What is said of a lost case: its text, a rival's, or the settings; on a real index over a real repository."""

from collections.abc import Sequence

import pytest

from bag_of_words import BagOfWords
from material import ANA, DOCUMENTS, Fixed, Repository, Services, services
from rag_core.clock import SystemClock
from rag_core.database.connections import Database
from rag_core.evaluation.baselines import freeze
from rag_core.evaluation.comparison import compare_baselines, run_against
from rag_core.evaluation.explaining import explain_case, explain_measured, measure_case
from rag_core.golden.baseline_file import Baseline
from rag_core.golden.losses import LossCause
from rag_core.model import Project
from rag_core.ports import EmbeddingRole, Vectors
from rag_core.settings.adopting import adopt_settings
from rag_core.settings.overrides import Overrides

FRETE = "Quando o frete é calculado?"
# limit 1, so that one rival is enough to lose
ONE_HIT = """\
limit: 1
cases:
  - id: frete
    question: Quando o frete é calculado?
    expected: docs/frete.md
  - id: pedagio
    question: O pedágio entra no frete quando a rota passa por praça?
    expected: docs/frete.md
  - id: vulcao
    question: Qual vulcão islandês entrou em erupção?
    no_answer: true
"""
NO_TOLL = "# Frete\n\nO frete é calculado na coleta e congelado até a entrega.\n"
TOLL_ELSEWHERE = "# Rota\n\nA rota passa por praça, e o pedágio entra.\n"


@pytest.fixture
def frozen(strict: Services, project: Project, repository: Repository) -> Baseline:
    (repository.folder / "golden_set" / "cases.yaml").write_text(ONE_HIT, encoding="utf-8")
    baseline = freeze_as(strict, project, "v1")
    assert baseline.passed == {"frete": True, "pedagio": True, "vulcao": True}
    return baseline


def freeze_as(made: Services, project: Project, name: str) -> Baseline:
    return freeze(made.evaluation, project, name, clock=SystemClock(), actor=ANA)[0]


def changed(made: Services, project: Project, repository: Repository, files: dict[str, str]) -> str:
    commit = repository.commit(files)
    made.indexing.run(project, actor=ANA)
    return commit


def causes(made: Services, project: Project, frozen: Baseline) -> tuple[LossCause, ...]:
    return run_against(made.evaluation, project, frozen, actor=ANA)[1].lost_because


def test_a_removed_section_is_named_with_file_and_commit_and_no_number_is_offered(
    made: Services, project: Project, frozen: Baseline, repository: Repository
) -> None:
    taken = changed(made, project, repository, {"docs/frete.md": NO_TOLL, "docs/rota.md": TOLL_ELSEWHERE})
    changed(made, project, repository, {"docs/frete.md": f"{NO_TOLL}\nE mais nada.\n"})
    (cause,) = causes(made, project, frozen)
    assert cause == LossCause(
        id="pedagio",
        what="sectionRemoved",
        path="docs/frete.md",
        commit=taken,
        sentence=(
            "The section Frete › Pedágio, which was found, is not in docs/frete.md any more, since commit "
            f"{taken[:12]}."
        ),
    )
    explained = explain_case(made.evaluation, project, "pedagio", baseline=frozen)
    assert explained.lost_because == (cause,)
    assert [remedy.kind for remedy in explained.remedies] == ["text"]
    assert taken[:12] in explained.remedies[0].sentence
    # what it could do with other numbers is still known, and true, but it is no advice here
    assert (
        explain_measured(made.evaluation, project, measure_case(made.evaluation, project, "pedagio"))
        .remedies[0]
        .kind
        != "text"
    )


def test_a_heading_renamed_before_is_not_what_took_a_text_away(
    made: Services, project: Project, frozen: Baseline, repository: Repository
) -> None:
    was = DOCUMENTS["docs/frete.md"]
    renamed = changed(
        made, project, repository, {"docs/frete.md": was.replace("## Pedágio", "## O pedágio da rota")}
    )
    taken = changed(made, project, repository, {"docs/frete.md": NO_TOLL, "docs/rota.md": TOLL_ELSEWHERE})
    (cause,) = causes(made, project, frozen)
    assert (cause.id, cause.what, cause.commit) == ("pedagio", "sectionRemoved", taken)
    assert taken != renamed
    body = was.partition("## Pedágio")[2].strip()
    moved = changed(made, project, repository, {"docs/rota.md": f"{TOLL_ELSEWHERE}\n## Praça\n\n{body}\n"})
    (cause,) = causes(made, project, frozen)
    assert (cause.what, cause.moved_to, cause.commit) == ("textMoved", "docs/rota.md", taken)
    later = freeze_as(made, project, "v2")
    (cause,) = compare_baselines(frozen, later, project).lost_because
    assert (cause.what, cause.moved_to, cause.commit) == ("textMoved", "docs/rota.md", taken)
    assert moved != taken


def test_a_long_section_that_is_cut_elsewhere_under_its_new_heading_is_followed_too(
    made: Services, project: Project, frozen: Baseline, repository: Repository
) -> None:
    toll = "O pedágio entra no frete quando a rota passa por praça."
    before, after = (
        " ".join(f"Regra {number} vale na coleta de carga." for number in numbers)
        for numbers in (range(20), range(20, 60))
    )
    long = f"# Pedágio\n\n{before} {toll} {after}\n"
    changed(made, project, repository, {"docs/frete.md": long})
    whole = freeze_as(made, project, "v2")
    heading = "# Do pedágio e do que mais se paga na estrada, por praça e por eixo"
    changed(made, project, repository, {"docs/frete.md": long.replace("# Pedágio", heading)})
    taken = changed(made, project, repository, {"docs/frete.md": NO_TOLL, "docs/rota.md": TOLL_ELSEWHERE})
    found = {cause.id: cause for cause in causes(made, project, whole)}
    assert (found["pedagio"].what, found["pedagio"].commit) == ("sectionRemoved", taken)


def test_without_a_baseline_the_last_run_in_which_it_passed_is_what_it_is_held_against(
    made: Services, project: Project, frozen: Baseline, repository: Repository
) -> None:
    taken = changed(made, project, repository, {"docs/frete.md": NO_TOLL, "docs/rota.md": TOLL_ELSEWHERE})
    made.evaluation.run_golden(project, actor=ANA)
    explained = explain_case(made.evaluation, project, "pedagio")
    (cause,) = explained.lost_because
    assert (cause.what, cause.path, cause.commit) == ("sectionRemoved", "docs/frete.md", taken)
    assert (explained.passed_in or "").startswith("the run of 2")
    passing = explain_case(made.evaluation, project, "frete")
    assert (passing.passed_in, passing.lost_because) == (None, ())


def test_a_new_text_above_a_text_that_is_still_there_is_named_and_numbers_are_still_offered(
    made: Services, project: Project, frozen: Baseline, repository: Repository
) -> None:
    brought = changed(made, project, repository, {"docs/a.md": f"# Quando o frete é calculado\n\n{FRETE}\n"})
    (cause,) = causes(made, project, frozen)
    assert (cause.id, cause.what, cause.path, cause.commit) == ("frete", "outranked", "docs/a.md", brought)
    assert cause.sentence == (
        "docs/frete.md › Frete is still there, at 2 in the whole set, and is removed by limit. Above it is new: "
        f"docs/a.md › Quando o frete é calculado, since commit {brought[:12]}."
    )
    remedies = explain_case(made.evaluation, project, "frete", baseline=frozen).remedies
    assert "limit" in [remedy.kind for remedy in remedies]


def test_a_text_that_is_found_where_nothing_should_be_is_named(
    made: Services, project: Project, frozen: Baseline, repository: Repository
) -> None:
    brought = changed(
        made, project, repository, {"docs/v.md": "# Vulcão\n\nO vulcão islandês entrou em erupção.\n"}
    )
    (cause,) = causes(made, project, frozen)
    assert (cause.id, cause.what, cause.path, cause.commit) == ("vulcao", "newText", "docs/v.md", brought)


def test_a_changed_setting_alone_is_named_and_a_removed_section_beside_it_too(
    made: Services, project: Project, frozen: Baseline, repository: Repository, database: Database
) -> None:
    adopt_settings(
        database,
        SystemClock(),
        project,
        overrides=Overrides(threshold=0.99),
        reason="para ver",
        actor=ANA,
    )
    found = {cause.id: cause for cause in causes(made, project, frozen)}
    assert {cause.what for cause in found.values()} == {"settings"}
    assert found["frete"].sentence.startswith("The settings changed: threshold 0.99 (was ")
    changed(made, project, repository, {"docs/frete.md": NO_TOLL, "docs/rota.md": TOLL_ELSEWHERE})
    both = [cause.what for cause in causes(made, project, frozen) if cause.id == "pedagio"]
    assert both == ["sectionRemoved", "settings"]


class Contrary(BagOfWords):
    """Another model, to which a question is like what it is least like."""

    def embed(self, texts: Sequence[str], role: EmbeddingRole) -> Vectors:
        found = super().embed(texts, role)
        return -found if role == "question" else found


def test_an_index_of_another_model_is_named_and_its_cases_are_still_compared(
    made: Services, project: Project, repository: Repository, database: Database
) -> None:
    (repository.folder / "golden_set" / "cases.yaml").write_text(ONE_HIT, encoding="utf-8")
    by_meaning = Overrides(weight_vector=1.0, threshold=None)
    adopt_settings(database, SystemClock(), project, overrides=by_meaning, reason="para ver", actor=ANA)
    frozen = freeze_as(made, project, "v1")
    other = services(database, providers=Fixed(Contrary("contrary")))
    other.indexing.run(project, actor=ANA, mode="full")
    _, compared = run_against(other.evaluation, project, frozen, actor=ANA)
    assert (compared.comparable, "model" in compared.differs) == (True, True)
    assert compared.lost == ("frete", "pedagio")
    assert {cause.what for cause in compared.lost_because} == {"model"}
    assert "contrary" in compared.lost_because[0].sentence


def test_two_baselines_say_from_git_alone_what_became_of_a_lost_case(
    made: Services, project: Project, frozen: Baseline, repository: Repository
) -> None:
    taken = changed(made, project, repository, {"docs/frete.md": NO_TOLL, "docs/rota.md": TOLL_ELSEWHERE})
    later = freeze_as(made, project, "v2")
    changed(made, project, repository, {"docs/frete.md": DOCUMENTS["docs/frete.md"]})
    compared = compare_baselines(frozen, later, project)
    assert compared.lost == ("pedagio",)
    (cause,) = compared.lost_because
    assert (cause.what, cause.commit) == ("sectionRemoved", taken)


def test_where_the_repository_is_gone_the_cause_is_said_without_a_commit(
    made: Services, project: Project, frozen: Baseline, repository: Repository
) -> None:
    changed(made, project, repository, {"docs/frete.md": NO_TOLL, "docs/rota.md": TOLL_ELSEWHERE})
    cases = repository.folder / "golden_set" / "cases.yaml"
    (repository.folder / ".git").rename(repository.folder / "git-is-gone")
    _, compared = run_against(made.evaluation, project, frozen, actor=ANA, cases=cases)
    (cause,) = compared.lost_because
    assert (cause.what, cause.commit) == ("sectionRemoved", None)
    assert cause.sentence.endswith("The repository can't be read here, so the commit is not known.")


TWO_PLACES = """\
limit: 2
cases:
  - id: pedagio
    question: O pedágio entra no frete quando a rota passa por praça?
    expected: [docs/frete.md, docs/tarifa.md]
"""
ROUTE = "# Rota\n\nA rota da praça entra.\n"
TARIFF = "# Tarifa\n\nO pedágio entra quando a rota passa por praça.\n\n## Eixo\n\nPor eixo.\n"
WITHOUT = "# Tarifa\n\n## Eixo\n\nPor eixo.\n"
RIVALS = {
    f"docs/z{number}.md": f"# Praça {number}\n\nA rota passa por praça, e o pedágio entra no frete quando {number}.\n"
    for number in range(2)
}


@pytest.fixture
def two_places(made: Services, project: Project, repository: Repository) -> Baseline:
    (repository.folder / "golden_set" / "cases.yaml").write_text(TWO_PLACES, encoding="utf-8")
    changed(
        made, project, repository, {"docs/tarifa.md": TARIFF, "docs/rota.md": ROUTE, "docs/via.md": ROUTE}
    )
    return freeze_as(made, project, "v1")


def test_the_commit_that_took_the_last_text_that_answered_is_blamed_and_not_the_one_that_took_the_best(
    made: Services, project: Project, two_places: Baseline, repository: Repository
) -> None:
    best = repository.commit({"docs/frete.md": NO_TOLL})
    last = changed(made, project, repository, {"docs/tarifa.md": WITHOUT})
    changed(made, project, repository, {"docs/motorista.md": "# Motorista\n\nOutra coisa.\n"})
    (cause,) = causes(made, project, two_places)
    assert (cause.what, cause.path, cause.commit) == ("sectionRemoved", "docs/tarifa.md", last)
    assert cause.sentence == (
        f"The section Tarifa, which answered last, is not in docs/tarifa.md any more, since commit {last[:12]}. "
        f"The best hit of that time, docs/frete.md › Frete › Pedágio, was gone before, since commit {best[:12]}."
    )


def test_where_a_rival_came_before_the_last_text_went_the_deletion_is_blamed(
    made: Services, project: Project, two_places: Baseline, repository: Repository
) -> None:
    repository.commit({"docs/z0.md": RIVALS["docs/z0.md"]})
    repository.commit({"docs/tarifa.md": WITHOUT, "docs/z1.md": RIVALS["docs/z1.md"]})
    last = changed(made, project, repository, {"docs/frete.md": NO_TOLL})
    (cause,) = causes(made, project, two_places)
    assert (cause.what, cause.path, cause.commit) == ("sectionRemoved", "docs/frete.md", last)


def test_where_a_text_still_answered_until_a_rival_came_the_rival_is_blamed(
    made: Services, project: Project, two_places: Baseline, repository: Repository
) -> None:
    best = repository.commit({"docs/frete.md": NO_TOLL})
    brought = changed(made, project, repository, RIVALS)
    (cause,) = causes(made, project, two_places)
    assert (cause.what, cause.commit) == ("outranked", brought)
    assert cause.sentence.endswith(f"was gone before, since commit {best[:12]}.")


def test_an_edit_before_is_not_what_removed_a_section_and_is_told_beside_it(
    made: Services, project: Project, frozen: Baseline, repository: Repository
) -> None:
    was = DOCUMENTS["docs/frete.md"]
    edited = repository.commit({"docs/frete.md": was.replace("pedágio entra", "pedágio também entra")})
    removed = changed(made, project, repository, {"docs/frete.md": NO_TOLL, "docs/rota.md": TOLL_ELSEWHERE})
    (cause,) = causes(made, project, frozen)
    assert (cause.what, cause.commit) == ("sectionRemoved", removed)
    assert cause.sentence.endswith(f" Its text was another one already, since commit {edited[:12]}.")


def test_a_section_removed_before_its_file_was_renamed_is_not_said_to_be_lost_by_the_new_name(
    made: Services, project: Project, frozen: Baseline, repository: Repository
) -> None:
    removed = repository.commit({"docs/frete.md": NO_TOLL, "docs/rota.md": TOLL_ELSEWHERE})
    repository.git("mv", "docs/frete.md", "docs/valor.md")
    renamed = changed(made, project, repository, {})
    (cause,) = explain_case(made.evaluation, project, "pedagio", baseline=frozen).lost_because
    assert (cause.what, cause.commit) == ("sectionRemoved", removed)
    assert removed != renamed


def test_a_renamed_file_is_told_with_its_new_name(
    made: Services, project: Project, frozen: Baseline, repository: Repository
) -> None:
    repository.git("mv", "docs/frete.md", "docs/valor.md")
    renamed = changed(made, project, repository, {})
    for text in (DOCUMENTS["docs/frete.md"], NO_TOLL):
        changed(made, project, repository, {"docs/valor.md": text})
        (cause,) = explain_case(made.evaluation, project, "pedagio", baseline=frozen).lost_because
        assert (cause.commit, cause.moved_to) == (renamed, "docs/valor.md")
        assert f"was renamed to “docs/valor.md” in commit {renamed[:12]}" in cause.sentence
