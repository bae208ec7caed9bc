"""What a golden run is held against: the run before it, or a baseline where one is chosen."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from medir.page_kit import reads
from medir.page_kit.address import Parameter, refuse
from medir.page_kit.baselines import baselines_in
from medir.page_kit.choosing import draw_box
from medir.page_kit.frame import Frame
from medir.pages.golden_set.rows import passed_by_case, previous_of
from rag_core.evaluation.baselines import BaselineEntry, baselines_folder
from rag_core.evaluation.comparison import BaselineComparison, compare_recorded, compare_results
from rag_core.evaluation.history import GoldenRecord
from rag_core.evaluation.interaction import Turned
from rag_core.evaluation.sides import recorded_cases
from rag_core.golden.baseline_file import Baseline
from rag_core.golden.cases import GoldenCase, GoldenSet

_GROUND = {
    "limit": "the limit",
    "index": "the index",
    "model": "the embedding model",
    "degraded": "one of the two was degraded",
}
_NAMED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """The other side of a comparison.

    `words` name it in Markdown. `comparison` is None where the cases that the run asked are not known; `passed` has
    the other side's verdicts on the cases that both asked, None where nothing can be said; `notes` say what differs,
    as plain text.
    """

    words: str
    comparison: BaselineComparison | None
    passed: Mapping[str, bool] | None
    notes: tuple[str, ...]

    @property
    def changed(self) -> frozenset[str]:
        """Cases of both sides that are not the same any more."""
        return frozenset(() if self.comparison is None else self.comparison.changed)


def choose_baseline(view: Frame, parameter: Parameter[str]) -> BaselineEntry | None:
    """The baseline that the address names; None for the run before. One that is not sound is said."""
    chosen = parameter.read()
    if not chosen:
        return None
    entry = next(
        (found for found in baselines_in(baselines_folder(view.project)) if found.name == chosen), None
    )
    if entry is None:
        refuse(parameter, chosen)
        return None
    if entry.baseline is None:
        st.warning("The baseline can't be used.", icon=":material/ac_unit:")
        st.text(entry.reason or "")
        return None
    return entry


def draw_choice(view: Frame, parameter: Parameter[str]) -> None:
    """The box that chooses a baseline by name."""
    names = [
        entry.name for entry in baselines_in(baselines_folder(view.project)) if entry.baseline is not None
    ]
    draw_box(
        "Held against",
        parameter,
        names,
        key="golden-against",
        width=240,
        name_of=lambda name: f"baseline {name}" if name else "the run before",
        told=None if names else "No baseline is frozen yet. Freeze one on the page Calibration.",
    )


def held_against(
    view: Frame,
    record: GoldenRecord,
    records: Sequence[GoldenRecord],
    golden: GoldenSet | None,
    baseline: Baseline | None,
) -> Against | None:
    """What the run is held against; None for a first run without a baseline."""
    result = reads.golden_result(view.project, str(record.id))
    cases = _cases_of(record, result, golden, baseline)
    if baseline is not None:
        words = f"baseline {baseline.name}"
        if cases is None:
            note = f"The cases have changed since this run, so it can't be held against baseline {baseline.name}."
            return Against(words=words, comparison=None, passed=None, notes=(note,))
        compared = compare_recorded(baseline, result, cases)
        return _against(words, compared, baseline.passed, _effects(compared, result))
    previous = previous_of(records, record)
    if previous is None:
        return None
    before = reads.golden_result(view.project, str(previous.id))
    asked = _cases_of(previous, before, golden, None)
    if cases is None or asked is None:
        return None
    words = f"the run of {previous.started_at:%d %b %H:%M} UTC"
    return _against(
        words, compare_results(words, (before, asked), (result, cases)), passed_by_case(before), ()
    )


def _against(
    words: str, compared: BaselineComparison, passed: Mapping[str, bool], effects: tuple[str, ...]
) -> Against:
    shared = {case: passed[case] for case in compared.shared} if compared.comparable else None
    obstacle = () if compared.obstacle is None else (f"They can't be compared: {compared.obstacle}.",)
    notes = (*obstacle, *_changes(compared), *_not_shared(compared), *effects)
    return Against(words=words, comparison=compared, passed=shared, notes=notes)


def _cases_of(
    record: GoldenRecord, result: Mapping[str, object], golden: GoldenSet | None, baseline: Baseline | None
) -> tuple[GoldenCase, ...] | None:
    kept = recorded_cases(result)
    if kept is not None:
        return kept
    if golden is not None and golden.digest == record.cases_digest:
        return golden.cases
    return baseline.cases if baseline and baseline.identity["casesDigest"] == record.cases_digest else None


def _changes(compared: BaselineComparison) -> tuple[str, ...]:
    """What changed between the two sides, in one sentence; the cases have their own."""
    settings = [part.removeprefix("settings.") for part in compared.differs if part.startswith("settings.")]
    found = [f"settings ({', '.join(settings)})"] if settings else []
    found += [_GROUND[part] for part in compared.differs if part in _GROUND]
    return (f"Between the two runs changed: {'; '.join(found)}.",) if found else ()


def _not_shared(compared: BaselineComparison) -> tuple[str, ...]:
    """The cases that only one side has, or both have in two forms: named, since nothing is said of them."""
    sentences: list[str] = []
    for words, cases in (("New", compared.new), ("Gone", compared.gone), ("Changed", compared.changed)):
        if cases:
            named = [f"{case} (passed then)" if case in compared.passed_before else case for case in cases]
            more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
            sentences.append(f"{words}, so not compared: {', '.join(named[:_NAMED])}{more}.")
    return tuple(sentences)


def _effects(compared: BaselineComparison, result: Mapping[str, object]) -> tuple[str, ...]:
    """The effects of settings and index apart, where both changed."""
    grounds = {"index", "model", "degraded"}.intersection(compared.differs)
    settings = [part for part in compared.differs if part.startswith("settings.")]
    if not (grounds and settings) and compared.comparable:
        return ()
    recorded = result.get("baseline")
    if isinstance(recorded, Mapping) and recorded.get("name") == compared.name:
        compared = dataclasses.replace(compared, by_index=_turned(recorded.get("effects"), "index"))
    by_settings, by_index = _effect_told(compared.by_settings), _effect_told(compared.by_index)
    told = (f"Of the settings alone: {by_settings}. Of the index alone: {by_index}.",)
    if compared.interaction is None:
        return told
    return (*told, f"The two do not add up: {compared.interaction.words}.")


def _turned(effects: object, part: str) -> Turned | None:
    effect = effects.get(part) if isinstance(effects, Mapping) else None
    if not isinstance(effect, Mapping):
        return None
    return Turned(won=tuple(effect["won"]), lost=tuple(effect["lost"]))


def _effect_told(turned: Turned | None) -> str:
    if turned is None:
        return "not known of this run; run the golden set again with the baseline chosen"
    named = ", ".join(turned.lost[:_NAMED])
    return f"{len(turned.lost)} lost{f' ({named})' if named else ''}, {len(turned.won)} won"
