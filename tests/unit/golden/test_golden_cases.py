"""How a cases file is read, and what is refused before anything runs."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from rag_core.errors import FaultyGoldenSet, InvalidInput
from rag_core.golden.cases import GoldenSet, parse_cases, read_cases
from rag_core.golden.document import MAX_FILE_BYTES, decode
from rag_core.golden.repeats import folded_question
from rag_core.model import Place, Scope

CORPORA = sorted((Path(__file__).parents[4] / "shared" / "data" / "corpora").glob("*/cases.yaml"))

WHOLE = """\
floor: 1
limit: 7
cases:
- id: fila
  question: "  por que a fila fica no Postgres?  "
  expected:
  - docs/adr/0003-fila.md
  - session:s-12
  scope: [session, adr]
  tags: [parafrase, negacao]
  split: holdout
  must_pass: true
  note: importante
- id: fora
  question: quanto custa um bilhete para a Lua?
  no_answer: true
"""


def parse(text: str) -> GoldenSet:
    return parse_cases(text, file="cases.yaml")


def faults_of(text: str) -> list[Mapping[str, object]]:
    with pytest.raises(FaultyGoldenSet) as caught:
        parse(text)
    return list(caught.value.faults)


def only_fault_of(text: str) -> Mapping[str, object]:
    faults = faults_of(text)
    assert len(faults) == 1, faults
    return faults[0]


def one_case(*lines: str) -> str:
    """A set of one case, sound but for `lines`, which begin on line 2."""
    return "\n".join(["cases:", f"- {lines[0]}", *(f"  {line}" for line in lines[1:]), ""])


def test_every_field_of_a_case_is_read() -> None:
    golden = parse(WHOLE)
    fila, fora = golden.cases
    assert (golden.floor, golden.limit) == (1, 7)
    assert fila.id == "fila"
    assert fila.question == "por que a fila fica no Postgres?"
    assert fila.expected == (Place("file", "docs/adr/0003-fila.md"), Place("session", "s-12"))
    assert fila.scope == (Scope.ADR, Scope.SESSION)
    assert fila.tags == ("parafrase", "negacao")
    assert (fila.split, fila.must_pass, fila.note) == ("holdout", True, "importante")
    assert (fila.line, fila.place_lines) == (4, (7, 8))
    assert (fora.no_answer, fora.expected, fora.scope, fora.split) == (True, (), None, None)


def test_one_place_one_scope_and_one_tag_need_no_list() -> None:
    case = parse(one_case("id: a", "question: b", "expected: docs/c.md", "scope: docs", "tags: t")).cases[0]
    assert (case.expected, case.scope, case.tags) == ((Place("file", "docs/c.md"),), (Scope.DOCS,), ("t",))


def test_a_missing_floor_is_zero_and_a_missing_limit_is_the_settings_own() -> None:
    golden = parse(one_case("id: a", "question: b", "expected: docs/c.md"))
    assert (golden.floor, golden.limit) == (0, None)


def test_a_byte_order_mark_and_windows_line_endings_change_nothing() -> None:
    plain = parse(WHOLE)
    other = parse("\ufeff" + WHOLE.replace("\n", "\r\n"))
    assert other == plain
    assert [case.line for case in other.cases] == [case.line for case in plain.cases]


def test_numbers_in_quotes_are_text() -> None:
    assert parse(one_case("id: '7'", "question: '110112'", "expected: a.md")).cases[0].question == "110112"


def test_yes_and_no_are_words_and_not_truth_values() -> None:
    assert parse(one_case("id: yes", "question: no", "expected: on")).cases[0].id == "yes"


@pytest.mark.parametrize(
    ("value", "read_as"),
    [("110112", "a number"), ("1.5", "a number"), ("true", "true or false"), ("2026-01-31", "a date")],
)
@pytest.mark.parametrize("field", ["id", "question", "expected"])
def test_a_value_that_yaml_reads_as_something_else_needs_quotes(field: str, value: str, read_as: str) -> None:
    fields = {"id": "a", "question": "b", "expected": "c.md", field: value}
    fault = only_fault_of(one_case(*(f"{key}: {text}" for key, text in fields.items())))
    assert fault["field"] == field
    assert f"without quotes is {read_as}; put quotes around it" in str(fault["message"])


def test_all_faults_are_reported_at_once_in_the_order_of_lines() -> None:
    text = """\
floor: -1
limit: 51
cases:
- id: a
  question: x
  no_answer: yes
- id: 12
  pergunta: y
  expected: []
- just text
- id: a
  question: z
  expected: docs/z.md
  split: train
