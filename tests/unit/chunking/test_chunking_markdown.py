"""Markdown to chunks: what is a heading, what belongs to a section, what a chunk is called."""

import pytest

from rag_core.chunking import (
    CHUNKER_VERSION,
    LOOK_BACK_CHARS,
    OVERLAP_CHARS,
    TARGET_CHARS,
    below_headings,
    chunk_document,
)
from rag_core.model import Chunk, Place, Scope

FILE = Place("file", "docs/a.md")


def chunks(text: str) -> tuple[Chunk, ...]:
    return chunk_document(text, place=FILE, scope=Scope.DOCS)


def parts(text: str) -> list[tuple[tuple[str, ...], str]]:
    return [(chunk.origin.heading_path, chunk.content) for chunk in chunks(text)]


def trails(text: str) -> list[tuple[str, ...]]:
    return [chunk.origin.heading_path for chunk in chunks(text)]


def test_the_sizes_are_those_of_the_decision() -> None:
    assert (TARGET_CHARS, OVERLAP_CHARS, LOOK_BACK_CHARS, CHUNKER_VERSION) == (1200, 150, 200, "2")


@pytest.mark.parametrize(
    "text", ["", "\n\n", " \t \n", "\ufeff", "\0\0", "<!-- só isto -->", "---\na: b\n---\n"]
)
def test_a_file_without_text_has_no_chunks(text: str) -> None:
    assert chunks(text) == ()


def test_the_end_of_its_name_says_how_a_file_is_read() -> None:
    text = "# Guia\n\nUm.\n"
    shouted, image = (
        chunk_document(text, place=Place("file", name), scope=Scope.DOCS) for name in ("a.MD", "a.png")
    )
    assert ([chunk.origin.heading_path for chunk in shouted], image) == ([("Guia",)], ())
    assert below_headings("# Guia\n\nUm.", FILE) == "Um."
    assert below_headings("# Guia\n\nUm.", Place("session", "a")) == "# Guia\n\nUm."


def test_each_section_is_a_chunk_that_begins_with_its_heading_and_knows_its_trail() -> None:
    text = "Antes.\n\n# Guia\n\nUm.\n\n## Uso\n\nDois.\n\n### Fim\nTrês.\n\n## Mais\nQuatro.\n"
    assert parts(text) == [
        ((), "Antes."),
        (("Guia",), "# Guia\n\nUm."),
        (("Guia", "Uso"), "## Uso\n\nDois."),
        (("Guia", "Uso", "Fim"), "### Fim\nTrês."),
        (("Guia", "Mais"), "## Mais\nQuatro."),
    ]


def test_chunks_carry_place_scope_and_ordinals_from_zero() -> None:
    found = chunk_document("# A\na\n# B\nb\n", place=Place("file", "docs/adr/1.md"), scope=Scope.ADR)
    assert [chunk.ordinal for chunk in found] == [0, 1]
    assert {chunk.scope for chunk in found} == {Scope.ADR}
    assert found[1].origin.citation == "docs/adr/1.md › B"
    assert found[1].origin.event_id is None


def test_setext_headings_are_headings_and_both_their_lines_belong_to_the_section() -> None:
    assert parts("Título\n===\nUm.\n\nSub\ntítulo\n---\nDois.\n") == [
        (("Título",), "Título\n===\nUm."),
        (("Título", "Sub título"), "Sub\ntítulo\n---\nDois."),
    ]


def test_a_skipped_level_leaves_no_hole_in_the_trail() -> None:
    assert trails("# A\na\n### C\nc\n## B\nb\n") == [("A",), ("A", "C"), ("A", "B")]


def test_equal_headings_are_both_kept() -> None:
    text = "# Registro\n\n## Contexto\na\n## Contexto\nb\n## **Contexto**\nc\n"
    assert parts(text) == [
        (("Registro", "Contexto"), "# Registro\n\n## Contexto\na"),
        (("Registro", "Contexto"), "## Contexto\nb"),
        (("Registro", "Contexto"), "## **Contexto**\nc"),
    ]


@pytest.mark.parametrize(
    "block",
    [
        "```\n# não sou título\n```",
        "~~~ py\n# não sou título\n~~~",
        "````\n```\n# não sou título\n```\n````",
        "```\ncódigo\n``` isto não fecha\n# não sou título\n```",
        "    # não sou título",
        "<div>\n# não sou título\n</div>",
        "<pre>\n\n# não sou título\n\n</pre>",
        "#não sou título",
        "\\# não sou título",
        "####### não sou título",
        "`código\n# não`".replace("\n", " "),
    ],
)
def test_a_hash_that_is_no_heading_starts_no_section(block: str) -> None:
    text = f"# Guia\n\nUm.\n\n{block}\n\nFim.\n"
    assert parts(text) == [(("Guia",), text.rstrip())]


