"""Why a case that passed once does not pass any more: its text, a rival's text, the index, or the settings. Pure.

What the index and the repository hold comes from the caller, as `Texts`. Nothing is guessed: where the commit can't
be told, the sentence says why.
"""

from collections.abc import Mapping, Sequence

from rag_core.golden.cases import GoldenCase
from rag_core.golden.gone_texts import stands, tell_gone, tell_gone_before
from rag_core.golden.losses import LastStep, LossCause, Now, SinceCommit, StandingText, Texts, Then
from rag_core.golden.verdicts import expected_entries, judge
from rag_core.model import Place
from rag_core.model.settings import changed_numbers
from rag_core.words.plurals import counted


def causes(case: GoldenCase, then: Then, now: Now, texts: Texts) -> tuple[LossCause, ...]:
    """Why the case was lost, the main reason first; never empty.

    Whether settings or index did it is found by ranking: the candidates of then under the settings of now, and
    those of now under the settings of then. Where each alone would pass, both are named.
    """
    changed = changed_numbers(then.settings, now.settings)
    under_now = then.passes(frozenset(changed)) if changed else True
    by_settings = None if under_now is None else not under_now
    by_index = None if now.under_then is None else not judge(case, now.under_then).passed
    found: list[LossCause] = []
    if by_index or (by_index is None and not by_settings) or (by_index is False and by_settings is False):
        found += _of_the_index(case, then, now, texts)
    if changed and (by_settings or by_index is False or (by_settings is None and not found)):
        found.append(_of_the_settings(case, changed, then, now))
    return tuple(found) or (_unknown(case),)


def _of_the_index(case: GoldenCase, then: Then, now: Now, texts: Texts) -> list[LossCause]:
    same_scale = _same_making(then, now)
    winner = then.winner
    if winner is None and not case.no_answer:
        return []
    if winner is not None and _recut(winner.origin.place, then, now, texts) and not stands(winner, texts):
        return [_cut_otherwise(case, winner.origin.place, then, now)]
    step = now.last_step() or _first_guess(case, then, now, winner, texts)
    if step.taken is not None:
        return [tell_gone(case, step, step.taken, winner or step.taken, texts)]
    if not same_scale:
        return [_made_otherwise(case, then, now)]
    return _outranked(case, then, now, step, texts)


def _first_guess(
    case: GoldenCase, then: Then, now: Now, winner: StandingText | None, texts: Texts
) -> LastStep:
    """Where no commit is known to have lost the case: whether the text that won is gone."""
    if winner is None or stands(winner, texts):
        return LastStep()
    if _same_making(then, now) and _scores_as_high(case, then, now):
        return LastStep()
    place = winner.origin.place
    return LastStep(
        since=texts.taken(place, winner.content_hash), taken=winner, left=texts.standing(place) or None
    )


def _scores_as_high(case: GoldenCase, then: Then, now: Now) -> bool:
    """Whether some expected chunk has as high a score as the winner had: then its text is not what was lost."""
    entries = expected_entries(case, now.under_then) if now.under_then is not None else ()
    return bool(entries) and then.score is not None and entries[0].score >= then.score


def _recut(place: Place, then: Then, now: Now, texts: Texts) -> bool:
    """Whether a file that is the same is cut into other chunks."""
    if place.kind == "session" or then.detail["chunkerVersion"] == now.detail["chunkerVersion"]:
        return False
    return texts.unchanged_since(place, _commit(then))


def _cut_otherwise(case: GoldenCase, place: Place, then: Then, now: Now) -> LossCause:
    sentence = (
        f"{place} is cut into chunks otherwise than then (chunker {then.detail['chunkerVersion']}, now "
        f"{now.detail['chunkerVersion']}), and its text is the same."
    )
    return LossCause(id=case.id, what="chunking", path=str(place), sentence=sentence)


def _same_making(then: Then, now: Now) -> bool:
    return made_alike(then.detail, now.detail)


def made_alike(then: Mapping[str, object], now: Mapping[str, object]) -> bool:
    """Whether the scores of an unchanged chunk are the same: same model, same lexical query and configuration."""
    return all(then[part] == now[part] for part in ("model", "queryVersion", "textSearchConfig"))


def _made_otherwise(case: GoldenCase, then: Then, now: Now) -> LossCause:
    if then.detail["model"] != now.detail["model"]:
        sentence = (
            f"The index is made with another embedding model: {now.detail['model'] or 'none'}, and was "
            f"{then.detail['model'] or 'none'}."
        )
        return LossCause(id=case.id, what="model", sentence=sentence)
    part = next(
        part for part in ("textSearchConfig", "queryVersion") if then.detail[part] != now.detail[part]
    )
    named = "text search configuration" if part == "textSearchConfig" else "version of the lexical query"
    sentence = f"The {named} is another one: {now.detail[part]}, and was {then.detail[part]}."
    return LossCause(id=case.id, what="lexical", sentence=sentence)


