"""What holds for any candidates: replays equal the live ranking, and exact functions equal replays everywhere."""

import dataclasses
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from examples import examples
from golden_material import chunk, found
from rag_core.calibration.choice.contenders import build_ballot
from rag_core.calibration.choice.families import Variant, curve_at
from rag_core.calibration.effective import effective_weight
from rag_core.calibration.exact.ceilings import ceiling_map
from rag_core.calibration.exact.exact import Exact, build_exact
from rag_core.calibration.exact.thresholds import threshold_tolerances
from rag_core.calibration.landscape import Landscape, build_landscape
from rag_core.calibration.regions import BANDS, draw_regions, sample_map
from rag_core.calibration.replay import FATES, FateCode, measure_replay, replay
from rag_core.calibration.safety import overtakes, passing, safe_thresholds, safe_weights
from rag_core.calibration.table import CandidateTable, Judgements, build_table, judge_places
from rag_core.golden.cases import GoldenCase
from rag_core.golden.verdicts import judge
from rag_core.metrics.measures import PASSED, parse_measure
from rag_core.model import (
    Candidate,
    CandidateSet,
    Fusion,
    LexicalWay,
    Place,
    RankingSettings,
)
from rag_core.ranking.ranking import rank

PLACES = ("docs/a.md", "docs/b.md", "docs/c.md", "docs/é.md", "session:a", "session:z")
MEASURES = tuple(
    parse_measure(name)
    for name in ("passed", "rejected", "hit@1", "hit@3", "mrr", "ndcg@2", "ndcg@5", "p@3", "recall@4")
)
# within this of an end, the rounding of scores may decide
BESIDE = 1e-9

ANY_COSINE = st.one_of(st.sampled_from((0.0, -0.0, 0.25, 0.5)), st.floats(-1, 1))
ANY_LEXICAL = st.one_of(st.sampled_from((0.0625, 0.125)), st.floats(0, 1, exclude_max=True))
# thousandths keep crossings that differ at least 1e-8 apart, and make ties, duplicates and parallels common
COSINE = st.integers(-200, 1000).map(lambda thousandths: thousandths / 1000)
LEXICAL = st.one_of(st.integers(1, 12), st.integers(1, 300)).map(lambda thousandths: thousandths / 1000)


@st.composite
def candidate_sets(
    draw: st.DrawFn, cosine: st.SearchStrategy[float], lexical: st.SearchStrategy[float]
) -> CandidateSet:
    """Up to fourteen candidates, each found by one signal or both, ranked by score as queries rank them."""
    keys = draw(st.lists(st.tuples(st.sampled_from(PLACES), st.integers(0, 5)), max_size=14, unique=True))
    scores: list[tuple[float | None, float | None]] = []
    for _ in keys:
        signals = draw(st.sampled_from(("both", "vector", "lexical")))
        scores.append(
            (
                draw(cosine) if signals != "lexical" else None,
                draw(lexical) if signals != "vector" else None,
            )
        )
    ranks = [_ranks([score[signal] for score in scores]) for signal in (0, 1)]
    return found(
        *(
            chunk(place, ordinal=ordinal, vector=_pair(vector, v_rank), lexical=_pair(word, l_rank))
            for (place, ordinal), (vector, word), v_rank, l_rank in zip(keys, scores, *ranks, strict=True)
        ),
        vector_available=draw(st.sampled_from((True, True, True, False))),
    )


def _ranks(scores: list[float | None]) -> list[int | None]:
    order = sorted(
        (i for i, score in enumerate(scores) if score is not None), key=lambda i: -(scores[i] or 0.0)
    )
    return [order.index(i) + 1 if i in order else None for i in range(len(scores))]


def _pair(score: float | None, rank_: int | None) -> tuple[float, int] | None:
    return None if score is None or rank_ is None else (score, rank_)


