"""Names of places look the same in several Unicode forms; where one place can be meant, it is."""

import unicodedata

import pytest

from rag_core.golden.cases import GoldenCase, GoldenSet, with_places_meant
from rag_core.golden.linter import lint
from rag_core.model import Place, Scope
from rag_core.model.place_names import PlaceNames, form_of, forms_of

COMPOSED = "docs/opera\u00e7\u00e3o.md"
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)
MIXED = "docs/opera\u00e7a\u0303o.md"


def file(path: str) -> Place:
    return Place("file", path)


def golden(*expected: str) -> GoldenSet:
    case = GoldenCase(id="op", question="quantos?", expected=tuple(map(Place.parse, expected)), line=3)
    return GoldenSet(floor=0, limit=None, cases=(case,))


@pytest.mark.parametrize("known", [COMPOSED, DECOMPOSED, MIXED])
@pytest.mark.parametrize("named", [COMPOSED, DECOMPOSED, MIXED])
def test_the_only_one_that_differs_in_its_form_alone_is_meant(known: str, named: str) -> None:
    assert PlaceNames([file(known), file("docs/operacao.md")]).meant(file(named)) == file(known)
    assert PlaceNames([Place("session", known)]).meant(Place("session", named)) == Place("session", known)
    assert PlaceNames([Place("session", known)]).meant(file(named)) == file(named)


def test_of_two_the_exact_one_is_meant_and_of_a_third_form_neither() -> None:
    names = PlaceNames([file(COMPOSED), file(DECOMPOSED)])
    assert [names.meant(file(name)).key for name in (COMPOSED, DECOMPOSED, MIXED)] == [
        COMPOSED,
        DECOMPOSED,
        MIXED,
    ]


def test_a_case_is_won_by_the_file_that_it_means_and_stays_the_same_case() -> None:
    indexed = {file(DECOMPOSED): Scope.DOCS}
    written = golden(COMPOSED)
    meant = with_places_meant(written, PlaceNames(indexed))
    assert meant.cases[0].expected == (file(DECOMPOSED),)
    assert lint(meant, indexed=indexed, in_repository={DECOMPOSED}) == ()
    assert (meant.digest, meant.cases[0].digest) == (written.digest, written.cases[0].digest)
    assert golden("docs/operacao.md").digest != written.digest


def test_one_file_that_is_named_twice_is_expected_once() -> None:
    meant = with_places_meant(golden(COMPOSED, "docs/a.md", DECOMPOSED), PlaceNames([file(DECOMPOSED)]))
    assert meant.cases[0].expected == (file(DECOMPOSED), file("docs/a.md"))
    assert meant.cases[0].place_lines == (3, 3)


def test_where_two_could_be_meant_the_fault_names_the_forms() -> None:
    indexed = {file(COMPOSED): Scope.DOCS, file(DECOMPOSED): Scope.DOCS}
    (fault,) = lint(
        with_places_meant(golden(MIXED), PlaceNames(indexed)),
        indexed=indexed,
        in_repository={COMPOSED, DECOMPOSED},
    )
    assert "it is written of mixed form" in fault.message
    assert "(NFC)" in fault.message or "(NFD)" in fault.message


def test_forms_are_told_and_listed() -> None:
    assert [form_of(name) for name in (COMPOSED, DECOMPOSED, MIXED)] == [
        "composed (NFC)",
        "decomposed (NFD)",
        "of mixed form",
    ]
    assert forms_of("ção") == sorted(["ção", unicodedata.normalize("NFD", "ção")])
    assert forms_of("cao") == ["cao"]
