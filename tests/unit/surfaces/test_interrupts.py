"""What a signal to end makes of a verb's exit code."""

import signal

import click
import pytest

from medir.interrupt import Ended, code_of_interrupt

TERMINATED, HUNG_UP = Ended(signal.SIGTERM), Ended(signal.SIGHUP)


@pytest.mark.parametrize(
    ("arguments", "error", "code"),
    [
        (["serve", "--port", "0"], TERMINATED, 0),
        (["mcp"], KeyboardInterrupt(), 0),
        (["up"], TERMINATED, 0),
        (["up"], KeyboardInterrupt(), 130),
        (["up", "--no-serve"], TERMINATED, 143),
        (["index"], TERMINATED, 143),
        (["index"], HUNG_UP, 129),
        (["index"], KeyboardInterrupt(), 130),
        ([], TERMINATED, 143),
    ],
)
def test_a_server_is_stopped_in_good_order_and_any_other_verb_says_which_signal_ended_it(
    arguments: list[str], error: KeyboardInterrupt, code: int
) -> None:
    assert code_of_interrupt(arguments, error) == code
    wrapped = click.Abort()
    wrapped.__cause__ = error
    assert code_of_interrupt(arguments, wrapped) == code
