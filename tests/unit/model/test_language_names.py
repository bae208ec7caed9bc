"""Languages by name and by code, and the text search configuration that an index says it was made with."""

import pytest

from rag_core.model.languages import LANGUAGES, language_meant, language_of, text_search_config
from rag_core.words.languages import LISTED, told_words


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("english", "english"),
        (" English\n", "english"),
        ("en", "english"),
        ("EN-us", "english"),
        ("en_GB.UTF-8", "english"),
        ("pt-BR", "portuguese"),
        ("pt_br", "portuguese"),
        ("sr-Latn-RS", "serbian"),
        ("nb", "norwegian"),
        ("no", "norwegian"),
        ("simple", "simple"),
        ("", None),
        ("ja", None),
        ("tlh", None),
        ("eng", None),
        ("en de", None),
        ("enormous", None),
        ("português", None),
        ("false", None),
    ],
)
def test_a_language_is_meant_by_its_name_or_its_code_of_any_region(text: str, language: str | None) -> None:
    assert language_meant(text) == language


def test_every_language_is_meant_by_its_name_and_each_of_its_codes_and_all_are_listed() -> None:
    for language, codes in LANGUAGES.items():
        assert {language_meant(name) for name in (language, *codes)} == {language}
        assert language in LISTED
    codes = [code for each in LANGUAGES.values() for code in each]
    assert len(codes) == len(set(codes)) == 30


def test_a_configuration_names_its_language_also_that_of_an_early_index() -> None:
    assert {language_of(text_search_config(language)) for language in LANGUAGES} == set(LANGUAGES)
    assert language_of("portuguese") == "portuguese"


def test_another_language_and_another_cutting_of_words_are_told_apart() -> None:
    portuguese, english = text_search_config("portuguese"), text_search_config("english")
    assert told_words(english, english) is None
    assert told_words(portuguese, english) == (
        "The index was made in another language: in portuguese, and the project's language is english now."
    )
    assert told_words("portuguese", portuguese) == (
        "The words of the index were cut by another version of Medir than this one."
    )
