"""What documents and file names hold never commands the terminal."""

import io

from medir.cli.frame import Output, cell, plain


def test_control_characters_are_written_out_and_line_breaks_stay() -> None:
    assert plain("a\x1b[2Jb\x07\nc\td\x9be") == "a\\x1b[2Jb\\x07\nc\td\\x9be"


def test_letters_signs_and_accents_stay_as_they_are() -> None:
    assert plain("docs/ação.md › Decisão ✓") == "docs/ação.md › Decisão ✓"


def test_a_line_for_a_person_carries_no_escape_sequence() -> None:
    people, aside = io.StringIO(), io.StringIO()
    output = Output(as_json=False, out=people, err=aside)

    output.say("\x1b]0;titulo\x07fim")
    output.note("\x1b[31mvermelho")

    assert people.getvalue() == "\\x1b]0;titulo\\x07fim\n"
    assert aside.getvalue() == "\\x1b[31mvermelho\n"


def test_a_cell_of_a_table_is_one_line_without_markup_or_commands() -> None:
    assert cell("[b]a\n\tb\x1b[31m").plain == "[b]a\\n\\tb\\x1b[31m"
