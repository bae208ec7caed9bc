"""A run against a baseline in the terminal: what changed in plain words, and effects only where there are any."""

import io

from medir.cli.comparison import changes_told, print_comparison
from medir.cli.frame import Output
from rag_core.evaluation.comparison import BaselineComparison
from rag_core.evaluation.interaction import Turned

NOTHING = Turned(won=(), lost=())


def compared(
    *,
    differs: tuple[str, ...] = (),
    by_settings: Turned | None = NOTHING,
    by_index: Turned | None = NOTHING,
    outcome: Turned = NOTHING,
) -> BaselineComparison:
    return BaselineComparison(
        name="v1",
        differs=differs,
        shared=("frete",),
        new=("incendio",),
        gone=(),
        changed=(),
        passed_before=(),
        outcome=outcome,
        obstacle=None,
        by_settings=by_settings,
        by_index=by_index,
    )


def printed(comparison: BaselineComparison) -> list[str]:
    people = io.StringIO()
    print_comparison(Output(as_json=False, out=people, err=io.StringIO()), comparison, what="This run")
    return people.getvalue().splitlines()


def test_a_green_run_says_nothing_of_effects_that_are_none_and_names_a_new_case_once() -> None:
    assert printed(compared(differs=("cases", "case:incendio"))) == [
        "",
        "This run against the baseline v1: 0 won, 0 lost",
        "New, so not compared: incendio",
    ]


def test_what_changed_is_said_in_plain_words() -> None:
    differs = ("cases", "index", "case:incendio", "commit", "settings.threshold", "settings.maxPerFile")
    assert "Changed in between: the index; the commit; the settings (threshold, chunks a file)" in printed(
        compared(differs=differs)
    )
    assert changes_told(("cases",)) == ("the golden set, though none of its cases",)


def test_effects_stand_both_where_one_turned_a_case_or_can_not_be_told() -> None:
    frete = Turned(won=(), lost=("frete",))
    lost = printed(compared(by_settings=frete, outcome=frete))
    assert lost[-2:] == [
        "Effect of the settings: 0 won, 1 lost (frete)",
        "Effect of the index: 0 won, 0 lost",
    ]
    untold = printed(compared(by_index=None))
    assert untold[-1].startswith("Effect of the index: can't be told")


def test_where_the_effects_do_not_add_up_it_is_said_of_which_cases_and_why() -> None:
    told = compared(
        outcome=Turned(won=("e",), lost=("a", "b", "c")),
        by_settings=Turned(won=("d", "e"), lost=("b", "c")),
        by_index=Turned(won=("e",), lost=("c",)),
    )
    assert printed(told)[-1] == (
        "The two do not add up: 1 lost only by both together (a); 1 lost by either alone, and counted in both (c); "
        "1 won by either alone, and counted in both (e); 1 won by one alone, and not by both together (d)"
    )
    assert told.to_json()["effects"] == {
        "settings": {"won": ["d", "e"], "lost": ["b", "c"]},
        "index": {"won": ["e"], "lost": ["c"]},
        "interaction": {
            "onlyTogether": {"won": [], "lost": ["a"]},
            "eitherAlone": {"won": ["e"], "lost": ["c"]},
            "undone": {"won": ["d"], "lost": []},
        },
    }
    # what only both together did is told too where neither alone did anything
    assert printed(compared(outcome=Turned(won=(), lost=("a",))))[-3:] == [
        "Effect of the settings: 0 won, 0 lost",
        "Effect of the index: 0 won, 0 lost",
        "The two do not add up: 1 lost only by both together (a)",
    ]


def test_every_part_that_can_differ_has_words() -> None:
    parts = (
        "limit",
        "index",
        "model",
        "degraded",
        "commit",
        "chunkerVersion",
        "queryVersion",
        "textSearchConfig",
    )
    assert not set(parts) & set(changes_told(parts))
