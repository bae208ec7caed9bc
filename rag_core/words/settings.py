"""Settings in words: their numbers by name, in full, as a terminal takes them, and at a glance. Pure."""

from collections.abc import Mapping

from rag_core.model import LexicalWay, RankingSettings, SearchSettings
from rag_core.model.shape import camel
from rag_core.words.fusions import FUSION_NAMES

NUMBERS: Mapping[str, str] = {
    "weightVector": "vector weight",
    "weightLexical": "lexical weight",
    "threshold": "threshold",
    "thresholdWhenDegraded": "threshold when degraded",
    "candidatesPerSignal": "candidates a signal",
    "maxPerFile": "chunks a file",
    "limit": "hits shown",
    "fusion": "fusion",
    "rrfK": "k of RRF",
    "lexicalOperator": "terms",
    "lexicalFunction": "lexical function",
    "k1": "k1",
    "b": "b",
    "titleWeight": "title weight",
}
"""What the numbers are called, by their keys in JSON."""


def numbers_told(settings: SearchSettings) -> list[tuple[str, str]]:
    """Each number that an adoption may change: its name and its value."""
    ranking, candidates = settings.ranking, settings.candidates
    values = {
        "weightVector": ranking.weight_vector,
        "weightLexical": ranking.weight_lexical,
        "threshold": ranking.threshold,
        "candidatesPerSignal": ranking.candidates_per_signal,
        "maxPerFile": "no cap" if ranking.max_per_file is None else ranking.max_per_file,
        "limit": ranking.limit,
        "fusion": FUSION_NAMES[ranking.fusion],
        **({"rrfK": ranking.rrf_k} if ranking.fusion.takes_k else {}),
        "lexicalOperator": candidates.lexical.operator,
        "lexicalFunction": candidates.lexical.function,
        **_own_numbers(candidates.lexical),
    }
    return [(NUMBERS[key], value_told(value)) for key, value in values.items()]


def settings_in_full(settings: SearchSettings) -> str:
    """Every number in one line."""
    ranking, candidates = settings.ranking, settings.candidates
    cap = "no cap a file" if ranking.max_per_file is None else f"{ranking.max_per_file} a file"
    return (
        f"{FUSION_NAMES[ranking.fusion]}, vector weight {ranking.weight_vector:.4g}, "
        f"threshold {threshold_told(ranking.threshold)}, {ranking.candidates_per_signal} candidates a signal, {cap}, "
        f"{ranking.limit} hits, {_k_told(ranking)}terms {candidates.lexical.operator}, {_way_told(candidates.lexical)}"
    )


def settings_as_typed(settings: SearchSettings) -> str:
    """Every number in one line, in the words that a terminal takes."""
    ranking, candidates = settings.ranking, settings.candidates
    return (
        f"{ranking.fusion}, vector {ranking.weight_vector:.4g}, lexical {ranking.weight_lexical:.4g}, "
        f"threshold {threshold_told(ranking.threshold)}, {ranking.candidates_per_signal} candidates a signal, "
        f"{value_told(ranking.max_per_file)} a file, limit {ranking.limit}, "
        f"{_k_told(ranking)}{candidates.lexical.operator}/{_way_told(candidates.lexical)}"
    )


def settings_at_a_glance(settings: SearchSettings) -> str:
    """By name, with the numbers that a reader looks for."""
    numbers = settings.ranking
    named = settings.preset is not None and settings.preset != settings.source
    name = f"{settings.source} {settings.preset}" if named else settings.source
    cap = "any number" if numbers.max_per_file is None else f"at most {numbers.max_per_file}"
    return (
        f"{name}: vector {numbers.weight_vector:g}, lexical {numbers.weight_lexical:g}, "
        f"{threshold_or_no(numbers.threshold)}, {cap} per file, limit {numbers.limit}"
    )


def _own_numbers(way: LexicalWay) -> dict[str, float]:
    return {camel(name): value for name, value in way.numbers.items() if value is not None}


def _way_told(way: LexicalWay) -> str:
    numbers = " ".join(f"{NUMBERS[key]} {value_told(value)}" for key, value in _own_numbers(way).items())
    return f"{way.function} ({numbers})" if numbers else str(way.function)


def _k_told(ranking: RankingSettings) -> str:
    return f"k {ranking.rrf_k}, " if ranking.fusion.takes_k else ""


def threshold_told(threshold: float | None) -> str:
    """A threshold with four digits, or the word none."""
    return "none" if threshold is None else f"{threshold:.4g}"


def threshold_or_no(threshold: object) -> str:
    """`threshold 0.032`, or `no threshold`."""
    return "no threshold" if threshold is None else f"threshold {value_told(threshold)}"


def value_told(value: object) -> str:
    """The value of a number, whatever its type: with six digits, or the word none."""
    return "none" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
