"""Lost cases explained from what the index holds now and from the git history of its files."""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from rag_core.evaluation.last_step import Key, find_last_step, replay_candidates, replay_hits
from rag_core.evaluation.past_texts import PastTexts
from rag_core.evaluation.sides import Side
from rag_core.golden.cases import GoldenCase
from rag_core.golden.causes import causes, made_alike
from rag_core.golden.losses import LastStep, LossCause, Now, StandingText, Then
from rag_core.golden.verdicts import expected_entries, judge
from rag_core.model import CandidateSet, Origin, Place, RankingSettings, SearchSettings
from rag_core.ranking.ranking import rank


def explain_losses(lost: Iterable[str], old: Side, new: Side, *, texts: PastTexts) -> tuple[LossCause, ...]:
    """Why each of the lost cases, shared by both sides, was lost; in the order given."""
    cases = {case.id: case for case in new.cases}
    return tuple(
        cause
        for case_id in lost
        for cause in causes(
            cases[case_id], _then(cases[case_id], old, new), _now(cases[case_id], old, new, texts), texts
        )
    )


def _then(case: GoldenCase, old: Side, new: Side) -> Then:
    found = old.candidates_of(case.id, old.settings)
    winner, score = (None, None)
    if found is not None:
        entries = expected_entries(case, rank(found, old.settings.ranking))
        best = next((entry for entry in entries if entry.rank is not None), None)
        if best is not None:
            winner, score = StandingText(best.candidate.origin, best.candidate.content_hash), best.score
    else:
        winner, score = next(iter(_recorded_answers(case, old)), (None, None))
    before, now = old.settings.to_json(), new.settings.to_json()

    def passes(keys: frozenset[str]) -> bool | None:
        mixed = SearchSettings.from_json(
            # a number that one of the two does not have goes and comes with its key
            {key: before[key] for key in before if key not in keys}
            | {key: now[key] for key in now if key in keys},
            scopes=old.settings.candidates.scopes,
            model_id=old.settings.candidates.embedding_model,
            source="mixed",
        )
        candidates = old.candidates_of(case.id, mixed)
        return None if candidates is None else _passes(case, candidates, mixed.ranking)

    return Then(
        winner=winner,
        score=score,
        seen=None if found is None else frozenset(each.content_hash for each in found.candidates),
        settings=before,
        detail=_detail(old),
        passes=passes,
    )


def _now(case: GoldenCase, old: Side, new: Side, texts: PastTexts) -> Now:
    candidates = new.candidates_of(case.id, new.settings)
    under_then = new.candidates_of(case.id, old.settings)
    return Now(
        ranking=None if candidates is None else rank(candidates, new.settings.ranking),
        under_then=None if under_then is None else rank(under_then, old.settings.ranking),
        settings=new.settings.to_json(),
        detail=_detail(new),
        last_step=lambda: _last_step(case, old, new, texts),
    )


def _detail(side: Side) -> dict[str, object]:
    return {"model": side.ground["model"], **side.detail}


def _last_step(case: GoldenCase, old: Side, new: Side, texts: PastTexts) -> LastStep | None:
    """The commit that lost the case; None where it can't be told."""
    before, now = _detail(old), _detail(new)
    if before["chunkerVersion"] != now["chunkerVersion"]:
        return None
    standing: dict[Place, frozenset[str]] = {}

    def stands(key: Key) -> bool:
        place, content_hash = key
        if place not in standing:
            standing[place] = frozenset(text.content_hash for text in texts.standing(place))
        return content_hash in standing[place]

    found = old.candidates_of(case.id, old.settings)
    if found is None:
        replay = replay_hits([text for text, _ in _recorded_answers(case, old)], stands)
    else:
        under_then = new.candidates_of(case.id, old.settings) if made_alike(before, now) else None
        replay = replay_candidates(found, under_then, old.settings.ranking, stands)
    commit = before["commit"]
    presence = texts.presence((*replay.went, *replay.came), since=None if commit is None else str(commit))
    return None if presence is None else find_last_step(case, replay, presence)


def _passes(case: GoldenCase, found: CandidateSet, settings: RankingSettings) -> bool:
    return judge(case, rank(found, settings)).passed


def _recorded_answers(case: GoldenCase, old: Side) -> list[tuple[StandingText, float]]:
    """The expected hits of a recorded run with their scores, best first; without those whose hash was not kept yet."""
    return [
        (StandingText(origin, str(hit["contentHash"])), float(cast("float", hit["score"])))
        for hit in old.hits.get(case.id, ())
        if (origin := _origin(cast("Mapping[str, object]", hit["origin"]))).place in case.expected
        and "contentHash" in hit
    ]


def _origin(told: Mapping[str, object]) -> Origin:
    if told["kind"] == "session":
        event = told.get("eventId")
        place = Place("session", str(told["sessionId"]))
        return Origin(place=place, event_id=None if event is None else str(event))
    return Origin(
        place=Place("file", str(told["sourcePath"])),
        heading_path=tuple(cast("Sequence[str]", told.get("headingPath", ()))),
    )
