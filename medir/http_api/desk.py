"""Where routes hand their work over: to the services of this process, in threads, so many at a time."""

import functools
from collections.abc import Callable
from typing import Literal, TypeVar

import anyio
import anyio.to_thread

from medir.configuration import Configuration
from medir.workbench import Workbench, open_workbench

_T = TypeVar("_T")

Lane = Literal["requests", "reports", "probes"]
# a search waits for its provider most of the time, and holds no connection meanwhile
_AT_ONCE: dict[Lane, int] = {
    "requests": 16,
    # a report reads through two connections, so a few of them could take all there are
    "reports": 2,
    # whether the database answers must be found out also while all others wait for it
    "probes": 2,
}


class Desk:
    """Runs work of requests. Services are opened by the first that needs them, and again after a failure."""

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self._lanes: dict[Lane, anyio.CapacityLimiter] = {}

    async def run(self, task: Callable[[Workbench], _T], *, lane: Lane = "requests") -> _T:
        """The task's result; it is called in a thread.

        Raises:
            Unavailable: The services can't be opened.
        """
        if lane not in self._lanes:
            # not before there is an event loop that it belongs to
            self._lanes[lane] = anyio.CapacityLimiter(_AT_ONCE[lane])
        return await anyio.to_thread.run_sync(functools.partial(self._run, task), limiter=self._lanes[lane])

    def _run(self, task: Callable[[Workbench], _T]) -> _T:
        return task(open_workbench(self.configuration))
