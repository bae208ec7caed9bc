"""Two acts that others will rely on, each in a dialog: adopting the numbers at hand, and freezing a baseline."""

import dataclasses
from functools import partial

import pandas as pd
import streamlit as st

from medir.page_kit.frame import Frame
from medir.page_kit.guard import draw_banner, refusal_told
from medir.page_kit.long_work import LongWork
from medir.page_kit.parts import dialog
from medir.page_kit.plain_text import escaped
from medir.page_kit.services import maintainer, may_maintain, visitor, workbench
from medir.page_kit.signs import DASH, PASSED
from medir.pages.calibration.effect import draw_caution, draw_effect
from medir.pages.calibration.scene import Scene
from medir.work import tasks
from rag_core.errors import MedirError
from rag_core.evaluation.baselines import baselines_folder, new_file
from rag_core.model import SearchSettings
from rag_core.settings.adopting import Adoption, adopt_settings
from rag_core.settings.overrides import UNSET, Overrides
from rag_core.words.settings import numbers_told, settings_at_a_glance

_ADOPTING, _FREEZING = "calibration-adopting", "calibration-freezing"
_TOLD = "calibration-told"
_FOR_MAINTAINERS = "Only a maintainer may do that."
_FREEZES = "Freezing a baseline: running the golden set"
# a golden run that others began freezes nothing
FREEZE = LongWork(name="freeze", kind="golden", at=lambda _run: _FREEZES, starting=_FREEZES, anywhere=False)


def draw_adopt_button(scene: Scene, in_force: SearchSettings) -> None:
    """The button under the numbers; it opens the dialog in the next run of the page."""
    changed = bool(changes(in_force, adopted(scene).over(in_force)))
    allowed = may_maintain()
    if st.button(
        "Adopt these numbers…",
        key="calibration-adopt",
        icon=":material/gavel:",
        disabled=not (changed and allowed),
        help=None if allowed else _FOR_MAINTAINERS,
    ):
        st.session_state[_ADOPTING] = True
        st.rerun()
    if not changed:
        st.caption("These are the numbers in force.")


def draw_adopting(view: Frame, scene: Scene, in_force: SearchSettings, *, floor: int) -> None:
    """The dialog, where it was asked for."""
    if st.session_state.get(_ADOPTING):
        _ask_to_adopt(view, scene, in_force, floor=floor)


def draw_told() -> None:
    """What was done last, once."""
    told = st.session_state.pop(_TOLD, None)
    if told is not None:
        heading, lines, to_commit = told
        st.success(f"{PASSED} {heading}")
        with st.container(gap="xxsmall"):
            for line in lines:
                st.text(line)
        if to_commit:
            st.code(to_commit, language="yaml")


def adopted(scene: Scene) -> Overrides:
    """The numbers at hand as searches get them, every one in full but what is not chosen here.

    The golden set's limit is a matter of the set: only another one is adopted.
    """
    limit = scene.at_hand.ranking.limit
    return dataclasses.replace(
        Overrides.of(scene.at_hand),
        threshold_when_degraded=UNSET,
        limit=None if limit == scene.found.findings.settings.ranking.limit else limit,
    )


def changes(before: SearchSettings, after: SearchSettings) -> list[tuple[str, str, str]]:
    """What differs between two settings: the number's name, before and after; a dash where one has no such number."""
    old, new = dict(numbers_told(before)), dict(numbers_told(after))
    return [
        (name, old.get(name, DASH), new.get(name, DASH))
        for name in dict.fromkeys((*old, *new))
        if old.get(name) != new.get(name)
    ]


