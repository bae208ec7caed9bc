"""Cutting to size: 1200 characters, 150 of overlap, looking back 200. All positions are counted by hand."""

import pytest

from rag_core.chunking.size import Piece, Table, cut_to_size


def contents(text: str, tables: tuple[Table, ...] = ()) -> list[str]:
    return [piece.content(text) for piece in cut_to_size(text, 0, len(text), tables)]


def table_of(text: str) -> Table:
    """The table that begins at the first line that starts with a pipe, up to the last such line."""
    starts = [0, *(index + 1 for index, character in enumerate(text) if character == "\n")]
    lines = [start for start in starts if text.startswith("|", start)]
    last_end = text.find("\n", lines[-1])
    return Table(start=lines[0], rows=tuple(lines[2:]), end=len(text) if last_end == -1 else last_end)


def test_a_blank_text_has_no_pieces() -> None:
    assert contents("") == []
    assert contents(" \n\t\n" * 1000) == []


def test_a_text_of_exactly_the_target_is_one_piece() -> None:
    assert contents("a" * 1200 + "\n") == ["a" * 1200]


def test_blank_lines_around_a_text_are_left_out_and_its_indentation_kept() -> None:
    assert contents("\n\n    print(1)\n\n") == ["    print(1)"]


def test_the_paragraph_break_nearest_to_the_target_wins_over_a_nearer_line_end_and_space() -> None:
    # Breaks at 1005 and 1055; a line end at 1106, spaces behind. The piece ends at 1055.
    text = "a" * 1005 + "\n\n" + "b" * 48 + "\n\n" + "c" * 49 + "\n" + "d" * 20 + " " + "e" * 400
    assert contents(text)[0] == "a" * 1005 + "\n\n" + "b" * 48


def test_a_blank_line_with_spaces_in_it_is_a_paragraph_break() -> None:
    text = "a" * 1100 + "\n \t\n" + "b" * 50 + "\n" + "c" * 400
    assert contents(text)[0] == "a" * 1100


def test_a_paragraph_break_exactly_at_the_target_is_used() -> None:
    text = "a" * 1200 + "\n\n" + "b" * 300
    assert contents(text)[0] == "a" * 1200


def test_a_paragraph_break_just_outside_the_look_back_is_not_used() -> None:
    inside = "a" * 1000 + "\n\n" + "b" * 400
    outside = "a" * 999 + "\n\n" + "b" * 400
    assert contents(inside)[0] == "a" * 1000
    # The line end at 1000 is the nearer half of the same break, and within the look-back.
    assert contents(outside)[0] == "a" * 999
    assert contents("a" * 998 + "\n\n" + "b" * 400)[0] == "a" * 998 + "\n\n" + "b" * 200


def test_without_a_paragraph_break_a_line_end_is_preferred_to_a_nearer_space() -> None:
    text = "a" * 1050 + "\n" + "b" * 100 + " " + "c" * 400
    assert contents(text)[0] == "a" * 1050


def test_without_a_line_end_the_last_space_is_the_cut() -> None:
    text = "a" * 1020 + " " + "b" * 100 + " " + "c" * 400
    assert contents(text)[0] == "a" * 1020 + " " + "b" * 100


def test_a_word_without_any_break_in_the_look_back_is_cut_hard_and_without_overlap() -> None:
    assert contents("a" * 2500) == ["a" * 1200, "a" * 1200, "a" * 100]


def test_the_overlap_starts_at_the_first_word_within_150_characters() -> None:
    # Words of 9 and a space: 120 of them are 1199 characters without the last space. The piece ends at 1199,
    # the next text begins at 1200, and the first word start from 1050 on is 1050 itself.
    words = [f"w{number:08d}" for number in range(200)]
    first, second = contents(" ".join(words))
    assert first == " ".join(words[:120])
    assert second == " ".join(words[105:])