extra: 1
"""
    assert [(fault["line"], fault["field"], fault["case"]) for fault in faults_of(text)] == [
        (1, "floor", None),
        (2, "limit", None),
        (6, "no_answer", "a"),
        (7, "question", None),
        (7, "id", None),
        (8, "pergunta", None),
        (9, "expected", None),
        (10, "cases", None),
        (11, "id", "a"),
        (14, "split", "a"),
        (15, "extra", None),
    ]


def test_the_error_names_file_line_and_field_and_counts_the_faults() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(
            one_case("id: a", "question: q", "tag: u", "expected: x.md")
            + "- id: a\n  question: r\n  no_answer: true\n"
        )
    error = caught.value
    assert error.where == {"file": "cases.yaml", "line": 4, "field": "tag"}
    assert error.message == (
        "cases.yaml, line 4, case a, tag: “tag” is not a key of a case; did you mean tags? (2 faults in all)"
    )


@pytest.mark.parametrize(
    ("written", "meant"), [("expeted", "expected"), ("must-pass", "must_pass"), ("Question", "question")]
)
def test_an_unknown_key_is_answered_with_the_nearest_known_one(written: str, meant: str) -> None:
    faults = faults_of(one_case("id: a", "question: b", "expected: c.md", f"{written}: d"))
    assert f"did you mean {meant}?" in str(faults[0]["message"])


def test_a_key_written_twice_is_a_fault_that_names_the_first() -> None:
    fault = only_fault_of(one_case("id: a", "question: b", "expected: c.md", "question: d"))
    assert (fault["line"], fault["message"]) == (5, "question is given twice; the first is on line 3.")


@pytest.mark.parametrize("missing", ["id", "question"])
def test_a_case_without_id_or_question_is_a_fault(missing: str) -> None:
    fields = {"id": "a", "question": "b", "expected": "c.md"}
    del fields[missing]
    fault = only_fault_of(one_case(*(f"{key}: {text}" for key, text in fields.items())))
    assert (fault["field"], fault["line"]) == (missing, 2)


@pytest.mark.parametrize("no_answer", [(), ("no_answer: false",)])
def test_a_case_must_say_what_it_expects(no_answer: tuple[str, ...]) -> None:
    fault = only_fault_of(one_case("id: a", "question: b", *no_answer))
    assert fault["message"] == "The case has neither expected nor no_answer: true."


def test_a_case_can_not_expect_a_place_and_no_answer() -> None:
    fault = only_fault_of(one_case("id: a", "question: b", "expected: c.md", "no_answer: true"))
    assert fault["message"] == "The case has both expected and no_answer; it can have only one of them."


def test_no_answer_false_beside_a_place_says_nothing_new() -> None:
    assert (
        not parse(one_case("id: a", "question: b", "expected: c.md", "no_answer: false")).cases[0].no_answer
    )


@pytest.mark.parametrize(
    ("line", "field", "message"),
    [
        ("question: '   '", "question", "question is empty."),
        (f"question: {'x' * 2001}", "question", "question has 2001 characters; 2000 are allowed."),
        ("expected: []", "expected", "expected lists no place."),
        ("expected: [c.md, c.md]", "expected", "expected lists “c.md” twice."),
        ("expected: 'session:'", "expected", "expected names a session without its id; write session:ID."),
        (
            "expected: {c.md: 1}",
            "expected",
            "expected must be text, not a mapping; a text that holds a colon and a space needs quotes.",
        ),
        ("scope: []", "scope", "scope lists no scope; leave it out to search all."),
        ("scope: adrs", "scope", "“adrs” is no scope; the scopes are docs, adr, session."),
        ("must_pass: 'true'", "must_pass", "must_pass must be true or false, without quotes."),
        ("split: test", "split", "“test” is no split; it is calibrate or holdout."),
        ('note: "a\\0b"', "note", "note holds a character that no text has: U+0000."),
        ('question: "\\ud800"', "question", "question holds a character that no text has: U+D800."),
        (
            "question: !!python/object:os.system x",
            "question",
            "question must be text, not “!!python/object:os.system”.",
        ),
    ],
)
def test_a_faulty_value_is_named_with_its_rule(line: str, field: str, message: str) -> None:
    fields = {"id": "id: a", "question": "question: b", "expected": "expected: c.md", field: line}
    fault = only_fault_of(one_case(*fields.values()))
    assert (fault["case"], fault["field"], fault["message"]) == ("a", field, message)


def test_a_question_of_exactly_two_thousand_characters_is_allowed() -> None:
    assert (
        len(parse(one_case("id: a", f"question: {'x' * 2000}", "expected: c.md")).cases[0].question) == 2000
    )


@pytest.mark.parametrize("floor", ["'1'", "1.0", "0x1", "01", "1_0", "one", "[1]", "true"])
def test_a_floor_is_a_whole_number_in_plain_digits(floor: str) -> None:
    fault = only_fault_of(f"floor: {floor}\n" + one_case("id: a", "question: b", "expected: c.md"))
    assert (fault["field"], fault["line"]) == ("floor", 1)


def test_a_floor_whose_number_was_forgotten_is_not_taken_for_zero() -> None:
    fault = only_fault_of("floor:\n" + one_case("id: a", "question: b", "expected: c.md"))
    assert fault["message"] == "floor has no number."


def test_a_floor_above_the_number_of_cases_is_a_fault() -> None:
    fault = only_fault_of("floor: 2\n" + one_case("id: a", "question: b", "expected: c.md"))
    assert fault["message"] == "floor is 2, and the file has only 1 case; no run could reach it."


@pytest.mark.parametrize(("limit", "allowed"), [(0, False), (1, True), (50, True), (51, False)])
def test_a_limit_lies_between_1_and_50(limit: int, allowed: bool) -> None:
    text = f"limit: {limit}\n" + one_case("id: a", "question: b", "expected: c.md")
    if allowed:
        assert parse(text).limit == limit
    else:
        assert only_fault_of(text)["field"] == "limit"


@pytest.mark.parametrize(
    "other",
    ["QUAL O PRAZO?", "qual  o\n    prazo", "Qual o prazo ?!", "Ｑual o prazo"],  # full-width Q
)
def test_two_cases_that_ask_the_same_are_a_fault(other: str) -> None:
    text = one_case("id: a", "question: Qual o prazo?", "expected: c.md")
    text += f"- id: b\n  question: '{other}'\n  expected: d.md\n"
    fault = only_fault_of(text)
    assert (fault["case"], fault["message"]) == ("b", "The case asks the same as “a” on line 2.")


def test_the_same_words_within_other_scopes_are_another_case() -> None:
    text = one_case("id: a", "question: Qual o prazo?", "expected: c.md", "scope: docs")
    assert (
        len(parse(text + "- id: b\n  question: Qual o prazo?\n  expected: d.md\n  scope: adr\n").cases) == 2
    )


def test_names_that_end_in_a_sign_stay_different_questions() -> None:
    assert len({folded_question(name) for name in ("C", "C#", "C++")}) == 3
    assert folded_question("???") == "???"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", None),
        ("# nothing\n", None),
        ("- a\n", 1),
        ("cases: {}\n", 1),
        ("floor: 0\ncases: []\n", 2),
        ("floor: 0\n", 1),
        ("cases: ['x\n", 2),
        ("cases:\n\t- id: a\n", 2),
        ("cases: *x\n", 1),
        ("cases: []\n---\ncases: []\n", 2),
        ("floor: 0\ncases: \x00\n", 2),
        ("[" * 500, 1),
    ],
)
def test_a_file_without_cases_or_without_yaml_is_refused_with_its_line(text: str, line: int | None) -> None:
    assert only_fault_of(text)["line"] == line


def test_an_anchor_may_be_set_again() -> None:
    text = "cases:\n- {id: &x a, question: b, expected: &x c.md}\n- {id: d, question: e, expected: *x}\n"
    assert parse(text).cases[1].expected == (Place("file", "c.md"),)


def test_absurd_nesting_and_absurd_mappings_are_refused_in_plain_words() -> None:
    assert only_fault_of("- " * 500)["message"] == "The file is not valid YAML: it is nested too deeply."
    many_keys = "".join(f"k{number}: 1\n" for number in range(101))
    assert faults_of(many_keys)[0]["message"] == "There are 101 keys in a golden set."


def test_a_file_beyond_5_mb_is_refused_unread() -> None:
    with pytest.raises(FaultyGoldenSet, match="larger than 5 MB"):
        decode(b"x" * (MAX_FILE_BYTES + 1), file="cases.yaml")
    assert only_fault_of("#" * (MAX_FILE_BYTES + 1))["message"] == "The file is larger than 5 MB."


def test_a_file_in_another_encoding_is_refused_with_the_line_of_its_first_bad_byte() -> None:
    with pytest.raises(FaultyGoldenSet) as caught:
        decode("cases:\n- id: é\n".encode("latin-1"), file="cases.yaml")
    assert caught.value.where == {"file": "cases.yaml", "line": 2}


def test_an_alias_may_stand_for_a_list_of_places() -> None:
    text = "cases:\n- {id: a, question: b, expected: &here [x.md]}\n- {id: c, question: d, expected: *here}\n"
    assert parse(text).cases[1].expected == (Place("file", "x.md"),)


def test_aliases_can_not_multiply_a_case_or_a_set() -> None:
    cases = "cases:\n- &one {id: a, question: b, expected: c.md}\n" + "- *one\n" * 3
    assert {fault["line"] for fault in faults_of(cases)} == {2}
    laughs = "a: &a [x,x,x,x]\n" + "".join(
        f"{n}: &{n} [*{p},*{p},*{p},*{p}]\n" for p, n in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert any(
        fault["message"] == "expected must be text, not a list."
        for fault in faults_of(laughs + one_case("id: a", "question: b", "expected: *i"))
    )
    for value in ("floor: *i", "limit: *i", "floor: !!int [*i]"):
        key = value.partition(":")[0]
        assert any(fault["field"] == key for fault in faults_of(f"{laughs}{value}\ncases: []\n"))
    for value in ("no_answer: *i", "no_answer: !!bool [*i]", "must_pass: *i"):
        assert faults_of(laughs + one_case("id: a", "question: b", value))
    many = "".join(f"- {{id: i{n}, question: q{n}, expected: c.md, tags: *t}}\n" for n in range(102))
    assert only_fault_of(f"cases:\n- {{id: t, question: t, expected: t.md, tags: &t [x]}}\n{many}")[
        "message"
    ] == ("The file uses more than 100 aliases; write the values out.")


def test_any_number_of_cases_may_expect_one_place_each_without_a_list() -> None:
    cases = "".join(f"- {{id: i{n}, question: q{n}, expected: {n}.md, tags: t{n}}}\n" for n in range(150))
    assert parse(f"cases:\n{cases}").cases[149].expected == (Place("file", "149.md"),)


def test_the_digest_changes_with_what_changes_a_verdict_and_with_nothing_else() -> None:
    base = parse(WHOLE).digest
    same = [
        WHOLE.replace("floor: 1", "floor: 2"),
        WHOLE.replace("limit: 7\n", ""),
        WHOLE.replace("note: importante", "note: outra"),
        WHOLE.replace("holdout", "calibrate"),
        WHOLE.replace("must_pass: true", "must_pass: false"),
        WHOLE.replace("[parafrase, negacao]", "[]"),
        WHOLE.replace("[session, adr]", "[adr, session]"),
        WHOLE.replace(
            "  - docs/adr/0003-fila.md\n  - session:s-12\n", "  - session:s-12\n  - docs/adr/0003-fila.md\n"
        ),
    ]
    other = [
        WHOLE.replace("id: fila", "id: fila2"),
        WHOLE.replace("Postgres?", "Postgres"),
        WHOLE.replace("0003", "0004"),
        WHOLE.replace("session:s-12", "s-12"),
        WHOLE.replace("[session, adr]", "adr"),
        WHOLE.replace("no_answer: true", "expected: docs/lua.md"),
    ]
    assert [parse(text).digest == base for text in same] == [True] * len(same)
    assert [parse(text).digest == base for text in other] == [False] * len(other)


@pytest.mark.shared
@pytest.mark.skipif(not CORPORA, reason="the shared corpora are not beside this checkout")
@pytest.mark.parametrize("path", CORPORA, ids=lambda path: path.parent.name)
def test_the_case_files_of_real_projects_parse(path: Path) -> None:
    golden = parse_cases(decode(path.read_bytes(), file=str(path)), file=str(path))
    assert len(golden.cases) >= 24


def test_the_samples_own_cases_parse() -> None:
    path = Path(__file__).parents[3] / "golden_set" / "cases.yaml"
    assert parse_cases(decode(path.read_bytes(), file=str(path)), file=str(path)).cases


def test_a_fault_of_a_case_hides_neither_what_it_expects_nor_that_its_question_is_asked_twice() -> None:
    read = read_cases(
        "cases:\n"
        "  - {id: a, question: Onde?, expected: docs/a.md}\n"
        "  - {id: b, question: onde, expected: [docs/b.md, 7, docs/b.md], must_pass: maybe}\n",
        file="cases.yaml",
    )
    assert read.golden is None
    assert [(each.case, str(each.place)) for each in read.expected] == [
        ("a", "docs/a.md"),
        ("b", "docs/b.md"),
    ]
    assert [fault.field for fault in read.faults if fault.case == "b"] == [
        "expected",
        "expected",
        "must_pass",
        "question",
    ]
