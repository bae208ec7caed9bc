"""`medir vote` and `medir searches purge`: what people said of a search, and forgetting what was asked."""

import click

from medir.cli.frame import Output, chosen_project, operator, project_option, services, with_output
from rag_core.report.window import parse_time
from rag_core.search.votes import cast_vote, purge_searches
from rag_core.words.plurals import counted


@click.command("vote")
@click.argument("search_id")
@click.argument("chunk_id")
@click.argument("verdict", metavar="util|irrelevante")
@project_option
@with_output
def vote(output: Output, *, search_id: str, chunk_id: str, verdict: str, project_id: str | None) -> None:
    """Judge one hit of one search; a second vote on it takes the place of yours."""
    with services() as opened:
        cast = cast_vote(
            opened.database,
            opened.clock,
            chosen_project(opened, project_id).project_id,
            search_id=search_id,
            chunk_id=chunk_id,
            verdict=verdict,
            actor=operator(),
        )
    output.emit(cast)
    output.say(f"{cast.verdict} on the hit of rank {cast.rank}" + (", changed." if cast.changed else "."))


@click.group("searches")
def searches() -> None:
    """Searches as they were recorded."""


@searches.command("purge")
@project_option
@click.option("--actor", metavar="ID", help="Only those that this actor asked; an id, or kind:id.")
@click.option("--before", metavar="TIME", help="Only those asked before; ISO 8601 with an offset or Z.")
@click.option(
    "--yes", is_flag=True, help="Delete them; without it, their number is told and the exit code is 2."
)
@with_output
def purge_verb(
    output: Output, *, project_id: str | None, actor: str | None, before: str | None, yes: bool
) -> None:
    """Delete recorded searches with the votes on them; refuses without --yes where there are any."""
    until = None if before is None else parse_time(before, name="--before")
    with services() as opened:
        project = chosen_project(opened, project_id).project_id
        gone = purge_searches(opened.database, project, actor=actor, before=until, confirmed=yes)
    output.emit({"project": project, "searches": gone.searches, "votes": gone.votes})
    output.say(f"Deleted {counted(gone.searches, 'search', 'searches')} and {counted(gone.votes, 'vote')}.")
