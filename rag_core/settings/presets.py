"""Named numbers, each for one embedding model, with what they were measured on.

Cosines of two models do not share a scale, so neither do weights and thresholds.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rag_core.errors import InvalidInput, UsageError
from rag_core.golden.cases import MAX_LIMIT
from rag_core.model import (
    CandidateSettings,
    EmbeddingModel,
    Fusion,
    LexicalFunction,
    LexicalOperator,
    LexicalWay,
    RankingSettings,
    Scope,
    SearchSettings,
)

MAX_CANDIDATES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Ranking numbers under a name. `evidence` says what they were measured on, or that they were not."""

    name: str
    description: str
    evidence: str
    ranking: RankingSettings
    lexical: LexicalWay = field(default_factory=LexicalWay)


SEEDS = Preset(
    name="seeds",
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
    description=(
        "For the embedded encoder, to find: a strong lexical match may be cited without support of meaning, "
        "which the seeds' numbers refuse."
    ),
    evidence=(
        "Chosen on half of the questions of four Portuguese projects and FaQuAD, 2026-11-30. Found in the first 5, all "
        "questions: 25 of 26, 22 of 24, 22 of 30, 27 of 30; shown on SQuAD-pt, which took no part: 0.86. Foreign "
        "questions refused: .23, .12, .03, .09. See bench/results/presets.md."
    ),
    ranking=RankingSettings(
        weight_vector=0.2,
        weight_lexical=0.8,
        threshold=0.032,
        candidates_per_signal=100,
        max_per_file=2,
        limit=5,
    ),
)
EMBEDDED_STRICT = Preset(
    name="embedded-strict",
    description=(
        "For the embedded encoder, to say nothing rather than cite weakly: misses more, refuses most foreign "
        "questions. A strong lexical match may still be cited without support of meaning."
    ),
    evidence=(
        "Chosen on half of four Portuguese projects' questions, 2026-11-30, to refuse 70 % of foreign ones. Found in "
        "the first 5: 14 of 26, 18 of 24, 21 of 30, 25 of 30; refused .86, .71, .57, .60. See bench/results/presets.md."
    ),
    ranking=RankingSettings(
        weight_vector=0.2,
        weight_lexical=0.8,
        threshold=0.065,
        candidates_per_signal=100,
        max_per_file=2,
        limit=5,
    ),
)

PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in (SEEDS, EMBEDDED, EMBEDDED_STRICT)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Unset:
    """Stands for "no override", where None already means "no threshold" or "no cap"."""


UNSET = Unset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """Numbers in place of others. A lexical weight is never given: it is the rest."""

    preset: str | None = None
    weight_vector: float | None = None
    threshold: float | Unset | None = UNSET
    threshold_when_degraded: float | Unset | None = UNSET
    candidates: int | None = None
    max_per_file: int | Unset | None = UNSET
    limit: int | None = None
    fusion: Fusion | None = None
    lexical_operator: LexicalOperator | None = None
    lexical_function: LexicalFunction | None = None

    @property
    def any_given(self) -> bool:
        """Whether this makes a trial of a run."""
        return self != Overrides()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a report's numbers are read against; None where the project sets no limit.

    `useful` is the least share of useful votes, `no_hit` the greatest share of searches without a hit, `p95_ms` the
    longest latency.
    """

    useful: float | None = None
    p95_ms: float | None = None
    no_hit: float | None = None

    def to_json(self) -> dict[str, float | None]:
        """As the file has them."""
        return {"useful": self.useful, "p95Ms": self.p95_ms, "noHit": self.no_hit}


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedSettings:
    """What a project's `settings.yaml` says: numbers in place of a preset's, and limits.

    `made_for` is the model that the numbers were chosen for, None where the file does not say.
    """

    numbers: Overrides = field(default_factory=Overrides)
    made_for: str | None = None
    limits: Limits = field(default_factory=Limits)


FirstSource = Literal["adopted", "committed"]
"""Which of a project's own two decisions is asked first: searches take the adoption, golden runs the file."""


def find_preset(name: str) -> Preset:
    """The preset of that name.

    Raises:
        UsageError: There is none.
    """
    if name not in PRESETS:
        raise UsageError(f"There is no preset {name!r}.", hint=f"Presets: {', '.join(PRESETS)}.")
    return PRESETS[name]


