"""`medir search`: one question, its hits, and on request its whole set or one place's way through it."""

import click
from rich.table import Table

from medir.cli.frame import (
    Output,
    cell,
    chosen_project,
    make_table,
    one_line,
    operator,
    project_option,
    services,
    with_output,
)
from medir.cli.trial import trial_options
from medir.contract.search import FullSearchAnswer
from rag_core.model import ALL_SCOPES, RankedCandidate, Ranking
from rag_core.search.answer import Answer
from rag_core.search.citations import require_indexed
from rag_core.settings.overrides import Overrides
from rag_core.words.degraded import why_degraded
from rag_core.words.plurals import counted
from rag_core.words.signals import Absent, absent, in_no_list, nothing_found

_NOTICES = {
    "noSearchableTerms": "The question has no searchable word; meaning alone was asked.",
    "notIndexed": "The project is not indexed yet. Run `medir index`.",
}


@click.command("search")
@click.argument("question")
@project_option
@click.option("--scope", "scopes", type=click.Choice([str(scope) for scope in ALL_SCOPES]), multiple=True)
@click.option("--whole", is_flag=True, help="Show every candidate with its fate.")
@click.option(
    "--explain", metavar="PLACE", help="Show a file's, session's or chunk's way through the search."
)
@trial_options
@with_output
def search(
    output: Output,
    *,
    question: str,
    project_id: str | None,
    scopes: tuple[str, ...],
    whole: bool,
    explain: str | None,
    overrides: Overrides,
) -> None:
    """Search a project."""
    with services() as opened:
        project = chosen_project(opened, project_id).project_id
        if explain is not None:
            require_indexed(opened.database, project, explain)
        answer = opened.search.ask(
            project,
            question,
            actor=operator(),
            scopes=tuple(scope for scope in ALL_SCOPES if not scopes or scope in scopes),
            overrides=overrides,
            explain=explain,
        )
    if output.as_json:
        output.emit(FullSearchAnswer.in_full(answer, whole_set=whole))
    else:
        _print(output, answer, whole=whole)
        if answer.search_id is not None and answer.ranking.hits:
            named = "" if project_id is None else f" --project {project_id}"
            output.dim(f"Judge a hit: medir vote{named} {answer.search_id} CHUNK util|irrelevante")


def _print(output: Output, answer: Answer, *, whole: bool) -> None:
    if answer.found.degraded_reason is not None:
        why = why_degraded(answer.found.degraded_reason)
        output.say(f"{why[0].upper()}{why[1:]}." if answer.found.vector_ran else f"Words only: {why}.")
        if answer.provider_reason:
            output.say(answer.provider_reason)
    if answer.settings_problem is not None:
        output.say(answer.settings_problem)
    if answer.notice is not None:
        output.advise(_NOTICES[answer.notice])
    missing = absent(answer.ranking)
    for hit in answer.ranking.hits:
        output.say(f"\n{hit.rank}. {one_line(hit.candidate.origin.citation)}  ({_numbers(hit, missing)})")
        if answer.search_id is not None:
            output.dim(f"chunk {hit.candidate.chunk_id}")
        output.say(answer.contents[hit.candidate.chunk_id].strip())
    removed = len(answer.ranking.whole_set) - len(answer.ranking.hits)
    settings = answer.settings
    if not removed and not answer.ranking.hits:
        output.say(f"No hit: {nothing_found(answer.ranking)}.")
    elif not answer.ranking.hits:
        output.say(
            f"No hit: {counted(removed, 'candidate')}, none at or above the threshold {answer.ranking.threshold}."
        )
    output.say(
        f"\n{counted(len(answer.ranking.hits), 'hit')} of {counted(len(answer.ranking.whole_set), 'candidate')} in "
        f"{answer.timings.total_ms:.0f} ms, settings {settings.source}"
        + (f" ({settings.preset})" if settings.preset else "")
        + ("" if answer.search_id else "; not recorded")
    )
    if answer.not_recorded is not None:
        output.say(answer.not_recorded)
    if whole:
        output.people.print(_whole_set(answer.ranking))
    if answer.explanation is not None:
        _print_explanation(output, answer)


def _whole_set(ranking: Ranking) -> Table:
    missing = absent(ranking)
    numbers = ("whole", "hit", "score", "vector", "lexical")
    table = make_table(*numbers, "fate", "citation", numbers=numbers)
    for entry in ranking.whole_set:
        candidate = entry.candidate
        table.add_row(
            str(entry.whole_rank),
            str(entry.rank or "-"),
            f"{entry.score:.4f}",
            _signal(candidate.vector_score, candidate.vector_rank, missing.vector),
            _signal(candidate.lexical_score, candidate.lexical_rank, missing.lexical),
            str(entry.fate),
            cell(candidate.origin.citation),
        )
    return table


def _print_explanation(output: Output, answer: Answer) -> None:
    explanation = answer.explanation
    if explanation is None or not explanation.chunks:
        output.say("\nThat place is not in the index.")
        return
    output.say(f"\n{explanation.place}")
    if explanation.left_out:
        output.say(f"  not searched for: {', '.join(explanation.left_out)}")
    missing = absent(answer.ranking)
    for chunk in explanation.chunks:
        fate = chunk.entry.fate if chunk.entry else f"candidates ({in_no_list(answer.ranking)})"
        where = f"whole set {chunk.entry.whole_rank}" if chunk.entry else "not in the whole set"
        output.say(
            f"  chunk {chunk.ordinal}: {where}, vector rank {chunk.vector_position or missing.vector}, "
            f"lexical rank {chunk.lexical_position or missing.lexical}, {fate}"
        )


def _numbers(entry: RankedCandidate, missing: Absent) -> str:
    candidate = entry.candidate
    vector = missing.vector if candidate.vector_score is None else f"{candidate.vector_score:.3f}"
    lexical = missing.lexical if candidate.lexical_score is None else f"{candidate.lexical_score:.3f}"
    return f"score {entry.score:.3f}, vector {vector}, lexical {lexical}"


def _signal(score: float | None, rank: int | None, missing: str) -> str:
    return missing if score is None else f"{score:.3f} #{rank}"
