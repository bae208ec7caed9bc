"""The floor in the text of a cases file: read, raised, never lowered, nothing else touched."""

import pytest

from rag_core.errors import FaultyGoldenSet, InvalidInput, Refused
from rag_core.golden.floor import raise_floor, read_floor

CASES = "cases:\n- {id: a, question: b, expected: c.md}\n- {id: d, question: e, expected: f.md}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"floor: 1\n{CASES}", f"floor: 2\n{CASES}"),
        (f"# piso\n\nfloor:   1   # só sobe\n{CASES}", f"# piso\n\nfloor:   2   # só sobe\n{CASES}"),
        (f"{CASES}floor: 1", f"{CASES}floor: 2"),
        (f'"floor": 1\n{CASES}', f'"floor": 2\n{CASES}'),
        ("{floor: 1, cases: [{}, {}]}", "{floor: 2, cases: [{}, {}]}"),
        (f"\ufefffloor: 1\n{CASES}".replace("\n", "\r\n"), f"\ufefffloor: 2\n{CASES}".replace("\n", "\r\n")),
        (f"note: |\n  floor: 1\nfloor: 1\n{CASES}", f"note: |\n  floor: 1\nfloor: 2\n{CASES}"),
    ],
)
def test_only_the_number_changes(before: str, after: str) -> None:
    assert raise_floor(before, new_floor=2) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (CASES, f"floor: 2\n{CASES}"),
        (f"# um comentário\n---\nlimit: 5\n{CASES}", f"# um comentário\n---\nfloor: 2\nlimit: 5\n{CASES}"),
        (f"\ufeff{CASES}".replace("\n", "\r\n"), f"\ufefffloor: 2\n{CASES}".replace("\n", "\r\n")),
        ("{cases: [{}, {}]}\n", "{floor: 2, cases: [{}, {}]}\n"),
    ],
)
def test_a_missing_floor_is_written_above_the_first_key(before: str, after: str) -> None:
    assert raise_floor(before, new_floor=2) == after


def test_raising_two_digits_keeps_the_lines_below_where_they_were() -> None:
    many = "cases:\n" + "- {}\n" * 12
    assert raise_floor(f"floor: 9\n{many}", new_floor=12) == f"floor: 12\n{many}"


@pytest.mark.parametrize("text", [f"floor: 2\n{CASES}", f"floor: 2 # x\r\n{CASES}"])
def test_the_floor_that_stands_already_changes_nothing(text: str) -> None:
    assert raise_floor(text, new_floor=2) == text


def test_a_missing_floor_is_zero_already() -> None:
    assert raise_floor(CASES, new_floor=0) == CASES


def test_the_floor_is_never_lowered() -> None:
    with pytest.raises(Refused, match="The floor is 2 and only rises; 1 is lower"):
        raise_floor(f"floor: 2\n{CASES}", new_floor=1)


def test_the_floor_is_never_raised_above_the_number_of_cases() -> None:
    with pytest.raises(Refused, match="the file has 2 cases"):
        raise_floor(f"floor: 2\n{CASES}", new_floor=3)


@pytest.mark.parametrize("floor", ["'1'", "one", "&f 1", "!!int 1", "0x1", "", "-1.5"])
def test_a_floor_that_is_no_plain_number_is_left_alone(floor: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        raise_floor(f"floor: {floor}\n{CASES}", new_floor=2)
    assert caught.value.where == {"line": 1, "field": "floor"}


@pytest.mark.parametrize("text", ["", "- a\n", "text"])
def test_a_file_that_is_no_mapping_has_no_floor_to_raise(text: str) -> None:
    with pytest.raises(InvalidInput):
        raise_floor(text, new_floor=1)


def test_a_file_that_is_no_yaml_is_refused_with_its_line() -> None:
    with pytest.raises(FaultyGoldenSet) as caught:
        raise_floor("floor: 1\ncases: ['\n", new_floor=1)
    assert caught.value.where == {"file": "the cases file", "line": 3}


@pytest.mark.parametrize(
    ("text", "floor"),
    [
        ("floor: 17\ncases: []\n", 17),
        ("floor: 17 # comment\r\ncases: []\r\n", 17),
        ("\ufefffloor: 17\n", 17),
        ("{cases: [], floor: 17}", 17),
        ("floor: 17\ncases: [broken\n", 17),
        ("cases: []\n", None),
        ("floor:\n", None),
        ("floor: many\n", None),
        ("floor: 017\n", None),
        ("# floor: 17\n", None),
        ("- floor: 17\n", None),
        ("cases: [floor: 17", None),
        ("", None),
    ],
)
def test_the_floor_of_any_version_of_a_file_is_read_where_it_can_be(text: str, floor: int | None) -> None:
    assert read_floor(text) == floor
