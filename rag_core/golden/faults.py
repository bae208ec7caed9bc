"""What is wrong with a file that people write, said in one shape by the parsers and the linter."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from rag_core.errors import FaultyDocument, FaultyGoldenSet
from rag_core.model.shape import Shape

_Refusal = TypeVar("_Refusal", bound=FaultyDocument)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault(Shape):
    """One thing to mend. `case` is the case's id, None outside a case or where the id can't be read.

    `field` is the key as it is written in the file, None where the whole file is meant; `line` is 1-based.
    """

    case: str | None
    field: str | None
    line: int | None
    message: str

    @property
    def place(self) -> str:
        """Where it stands, in words: `line 4, case senha, expected`."""
        return ", ".join(self.named) or "the file"

    @property
    def named(self) -> tuple[str, ...]:
        """The line, the case and the field, as far as they are known."""
        line = "" if self.line is None else f"line {self.line}"
        case = "" if self.case is None else f"case {self.case}"
        return tuple(part for part in (line, case, self.field) if part)


def in_file_order(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """The faults by line; those without a line first, those of one line as they were found."""
    return tuple(sorted(faults, key=lambda fault: fault.line or 0))


def refusal(faults: Iterable[Fault], *, file: str) -> FaultyGoldenSet:
    """The error that refuses a golden set: it names the first fault's place and carries all of them.

    Raises:
        ValueError: There is no fault, so nothing to refuse.
    """
    return refusal_of(
        FaultyGoldenSet,
        faults,
        file=file,
        hint="Mend the cases file, then try again.",
    )


def refusal_of(kind: type[_Refusal], faults: Iterable[Fault], *, file: str, hint: str) -> _Refusal:
    """The error that refuses a file of any kind.

    Raises:
        ValueError: There is no fault, so nothing to refuse.
    """
    ordered = in_file_order(faults)
    if not ordered:
        raise ValueError("a file without faults is not refused")
    first = ordered[0]
    where: dict[str, str | int] = {"file": file}
    if first.line is not None:
        where["line"] = first.line
    if first.field is not None:
        where["field"] = first.field
    subject = ", ".join((file, *first.named))
    count = "" if len(ordered) == 1 else f" ({len(ordered)} faults in all)"
    return kind(
        f"{subject}: {first.message}{count}",
        faults=tuple(fault.to_json() for fault in ordered),
        hint=hint,
        where=where,
    )
