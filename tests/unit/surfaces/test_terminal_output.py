"""What documents and file names hold never commands the terminal."""

import io
import json
import subprocess
import sys

from medir.cli.frame import Output, as_document, cell, plain


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


def test_a_document_holds_control_and_direction_signs_as_escapes_and_reads_the_same() -> None:
    value = {"content": "a\x9b2Jb \u202ecod\u2066 \x7f \u2028 \U000e0041 \ud800", "é\u200f": "ação › ✓ 😀"}

    written = as_document(value)

    assert written == (
        '{\n  "content": "a\\u009b2Jb \\u202ecod\\u2066 \\u007f \\u2028 \\udb40\\udc41 \\ud800",\n'
        '  "é\\u200f": "ação › ✓ 😀"\n}'
    )
    assert json.loads(written) == value


def test_what_json_prints_never_commands_the_terminal() -> None:
    out = io.StringIO()

    Output(as_json=True, out=out, err=io.StringIO()).emit({"error": {"message": "\x9b31m \u202egpj.exe"}})

    assert all(sign.isprintable() or sign == "\n" for sign in out.getvalue())


def test_what_is_logged_commands_no_terminal() -> None:
    program = (
        "import logging, sys\n"
        "sys.argv = ['medir', '--version']\n"
        "from medir.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "logging.getLogger('medir.http').warning('a%sb', '\\x9b2J\\u202e')\n"
    )

    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert finished.stderr == "a\\x9b2J\\u202eb\n"