KS = st.sampled_from((1, 2, 10, 60))
SETTINGS = st.builds(
    RankingSettings,
    weight_vector=st.one_of(st.sampled_from((0.0, 0.6, 1.0)), st.floats(0, 1)),
    weight_lexical=st.one_of(st.sampled_from((0.0, 0.4, 1.0)), st.floats(0, 1)),
    threshold=st.one_of(st.none(), st.sampled_from((0.0, 0.05, 0.2)), st.floats(-2, 2)),
    threshold_when_degraded=st.one_of(st.none(), st.floats(-1, 1)),
    candidates_per_signal=st.integers(1, 15),
    max_per_file=st.one_of(st.none(), st.integers(1, 3)),
    limit=st.integers(1, 6),
    fusion=st.sampled_from(Fusion),
    rrf_k=KS,
)
EXPECTED = st.lists(st.sampled_from((*PLACES, "docs/unfound.md")), max_size=3, unique=True).map(
    lambda names: tuple(Place.parse(name) for name in names)
)
CASES = st.lists(st.tuples(candidate_sets(COSINE, LEXICAL), EXPECTED), min_size=1, max_size=4)
EXACT_SETTINGS = st.builds(
    RankingSettings,
    weight_vector=st.just(0.5),
    weight_lexical=st.just(0.5),
    threshold=st.one_of(st.none(), st.integers(-50, 600).map(lambda thousandths: thousandths / 1000)),
    threshold_when_degraded=st.one_of(st.none(), st.just(0.05)),
    candidates_per_signal=st.integers(2, 15),
    max_per_file=st.one_of(st.none(), st.integers(1, 3)),
    limit=st.integers(1, 6),
    fusion=st.sampled_from((Fusion.WEIGHTED_SUM, Fusion.WEIGHTED_RRF)),
    rrf_k=KS,
)


def tabled(cases: list[tuple[CandidateSet, tuple[Place, ...]]]) -> tuple[CandidateTable, Judgements]:
    table = build_table([candidates for candidates, _ in cases])
    return table, judge_places(table, [expected for _, expected in cases])


def at_weight(settings: RankingSettings, weight: float) -> RankingSettings:
    return dataclasses.replace(settings, weight_vector=weight, weight_lexical=1.0 - weight)


def mean_of(values: np.ndarray) -> float:
    return float(np.nanmean(values))


@given(st.lists(candidate_sets(ANY_COSINE, ANY_LEXICAL), min_size=1, max_size=4), SETTINGS)
def test_a_replay_equals_the_live_ranking_to_the_last_bit(
    questions: list[CandidateSet], settings: RankingSettings
) -> None:
    replayed = replay(build_table(questions), settings)
    for case, candidates in enumerate(questions):
        whole = rank(candidates, settings).whole_set
        count = len(whole)
        columns = replayed.order[case, :count].tolist()
        keys = [replayed.table.candidate(case, column).tie_key for column in columns]
        assert keys == [entry.candidate.tie_key for entry in whole]
        assert replayed.scores[case, :count].tolist() == [entry.score for entry in whole]
        assert replayed.ranks[case, :count].tolist() == [entry.rank or 0 for entry in whole]
        fates = [FATES[FateCode(code)] for code in replayed.fates[case, :count].tolist()]
        assert fates == [entry.fate for entry in whole]
        assert set(replayed.fates[case, count:].tolist()) <= {FateCode.ABSENT}


@given(CASES, SETTINGS)
def test_a_replayed_case_passes_exactly_where_the_golden_run_says_so(
    cases: list[tuple[CandidateSet, tuple[Place, ...]]], settings: RankingSettings
) -> None:
    table, judged = tabled(cases)
    values = measure_replay(table, judged, settings, PASSED)
    for value, (candidates, expected) in zip(values.tolist(), cases, strict=True):
        case = GoldenCase(id="case", question="?", expected=expected, no_answer=not expected)
        assert value == judge(case, rank(candidates, settings)).passed


