"""Named numbers, each for one embedding model, with what they were measured on.

Cosines of two models do not share a scale, so neither do weights and thresholds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rag_core.errors import UsageError
from rag_core.model import LexicalFunction, LexicalWay, RankingSettings, SearchSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Ranking numbers under a name, for the models of a `family`: their ids begin so.

    `evidence` says what they were measured on, or that they were not.
    """

    name: str
    family: str
    description: str
    evidence: str
    ranking: RankingSettings
    lexical: LexicalWay = field(default_factory=LexicalWay)


SEEDS = Preset(
    name="seeds",
    family="ollama/nomic-embed-text",
    description="The product's first numbers, chosen by argument for nomic-embed-text: meaning must support a hit.",
    evidence="Not measured with nomic-embed-text on a judged collection.",
    ranking=RankingSettings(
        weight_vector=0.6,
        weight_lexical=0.4,
        threshold=0.2,
        candidates_per_signal=20,
        max_per_file=2,
        limit=5,
    ),
)
EMBEDDED = Preset(
    name="embedded",
    family="embedded/",
    description=(
        "For the embedded encoder, to find: a strong lexical match may be cited without support of meaning, "
        "which the seeds' numbers refuse."
    ),
    evidence=(
        "Chosen on half of the questions of four Portuguese projects and FaQuAD, 2026-11-30. On SQuAD-pt, which took "
        "no part, .91 are found in the first 5, .85 by plain lexical search. Refuses no foreign question. See "
        "docs/choosing.md."
    ),
    lexical=LexicalWay(function=LexicalFunction.BM25),
    ranking=RankingSettings(
        weight_vector=0.4,
        weight_lexical=0.6,
        threshold=None,
        candidates_per_signal=100,
        max_per_file=2,
        limit=5,
    ),
)
EMBEDDED_STRICT = Preset(
    name="embedded-strict",
    family="embedded/",
    description=(
        "For the embedded encoder, to say nothing rather than cite weakly: misses more, refuses most foreign "
        "questions. A strong lexical match may still be cited without support of meaning."
    ),
    evidence=(
        "Chosen on half of four Portuguese projects' questions, 2026-11-30, to refuse 70 % of foreign ones. Found in "
        "the first 5, all questions: 15 of 26, 19 of 24, 21 of 30, 29 of 30; refused on the other half .95, .72, .60, "
        ".53. See docs/choosing.md."
    ),
    lexical=EMBEDDED.lexical,
    ranking=replace(EMBEDDED.ranking, threshold=0.175),
)

PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in (SEEDS, EMBEDDED, EMBEDDED_STRICT)}


def find_preset(name: str) -> Preset:
    """The preset of that name.

    Raises:
        UsageError: There is none.
    """
    if name not in PRESETS:
        raise UsageError(f"There is no preset {name!r}.", hint=f"Presets: {', '.join(PRESETS)}.")
    return PRESETS[name]


def preset_of(settings: SearchSettings) -> str | None:
    """The preset's name only while the numbers are still the preset's."""
    preset = PRESETS.get(settings.preset or "")
    if preset is None or preset.lexical != settings.candidates.lexical:
        return None
    return preset.name if preset.ranking == settings.ranking else None
