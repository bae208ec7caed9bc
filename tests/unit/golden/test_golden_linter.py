"""What the linter says about cases that can't be won."""

from rag_core.golden.cases import GoldenSet, parse_cases
from rag_core.golden.faults import refusal
from rag_core.golden.linter import lint
from rag_core.model import Place, Scope

INDEXED = {
    Place("file", "docs/guia.md"): Scope.DOCS,
    Place("file", "docs/adr/0012-fila.md"): Scope.ADR,
    Place("session", "s-1"): Scope.SESSION,
}
REPOSITORY = frozenset({"docs/guia.md", "docs/adr/0012-fila.md", "docs/novo.md", "src/main.py"})


def golden(expected: str, *more: str) -> GoldenSet:
    lines = ["cases:", "- id: a", "  question: b", f"  expected: {expected}", *(f"  {line}" for line in more)]
    return parse_cases("\n".join(lines), file="cases.yaml")


def messages(expected: str, *more: str, in_repository: frozenset[str] | None = REPOSITORY) -> list[str]:
    faults = lint(golden(expected, *more), indexed=INDEXED, in_repository=in_repository)
    return [fault.message for fault in faults]


def test_cases_that_expect_what_is_indexed_have_no_fault() -> None:
    assert messages("[docs/guia.md, docs/adr/0012-fila.md, 'session:s-1']") == []
    assert messages("docs/adr/0012-fila.md", "scope: [adr, docs]") == []


def test_a_case_without_answer_expects_nothing_that_could_be_missing() -> None:
    sound = parse_cases("cases: [{id: a, question: b, no_answer: true, scope: adr}]", file="cases.yaml")
    assert lint(sound, indexed={}, in_repository=frozenset()) == ()


def test_a_path_that_does_not_exist_is_answered_with_the_nearest_one() -> None:
    assert messages("docs/adr/0012-filas.md") == [
        "“docs/adr/0012-filas.md” does not exist in the repository; did you mean “docs/adr/0012-fila.md”?"
    ]


def test_a_moved_file_is_found_by_its_name() -> None:
    assert messages("decisions/25/0012-fila.md") == [
        "“decisions/25/0012-fila.md” does not exist in the repository; did you mean “docs/adr/0012-fila.md”?"
    ]


def test_other_spellings_of_a_path_are_recognised() -> None:
    for written in ("./docs/guia.md", "/docs/guia.md", "Docs/Guia.md", r"docs\guia.md"):
        assert messages(written)[0].endswith("; did you mean “docs/guia.md”?")


def test_a_path_in_another_unicode_form_is_recognised() -> None:
    composed, decomposed = "docs/a\u00e7\u00e3o.md", "docs/ac\u0327a\u0303o.md"
    faults = lint(golden(composed), indexed={}, in_repository={decomposed})
    assert faults[0].message.endswith(f"; it is written composed (NFC), and “{decomposed}” decomposed (NFD).")


def test_a_path_that_resembles_nothing_gets_no_suggestion() -> None:
    assert messages("zzz/qqq.txt") == ["“zzz/qqq.txt” does not exist in the repository."]


def test_a_file_that_exists_but_is_not_indexed_is_told_from_one_that_does_not_exist() -> None:
    assert messages(
        "[docs/novo.md, docs/NOVO.MD]", in_repository=frozenset({"docs/novo.md", "docs/NOVO.MD"})
    ) == [
        "“docs/novo.md” is in the repository but not in the index; index the project again, unless it holds no text.",
        "“docs/NOVO.MD” is in the repository but not in the index; index the project again, unless it holds no text.",
    ]


def test_a_file_that_was_deleted_since_the_last_indexing_is_a_fault() -> None:
    assert messages("docs/guia.md", in_repository=frozenset()) == [
        "“docs/guia.md” is in the index but no longer in the repository."
    ]


def test_what_is_known_of_a_path_beside_the_index_is_told_in_its_place() -> None:
    elsewhere = {"README.md": "is outside."}
    deleted = {"docs/gone.md": "It was deleted in commit 123."}
    faults = lint(
        golden("[README.md, docs/gone.md]"),
        indexed=INDEXED,
        in_repository=REPOSITORY,
        elsewhere=elsewhere,
        deleted=deleted,
    )
    assert [fault.message for fault in faults] == [
        "“README.md” is outside.",
        "“docs/gone.md” does not exist in the repository. It was deleted in commit 123.",
    ]


def test_without_a_repository_only_the_index_is_asked() -> None:
    assert messages("[docs/guia.md, docs/giua.md]", in_repository=None) == [
        "“docs/giua.md” is not in the index; did you mean “docs/guia.md”?"
    ]


def test_a_session_must_be_indexed() -> None:
    assert messages("'session:zzzzzz'") == ["No session “zzzzzz” is indexed."]


def test_a_session_with_a_mistyped_id_is_answered_with_the_nearest_one() -> None:
    indexed = {Place("session", "2026-01-deploy"): Scope.SESSION}
    faults = lint(golden("'session:2026-01-deplo'"), indexed=indexed, in_repository=frozenset())
    assert faults[0].message == (
        "No session “2026-01-deplo” is indexed; did you mean “session:2026-01-deploy”?"
    )


def test_a_place_outside_the_scope_that_the_case_searches_can_not_be_found() -> None:
    assert messages("docs/guia.md", "scope: [adr, session]") == [
        "“docs/guia.md” is in scope docs, and the case searches only adr, session."
    ]


def test_each_fault_names_case_field_and_line_and_becomes_the_contracts_json() -> None:
    text = """\
cases:
- id: first
  question: q
  expected:
  - docs/guia.md
  - docs/gone.md
- id: second
  question: r
  expected: docs/guia.md
  scope: adr
"""
    faults = lint(parse_cases(text, file="c.yaml"), indexed=INDEXED, in_repository=REPOSITORY)
    assert [fault.to_json() for fault in faults] == [
        {
            "case": "first",
            "field": "expected",
            "line": 6,
            "message": "“docs/gone.md” does not exist in the repository; did you mean “docs/novo.md”?",
        },
        {
            "case": "second",
            "field": "scope",
            "line": 7,
            "message": "“docs/guia.md” is in scope docs, and the case searches only adr.",
        },
    ]


def test_faults_become_one_error_that_carries_them_all() -> None:
    faults = lint(golden("[docs/a1.md, docs/b2.md]"), indexed=INDEXED, in_repository=None)
    error = refusal(faults, file="cases.yaml")
    assert error.where == {"file": "cases.yaml", "line": 4, "field": "expected"}
    assert error.message.endswith("(2 faults in all)")
    assert [fault["case"] for fault in error.faults] == ["a", "a"]
