"""Front matter is data about the document: never text, and the first place to look for a title."""

import pytest

from rag_core.chunking import chunk_document, cut_document
from rag_core.model import Place, Scope


def read(text: str) -> tuple[str | None, list[str]]:
    chunks = chunk_document(text, place=Place("file", "a.md"), scope=Scope.DOCS)
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


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ('title = "Filas e tópicos"', "Filas e tópicos"),
        ("title = 'ADR 7: Filas'", "ADR 7: Filas"),
        ('title = """\nFilas\ne tópicos"""', "Filas e tópicos"),
        ('"title" = "Filas"', "Filas"),
        ("title = 2026", "2026"),
        ("title = 1.50", "1.50"),
        ("title = 2026-01-31", "2026-01-31"),
        ("title = true", "true"),
        ('title = ""', "Decisão"),
        ('title = ["a", "b"]', "Decisão"),
        ('Title = "Filas"', "Decisão"),
        ('draft = true\n[params]\ntitle = "outro"', "Decisão"),
        ("# só um comentário", "Decisão"),
        ("", "Decisão"),
    ],
)
def test_front_matter_in_toml_is_read_as_that_in_yaml(line: str, title: str) -> None:
    assert read(f"+++\n{line}\n+++\n# Decisão\n\ntexto\n") == (title, ["# Decisão\n\ntexto"])


def test_a_byte_order_mark_and_windows_line_ends_hide_no_front_matter() -> None:
    for mark, key in (("+++", "title = 'T'"), ("---", "title: T")):
        assert read(f"\ufeff{mark}\r\n{key}\r\n{mark}\r\n\r\ntexto\r\n") == ("T", ["texto"])


@pytest.mark.parametrize(
    "block",
    [
        "title = Filas sem aspas\ntags = [\n  'a',\n]\n[params]\nx = 1",
        "title = 'T'\ntitle = 'de novo'",
        "dia = 2026-13-45",
        "a = " + "[" * 5000,
        "n = " + "9" * 5000,
        "title = 'T'\n" + "chave = 1\n" * 3000,
    ],
)
def test_invalid_toml_that_is_meant_as_a_mapping_is_left_out_without_a_title(block: str) -> None:
    assert read(f"+++\n{block}\n+++\ntexto\n") == (None, ["texto"])


@pytest.mark.parametrize(
    "text",
    [
        "+++\n\nUma nota entre duas marcas.\n\n+++\n\ntexto",
        "+++\nSe x = 1, vale.\nMais prosa\n\n+++\n\ntexto",
        "+++\ntitle = 'nunca fechado'\n\ntexto",
        "+++\ntitle = 'T'\n---\ntexto",
        "---\ntitle: T\n+++\ntexto",
        "\n+++\ntitle = 'T'\n+++\ntexto",
        "++++\ntitle = 'T'\n++++\ntexto",
        "+++\n[um link](a.md) e prosa\n+++\ntexto",
    ],
)
def test_anything_else_between_plus_signs_is_text(text: str) -> None:
    _, contents = read(text)
    for line in text.splitlines():
        assert any(line.strip() in content for content in contents)


def test_a_json_object_with_a_title_at_the_very_top_is_front_matter() -> None:
    assert read('{\n  "title": "Filas",\n  "tags": ["a"]\n}\n\n# Decisão\n\ntexto\n') == (
        "Filas",
        ["# Decisão\n\ntexto"],
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"cobranca": 7}\n\nUm exemplo de resposta.',
        '{"title": 7}\n\ntexto',
        '{"title": "T"} e segue a frase',
        '{"title": "T"\n\ntexto',
        "{{< aviso >}}\n\ntexto",
        "{% raw %}\ntexto",
        '{"a":' * 5000,
    ],
)
def test_any_other_brace_at_the_top_is_text(text: str) -> None:
    _, contents = read(text)
    assert contents[0].startswith(text[:15])


@pytest.mark.parametrize(
    "text",
    [
        '---\ntitle: "a\\0b\\uD800"\n---\ntexto',
        '+++\ntitle = "a\\u0000b\ufffd"\n+++\ntexto',
        '{"title": "a\\u0000b\\ud800"}\ntexto',
    ],
)
def test_a_title_holds_nothing_that_no_database_takes(text: str) -> None:
    assert read(text) == ("ab\ufffd", ["texto"])


def test_a_directive_of_an_unknown_version_does_not_stop_the_reading() -> None:
    assert read("---\n? a---\n%YAML 9.9\n\n---\ntexto\n")[1]


@pytest.mark.parametrize("title", ['"\\UFFFFFFFF"', '"\\U00110000"', "!<\\", "&a *a"])
def test_no_escape_in_a_title_stops_the_reading(title: str) -> None:
    assert read(f"---\ntitle: {title}\n---\ntexto\n")[1] == ["texto"]


def language(text: str) -> tuple[set[str], str | None]:
    cut = cut_document(text, place=Place("file", "a.md"), scope=Scope.DOCS, language="french")
    return {chunk.language for chunk in cut.chunks}, cut.unknown_language


@pytest.mark.parametrize(
    ("front", "own", "unknown"),
    [
        ("---\nlang: en\n---\n", "english", None),
        ("---\nlanguage: pt-BR\ntitle: T\n---\n", "portuguese", None),
        ("---\nlang: 'English'\n---\n", "english", None),
        ("---\nlang: no\n---\n", "norwegian", None),
        ("---\nlang: en\nlanguage: pt\n---\n", "english", None),
        ("---\nlanguage: pt\nlang: en\n---\n", "english", None),
        ("---\nlang:\nlanguage: pt\n---\n", "portuguese", None),
        ("---\nlang: en\nlang: pt\n---\n", "english", None),
        ("---\nlang: ~\n---\n", "french", None),
        ("---\nlang: ''\n---\n", "french", None),
        ("---\nlang: [en, pt]\n---\n", "french", None),
        ("---\n? [a]\n: b\nlang: en\n---\n", "english", None),
        ("---\nlang: tlh\n---\n", "french", "tlh"),
        ("---\nlang: 7\n---\n", "french", "7"),
        ("---\nother:\n  lang: en\n---\n", "french", None),
        ('+++\nlang = "de"\n+++\n', "german", None),
        ('+++\nlanguage = "xx"\n+++\n', "french", "xx"),
        ("+++\nlang = true\n+++\n", "french", "true"),
        ('+++\n[params]\nlang = "de"\n+++\n', "french", None),
        ('{"title": "T", "lang": "es"}\n', "spanish", None),
        ('{"title": "T", "lang": 7}\n', "french", None),
        ("", "french", None),
    ],
)
def test_a_documents_language_is_that_of_its_front_matter_else_the_projects(
    front: str, own: str, unknown: str | None
) -> None:
    assert language(f"{front}# Um\n\ntexto\n\n## Dois\n\nmais\n") == ({own}, unknown)
