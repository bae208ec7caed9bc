"""Work that one at a time may do: whoever comes second waits for the first, and says so."""

import time
from collections.abc import Callable
from typing import TypeVar

from rag_core.errors import Busy

_LOOK_AGAIN_S = 0.5
_Done = TypeVar("_Done")


def in_turn(begin: Callable[[], _Done], *, say: Callable[[str], None]) -> _Done:
    """What `begin` gives once nobody else holds what it needs; `say` is told that it waits, and for whom.

    It waits as long as another process is at work: one that dies gives back what it holds.
    """
    told = False
    while True:
        try:
            return begin()
        except Busy as busy:
            if not told:
                say(f"{busy.message} Waiting for it to end.")
                told = True
            time.sleep(_LOOK_AGAIN_S)