def preset_for(model_id: str | None) -> Preset:
    """The default preset of an index's model; `seeds` where the model has none."""
    if model_id is not None and EmbeddingModel.parse(model_id).provider == "embedded":
        return EMBEDDED
    return SEEDS


def settings_of_preset(preset: Preset, settings: SearchSettings) -> SearchSettings:
    """The settings with a preset's numbers in the place of theirs."""
    candidates = dataclasses.replace(settings.candidates, lexical=preset.lexical)
    return SearchSettings(
        candidates=candidates, ranking=settings.ranking, source="trial", preset=preset.name
    ).with_ranking(preset.ranking)


def is_measured_for(preset: Preset, model_id: str | None) -> bool:
    """Whether the preset's numbers were made for this model."""
    if model_id is None:
        return False
    model = EmbeddingModel.parse(model_id)
    if preset is SEEDS:
        return model.provider == "ollama" and model.name.startswith("nomic-embed-text")
    return model.provider == "embedded"


def resolve_settings(
    *,
    model_id: str | None,
    scopes: tuple[Scope, ...],
    adopted: Mapping[str, object] | None,
    committed: CommittedSettings | None,
    overrides: Overrides,
    file_limit: int | None = None,
    first: FirstSource = "adopted",
) -> SearchSettings:
    """The settings of one search or run. Here alone stands who is stronger than whom.

    In order of strength: a trial's flags, for golden runs the cases file's limit, the project's adopted
    settings and its `settings.yaml` (`first` says which of the two), the preset of the index's model. `source`
    names the strongest that took part: `trial`, `adopted`, `committed`, `preset`, or `seeds` where the model has
    no preset of its own. A `settings.yaml` without a number decides nothing.

    Another fusion drops the threshold unless one is given with it: thresholds belong to the weighted sum.
    """
    base = _base(model_id, scopes, adopted=adopted, committed=committed, preset=overrides.preset, first=first)
    ranking = base.ranking
    if file_limit is not None:
        ranking = dataclasses.replace(ranking, limit=file_limit)
    if not overrides.any_given:
        return base.with_ranking(ranking)
    return _overridden(base, ranking, overrides)


def committed_to(
    committed: CommittedSettings, *, scopes: tuple[Scope, ...], model_id: str | None
) -> SearchSettings:
    """The settings that a `settings.yaml` stands for: numbers left out are its preset's, else the model's preset's."""
    numbers = committed.numbers
    preset = find_preset(numbers.preset) if numbers.preset else preset_for(model_id)
    start = _of_preset(preset, scopes, model_id, source="committed")
    made = _overridden(start, start.ranking, numbers)
    candidates = dataclasses.replace(made.candidates, fetch_depth=made.ranking.candidates_per_signal)
    return dataclasses.replace(made, candidates=candidates, source="committed", preset=preset_of(made))


def preset_of(settings: SearchSettings) -> str | None:
    """The preset's name only while the numbers are still the preset's."""
    preset = PRESETS.get(settings.preset or "")
    if preset is None or preset.lexical != settings.candidates.lexical:
        return None
    return preset.name if preset.ranking == settings.ranking else None


def _base(
    model_id: str | None,
    scopes: tuple[Scope, ...],
    *,
    adopted: Mapping[str, object] | None,
    committed: CommittedSettings | None,
    preset: str | None,
    first: FirstSource,
) -> SearchSettings:
    if preset is not None:
        return _of_preset(find_preset(preset), scopes, model_id, source="trial")
    if committed is not None and not committed.numbers.any_given:
        committed = None
    if adopted is not None and (first == "adopted" or committed is None):
        return from_json(adopted, scopes=scopes, model_id=model_id, source="adopted")
    if committed is not None:
        return committed_to(committed, scopes=scopes, model_id=model_id)
    default = preset_for(model_id)
    source = "preset" if is_measured_for(default, model_id) else "seeds"
    return _of_preset(default, scopes, model_id, source=source)


def _of_preset(
    preset: Preset, scopes: tuple[Scope, ...], model_id: str | None, *, source: str
) -> SearchSettings:
    return SearchSettings(
        candidates=CandidateSettings(
            scopes=scopes,
            fetch_depth=preset.ranking.candidates_per_signal,
            lexical=preset.lexical,
            embedding_model=model_id,
        ),
        ranking=preset.ranking,
        source=source,
        preset=preset.name,
    )


