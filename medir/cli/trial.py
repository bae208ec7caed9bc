"""The flags of a trial, shared by `search`, `golden run` and `calibrate`."""

import functools
from collections.abc import Callable

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
    click.option("--lexical-operator", type=click.Choice([str(value) for value in LexicalOperator])),
    click.option("--lexical-function", type=click.Choice([str(value) for value in LexicalFunction])),
)


in_force_option = click.option(
    "--in-force",
    is_flag=True,
    help="Judge the numbers that searches use: what was adopted, before settings.yaml.",
)


def trial_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Add the flags; the verb gets one argument `overrides`."""

    @functools.wraps(verb)
    def wrapped(
        *args: object,
        preset: str | None,
        weight_vector: float | None,
        threshold: float | Unset | None,
        candidates: int | None,
        max_per_file: int | Unset | None,
        limit: int | None,
        fusion: str | None,
        lexical_operator: str | None,
        lexical_function: str | None,
        **others: object,
    ) -> None:
        overrides = Overrides(
            preset=preset,
            weight_vector=weight_vector,
            threshold=threshold,
            candidates=candidates,
            max_per_file=max_per_file,
            limit=limit,
            fusion=Fusion(fusion) if fusion else None,
            lexical_operator=LexicalOperator(lexical_operator) if lexical_operator else None,
            lexical_function=LexicalFunction(lexical_function) if lexical_function else None,
        )
        verb(*args, overrides=overrides, **others)

    decorated: Callable[..., None] = wrapped
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