def _outranked(case: GoldenCase, then: Then, now: Now, step: LastStep, texts: Texts) -> list[LossCause]:
    ranking = now.under_then or now.ranking
    if ranking is None:
        return []
    best = next(iter(expected_entries(case, ranking)), None)
    above = ranking.hits if case.no_answer else ranking.whole_set[: best.whole_rank - 1 if best else None]
    seen = then.seen
    newcomers = [] if seen is None else [each for each in above if each.candidate.content_hash not in seen]
    rival = step.rival
    if rival is None and newcomers:
        first = newcomers[0].candidate
        rival = StandingText(first.origin, first.content_hash)
    if case.no_answer:
        return [] if rival is None else [_newly_found(case, rival, step, texts)]
    if best is None:
        return _pushed_out_then_gone(case, then, step, texts)
    if seen is not None and rival is None:
        return []
    path = str(best.candidate.origin.place)
    removed = "" if best.rank is not None else f", and is removed by {best.fate}"
    where = f"{best.candidate.origin.citation} is still there, at {best.whole_rank} in the whole set{removed}"
    since = SinceCommit(commit=None) if rival is None else _since(rival, step, texts)
    before = tell_gone_before(None, then.winner, since, texts)
    if rival is None:
        sentence = (
            f"{where}. Which text above it is new can't be told: that run's candidates were not kept.{before}"
        )
        return [LossCause(id=case.id, what="outranked", path=path, sentence=sentence)]
    more = sum(each.candidate.content_hash != rival.content_hash for each in newcomers)
    others = f" and {counted(more, 'more new text')}" if more else ""
    sentence = f"{where}. Above it is new: {rival.origin.citation}{others}{since.words}{before}"
    path = str(rival.origin.place)
    return [LossCause(id=case.id, what="outranked", path=path, commit=since.commit, sentence=sentence)]


def _pushed_out_then_gone(case: GoldenCase, then: Then, step: LastStep, texts: Texts) -> list[LossCause]:
    """A new text took the hits first; what it took them from is gone by now."""
    rival, out = step.rival, step.pushed_out
    if rival is None or out is None:
        return []
    since = _since(rival, step, texts)
    took = f"took the place of {out.origin.citation} among the hits"
    sentence = f"The new text {rival.origin.citation} {took}{since.words}"
    path = str(rival.origin.place)
    first = LossCause(id=case.id, what="outranked", path=path, commit=since.commit, sentence=sentence)
    if stands(out, texts):
        return [first]
    place = out.origin.place
    later = LastStep(
        since=texts.taken(place, out.content_hash), taken=out, left=texts.standing(place) or None
    )
    return [first, tell_gone(case, later, out, then.winner or out, texts)]


def _newly_found(case: GoldenCase, rival: StandingText, step: LastStep, texts: Texts) -> LossCause:
    since = _since(rival, step, texts)
    sentence = f"A text that is new is found: {rival.origin.citation}{since.words}"
    path = str(rival.origin.place)
    return LossCause(id=case.id, what="newText", path=path, commit=since.commit, sentence=sentence)


def _since(rival: StandingText, step: LastStep, texts: Texts) -> SinceCommit:
    if step.since is not None and step.rival == rival:
        return step.since
    return texts.brought(rival.origin.place, rival.content_hash)


def _of_the_settings(case: GoldenCase, changed: Sequence[str], then: Then, now: Now) -> LossCause:
    """Those that lose the case alone, else all that changed."""
    weights = [key for key in changed if key.startswith("weight")]
    groups = [[key] for key in changed if key not in weights] + ([weights] if weights else [])
    alone = [group for group in groups if then.passes(frozenset(group)) is False]
    named = [key for group in alone or groups for key in group]
    told = ", ".join(
        f"{key} {_number(now.settings.get(key))} (was {_number(then.settings.get(key))})" for key in named
    )
    return LossCause(id=case.id, what="settings", sentence=f"The settings changed: {told}.")


def _number(value: object) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _commit(then: Then) -> str | None:
    commit = then.detail["commit"]
    return None if commit is None else str(commit)


def _unknown(case: GoldenCase) -> LossCause:
    return LossCause(
        id=case.id,
        what="unknown",
        sentence="Neither its text nor the settings explain it; compare both runs' ranks.",
    )
