"""What stands behind a setting: every measure with its test, the rivals, who decides, what a threshold trades."""

from collections.abc import Sequence
from typing import cast

import numpy as np
import pandas as pd
import streamlit as st

from medir.page_kit.address import number_parameter
from medir.page_kit.figures import draw_figure
from medir.page_kit.signs import DASH, theme
from medir.pages.calibration.numbers import go_to
from medir.pages.calibration.scene import Scene, measures_of
from rag_core.calibration.choice.contenders import TODAY
from rag_core.calibration.choice.verdict import ScoredContender
from rag_core.calibration.effective import effective_weight
from rag_core.calibration.findings import settings_of_contender
from rag_core.calibration.trade import weigh_errors
from rag_core.figures.signal_shares import signal_shares
from rag_core.figures.signal_shares import told as told_of_shares
from rag_core.figures.threshold_errors import threshold_errors
from rag_core.metrics.comparison import compare
from rag_core.metrics.intervals import bootstrap_mean, wilson
from rag_core.metrics.kernels import ceilings
from rag_core.words.fusions import FUSION_NAMES
from rag_core.words.numbers import p_value
from rag_core.words.settings import threshold_told

PRICE = number_parameter("price", 0, 100)
_PRICE = 0.25
_RIVALS = "calibration-rivals"
# resamples of a page that moves; the verdict's own has more
_RESAMPLES = 2_000


def draw_measures(scene: Scene) -> None:
    """Every measure of the setting at hand with its interval, and paired with what it is compared with."""
    rows: list[dict[str, object]] = []
    for measure in measures_of(scene.found, scene.measure):
        values, other = scene.outcome.values[measure], scene.reference.values[measure]
        judged = values[~np.isnan(values)]
        n = len(judged)
        share = measure.is_share_of_cases
        interval = (
            wilson(round(float(judged.sum())), n)
            if share
            else bootstrap_mean(judged, seed=0, resamples=_RESAMPLES)
        )
        # only cases that both judge are compared
        both = ~np.isnan(values) & ~np.isnan(other)
        against = compare(values[both], other[both], seed=0, resamples=_RESAMPLES)
        best = ceilings(measure, scene.plane.landscape.judged.expected, scene.at_hand.ranking.limit)
        rows.append(
            {
                "measure": str(measure),
                "n": n,
                "at hand": measure.told(float(judged.mean()), n),
                "95 %": measure.told_span(interval, n),
                "at most": measure.told(float(np.nanmean(best)), n),
                scene.reference.name: DASH if against is None else measure.told(against.old, n),
                "difference": DASH if against is None else measure.told_difference(against.difference, n),
                "95 % of it": DASH
                if against is None
                else f"{measure.told_difference(against.interval.low, n)} to "
                f"{measure.told_difference(against.interval.high, n)}",
                "won": DASH if against is None else str(against.won),
                "lost": DASH if against is None else str(against.lost),
                "p": DASH if against is None else p_value(against.p_value),
            }
        )
    st.dataframe(pd.DataFrame(rows), key="calibration-measures", hide_index=True, placeholder=DASH)
    st.caption(
        "Paired over cases: the difference with its bootstrap interval, p of the randomisation test. These are all "
        "cases, those of the choice among them; what took no part in it stands above. At most: what a perfect order "
        "reaches."
    )


def draw_rivals(scene: Scene) -> None:
    """Today, the proposal and every rival on cases that took no part; a selected row becomes the setting at hand."""
    if scene.proposal is None:
        st.text(f"Not measured for {scene.measure} yet: calibrate for it.")
        return
    choice = scene.found.findings.choice

    def take() -> None:
        picked = cast("Sequence[int]", st.session_state[_RIVALS]["selection"]["rows"])
        if picked:
            contender = choice.table[picked[0]].contender
            settings = scene.found.findings.settings
            go_to(scene.found, settings_of_contender(settings, contender, scene.found.variants))

    st.dataframe(
        pd.DataFrame([_rival(scene, row) for row in choice.table]),
        key=_RIVALS,
        hide_index=True,
        placeholder=DASH,
        on_select=take,
        selection_mode="single-row",
        column_config={"": st.column_config.TextColumn("", width=190)},
    )
    st.caption(
        f"On {choice.cases_told}; the numbers were chosen without them. p (Holm) is corrected for all "
        "rows. Rivals are compared without a threshold: a threshold belongs to the weighted sum's scale. Select a row "
        "to look at its numbers."
    )


def draw_signals(scene: Scene) -> None:
    """How much each signal decides, and the two errors that a threshold trades."""
    ranking, landscape = scene.at_hand.ranking, scene.plane.landscape
    left, right = st.columns(2, gap="large")
    with left:
        effective = effective_weight(landscape.table, ranking)
        draw_figure(signal_shares(effective, ranking, theme()), key="calibration-signals")
        counted = int(np.count_nonzero(~np.isnan(effective.by_case)))
        st.caption(f"{told_of_shares(effective, ranking, counted)} The tick is the weight as it was given.")
    with right:
        _draw_trade(scene)


def _draw_trade(scene: Scene) -> None:
    ranking, landscape = scene.at_hand.ranking, scene.plane.landscape
    price = PRICE.read()
    trade = weigh_errors(landscape.table, landscape.judged, ranking, price=_PRICE if price is None else price)
    figure = threshold_errors(trade, threshold=ranking.threshold, high=scene.shown.high, theme=theme())
    draw_figure(figure, key="calibration-errors")
    st.session_state["calibration-price"] = _PRICE if price is None else price

    def take() -> None:
        picked = float(st.session_state["calibration-price"])
        PRICE.choose(None if picked == _PRICE else picked)

    st.number_input(
        "Price of a wrong citation, in missed answers",
        0.0,
        100.0,
        step=0.05,
        key="calibration-price",
        on_change=take,
        width=320,
    )
    order = "" if trade.order is None else f" Pairs in the right order: {trade.order:.0%} (50% is chance)."
    st.caption(f"{trade.sentence}{order}")


def _rival(scene: Scene, row: ScoredContender) -> dict[str, object]:
    choice, against, settings = scene.found.findings.choice, row.against_today, row.contender.settings
    own = row.contender.name == choice.proposal.name != TODAY
    variant = scene.found.variants[row.contender.variant]
    weight = f"{settings.weight_vector:.3f}" if settings.fusion.weighs else DASH
    return {
        "": f"{_name_of(scene, row)} (proposal)" if own else _name_of(scene, row),
        "weight": weight,
        "threshold": threshold_told(settings.threshold),
        "lexical": f"{variant.lexical.operator}, {variant.lexical.function}",
        choice.scored_on: choice.measure.told(row.value, choice.n),
        "95 %": choice.measure.told_span(row.interval, choice.n),
        "difference": DASH
        if against is None
        else choice.measure.told_difference(against.difference, choice.n),
        "won": DASH if against is None else str(against.won),
        "lost": DASH if against is None else str(against.lost),
        "p": DASH if against is None else p_value(against.p_value),
        "p (Holm)": p_value(row.adjusted_p_value) or DASH,
    }


def _name_of(scene: Scene, row: ScoredContender) -> str:
    contender = row.contender
    if contender.name == TODAY:
        return scene.kept.today
    name = FUSION_NAMES.get(contender.name, contender.name)
    return name if contender.chosen_k is None else f"{name}, k {contender.chosen_k}"
