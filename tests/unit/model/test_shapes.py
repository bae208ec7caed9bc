"""A shape is written once: its fields are the keys of the JSON, and what documents and checks it reads the same."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from pydantic import TypeAdapter, ValidationError

from medir.contract.search import SearchAnswer
from medir.http_api.examples import COVERAGE, RECORDED_SEARCH, REPORT, RUN, SEARCH, VOTE
from rag_core.model import Scope
from rag_core.model.shape import Shape, keyed


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(Shape):
    from_: str
    whole_rank: int | None
    notice: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(Shape):
    scope: str
    parts: tuple[Part, ...]
    by_name: dict[str, Part]


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    scope: Scope
    from_: datetime
    whole_rank: int | None


def test_keys_are_in_camel_case_null_is_told_and_what_has_its_default_is_left_out() -> None:
    part = Part(from_="a", whole_rank=None)
    assert Whole(
        scope="docs", parts=(part,), by_name={"x": Part(from_="b", whole_rank=1, notice="n")}
    ).to_json() == {
        "scope": "docs",
        "parts": [{"from": "a", "wholeRank": None}],
        "byName": {"x": {"from": "b", "wholeRank": 1, "notice": "n"}},
    }


def test_a_shape_is_drawn_by_name_with_words_for_enums_and_iso_for_times() -> None:
    value = Value(scope=Scope.ADR, from_=datetime(2026, 1, 2, tzinfo=UTC), whole_rank=3)
    assert Part.drawn(value).to_json() == {"from": "2026-01-02T00:00:00+00:00", "wholeRank": 3}
    assert Whole.drawn(value, parts=(), by_name={}).scope == "adr"


def test_a_shape_is_read_from_what_it_was_told_as_lists_as_tuples_and_what_is_missing_by_its_default() -> (
    None
):
    part = Part(from_="a", whole_rank=None, notice="n")
    assert Part.read(part.to_json()) == part
    assert Part.read({"from": "a", "beside": 1}, whole_rank=2) == Part(from_="a", whole_rank=2)
    assert Whole.read({"scope": "docs", "parts": [], "byName": {}}).parts == ()


def test_some_attributes_of_a_value_are_a_part_of_an_object_by_the_same_rules() -> None:
    value = Value(scope=Scope.ADR, from_=datetime(2026, 1, 2, tzinfo=UTC), whole_rank=None)
    assert keyed(value, "whole_rank", "from_", "scope") == {
        "wholeRank": None,
        "from": "2026-01-02T00:00:00+00:00",
        "scope": "adr",
    }


def test_what_a_value_lacks_is_no_null_but_a_fault() -> None:
    with pytest.raises(TypeError, match="whole_rank"):
        Part.drawn(object(), from_="a")


@pytest.mark.parametrize("example", [SEARCH, VOTE, RUN, COVERAGE, REPORT, RECORDED_SEARCH])
def test_the_examples_of_the_api_are_documents_of_their_shapes(example: Shape) -> None:
    told = TypeAdapter(type(example)).dump_json(example, by_alias=True)
    assert TypeAdapter(type(example)).validate_json(told, strict=True, extra="forbid") == example


@pytest.mark.parametrize("change", [{"more": 1}, {"degraded": "no"}, {"degradedReason": "other"}])
def test_a_document_with_another_key_type_or_word_is_none_of_the_shape(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(SearchAnswer).validate_json(
            json.dumps(SEARCH.to_json() | change), strict=True, extra="forbid"
        )