def test_an_overlap_never_starts_within_a_word() -> None:
    # The last 150 characters of the first piece are one word that began before them: nothing is repeated.
    text = "a" * 1000 + " " + "b" * 180 + " " + "c" * 500
    assert contents(text) == ["a" * 1000 + " " + "b" * 180, "c" * 500]


def test_the_overlap_lies_within_the_target() -> None:
    text = "palavra " * 1000
    assert max(len(content) for content in contents(text)) <= 1200


def test_a_hundred_kilobytes_in_one_line_are_covered_without_a_gap() -> None:
    text = "0123456789" * 10_000
    assert "".join(contents(text)) == text


def test_the_indentation_of_a_piece_after_a_cut_is_kept_and_a_wall_of_blanks_is_not() -> None:
    head = "a" * 1190 + "\n"
    assert contents(head + "\n    " + "b" * 100)[1] == "    " + "b" * 100
    assert contents(head + " " * 3000 + "b")[1] == "b"


def test_a_table_is_split_before_the_row_that_does_not_fit_and_repeats_its_header() -> None:
    header = "| n | valor |\n|---|---|\n"  # 24 characters
    rows = [f"| {number:02d} | {'x' * 90} |\n" for number in range(30)]  # 99 characters each with newline
    text = header + "".join(rows)
    # 24 + 11 x 99 = 1113; a twelfth row would end at 1211 without its newline.
    assert contents(text, (table_of(text),)) == [
        (header + "".join(rows[0:11])).rstrip(),
        (header + "".join(rows[11:22])).rstrip(),
        (header + "".join(rows[22:30])).rstrip(),
    ]


def test_a_row_fits_when_only_its_newline_does_not() -> None:
    header = "|a|b|\n|-|-|\n"  # 12 characters
    row = "|" + "x" * 590 + "|1|\n"  # 595 with its newline
    last = "|" + "x" * 589 + "|1|\n"  # 594 with its newline, so that 12 + 595 + 593 = 1200 without it
    text = header + row + last + row
    first, second = contents(text, (table_of(text),))
    assert first == (header + row + last).rstrip()
    assert len(first) == 1200
    assert second == (header + row).rstrip()


def test_the_pipe_that_closes_a_row_is_never_left_alone() -> None:
    header = "|a|b|\n|-|-|\n"  # 12 characters
    # The row's pipes stand at 12, 1198 and 1200: it is one character too long, and 1200 would be a cut.
    text = header + "|" + "x" * 1185 + "|1|\n|2|3|\n"
    assert contents(text, (table_of(text),)) == [
        header + "|" + "x" * 1185,
        header + "|1|\n|2|3|",
    ]


def test_a_header_that_does_not_fit_is_cut_between_cells_too() -> None:
    text = "| " + "h" * 700 + " | " + "k" * 700 + " |\n|---|---|\n| 1 | 2 |\n"
    assert contents(text, (table_of(text),)) == [
        "| " + "h" * 700,
        "| " + "k" * 700 + " |\n|---|---|\n| 1 | 2 |",
    ]


def test_an_overlap_never_reaches_before_the_section() -> None:
    # 37 characters of prose with its blank line, 1164 of table: one too many, and enough without "Antes ".
    before, prose = "outra seção " * 20, "Antes da tabela vem um só parágrafo\n\n"
    header = "| a |\n|---|\n"
    table = header + "| " + "x" * 1148 + " |\n"
    text = before + "\n" + prose + table
    start = len(before) + 1
    found = Table(start=start + len(prose), rows=(start + len(prose) + len(header),), end=len(text) - 1)
    first, second = cut_to_size(text, start, len(text), (found,))
    assert first.content(text) == prose.rstrip()
    assert second.content(text) == prose.removeprefix("Antes ") + table.rstrip()


def test_a_table_that_begins_within_the_look_back_moves_to_the_next_piece_whole() -> None:
    prose = "palavra " * 130  # 1040 characters
    table = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 40
    text = prose + "\n\n" + table
    first, second = contents(text, (table_of(text),))
    assert first == prose.rstrip()
    assert second.startswith("palavra ")
    assert second.endswith(table.rstrip())


