"""Terms as tsqueries in their text form. Every lexeme is quoted; no text of a question is ever parsed as a query."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from rag_core.lexical.rank import WORTH
from rag_core.lexical.terms import Term
from rag_core.model import LexicalOperator, LexicalWay

_MOST_OPERANDS = 150
"""Above this an expression costs more to evaluate than the rows that it spares."""


class ScoreParts(TypedDict):
    """Named parameters of the lexical score.

    `terms` are all terms. Where some have several spellings, `spelled` are those, and `plain` the others with
    their number; else `spelled` is empty and PostgreSQL's own function is the score.
    """

    function: str
    query: str | None
    terms: list[str]
    plain: str | None
    plain_terms: int
    spelled: list[str]
    worth: list[float]


NOTHING_ASKED = ScoreParts(function="", query=None, terms=[], plain=None, plain_terms=0, spelled=[], worth=[])
"""Of a question without a searchable word: no chunk has a score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalQuery:
    """A question as a tsquery in its text form, the way it is asked and scored in, and its terms.

    A term is the lexemes of all its spellings; `terms` are in code point order, except that the rarest are put last
    where that is known. `matching` is roughly how many chunks hold any of them, None where nothing is known; it
    decides how the best are looked for, and never which they are.
    """

    tsquery: str
    terms: tuple[Term, ...]
    way: LexicalWay
    matching: int | None = None

    @property
    def score_parts(self) -> ScoreParts:
        """What the SQL of the lexical score is given."""
        one_for_all = self.way.operator is LexicalOperator.ANY or len(self.terms) == 1
        spelled = tuple(term for term in self.terms if len(term) > 1) if one_for_all else ()
        plain = tuple(term[0] for term in self.terms if len(term) == 1) if spelled else ()
        return ScoreParts(
            function=str(self.way.function),
            query=self.tsquery,
            terms=[any_of(term) for term in self.terms],
            plain=any_of(sorted(plain)) or None,
            plain_terms=len(plain),
            spelled=[any_of(term) for term in spelled],
            worth=list(WORTH),
        )


def quoted(lexeme: str) -> str:
    r"""The lexeme as a literal of the tsquery grammar.

    Examples:
        >>> quoted("d'água")
        "'d''água'"
    """
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def any_of(lexemes: Sequence[str]) -> str:
    """Any of at least one lexeme."""
    return " | ".join(quoted(lexeme) for lexeme in lexemes)


def all_terms(terms: Sequence[Term]) -> str:
    """All of at least one term, each in any of its spellings."""
    return " & ".join(any_of(term) if len(term) == 1 else f"({any_of(term)})" for term in terms)


def at_least(needed: int, terms: Sequence[Term]) -> str:
    """A query that every chunk with at least `needed` of the terms matches, from 1 to all of them.

    Where all combinations would be too many, it is about fewer of them: who has 5 of 12 terms has 2 of any 9. The
    terms at the end of the sequence are asked for first, so put the rarest there.

    Examples:
        >>> at_least(2, [("a",), ("b",), ("c",)])
        "'c' & ('b' | 'a') | 'b' & 'a'"
    """
    spared = next(
        (n for n in range(needed) if _operands(needed - n, len(terms) - n) <= _MOST_OPERANDS), needed - 1
    )
    rarest_first = list(reversed(terms))[: len(terms) - spared]
    return _combinations(needed - spared, rarest_first)


def _combinations(needed: int, terms: Sequence[Term]) -> str:
    if needed == 1:
        return " | ".join(any_of(term) for term in terms)
    if needed == len(terms):
        return all_terms(terms)
    first, rest = terms[0], terms[1:]
    head = any_of(first) if len(first) == 1 else f"({any_of(first)})"
    with_first = _combinations(needed - 1, rest)
    tail = f"({with_first})" if "|" in with_first else with_first
    return f"{head} & {tail} | {_combinations(needed, rest)}"


def _operands(needed: int, terms: int) -> int:
    """How many operands `_combinations` writes: by Pascal's rule, one less than a binomial coefficient."""
    return math.comb(terms + 1, needed) - 1
