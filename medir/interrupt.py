"""What Ctrl-C and the signals that end a process mean to a verb: known before anything else is loaded."""

import signal
from types import FrameType

_KILLED = 128
# they end no other way, so that a signal is no failure of theirs
_UNTIL_STOPPED = ("serve", "mcp")


class Ended(KeyboardInterrupt):
    """A signal asked for an end; the end is Ctrl-C's, the exit code the signal's own."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def end_politely() -> None:
    """Have the signals that end a process do it as Ctrl-C does, so that it gives back what it holds."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)


def code_of_interrupt(arguments: list[str], error: BaseException) -> int:
    """The exit code of Ctrl-C, or of a signal to end, at whatever moment it came.

    Args:
        arguments: Those of the command line.
        error: What reached its end.
    """
    verb = arguments[0] if arguments else ""
    # click turns what ends a verb into an exception of its own
    ended = next((each for each in (error, error.__cause__) if isinstance(each, Ended)), None)
    # whoever supervises a server stops it so in good order, also while it is still preparing
    served = verb in _UNTIL_STOPPED or (verb == "up" and "--no-serve" not in arguments and ended is not None)
    return 0 if served else _KILLED + (signal.SIGINT if ended is None else ended.number)


def _end(number: int, _frame: FrameType | None) -> None:
    raise Ended(number)
