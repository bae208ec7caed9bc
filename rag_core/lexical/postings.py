"""Scores from word statistics: BM25 and the share of the question's rarity that a chunk covers. Pure.

Both lie in [0, 1] and are linear under a weighted sum: each is a sum over the question's terms, divided by the
greatest value that the question can reach, which is the sum of its terms' inverse document frequencies. A term that no
chunk holds counts in it, so a question that is half of foreign words can't reach more than a half.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.model import LexicalFunction, LexicalOperator, LexicalWay

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ENTRY = np.dtype([("number", ">u4"), ("written", ">u2"), ("length", ">u2")])
"""How a posting is kept: a chunk's number, how often it holds the lexeme, how many lexemes its text has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """What is counted over all chunks of a project; `text_length` is the number of lexemes in their texts."""

    chunks: int
    text_length: int

    @property
    def average_length(self) -> float:
        """Lexemes a chunk; 1 where no chunk has any, so that it can be divided by."""
        return self.text_length / self.chunks if self.text_length else 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TermPostings:
    """The postings of all spellings of one term, in texts and in titles; arrays of `ENTRY`, in any order."""

    in_text: Sequence[NDArray[np.void]]
    in_title: Sequence[NDArray[np.void]]


def score_postings(
    terms: Sequence[TermPostings],
    lexicon: Lexicon,
    way: LexicalWay,
    *,
    at_most: int | None = None,
    allowed: NDArray[np.bool_] | None = None,
) -> tuple[Integers, Floats]:
    """The chunks that match, best first, ties by number, and their scores.

    Args:
        terms: The question's terms, those without a posting among them.
        lexicon: Of the whole project, whatever is searched of it.
        way: Function, operator, and the function's numbers.
        at_most: How many are returned; None: all that match.
        allowed: Which chunks may be returned, shape (chunks,); None: all.

    Returns:
        Chunk numbers and scores in (0, 1], both of the same shape (hits,).
    """
    part = _PARTS[way.function]
    total, lengths, reachable = np.zeros(lexicon.chunks), np.zeros(lexicon.chunks), 0.0
    missed = np.zeros(lexicon.chunks, dtype=bool)
    for term in terms:
        holding, weighed = _weighed(term, way.title_weight, lengths)
        rarity = inverse_document_frequency(lexicon.chunks, len(holding))
        reachable += rarity
        total[holding] += rarity * part(weighed, lengths[holding], lexicon, way)
        if way.operator is LexicalOperator.ALL:
            lacking = np.ones(lexicon.chunks, dtype=bool)
            lacking[holding] = False
            missed |= lacking
    matching = (total > 0) & ~missed
    numbers = np.flatnonzero(matching if allowed is None else matching & allowed)
    scores = total[numbers] / reachable if reachable else total[numbers]
    if at_most is not None and at_most < len(scores):
        # all that tie with the last one stay, for the numbers to decide
        stays = scores >= np.partition(scores, -at_most)[-at_most]
        numbers, scores = numbers[stays], scores[stays]
    order = np.argsort(-scores, kind="stable")[:at_most]
    return numbers[order], scores[order]


def inverse_document_frequency(chunks: int, holding: int) -> float:
    """`ln(1 + (N - n + 0.5) / (n + 0.5))`, above 0 also for a word that every chunk holds.

    Source: Robertson and Zaragoza 2009, doi:10.1561/1500000019, with Lucene's 1 added under the logarithm.
    """
    return float(np.log1p((chunks - holding + 0.5) / (holding + 0.5)))


def _saturated(written: Floats, lengths: Floats, lexicon: Lexicon, way: LexicalWay) -> Floats:
    """BM25's `tf / (tf + k1 (1 - b + b length / average length))`, below 1 (its k1 + 1 is divided out)."""
    return written / (written + way.k1 * (1.0 - way.b + way.b * lengths / lexicon.average_length))


def _held(written: Floats, _lengths: Floats, _lexicon: Lexicon, _way: LexicalWay) -> Floats:
    """1 for a term in the text, however often; a title alone counts for its weight, up to 1."""
    return np.minimum(written, 1.0)


_PARTS: Mapping[LexicalFunction, Callable[[Floats, Floats, Lexicon, LexicalWay], Floats]] = {
    LexicalFunction.BM25: _saturated,
    LexicalFunction.COVERAGE_IDF: _held,
}


def _weighed(term: TermPostings, title_weight: float, lengths: Floats) -> tuple[Integers, Floats]:
    """The chunks that hold a term, in any order, and how often, a title's counts weighed.

    Their texts' lengths are noted in `lengths`, shape (chunks,).
    """
    in_title = term.in_title if title_weight else ()
    found = [(entries["number"].astype(np.int64), entries) for entries in (*term.in_text, *in_title)]
    for numbers, entries in found:
        lengths[numbers] = entries["length"]
    if len(found) == 1:
        ((numbers, entries),) = found
        return numbers, entries["written"].astype(np.float64) * (1.0 if term.in_text else title_weight)
    # a lexeme has one entry a chunk in a field, so no number is there twice in one array
    in_texts, in_titles = found[: len(term.in_text)], found[len(term.in_text) :]
    counted = _summed(in_texts, len(lengths))
    if in_titles:
        counted += title_weight * _summed(in_titles, len(lengths))
    holding = np.flatnonzero(counted)
    return holding, counted[holding]


def _summed(found: Sequence[tuple[Integers, NDArray[np.void]]], chunks: int) -> Floats:
    counted = np.zeros(chunks)
    for numbers, entries in found:
        counted[numbers] += entries["written"]
    return counted
