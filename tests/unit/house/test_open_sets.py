"""Sets that grow: a member that is added is asked for wherever the set is mapped, and is never taken for another."""

import ast
import re
from collections.abc import Collection, Iterator, Mapping

import pytest

from sources import TOP, modules, tree_of

# Tables that hold some members on purpose, and why.
PARTIAL = {
    ("rag_core/calibration/replay.py", "FATES"): "`ABSENT` is no candidate's fate",
    ("rag_core/evaluation/measuring.py", "known"): "of the others, a question's reason is all that is known",
    ("rag_core/figures/case_flow.py", "_ENDS"): "what is in no list flows nowhere",
    ("rag_core/lexical/postings.py", "_PARTS"): "the others are scored by PostgreSQL, row by row",
    ("rag_core/index/sources_gone.py", "_REMEDIES"): "of the others, nothing is to be done",
}

# Tables over a set of literals whose keys come as plain texts, from the database.
KEYED = {
    ("medir/cli/report_tables.py", "_VERDICTS"): "VoteVerdict",
    ("medir/pages/report/one_search.py", "_SAID"): "VoteVerdict",
}

# Who may tell one member from the others by its name; everybody else asks what is true of it.
TOLD_APART = {
    "Fusion": {
        "rag_core/model/settings.py",
        # the weighted sum's scale is the one that thresholds are set on
        "rag_core/calibration/choice/contenders.py",
        "rag_core/calibration/choice/families.py",
    },
    "MeasureKind": {"rag_core/metrics/measures.py", "rag_core/metrics/kernels.py"},
    "LexicalFunction": {"rag_core/model/settings.py", "rag_core/settings/presets.py"},
    "LexicalOperator": {
        "rag_core/model/settings.py",
        "rag_core/lexical/postings.py",
        "rag_core/lexical/tsquery.py",
        "rag_core/database/search/candidates.py",
        "rag_core/database/search/lexical_query.py",
    },
}


def trees() -> dict[str, ast.Module]:
    files = [*modules("medir"), *modules("rag_core")]
    return {path.relative_to(TOP).as_posix(): tree_of(path) for path in files}


TREES = trees()


def strings(node: ast.expr) -> list[str]:
    return [
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]


def alias_of_literals(node: ast.stmt) -> str | None:
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Subscript):
        return None
    name, generic = node.targets[0], node.value.value
    is_alias = isinstance(generic, ast.Name) and generic.id == "Literal"
    return name.id if is_alias and isinstance(name, ast.Name) else None


def sets_of(modules: Mapping[str, ast.Module]) -> dict[str, list[set[str]]]:
    """Every enumeration by its members' names, every alias of literals by its texts; two modules may use one name."""
    found: dict[str, list[set[str]]] = {}
    for node in (node for tree in modules.values() for node in tree.body):
        if isinstance(node, ast.ClassDef) and any(
            isinstance(base, ast.Name) and base.id.endswith("Enum") for base in node.bases
        ):
            members = {
                each.targets[0].id
                for each in node.body
                if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
            }
            found.setdefault(node.name, []).append(members)
        alias = alias_of_literals(node)
        if alias is not None:
            found.setdefault(alias, []).append(set(strings(node)))
    return found


def assigned(tree: ast.Module) -> Iterator[tuple[ast.Dict, str, ast.expr | None]]:
    """Every dictionary with the name that it is assigned to, wrapped or not, and that name's annotation."""
    named: dict[ast.AST, tuple[str, ast.expr | None]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign | ast.Assign) and node.value is not None:
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            annotation = node.annotation if isinstance(node, ast.AnnAssign) else None
            if isinstance(target, ast.Name):
                named |= dict.fromkeys(ast.walk(node.value), (target.id, annotation))
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict) and node.keys:
            yield node, *named.get(node, (f"line {node.lineno}", None))


def tables(file: str, tree: ast.Module, sets: Collection[str]) -> Iterator[tuple[str, str, set[str]]]:
    """Every dictionary over members of a set: its name or line, the set's name, the members that it holds."""
    for node, name, annotation in assigned(tree):
        members = [
            key
            for key in node.keys
            if isinstance(key, ast.Attribute) and isinstance(key.value, ast.Name) and key.value.id in sets
        ]
        for owner in {key.value.id for key in members if isinstance(key.value, ast.Name)}:
            yield name, owner, {key.attr for key in members}
        of = KEYED.get((file, name))
        if isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Tuple):
            first = annotation.slice.elts[0]
            of = first.id if isinstance(first, ast.Name) else None
        if of in sets and all(isinstance(key, ast.Constant) for key in node.keys):
            yield name, of, {str(key.value) for key in node.keys if isinstance(key, ast.Constant)}


SETS = sets_of(TREES)
TABLES = [(file, *table) for file, tree in TREES.items() for table in tables(file, tree, SETS)]


@pytest.mark.parametrize(("file", "name", "of", "held"), TABLES)
def test_a_table_over_a_set_holds_every_member(file: str, name: str, of: str, held: set[str]) -> None:
    if (file, name) in PARTIAL:
        assert held not in SETS[of], "the table has become whole"
    else:
        assert held in SETS[of]


def test_every_table_that_is_named_here_is_there() -> None:
    assert {*PARTIAL, *KEYED} <= {(file, name) for file, name, *_ in TABLES}


def names_member(tree: ast.Module, of: str) -> bool:
    """Whether a module names a member outside a table's keys."""
    keys = {key for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys}
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == of
        and node.attr in SETS[of][0]
        and node not in keys
        for node in ast.walk(tree)
    )


@pytest.mark.parametrize("of", list(TOLD_APART))
def test_members_are_told_apart_in_their_own_rooms_only(of: str) -> None:
    assert {file for file, tree in TREES.items() if names_member(tree, of)} == TOLD_APART[of]


def texts(tree: ast.Module) -> Iterator[str]:
    """Every text of a module but its docstrings and those of its constants."""
    documenting = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in documenting:
            yield node.value


def test_what_is_indexed_is_named_by_the_registry_only() -> None:
    named = {
        file
        for file, tree in TREES.items()
        if any(text in (".md", "*.md") or re.search(r"\bMarkdown\b", text) for text in texts(tree))
    }
    assert named == {"rag_core/chunking/chunker.py"}


def test_the_check_of_tables_sees_what_it_looks_for() -> None:
    tree = ast.parse(
        "class Colour(StrEnum):\n"
        "    RED = 'red'\n"
        "    BLUE = 'blue'\n"
        "Side = Literal['left', 'right']\n"
        "WHOLE = {Colour.RED: 1, Colour.BLUE: 2}\n"
        "PART: Mapping[Colour, int] = MappingProxyType({Colour.RED: 1})\n"
        "SIDES: dict[Side, int] = {'left': 1}\n"
        "def told():\n"
        "    return {Colour.BLUE: 1}[colour]\n"
    )
    sets = sets_of({"a.py": tree})
    assert sets == {"Colour": [{"RED", "BLUE"}], "Side": [{"left", "right"}]}
    assert sorted(tables("a.py", tree, sets)) == [
        ("PART", "Colour", {"RED"}),
        ("SIDES", "Side", {"left"}),
        ("WHOLE", "Colour", {"RED", "BLUE"}),
        ("line 9", "Colour", {"BLUE"}),
    ]
