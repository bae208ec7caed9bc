"""The page of hard cases is complete, and every test that it names exists."""

import re
from pathlib import Path

TOP = Path(__file__).parents[3]
PAGE = (TOP / "docs" / "cases.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if re.match(r"\| C\d\d ", line)
]


def test_every_case_of_the_requirement_list_has_one_row() -> None:
    left_out = {3, 4, 13, 14, 15, 16, 20, 23, 24, 25, 29, 37, 40, 56, 62, 67, 69}

    assert sorted(row[0] for row in ROWS) == [
        f"C{number:02}" for number in range(1, 88) if number not in left_out
    ]
    assert len(ROWS) == 70


def test_every_test_that_is_named_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)

    missing = [
        f"{file}::{name}"
        for file, name in named
        if not re.search(rf"^\s*def {name}\(", (TOP / file).read_text(encoding="utf-8"), re.MULTILINE)
    ]

    assert missing == []
    assert len(named) > 150


def test_a_case_without_a_test_has_a_reason() -> None:
    assert [row[0] for row in ROWS if row[2] == "-" and len(row[3].rstrip(" |")) < 20] == []
