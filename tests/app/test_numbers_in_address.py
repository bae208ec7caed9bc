"""Other numbers in a page's address: links that people keep say the same for ever, and nothing is lost on the way."""

import pytest
from streamlit.testing.v1 import AppTest

from rag_core.model import Fusion, LexicalFunction, LexicalOperator
from rag_core.settings.overrides import UNSET, Overrides

CALIBRATION, SEARCH = "medir.pages.calibration.numbers", "medir.pages.search.trial_numbers"


def _script(module: str) -> None:
    import importlib  # noqa: PLC0415  the script stands alone

    import streamlit as st  # noqa: PLC0415

    from medir.page_kit.address import settle  # noqa: PLC0415

    numbers = importlib.import_module(module).NUMBERS
    if "choose" in st.session_state:
        numbers.choose(st.session_state["choose"])
    st.session_state["read"] = numbers.read()
    settle(*numbers)


def opened(module: str, address: dict[str, str], choose: Overrides | None = None) -> AppTest:
    page = AppTest.from_function(_script, args=(module,))
    for name, text in address.items():
        page.query_params[name] = text
    if choose is not None:
        page.session_state["choose"] = choose
    page.run()
    assert not page.exception
    return page


def address_of(page: AppTest) -> dict[str, str]:
    return {name: text if isinstance(text, str) else text[0] for name, text in page.query_params.items()}


LINKS = [
    (CALIBRATION, {}, Overrides()),
    (CALIBRATION, {"at-weight": "0.30000000000000004"}, Overrides(weight_vector=0.30000000000000004)),
    (CALIBRATION, {"at-threshold": "none", "at-cap": "none"}, Overrides(threshold=None, max_per_file=None)),
    (CALIBRATION, {"at-threshold": "-1.5", "at-cap": "7"}, Overrides(threshold=-1.5, max_per_file=7)),
    (CALIBRATION, {"at-depth": "1000", "at-limit": "50"}, Overrides(candidates=1000, limit=50)),
    (
        CALIBRATION,
        {"at-fusion": "zScore", "at-operator": "all", "at-function": "coverage"},
        Overrides(
            fusion=Fusion.Z_SCORE,
            lexical_operator=LexicalOperator.ALL,
            lexical_function=LexicalFunction.COVERAGE,
        ),
    ),
    (
        CALIBRATION,
        {"at-fusion": "weightedRrf", "at-k": "10"},
        Overrides(fusion=Fusion.WEIGHTED_RRF, rrf_k=10),
    ),
    (SEARCH, {"k": "2"}, Overrides(rrf_k=2)),
    (SEARCH, {"weight": "0.25", "threshold": "0.2"}, Overrides(weight_vector=0.25, threshold=0.2)),
    (SEARCH, {"threshold": "0", "cap": "none"}, Overrides(threshold=None, max_per_file=None)),
    (SEARCH, {"depth": "7", "limit": "3", "cap": "2"}, Overrides(candidates=7, limit=3, max_per_file=2)),
]


@pytest.mark.parametrize(("page", "address", "numbers"), LINKS)
def test_a_link_says_its_numbers_and_numbers_make_the_link(
    page: str, address: dict[str, str], numbers: Overrides
) -> None:
    came_by_link = opened(page, address)
    assert came_by_link.session_state["read"] == numbers
    assert address_of(came_by_link) == address
    assert address_of(opened(page, {}, choose=numbers)) == address


def test_what_can_not_be_meant_is_left_as_it_is_in_force() -> None:
    page = opened(CALIBRATION, {"at-weight": "2", "at-threshold": "nan", "at-cap": "0", "at-depth": "1001"})
    assert page.session_state["read"] == Overrides()
    assert address_of(page) == {}


def test_choosing_takes_back_what_was_chosen_before() -> None:
    page = opened(SEARCH, {"weight": "0.25", "cap": "1"}, choose=Overrides(limit=2, threshold=UNSET))
    assert address_of(page) == {"limit": "2"}
