"""Which of the window's searches are listed: chosen beside the list, or by a point of a figure or a row of a table."""

import math
import re
from collections.abc import Mapping

import streamlit as st

from medir.page_kit.address import Parameter, choice_parameter, text_parameter
from medir.page_kit.choosing import draw_box, draw_words, known
from medir.page_kit.signs import LOST, WON, model_name
from rag_core.report.numbers import DEPTHS, SPLITS, Report, SplitName
from rag_core.report.searches import SearchFilter
from rag_core.words.settings import threshold_or_no, value_told

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
# one rank, or all up to one
_RANK = re.compile(r"(1-)?([1-9]\d{0,2})")
# a step and the least that it took, in milliseconds
_TOOK = re.compile(r"(total|embed|vector|lexical|rank):(\d{1,9}(?:\.\d{1,3})?)")


def _pattern_parameter(name: str, pattern: re.Pattern[str]) -> Parameter[str]:
    return Parameter(
        name, "", lambda text: text if pattern.fullmatch(text) else None, lambda value: value or None
    )


WHICH = choice_parameter("which", ("", "degraded", "no-hit", "useful", "irrelevant"))
RANK = _pattern_parameter("rank", _RANK)
TOOK = _pattern_parameter("took", _TOOK)
KEYS: Mapping[SplitName, Parameter[str]] = {
    "settings": text_parameter("settings", at_most=64),
    "model": text_parameter("model", at_most=300),
    "actor": text_parameter("actor", at_most=300),
    "surface": text_parameter("surface", at_most=20),
    "scope": text_parameter("in", at_most=20),
    "day": _pattern_parameter("day", _DAY),
}
FILTERS = (WHICH, RANK, TOOK, *KEYS.values())
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
    rank, took = _RANK.fullmatch(RANK.read()), _TOOK.fullmatch(TOOK.read())
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
        rank=int(rank[2]) if rank and not rank[1] else None,
        rank_at_most=int(rank[2]) if rank and rank[1] else None,
        step=took[1] if took else "total",
        took_ms=float(took[2]) if took else None,
    )


def took_at_least(step: str, milliseconds: float) -> str:
    """The choice of searches in which a step took so long; cut, so that those at the limit are not left out."""
    return f"{step}:{math.floor(milliseconds * 1000) / 1000:.3f}"


def draw_filters(report: Report) -> None:
    """A control for each way of choosing; those with nothing to choose from are left out."""
    draw_words("Which", WHICH, _WHICH, key="report-which")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name in SPLITS:
            keys = [key for key, _ in report.splits[name]]
            keys = list(reversed(keys)) if name == "day" else keys
            _draw_choice(name, KEYS[name], {key: key_name(name, key, report) for key in keys})
        _draw_choice("rank voted on", RANK, _rank_names(report))
        _draw_choice("took at least", TOOK, _took_names(report))


def _draw_choice(label: str, parameter: Parameter[str], names: Mapping[str, str]) -> None:
    if not known(parameter, names) and len(names) < 2:
        return
    draw_box(
        label.capitalize(),
        parameter,
        names,
        key=f"report-filter-{parameter.name}",
        width=148,
        name_of=lambda key: names[key] if key else "all",
    )


def _rank_names(report: Report) -> dict[str, str]:
    ranks = sorted({entry.rank for entries in report.ranks.values() for entry in entries})
    depths = [depth for depth in DEPTHS[1:] if ranks and ranks[0] <= depth]
    return {str(rank): str(rank) for rank in ranks} | {f"1-{depth}": f"{depth} or better" for depth in depths}


def _took_names(report: Report) -> dict[str, str]:
    """The percentiles of the whole, and whatever is chosen, by a point of a figure or in a link."""
    total = report.whole.latency["total"]
    percentiles = {"p50": total.p50, "p95": total.p95, "p99": total.p99}
    names = {
        took_at_least("total", value): f"{value:.1f} ms ({name})"
        for name, value in percentiles.items()
        if value is not None
    }
    chosen = TOOK.read()
    step, _, milliseconds = chosen.partition(":")
    return {chosen: f"{'' if step == 'total' else step + ' '}{milliseconds} ms"} | names if chosen else names


def key_name(split: str, key: str, report: Report) -> str:
    """A split's key as people name it; settings by their numbers, a model without its digest."""
    if split == "model" and key != "none":
        return model_name(key)
    if split == "settings":
        numbers = next((entry.settings for entry in report.settings if entry.settings_id == key), {})
        vector, threshold = value_told(numbers.get("weightVector", "?")), numbers.get("threshold")
        return f"{key[:8]} (vector {vector}, {threshold_or_no(threshold)})"
    return key