@dialog("Adopt these numbers", width="medium", icon=":material/gavel:", on_dismiss=lambda: _forget(_ADOPTING))
def _ask_to_adopt(view: Frame, scene: Scene, in_force: SearchSettings, *, floor: int) -> None:
    numbers = adopted(scene)
    after = numbers.over(in_force)
    st.text(f"What changes for every search of {view.project.project_id} from now on:")
    rows = changes(in_force, after)
    st.dataframe(
        pd.DataFrame(rows, columns=pd.Index(["number", "until now", "from now on"])),
        key="calibration-changes",
        hide_index=True,
        placeholder=DASH,
    )
    draw_effect(scene, in_force, after, floor=floor)
    draw_caution(scene)
    actor = visitor()
    reason = st.text_area("Why?", key="calibration-reason", max_chars=500).strip()
    st.caption(
        f"Recorded as {escaped(f'{actor.kind}:{actor.id}')}. Searches carry these numbers frozen, and the report marks "
        "the change. They are written into settings.yaml beside the golden cases, to be committed."
    )
    if not st.button("Adopt", key="calibration-confirm", type="primary", disabled=not rows):
        return
    if not reason:
        st.warning("Settings are adopted for a reason: say why.", icon=":material/edit_note:")
        return
    services = workbench().services
    try:
        now = adopt_settings(
            services.database,
            services.clock,
            view.project,
            overrides=numbers,
            reason=reason,
            actor=maintainer(),
            write=True,
        )
    except MedirError as error:
        draw_banner(error, key="calibration-adopt", retry=False)
        return
    st.session_state[_TOLD] = _told_adopted(now)
    _forget(_ADOPTING)
    st.rerun()


def _told_adopted(now: Adoption) -> tuple[str, list[str], str]:
    """What was done, in lines, and the text that is left to be committed where the file could not be written."""
    lines, to_commit, written = [settings_at_a_glance(now.in_force.settings)], "", now.written
    if written is not None and written.reason is None:
        lines.append(f"Written into {written.file}. Commit it: golden runs go by that file on every machine.")
    elif written is not None:
        lines.append(f"{written.reason} Commit this as settings.yaml beside the golden cases:")
        to_commit = written.text
    return "**Adopted.** In force from now on:", lines, to_commit


def draw_freeze(view: Frame) -> None:
    """The button that opens the dialog; while a baseline is frozen, its progress; else how that failed."""
    if FREEZE.is_going(view):
        FREEZE.follow(view)
        return
    allowed = may_maintain()
    st.button(
        "Freeze a baseline…",
        key="calibration-freeze",
        icon=":material/ac_unit:",
        disabled=not allowed,
        help="Today's run of the golden set, kept as a file to be held against."
        if allowed
        else _FOR_MAINTAINERS,
        on_click=_remember,
        args=(_FREEZING,),
    )
    if st.session_state.get(_FREEZING):
        _ask_to_freeze(view)


def draw_freezing_failure(view: Frame) -> None:
    """Why the last freezing failed, where it did."""
    failure = FREEZE.failure(view, None)
    if failure is not None:
        draw_banner(failure, key="calibration-freezing", retry=False)


@dialog("Freeze a baseline", icon=":material/ac_unit:", on_dismiss=lambda: _forget(_FREEZING))
def _ask_to_freeze(view: Frame) -> None:
    folder = baselines_folder(view.project)
    st.text(
        "The golden set is run once more under the settings in force, and what comes out is never changed again."
    )
    if view.overview is not None:
        st.text(f"In force: {settings_at_a_glance(view.overview.in_force.settings)}")
    st.caption("Numbers at hand are a trial: adopt them first to freeze them.")
    name = st.text_input("Name", key="calibration-baseline-name", max_chars=100, placeholder="v1").strip()
    st.text(f"Written into {folder}. Commit the file afterwards.")
    if not st.button("Freeze", key="calibration-freeze-confirm", type="primary"):
        return
    if not name:
        st.warning("A baseline has a name.", icon=":material/edit_note:")
        return
    try:
        new_file(folder, name)
    except MedirError as error:
        st.warning("A baseline can't have that name.", icon=":material/edit_note:")
        st.text(f"{error.message} {error.hint}")
        return
    with refusal_told():
        task = partial(tasks.freeze_baseline, project=view.project, actor=maintainer(), name=name)
        FREEZE.begin(view, task)
    _forget(_FREEZING)
    st.rerun()


def _remember(flag: str) -> None:
    st.session_state[flag] = True


def _forget(flag: str) -> None:
    st.session_state[flag] = False
