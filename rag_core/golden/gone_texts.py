"""What became of the text that answered a lost case last, in one sentence that is true of its commit. Pure."""

from collections.abc import Sequence

from rag_core.golden.cases import GoldenCase
from rag_core.golden.departures import COMMIT_DIGITS
from rag_core.golden.losses import CauseKind, LastStep, LossCause, SinceCommit, StandingText, Texts
from rag_core.model import Origin


def tell_gone(
    case: GoldenCase, step: LastStep, taken: StandingText, winner: StandingText, texts: Texts
) -> LossCause:
    """What became of the text that answered last, as it stood after the commit that took it."""
    place = taken.origin.place
    if place.kind == "session":
        cited = taken.origin.citation
        sentence = f"The message that was found, {cited}, is not in the index any more."
        return LossCause(id=case.id, what="messageGone", path=str(place), sentence=sentence)
    since = step.since or SinceCommit(commit=None)
    fate = _renamed(taken, since, step, texts) or _fate(taken, since, step, texts, last=taken != winner)
    what, sentence, moved_to = fate
    told = (
        sentence + _changed_before(what, taken, since, texts) + tell_gone_before(taken, winner, since, texts)
    )
    path = str(place)
    return LossCause(id=case.id, what=what, path=path, commit=since.commit, moved_to=moved_to, sentence=told)


_Told = tuple[CauseKind, str, str | None]


def _renamed(taken: StandingText, since: SinceCommit, step: LastStep, texts: Texts) -> _Told | None:
    """What is said of a text whose file has another name now; None where it has not."""
    origin, place = taken.origin, taken.origin.place
    departure = None if step.left is not None or texts.standing(place) else texts.departure(place)
    if departure is None or departure.moved_to is None:
        return None
    holder = _holder(taken, texts)
    if holder is not None and str(holder.place) == departure.moved_to:
        sentence = f"The text that was found in {origin.citation} stands in {holder.citation} now: {place} "
        return "textMoved", f"{sentence}{departure.words}.", departure.moved_to
    there = "" if holder is None else f"; the text stands in {holder.citation}"
    sentence = f"{place}, in which the answer was found, {departure.words}{there}."
    if since.commit is not None and since.commit != departure.steps[0].commit:
        sentence += f" The text was not there any more since commit {since.commit[:COMMIT_DIGITS]}."
    return "fileGone", sentence, departure.moved_to if holder is None else str(holder.place)


def _holder(taken: StandingText, texts: Texts) -> Origin | None:
    content_hash = taken.content_hash
    return texts.holder_of(content_hash) or texts.under_another_heading(taken.origin.place, content_hash)


def _fate(taken: StandingText, since: SinceCommit, step: LastStep, texts: Texts, *, last: bool) -> _Told:
    """What it is called, the sentence, and where the text stands now."""
    origin, place, left = taken.origin, taken.origin.place, step.left
    cited, found = origin.citation, "answered last" if last else "was found"
    moved_to: str | None = None
    what: CauseKind
    holder = _holder(taken, texts)
    if holder is not None and holder.place == place:
        what, sentence = "textChanged", f"The text that {found} in {cited} {_under(holder)} now"
    elif holder is not None:
        what, moved_to = "textMoved", str(holder.place)
        sentence = f"The text that {found} in {cited} stands in {holder.citation} now"
    elif left is None:
        answer = "the text" if last else "the answer"
        what, sentence = "fileGone", f"{place}, in which {answer} {found}, is not in the index any more"
    elif any(text.origin.heading_path == origin.heading_path for text in left):
        what, sentence = "textChanged", f"The text of {cited}, which {found}, is another one"
    elif (namesake := _same_section(origin, left)) is not None:
        what = "textChanged"
        sentence = f"The text of {cited}, which {found}, is another one, and {_under(namesake)} now"
    else:
        section = " › ".join(origin.heading_path) or "above the first heading"
        what, sentence = "sectionRemoved", f"The section {section}, which {found}, is not in {place} any more"
    return what, sentence + since.words, moved_to


def _changed_before(what: CauseKind, taken: StandingText, since: SinceCommit, texts: Texts) -> str:
    """The earlier commit that changed the text of a section which was taken away later."""
    if what not in ("sectionRemoved", "fileGone") or since.commit is None:
        return ""
    changed = texts.taken(taken.origin.place, taken.content_hash).commit
    if changed is None or changed == since.commit:
        return ""
    return f" Its text was another one already, since commit {changed[:COMMIT_DIGITS]}."


def tell_gone_before(
    taken: StandingText | None, winner: StandingText | None, since: SinceCommit, texts: Texts
) -> str:
    """That the best hit of then had gone before the case was lost, where it had; else ''.

    Args:
        taken: The text that answered last, None where that one still stands.
        winner: The best hit of then.
        since: What lost the case.
        texts: What stands now.
    """
    if winner is None or winner == taken or stands(winner, texts):
        return ""
    trails = [text.origin.heading_path for text in texts.standing(winner.origin.place)]
    edited = winner.origin.heading_path in trails
    earlier = texts.taken(winner.origin.place, winner.content_hash)
    if earlier.commit == since.commit or (edited and taken is None):
        return ""
    became = "had become another text" if edited else "was gone"
    return f" The best hit of that time, {winner.origin.citation}, {became} before{earlier.words}"


def stands(text: StandingText, texts: Texts) -> bool:
    """Whether a text stands in its place as it did."""
    return any(known.content_hash == text.content_hash for known in texts.standing(text.origin.place))


def _under(origin: Origin) -> str:
    trail = " › ".join(origin.heading_path)
    return f"stands under another heading, {trail}," if trail else "stands above the first heading"


def _same_section(origin: Origin, standing: Sequence[StandingText]) -> Origin | None:
    """A section of the same name, where only the titles above it are others."""
    return next(
        (
            text.origin
            for text in standing
            if origin.heading_path and text.origin.heading_path[-1:] == origin.heading_path[-1:]
        ),
        None,
    )
