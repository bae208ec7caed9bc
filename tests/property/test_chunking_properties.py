"""What holds of chunks whatever the Markdown.

Two generators: documents built of blocks, which know what a reader would see of them, and soup of the tokens
that parsers stumble over.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from examples import examples
from rag_core.chunking import chunk_document, chunk_message, clean_text
from rag_core.chunking.size import (
    LOOK_BACK_CHARS,
    OVERLAP_CHARS,
    TARGET_CHARS,
    Piece,
    Table,
    cut_to_size,
)
from rag_core.chunking.structure import Structure, read_structure
from rag_core.model import Chunk, Place, Scope

HIDDEN = "OCULTO"
exhaustive = settings(derandomize=True, database=None, deadline=None, max_examples=examples(60))


def chunk(text: str) -> tuple[Chunk, ...]:
    return chunk_document(text, place=Place("file", "docs/a.md"), scope=Scope.DOCS)


@dataclass(frozen=True)
class Block:
    """Source lines, and those lines as a reader would see them."""

    source: tuple[str, ...]
    visible: tuple[str, ...]


def shown(*lines: str) -> Block:
    return Block(lines, lines)


words = st.one_of(
    st.sampled_from(["fila", "negócio", "RN-058", "`x`", "**b**", "👩‍👩‍👧", "C#", "a\\|b", "[l](u)", "é"]),
    st.text("abcçã", min_size=1, max_size=12),
    st.integers(100, 260).map("y".__mul__),
)
lines = st.lists(words, min_size=1, max_size=30).map(" ".join)
short_lines = st.lists(words, min_size=1, max_size=3).map(" ".join)
paragraphs = st.lists(lines, min_size=1, max_size=12).map(lambda found: shown(*found))
atx = st.tuples(st.integers(1, 6), short_lines).map(lambda found: shown("#" * found[0] + " " + found[1]))
setext = st.tuples(short_lines, st.sampled_from(["===", "---"])).map(lambda found: shown(*found))
code_lines = st.one_of(
    lines, st.sampled_from(["", "# não é título", "<!-- visto -->", "  recuado", "| a | b |", "|---|---|"])
)
fences = st.tuples(st.sampled_from(["```", "~~~", "`````"]), st.lists(code_lines, max_size=20)).map(
    lambda found: shown(found[0], *found[1], found[0])
)
tables = st.tuples(st.integers(1, 60), st.lists(lines, min_size=1, max_size=5)).map(
    lambda found: shown(
        "| n | valor |", "|---|---|", *(f"| {n} | {found[1][n % len(found[1])]} |" for n in range(found[0]))
    )
)
lists = st.lists(st.tuples(st.integers(0, 8), lines), min_size=1, max_size=15).map(
    lambda items: shown(*("  " * depth + "- " + text for depth, text in items))
)
quotes = st.lists(lines, min_size=1, max_size=6).map(lambda found: shown(*("> " + text for text in found)))
comments = st.lists(st.sampled_from([HIDDEN, f"# {HIDDEN}", "", f"| {HIDDEN} |"]), max_size=5).map(
    lambda found: Block(("<!--", *found, "-->"), ())
)
inline_comments = st.tuples(short_lines, short_lines).map(
    lambda found: Block((f"a {found[0]} <!-- {HIDDEN} --> {found[1]}",), (f"a {found[0]}  {found[1]}",))
)
others = st.sampled_from(
    [
        shown("[^1]: Uma nota de rodapé."),
        shown("[guia]: ./guia.md 'O guia'"),
        shown("***"),
        shown('<div class="x">', "# não é título", "</div>"),
        shown("z" * 5000),
        shown("    código recuado", "    # não é título"),
        Block((f"`<!-- visto -->` e <!-- {HIDDEN} -->",), ("`<!-- visto -->` e ",)),
    ]
)
blocks = st.one_of(paragraphs, atx, setext, fences, tables, lists, quotes, comments, inline_comments, others)
last_blocks = st.one_of(blocks, st.lists(code_lines, max_size=9).map(lambda found: shown("```", *found)))
front_matters = st.sampled_from(
    [(), ("---", f"title: {HIDDEN}", "---"), ("---", f"title: {HIDDEN}: {HIDDEN}", "---")]
)


@st.composite
def documents(draw: st.DrawFn) -> Block:
    body = [*draw(st.lists(blocks, max_size=14)), draw(last_blocks)]
    front = draw(front_matters)
    source = [*front, *(line for block in body for line in (*block.source, ""))]
    return Block(tuple(source), tuple(line for block in body for line in block.visible))


tokens = st.sampled_from(
    [
        *("\n", "\n\n", " ", "  ", "    ", "\t", "\r", "\r\n", "\0", "\ufeff", "\u2028", "\xa0"),
        *(
            "#",
            "## ",
            "=",
            "---",
            "```",
            "~~~",
            "`",
            "|",
            "|-|",
            "\n|a|b|\n|-|-|\n|",
            "\\",
            "> ",
            "- ",
            "1. ",
        ),
        *(
            "<!--",
            "-->",
            "<!-->",
            "<div>",
            "</div>",
            "<pre>",
            "<script>",
            "<?",
            "[a]: b",
            "[",
            "](",
            "!",
            "{#i}",
        ),
        *("palavra", "é", "👍", "title: t", "w" * 130, "x" * 700, "a b " * 90, "| c" * 70),
    ]
)
soup = st.lists(tokens, max_size=120).map("".join)


def pieces_of(structure: Structure) -> list[tuple[Piece, ...]]:
    return [
        cut_to_size(structure.text, section.start, section.end, section.tables)
        for section in structure.sections
    ]


def holding(tables: tuple[Table, ...], position: int) -> Table | None:
    return next((table for table in tables if table.rows[0] <= position < table.end), None)


@exhaustive
@given(documents())
def test_every_line_a_reader_sees_is_within_a_chunk_or_covered_word_by_word(document: Block) -> None:
    contents = [found.content for found in chunk("\n".join(document.source))]
    for line in document.visible:
        is_row = line.startswith("| ")
        if len(line) <= (TARGET_CHARS // 2 if is_row else LOOK_BACK_CHARS):
            assert any(line.strip() in content for content in contents)
        for word in line.split():
            assert len(word) > LOOK_BACK_CHARS or any(word in content for content in contents)


@exhaustive
@given(documents())
def test_nothing_hidden_is_in_a_chunk(document: Block) -> None:
    found = chunk("\n".join(document.source))
    assert not any(HIDDEN in part.content for part in found)
    assert all(HIDDEN not in heading for part in found for heading in part.origin.heading_path)


@exhaustive
@given(st.one_of(soup, documents().map(lambda document: "\n".join(document.source))))
def test_chunks_are_never_blank_never_too_long_and_numbered_in_order(text: str) -> None:
    found = chunk(text)
    assert [part.ordinal for part in found] == list(range(len(found)))
    assert all(part.content.strip() and len(part.content) <= TARGET_CHARS for part in found)
    assert all(part.content == part.content.rstrip() for part in found)


@exhaustive
@given(st.one_of(soup, documents().map(lambda document: "\n".join(document.source))))
def test_the_same_text_gives_the_same_chunks_whatever_its_line_ends_and_marks(text: str) -> None:
    found = chunk(text)
    cleaned = clean_text(text)
    assert clean_text(cleaned) == cleaned
    variants: list[Callable[[str], str]] = [
        str,
        lambda plain: "\ufeff" + plain,
        lambda plain: plain.replace("\n", "\r\n"),
        lambda plain: plain.replace("\n", "\r"),
        lambda plain: "\0" + plain + "\0",
    ]
    assert all(chunk(variant(cleaned)) == found for variant in variants)


@exhaustive
@given(soup)
def test_without_comments_and_tables_every_chunk_is_a_substring_of_the_text(text: str) -> None:
    assume("<!" not in text and "|" not in text)
    assert all(part.content in clean_text(text) for part in chunk(text))


@exhaustive
@given(st.one_of(soup, documents().map(lambda document: "\n".join(document.source))))
def test_sections_cover_the_visible_text_in_order_and_pieces_cover_each_section(text: str) -> None:
    structure = read_structure(clean_text(text))
    covered = 0
    for section, pieces in zip(structure.sections, pieces_of(structure), strict=True):
        assert not structure.text[covered : section.start].strip()
        covered = section.start
        for earlier, piece in zip((None, *pieces), pieces, strict=False):
            assert not structure.text[covered : piece.start].strip()
            assert piece.end > covered
            assert earlier is None or earlier.start < piece.start <= piece.end
            covered = piece.end
        assert covered <= section.end
    assert not structure.text[covered:].strip()
    if "<!" not in text and not text.lstrip("\0\ufeff").startswith("---"):
        assert structure.text == clean_text(text)


@exhaustive
@given(st.one_of(soup, documents().map(lambda document: "\n".join(document.source))))
def test_an_overlap_is_short_starts_at_a_word_and_never_lies_in_a_table(text: str) -> None:
    structure = read_structure(clean_text(text))
    for section, pieces in zip(structure.sections, pieces_of(structure), strict=True):
        for earlier, piece in pairwise(pieces):
            if piece.start >= earlier.end:
                continue
            assert earlier.end - piece.start <= OVERLAP_CHARS
            assert structure.text[piece.start - 1].isspace()
            assert not structure.text[piece.start].isspace()
            assert holding(section.tables, piece.start) is None


@exhaustive
@given(st.one_of(soup, documents().map(lambda document: "\n".join(document.source))))
def test_a_piece_that_begins_in_a_table_repeats_its_header_and_no_other_does(text: str) -> None:
    structure = read_structure(clean_text(text))
    for section, pieces in zip(structure.sections, pieces_of(structure), strict=True):
        for piece in pieces:
            table = holding(section.tables, piece.start)
            header = structure.text[table.start : table.rows[0]] if table else ""
            assert piece.header == (header if len(header) <= TARGET_CHARS // 2 else "")


@exhaustive
@given(st.one_of(soup, documents().map(lambda document: "\n".join(document.source))))
def test_a_row_that_fits_below_its_header_is_never_cut(text: str) -> None:
    structure = read_structure(clean_text(text))
    for section, pieces in zip(structure.sections, pieces_of(structure), strict=True):
        cuts = [piece.end for piece in pieces[:-1]]
        for table in section.tables:
            header = table.rows[0] - table.start
            for start, end in zip(table.rows, (*table.rows[1:], table.end), strict=True):
                if header <= TARGET_CHARS // 2 and header + end - start <= TARGET_CHARS:
                    assert not any(start < cut < end and structure.text[cut:end].strip() for cut in cuts)


@exhaustive
@given(st.one_of(soup, documents().map(lambda document: "\n".join(document.source))))
def test_the_number_of_chunks_is_linear_in_the_text(text: str) -> None:
    structure = read_structure(clean_text(text))
    for section, pieces in zip(structure.sections, pieces_of(structure), strict=True):
        # Any two pieces in a row advance by more than half a target less an overlap.
        assert len(pieces) <= 2 + 2 * (section.end - section.start) // (TARGET_CHARS // 2 - OVERLAP_CHARS)


@exhaustive
@given(soup, st.integers(0, 1000))
def test_a_message_is_covered_in_order_whatever_it_holds(text: str, first_ordinal: int) -> None:
    found = chunk_message(text, session_id="s", event_id="e", title=None, first_ordinal=first_ordinal)
    cleaned = clean_text(text)
    assert [part.ordinal for part in found] == list(range(first_ordinal, first_ordinal + len(found)))
    assert all(part.content in cleaned and len(part.content) <= TARGET_CHARS for part in found)
    pieces = cut_to_size(cleaned, 0, len(cleaned))
    assert [piece.content(cleaned) for piece in pieces] == [part.content for part in found]
    covered = 0
    for piece in pieces:
        assert not cleaned[covered : piece.start].strip()
        covered = piece.end
    assert not cleaned[covered:].strip()
