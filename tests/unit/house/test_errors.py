"""Errors go from one process to another with all that they say."""

import pickle

import pytest

from rag_core.errors import (
    Busy,
    DatabaseUnavailable,
    EmbeddingFailed,
    FaultyGoldenSet,
    InvalidInput,
    MedirError,
    VotesAtRisk,
)


@pytest.mark.parametrize(
    "error",
    [
        InvalidInput("That does not parse.", hint="Mend it.", where={"file": "a.yaml", "line": 3}),
        FaultyGoldenSet("It has faults.", faults=({"case": "a", "line": 3},), hint="Mend them."),
        VotesAtRisk(3),
        Busy("Another run is at work.", hint="Wait."),
        DatabaseUnavailable("The database does not answer."),
        EmbeddingFailed("No.", content_fault=True),
    ],
)
def test_an_error_that_was_handed_over_says_the_same(error: MedirError) -> None:
    error.code = f"{error.code}!"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.args) == (str(error), error.args)
    assert vars(again) == vars(error)