def test_prose_behind_a_split_table_follows_the_last_rows() -> None:
    header = "| a | b |\n|---|---|\n"
    row = "| 1 | " + "x" * 200 + " |\n"
    text = header + row * 8 + "\nDepois da tabela.\n"
    last = contents(text, (table_of(text),))[-1]
    assert last == header + row * 3 + "\nDepois da tabela."


def test_an_overlap_never_reaches_into_a_table() -> None:
    header = "| a | b |\n|---|---|\n"
    text = header + "| 1 | 2 |\n" * 2 + "\n" + "a" * 1140 + "\n\n" + "fim " * 50
    first, second = contents(text, (table_of(text),))
    assert first.endswith("a" * 1140)
    assert second == ("fim " * 50).rstrip()


def test_a_row_that_does_not_fit_is_cut_between_cells_below_the_same_header() -> None:
    header = "| a | b | c |\n|---|---|---|\n"  # 28 characters
    text = header + "| " + "x" * 700 + " | " + "y" * 700 + " | z |\n"
    assert contents(text, (table_of(text),)) == [
        header + "| " + "x" * 700,
        header + "| " + "y" * 700 + " | z |",
    ]


def test_an_escaped_pipe_is_no_boundary_of_cells() -> None:
    header = "| a | b |\n|---|---|\n"
    text = header + "| " + "x" * 700 + " | " + "y" * 300 + "\\|" + "y" * 700 + " |\n"
    assert contents(text, (table_of(text),))[0] == header + "| " + "x" * 700


def test_a_cell_that_does_not_fit_is_cut_at_words_and_no_pipe_is_left_alone() -> None:
    header = "| a |\n|---|\n"
    words = " ".join(["palavra"] * 400)
    text = header + f"| {words} |\n| fim |\n"
    found = contents(text, (table_of(text),))
    assert all(content.startswith(header) for content in found)
    assert all(content.removeprefix(header).strip("| \n") for content in found)
    assert " ".join(content.removeprefix(header).strip("| \n") for content in found) == words + " |\n| fim"


def test_a_header_of_more_than_half_a_piece_is_not_repeated() -> None:
    header = "| " + "h" * 600 + " |\n|---|\n"
    row = "| " + "x" * 500 + " |\n"
    text = header + row * 3
    assert contents(text, (table_of(text),)) == [
        (header + row).rstrip(),
        (row * 2).rstrip(),
    ]


def test_prose_before_a_table_whose_first_row_does_not_fit_stands_alone_and_nothing_loops() -> None:
    header = "| a |\n|---|\n"
    row = "| " + "x" * 1100 + " |\n"
    text = "Antes da tabela:\n\n" + header + row + "\n" + header.replace("a", "b") + row
    first_table = table_of("Antes da tabela:\n\n" + header + row)
    offset = text.index("| b |")
    second_table = Table(start=offset, rows=(offset + len(header),), end=len(text) - 1)
    assert contents(text, (first_table, second_table)) == [
        "Antes da tabela:\n\n" + (header + row).rstrip(),
        (header.replace("a", "b") + row).rstrip(),
    ]
    longer = text.replace("Antes da", "Antes, bem antes, muito antes desta longa " + "longa " * 10)
    shift = len(longer) - len(text)
    moved = tuple(
        Table(start=table.start + shift, rows=tuple(row + shift for row in table.rows), end=table.end + shift)
        for table in (first_table, second_table)
    )
    assert contents(longer, moved)[0] == longer[: moved[0].start].rstrip()
    assert contents(longer, moved)[1] == (header + row).rstrip()


def test_only_the_span_asked_for_is_cut() -> None:
    assert cut_to_size("antes\nmeio\ndepois\n", 6, 11) == (Piece(start=6, end=10),)


def test_a_table_has_body_rows() -> None:
    with pytest.raises(ValueError, match="without body rows"):
        Table(start=0, rows=(), end=20)
