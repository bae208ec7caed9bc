"""Front matter is data about the document: never text, and the first place to look for a title."""

import pytest

from rag_core.chunking import chunk_markdown
from rag_core.model import Place, Scope


def read(text: str) -> tuple[str | None, list[str]]:
    chunks = chunk_markdown(text, place=Place("file", "a.md"), scope=Scope.DOCS)
    titles = {chunk.origin.title for chunk in chunks}
    assert len(titles) == 1
    return titles.pop(), [chunk.content for chunk in chunks]


def test_front_matter_is_left_out_and_its_last_key_is_no_heading() -> None:
    text = "---\ntitle: Filas\nstatus: aceito\ntags: [a, b]\n---\n\n# Decisão\n\ntexto\n"
    assert read(text) == ("Filas", ["# Decisão\n\ntexto"])


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("title: Filas e tópicos", "Filas e tópicos"),
        ('title: "ADR 7: Filas"', "ADR 7: Filas"),
        ("title: >\n  Filas\n  e tópicos", "Filas e tópicos"),
        ("title: 2026", "2026"),
        ("title: 2026-13-45", "2026-13-45"),
        ("title: sim", "sim"),
        ("title: " + "a" * 201, "a" * 199 + "…"),
        ("title:", "Decisão"),
        ("title: ~", "Decisão"),
        ("title: ''", "Decisão"),
        ("title: [a, b]", "Decisão"),
        ("Title: Filas", "Decisão"),
        ("# só um comentário", "Decisão"),
        ("", "Decisão"),
    ],
)
def test_the_title_is_the_front_matters_as_written_else_the_first_heading(line: str, title: str) -> None:
    assert read(f"---\n{line}\n---\n# Decisão\n\ntexto\n") == (title, ["# Decisão\n\ntexto"])


def test_a_document_end_closes_it_too_and_spaces_behind_the_fence_do_not_matter() -> None:
    assert read("---  \ntitle: T\n...\t\ntexto\n") == ("T", ["texto"])


def test_invalid_yaml_that_is_meant_as_a_mapping_is_left_out_without_a_title() -> None:
    text = "---\ntitle: ADR 7: Filas\ntags:\n\t- a\n- b\n---\n# Decisão\n\ntexto\n"
    assert read(text) == ("Decisão", ["# Decisão\n\ntexto"])


def test_yaml_nested_beyond_reason_is_left_out_without_a_title() -> None:
    text = "---\na: " + "[" * 5000 + "\n---\ntexto\n"
    assert read(text) == (None, ["texto"])


def test_a_block_too_long_to_parse_is_left_out_without_a_title() -> None:
    text = "---\ntitle: T\n" + "chave: valor\n" * 2000 + "---\ntexto\n"
    assert read(text) == (None, ["texto"])


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nUma nota entre duas réguas.\n\n---\n\ntexto",
        "---\nNota: isto é prosa,\n\nque continua: sem chave.\nMais prosa\n\n---\n\ntexto",
        "---\n- um\n- dois\n---\ntexto",
        "---\ntitle: nunca fechado\n\ntexto",
        "\n---\ntitle: T\n---\ntexto",
        " ---\ntitle: T\n---\ntexto",
        "----\ntitle: T\n----\ntexto",
        "texto\n\n---\ntitle: T\n---",
        "---\n  !@#: %%\n---\ntexto",
    ],
)
def test_anything_else_between_rules_is_text(text: str) -> None:
    _, contents = read(text)
    for line in text.splitlines():
        assert any(line.strip() in content for content in contents)


def test_no_value_is_ever_constructed() -> None:
    assert read("---\ntitle: !!python/object/apply:os.getcwd []\n---\n# H\n\nx\n") == ("H", ["# H\n\nx"])
    assert read("---\na: &a [x]\nb: [*a, *a]\ntitle: T\n---\nx\n") == ("T", ["x"])
