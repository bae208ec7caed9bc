"""What holds for any golden case, any candidates and any settings."""

import dataclasses
from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from golden_material import chunk, found
from rag_core.errors import FaultyGoldenSet
from rag_core.evaluation.explanation import passing_weights
from rag_core.golden.cases import GoldenCase, GoldenSet, parse_cases
from rag_core.golden.floor import raise_floor, read_floor
from rag_core.golden.remedies import remedies
from rag_core.golden.verdicts import judge, judge_all
from rag_core.model import Candidate, CandidateSet, Origin, Place, RankingSettings, canonical_digest
from rag_core.ranking.ranking import rank

FILES = ("a.md", "b.md", "c.md", "d.md")
# few values, so that ties are common; all exact in binary
SCORES = st.sampled_from((0.125, 0.25, 0.5))
SETTINGS = st.builds(
    RankingSettings,
    weight_vector=st.sampled_from((0.0, 0.5, 1.0)),
    weight_lexical=st.sampled_from((0.0, 0.5, 1.0)),
    threshold=st.sampled_from((None, 0.125, 0.25)),
    candidates_per_signal=st.integers(1, 8),
    max_per_file=st.sampled_from((None, 1, 2)),
    limit=st.integers(1, 4),
)
EXPECTED = st.lists(st.sampled_from(FILES), min_size=1, max_size=2, unique=True)


@st.composite
def candidate_sets(draw: st.DrawFn) -> CandidateSet:
    """Chunks of four files; each signal ranks its own by score, then by place, as the database does."""
    keys = draw(st.lists(st.tuples(st.sampled_from(FILES), st.integers(0, 3)), max_size=8, unique=True))
    signals = st.one_of(st.tuples(SCORES, st.none()), st.tuples(st.none(), SCORES), st.tuples(SCORES, SCORES))
    scores = [draw(signals) for _ in keys]
    ranked = [_ranks([score[signal] for score in scores], keys) for signal in (0, 1)]
    return found(
        *(
            chunk(place, ordinal=ordinal, vector=ranked[0].get(key), lexical=ranked[1].get(key))
            for key in keys
            for place, ordinal in (key,)
        )
    )


def _ranks(
    scores: Sequence[float | None], keys: Sequence[tuple[str, int]]
) -> dict[tuple[str, int], tuple[float, int]]:
    scored = [(-score, key) for score, key in zip(scores, keys, strict=True) if score is not None]
    return {key: (-negated, position) for position, (negated, key) in enumerate(sorted(scored), start=1)}


def expecting(places: Sequence[str], case_id: str = "a") -> GoldenCase:
    return GoldenCase(id=case_id, question="q", expected=tuple(Place("file", place) for place in places))


def renamed(candidates: CandidateSet, names: dict[str, str]) -> CandidateSet:
    """The same candidates under other file names, scores and ranks kept."""

    def rename(candidate: Candidate) -> Candidate:
        key = candidate.origin.place.key
        return dataclasses.replace(candidate, origin=Origin(place=Place("file", names.get(key, key))))

    return dataclasses.replace(
        candidates, candidates=tuple(rename(candidate) for candidate in candidates.candidates)
    )


@given(candidate_sets(), SETTINGS, EXPECTED, st.randoms(use_true_random=False))
def test_the_order_and_the_ids_of_candidates_change_no_verdict(
    candidates, settings, expected, random
) -> None:
    case = expecting(expected)
    shuffled = [
        dataclasses.replace(candidate, chunk_id=f"id-{random.random()}")
        for candidate in candidates.candidates
    ]
    random.shuffle(shuffled)
    other = dataclasses.replace(candidates, candidates=tuple(shuffled))
    assert judge(case, rank(other, settings)) == judge(case, rank(candidates, settings))


@given(candidate_sets(), SETTINGS, EXPECTED)
def test_a_verdict_is_one_of_two_and_says_which_step_removed_it(candidates, settings, expected) -> None:
    ranking = rank(candidates, settings)
    verdict = judge(expecting(expected), ranking)
    assert verdict.passed == (verdict.rank is not None) == (verdict.removed_by is None)
    shown = {entry.candidate.origin.place.key for entry in ranking.hits}
    assert verdict.passed == bool(shown & set(expected))
    if verdict.rank is not None and verdict.whole_rank is not None:
        assert verdict.rank <= verdict.whole_rank
    assert (verdict.whole_rank is None) == (verdict.vector_rank is None and verdict.lexical_rank is None)


@given(candidate_sets(), SETTINGS, EXPECTED)
def test_a_tie_decides_exactly_where_other_file_names_would_turn_the_verdict(
    candidates, settings, expected
) -> None:
    first = {place: f"!{place}" for place in expected}
    last = {place: f"~{place}" for place in expected}
    judged = [
        judge(expecting(list(names.values())), rank(renamed(candidates, names), settings))
        for names in (first, last)
    ]
    verdict = judge(expecting(expected), rank(candidates, settings))
    assert verdict.decided_by_tie == (judged[0].passed and not judged[1].passed)
    assert [one.decided_by_tie for one in judged] == [verdict.decided_by_tie] * 2


