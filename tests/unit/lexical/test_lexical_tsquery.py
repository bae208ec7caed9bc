"""Terms as tsqueries, and how few terms a chunk can hold and still be among the best."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.lexical.rank import WORTH, fewest_terms, most_for_terms
from rag_core.lexical.tsquery import all_terms, any_of, at_least, quoted


def matches(expression: str, held: frozenset[str]) -> bool:
    """What PostgreSQL would say: & binds stronger than |, both as Python's."""
    values = re.sub(r"'(\w+)'", lambda found: str(found[1] in held), expression)
    return bool(eval(values))


def test_quotes_and_backslashes_are_doubled() -> None:
    assert quoted("d'água") == "'d''água'"
    assert quoted("c:\\temp") == "'c:\\\\temp'"


def test_any_and_all() -> None:
    assert any_of(("a", "b")) == "'a' | 'b'"
    assert all_terms((("a",), ("b", "c"))) == "'a' & ('b' | 'c')"


@pytest.mark.parametrize("count", range(1, 8))
def test_who_holds_enough_terms_matches_and_nobody_else(count: int) -> None:
    names = [f"t{number}" for number in range(count)]
    for needed in range(1, count + 1):
        expression = at_least(needed, [(name,) for name in names])
        for size in range(count + 1):
            for held in itertools.combinations(names, size):
                assert matches(expression, frozenset(held)) == (size >= needed)


def test_a_term_is_held_in_any_of_its_spellings() -> None:
    expression = at_least(2, [("a", "b"), ("c",), ("d",)])
    assert matches(expression, frozenset({"b", "d"}))
    assert not matches(expression, frozenset({"a", "b"}))


@given(st.data())
def test_of_many_terms_nobody_who_holds_enough_is_missed_and_the_query_stays_short(
    data: st.DataObject,
) -> None:
    count = data.draw(st.integers(8, 60))
    needed = data.draw(st.integers(1, count))
    names = [f"t{number}" for number in range(count)]
    held = data.draw(st.permutations(names))[: data.draw(st.integers(needed, count))]
    expression = at_least(needed, [(name,) for name in names])
    assert expression.count("'t") <= 150
    assert matches(expression, frozenset(held))


def test_the_rarest_terms_at_the_end_are_asked_for_first() -> None:
    assert at_least(2, [("a",), ("b",), ("c",)]) == "'c' & ('b' | 'a') | 'b' & 'a'"
    assert at_least(40, [(f"t{number}",) for number in range(60)]).startswith("'t59' ")


def test_a_term_is_worth_what_ts_rank_adds_for_it() -> None:
    assert WORTH[0] == 0.0
    assert WORTH[1] == pytest.approx(0.0607927, abs=1e-7)  # 0.1 / 1.644934
    assert WORTH[2] == pytest.approx(0.0607927 * 1.25, abs=1e-6)
    assert len(WORTH) == 257
    assert max(WORTH) < 0.1


def test_a_score_needs_at_least_so_many_terms() -> None:
    # one of two terms reaches at most 0.05, which normalisation 32 makes 0.0476
    assert most_for_terms(1, 2) == pytest.approx(0.05 / 1.05)
    assert fewest_terms(0.047, 2) == 1
    assert fewest_terms(0.048, 2) == 2
    assert fewest_terms(0.0, 5) == 1
    assert fewest_terms(1.0, 5) == 5


@given(st.integers(1, 30), st.lists(st.integers(0, 256), min_size=1, max_size=30))
def test_no_chunk_scores_more_than_the_terms_it_holds_allow(terms: int, often: list[int]) -> None:
    often = often[:terms]
    mean = sum(WORTH[times] for times in often) / terms
    held = sum(times > 0 for times in often)
    assert fewest_terms(mean / (mean + 1), terms) <= max(held, 1)
