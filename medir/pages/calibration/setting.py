"""The setting at hand: every number of it in the address, and what it is compared with."""

import dataclasses
import math

from medir.page_kit.address import Parameter, choice_parameter, number_parameter, refuse
from rag_core.calibration.choice.contenders import Contender
from rag_core.calibration.findings import DEPTHS
from rag_core.evaluation.calibrations import Calibration
from rag_core.model import Fusion, LexicalFunction, LexicalOperator, RankingSettings, SearchSettings
from rag_core.settings.presets import PRESETS, is_measured_for, settings_of_preset

NO_THRESHOLD = -math.inf
NO_CAP = "none"
_DEEPEST, MOST_HITS = 1000, 50


def _weight(text: str) -> float | None:
    value = _number(text)
    return value if value is not None and 0 <= value <= 1 else None


def _threshold(text: str) -> float | None:
    return NO_THRESHOLD if text == NO_CAP else _number(text)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _exactly(value: float | None) -> str | None:
    """In full, so that a link holds the very number."""
    return None if value is None else NO_CAP if value == NO_THRESHOLD else repr(value)


def _cap(text: str) -> str | None:
    return text if text == NO_CAP or (text.isdecimal() and 1 <= int(text) <= MOST_HITS) else None


WEIGHT: Parameter[float | None] = Parameter("at-weight", None, _weight, _exactly)
THRESHOLD: Parameter[float | None] = Parameter("at-threshold", None, _threshold, _exactly)
CAP: Parameter[str] = Parameter("at-cap", "", _cap, lambda value: value or None)
DEPTH = number_parameter("at-depth", 1, _DEEPEST)
LIMIT = number_parameter("at-limit", 1, MOST_HITS)
FUSION = choice_parameter("at-fusion", ("", *map(str, Fusion)))
OPERATOR = choice_parameter("at-operator", ("", *map(str, LexicalOperator)))
FUNCTION = choice_parameter("at-function", ("", *map(str, LexicalFunction)))
NUMBERS = (WEIGHT, THRESHOLD, CAP, DEPTH, LIMIT, FUSION, OPERATOR, FUNCTION)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AtHand:
    """A setting of a calibration: the number of the candidates that it ranks, and all its numbers."""

    variant: int
    settings: SearchSettings

    @property
    def ranking(self) -> RankingSettings:
        """Its numbers that can be replayed."""
        return self.settings.ranking

    def shares_plane(self, other: "AtHand") -> bool:
        """Whether only weight and threshold tell the two apart."""
        flat = [
            dataclasses.replace(each.ranking, weight_vector=0.0, weight_lexical=1.0, threshold=None)
            for each in (self, other)
        ]
        return self.variant == other.variant and flat[0] == flat[1]

    def is_same(self, other: "AtHand") -> bool:
        """Whether every number is the same."""
        return self.variant == other.variant and self.ranking == other.ranking


def today_of(found: Calibration) -> AtHand:
    """The settings in force, at the golden set's limit."""
    return AtHand(variant=0, settings=found.findings.settings)


def proposal_of(found: Calibration) -> AtHand:
    """The settings that the calibration proposes."""
    return AtHand(variant=found.findings.choice.proposal.variant, settings=found.findings.proposal)


def setting_of(found: Calibration, settings: SearchSettings) -> AtHand | None:
    """Settings from elsewhere; None where they need candidates that were not fetched."""
    way = (settings.candidates.lexical_operator, settings.candidates.lexical_function)
    variant = next(
        (
            number
            for number, each in enumerate(found.variants)
            if (each.lexical_operator, each.lexical_function) == way
        ),
        None,
    )
    if variant is None or settings.ranking.candidates_per_signal > deepest(found):
        return None
    return AtHand(variant=variant, settings=settings)


def setting_in_force(found: Calibration, in_force: SearchSettings) -> AtHand | None:
    """The numbers that searches have now, as golden runs ask; None where they need candidates not fetched."""
    limit = found.golden.limit or in_force.ranking.limit
    return setting_of(found, in_force.with_ranking(dataclasses.replace(in_force.ranking, limit=limit)))


def start_in_force(found: Calibration, in_force: SearchSettings) -> AtHand | None:
    """The same as numbers to start from: those that the page can't choose are the calibration's."""
    start = setting_in_force(found, in_force)
    if start is None:
        return None
    own = found.findings.settings.ranking.threshold_when_degraded
    ranking = dataclasses.replace(start.ranking, threshold_when_degraded=own)
    return dataclasses.replace(start, settings=start.settings.with_ranking(ranking))


