"""What a golden run is held against: the run before it, or a baseline where one is chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from medir.page_kit import reads
from medir.page_kit.address import Parameter, refuse
from medir.page_kit.calibration_scene import baselines_in
from medir.page_kit.frame import Frame
from medir.page_kit.golden_rows import differences, passed_by_case, previous_of
from rag_core.baselines import BaselineEntry, baselines_folder
from rag_core.comparing import BaselineComparison, Turned, compare_recorded
from rag_core.golden.cases import GoldenCase, GoldenSet
from rag_core.history import GoldenRecord

_GROUND = {
    "cases": "the cases",
    "limit": "the limit",
    "index": "the index",
    "model": "the embedding model",
    "degraded": "vectors were missing in one of the two",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """The other side of a comparison.

    `words` name it in Markdown. `passed` has the verdicts that rows are compared with, None where no single
    comparison would be honest; `notes` say what differs, as plain text.
    """

    words: str
    passed: Mapping[str, bool] | None
    notes: tuple[str, ...]


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
        st.warning(f"The baseline can't be used: {entry.reason}", icon=":material/ac_unit:")
        return None
    return entry


def draw_choice(view: Frame, parameter: Parameter[str]) -> None:
    """The box that chooses a baseline by name."""
    names = [
        entry.name for entry in baselines_in(baselines_folder(view.project)) if entry.baseline is not None
    ]
    st.selectbox(
        "Held against",
        ["", *names],
        key="golden-against",
        on_change=parameter.mirror("golden-against"),
        width=240,
        format_func=lambda name: f"baseline {name}" if name else "the run before",
        help=None if names else "No baseline is frozen yet. Freeze one on the page Calibration.",
    )


def held_against(
    view: Frame,
    record: GoldenRecord,
    records: Sequence[GoldenRecord],
    golden: GoldenSet | None,
    entry: BaselineEntry | None,
) -> Against | None:
    """What the run is held against; None for a first run without a baseline."""
    if entry is None or entry.baseline is None:
        previous = previous_of(list(records), record)
        return None if previous is None else _against_run(view, record, previous)
    name = f"baseline {entry.name}"
    result = reads.golden_result(view.project, str(record.id))
    cases = _cases_of(record, golden, entry)
    if cases is None:
        return Against(
            words=f"baseline `{entry.name}`",
            passed=None,
            notes=(f"The cases have changed since this run, so it can't be held against {name}.",),
        )
    compared = compare_recorded(entry.baseline, result, cases)
    if compared.comparable:
        return Against(
            words=f"baseline `{entry.name}`", passed=entry.baseline.passed, notes=_settings_note(compared)
        )
    return Against(words=f"baseline `{entry.name}`", passed=None, notes=_split(name, compared, result))


def _against_run(view: Frame, record: GoldenRecord, previous: GoldenRecord) -> Against:
    result = reads.golden_result(view.project, str(previous.id))
    changed = differences(record, previous)
    return Against(
        words=f"the run of {previous.started_at:%d %b %H:%M} UTC",
        passed=passed_by_case(result),
        notes=(f"Between the two runs changed: {'; '.join(changed)}.",) if changed else (),
    )


def _cases_of(
    record: GoldenRecord, golden: GoldenSet | None, entry: BaselineEntry
) -> tuple[GoldenCase, ...] | None:
    if golden is not None and golden.digest == record.cases_digest:
        return golden.cases
    frozen = entry.baseline
    return frozen.cases if frozen and frozen.identity["casesDigest"] == record.cases_digest else None


def _settings_note(compared: BaselineComparison) -> tuple[str, ...]:
    changed = [part.removeprefix("settings.") for part in compared.differs if part.startswith("settings.")]
    return (f"Between the two changed: settings ({', '.join(changed)}).",) if changed else ()


def _split(name: str, compared: BaselineComparison, result: Mapping[str, object]) -> tuple[str, ...]:
    """On other ground there is no single number; its parts, as far as they are known, in words."""
    differs = [_GROUND[part] for part in compared.differs if part in _GROUND]
    recorded = result.get("baseline")
    by_index = compared.by_index
    if isinstance(recorded, Mapping) and recorded.get("name") == compared.name:
        by_index = _turned(recorded.get("effects"), "index")
    return (
        f"The run stands on other ground than {name} ({', '.join(differs)}), so there is no one number for both.",
        f"Of the settings alone: {_told(compared.by_settings)}. Of the index alone: {_told(by_index)}.",
    )


def _turned(effects: object, part: str) -> Turned | None:
    effect = effects.get(part) if isinstance(effects, Mapping) else None
    if not isinstance(effect, Mapping):
        return None
    return Turned(won=tuple(effect["won"]), lost=tuple(effect["lost"]))


def _told(turned: Turned | None) -> str:
    if turned is None:
        return "not known of this run; run the golden set again with the baseline chosen"
    named = ", ".join(turned.lost[:6])
    return f"{len(turned.lost)} lost{f' ({named})' if named else ''}, {len(turned.won)} won"