@hypothesis_settings(max_examples=examples(150))
@given(CASES, EXACT_SETTINGS, st.sampled_from(MEASURES), st.integers(0, 2**32))
def test_the_function_of_the_weight_is_what_ranking_gives_at_every_end_middle_and_random_float(
    cases: list[tuple[CandidateSet, tuple[Place, ...]]], settings: RankingSettings, measure: object, seed: int
) -> None:
    measure = parse_measure(str(measure))
    table, judged = tabled(cases)
    steps = build_exact(table, judged, settings, places=True).weights(measure)
    if steps is None:
        assert not measure.enters(judged.no_answer).any()
        return
    random = Random(seed)
    drawn = [random.random() for _ in range(20)]
    far = [weight for weight in drawn if np.min(np.abs(steps.ends - weight)) > BESIDE]
    middles = (steps.ends[:-1] + np.diff(steps.ends) / 2).tolist()
    probes = [*steps.ends.tolist(), *middles, *far]
    for weight, value in zip(probes, steps.values(np.array(probes)).tolist(), strict=True):
        replayed = measure_replay(table, judged, at_weight(settings, weight), measure)
        assert abs(value - mean_of(replayed)) < 1e-11, weight


@given(CASES, EXACT_SETTINGS, st.sampled_from(MEASURES))
def test_at_every_inner_end_the_value_differs_on_the_two_sides_or_at_the_end_itself(
    cases: list[tuple[CandidateSet, tuple[Place, ...]]], settings: RankingSettings, measure: object
) -> None:
    measure = parse_measure(str(measure))
    table, judged = tabled(cases)
    steps = build_exact(table, judged, settings, places=True).weights(measure)
    for end in [] if steps is None else steps.ends[1:-1].tolist():
        around = (end - BESIDE, end, end + BESIDE)
        values = {
            round(mean_of(measure_replay(table, judged, at_weight(settings, weight), measure)), 11)
            for weight in around
        }
        assert len(values) > 1


@given(
    CASES,
    EXACT_SETTINGS,
    st.sampled_from([fusion for fusion in Fusion if fusion.weighs]),
    st.integers(0, 2**32),
)
def test_fusions_that_scale_their_signals_have_exact_functions_too(
    cases: list[tuple[CandidateSet, tuple[Place, ...]]], settings: RankingSettings, fusion: Fusion, seed: int
) -> None:
    settings = dataclasses.replace(settings, fusion=fusion, threshold=None)
    table, judged = tabled(cases)
    steps = build_exact(table, judged, settings, places=False).weights(PASSED)
    assert steps is not None
    for weight in (Random(seed).random(), 0.0, 1.0):
        if np.min(np.abs(steps.ends - weight)) > 1e-6 or weight in (0.0, 1.0):
            replayed = measure_replay(table, judged, at_weight(settings, weight), PASSED)
            assert abs(float(steps.values(np.array([weight]))[0]) - mean_of(replayed)) < 1e-11


@given(CASES, EXACT_SETTINGS, st.sampled_from(MEASURES), st.integers(0, 2**32))
def test_the_ceilings_give_the_value_at_any_weight_and_threshold(
    cases: list[tuple[CandidateSet, tuple[Place, ...]]], settings: RankingSettings, measure: object, seed: int
) -> None:
    measure = parse_measure(str(measure))
    table, judged = tabled(cases)
    exact = build_exact(table, judged, settings, places=True)
    found_map, ends = ceiling_map(exact, measure), _all_ends(exact)
    curves = curve_at(found_map, 0.1234567)
    random = Random(seed)
    for _ in range(10):
        weight = random.choice((random.random(), 0.0, 1.0))
        threshold = random.choice((random.uniform(-0.3, 1.1), None))
        if 0 < weight < 1 and np.min(np.abs(ends - weight)) < BESIDE:
            continue
        replayed = measure_replay(
            table, judged, dataclasses.replace(at_weight(settings, weight), threshold=threshold), measure
        )
        value = found_map.value_at(weight, threshold)
        assert (value is None) == bool(np.isnan(replayed).all())
        if value is not None:
            assert abs(value - mean_of(replayed)) < 1e-11
            own = found_map.values_of_cases(weight, -np.inf if threshold is None else threshold)
            assert np.allclose(own, replayed, rtol=0, atol=1e-11, equal_nan=True)
    if found_map.judged.any():
        sums = curves.values(found_map.judged.astype(np.float64))
        middles = curves.ends[:-1] + np.diff(curves.ends) / 2
        for middle, total in zip(middles.tolist(), sums.tolist(), strict=True):
            if np.min(np.abs(curves.ends - middle)) > BESIDE:
                value = found_map.value_at(middle, 0.1234567)
                assert value is not None
                assert abs(value - total / found_map.judged.sum()) < 1e-11


