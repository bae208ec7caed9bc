"""What holds for any hits and any judgements: equality with the field's own library, and honest denominators."""

from typing import Any

import ir_measures
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rag_core.metrics.comparison import compare
from rag_core.metrics.kernels import JudgedHits, ceilings, mean, measure_hits
from rag_core.metrics.measures import MeasureKind, parse_measure
from rag_core.metrics.significance import holm, randomisation_test, sign_test

# a question: the place of each hit in order, and the expected places, some of which no search finds
QUESTIONS = st.lists(
    st.tuples(
        st.lists(st.integers(0, 7), max_size=8),
        st.sets(st.integers(0, 11), min_size=1, max_size=6),
    ),
    min_size=1,
    max_size=6,
)
NAMES = st.sampled_from(
    ["passed", "hit@1", "hit@3", "mrr", "ndcg@1", "ndcg@5", "p@3", "p@5", "recall@2", "recall@5"]
)


def judged(questions: list[tuple[list[int], set[int]]], *, limit: int = 8) -> JudgedHits:
    width = max(len(hits) for hits, _ in questions)
    places = np.full((len(questions), width), -1)
    relevant = np.zeros(places.shape, dtype=bool)
    for row, (hits, expected) in enumerate(questions):
        places[row, : len(hits)] = hits
        relevant[row, : len(hits)] = [place in expected for place in hits]
    return JudgedHits(
        relevant=relevant,
        places=places,
        expected=np.array([len(expected) for _, expected in questions]),
        limit=limit,
    )


def theirs(questions: list[tuple[list[int], set[int]]], measure: Any, *, of_places: bool) -> list[float]:
    """`ir-measures` on an export of places or of chunks, with strictly decreasing scores and binary gains."""
    qrels, run = [], []
    for row, (hits, expected) in enumerate(questions):
        question = f"q{row}"
        shown = [f"p{place}" for place in dict.fromkeys(hits)]
        wanted = {f"p{place}" for place in expected}
        if not of_places:
            shown = [f"c{position}" for position in range(len(hits))]
            wanted = {f"c{position}" for position, place in enumerate(hits) if place in expected} | {
                "unfound"
            }
        qrels += [ir_measures.Qrel(question, document, 1) for document in sorted(wanted)]
        run += [ir_measures.ScoredDoc(question, document, float(-at)) for at, document in enumerate(shown)]
    values = {value.query_id: value.value for value in ir_measures.iter_calc([measure], qrels, run)}
    return [values[f"q{row}"] for row in range(len(questions))]


@given(QUESTIONS, st.integers(1, 9))
def test_every_measure_equals_ir_measures_question_by_question(
    questions: list[tuple[list[int], set[int]]], k: int
) -> None:
    hits = judged(questions)
    pairs = (
        (f"p@{k}", ir_measures.P @ k, True),
        (f"recall@{k}", ir_measures.R @ k, True),
        (f"ndcg@{k}", ir_measures.nDCG @ k, True),
        (f"hit@{k}", ir_measures.Success @ k, False),
        ("mrr", ir_measures.RR, False),
    )
    for name, measure, of_places in pairs:
        ours = measure_hits(hits, parse_measure(name))
        assert np.allclose(ours, theirs(questions, measure, of_places=of_places), rtol=0, atol=1e-12), name


@given(QUESTIONS, NAMES)
def test_a_value_lies_between_nothing_and_its_ceiling(
    questions: list[tuple[list[int], set[int]]], name: str
) -> None:
    hits, measure = judged(questions), parse_measure(name)
    values = measure_hits(hits, measure)
    assert np.all(values >= 0)
    assert np.all(values <= ceilings(measure, hits.expected, hits.limit) + 1e-12)
    assert np.all(values <= 1 + 1e-12)


@given(QUESTIONS, NAMES)
def test_one_more_judged_question_without_hits_lowers_the_mean_as_it_must(
    questions: list[tuple[list[int], set[int]]], name: str
) -> None:
    measure = parse_measure(name)
    before = mean(measure_hits(judged(questions), measure))
    after = mean(measure_hits(judged([*questions, ([], {3})]), measure))
    assert before is not None
    assert after is not None
    assert np.isclose(after, before * len(questions) / (len(questions) + 1), rtol=0, atol=1e-12)


@given(QUESTIONS, NAMES, st.permutations(range(12)))
def test_renaming_places_changes_nothing(
    questions: list[tuple[list[int], set[int]]], name: str, names: list[int]
) -> None:
    renamed = [
        ([names[place] for place in hits], {names[place] for place in wanted}) for hits, wanted in questions
    ]
    measure = parse_measure(name)
    assert np.array_equal(measure_hits(judged(questions), measure), measure_hits(judged(renamed), measure))


@given(QUESTIONS)
def test_shorter_lists_never_have_more_precision(questions: list[tuple[list[int], set[int]]]) -> None:
    measure = parse_measure("p@5")
    assert measure.kind is MeasureKind.PRECISION
    shorter = [(hits[:-1], expected) for hits, expected in questions]
    assert np.all(measure_hits(judged(shorter), measure) <= measure_hits(judged(questions), measure))


@given(st.lists(st.floats(0, 1), max_size=6))
def test_holm_keeps_the_order_and_never_makes_a_find_likelier(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= a <= 1 for p, a in zip(p_values, adjusted, strict=True))
    assert sorted(range(len(p_values)), key=lambda i: (p_values[i], i)) == sorted(
        range(len(p_values)), key=lambda i: (adjusted[i], p_values[i], i)
    )


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=13))
def test_the_exact_randomisation_test_of_wins_and_losses_is_the_sign_test(signs: list[float]) -> None:
    p_value = randomisation_test(np.array(signs), seed=0)
    assert np.isclose(p_value, sign_test(signs.count(1.0), signs.count(-1.0)))


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=8))
def test_a_comparison_turned_around_changes_its_sign_and_nothing_else(
    pairs: list[tuple[float, float]],
) -> None:
    new, old = (np.array(values) for values in zip(*pairs, strict=True))
    forth, back = compare(new, old, seed=0, resamples=200), compare(old, new, seed=0, resamples=200)
    assert forth is not None
    assert back is not None
    assert (forth.won, forth.lost, forth.tied) == (back.lost, back.won, back.tied)
    assert forth.p_value == back.p_value
    assert np.isclose(forth.difference, -back.difference)
