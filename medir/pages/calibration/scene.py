"""What the page draws of a calibration: the setting at hand beside those it is compared with, worked out once a run."""

import dataclasses
from dataclasses import dataclass

import numpy as np

from medir.pages.calibration.numbers import are_same, setting_at_hand
from medir.pages.calibration.running import Kept
from rag_core.calibration.findings import measures_shown
from rag_core.calibration.landscape import Landscape, Outcome, build_landscape
from rag_core.calibration.regions import RegionMap, draw_regions, sample_map
from rag_core.calibration.table import Flags, Floats
from rag_core.evaluation.calibrations import Calibration, as_judged, passed_in, values_in
from rag_core.evaluation.sides import side_of_baseline
from rag_core.figures.setting_marks import SettingMark
from rag_core.figures.threshold_map import Grid
from rag_core.golden.baseline_file import Baseline
from rag_core.metrics.intervals import Interval
from rag_core.metrics.kernels import mean
from rag_core.metrics.measures import PASSED, Measure
from rag_core.model import SearchSettings, is_of_family
from rag_core.settings.overrides import Overrides, with_preset
from rag_core.settings.presets import PRESETS

# what is drawn above the highest score, so that "nothing is shown" can be seen
_AIR = 1.04
# the last band of the map that is worth the room it takes
_WORTH_LOOKING = 5
_GRID_WEIGHTS, _GRID_THRESHOLDS = 51, 21


@dataclass(frozen=True, slots=True, kw_only=True)
class Plane:
    """A family's weights and thresholds, and its regions with what can be clicked on; None without a judged case.

    `span` holds all thresholds at which something changes, `shown` those worth looking at.
    """

    landscape: Landscape
    span: Interval
    shown: Interval
    regions: RegionMap | None
    grid: Grid | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What the setting at hand is held against: today's settings, or a baseline.

    `known` says which cases it has, `passes` which of them pass; values have shape (cases,), NaN where it has none.
    """

    name: str
    known: Flags
    passes: Flags
    values: dict[Measure, Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One setting of a calibration with everything that is shown of it.

    `proposal` is None where the calibration worked for another measure. `starts` are settings by the name they are
    called by, today first.
    """

    kept: Kept
    measure: Measure
    at_hand: SearchSettings
    proposal: SearchSettings | None
    starts: dict[str, SearchSettings]
    baseline: Baseline | None
    baseline_setting: SearchSettings | None
    plane: Plane
    outcome: Outcome
    reference: Reference

    @property
    def found(self) -> Calibration:
        """The calibration."""
        return self.kept.found

    @property
    def cases(self) -> int:
        """How many cases there are."""
        return len(self.found.golden.cases)

    @property
    def shown(self) -> Interval:
        """The thresholds that are worth looking at, and that of the setting at hand."""
        threshold, shown = self.at_hand.ranking.threshold, self.plane.shown
        if threshold is None or threshold <= shown.high:
            return shown
        return Interval(shown.low, max(self.plane.span.high, threshold))

    @property
    def lost(self) -> Flags:
        """The cases that the reference passes and the setting at hand does not."""
        return self.reference.passes & ~self.outcome.passes

    @property
    def won(self) -> Flags:
        """The cases that it passes and the reference does not."""
        return self.reference.known & ~self.reference.passes & self.outcome.passes


def build_scene(kept: Kept, measure: Measure, baseline: Baseline | None, in_force: SearchSettings) -> Scene:
    """The scene for what is chosen now."""
    found = kept.found
    at_hand, today = setting_at_hand(found), found.findings.settings
    proposal = found.findings.proposal if found.demands.measure == measure else None
    frozen = None if baseline is None else side_of_baseline(baseline).settings
    if frozen is not None and found.variant_of(frozen) is None:
        frozen = None
    starts = {kept.today: today}
    # what the page can't choose is the calibration's
    own = Overrides(threshold_when_degraded=today.ranking.threshold_when_degraded)
    now = own.over(as_judged(in_force, found.golden))
    if found.variant_of(now) is not None and not are_same(now, today):
        starts["in force"] = now
    if proposal is not None and not are_same(proposal, today):
        starts["proposal"] = proposal
    if baseline is not None and frozen is not None:
        starts[f"baseline {baseline.name}"] = frozen
    for preset in PRESETS.values():
        start = Overrides(limit=today.ranking.limit).over(with_preset(today, preset))
        if is_of_family(found.index.model, preset.family) and found.variant_of(start) is not None:
            starts[preset.name] = start
    plane = plane_of(kept, at_hand, measure)
    return Scene(
        kept=kept,
        measure=measure,
        at_hand=at_hand,
        proposal=proposal,
        starts=starts,
        baseline=baseline,
        baseline_setting=frozen,
        plane=plane,
        outcome=plane.landscape.outcome(at_hand.ranking, measures_of(found, measure)),
        reference=_reference(kept, measure, baseline),
    )