def test_an_unclosed_fence_runs_to_the_end_of_the_file() -> None:
    text = "# Guia\n\n```\n# não sou título\n\n## nem eu"
    assert parts(text) == [(("Guia",), text)]


def test_headings_within_quotes_and_lists_belong_to_what_is_quoted_or_listed() -> None:
    text = "# Guia\n\n> # Citado\n> dito\n\n- ## Item\n  texto\n\nDepois.\n"
    assert parts(text) == [(("Guia",), text.rstrip())]


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("## **Contexto** `x`", "Contexto x"),
        ("## C#", "C#"),
        ("## C# ##", "C#"),
        ("## F# e `C#` #", "F# e C#"),
        ("## _a_ ~~b~~ c\\*d &amp; e", "a b c*d & e"),
        ("## [Guia](x.md 't') de ![a casa](c.png)", "Guia de a casa"),
        ("## [ref][r] <b>forte</b> <https://x.pt>", "ref forte https://x.pt"),
        ("## Título { #titulo }", "Título"),
        ("## Título {#titulo .classe}", "Título"),
        ("## Conjunto {a, b}", "Conjunto {a, b}"),
        ("## Visível <!-- oculto -->", "Visível"),
        ("## `<!-- mostrado -->`", "<!-- mostrado -->"),
        ("##   Muitos \t espaços  ", "Muitos espaços"),
        ("## 👩‍👩‍👧 família", "👩‍👩‍👧 família"),
    ],
)
def test_headings_become_plain_text_in_the_trail(line: str, plain: str) -> None:
    assert trails(f"{line}\n\ntexto\n\n[r]: u\n") == [(plain,)]


def test_a_heading_of_more_than_200_characters_is_shortened_in_the_trail_only() -> None:
    fits, long = "a" * 200, "a" * 201
    assert trails(f"# {fits}\n\ntexto\n") == [(fits,)]
    (chunk,) = chunks(f"# {long}\n\ntexto\n")
    assert chunk.origin.heading_path == ("a" * 199 + "…",)
    assert chunk.origin.title == "a" * 199 + "…"
    assert chunk.content == f"# {long}\n\ntexto"


def test_a_heading_with_more_brackets_than_a_title_has_is_taken_as_it_stands() -> None:
    assert trails("# " + "[a](b)" * 20 + "\n\nx\n") == [("a" * 20,)]
    assert trails("# " + "[a](b)" * 21 + "\n\nx\n") == [("[a](b)" * 21,)]


def test_a_heading_without_text_is_joined_to_the_next_section() -> None:
    assert parts("# Guia\n\n## Uso\n\n### Passo\nUm.\n\n## Vazio\n\n# Outro\nDois.\n") == [
        (("Guia", "Uso", "Passo"), "# Guia\n\n## Uso\n\n### Passo\nUm."),
        (("Outro",), "## Vazio\n\n# Outro\nDois."),
    ]


@pytest.mark.parametrize("filler", ["---", "<br>", '<a id="x"></a>', "<!-- por escrever -->", "***\n\n* * *"])
def test_what_holds_no_word_is_no_text_of_a_section(filler: str) -> None:
    assert trails(f"## Vazio\n\n{filler}\n\n## Cheio\nx\n") == [("Cheio",)]


def test_an_image_above_the_first_heading_belongs_to_that_heading() -> None:
    text = '<img src="logo.png" width="100px">\n\n# Guia\n\nUm.\n'
    assert parts(text) == [(("Guia",), text.rstrip())]


@pytest.mark.parametrize(
    "body", ["[Volta](#topo)", "<https://x.pt>", "```\nx\n```", "- [ ] a", "1", "[r]: /alvo"]
)
def test_whatever_holds_a_word_is_text_of_a_section(body: str) -> None:
    assert trails(f"## Curto\n\n{body}\n\n## Outro\nx\n") == [("Curto",), ("Outro",)]


def test_a_last_heading_without_text_stands_alone() -> None:
    assert parts("# Guia\nUm.\n\n## Por escrever\n\n### Também\n") == [
        (("Guia",), "# Guia\nUm."),
        (("Guia", "Por escrever", "Também"), "## Por escrever\n\n### Também"),
    ]


def test_a_heading_without_words_closes_its_level_and_adds_nothing_to_the_trail() -> None:
    assert trails("# A\na\n## B\nb\n##\nc\n#\nd\n") == [("A",), ("A", "B"), ("A",), ()]


