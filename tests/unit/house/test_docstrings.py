"""One dialect of docstring: prose, then Google's sections."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
SECTIONS = ("Args", "Returns", "Raises", "Examples")
# what other dialects call these, or where a section stands in a line of prose
FOREIGN = re.compile(
    r"^\s*:(param|type|return|rtype|raises?)\b"
    r"|^\s*(Arguments|Parameters|Params|Return|Yields|Raise|Example|Attributes|Notes?|See Also):?$"
    r"|^\s*-{3,}$"
    r"|^\s*(Args|Returns|Raises|Examples): ?\S"
    r"|\. Returns |\b[Ee]rrors as (the|`)",
    re.MULTILINE,
)


def docstrings() -> Iterator[tuple[str, str]]:
    for folder in ("rag_core", "medir", "bench"):
        for path in sorted((TOP / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    line = getattr(node, "lineno", 1)
                    yield f"{path.relative_to(TOP)}:{line}", ast.get_docstring(node) or ""


def test_sections_are_googles_and_each_stands_on_a_line_of_its_own() -> None:
    assert [where for where, text in docstrings() if FOREIGN.search(text)] == []


def test_sections_come_in_one_order() -> None:
    for where, text in docstrings():
        found = [line.removesuffix(":") for line in text.splitlines() if line.removesuffix(":") in SECTIONS]
        assert found == sorted(found, key=SECTIONS.index), where


def test_the_check_sees_other_dialects() -> None:
    for text in (
        "Rank.\n\n:param text: The text.",
        "Rank.\n\nParameters\n----------\ntext : str",
        "Rank.\n\nAttributes:\n    a: The first.",
        "Rank.\n\nExamples: `a`.",
        "Delete. Returns how many. Errors as `rank`.",
    ):
        assert FOREIGN.search(text), text
