"""Votes beside a choice of settings: which judged hits two settings would still show. Evidence, never the judge."""

from dataclasses import dataclass

from rag_core.database.connections import Database
from rag_core.database.report.replays import VotedSearch, read_voted_searches
from rag_core.model import SearchSettings
from rag_core.model.shape import Shape
from rag_core.report.counterfactual import Rival, replay_hits

MOST_SEARCHES = 2_000
# as the table has them
_VERDICTS = ("util", "irrelevante")


@dataclass(frozen=True, slots=True, kw_only=True)
class VotesShown(Shape):
    """Votes of one verdict, and how many of them were for a hit that each of two settings would show."""

    votes: int
    shown_today: int
    shown_by_proposal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteEvidence(Shape):
    """What voters would see and miss under two settings, over the latest voted searches.

    Only what was once shown could be voted on, so votes can't say what a setting would find anew: they favour the
    settings that they were cast under.

    `searches` are the voted searches that were replayed, `not_replayable` those that could not be: another model or
    lexical query, or candidates that were not kept. `useful` and `irrelevant` are the votes that called a hit so.
    """

    searches: int
    not_replayable: int
    useful: VotesShown
    irrelevant: VotesShown

    @property
    def sentence(self) -> str:
        """One plain sentence for whoever chooses."""
        if not self.searches:
            return "Votes: none that can be replayed under these settings."
        useful, irrelevant = self.useful, self.irrelevant
        return (
            f"Votes, from searches as they were shown: of {useful.votes} useful ones today's settings still show "
            f"{useful.shown_today}, the proposal {useful.shown_by_proposal}; of {irrelevant.votes} irrelevant ones "
            f"{irrelevant.shown_today} and {irrelevant.shown_by_proposal}."
        )


def weigh_votes(
    database: Database,
    project_id: str,
    today: SearchSettings,
    proposal: SearchSettings,
    *,
    most: int = MOST_SEARCHES,
) -> VoteEvidence:
    """Replay the latest voted searches under two settings. About a millisecond a search.

    `most` counts the latest of them; synthetic ones are left out.
    """
    with database.connection() as connection:
        voted = read_voted_searches(connection, project_id, most=most)
    rivals = (_rival("today", today), _rival("proposal", proposal))
    counts = {verdict: [0, 0, 0] for verdict in _VERDICTS}
    replayed = 0
    for search in voted:
        kept = _kept(search, rivals)
        if kept is None:
            continue
        replayed += 1
        for verdict, shown in zip(search.verdicts, kept, strict=True):
            counts[verdict] = [total + one for total, one in zip(counts[verdict], (1, *shown), strict=True)]
    useful, irrelevant = (
        VotesShown(votes=votes, shown_today=old, shown_by_proposal=new) for votes, old, new in counts.values()
    )
    return VoteEvidence(
        searches=replayed, not_replayable=len(voted) - replayed, useful=useful, irrelevant=irrelevant
    )


def _kept(search: VotedSearch, rivals: tuple[Rival, Rival]) -> list[tuple[bool, bool]] | None:
    """Whether each vote's hit is shown under each of the rivals; None where the search can't be replayed."""
    lists = [replay_hits(search, rival) for rival in rivals]
    if any(found is None for found in lists):
        return None
    (shown, today), (_, proposal) = (found for found in lists if found is not None)
    keys = [hit.tie_key for hit in shown]
    old, new = ({hit.tie_key for hit in hits} for hits in (today, proposal))
    voted = [keys[rank - 1] for rank in search.voted_ranks]
    return [(key in old, key in new) for key in voted]


def _rival(name: str, settings: SearchSettings) -> Rival:
    return Rival(
        name=name,
        ranking=settings.ranking,
        lexical=settings.candidates.lexical,
        model=settings.candidates.embedding_model,
    )
