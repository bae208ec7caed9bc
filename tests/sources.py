"""The product's own source, as its rules are read off it."""

import ast
import functools
from collections.abc import Sequence
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]


def modules(package: str) -> list[Path]:
    """The files of a package, in order."""
    return sorted((TOP / package).rglob("*.py"))


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """What a file says. Every worker of a parallel run collects these rules, so none reads a file twice."""
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def nodes_of(path: Path) -> Sequence[ast.AST]:
    """All of a file's syntax, outer before inner."""
    return tuple(ast.walk(tree_of(path)))
