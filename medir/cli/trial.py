"""The flags of a trial, shared by `search`, `golden run` and `calibrate`."""

import functools
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import click

from rag_core.model import Fusion, LexicalFunction, LexicalOperator
from rag_core.settings.overrides import UNSET, Overrides, Unset


class NumberOrNone(click.ParamType):
    """A number, or the word `none`."""

    def __init__(self, kind: type[int] | type[float]) -> None:
        self._kind = kind
        self.name = f"{kind.__name__}|none"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | Unset | None:
        """The number; None for `none`."""
        if isinstance(value, Unset | int | float):
            return value
        if str(value).lower() == "none":
            return None
        try:
            return self._kind(str(value))
        except ValueError:
            self.fail(f"{value!r} is neither a number nor none", param, ctx)


_OPTIONS = (
    click.option("--preset", metavar="NAME", help="Start from a preset: seeds, embedded, embedded-strict."),
    click.option(
        "--weight-vector",
        type=float,
        metavar="W",
        help="Weight of the vector signal; the lexical one is the rest.",
    ),
    click.option(
        "--threshold", type=NumberOrNone(float), default=UNSET, show_default=False, metavar="T|none"
    ),
    click.option("--candidates", type=int, metavar="N", help="Candidates a signal."),
    click.option(
        "--max-per-file", type=NumberOrNone(int), default=UNSET, show_default=False, metavar="N|none"
    ),
    click.option("--limit", type=int, metavar="N", help="Hits at most."),
    click.option(
        "--fusion", type=click.Choice([str(value) for value in Fusion]), help="How the signals are fused."
    ),
    click.option("--rrf-k", type=int, metavar="K", help="The k of an RRF fusion, 60 if not given."),
    click.option("--lexical-operator", type=click.Choice([str(value) for value in LexicalOperator])),
    click.option("--lexical-function", type=click.Choice([str(value) for value in LexicalFunction])),
    click.option("--k1", type=float, metavar="K1", help="Of bm25: how soon repetition stops to count."),
    click.option("--b", type=float, metavar="B", help="Of bm25: how much a long text counts for less."),
    click.option(
        "--title-weight",
        type=float,
        metavar="W",
        help="Of bm25 and coverageIdf: a title's word beside the text's.",
    ),
)
_WORDS = {"fusion": Fusion, "lexical_operator": LexicalOperator, "lexical_function": LexicalFunction}

in_force_option = click.option(
    "--in-force",
    is_flag=True,
    help="Judge the numbers that searches use: what was adopted, before settings.yaml.",
)


def trial_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Add the flags; the verb gets one argument `overrides`."""

    @functools.wraps(verb)
    def wrapped(*args: object, **given: Any) -> None:
        numbers = {field.name: given.pop(field.name) for field in fields(Overrides) if field.name in given}
        words = {name: kind(numbers[name]) for name, kind in _WORDS.items() if numbers[name]}
        verb(*args, overrides=Overrides(**numbers | words), **given)

    decorated: Callable[..., None] = wrapped
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