def _all_ends(exact: Exact) -> np.ndarray:
    states = [exact.expected, exact.everything] + ([exact.by_place] if exact.by_place else [])
    return np.concatenate([np.array([0.0, 1.0]), *(each.weight[each.point] for each in states)])


@given(CASES, SETTINGS, st.sampled_from(MEASURES))
def test_the_function_of_the_threshold_is_what_ranking_gives_at_and_beside_every_end(
    cases: list[tuple[CandidateSet, tuple[Place, ...]]], settings: RankingSettings, measure: object
) -> None:
    measure = parse_measure(str(measure))
    table, judged = tabled(cases)
    steps = threshold_tolerances(table, judged, settings, measure).steps()
    if steps is None:
        assert not measure.enters(judged.no_answer).any()
        return
    ends = steps.ends
    probes = [*ends.tolist(), *np.nextafter(ends, np.inf).tolist(), -3.0, 3.0]
    for threshold, value in zip(probes, steps.values(np.array(probes)).tolist(), strict=True):
        replayed = measure_replay(table, judged, dataclasses.replace(settings, threshold=threshold), measure)
        assert abs(value - mean_of(replayed)) < 1e-11
    changes = steps.inside
    assert np.all(changes[1:] != changes[:-1])


@given(CASES, EXACT_SETTINGS, st.floats(0, 1), st.integers(0, 2**32))
def test_at_a_safe_weight_no_case_that_passes_today_is_lost_and_elsewhere_one_is(
    cases: list[tuple[CandidateSet, tuple[Place, ...]]], settings: RankingSettings, today: float, seed: int
) -> None:
    table, judged = tabled(cases)
    exact = build_exact(table, judged, settings, places=False)
    keep = passing(table, judged, at_weight(settings, today))
    safe = safe_weights(exact, keep)
    random = Random(seed)
    inside = [
        weight for span in safe for weight in (span.low, span.high, random.uniform(span.low, span.high))
    ]
    for weight in inside:
        assert passing(table, judged, at_weight(settings, weight))[keep].all()
    edges = np.array([0.0, 1.0, *(edge for span in safe for edge in (span.low, span.high))])
    for weight in (random.random() for _ in range(10)):
        outside = not any(span.low <= weight <= span.high for span in safe)
        if outside and np.min(np.abs(edges - weight)) > BESIDE:
            assert not passing(table, judged, at_weight(settings, weight))[keep].all()


@given(CASES, SETTINGS)
def test_at_a_safe_threshold_no_case_is_lost_and_just_outside_one_is(
    cases: list[tuple[CandidateSet, tuple[Place, ...]]], settings: RankingSettings
) -> None:
    table, judged = tabled(cases)
    keep = passing(table, judged, settings)
    safe = safe_thresholds(table, judged, settings, keep)
    assert safe is not None
    today = -np.inf if settings.threshold is None else settings.threshold
    assert safe.low <= today <= safe.high or not keep.any()
    for threshold, lost in (
        (safe.low, False),
        (safe.high, False),
        (float(np.nextafter(safe.low, -np.inf)), True),
        (float(np.nextafter(safe.high, np.inf)), True),
    ):
        if np.isfinite(threshold):
            replayed = passing(table, judged, dataclasses.replace(settings, threshold=threshold))
            assert replayed[keep].all() != lost


