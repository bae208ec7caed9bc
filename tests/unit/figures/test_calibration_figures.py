"""The calibration's figures as data: every setting has its sign, nothing is told by colour alone, nothing is faked."""

import base64
import dataclasses

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.basedatatypes import BaseTraceType

from golden_material import chunk, found
from rag_core.calibration.effective import EffectiveWeight
from rag_core.calibration.landscape import Outline
from rag_core.calibration.regions import Region, RegionMap
from rag_core.calibration.table import build_table, judge_places
from rag_core.calibration.trade import weigh_errors
from rag_core.figures.palette import BAD, BASELINE, DARK, GOOD, LEXICAL, LIGHT, VECTOR
from rag_core.figures.setting_marks import SettingMark, marker_of
from rag_core.figures.signal_shares import signal_shares
from rag_core.figures.signal_shares import told as told_of_shares
from rag_core.figures.threshold_errors import threshold_errors
from rag_core.figures.threshold_map import (
    Box,
    Grid,
    mixed,
    regions_picture,
    threshold_map,
    told_of_bands,
)
from rag_core.figures.weight_curve import NamedCurve, weight_curve
from rag_core.metrics.intervals import Interval
from rag_core.metrics.measures import MRR, PASSED
from rag_core.model import Fusion, Place, RankingSettings

STEPS = Outline(ends=np.array([0.0, 0.5, 1.0]), inside=np.array([0.25, 0.75]))
WHOLE = NamedCurve(name="all cases", steps=STEPS, cases=8)
AT_HAND = SettingMark(role="at hand", name="at hand", weight=0.75, threshold=0.1, value=0.75)
TODAY = SettingMark(role="today", name="today", weight=0.25, threshold=None, value=0.25)
FROZEN = SettingMark(role="baseline", name="baseline v1", weight=0.3, threshold=0.1, value=0.5)
REGIONS = RegionMap(
    regions=(
        Region(band=0, weights=(0.0, 0.5, 0.5, 0.0), thresholds=(0.0, 0.0, 0.2, 0.2)),
        Region(band=2, weights=(0.5, 1.0, 1.0, 0.5), thresholds=(0.0, 0.0, 0.2, 0.2)),
    ),
    best=0.75,
    judged=8,
    low=0.0,
    high=0.2,
    exact=True,
)
GRID = Grid(
    weights=np.array([0.0, 1.0]), thresholds=np.array([0.0, 0.1]), values=np.array([[1, 2], [3, 4.0]])
)
SHOWN = Interval(0.0, 0.2)
HALF = RankingSettings(weight_vector=0.6, weight_lexical=0.4, threshold=None)


def named(figure: go.Figure) -> dict[str, BaseTraceType]:
    return {trace.name: trace for trace in figure.data if trace.name}


def test_the_curve_holds_its_value_up_to_the_next_end():
    figure = weight_curve(PASSED, WHOLE, [], safe=[], marks=[], theme=LIGHT)
    line = named(figure)["all cases (n = 8)"]
    assert list(line["x"]) == [0.0, 0.5, 1.0]
    assert list(line["y"]) == [0.25, 0.75, 0.75]
    assert line["line"]["shape"] == "hv"
    assert line["line"]["color"] == LIGHT.ink


def test_other_curves_are_thinner_and_a_tag_is_shown_as_text():
    tag = dataclasses.replace(WHOLE, name="tag <b>x</b>")
    figure = weight_curve(PASSED, WHOLE, [tag], safe=[], marks=[], theme=LIGHT)
    lines = named(figure)
    assert (
        lines["tag &lt;b&gt;x&lt;/b&gt; (n = 8)"]["line"]["width"]
        < lines["all cases (n = 8)"]["line"]["width"]
    )