@given(st.lists(st.tuples(candidate_sets(), EXPECTED), min_size=1, max_size=6), SETTINGS)
def test_every_share_is_over_all_cases_and_one_more_lost_case_never_raises_it(asked, settings) -> None:
    cases = [expecting(expected, str(number)) for number, (_, expected) in enumerate(asked)]
    rankings = [rank(candidates, settings) for candidates, _ in asked]
    before = judge_all(GoldenSet(floor=0, limit=None, cases=tuple(cases)), rankings)
    more = GoldenSet(floor=0, limit=None, cases=(*cases, expecting(["nowhere.md"], "lost")))
    after = judge_all(more, [*rankings, rank(found(), settings)])
    assert before.total == len(asked)
    assert before.share * len(asked) == before.passed
    assert (after.passed, after.total) == (before.passed, before.total + 1)
    assert after.share <= before.share


@given(candidate_sets(), SETTINGS, EXPECTED)
def test_every_remedy_changes_one_number_and_works(candidates, settings, expected) -> None:
    case = expecting(expected)
    weights = [(run.low, run.high) for run in passing_weights(case, candidates, settings)]
    offered = remedies(case, candidates, settings, rank=rank, passing_weights=weights)
    assert bool(offered) != judge(case, rank(candidates, settings)).passed
    for remedy in offered:
        if remedy.settings is None:
            assert remedy.kind in ("none", "index")
            continue
        assert judge(case, rank(candidates, remedy.settings)).passed
        changed = {
            field.name
            for field in dataclasses.fields(settings)
            if getattr(settings, field.name) != getattr(remedy.settings, field.name)
        }
        assert changed <= {"weight_vector", "weight_lexical"} or len(changed) == 1


@given(candidate_sets(), SETTINGS)
def test_the_threshold_offered_to_a_case_without_answer_empties_it(candidates, settings) -> None:
    case = GoldenCase(id="a", question="q", no_answer=True)
    for remedy in remedies(case, candidates, settings, rank=rank, passing_weights=()):
        assert remedy.settings is not None
        assert judge(case, rank(candidates, remedy.settings)).passed


def parsed(text: str) -> tuple[GoldenSet | None, tuple[Mapping[str, object], ...]]:
    """The set, or the faults for which it was refused; any other error is the test's failure."""
    try:
        return parse_cases(text, file="f"), ()
    except FaultyGoldenSet as error:
        return None, error.faults


@given(st.text(max_size=200))
def test_any_text_is_parsed_or_refused_in_our_own_words(text: str) -> None:
    golden, faults = parsed(text)
    assert (golden is None) == bool(faults)
    assert all(fault["message"] for fault in faults)


YAML_VALUES = st.recursive(
    st.sampled_from(
        ["x", "1", "true", "~", "2026-01-31", "''", "'1'", "docs", "&a x", "!!python/name:os.x y"]
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(inner, max_size=3).map(
            lambda items: "{" + ", ".join(f"k{n}: {item}" for n, item in enumerate(items)) + "}"
        ),
    ),
    max_leaves=4,
)
KEYS = ("id", "question", "expected", "no_answer", "scope", "tags", "split", "must_pass", "note", "other")


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), YAML_VALUES, max_size=6), max_size=3), YAML_VALUES)
def test_any_shape_of_case_is_parsed_or_refused_with_a_line(cases, floor) -> None:
    rows = "".join(
        "- {" + ", ".join(f"{key}: {value}" for key, value in case.items()) + "}\n" for case in cases
    )
    golden, faults = parsed(f"floor: {floor}\ncases:\n{rows}")
    assert (golden is None) == bool(faults)
    assert all(fault["line"] is not None for fault in faults)


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=12)


@given(st.permutations(range(4)), st.lists(WORDS, min_size=4, max_size=4))
def test_the_order_of_cases_is_no_part_of_a_sets_identity(order, words) -> None:
    cases = [
        GoldenCase(id=str(number), question=word, expected=(Place("file", word),))
        for number, word in enumerate(words)
    ]
    one = GoldenSet(floor=0, limit=None, cases=tuple(cases))
    other = GoldenSet(floor=4, limit=9, cases=tuple(cases[number] for number in order))
    assert one.digest == other.digest != canonical_digest({})


@given(
    st.integers(0, 30),
    st.integers(0, 30),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", "# é\n", "\ufeff"]),
)
def test_raising_a_floor_changes_only_its_line_and_can_be_read_back(
    old, rise, written, windows, head
) -> None:
    new = old + rise if written else rise
    text = head + (f"floor: {old} # why\n" if written else "") + "cases:\n" + "- {}\n" * 60
    text = text.replace("\n", "\r\n") if windows else text
    raised = raise_floor(text, new_floor=new)
    assert read_floor(raised) == (new if written or new else None)
    without = [line for line in raised.splitlines(keepends=True) if "floor:" not in line]
    assert [line for line in text.splitlines(keepends=True) if "floor:" not in line] == (
        without if written or not new or head != "\ufeff" else [f"\ufeff{without[0]}", *without[1:]]
    )