@given(CASES, EXACT_SETTINGS, st.integers(0, 2**32))
def test_a_verdict_stays_within_its_span_and_turns_at_its_ends(
    cases: list[tuple[CandidateSet, tuple[Place, ...]]], settings: RankingSettings, seed: int
) -> None:
    table, judged = tabled(cases)
    exact = build_exact(table, judged, settings, places=False)
    random = Random(seed)
    weight = random.random()
    if np.min(np.abs(_all_ends(exact) - weight)) < BESIDE:
        return
    turns = landscape_of(cases, settings).turns(weight, settings.threshold)
    low, high = np.nan_to_num(turns.below, nan=0.0), np.nan_to_num(turns.above, nan=1.0)
    today = passing(table, judged, at_weight(settings, weight))
    for case in range(table.cases):
        between = random.uniform(low[case] + BESIDE, high[case] - BESIDE)
        if low[case] + BESIDE < between < high[case] - BESIDE:
            assert passing(table, judged, at_weight(settings, between))[case] == today[case]


@given(candidate_sets(COSINE, LEXICAL), EXPECTED, EXACT_SETTINGS, st.integers(0, 2**32))
def test_a_rival_stands_above_the_right_file_exactly_between_its_two_crossings(
    candidates: CandidateSet, expected: tuple[Place, ...], settings: RankingSettings, seed: int
) -> None:
    table, judged = tabled([(candidates, expected)])
    free = dataclasses.replace(settings, threshold=None, candidates_per_signal=20, max_per_file=None)
    exact = build_exact(table, judged, free, places=False)
    crossed = {each.rival.tie_key: (each.begins, each.ends) for each in overtakes(exact, 0)}
    weight = Random(seed).random()
    ends = np.array([0.0, 1.0, *(end for pair in crossed.values() for end in pair)])
    if np.min(np.abs(ends - weight)) < BESIDE:
        return
    whole = [entry.candidate for entry in rank(candidates, at_weight(free, weight)).whole_set]
    first = next((i for i, each in enumerate(whole) if each.origin.place in expected), None)
    if first is None:
        assert not crossed
        return
    above: list[Candidate] = whole[:first]
    assert {each.tie_key for each in above} == {
        key for key, (begins, to) in crossed.items() if begins < weight < to
    }


@given(CASES, SETTINGS)
def test_the_effective_weights_of_both_signals_share_what_they_dispute(
    cases: list[tuple[CandidateSet, tuple[Place, ...]]], settings: RankingSettings
) -> None:
    table, _ = tabled(cases)
    found_weight = effective_weight(table, settings)
    if found_weight.vector is None:
        assert np.isnan(found_weight.by_case).all()
        return
    assert found_weight.lexical is not None
    assert 0 <= found_weight.vector <= 1
    assert found_weight.vector + found_weight.lexical == 1
    alone = dataclasses.replace(settings, fusion=Fusion.WEIGHTED_SUM, weight_vector=1.0, weight_lexical=0.0)
    assert effective_weight(table, alone).vector in (None, 1.0)


@hypothesis_settings(max_examples=examples(40))
@given(CASES, EXACT_SETTINGS)
def test_what_is_elected_has_the_values_that_a_replay_gives_it_and_is_near_the_best(
    cases: list[tuple[CandidateSet, tuple[Place, ...]]], settings: RankingSettings
) -> None:
    table, judged = tabled(cases)
    variant = Variant(
        lexical=LexicalWay(),
        table=table,
        judged=judged,
    )
    ballot = build_ballot((variant,), settings, PASSED, depths=(3,), caps=(None,))
    everyone = np.ones(table.cases)
    elected = ballot.elect(everyone)
    best = max(contender.mean(everyone) for contender in ballot.contenders(everyone))
    assert elected.mean(everyone) >= best - 0.5 / np.sqrt(table.cases)
    assert elected.mean(everyone) >= ballot.today.mean(everyone) - 1e-12 or elected is ballot.today
    for contender in ballot.contenders(everyone):
        replayed = measure_replay(table, judged, contender.settings, PASSED)
        assert np.allclose(contender.values, replayed)


