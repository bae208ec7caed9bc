"""Golden runs in TREC's two formats, for tools that read those: a run of places, and judgments with binary gains. Pure.

TREC's tools throw the ranks away, sort by score and break ties by document name from behind. So scores are written
strictly falling, also as the 32-bit floats that some tools read them into: the ranking shown is the ranking judged.
A run without any line for a question is how TREC says "nothing found"; let tools count it as 0 (`trec_eval -c`).
"""

from collections.abc import Sequence
from urllib.parse import quote

import numpy as np

from rag_core.golden.cases import GoldenCase
from rag_core.model import Ranking

_SAFE = "/:@!$&'()*+,;=-._~"


def trec_run(cases: Sequence[GoldenCase], rankings: Sequence[Ranking], *, tag: str = "medir") -> str:
    """The hits reduced to the first chunk of each place, one line a place: `case Q0 place rank score tag`.

    White space and `%` in ids and places are percent-encoded, in `trec_qrels` too. Empty without hits.

    `tag` is the name of the run, without white space.
    """
    lines: list[str] = []
    for case, ranking in zip(cases, rankings, strict=True):
        best: dict[str, float] = {}
        for hit in ranking.hits:
            best.setdefault(str(hit.candidate.origin.place), hit.score)
        scores = _strictly_falling(list(best.values()))
        lines += [
            f"{_word(case.id)} Q0 {_word(place)} {rank} {score} {tag}\n"
            for rank, (place, score) in enumerate(zip(best, scores, strict=True), start=1)
        ]
    return "".join(lines)


def trec_qrels(cases: Sequence[GoldenCase]) -> str:
    """One line an expected place: `case 0 place 1`; nothing for `no_answer` cases, which are not judged here."""
    return "".join(
        f"{_word(case.id)} 0 {_word(place)} 1\n"
        for case in cases
        for place in dict.fromkeys(map(str, case.expected))
    )


def _word(text: str) -> str:
    return "".join(sign if sign.isalnum() else quote(sign, safe=_SAFE) for sign in text)


def _strictly_falling(scores: Sequence[float]) -> list[str]:
    written: list[str] = []
    before = np.float32(np.inf)
    for score in scores:
        before = min(np.float32(score), np.nextafter(before, np.float32(-np.inf)))
        # nine significant digits tell any two 32-bit floats apart
        written.append(f"{before:.9g}")
    return written
