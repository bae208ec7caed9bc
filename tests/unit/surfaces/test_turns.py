"""Who comes second waits for the first, says so once, and fails for nothing else than its own reasons."""

import pytest

from medir.turns import in_turn
from rag_core.errors import Busy, UsageError


def test_it_waits_and_says_so_once() -> None:
    said: list[str] = []
    answers = iter([Busy("Another run is at work."), Busy("Another run is at work."), "done"])

    def begin() -> str:
        answer = next(answers)
        if isinstance(answer, Busy):
            raise answer
        return answer

    assert in_turn(begin, say=said.append) == "done"
    assert said == ["Another run is at work. Waiting for it to end."]


def test_what_is_wrong_after_the_wait_is_told() -> None:
    reasons = iter([Busy("Another run is at work."), UsageError("The ref is gone.")])

    def begin() -> None:
        raise next(reasons)

    with pytest.raises(UsageError, match="gone"):
        in_turn(begin, say=lambda _: None)
