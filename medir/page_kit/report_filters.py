"""Which of the window's searches are listed: chosen beside the list, or by a point of a figure or a row of a table."""

import re
from collections.abc import Mapping, Sequence

import streamlit as st

from medir.page_kit.address import Parameter, choice_parameter, refuse, text_parameter
from medir.page_kit.signs import LOST, WON, model_name
from rag_core.report.numbers import SPLITS, Report, SplitName
from rag_core.report.searches import SearchFilter

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_RANK = re.compile(r"[1-9]\d{0,2}")


def _pattern_parameter(name: str, pattern: re.Pattern[str]) -> Parameter[str]:
    return Parameter(
        name, "", lambda text: text if pattern.fullmatch(text) else None, lambda value: value or None
    )


WHICH = choice_parameter("which", ("", "degraded", "no-hit", "useful", "irrelevant"))
RANK = _pattern_parameter("rank", _RANK)
KEYS: Mapping[SplitName, Parameter[str]] = {
    "settings": text_parameter("settings", at_most=64),
    "model": text_parameter("model", at_most=300),
    "actor": text_parameter("actor", at_most=300),
    "surface": text_parameter("surface", at_most=20),
    "scope": text_parameter("in", at_most=20),
    "day": _pattern_parameter("day", _DAY),
}
FILTERS = (WHICH, RANK, *KEYS.values())
_WHICH = {
    "": "all",
    "degraded": "degraded",
    "no-hit": "without a hit",
    "useful": f"{WON} useful votes",
    "irrelevant": f"{LOST} irrelevant votes",
}
_VERDICTS = {"useful": "util", "irrelevant": "irrelevante"}


def chosen_filter() -> SearchFilter:
    """What is chosen, as the list takes it."""
    which, keys = WHICH.read(), {name: KEYS[name].read() or None for name in SPLITS}
    rank = RANK.read()
    return SearchFilter(
        settings_id=keys["settings"],
        model=keys["model"],
        actor=keys["actor"],
        surface=keys["surface"],
        scope=keys["scope"],
        day=keys["day"],
        degraded=True if which == "degraded" else None,
        no_hit=True if which == "no-hit" else None,
        verdict=_VERDICTS.get(which),
        rank=int(rank) if rank else None,
    )


def draw_filters(report: Report) -> None:
    """A control for each way of choosing; those with nothing to choose from are left out."""
    st.segmented_control(
        "Which",
        list(_WHICH),
        key="report-which",
        required=True,
        on_change=WHICH.mirror("report-which"),
        format_func=lambda which: _WHICH[which],
        label_visibility="collapsed",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name in SPLITS:
            keys = [key for key, _ in report.splits[name]]
            _draw_choice(name, KEYS[name], list(reversed(keys)) if name == "day" else keys, report)
        ranks = {entry.rank for entries in report.ranks.values() for entry in entries}
        _draw_choice("rank voted on", RANK, [str(rank) for rank in sorted(ranks)], report)


def _draw_choice(label: str, parameter: Parameter[str], keys: Sequence[str], report: Report) -> None:
    if parameter.read() and parameter.read() not in keys:
        refuse(parameter, parameter.read())
    if len(keys) < 2 and not parameter.read():
        return
    widget = f"report-filter-{parameter.name}"
    st.selectbox(
        label.capitalize(),
        ["", *keys],
        key=widget,
        on_change=parameter.mirror(widget),
        width=170,
        format_func=lambda key: key_name(label, key, report) if key else "all",
    )


def key_name(split: str, key: str, report: Report) -> str:
    """A split's key as people name it; settings by their numbers, a model without its digest."""
    if split == "model" and key != "none":
        return model_name(key)
    if split == "settings":
        numbers = next((entry.settings for entry in report.settings if entry.settings_id == key), {})
        return f"{key[:8]} (vector {numbers.get('weightVector', '?')}, threshold {numbers.get('threshold')})"
    return key
