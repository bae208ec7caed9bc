"""Words that a question is not about, and that the stock Portuguese stop list lacks.

They are left out of questions only: the index keeps them, so a question made of nothing else still finds them.
"""

from rag_core.lexical.spellings import fold

# stop words of the stock list that carry an accent, as people type them without it
_WITHOUT_ACCENT = (
    "nao sao sera serao seriamos estao estavamos estiveramos estivessemos tambem so ate ha hao ja voce voces nos la "
    "houveramos houvessemos houvera houverao houveriamos eramos foramos fossemos tinhamos tiveramos tivessemos tera "
    "terao teriamos a as"
)
_FREQUENT = (
    "onde porque porquê pra pras pro pros qual quais cada todo toda todos todas sobre assim então ainda "
    "aqui ali lá"
)

STOP_WORDS: frozenset[str] = frozenset(fold(word) for word in f"{_WITHOUT_ACCENT} {_FREQUENT}".split())
"""Folded, as `rag_core.lexical.spellings.fold` writes them."""


def stop_words_of(language: str) -> frozenset[str]:
    """The words left out of a question in a language beside those of its stock list."""
    return STOP_WORDS if language == "portuguese" else frozenset()