def test_every_setting_has_a_sign_of_its_own_and_the_baseline_a_dashed_grey_line():
    figure = weight_curve(PASSED, WHOLE, [], safe=[], marks=[FROZEN, TODAY, AT_HAND], theme=DARK)
    marks = named(figure)
    assert (marks["at hand"]["x"], marks["at hand"]["y"]) == ((0.75,), (0.75,))
    assert marks["at hand"]["marker"]["color"] == DARK.ink
    lines = [shape["line"] for shape in figure.to_dict()["layout"]["shapes"]]
    assert {"color": BASELINE, "dash": "dash", "width": 1.5} in lines
    roles = ("at hand", "today", "baseline", "proposal")
    assert len({marker_of(role, LIGHT)["symbol"] for role in roles}) == len(roles)
    assert marker_of("proposal", LIGHT)["color"] == GOOD


def test_a_setting_that_was_not_measured_has_no_mark():
    figure = weight_curve(
        PASSED, WHOLE, [], safe=[], marks=[dataclasses.replace(FROZEN, value=None)], theme=LIGHT
    )
    assert "baseline v1" not in named(figure)


def test_safe_weights_are_bands_and_named_once():
    figure = weight_curve(
        PASSED, WHOLE, [], safe=[Interval(0.1, 0.2), Interval(0.4, 0.6)], marks=[], theme=LIGHT
    )
    bands = [(shape["x0"], shape["x1"]) for shape in figure.to_dict()["layout"]["shapes"]]
    assert bands == [(0.1, 0.2), (0.4, 0.6)]
    assert [name for name in named(figure) if name == "safe weights"] == ["safe weights"]


def test_the_axis_says_what_is_measured_in_which_unit():
    share = weight_curve(PASSED, WHOLE, [], safe=[], marks=[], theme=LIGHT).to_dict()["layout"]["yaxis"]
    mean = weight_curve(MRR, WHOLE, [], safe=[], marks=[], theme=LIGHT).to_dict()["layout"]["yaxis"]
    assert (share["title"]["text"], share["tickformat"]) == ("passed, share of cases", ".0%")
    assert (mean["title"]["text"], mean["tickformat"]) == ("mrr, mean over cases", ".2f")


def test_a_measure_without_a_case_is_said_not_to_be_measured():
    for figure in (
        weight_curve(PASSED, None, [], safe=[], marks=[], theme=LIGHT),
        threshold_map(PASSED, None, None, shown=SHOWN, marks=[], margins=None, theme=LIGHT),
    ):
        assert "Not measured" in figure.to_dict()["layout"]["annotations"][0]["text"]


def svg(theme: object = LIGHT) -> str:
    kind, _, data = regions_picture(REGIONS, theme).partition(",")
    assert kind == "data:image/svg+xml;base64"
    return base64.b64decode(data).decode()


def test_the_picture_has_a_path_a_band_the_best_on_top_with_an_outline():
    drawn = svg()
    assert drawn.count("<path") == 2
    # the left half, full height, in four thousandths
    assert 'd="M0 4000L2000 4000L2000 0L0 0Z"' in drawn
    assert drawn.index(mixed(LIGHT.paper, LIGHT.ink, 0.17)) < drawn.index(f'stroke="{LIGHT.ink}"')
    assert f'fill="{LIGHT.paper}"' in drawn
    assert f'fill="{DARK.paper}"' in svg(DARK)


def test_the_map_spans_its_thresholds_and_can_be_clicked_on_everywhere():
    figure = threshold_map(
        PASSED, REGIONS, GRID, shown=SHOWN, marks=[TODAY, AT_HAND], margins=None, theme=LIGHT
    )
    layout = figure.to_dict()["layout"]
    (image,) = layout["images"]
    assert (image["y"], image["sizex"], image["sizey"]) == (0.2, 1, 0.2)
    places = named(figure)["map"]
    assert list(places["x"]) == [0.0, 0.0, 1.0, 1.0]
    assert list(places["y"]) == [0.0, 0.1, 0.0, 0.1]
    assert list(places["customdata"]) == [1, 2, 3, 4]
    # no threshold is the lower edge
    assert named(figure)["today"]["y"] == (0.0,)


def test_what_lies_in_another_plane_has_no_mark_on_the_map():
    elsewhere = dataclasses.replace(TODAY, on_map=False)
    figure = threshold_map(
        PASSED, REGIONS, GRID, shown=SHOWN, marks=[elsewhere, AT_HAND], margins=None, theme=LIGHT
    )
    assert "today" not in named(figure)
    assert "at hand" in named(figure)


