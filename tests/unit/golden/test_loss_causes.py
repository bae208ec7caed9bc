"""Why a case was lost, where the index and git are answered for by the test."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from rag_core.golden.cases import GoldenCase
from rag_core.golden.causes import causes
from rag_core.golden.departures import Departure, Left
from rag_core.golden.losses import LastStep, LossCause, Now, SinceCommit, StandingText, Then
from rag_core.model import Candidate, Fate, Origin, Place, RankedCandidate, Ranking, Scope

FILE = Place("file", "docs/a.md")
DETAIL = {
    "commit": "1" * 40,
    "model": "m1",
    "chunkerVersion": "1",
    "queryVersion": "1",
    "textSearchConfig": "portuguese",
}
SETTINGS: Mapping[str, object] = {"weightVector": 0.6, "weightLexical": 0.4, "threshold": 0.2}
CASE = GoldenCase(id="c", question="q", expected=(FILE,))
TAKEN = SinceCommit(commit="a" * 40)


def text(content_hash: str, *headings: str, place: Place = FILE, event_id: str | None = None) -> StandingText:
    return StandingText(Origin(place=place, heading_path=headings, event_id=event_id), content_hash)


@dataclass
class Known:
    """What is in the index, place by place, and what git says."""

    texts: Sequence[StandingText] = ()
    since: SinceCommit = TAKEN
    unchanged: bool = False
    reheaded: Origin | None = None
    left_behind: Departure | None = None

    def standing(self, place: Place) -> list[StandingText]:
        return [known for known in self.texts if known.origin.place == place]

    def holder_of(self, content_hash: str) -> Origin | None:
        return next((known.origin for known in self.texts if known.content_hash == content_hash), None)

    def under_another_heading(self, place: Place, content_hash: str) -> Origin | None:
        return self.reheaded

    def taken(self, place: Place, content_hash: str) -> SinceCommit:
        return self.since

    def brought(self, place: Place, content_hash: str) -> SinceCommit:
        return self.since

    def departure(self, place: Place) -> Departure | None:
        return self.left_behind

    def unchanged_since(self, place: Place, commit: str | None) -> bool:
        return self.unchanged


def then(winner: StandingText | None, *, alone: Mapping[str, bool] | None = None) -> Then:
    """`alone`: whether the case passes on the candidates of then with that one key as it is now; all passes else."""
    told = alone or {}
    return Then(
        winner=winner,
        score=0.5,
        seen=frozenset({"old"}),
        settings=SETTINGS,
        detail=DETAIL,
        passes=lambda keys: all(told.get(key, True) for key in keys),
    )


def now(*, settings: Mapping[str, object] = SETTINGS, ranking: Ranking | None = None, **detail: str) -> Now:
    empty = Ranking(whole_set=(), threshold=0.2)
    return Now(
        ranking=ranking or empty, under_then=ranking or empty, settings=settings, detail={**DETAIL, **detail}
    )


def ranked(content_hash: str, place: Place, *, at: int, score: float, fate: Fate) -> RankedCandidate:
    candidate = Candidate(
        chunk_id=content_hash,
        scope=Scope.DOCS,
        origin=Origin(place=place),
        ordinal=0,
        content_hash=content_hash,
        vector_score=score,
        lexical_score=None,
        vector_rank=at,
        lexical_rank=None,
    )
    return RankedCandidate(
        candidate=candidate, score=score, whole_rank=at, rank=at if fate is Fate.HIT else None, fate=fate
    )


@pytest.mark.parametrize(
    ("standing", "what", "sentence"),
    [
        (
            [text("new", "A", "B")],
            "textChanged",
            "The text of docs/a.md › A › B, which was found, is another one, since commit aaaaaaaaaaaa.",
        ),
        (
            [text("new", "A")],
            "sectionRemoved",
            "The section A › B, which was found, is not in docs/a.md any more, since commit aaaaaaaaaaaa.",
        ),
        (
            [text("new", "A"), text("old", "X", place=Place("file", "docs/b.md"))],
            "textMoved",
            "The text that was found in docs/a.md › A › B stands in docs/b.md › X now, since commit aaaaaaaaaaaa.",
        ),
        (
            [],
            "fileGone",
            "docs/a.md, in which the answer was found, is not in the index any more, since commit aaaaaaaaaaaa.",
        ),
    ],
)
def test_what_became_of_the_text_that_won(standing: list[StandingText], what: str, sentence: str) -> None:
    (cause,) = causes(CASE, then(text("old", "A", "B")), now(), Known(standing))
    assert (cause.what, cause.path, cause.commit, cause.sentence) == (
        what,
        "docs/a.md",
        TAKEN.commit,
        sentence,
    )
    assert cause.text_gone
    assert LossCause.from_json(cause.told.to_json()).told == cause.told


def test_a_text_that_stands_on_below_other_headings_is_not_called_removed() -> None:
    won = text("old", "A", "B")
    new = text("new", "A2", "B")
    (same,) = causes(CASE, then(won), now(), Known([new], reheaded=new.origin))
    assert (same.what, same.moved_to) == ("textChanged", None)
    assert same.sentence == (
        "The text that was found in docs/a.md › A › B stands under another heading, A2 › B, now, since commit "
        "aaaaaaaaaaaa."
    )
    (other,) = causes(CASE, then(won), now(), Known([new]))
    assert other.what == "textChanged"
    assert other.sentence == (
        "The text of docs/a.md › A › B, which was found, is another one, and stands under another heading, A2 › B, "
        "now, since commit aaaaaaaaaaaa."
    )


def test_where_the_commit_can_not_be_told_the_sentence_says_why() -> None:
    known = Known(
        [text("new", "A")], since=SinceCommit(commit=None, unknown="The git history here is shallow.")
    )
    (cause,) = causes(CASE, then(text("old", "A")), now(), known)
    assert cause.commit is None
    assert cause.sentence == (
        "The text of docs/a.md › A, which was found, is another one. The git history here is shallow."
    )


def test_a_message_of_a_session_has_no_commit() -> None:
    session = Place("session", "s1")
    case = GoldenCase(id="c", question="q", expected=(session,))
    (cause,) = causes(case, then(text("old", place=session, event_id="e1")), now(), Known())
    assert (cause.what, cause.path, cause.commit) == ("messageGone", "session:s1", None)
    assert cause.sentence == "The message that was found, session:s1 › e1, is not in the index any more."


def test_another_chunker_over_the_same_file_is_no_change_of_its_text() -> None:
    known = Known([text("new", "A")], unchanged=True)
    (cause,) = causes(CASE, then(text("old", "A")), now(chunkerVersion="2"), known)
    assert (cause.what, cause.commit, cause.text_gone) == ("chunking", None, False)
    changed = Known([text("new", "A")], unchanged=False)
    assert causes(CASE, then(text("old", "A")), now(chunkerVersion="2"), changed)[0].what == "textChanged"


@pytest.mark.parametrize(
    ("detail", "what"),
    [
        ({"model": "m2"}, "model"),
        ({"textSearchConfig": "english"}, "lexical"),
        ({"queryVersion": "2"}, "lexical"),
    ],
)
def test_a_text_that_is_still_there_is_lost_by_what_the_index_is_made_with(
    detail: dict[str, str], what: str
) -> None:
    (cause,) = causes(CASE, then(text("old", "A")), now(**detail), Known([text("old", "A")]))
    assert (cause.what, cause.text_gone) == (what, False)


def test_a_text_mended_by_a_letter_that_scores_as_high_was_outranked_and_not_lost() -> None:
    rival = Place("file", "docs/r.md")
    ranking = Ranking(
        whole_set=(
            ranked("rival", rival, at=1, score=0.9, fate=Fate.HIT),
            ranked("new", FILE, at=2, score=0.5, fate=Fate.LIMIT),
        ),
        threshold=0.2,
    )
    (cause,) = causes(CASE, then(text("old", "A")), now(ranking=ranking), Known([text("new", "A")]))
    assert (cause.what, cause.path) == ("outranked", "docs/r.md")
    assert cause.sentence.endswith("Above it is new: docs/r.md, since commit aaaaaaaaaaaa.")


def test_of_several_settings_those_that_lose_it_alone_are_named() -> None:
    settings = {"weightVector": 0.5, "weightLexical": 0.5, "threshold": 0.9}
    passing = Ranking(
        whole_set=(ranked("old", FILE, at=1, score=0.5, fate=Fate.HIT),),
        threshold=0.2,
    )
    told = causes(
        CASE,
        then(text("old", "A"), alone={"threshold": False}),
        now(settings=settings, ranking=passing),
        Known([text("old", "A")]),
    )
    assert [cause.what for cause in told] == ["settings"]
    assert told[0].sentence == "The settings changed: threshold 0.9 (was 0.2)."


def test_a_number_that_the_settings_of_then_did_not_have_is_told_as_none() -> None:
    (told,) = causes(
        CASE,
        then(text("old", "A"), alone={"rrfK": False}),
        now(settings={**SETTINGS, "rrfK": 10}, ranking=Ranking(whole_set=(), threshold=0.2)),
        Known([text("old", "A")]),
    )
    assert told.sentence == "The settings changed: rrfK 10 (was none)."


def test_what_nothing_explains_is_said_to_be_unknown() -> None:
    (cause,) = causes(CASE, then(text("old", "A")), now(), Known([text("old", "A")]))
    assert cause.what == "unknown"


def test_a_text_that_was_pushed_out_before_it_went_is_told_in_that_order() -> None:
    rival = text("rival", "R", place=Place("file", "docs/r.md"))
    pushed = LastStep(since=SinceCommit(commit="b" * 40), rival=rival, pushed_out=text("old", "A"))
    first, then_gone = causes(
        CASE,
        then(text("old", "A")),
        dataclasses.replace(now(), last_step=lambda: pushed),
        Known([text("x", "B")]),
    )
    assert (first.what, first.commit) == ("outranked", "b" * 40)
    assert first.sentence == (
        "The new text docs/r.md › R took the place of docs/a.md › A among the hits, since commit bbbbbbbbbbbb."
    )
    assert (then_gone.what, then_gone.commit) == ("sectionRemoved", TAKEN.commit)


def test_a_file_that_has_another_name_is_told_with_it() -> None:
    known = Known(left_behind=Departure(steps=(Left(commit=TAKEN.commit or "", to="docs/b.md"),)))
    (cause,) = causes(CASE, then(text("old", "A")), now(), known)
    assert (cause.what, cause.moved_to) == ("fileGone", "docs/b.md")
    assert cause.sentence == (
        "docs/a.md, in which the answer was found, was renamed to “docs/b.md” in commit aaaaaaaaaaaa."
    )
