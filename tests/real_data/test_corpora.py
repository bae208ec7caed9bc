"""Real projects' documentation, from `project add` to a golden run, against figures that were measured elsewhere."""

import shutil
from pathlib import Path

import pytest

from material import ANA, Repository, services
from rag_core.clock import SystemClock
from rag_core.database.connections import Database
from rag_core.embedding.providers import Providers
from rag_core.model import Scope
from rag_core.project.projects import add_project
from rag_core.settings.overrides import Overrides

CORPORA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "corpora"
PROVIDERS = Providers(configured="embedded", ollama_host="127.0.0.1:1", clock=SystemClock())

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not CORPORA.is_dir(), reason="the folder ../shared with real data is absent"),
]


@pytest.mark.parametrize(
    ("corpus", "files", "hit_at_5"),
    [("coopshield", 23, 0.12), ("rnds", 68, 0.54), ("sped-nfe", 63, 0.50), ("fastapi-pt", 125, 0.57)],
)
def test_under_the_seeds_numbers_as_many_questions_are_answered_as_was_measured(
    module_database: Database, tmp_path: Path, corpus: str, files: int, hit_at_5: float
) -> None:
    repository = Repository(tmp_path / "repository", {})
    shutil.copytree(CORPORA / corpus / "files", repository.folder, dirs_exist_ok=True)
    for folder in (repository.folder, *repository.folder.rglob("*/")):
        # the copies of folders that nobody may write to could not be removed again
        folder.chmod(0o755)
    repository.commit({})
    made = services(module_database, providers=PROVIDERS)
    project = add_project(module_database, corpus, repo=repository.folder)

    report = made.indexing.run(project, actor=ANA)
    assert report.counts[Scope.DOCS][0] + report.counts[Scope.ADR][0] == files
    assert (report.embedding.available, report.embedding.skipped) == (True, 0)

    cases = CORPORA / corpus / "cases.yaml"
    golden, faults = made.evaluation.lint(project, cases=cases)
    assert faults == ()
    run = made.evaluation.run_golden(project, actor=ANA, cases=cases, overrides=Overrides(preset="seeds"))
    assert len(run.outcome.verdicts) == len(golden.cases)
    answerable = [verdict for verdict in run.outcome.verdicts if not verdict.case.no_answer]
    found = sum(verdict.rank is not None and verdict.rank <= 5 for verdict in answerable)
    assert found / len(answerable) == pytest.approx(hit_at_5, abs=0.1)

    # the encoder's own preset finds what the seeds' threshold refuses
    own = made.evaluation.run_golden(project, actor=ANA, cases=cases)
    assert own.measured.settings.preset == "embedded"
    assert own.outcome.passed > run.outcome.passed