def setting_of_contender(found: Calibration, contender: Contender) -> AtHand:
    """The settings of a row of the choice's table."""
    variant, today = found.variants[contender.variant], found.findings.settings
    candidates = dataclasses.replace(
        today.candidates,
        lexical_operator=variant.lexical_operator,
        lexical_function=variant.lexical_function,
    )
    settings = dataclasses.replace(today, candidates=candidates, source="trial", preset=None)
    return AtHand(variant=contender.variant, settings=settings.with_ranking(contender.settings))


def setting_at_hand(found: Calibration) -> AtHand:
    """What is chosen now; what this calibration can't show is said and replaced by today's."""
    today = found.findings.settings
    if DEPTH.read() is not None and int(DEPTH.read() or 1) > deepest(found):
        refuse(DEPTH, f"{DEPTH.read():g}")
    chosen = setting_of(found, _chosen(today))
    if chosen is None:
        for parameter in (OPERATOR, FUNCTION):
            if parameter.read():
                refuse(parameter, parameter.read())
        chosen = AtHand(variant=0, settings=_chosen(today))
    return today_of(found) if chosen.is_same(today_of(found)) else chosen


def go_to(found: Calibration, target: AtHand) -> None:
    """Choose every number of a setting, from a callback."""
    today, ranking = found.findings.settings, target.ranking
    own, candidates = today.ranking, target.settings.candidates
    same_fusion = ranking.fusion is own.fusion
    WEIGHT.choose(None if ranking.weight_vector == own.weight_vector else ranking.weight_vector)
    if ranking.threshold == (own.threshold if same_fusion else None):
        THRESHOLD.choose(None)
    else:
        THRESHOLD.choose(NO_THRESHOLD if ranking.threshold is None else ranking.threshold)
    CAP.choose("" if ranking.max_per_file == own.max_per_file else cap_name(ranking.max_per_file))
    depth, limit = ranking.candidates_per_signal, ranking.limit
    DEPTH.choose(None if depth == own.candidates_per_signal else float(depth))
    LIMIT.choose(None if limit == own.limit else float(limit))
    FUSION.choose("" if same_fusion else str(ranking.fusion))
    operator, function = today.candidates.lexical_operator, today.candidates.lexical_function
    OPERATOR.choose("" if candidates.lexical_operator == operator else str(candidates.lexical_operator))
    FUNCTION.choose("" if candidates.lexical_function == function else str(candidates.lexical_function))


def presets_of(found: Calibration) -> dict[str, AtHand]:
    """The presets that were made for the index's model, at the golden set's limit, by name."""
    today = found.findings.settings
    starts: dict[str, AtHand] = {}
    for preset in PRESETS.values():
        if not is_measured_for(preset, found.index.model):
            continue
        ranking = dataclasses.replace(preset.ranking, limit=today.ranking.limit)
        start = setting_of(found, settings_of_preset(preset, today).with_ranking(ranking))
        if start is not None:
            starts[preset.name] = start
    return starts


def _chosen(today: SearchSettings) -> SearchSettings:
    own = today.ranking
    weight, cap, depth, limit = WEIGHT.read(), CAP.read(), DEPTH.read(), LIMIT.read()
    fusion = Fusion(FUSION.read()) if FUSION.read() else own.fusion
    ranking = dataclasses.replace(
        own,
        weight_vector=own.weight_vector if weight is None else weight,
        weight_lexical=own.weight_lexical
        if weight in (None, own.weight_vector)
        else 1.0 - float(weight or 0),
        threshold=_threshold_of(own, fusion),
        max_per_file=own.max_per_file if not cap else None if cap == NO_CAP else int(cap),
        candidates_per_signal=own.candidates_per_signal if depth is None else int(depth),
        limit=own.limit if limit is None else int(limit),
        fusion=fusion,
    )
    operator, function = OPERATOR.read(), FUNCTION.read()
    candidates = dataclasses.replace(
        today.candidates,
        lexical_operator=LexicalOperator(operator) if operator else today.candidates.lexical_operator,
        lexical_function=LexicalFunction(function) if function else today.candidates.lexical_function,
    )
    return dataclasses.replace(today, candidates=candidates, source="trial").with_ranking(ranking)


def _threshold_of(own: RankingSettings, fusion: Fusion) -> float | None:
    chosen = THRESHOLD.read()
    if chosen is None:
        return own.threshold if fusion is own.fusion else None
    return None if chosen == NO_THRESHOLD else chosen


def deepest(found: Calibration) -> int:
    """The most candidates a signal that can be replayed."""
    return max(*DEPTHS, found.findings.settings.ranking.candidates_per_signal)


def cap_name(cap: int | None) -> str:
    """A cap as a word."""
    return NO_CAP if cap is None else str(cap)