def test_the_title_is_the_first_heading_of_any_level() -> None:
    assert {chunk.origin.title for chunk in chunks("Antes.\n\n## Uso\nUm.\n\n# Guia\nDois.\n")} == {"Uso"}
    assert chunks("Sem título.\n")[0].origin.title is None


def test_all_pieces_of_a_long_section_carry_its_trail_and_only_the_first_its_heading() -> None:
    text = "# Guia\n\n" + "palavra " * 400
    found = parts(text)
    assert [trail for trail, _ in found] == [("Guia",)] * 3
    assert [content.startswith("# Guia") for _, content in found] == [True, False, False]
    assert all(content in text for _, content in found)


def test_nothing_overlaps_from_one_section_into_the_next() -> None:
    text = "# A\n\n" + "palavra " * 160 + "\n\n# B\n\nfim\n"
    assert parts(text)[-1] == (("B",), "# B\n\nfim")


def test_a_byte_order_mark_changes_nothing() -> None:
    for text in ("# Título\n\ntexto\n", "---\ntitle: T\n---\ntexto\n"):
        assert chunks("\ufeff" + text) == chunks(text)


def test_line_ends_of_any_kind_change_nothing() -> None:
    text = "---\ntitle: T\n---\n# Guia\n\na\nb\n\n| a |\n|---|\n| 1 |\n"
    assert chunks(text.replace("\n", "\r\n")) == chunks(text)
    assert chunks(text.replace("\n", "\r")) == chunks(text)


def test_nul_bytes_are_left_out() -> None:
    assert parts("# T\0\n\na\0b\n") == [(("T",), "# T\n\nab")]
    assert parts("\0\ufeff# T\r\0\n\nab\n") == [(("T",), "# T\n\nab")]


def test_other_separators_of_unicode_end_no_line() -> None:
    assert trails("# A\u2028B\x0bC\x85D\n\nx\n") == [("A B C D",)]


def test_a_table_of_3500_rows_keeps_each_row_whole_below_the_header() -> None:
    header = "| código | valor |\n|--------|-------|\n"
    rows = [f"| {number:06d} | {number * 7} |" for number in range(3500)]
    found = chunks("# Tabela\n\n" + header + "\n".join(rows) + "\n")
    assert all(len(chunk.content) <= 1200 for chunk in found)
    assert all(header in chunk.content for chunk in found)
    repeated = [line for chunk in found for line in chunk.content.split(header)[1].splitlines()]
    assert repeated == rows


def test_a_table_that_fits_exactly_is_whole() -> None:
    # 20 + 9 x 118 + 118 = 1200 without the last row's newline.
    table = "| a | b |\n|---|---|\n" + f"| 1 | {'x' * 109} |\n" * 9 + f"| 1 | {'x' * 110} |"
    assert len(table) == 1200
    assert [content for _, content in parts(table + "\n\nDepois.\n")] == [table, "Depois."]


def test_a_table_within_a_list_or_a_quote_repeats_its_header_as_it_stands() -> None:
    for prefix in ("  ", "> "):
        header = f"{prefix}| a | b |\n{prefix}|---|---|\n"
        rows = [f"{prefix}| {number} | {'x' * 100} |" for number in range(30)]
        text = ("- item\n\n" if prefix == "  " else "") + header + "\n".join(rows) + "\n"
        found = chunks(text)
        assert len(found) > 2
        assert all(header in chunk.content for chunk in found)
        assert sum(chunk.content.count("x" * 100) for chunk in found) == 30


def test_pipes_in_a_fence_are_no_table() -> None:
    text = "```\n| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 200 + "```\n"
    assert all(chunk.content in text for chunk in chunks(text))


def test_a_line_of_100_kilobytes_in_a_fence_is_cut_hard_and_nothing_is_lost() -> None:
    line = '{"chave":"' + "0123456789" * 10_000 + '"}'
    found = chunks(f"# Dados\n\n```json\n{line}\n```\n")
    assert all(len(chunk.content) <= 1200 for chunk in found)
    assert "".join(chunk.content for chunk in found).count("0123456789") == 10_000


def test_a_list_eight_levels_deep_is_kept_as_it_stands() -> None:
    text = "".join(f"{'  ' * level}- nível {level}\n" for level in range(8))
    assert parts(text) == [((), text.rstrip())]


def test_footnotes_and_reference_definitions_are_text() -> None:
    text = "Veja[^1] e [guia].\n\n[^1]: A nota.\n[guia]: ./guia.md\n"
    assert parts(text) == [((), text.rstrip())]
