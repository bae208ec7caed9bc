"""The way of one question's candidates through the search, with the expected chunk's way marked."""

from dataclasses import dataclass

import plotly.graph_objects as go

from rag_core.figures.layout import lay_out, say_empty
from rag_core.figures.palette import BAD, BASELINE, GOOD, LEXICAL, VECTOR, Theme
from rag_core.model import Fate, RankedCandidate, Ranking

_SOURCES = ("vector only", "both signals", "lexical only")
_ENDS = {
    Fate.HIT: "hits",
    Fate.LIMIT: "beyond the limit",
    Fate.FILE_CAP: "over the file cap",
    Fate.THRESHOLD: "under the threshold",
}
_WHOLE = "whole set"
# one candidate of 150 would be a hair: its way is drawn at least so wide
_WAY_SHARE = 0.025


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowCounts:
    """How many candidates came from where, and how many ended where; the two sums are equal."""

    sources: dict[str, int]
    ends: dict[str, int]


def count_flow(ranking: Ranking) -> FlowCounts:
    """The table behind the figure; every name is there, with 0 where nothing went."""
    sources: dict[str, int] = dict.fromkeys(_SOURCES, 0)
    ends = dict.fromkeys(_ENDS.values(), 0)
    for entry in ranking.whole_set:
        sources[_source_of(entry)] += 1
        ends[_ENDS[entry.fate]] += 1
    return FlowCounts(sources=sources, ends=ends)


def case_flow(ranking: Ranking, expected: RankedCandidate | None, theme: Theme) -> go.Figure:
    """Ribbons from the two signals' lists to the hits; widths are numbers of candidates, but for the marked way.

    An empty ranking gives an empty figure that says so. `expected` is the best expected chunk's line in the
    whole set, whose way is drawn for itself: green where it became a hit, vermilion where it was removed. None
    where no list holds it.
    """
    counts = count_flow(ranking)
    total = len(ranking.whole_set)
    title = f"From {_counted(total, 'candidate')} to {_counted(counts.ends['hits'], 'hit')}"
    figure = go.Figure()
    if total == 0:
        return say_empty(lay_out(figure, title=title, theme=theme, height=120), "No candidate", theme)
    names = [*_SOURCES, _WHOLE, *_ENDS.values()]
    amounts = counts.sources | {_WHOLE: total} | counts.ends
    index = {name: number for number, name in enumerate(names)}
    way = [] if expected is None else [(_source_of(expected), _WHOLE), (_WHOLE, _ENDS[expected.fate])]
    links = [(name, _WHOLE, counts.sources[name]) for name in _SOURCES]
    links += [(_WHOLE, name, counts.ends[name]) for name in _ENDS.values()]
    plain = [(start, end, count - ((start, end) in way)) for start, end, count in links]
    colour = GOOD if expected is not None and expected.fate is Fate.HIT else BAD
    drawn = [link for link in plain if link[2] > 0]
    figure.add_sankey(
        arrangement="snap",
        textfont={"color": theme.ink, "size": 13, "shadow": "none"},
        node={
            "label": [f"{name} {amounts[name]}" if amounts[name] else "" for name in names],
            "color": [VECTOR, BASELINE, LEXICAL, theme.ink, GOOD, *[theme.faint] * (len(_ENDS) - 1)],
            "pad": 18,
            "thickness": 12,
            "line": {"width": 0},
            "hovertemplate": "%{label}<extra></extra>",
        },
        link={
            "source": [index[start] for start, _, _ in drawn] + [index[start] for start, _ in way],
            "target": [index[end] for _, end, _ in drawn] + [index[end] for _, end in way],
            "value": [count for _, _, count in drawn] + [max(1.0, total * _WAY_SHARE)] * len(way),
            "color": [_washed(start) for start, _, _ in drawn] + [colour] * len(way),
            "label": [_counted(count, "candidate") for _, _, count in drawn]
            + ["the expected chunk"] * len(way),
            "hovertemplate": "%{label}<extra></extra>",
        },
    )
    return lay_out(figure, title=title, theme=theme, height=260)


def _source_of(entry: RankedCandidate) -> str:
    if entry.candidate.vector_rank is None:
        return "lexical only"
    return "vector only" if entry.candidate.lexical_rank is None else "both signals"


def _washed(start: str) -> str:
    return {
        "vector only": "rgba(0,114,178,0.30)",
        "lexical only": "rgba(230,159,0,0.30)",
    }.get(start, "rgba(138,135,129,0.28)")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
