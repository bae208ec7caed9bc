"""The numbers at hand, every one of them in the address and in a widget, and the settings to start from."""

import math
from collections.abc import Callable, Mapping

import streamlit as st

from medir.page_kit.address import Parameter, choice_parameter, number_parameter, refuse
from medir.page_kit.numbers import NO_CAP, NumbersInAddress, cap_name, cap_names
from medir.page_kit.plain_text import escaped
from rag_core.calibration.findings import DEPTHS
from rag_core.evaluation.calibrations import Calibration
from rag_core.metrics.intervals import Interval
from rag_core.model import Fusion, LexicalFunction, LexicalOperator, RankingSettings, SearchSettings
from rag_core.model.limits import MAX_RRF_K
from rag_core.settings.overrides import MAX_CANDIDATES, Overrides
from rag_core.words.fusions import FUSION_NAMES, K_HELP

NO_THRESHOLD = -math.inf
_MOST_HITS = 50
_WORDS: Mapping[str, str] = {
    LexicalOperator.ANY: "any term",
    LexicalOperator.ALL: "all terms",
    NO_CAP: "no cap",
}


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
    return text if text == NO_CAP or (text.isdecimal() and 1 <= int(text) <= _MOST_HITS) else None


FUSION = choice_parameter("at-fusion", ("", *map(str, Fusion)))
OPERATOR = choice_parameter("at-operator", ("", *map(str, LexicalOperator)))
FUNCTION = choice_parameter("at-function", ("", *map(str, LexicalFunction)))
NUMBERS = NumbersInAddress(
    weight=Parameter("at-weight", None, _weight, _exactly),
    threshold=Parameter("at-threshold", None, _threshold, _exactly),
    no_threshold=NO_THRESHOLD,
    cap=Parameter("at-cap", "", _cap, lambda value: value or None),
    depth=number_parameter("at-depth", 1, MAX_CANDIDATES),
    limit=number_parameter("at-limit", 1, _MOST_HITS),
    k=number_parameter("at-k", 1, MAX_RRF_K),
    fusion=FUSION,
    operator=OPERATOR,
    function=FUNCTION,
)


def setting_at_hand(found: Calibration) -> SearchSettings:
    """What is chosen now; what this calibration can't show is said and replaced by today's."""
    today, numbers = found.findings.settings, NUMBERS.read()
    if (numbers.candidates or 0) > found.deepest:
        refuse(NUMBERS.depth, f"{NUMBERS.depth.read():g}")
    if numbers.rrf_k is not None and not (numbers.fusion or today.ranking.fusion).takes_k:
        refuse(NUMBERS.k, f"{numbers.rrf_k}")
    if found.variant_of(NUMBERS.read().over(today)) is None:
        for parameter in (OPERATOR, FUNCTION):
            if parameter.read():
                refuse(parameter, parameter.read())
    return NUMBERS.read().over(today)


def go_to(found: Calibration, target: SearchSettings) -> None:
    """Choose every number of some settings, from a callback."""
    NUMBERS.choose(Overrides.between(found.findings.settings, target))


def are_same(one: SearchSettings, other: SearchSettings) -> bool:
    """Whether every number is the same."""
    return Overrides.of(one) == Overrides.of(other)


