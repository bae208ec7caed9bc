"""What stands once in a golden set: an id, and a question within its scopes."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from rag_core.golden.document import Reader, shown
from rag_core.model import Scope


@dataclass(frozen=True, slots=True)
class AskedCase:
    """What a case asks, and where; `case` is None where its id can't be read."""

    case: str | None
    question: str
    scopes: tuple[Scope, ...]
    line: int


def check_ids(ids: Iterable[tuple[str | None, int]], reader: Reader) -> None:
    """Report each id that an earlier case has, given with the line on which its case begins."""
    first_lines: dict[str, int] = {}
    for case_id, line in ids:
        if case_id is None:
            continue
        first = first_lines.setdefault(case_id, line)
        if first != line:
            message = f"The id {shown(case_id)} is taken by the case on line {first}."
            with reader.within(case_id):
                reader.report(message, line, "id")


def check_questions(asked: Iterable[AskedCase], reader: Reader) -> None:
    """Report each case that asks what an earlier one does."""
    # the same words asked within other scopes are another search, and so another case
    first: dict[tuple[str, tuple[Scope, ...]], AskedCase] = {}
    for each in asked:
        earlier = first.setdefault((folded_question(each.question), each.scopes), each)
        if earlier is not each:
            named = "the case" if earlier.case is None else shown(earlier.case)
            message = f"The case asks the same as {named} on line {earlier.line}."
            with reader.within(each.case):
                reader.report(message, each.line, "question")


def folded_question(question: str) -> str:
    """What questions that ask the same share: NFKC, case, white space and final punctuation folded.

    Examples:
        >>> folded_question("  Qual o  PRAZO?") == folded_question("qual o prazo")
        True
    """
    words = " ".join(unicodedata.normalize("NFKC", question).casefold().split())
    return words.rstrip(" .!?;:,") or words
