"""What adopting would do to the golden cases, against the numbers in force, and what speaks against it."""

import streamlit as st

from medir.page_kit.signs import LOST, WON
from medir.pages.calibration.numbers import are_same
from medir.pages.calibration.running import Kept, whose_numbers
from medir.pages.calibration.scene import Scene
from rag_core.calibration.floor_standing import standing_of
from rag_core.calibration.safety import passing
from rag_core.calibration.table import Flags
from rag_core.evaluation.calibrations import as_judged
from rag_core.golden.cases import GoldenCase
from rag_core.model import SearchSettings
from rag_core.words.plurals import counted

_NAMED = 8


def draw_effect(scene: Scene, in_force: SearchSettings, after: SearchSettings, *, floor: int) -> None:
    """The golden cases won and lost against the numbers in force, and a warning where the gate would not hold."""
    cases = scene.found.golden.cases
    now, then = _passes(scene.kept, in_force), _passes(scene.kept, after)
    # the setting at hand is one that was replayed
    passes = scene.outcome.passes if then is None else then
    if now is None:
        st.text(
            f"{int(passes.sum())} of {counted(len(cases), 'golden case')} would pass. What is won and lost can't be "
            "told: the numbers in force need candidates that this calibration does not have. Calibrate again."
        )
    else:
        for sign, word, flags in ((LOST, "lost", now & ~passes), (WON, "won", ~now & passes)):
            turned = [case for case, there in zip(cases, flags.tolist(), strict=True) if there]
            st.text(f"{sign} {counted(len(turned), 'golden case')} {word}{_named(turned)}")
    standing = standing_of(passes, cases, floor=floor)
    if not standing.holds:
        st.warning("**These numbers break the floor.**", icon=":material/gavel:")
        st.text(f"{'; '.join(standing.faults)}.")


def draw_caution(scene: Scene) -> None:
    """How far the verdict speaks for the numbers at hand."""
    caution = _caution(scene)
    if caution:
        st.warning(caution, icon=":material/balance:")


def _caution(scene: Scene) -> str:
    moved, verdict = scene.kept.settings_moved, scene.found.findings.choice.verdict
    if moved and are_same(scene.at_hand, scene.found.findings.settings):
        kept = "keep" if verdict == "keep" else "leave"
        return f"These are the numbers from before. The verdict was to {kept} them; it knows nothing of those in force."
    if scene.proposal is None or not are_same(scene.at_hand, scene.proposal):
        return "These are not the proposed numbers: they were not tried on held-out cases."
    if verdict == "keep":
        is_to = "was to" if moved else "is to"
        return f"The verdict {is_to} keep {whose_numbers(moved=moved)}: the evidence is too weak."
    if not moved:
        return ""
    return "The verdict compared them with the numbers from before; it knows nothing of those in force."


def _passes(kept: Kept, settings: SearchSettings) -> Flags | None:
    """Which cases pass, asked as golden runs ask; None where candidates are needed that were not fetched."""
    judged = as_judged(settings, kept.found.golden)
    variant = kept.found.variant_of(judged)
    if variant is None:
        return None

    return kept.prepared(
        ("passes", variant.lexical, judged.ranking),
        lambda: passing(variant.table, variant.judged, judged.ranking),
    )


def _named(turned: list[GoldenCase]) -> str:
    """The cases by name, those that must pass first, which are named however many there are."""
    marked = [f"{case.id} (must pass)" for case in turned if case.must_pass]
    named = [*marked, *(case.id for case in turned if not case.must_pass)]
    shown = named[: max(_NAMED, len(marked))]
    more = f" and {len(named) - len(shown)} more" if len(named) > len(shown) else ""
    return f": {', '.join(shown)}{more}" if named else ""
