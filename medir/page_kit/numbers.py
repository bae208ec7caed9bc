"""Other numbers in an address: the one codec between a page's parameters and `Overrides`."""

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass

from medir.page_kit.address import Parameter
from rag_core.model import Fusion, LexicalFunction, LexicalOperator
from rag_core.settings.overrides import UNSET, Overrides, Unset

NO_CAP = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class NumbersInAddress:
    """The parameters of a page's numbers: what the address is silent on stays as it is.

    `no_threshold` is the value of `threshold` that stands for none. `k` is that of an RRF fusion. A page without the
    last three chooses no other fusion or lexical way.
    """

    weight: Parameter[float | None]
    threshold: Parameter[float | None]
    no_threshold: float
    cap: Parameter[str]
    depth: Parameter[float | None]
    limit: Parameter[float | None]
    k: Parameter[float | None]
    fusion: Parameter[str] | None = None
    operator: Parameter[str] | None = None
    function: Parameter[str] | None = None

    def __iter__(self) -> Iterator[Parameter[float | None] | Parameter[str]]:
        fields = (getattr(self, field.name) for field in dataclasses.fields(self))
        return (each for each in fields if isinstance(each, Parameter))

    def read(self) -> Overrides:
        """The numbers that are chosen now."""
        threshold, cap = self.threshold.read(), self.cap.read()
        depth, limit, k = (_whole(each.read()) for each in (self.depth, self.limit, self.k))
        fusion, operator, function = map(_word, (self.fusion, self.operator, self.function))
        return Overrides(
            weight_vector=self.weight.read(),
            threshold=UNSET if threshold is None else None if threshold == self.no_threshold else threshold,
            max_per_file=UNSET if not cap else None if cap == NO_CAP else int(cap),
            candidates=depth,
            limit=limit,
            fusion=Fusion(fusion) if fusion else None,
            rrf_k=k,
            lexical_operator=LexicalOperator(operator) if operator else None,
            lexical_function=LexicalFunction(function) if function else None,
        )

    def choose(self, numbers: Overrides) -> None:
        """Choose these and no others, from a callback."""
        threshold, cap = numbers.threshold, numbers.max_per_file
        if threshold is None:
            threshold = self.no_threshold
        self.weight.choose(numbers.weight_vector)
        self.threshold.choose(None if isinstance(threshold, Unset) else threshold)
        self.cap.choose("" if isinstance(cap, Unset) else cap_name(cap))
        for parameter, whole in (
            (self.depth, numbers.candidates),
            (self.limit, numbers.limit),
            (self.k, numbers.rrf_k),
        ):
            parameter.choose(None if whole is None else float(whole))
        for parameter, word in (
            (self.fusion, numbers.fusion),
            (self.operator, numbers.lexical_operator),
            (self.function, numbers.lexical_function),
        ):
            if parameter is not None:
                parameter.choose(word or "")


def cap_name(cap: int | None) -> str:
    """A cap as the address and its widget have it."""
    return NO_CAP if cap is None else str(cap)


def cap_names(*own: str) -> list[str]:
    """The caps that a widget offers, the page's own among them."""
    return sorted({*own, "1", "2", "3", NO_CAP}, key=lambda cap: math.inf if cap == NO_CAP else int(cap))


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _word(parameter: Parameter[str] | None) -> str:
    return "" if parameter is None else parameter.read()
