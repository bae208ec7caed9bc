"""What other settings would have shown to the same questions, replayed from what was kept of each search.

Only ranking is replayed, by the function that ranks live. What new SQL would be needed for can't be: another
lexical query, another model, more candidates a signal than were kept.
"""

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_core.database.connections import Database
from rag_core.database.report.replays import ReplayableSearch, candidates_of, find_settings, stream_searches
from rag_core.errors import InvalidInput, UsageError
from rag_core.model import Candidate, LexicalWay, Place, RankingSettings, SearchSettings, Window
from rag_core.ranking.ranking import rank
from rag_core.report.numbers import Counterfactual
from rag_core.report.overlap import overlap, rank_biased_overlap
from rag_core.settings.presets import find_preset


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """The settings that are asked about. `model` None: whatever model a search had."""

    name: str
    ranking: RankingSettings
    lexical: LexicalWay
    model: str | None


def find_rival(database: Database, project_id: str, against: str) -> Rival:
    """The settings that `preset:NAME` or `settings:ID` names.

    Raises:
        UsageError: It has neither form, or there are none of that name.
    """
    kind, _, name = against.partition(":")
    if kind == "preset" and name:
        preset = find_preset(name)
        return Rival(
            name=against,
            ranking=preset.ranking,
            lexical=preset.lexical,
            model=None,
        )
    if kind != "settings" or not name:
        raise UsageError(
            f"{against!r} names no settings.",
            hint="Use preset:NAME, or settings:ID with an id of the report.",
        )
    with database.connection() as connection:
        found = find_settings(connection, project_id, name)
    if found is None:
        raise UsageError(
            f"No search of {project_id} ran under settings {name!r}.",
            hint="The ids stand in the report's splits by settings.",
        )
    model = found.get("embeddingModel")
    settings = _settings(found)
    return Rival(
        name=against,
        ranking=settings.ranking,
        lexical=settings.candidates.lexical,
        model=None if model is None else str(model),
    )


def compare_with(
    database: Database,
    project_id: str,
    window: Window,
    rival: Rival,
    *,
    listener: Callable[[int], None] | None = None,
) -> Counterfactual:
    """Overlap and rank-biased overlap of what was shown and what the rival would show, on places.

    Degraded searches take part: both sides then rank without the vector signal. Takes about half a millisecond
    a search.

    `listener` is told now and then how many searches have been read.
    """
    overlaps: list[float] = []
    rbos: list[float] = []
    not_replayable = 0
    with database.snapshot() as connection:
        for number, search in enumerate(stream_searches(connection, project_id, window), start=1):
            lists = replay(search, rival)
            if lists is None:
                not_replayable += 1
            else:
                overlaps.append(overlap(*lists))
                rbos.append(rank_biased_overlap(*lists))
            if listener is not None and number % 500 == 0:
                listener(number)
    compared = len(overlaps)
    return Counterfactual(
        against=rival.name,
        searches=compared,
        overlap=math.fsum(overlaps) / compared if compared else None,
        rbo=math.fsum(rbos) / compared if compared else None,
        not_replayable=not_replayable,
    )


def replay(search: ReplayableSearch, rival: Rival) -> tuple[list[Place], list[Place]] | None:
    """The places that were shown and that the rival would show, each in rank order; None: can't be replayed.

    As `replay_hits`.
    """
    found = replay_hits(search, rival)
    return None if found is None else (_places(found[0]), _places(found[1]))


def replay_hits(search: ReplayableSearch, rival: Rival) -> tuple[list[Candidate], list[Candidate]] | None:
    """The hits that were shown and that the rival would show, each in rank order; None: can't be replayed.

    What was shown is ranked again from the whole set, under the settings frozen beside it; where that does not
    give as many hits as were recorded, the row can't be trusted and is not replayed. A limit that the caller chose
    is the caller's under the rival too.
    """
    try:
        shown_under = _settings(search.weights)
    except InvalidInput:
        return None
    found = candidates_of(search)
    if found is None or not _same_candidates(search, shown_under, rival):
        return None
    shown = rank(found, shown_under.ranking).hits
    if len(shown) != search.hit_count:
        return None
    would = rank(found, _for_caller(rival, search, shown_under)).hits
    return [hit.candidate for hit in shown], [hit.candidate for hit in would]


def _for_caller(rival: Rival, search: ReplayableSearch, shown_under: SearchSettings) -> RankingSettings:
    asked = shown_under.ranking.limit
    if search.limit_in_force in (None, asked):
        return rival.ranking
    return dataclasses.replace(rival.ranking, limit=asked)


def _same_candidates(search: ReplayableSearch, shown_under: SearchSettings, rival: Rival) -> bool:
    """Whether the rival would rank among the very candidates that were kept."""
    depth = search.weights.get("fetchDepth", shown_under.ranking.candidates_per_signal)
    return (
        shown_under.candidates.lexical == rival.lexical
        and rival.model in (None, search.weights.get("embeddingModel"))
        and isinstance(depth, int)
        and rival.ranking.candidates_per_signal <= depth
    )


def _settings(weights: dict[str, object]) -> SearchSettings:
    return SearchSettings.from_json(weights, source="replay", model_id=None)


def _places(hits: Sequence[Candidate]) -> list[Place]:
    """The first chunk's rank of each place, ranks closed up."""
    return list(dict.fromkeys(hit.origin.place for hit in hits))