def _overridden(base: SearchSettings, ranking: RankingSettings, overrides: Overrides) -> SearchSettings:
    in_force = ranking.limit
    if overrides.weight_vector is not None:
        # the constructor of RankingSettings refuses what is no weight
        ranking = dataclasses.replace(
            ranking, weight_vector=overrides.weight_vector, weight_lexical=_rest(overrides.weight_vector)
        )
    if overrides.fusion is not None and overrides.fusion is not ranking.fusion:
        ranking = dataclasses.replace(ranking, fusion=overrides.fusion, threshold=None)
    if not isinstance(overrides.threshold, Unset):
        ranking = dataclasses.replace(ranking, threshold=overrides.threshold)
    if not isinstance(overrides.threshold_when_degraded, Unset):
        ranking = dataclasses.replace(ranking, threshold_when_degraded=overrides.threshold_when_degraded)
    if not isinstance(overrides.max_per_file, Unset):
        ranking = dataclasses.replace(ranking, max_per_file=overrides.max_per_file)
    _check_sizes(overrides)
    if overrides.candidates is not None:
        ranking = dataclasses.replace(ranking, candidates_per_signal=overrides.candidates)
    if overrides.limit is not None:
        ranking = dataclasses.replace(ranking, limit=overrides.limit)
    candidates = dataclasses.replace(
        base.candidates,
        fetch_depth=max(base.candidates.fetch_depth, ranking.candidates_per_signal),
        lexical=LexicalWay(
            operator=overrides.lexical_operator or base.candidates.lexical.operator,
            function=overrides.lexical_function or base.candidates.lexical.function,
        ),
    )
    # the limit is a caller's own choice of how much to see, not another way of ranking
    only_limit = overrides == Overrides(limit=overrides.limit)
    return SearchSettings(
        candidates=candidates,
        ranking=ranking,
        source=base.source if only_limit else "trial",
        preset=base.preset,
        limit_in_force=in_force if only_limit else None,
    )


def _check_sizes(overrides: Overrides) -> None:
    """Refuse what nobody could read, and what no signal should be asked for."""
    for name, given, most in (
        ("limit", overrides.limit, MAX_LIMIT),
        ("number of candidates a signal", overrides.candidates, MAX_CANDIDATES),
    ):
        if given is not None and given > most:
            raise InvalidInput(
                f"The {name} is {given}; at most {most:,} are shown.", hint="Give a smaller one."
            )


def from_json(
    settings: Mapping[str, object], *, scopes: tuple[Scope, ...], model_id: str | None, source: str
) -> SearchSettings:
    """Settings from the contract's JSON form, as adopted settings and baselines hold them.

    Raises:
        InvalidInput: A key is missing or its value is no such number.
    """
    try:
        ranking = RankingSettings(
            weight_vector=_number(settings["weightVector"]),
            weight_lexical=_number(settings["weightLexical"]),
            threshold=_optional_number(settings["threshold"]),
            threshold_when_degraded=_optional_number(settings["thresholdWhenDegraded"]),
            candidates_per_signal=int(_number(settings["candidatesPerSignal"])),
            max_per_file=None if settings["maxPerFile"] is None else int(_number(settings["maxPerFile"])),
            limit=int(_number(settings["limit"])),
            fusion=Fusion(str(settings["fusion"])),
        )
        lexical = LexicalWay(
            operator=LexicalOperator(str(settings["lexicalOperator"])),
            function=LexicalFunction(str(settings["lexicalFunction"])),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"These settings do not parse: {error}.",
            hint="Adopt settings anew, or freeze the baseline again.",
        ) from error
    preset = settings.get("preset")
    return SearchSettings(
        candidates=CandidateSettings(
            scopes=scopes,
            fetch_depth=ranking.candidates_per_signal,
            lexical=lexical,
            embedding_model=model_id,
        ),
        ranking=ranking,
        source=source,
        preset=None if preset is None else str(preset),
    )


def _rest(weight_vector: float) -> float:
    return 1.0 - weight_vector if 0 <= weight_vector <= 1 else 0.0


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    return value


def _optional_number(value: object) -> float | None:
    return None if value is None else _number(value)
