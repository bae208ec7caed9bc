"""Other numbers for an answer that is there already: chosen with sliders, replayed, nothing asked again."""

import dataclasses
import math

import streamlit as st

from medir.page_kit.address import Parameter, choice_parameter, number_parameter
from medir.page_kit.signs import LOST, WON
from rag_core.model import Fate, Ranking, RankingSettings
from rag_core.search.answer import Answer
from rag_core.words.fusions import THRESHOLD_SCALES

_NO_CAP = "none"
_WIDEST = 20

WEIGHT = number_parameter("weight", 0, 1)
THRESHOLD = number_parameter("threshold", 0, 5)
DEPTH = number_parameter("depth", 1, 200)
LIMIT = number_parameter("limit", 1, 50)
CAP = choice_parameter("cap", ("", "1", "2", "3", _NO_CAP))
NUMBERS = (WEIGHT, THRESHOLD, DEPTH, LIMIT, CAP)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    """What other numbers did to the hits: ranks before by chunk id, and the citations of those that left."""

    before: dict[str, int]
    left: tuple[str, ...]

    def of(self, chunk_id: str, rank: int | None) -> str:
        """How a hit moved, with its sign; empty where it stayed."""
        was = self.before.get(chunk_id)
        if was is None:
            return f"{WON} new"
        if rank is None or was == rank:
            return ""
        return f"{WON if rank < was else LOST} was {was}"


def draw_sliders(answer: Answer) -> RankingSettings:
    """The sliders, beginning at the answer's own numbers; returns the numbers that they show."""
    own, degraded = answer.settings.ranking, not answer.found.vector_available
    own_threshold = own.threshold_when_degraded if degraded else own.threshold
    highest, step = THRESHOLD_SCALES[own.fusion]
    weight = _slider("Vector weight", WEIGHT, own.weight_vector, (0.0, 1.0), 0.01)
    threshold = _slider("Threshold (0: none)", THRESHOLD, own_threshold or 0.0, (0.0, highest), step)
    depth = own.candidates_per_signal
    depth_tried = _slider("Candidates a signal", DEPTH, depth, (1, max(2, depth)), 1)
    limit = _slider("Hits shown", LIMIT, own.limit, (1, max(_WIDEST, own.limit)), 1)
    cap = _draw_cap(own.max_per_file)
    if st.button(
        "Back to the numbers in force", key="try-reset", icon=":material/undo:", disabled=not any_chosen()
    ):
        reset()
        st.rerun()
    tried_threshold = own_threshold if threshold == (own_threshold or 0.0) else threshold or None
    return dataclasses.replace(
        own,
        weight_vector=weight,
        weight_lexical=own.weight_lexical if weight == own.weight_vector else 1 - weight,
        threshold=own.threshold if degraded else tried_threshold,
        threshold_when_degraded=tried_threshold if degraded else own.threshold_when_degraded,
        candidates_per_signal=int(depth_tried),
        max_per_file=cap,
        limit=int(limit),
    )


def any_chosen() -> bool:
    """Whether any number differs from the answer's own."""
    return any(parameter.read() != parameter.default for parameter in NUMBERS)


def reset() -> None:
    """Back to the answer's own numbers."""
    for parameter in (WEIGHT, THRESHOLD, DEPTH, LIMIT):
        parameter.choose(None)
    CAP.choose("")


def moves(before: Ranking, after: Ranking) -> Moves:
    """What moved between two rankings of the same candidates."""
    stayed = {hit.candidate.chunk_id for hit in after.hits}
    return Moves(
        before={hit.candidate.chunk_id: hit.rank for hit in before.hits if hit.rank is not None},
        left=tuple(
            hit.candidate.origin.citation for hit in before.hits if hit.candidate.chunk_id not in stayed
        ),
    )


def count_fates(ranking: Ranking) -> dict[Fate, int]:
    """How many candidates each step removed, and how many are hits."""
    counts = dict.fromkeys(Fate, 0)
    for entry in ranking.whole_set:
        counts[entry.fate] += 1
    return counts


def _slider(
    label: str, parameter: Parameter[float | None], own: float, span: tuple[float, float], step: float
) -> float:
    low, high = span
    widget = f"try-{parameter.name}"
    chosen = parameter.read()
    if chosen is not None and not low <= chosen <= high:
        parameter.choose(None)
    whole = isinstance(low, int)
    take = parameter.mirror(widget, stand_in=own)
    if whole:
        st.session_state[widget] = int(st.session_state[widget])
    return st.slider(
        label, low, high, step=step, key=widget, on_change=take, format=None if whole else "%.3f"
    )


def _draw_cap(own: int | None) -> int | None:
    shown = _NO_CAP if own is None else str(own)
    options = sorted(
        {shown, "1", "2", "3", _NO_CAP}, key=lambda cap: math.inf if cap == _NO_CAP else int(cap)
    )
    picked = st.segmented_control(
        "Chunks a file",
        options,
        key="try-cap",
        required=True,
        on_change=CAP.mirror("try-cap", stand_in=shown),
    )
    return None if picked == _NO_CAP else int(picked or shown)