@pytest.mark.parametrize(("threshold", "low", "high"), [(None, 0.0, 0.2), (Interval(-np.inf, 0.1), 0.0, 0.1)])
def test_the_proposals_margins_are_a_box_within_the_map(threshold: Interval | None, low: float, high: float):
    box = Box(weight=Interval(0.1, 0.4), threshold=threshold)
    figure = threshold_map(PASSED, REGIONS, GRID, shown=SHOWN, marks=[], margins=box, theme=LIGHT)
    drawn = named(figure)["margins of the proposal"]
    assert (min(drawn["x"]), max(drawn["x"])) == (0.1, 0.4)
    assert (min(drawn["y"]), max(drawn["y"])) == (low, high)


def test_the_greys_are_told_in_words():
    assert told_of_bands(REGIONS, PASSED) == (
        "Clear, with an outline: 6 of 8, the best anywhere here. Each shade greyer: 1, 2, 3, 5, 8, 13, 21 cases fewer."
    )
    assert "0.750 (n = 8)" in told_of_bands(REGIONS, MRR)


def test_two_bars_say_who_decides_and_ticks_what_was_given():
    effective = EffectiveWeight(by_case=np.array([0.75]), vector=0.75)
    figure = signal_shares(effective, HALF, LIGHT)
    vector, lexical, ticks = figure.data
    assert (vector["x"], vector["marker"]["color"]) == ((0.75,), VECTOR)
    assert (lexical["x"], lexical["marker"]["color"]) == ((0.25,), LEXICAL)
    assert ticks["x"] == (0.6, 0.4)
    assert told_of_shares(effective, HALF, 1) == (
        "The vector signal decides 75% of disputed pairs (mean of 1 case); its weight is 0.6."
    )


def test_rrf_gives_no_weight_and_no_dispute_is_not_measured():
    effective = EffectiveWeight(by_case=np.array([0.75]), vector=0.75)
    assert len(signal_shares(effective, dataclasses.replace(HALF, fusion=Fusion.RRF), LIGHT).data) == 2
    silent = EffectiveWeight(by_case=np.array([np.nan]), vector=None)
    assert "Not measured" in signal_shares(silent, HALF, LIGHT).layout.annotations[0].text
    assert told_of_shares(silent, HALF, 0).startswith("— not measured")


def test_both_errors_are_drawn_over_the_threshold_with_their_cost():
    # an answer at 0.5, a stranger at 0.3: between them nothing is wrong
    only_vector = dataclasses.replace(HALF, weight_vector=1.0, weight_lexical=0.0)
    table = build_table(
        [found(chunk("docs/a.md", vector=(0.5, 1))), found(chunk("docs/b.md", vector=(0.3, 1)))]
    )
    judged = judge_places(table, [[Place("file", "docs/a.md")], []])
    trade = weigh_errors(table, judged, only_vector, price=0.25)
    figure = threshold_errors(trade, threshold=0.4, high=0.6, theme=LIGHT)
    lines = named(figure)
    missed, wrong = lines["✗ answers missed, of 1"], lines["✗ wrong citations, of 1"]
    assert (list(missed["x"]), list(missed["y"])) == ([0.0, 0.5, 0.6], [0, 1, 1])
    assert (list(wrong["x"]), list(wrong["y"])) == ([0.0, 0.3, 0.6], [1, 0, 0])
    assert missed["line"]["color"] == wrong["line"]["color"] == BAD
    assert missed["line"]["dash"] != wrong["line"]["dash"]
    shapes = figure.to_dict()["layout"]["shapes"]
    assert (0.3, 0.5) in {(shape["x0"], shape["x1"]) for shape in shapes}


def test_a_set_of_one_kind_has_one_line_and_no_cost():
    table = build_table([found(chunk("docs/a.md", vector=(0.5, 1)))])
    trade = weigh_errors(table, judge_places(table, [[Place("file", "docs/a.md")]]), HALF, price=0.25)
    figure = threshold_errors(trade, threshold=None, high=0.6, theme=LIGHT)
    assert list(named(figure)) == ["✗ answers missed, of 1"]
