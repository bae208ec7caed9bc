"""A golden run's verdict in one sentence, the cases that it lost by name, and the ground that it stands on."""

import streamlit as st

from medir.page_kit.frame import Frame
from medir.page_kit.plain_text import escaped
from medir.page_kit.settings_differ import draw_settings_differ
from medir.page_kit.signs import DASH, FAILED, LOST, PASSED, WON, draw_badge
from medir.pages.golden_set.against import Against
from medir.pages.golden_set.rows import RunInView, settings_since
from rag_core.golden.cases import GoldenSet
from rag_core.search.excerpts import cut_short

_NAMED = 6
_QUESTION_CHARS = 160
_ID_CHARS = 60


def draw_verdict(seen: RunInView, against: Against | None) -> None:
    """One sentence with its sign, cases that must pass and fail first; then the lost cases by name."""
    run = seen.run
    if against is None:
        compared = "the first run of these cases"
    elif against.passed is None:
        compared = f"not comparable with {escaped(against.words)}"
    else:
        compared = f"{LOST} {seen.count('lost')} lost, {WON} {seen.count('won')} won against {escaped(against.words)}"
    sentence = f"**{run.passed} of {run.total} pass, floor {seen.floor}:** {compared}"
    if not seen.gate_passed:
        st.error(f"{FAILED} {_must_pass(seen)}{sentence}")
    elif seen.count("lost") or not seen.of_today:
        # the gate holds, and still something broke, or searches stand on something else
        st.warning(f"{PASSED} {sentence}")
    else:
        st.success(f"{PASSED} {sentence}")
    with st.container(gap="xxsmall"):
        _draw_names(seen)


def _must_pass(seen: RunInView) -> str:
    """The cases that must pass and fail, the lost ones first, as the beginning of a Markdown sentence; '' for none."""
    failing = sorted(
        (row for row in seen.rows if row.must_pass and not row.passed), key=lambda row: row.change != "lost"
    )
    if not failing:
        return ""
    named = ", ".join(escaped(cut_short(row.id, at_most=_ID_CHARS)) for row in failing[:_NAMED])
    more = f" and {len(failing) - _NAMED} more" if len(failing) > _NAMED else ""
    lost = all(row.change == "lost" for row in failing)
    fails = "lost" if lost else "fails" if len(failing) == 1 else "fail"
    return f"**Must pass, and {fails}:** {named}{more}. "


def _draw_names(seen: RunInView) -> None:
    must = [row for row in seen.rows if row.must_pass and not row.passed]
    lost = [row for row in seen.rows if row.change == "lost"]
    for sign, words, named in (
        (LOST, "lost, and must pass", [row for row in must if row.change == "lost"]),
        (FAILED, "must pass, and fails", [row for row in must if row.change != "lost"]),
        (LOST, "lost", [row for row in lost if not row.must_pass]),
    ):
        for row in named[:_NAMED]:
            st.text(f"{sign} {words}: {row.id} {DASH} {cut_short(row.question, at_most=_QUESTION_CHARS)}")
        if len(named) > _NAMED:
            st.text(f"and {len(named) - _NAMED} more")


def draw_ground(view: Frame, golden: GoldenSet | None, seen: RunInView, against: Against | None) -> None:
    """What changed between the two sides, and since."""
    if seen.run.degraded:
        draw_badge("degraded")
    with st.container(gap="xxsmall"):
        for note in against.notes if against else ():
            st.text(note)
        for sentence in seen.standing:
            st.text(sentence)
    draw_settings_differ(view)
    if golden is not None and golden.digest != seen.run.cases_digest:
        st.caption("The cases have changed since this run.")
    indexed_at = view.overview.indexed_at if view.overview else None
    if indexed_at is not None and indexed_at > seen.run.started_at:
        st.caption("The index was made again since this run.")
    changed = settings_since(seen.run.settings, view.overview.in_force.judged) if view.overview else ()
    if changed:
        st.caption(f"The settings have changed since this run: {escaped(', '.join(changed))}.")