def landscape_of(cases: list[tuple[CandidateSet, tuple[Place, ...]]], settings: RankingSettings) -> Landscape:
    table = build_table([candidates for candidates, _ in cases])
    variant = Variant(
        lexical=LexicalWay(),
        table=table,
        judged=judge_places(table, [expected for _, expected in cases]),
    )
    return build_landscape(variant, settings, PASSED)


@given(cases=CASES, settings=EXACT_SETTINGS, fusion=st.sampled_from(Fusion), weight=st.floats(0.001, 0.999))
def test_a_landscape_says_of_any_weight_and_threshold_what_ranking_says(
    cases: list[tuple[CandidateSet, tuple[Place, ...]]],
    settings: RankingSettings,
    fusion: Fusion,
    weight: float,
):
    settings = dataclasses.replace(settings, weight_vector=weight, weight_lexical=1.0 - weight, fusion=fusion)
    landscape = landscape_of(cases, settings)
    expected = [
        judge(GoldenCase(id="c", question="q", expected=places, no_answer=not places), rank(each, settings))
        for each, places in cases
    ]
    live = [verdict.passed for verdict in expected]
    outcome = landscape.outcome(settings, ())
    assert outcome.passes.tolist() == live
    turns = landscape.turns(weight, settings.threshold)
    gaps = [abs(weight - float(end)) for end in (*turns.below, *turns.above) if not np.isnan(end)] + [
        abs(float(height) - (settings.threshold or 0.0))
        for height in turns.threshold
        if settings.threshold is not None and not np.isnan(height)
    ]
    if min(gaps, default=1.0) > BESIDE:
        assert turns.passes.tolist() == live
        curve = landscape.curve(settings.threshold)
        assert curve is not None
        assert abs(curve.value_at(weight) - sum(live) / len(live)) < BESIDE


@hypothesis_settings(max_examples=examples(60))
@given(cases=CASES, settings=EXACT_SETTINGS, spot=st.tuples(st.floats(0.001, 0.999), st.floats(0.001, 0.999)))
def test_regions_cover_the_map_once_and_each_holds_what_its_band_says(
    cases: list[tuple[CandidateSet, tuple[Place, ...]]], settings: RankingSettings, spot: tuple[float, float]
):
    landscape = landscape_of(cases, settings)
    low, high = min(0.0, landscape.thresholds.low) - 0.01, landscape.thresholds.high + 0.1
    regions = draw_regions(landscape.map, low=low, high=high)
    assert regions is not None
    areas = [_area(region.weights, region.thresholds) for region in regions.regions]
    assert abs(sum(areas) - (high - low)) < 1e-6
    weight, threshold = spot[0], low + spot[1] * (high - low)
    here = [
        region for region in regions.regions if _holds(region.weights, region.thresholds, weight, threshold)
    ]
    beside = landscape.map.heights(weight)
    near = np.abs(beside - threshold)[~np.isnan(beside)].min(initial=1.0)
    ends = np.concatenate([landscape.map.low, landscape.map.high])
    if near < 1e-6 or np.abs(ends - weight).min(initial=1.0) < 1e-6:
        return
    value = float(sample_map(landscape.map, np.array([weight]), np.array([threshold]))[0, 0])
    fewer = round((regions.best - value) * regions.judged)
    (region,) = here
    assert region.band == max(band for band, least in enumerate(BANDS) if least <= fewer)


def _area(x: tuple[float, ...], y: tuple[float, ...]) -> float:
    turned = zip(x, y, (*x[1:], x[0]), (*y[1:], y[0]), strict=True)
    return abs(sum(a * d - b * c for a, b, c, d in turned)) / 2


def _holds(x: tuple[float, ...], y: tuple[float, ...], px: float, py: float) -> bool:
    """Whether a point lies in a polygon: it crosses the outline an odd number of times on its way to the right."""
    inside = False
    for ax, ay, bx, by in zip(x, y, (*x[1:], x[0]), (*y[1:], y[0]), strict=True):
        if (ay > py) != (by > py) and px < ax + (py - ay) / (by - ay) * (bx - ax):
            inside = not inside
    return inside