def plane_of(kept: Kept, setting: SearchSettings, measure: Measure) -> Plane:
    """The plane that a setting lies in, prepared on first use."""
    ranking, variant = setting.ranking, kept.found.variant_of(setting)
    if variant is None:
        raise ValueError("a plane lies over candidates that were fetched")
    free = dataclasses.replace(ranking, weight_vector=0.5, weight_lexical=0.5, threshold=None)

    def make() -> Plane:
        landscape = build_landscape(variant, free, measure)
        scores = landscape.thresholds
        span = Interval(scores.low, scores.low + (scores.high - scores.low) * _AIR)
        regions = draw_regions(landscape.map, low=span.low, high=span.high)
        top = span.high if regions is None else min(span.high, regions.height(_WORTH_LOOKING) * _AIR)
        shown = Interval(span.low, top if top > span.low else span.high)
        grid = None if regions is None else _grid(landscape, shown)
        return Plane(landscape=landscape, span=span, shown=shown, regions=regions, grid=grid)

    return kept.prepared(("plane", variant.lexical, free, measure), make)


def outcome_of(kept: Kept, setting: SearchSettings, measure: Measure) -> Outcome:
    """What another setting gives, worked out once."""

    def make() -> Outcome:
        landscape = plane_of(kept, setting, measure).landscape
        return landscape.outcome(setting.ranking, measures_of(kept.found, measure))

    return kept.prepared(("outcome", setting.candidates.lexical, setting.ranking, measure), make)


def measures_of(found: Calibration, measure: Measure) -> tuple[Measure, ...]:
    """The measures that are shown: those that judge a case, and the chosen one."""
    no_answer = np.array([case.no_answer for case in found.golden.cases], dtype=bool)
    limit = found.findings.settings.ranking.limit
    return tuple(each for each in measures_shown(limit, measure) if each.enters(no_answer).any())


def marks_of(scene: Scene) -> tuple[SettingMark, ...]:
    """The settings as marks, the one at hand on top."""
    marks: list[SettingMark] = []
    if scene.baseline is not None:
        marks.append(_baseline_mark(scene, scene.baseline))
    today = scene.found.findings.settings
    marks.append(_mark(scene, "today", today))
    if scene.kept.settings_moved:
        marks[-1] = dataclasses.replace(marks[-1], name=scene.kept.today)
    if scene.proposal is not None and not are_same(scene.proposal, today):
        marks.append(_mark(scene, "proposal", scene.proposal))
    marks.append(_mark(scene, "at hand", scene.at_hand))
    return tuple(marks)


def share_plane(one: SearchSettings, other: SearchSettings) -> bool:
    """Whether only weight and threshold tell the two apart."""
    anywhere = Overrides(weight_vector=0.0, threshold=None)
    return are_same(anywhere.over(one), anywhere.over(other))


def _grid(landscape: Landscape, span: Interval) -> Grid:
    weights = np.linspace(0.0, 1.0, _GRID_WEIGHTS)
    thresholds = np.linspace(span.low, span.high, _GRID_THRESHOLDS)
    levels = thresholds.copy()
    # the lower edge stands for no threshold
    levels[0] = -np.inf
    return Grid(weights=weights, thresholds=thresholds, values=sample_map(landscape.map, weights, levels))


def _mark(scene: Scene, role: str, setting: SearchSettings) -> SettingMark:
    outcome = scene.outcome if role == "at hand" else outcome_of(scene.kept, setting, scene.measure)
    return SettingMark(
        role="at hand" if role == "at hand" else "today" if role == "today" else "proposal",
        name=role,
        weight=setting.ranking.weight_vector,
        threshold=setting.ranking.threshold,
        value=mean(outcome.values[scene.measure]),
        on_map=share_plane(setting, scene.at_hand),
    )


def _baseline_mark(scene: Scene, baseline: Baseline) -> SettingMark:
    ranking = side_of_baseline(baseline).settings.ranking
    setting = scene.baseline_setting
    return SettingMark(
        role="baseline",
        name=f"baseline {baseline.name}",
        weight=ranking.weight_vector,
        threshold=ranking.threshold,
        value=mean(scene.reference.values[scene.measure]),
        on_map=setting is not None and share_plane(setting, scene.at_hand),
    )


def _reference(kept: Kept, measure: Measure, baseline: Baseline | None) -> Reference:
    found = kept.found
    if baseline is None:
        outcome = outcome_of(kept, found.findings.settings, measure)
        everyone = np.ones(len(found.golden.cases), dtype=bool)
        return Reference(name=kept.today, known=everyone, passes=outcome.passes, values=dict(outcome.values))

    def make() -> Reference:
        values = values_in(baseline, found.golden, dict.fromkeys((PASSED, *measures_of(found, measure))))
        return Reference(
            name=f"baseline {baseline.name}",
            known=~np.isnan(values[PASSED]),
            passes=passed_in(baseline, found.golden),
            values=values,
        )

    return kept.prepared(("baseline", baseline.checksum, measure), make)
