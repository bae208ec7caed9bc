"""Other numbers for an answer that is there already: chosen with sliders, replayed, nothing asked again."""

import dataclasses

import streamlit as st

from medir.page_kit.address import Parameter, choice_parameter, number_parameter, refuse
from medir.page_kit.numbers import NO_CAP, NumbersInAddress, cap_name, cap_names
from medir.page_kit.signs import LOST, WON
from rag_core.model import Fate, Ranking, RankingSettings
from rag_core.model.limits import MAX_RRF_K
from rag_core.search.answer import Answer
from rag_core.settings.overrides import UNSET, Overrides
from rag_core.words.fusions import K_HELP, threshold_scale

_WIDEST = 20

NUMBERS = NumbersInAddress(
    weight=number_parameter("weight", 0, 1),
    threshold=number_parameter("threshold", 0, 5),
    no_threshold=0.0,
    depth=number_parameter("depth", 1, 200),
    limit=number_parameter("limit", 1, 50),
    k=number_parameter("k", 1, MAX_RRF_K),
    cap=choice_parameter("cap", ("", "1", "2", "3", NO_CAP)),
)


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
    _draw_k(own)
    # a threshold belongs to the k that it was chosen under, too
    begun = Overrides(rrf_k=NUMBERS.read().rrf_k).ranked(own)
    own_threshold = begun.threshold_when_degraded if degraded else begun.threshold
    highest, step = threshold_scale(begun)
    highest = max(highest, own_threshold or 0.0)
    depth = own.candidates_per_signal
    _slider("Vector weight", NUMBERS.weight, own.weight_vector, (0.0, 1.0), 0.01)
    _slider("Threshold (0: none)", NUMBERS.threshold, own_threshold or 0.0, (0.0, highest), step)
    _slider("Candidates a signal", NUMBERS.depth, depth, (1, max(2, depth)), 1)
    _slider("Hits shown", NUMBERS.limit, own.limit, (1, max(_WIDEST, own.limit)), 1)
    _draw_cap(cap_name(own.max_per_file))
    numbers = NUMBERS.read()
    if st.button(
        "Back to the numbers in force", key="try-reset", icon=":material/undo:", disabled=not any_chosen()
    ):
        NUMBERS.choose(Overrides())
        st.rerun()
    if numbers.threshold is None and own_threshold == 0:
        # the slider's left end is then the answer's own threshold
        numbers = dataclasses.replace(numbers, threshold=UNSET)
    if degraded:
        numbers = dataclasses.replace(numbers, threshold=UNSET, threshold_when_degraded=numbers.threshold)
    return numbers.ranked(own)


def any_chosen() -> bool:
    """Whether any number differs from the answer's own."""
    return NUMBERS.read().any_given


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
) -> None:
    low, high = span
    widget = f"try-{parameter.name}"
    chosen = parameter.read()
    if chosen is not None and not low <= chosen <= high:
        parameter.choose(None)
    whole = isinstance(low, int)
    take = parameter.mirror(widget, stand_in=own)
    if whole:
        st.session_state[widget] = int(st.session_state[widget])
    digits = None if whole else "%.3f" if step >= 0.001 else "%.5f"
    st.slider(label, low, high, step=step, key=widget, on_change=take, format=digits)


def _draw_k(own: RankingSettings) -> None:
    chosen = NUMBERS.k.read()
    if not own.fusion.takes_k:
        if chosen is not None:
            refuse(NUMBERS.k, f"{chosen:g}")
        return
    take = NUMBERS.k.mirror("try-k", stand_in=own.rrf_k)
    st.session_state["try-k"] = int(st.session_state["try-k"])

    def take_k() -> None:
        take()
        NUMBERS.threshold.choose(None)

    st.number_input("k of RRF", 1, MAX_RRF_K, step=1, key="try-k", on_change=take_k, help=K_HELP)


def _draw_cap(own: str) -> None:
    st.segmented_control(
        "Chunks a file",
        cap_names(own),
        key="try-cap",
        required=True,
        on_change=NUMBERS.cap.mirror("try-cap", stand_in=own),
    )
