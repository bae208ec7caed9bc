"""The rules of the house that can be read off the source: how queries are ordered, and others of their kind."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from sources import TOP, modules, nodes_of, tree_of


@pytest.mark.parametrize("package", ["rag_core", "medir"])
def test_the_picture_of_the_house_shows_the_layers_that_are_checked(package: str) -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (layers,) = (each["layers"] for each in contracts if each.get("containers") == [package])
    drawn = (TOP / "docs" / "architecture.md").read_text(encoding="utf-8").split(f"subgraph {package}\n")[1]
    assert re.findall(r'\["(.+?)"\]', drawn.split("\n  end\n")[0]) == layers


# The last keys of an order that are unique within what is ordered, and why.
STABLE_LAST_KEYS = {
    "ordinal": "within a place",
    "number": "a migration's, or an ordinal counted from 1",
    "id": "of a row that no reindex replaces",
    "seq": "within a session",
    "search_id": "one row a search",
    "scope": "one row a scope",
    "project_id": "one row a project",
    "coalesce(source_path, session_id)": "one row a place",
    "lexeme": "distinct within its key",
    "language": "distinct where it is selected",
    "actor_id": "one vote an actor and hit",
    "embedding_model": "nothing else is selected",
    "position": "of the elements of an array",
    "rank": "of the hits of one search, or one row a verdict and rank",
}


def queries() -> Iterator[tuple[str, str]]:
    """Every text in `rag_core` that orders rows, with the file and line that it stands in."""
    for path in modules("rag_core"):
        for node in nodes_of(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "order by" in node.value:
                yield f"{path.relative_to(TOP)}:{node.lineno}", node.value


def orders(query: str) -> Iterator[str]:
    """The keys of each `order by` but those of percentiles, whose outcome no order of equals can change."""
    for match in re.finditer(r"(within group \()?order by\b", query):
        if match.group(1):
            continue
        depth, keys = 0, ""
        for token in re.findall(r"\w+|\s+|\S", query[match.end() :]):
            depth += {"(": 1, ")": -1}.get(token, 0)
            if depth < 0 or (depth == 0 and token in ("limit", "offset", "rows")):
                break
            keys += token
        yield " ".join(keys.split())


def last_key(keys: str) -> str:
    parts = re.split(r",\s*(?![^()]*\))", keys)
    bare = re.sub(r'( collate "C"| (asc|desc)| nulls (first|last))+$', "", parts[-1])
    return re.sub(r"^\w+\.", "", bare).strip('"')


QUERIES = [pytest.param(*found, id=found[0]) for found in queries()]


@pytest.mark.parametrize(("where", "query"), QUERIES)
def test_every_order_ends_with_a_key_that_is_unique(where: str, query: str) -> None:
    for keys in orders(query):
        assert last_key(keys) in STABLE_LAST_KEYS, f"{where}: order by {keys}"


@pytest.mark.parametrize(("where", "query"), QUERIES)
def test_no_order_of_chunks_hangs_on_their_ids_which_a_reindex_changes(where: str, query: str) -> None:
    if re.search(r"\bfrom (chunks|scoped)\b", query):
        assert not any(re.search(r"\bid\b", keys) for keys in orders(query)), where


def test_the_check_of_orders_sees_what_it_looks_for() -> None:
    query = 'select row_number() over (order by a, coalesce(b, c) collate "C") from t order by s.x desc, s.id limit 3'
    assert list(orders(query)) == ['a, coalesce(b, c) collate "C"', "s.x desc, s.id"]
    assert [last_key(keys) for keys in orders(query)] == ["coalesce(b, c)", "id"]
    assert list(orders("percentile_cont(0.5) within group (order by latency_ms)")) == []
    assert last_key("score desc") not in STABLE_LAST_KEYS


def test_sql_is_never_built_from_text() -> None:
    for path in modules("rag_core"):
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in (
                "execute",
                "executemany",
                "copy",
            ):  # fmt: skip
                built = node.args and isinstance(node.args[0], ast.JoinedStr | ast.BinOp)
                assert not built, f"{path.relative_to(TOP)}:{node.lineno}"


# shapes on the wire have the names of what they show
WIRE = ("medir/contract/", "medir/http_api/answers.py", "medir/agent_tools/results.py")


def types_named(file: Path) -> Iterator[tuple[str, str]]:
    """The classes of a module, and the types that it gives a name: each with what tells it from another."""
    for node in tree_of(file).body:
        if isinstance(node, ast.ClassDef):
            yield node.name, str(file.relative_to(TOP))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript):
            for target in node.targets:
                if isinstance(target, ast.Name) and not target.id.isupper():
                    yield target.id, ast.unparse(node.value)


def test_a_name_is_one_type() -> None:
    types: dict[str, set[str]] = {}
    for package in ("rag_core", "medir"):
        for file in modules(package):
            if not str(file.relative_to(TOP)).startswith(WIRE):
                for name, told in types_named(file):
                    types.setdefault(name, set()).add(told)
    assert {"Run", "Place", "Progress"} <= set(types)
    several = {name for name, told in types.items() if len(told) > 1 and not name.startswith("_")}
    # two ideas with one name still: what a project searches by, and what a report's window was searched by
    assert several == set()


def streamlit_parts() -> Iterator[str]:
    """Where something of the pages is called a fragment or a dialog of Streamlit's own."""
    for path in [TOP / "app.py", *modules("medir")]:
        for node in nodes_of(path):
            named = [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []
            if isinstance(node, ast.Attribute):
                named = [node.attr]
            if isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("streamlit"):
                continue
            if any(name.split("_")[-1] in ("fragment", "dialog") for name in named):
                yield path.relative_to(TOP).as_posix()


def test_fragments_and_dialogs_are_made_in_one_place_where_each_run_asks_who_is_there() -> None:
    assert set(streamlit_parts()) == {"medir/page_kit/parts.py"}


def test_every_table_of_a_page_says_what_stands_where_there_is_nothing() -> None:
    tables = [
        (file, call)
        for file in (TOP / "medir").rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "st.dataframe"
    ]
    assert tables
    # Streamlit writes a grey `None` otherwise
    bare = [
        f"{file.relative_to(TOP)}:{call.lineno}"
        for file, call in tables
        if not any(
            keyword.arg == "placeholder" and ast.unparse(keyword.value) == "DASH" for keyword in call.keywords
        )
    ]
    assert bare == []
