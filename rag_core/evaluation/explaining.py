"""One golden case explained as it is now, and of a lost one what happened since it passed."""

import difflib
from collections.abc import Sequence
from pathlib import Path

from rag_core.database.golden_history import read_last_pass
from rag_core.database.index.chunks import indexed_places, read_contents
from rag_core.database.search.lexical_query import words_left_out
from rag_core.errors import UsageError
from rag_core.evaluation.comparison import compare_sides
from rag_core.evaluation.explanation import CaseExplanation, explain
from rag_core.evaluation.golden_runs import Evaluation
from rag_core.evaluation.lost_cases import explain_losses
from rag_core.evaluation.measuring import Measured, indexed_identity
from rag_core.evaluation.past_texts import IndexedTexts
from rag_core.evaluation.sides import Side, recorded_cases, side_of_baseline, side_of_measured, side_of_result
from rag_core.golden.baseline_file import Baseline
from rag_core.golden.cases import GoldenSet, with_places_meant
from rag_core.model import LexicalWay, Project
from rag_core.model.place_names import PlaceNames
from rag_core.settings.golden_folder import cases_file, committed_file, read_golden_set
from rag_core.settings.overrides import Overrides


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
    measured = measure_case(
        evaluation, project, case_id, cases=file, overrides=overrides, ways=ways, in_force=in_force
    )
    explained = explain_measured(evaluation, project, measured)
    if before is None:
        return explained
    passed_in, old = before
    new = side_of_measured(measured)
    if not compare_sides(passed_in, old, new).shared or new.passed[case_id] or not old.passed[case_id]:
        return explained
    texts = IndexedTexts(evaluation.database, project, commit=measured.index.commit)
    return explained.lost_since(passed_in, explain_losses([case_id], old, new, texts=texts))


def measure_case(
    evaluation: Evaluation,
    project: Project,
    case_id: str,
    *,
    cases: Path | None = None,
    overrides: Overrides | None = None,
    ways: Sequence[LexicalWay] = (),
    in_force: bool = False,
) -> Measured:
    """One case asked as in a golden run; `ways` are other lexical ways to ask in too. Writes nothing.

    Raises:
        FaultySettings: The `settings.yaml` beside the cases has faults.
        UsageError: There is no such case, file or index.
        FaultyGoldenSet: The set does not parse.
    """
    file = cases or cases_file(project)
    golden = read_golden_set(file)
    with evaluation.database.connection() as connection:
        indexed = indexed_places(connection, project.project_id)
    golden = with_places_meant(golden, PlaceNames(indexed))
    case = next((case for case in golden.cases if case.id == case_id), None)
    if case is None:
        close = difflib.get_close_matches(case_id, [case.id for case in golden.cases], n=1)
        raise UsageError(
            f"The golden set has no case {case_id!r}.",
            hint=f"Did you mean {close[0]!r}?" if close else "`medir golden run` lists the cases.",
        )
    alone = GoldenSet(floor=0, limit=golden.limit, cases=(case,))
    return evaluation.measurement.take(
        project,
        alone,
        overrides or Overrides(),
        _silent,
        ways=ways,
        committed=committed_file(project, file),
        in_force=in_force,
        keep_vectors_made=False,
    )


def explain_measured(evaluation: Evaluation, project: Project, measured: Measured) -> CaseExplanation:
    """The first case that was asked, with the whole set's texts and what would make it pass."""
    case, found, ranking = measured.golden.cases[0], measured.found[0], measured.rankings[0]
    ids = [entry.candidate.chunk_id for entry in ranking.whole_set]
    with evaluation.database.connection() as connection:
        contents = read_contents(connection, project.project_id, ids)
        left_out = words_left_out(connection, project.project_id, case.question)
    return explain(case, found, ranking, measured.settings, contents=contents, left_out=left_out)


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


def _silent(_step: str, _done: int, _total: int) -> None:
    """Progress that nobody follows."""
