"""HTML comments are left out; a comment that a reader sees is text."""

import pytest

from rag_core.chunking import chunk_document
from rag_core.model import Place, Scope


def contents(text: str) -> list[str]:
    return [chunk.content for chunk in chunk_document(text, place=Place("file", "a.md"), scope=Scope.DOCS)]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("a <!-- x --> b\n", "a  b"),
        ("a\n<!-- x -->\nb\n", "a\nb"),
        ("a\n\n<!-- x\n\n# y\n\nz -->\n\nb\n", "a\n\n\nb"),
        ("<!-- x --> b\n", " b"),
        ("a <!-- x\ny --> b\n", "a  b"),
        ("> a <!-- x\n> y --> b\n", "> a  b"),
        ("- a <!-- x --> b\n  - <!-- y --> c\n", "- a  b\n  -  c"),
        ("a<!-- x --><!-- y -->b\n", "ab"),
        ("a <!--> b\n", "a  b"),
        ("a <!---> b\n", "a  b"),
        ("a <!----> b\n", "a  b"),
        ("a <!-- x -- y --> b\n", "a  b"),
        ("<div>\nb <!-- x -->\nc <!-- y --> d\n</div>\n", "<div>\nb \nc  d\n</div>"),
        ("<pre>\n<!-- x -->\nb\n</pre>\n", "<pre>\nb\n</pre>"),
        ("![a <!-- x --> b](c.png)\n", "![a  b](c.png)"),
        ("[a <!-- x --> b](c.md)\n", "[a  b](c.md)"),
        ("**a <!-- x --> b**\n", "**a  b**"),
        ("a <!-- `x --> b` c\n", "a  b` c"),
        ("# T <!-- x -->\n\nb\n", "# T \n\nb"),
        ("T <!-- x -->\n===\n\nb\n", "T \n===\n\nb"),
        ("<!--> a -->\n", " a -->"),
        ("<!-- x --> a <!-- y\n", " a <!-- y"),
        ("a\n\n<!-- sem fim\n\n# x\n", "a"),
        ("a\n\n  <!-- sem fim\n\n# x\n", "a"),
    ],
)
def test_comments_are_left_out(text: str, content: str) -> None:
    assert contents(text) == [content]


@pytest.mark.parametrize(
    "text",
    [
        "```\n<!-- x -->\n```",
        "~~~html\n<!-- x\ny -->\n~~~",
        "    <!-- x -->",
        "a `<!-- x -->` b",
        "a ``<!-- ` -->`` b",
        "a \\<!-- x --> b",
        "a <!-- sem fim",
        "a <!- x -> b",
        "<div>\na <!-- sem fim\n</div>",
        'a <i title="<!-- x -->">b</i>',
        "<script>\n<!-- x -->\n</script>",
        "<style>\n<!-- x -->\n</style>",
        "a --> b",
    ],
)
def test_what_a_reader_sees_is_kept(text: str) -> None:
    assert contents(text) == [text]


def test_of_two_equal_comments_the_one_in_code_is_kept() -> None:
    assert contents("`<!-- x -->` e <!-- x --> e `<!-- x -->`\n") == ["`<!-- x -->` e  e `<!-- x -->`"]
    assert contents("a <!-- x --> e `<!-- x -->`\n\nb <!-- x --> c\n") == ["a  e `<!-- x -->`\n\nb  c"]


def test_a_line_that_begins_with_a_comment_is_html_in_which_backticks_are_no_code() -> None:
    assert contents("<!-- x -->a `<!-- y -->`\n\n`<!-- z -->`\n") == ["a ``\n\n`<!-- z -->`"]


def test_comments_in_cells_are_told_apart_from_those_in_code() -> None:
    text = "| a | b |\n|---|---|\n| `<!-- x -->` | 1 <!-- x --> |\n| <!-- y --> | `-->` `<!-- z -->` | \n"
    assert contents(text) == ["| a | b |\n|---|---|\n| `<!-- x -->` | 1  |\n|  | `-->` `<!-- z -->` |"]


def test_a_comment_does_not_span_cells() -> None:
    text = "| a | b |\n|---|---|\n| <!-- x | y --> |"
    assert contents(text) == [text]


def test_a_table_with_comments_is_still_split_by_its_rows() -> None:
    header = "| a | b |\n|---|---|\n"
    text = "<!-- x -->\n\n" + header + f"| 1 <!-- y --> | {'z' * 200} |\n" * 12
    assert all(content.startswith(header + "| 1  | zzz") for content in contents(text))


def test_a_comment_fifteen_lists_deep_is_left_out() -> None:
    lists = "".join(f"{'  ' * level}- n\n" for level in range(15))
    assert contents(lists + "  " * 15 + "- a <!-- x --> b\n") == [lists + "  " * 15 + "- a  b"]


def test_a_comment_between_sections_moves_no_boundary() -> None:
    chunks = chunk_document(
        "# A\na\n\n<!-- x -->\n# B\n<!-- y -->\nb\n", place=Place("file", "a.md"), scope=Scope.DOCS
    )
    assert [(chunk.origin.heading_path, chunk.content) for chunk in chunks] == [
        (("A",), "# A\na"),
        (("B",), "# B\nb"),
    ]
