"""One golden case explained as it is now, and of a lost one what happened since it passed."""

from pathlib import Path

from rag_core.database.golden_history import read_last_pass
from rag_core.evaluation.comparison import compare_sides
from rag_core.evaluation.explanation import CaseExplanation
from rag_core.evaluation.golden_runs import Evaluation
from rag_core.evaluation.lost_cases import IndexedTexts, explain_losses
from rag_core.evaluation.measuring import indexed_identity
from rag_core.evaluation.sides import Side, recorded_cases, side_of_baseline, side_of_measured, side_of_result
from rag_core.golden.baseline_file import Baseline
from rag_core.model import Project
from rag_core.settings.golden_folder import cases_file
from rag_core.settings.presets import Overrides


def explain_case(
    evaluation: Evaluation,
    project: Project,
    case_id: str,
    *,
    cases: Path | None = None,
    overrides: Overrides | None = None,
    in_force: bool = False,
    baseline: Baseline | None = None,
) -> CaseExplanation:
    """One case explained; of one that was lost, also what happened since it passed.

    Where it passed is the baseline, or without one the last recorded run in which it did.

    Raises:
        UsageError: There is no such case, file or index.
        FaultyGoldenSet: The set does not parse.
    """
    file = cases or cases_file(project)
    before: tuple[str, Side] | None
    if baseline is None:
        before = _last_pass(evaluation, project, str(file), case_id)
    else:
        before = f"the baseline {baseline.name}", side_of_baseline(baseline)
    ways = () if before is None else (before[1].settings.candidates.lexical,)
    measured = evaluation.measure_case(
        project, case_id, cases=file, overrides=overrides, ways=ways, in_force=in_force
    )
    explained = evaluation.explain_measured(project, measured)
    if before is None:
        return explained
    passed_in, old = before
    new = side_of_measured(measured)
    if not compare_sides(passed_in, old, new).shared or new.passed[case_id] or not old.passed[case_id]:
        return explained
    texts = IndexedTexts(evaluation.database, project, commit=measured.facts.commit)
    return explained.lost_since(passed_in, explain_losses([case_id], old, new, texts=texts))


def _last_pass(evaluation: Evaluation, project: Project, cases: str, case_id: str) -> tuple[str, Side] | None:
    with evaluation.database.connection() as connection:
        found = read_last_pass(connection, project.project_id, cases=cases, case_id=case_id)
    if found is None:
        return None
    started_at, result = found
    asked = recorded_cases(result)
    if asked is None:
        return None
    with evaluation.database.connection() as connection:
        config = indexed_identity(connection, project).text_search_config
    words = f"the run of {started_at:%Y-%m-%d %H:%M} UTC"
    return words, side_of_result(result, asked, text_search_config=config)
