"""The first five seconds: keep or adopt, in a sentence, with the evidence under it."""

import streamlit as st

from medir.page_kit.plain_text import escaped
from medir.page_kit.signs import DASH, LOST, PASSED, WON
from medir.pages.calibration.numbers import are_same, go_to
from medir.pages.calibration.running import Kept, of_then, verdict_told, whose_numbers
from medir.pages.calibration.scene import outcome_of
from rag_core.calibration.choice.contenders import TODAY
from rag_core.calibration.choice.verdict import Choice, ScoredContender
from rag_core.evaluation.calibrations import as_judged
from rag_core.model import SearchSettings
from rag_core.words.numbers import p_value
from rag_core.words.plurals import counted
from rag_core.words.ranges import tell_weights
from rag_core.words.settings import settings_in_full

_NAMED = 6


def draw_verdict(kept: Kept, in_force: SearchSettings) -> None:
    """The verdict, four numbers that it rests on, and what speaks against the proposal."""
    findings = kept.found.findings
    choice = findings.choice
    if not findings.floor.holds:
        _draw_broken_floor(kept)
    elif choice.verdict == "adopt" and not kept.settings_moved:
        st.success(f"{PASSED} {verdict_told(choice.verdict, moved=False)}")
    else:
        told = verdict_told(choice.verdict, moved=kept.settings_moved)
        judged = as_judged(in_force, kept.found.golden)
        follows = choice.verdict == "adopt" and are_same(judged, findings.proposal)
        st.info(f"{told} It is in force." if follows else told, icon=":material/balance:")
    # a sentence may name cases, and so hold anybody's text
    sentence = of_then(choice.reason.partition(": ")[2], moved=kept.settings_moved)
    if not findings.floor.holds:
        st.text(f"On the evidence for the best found alone: {choice.verdict}; {sentence}")
    else:
        st.text(sentence[:1].upper() + sentence[1:])
    today = next(row for row in choice.table if row.contender.name == TODAY)
    tiles = st.columns(4, gap="small")
    with tiles[0]:
        _draw_scored(f"{kept.today.capitalize()}, {choice.scored_on}", today, choice)
    with tiles[1]:
        _draw_scored(f"Proposal, {choice.scored_on}", choice.held_out, choice)
    with tiles[2]:
        _draw_optimism(choice)
    with tiles[3]:
        _draw_detectable(kept)
    _draw_proposal(kept)


def _draw_broken_floor(kept: Kept) -> None:
    """What today's numbers break, and a way to the numbers that restore it."""
    floor = kept.found.findings.floor
    st.error(f"{LOST} **{_numbers(kept).capitalize()} break the floor.**")
    st.text(of_then(floor.sentence, moved=kept.settings_moved))
    best = next(iter(floor.restored_by), None)
    if best is not None and kept.found.variant_of(best.settings) is not None:
        st.button(
            f"Look at {escaped(best.name)}",
            key="calibration-restore",
            icon=":material/restore:",
            help="Makes these the numbers at hand, with every case that they win and lose. Adopting is another step.",
            on_click=go_to,
            args=(kept.found, best.settings),
        )


def _numbers(kept: Kept) -> str:
    return whose_numbers(moved=kept.settings_moved)


def _draw_scored(label: str, row: ScoredContender, choice: Choice) -> None:
    against = row.against_today
    with st.container(gap="xxsmall"):
        st.metric(
            label,
            choice.measure.told(row.value, choice.n),
            border=True,
            help="On cases that took no part in the choice that scores them.",
        )
        told = f"95 % {choice.measure.told_span(row.interval, choice.n)}, n = {choice.n:,}"
        if against is not None:
            told = (
                f"{choice.measure.told_difference(against.difference, choice.n)}: {WON} {against.won} won, "
                f"{LOST} {against.lost} lost, p = {p_value(against.p_value)}; {told}"
            )
        st.caption(told)


def _draw_optimism(choice: Choice) -> None:
    optimism = choice.optimism
    with st.container(gap="xxsmall"):
        st.metric(
            "Optimism",
            DASH if optimism is None else choice.measure.told_difference(optimism, choice.n),
            border=True,
            help="By how much the cases of the choice flatter what was chosen on them: their mean, less the mean "
            "held-out value of the same choice on resamples of them.",
        )
        chosen_on = choice.measure.told(choice.value_where_chosen, choice.n)
        elsewhere = choice.measure.told(choice.resampled, choice.n)
        st.caption(
            "not measured: no resample left a case out"
            if optimism is None
            else f"{chosen_on} where it was chosen, {elsewhere} on cases that resamples left out"
        )


def _draw_detectable(kept: Kept) -> None:
    choice = kept.found.findings.choice
    with st.container(gap="xxsmall"):
        st.metric(
            "Detectable",
            f"{choice.detectable_cases} cases",
            border=True,
            help="The least number of cases won, none lost, that chance would not explain (sign test).",
        )
        points = choice.measure.told_difference(choice.detectable_points, choice.n).lstrip("+")
        st.caption(
            f"won and none lost; can be won: {choice.winnable} of {choice.n:,}, "
            f"{counted(choice.more_cases, 'case')} too few"
            if not choice.decidable
            else f"won and none lost, of {choice.n:,}"
            + (f": {points}" if choice.measure.is_share_of_cases else "")
        )


def _draw_proposal(kept: Kept) -> None:
    found = kept.found
    findings, today, proposal = found.findings, found.findings.settings, found.findings.proposal
    with st.container(gap="xxsmall"):
        st.text(f"{kept.today.capitalize()}: {settings_in_full(today)}")
        if are_same(proposal, today):
            st.text(f"Best found: {_numbers(kept)}.")
            st.text(of_then(found.votes.sentence, moved=kept.settings_moved))
            return
        best = f"Best found by {findings.choice.measure}, not adopted"
        name = "Proposal" if findings.choice.verdict == "adopt" else best
        st.text(f"{name}: {settings_in_full(proposal)}")
        weight = proposal.ranking.weight_vector
        is_safe = any(run.low <= weight <= run.high for run in findings.safe_weights)
        if proposal.ranking.fusion.weighs and not is_safe:
            kept_by = f"in the baseline {findings.baseline}" if findings.baseline else kept.today
            st.text(
                f"{LOST} Its weight lies outside the safe weights ({tell_weights(findings.safe_weights)}), at which no "
                f"case is lost that passes {kept_by}."
            )
        passes = outcome_of(kept, today, found.demands.measure).passes
        lost = passes & ~outcome_of(kept, proposal, found.demands.measure).passes
        names = [case.id for case, gone in zip(found.golden.cases, lost.tolist(), strict=True) if gone]
        if names:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            st.text(
                f"{LOST} Of all cases it loses {len(names)} that pass {kept.today}: {', '.join(names[:_NAMED])}{more}"
            )
        st.text(of_then(found.votes.sentence, moved=kept.settings_moved))