def draw_numbers(
    found: Calibration, at_hand: SearchSettings, starts: Mapping[str, SearchSettings], span: Interval
) -> None:
    """All numbers as widgets, under the settings to start from; `span` holds the thresholds worth trying."""
    _draw_starts(found, at_hand, starts)
    ranking, own = at_hand.ranking, found.findings.settings
    _draw_weight(ranking)
    _draw_threshold(ranking.threshold, span)
    shown, own_cap = cap_name(ranking.max_per_file), cap_name(own.ranking.max_per_file)
    _draw_choice("Chunks a file", NUMBERS.cap, cap_names(shown, own_cap), shown, own=own_cap)
    _draw_whole("Hits shown", NUMBERS.limit, own.ranking.limit)
    # a row of its own: beside another widget its names would be cut
    _draw_fusion(str(own.ranking.fusion))
    if ranking.fusion.takes_k:
        _draw_k(Overrides(fusion=ranking.fusion).ranked(own.ranking).rrf_k)
    depths = sorted({own.ranking.candidates_per_signal, ranking.candidates_per_signal, *DEPTHS})
    _draw_depth([depth for depth in depths if depth <= found.deepest], own.ranking.candidates_per_signal)
    way, own_way = at_hand.candidates.lexical, own.candidates.lexical
    operators = list(dict.fromkeys(str(each.lexical.operator) for each in found.variants))
    _draw_choice("A chunk must hold", OPERATOR, operators, str(way.operator), own=str(own_way.operator))
    functions = list(dict.fromkeys(str(each.lexical.function) for each in found.variants))
    _draw_choice("Lexical function", FUNCTION, functions, str(way.function), own=str(own_way.function))


def _draw_starts(found: Calibration, at_hand: SearchSettings, starts: Mapping[str, SearchSettings]) -> None:
    key = "calibration-start"
    st.session_state[key] = next((name for name, start in starts.items() if are_same(start, at_hand)), None)

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
        NUMBERS.weight.choose(round(float(st.session_state[widget]), 10))

    weighs = ranking.fusion.weighs
    st.slider(
        "Vector weight",
        0.0,
        1.0,
        step=0.01,
        key=widget,
        on_change=take,
        format="%.3f",
        disabled=not weighs,
        help="The lexical signal has the rest."
        if weighs
        else f"{FUSION_NAMES[ranking.fusion]} weighs nothing.",
    )


def _draw_threshold(value: float | None, span: Interval) -> None:
    widget = "calibration-threshold"
    step = _step(span.high - span.low)
    low = math.floor(span.low / step) * step
    high = max(math.ceil(span.high / step) * step, low + step)
    st.session_state[widget] = low if value is None else min(max(value, low), high)

    def take() -> None:
        picked = round(float(st.session_state[widget]), 10)
        NUMBERS.threshold.choose(NO_THRESHOLD if picked <= low else picked)

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
        # a threshold belongs to one fusion's scale, and a k to the fusion that takes it
        NUMBERS.threshold.choose(None)
        NUMBERS.k.choose(None)

    st.selectbox(
        "Fusion",
        list(FUSION_NAMES),
        key=widget,
        on_change=take,
        format_func=lambda fusion: FUSION_NAMES[fusion],
        help="Another fusion has another scale, so it begins without a threshold.",
    )


def _draw_k(own: int) -> None:
    _draw_whole(
        "k of RRF",
        NUMBERS.k,
        own,
        most=MAX_RRF_K,
        and_then=lambda: NUMBERS.threshold.choose(None),
        help_=K_HELP,
    )


def _draw_whole(
    label: str,
    parameter: Parameter[float | None],
    own: int,
    *,
    most: int = _MOST_HITS,
    and_then: Callable[[], None] = lambda: None,
    help_: str | None = None,
) -> None:
    widget = f"calibration-{parameter.name}"
    st.session_state[widget] = int(parameter.read() or own)

    def take() -> None:
        picked = int(st.session_state[widget])
        parameter.choose(None if picked == own else float(picked))
        and_then()

    st.number_input(label, 1, most, step=1, key=widget, on_change=take, help=help_)


def _draw_depth(depths: list[int], own: int) -> None:
    widget = "calibration-depth"
    st.session_state[widget] = int(NUMBERS.depth.read() or own)

    def take() -> None:
        picked = int(st.session_state[widget])
        NUMBERS.depth.choose(None if picked == own else float(picked))

    st.select_slider("Candidates a signal", depths, key=widget, on_change=take)


def _step(width: float) -> float:
    """A round step of which some hundred fit."""
    return 10.0 ** math.floor(math.log10(width / 60)) if width > 0 else 0.001
