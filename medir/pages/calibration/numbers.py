"""The numbers at hand as widgets, and the settings to start from."""

import math
from collections.abc import Mapping

import streamlit as st

from medir.page_kit.address import Parameter
from medir.page_kit.plain_text import escaped
from medir.pages.calibration.setting import (
    CAP,
    DEPTH,
    FUNCTION,
    FUSION,
    LIMIT,
    MOST_HITS,
    NO_CAP,
    NO_THRESHOLD,
    OPERATOR,
    THRESHOLD,
    WEIGHT,
    AtHand,
    cap_name,
    deepest,
    go_to,
)
from rag_core.calibration.findings import DEPTHS
from rag_core.evaluation.calibrations import Calibration
from rag_core.metrics.intervals import Interval
from rag_core.model import Fusion, RankingSettings
from rag_core.words.settings import FUSIONS

_WORDS = {"any": "any term", "all": "all terms", NO_CAP: "no cap"}


def draw_numbers(found: Calibration, at_hand: AtHand, starts: Mapping[str, AtHand], span: Interval) -> None:
    """All numbers as widgets, under the settings to start from; `span` holds the thresholds worth trying."""
    _draw_starts(found, at_hand, starts)
    ranking, own = at_hand.ranking, found.findings.settings
    _draw_weight(ranking)
    _draw_threshold(ranking.threshold, span)
    shown, own_cap = cap_name(ranking.max_per_file), cap_name(own.ranking.max_per_file)
    _draw_choice("Chunks a file", CAP, _caps(shown, own_cap), shown, own=own_cap)
    left, right = st.columns(2)
    with left:
        _draw_whole("Hits shown", LIMIT, own.ranking.limit)
    with right:
        _draw_fusion(str(own.ranking.fusion))
    depths = sorted({own.ranking.candidates_per_signal, ranking.candidates_per_signal, *DEPTHS})
    _draw_depth([depth for depth in depths if depth <= deepest(found)], own.ranking.candidates_per_signal)
    way, own_way = at_hand.settings.candidates, own.candidates
    operators = list(dict.fromkeys(str(each.lexical_operator) for each in found.variants))
    _draw_choice(
        "A chunk must hold", OPERATOR, operators, str(way.lexical_operator), own=str(own_way.lexical_operator)
    )
    functions = list(dict.fromkeys(str(each.lexical_function) for each in found.variants))
    _draw_choice(
        "Lexical function", FUNCTION, functions, str(way.lexical_function), own=str(own_way.lexical_function)
    )


def _draw_starts(found: Calibration, at_hand: AtHand, starts: Mapping[str, AtHand]) -> None:
    key = "calibration-start"
    st.session_state[key] = next((name for name, start in starts.items() if start.is_same(at_hand)), None)

    def take() -> None:
        picked = st.session_state[key]
        # a second press on what is at hand already changes nothing
        if picked is not None:
            go_to(found, starts[picked])

    st.pills("Start from", list(starts), key=key, on_change=take, format_func=escaped)


def _draw_weight(ranking: RankingSettings) -> None:
    widget = "calibration-weight"
    st.session_state[widget] = ranking.weight_vector

    def take() -> None:
        WEIGHT.choose(round(float(st.session_state[widget]), 10))

    weightless = ranking.fusion is Fusion.RRF
    st.slider(
        "Vector weight",
        0.0,
        1.0,
        step=0.01,
        key=widget,
        on_change=take,
        format="%.3f",
        disabled=weightless,
        help="RRF weighs nothing." if weightless else "The lexical signal has the rest.",
    )


def _draw_threshold(value: float | None, span: Interval) -> None:
    widget = "calibration-threshold"
    step = _step(span.high - span.low)
    low = math.floor(span.low / step) * step
    high = max(math.ceil(span.high / step) * step, low + step)
    st.session_state[widget] = low if value is None else min(max(value, low), high)

    def take() -> None:
        picked = round(float(st.session_state[widget]), 10)
        THRESHOLD.choose(NO_THRESHOLD if picked <= low else picked)

    st.slider(
        "Threshold (left end: none)",
        low,
        high,
        step=step,
        key=widget,
        on_change=take,
        format="%.4f" if step < 0.001 else "%.3f",
        help="On the scale of the fused score. No threshold shows every candidate.",
    )


def _draw_choice(label: str, parameter: Parameter[str], options: list[str], shown: str, *, own: str) -> None:
    widget = f"calibration-{parameter.name}"
    st.session_state[widget] = shown

    def take() -> None:
        picked = str(st.session_state[widget])
        parameter.choose("" if picked == own else picked)

    st.segmented_control(
        label,
        options,
        key=widget,
        required=True,
        on_change=take,
        format_func=lambda option: _WORDS.get(str(option), str(option)),
    )


def _draw_fusion(own: str) -> None:
    widget = "calibration-fusion"
    st.session_state[widget] = FUSION.read() or own

    def take() -> None:
        picked = str(st.session_state[widget])
        FUSION.choose("" if picked == own else picked)
        # a threshold belongs to one fusion's scale
        THRESHOLD.choose(None)

    st.selectbox(
        "Fusion",
        list(FUSIONS),
        key=widget,
        on_change=take,
        format_func=lambda fusion: FUSIONS[fusion],
        help="Another fusion has another scale, so it begins without a threshold.",
    )


def _draw_whole(label: str, parameter: Parameter[float | None], own: int) -> None:
    widget = f"calibration-{parameter.name}"
    st.session_state[widget] = int(parameter.read() or own)

    def take() -> None:
        picked = int(st.session_state[widget])
        parameter.choose(None if picked == own else float(picked))

    st.number_input(label, 1, MOST_HITS, step=1, key=widget, on_change=take)


def _draw_depth(depths: list[int], own: int) -> None:
    widget = "calibration-depth"
    st.session_state[widget] = int(DEPTH.read() or own)

    def take() -> None:
        picked = int(st.session_state[widget])
        DEPTH.choose(None if picked == own else float(picked))

    st.select_slider("Candidates a signal", depths, key=widget, on_change=take)


def _caps(shown: str, own: str) -> list[str]:
    names = {shown, own, "1", "2", "3", NO_CAP}
    return sorted(names, key=lambda cap: math.inf if cap == NO_CAP else int(cap))


def _step(width: float) -> float:
    """A round step of which some hundred fit."""
    return 10.0 ** math.floor(math.log10(width / 60)) if width > 0 else 0.001
