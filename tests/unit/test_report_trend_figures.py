"""What the Report page says of its numbers: latencies by step, the cumulative curve, the pattern of ranks, changes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from rag_core.figures.palette import DARK, LIGHT
from rag_core.figures.report import latency_over_time
from rag_core.figures.report_trends import cumulative_latency, latency_by_step
from rag_core.report.changes import changes
from rag_core.report.latency_curve import LatencyCurve
from rag_core.report.numbers import (
    NO_SEARCHES,
    SPLITS,
    STEPS,
    Percentiles,
    RankVotes,
    Report,
    SettingsInForce,
)
from rag_core.report.rank_pattern import rank_pattern

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def report(
    *,
    start: datetime = NOON,
    useful: dict[int, int] | None = None,
    irrelevant: dict[int, int] | None = None,
    settings: tuple[SettingsInForce, ...] = (),
) -> Report:
    return Report(
        project_id="p",
        start=start,
        end=start + 24 * HOUR,
        zone="UTC",
        synthetic=False,
        whole=NO_SEARCHES,
        ranks={
            "util": tuple(RankVotes(rank=rank, votes=votes) for rank, votes in (useful or {}).items()),
            "irrelevante": tuple(
                RankVotes(rank=rank, votes=votes) for rank, votes in (irrelevant or {}).items()
            ),
        },
        settings=settings,
        splits=dict.fromkeys(SPLITS, ()),
    )


def in_force(name: str, at: datetime, **numbers: object) -> SettingsInForce:
    return SettingsInForce(settings_id=name, settings=numbers, searches=1, first_at=at, last_at=at)


def words_of(figure: object) -> list[str]:
    return [annotation.text for annotation in figure.layout.annotations]  # type: ignore[attr-defined]


def test_each_step_has_a_point_for_each_percentile_that_was_measured():
    latency = {step: Percentiles.of(40, 1.0, 2.0, 3.0) for step in STEPS}
    figure = latency_by_step(replace(NO_SEARCHES, latency=latency), LIGHT)
    # p99 needs a hundred searches, so 40 have none
    assert [trace.name for trace in figure.data] == ["p50", "p95"]
    assert list(figure.data[1].x) == [2.0] * 5
    assert list(figure.data[0].y) == ["total", "embedding", "vector", "lexical", "ranking"]
    assert figure.layout.xaxis.title.text == "milliseconds"


def test_without_a_search_both_figures_say_so_instead_of_drawing_nothing():
    for theme in (LIGHT, DARK):
        for figure in (
            latency_by_step(NO_SEARCHES, theme),
            cumulative_latency(LatencyCurve(n=0, points=()), theme),
        ):
            assert words_of(figure) == ["Not measured: no search that was not degraded"]


def test_the_cumulative_curve_names_its_n_and_marks_the_median_and_p95():
    figure = cumulative_latency(LatencyCurve(n=3, points=((1.0, 0.0), (2.0, 0.5), (9.0, 1.0))), LIGHT)
    assert figure.layout.title.text == "Searches answered within so many milliseconds (n = 3)"
    assert list(figure.data[0].x) == [1.0, 2.0, 9.0]
    assert list(figure.data[0].y) == [0.0, 0.5, 1.0]
    assert words_of(figure) == ["half", "19 of 20"]


def test_few_useful_votes_at_any_rank_look_like_a_poor_index():
    # 5 of 40 useful: the interval ends at 0.26
    assert rank_pattern(report(useful={1: 3, 4: 2}, irrelevant={1: 20, 4: 15})) == "poor index"


def test_useful_votes_far_down_look_like_wrong_weights():
    # first 2 of 20 (up to 0.30), below 36 of 40 (from 0.77)
    assert rank_pattern(report(useful={1: 2, 4: 36}, irrelevant={1: 18, 4: 4})) == "wrong weights"


def test_useful_votes_at_the_top_look_like_the_right_order():
    # first 36 of 40 (from 0.77), below 8 of 20 (up to 0.61)
    assert rank_pattern(report(useful={1: 36, 3: 8}, irrelevant={1: 4, 3: 12})) == "right order"


def test_what_chance_could_have_made_is_no_pattern():
    assert rank_pattern(report(useful={1: 7, 2: 7}, irrelevant={1: 3, 2: 5})) == "no pattern"
    # nobody judged anything but the first hit
    assert rank_pattern(report(useful={1: 30}, irrelevant={})) == "no pattern"


def test_a_pattern_takes_twenty_votes():
    assert rank_pattern(report()) == "not measured"
    assert rank_pattern(report(useful={1: 19})) == "too few"
    assert rank_pattern(report(useful={1: 20})) == "no pattern"


def test_a_change_of_settings_is_told_by_the_numbers_that_differ():
    before = report(start=NOON - 24 * HOUR, settings=(in_force("a", NOON - HOUR, threshold=0.2, limit=5),))
    now = report(settings=(in_force("b", NOON + HOUR, threshold=None, limit=5),))
    (change,) = changes(now, before, ())
    assert change.told == "settings (threshold 0.2 → —)"
    assert change.at == NOON + HOUR


def test_a_change_of_model_has_a_name_of_its_own():
    before = report(
        start=NOON - 24 * HOUR, settings=(in_force("a", NOON - HOUR, embeddingModel="ollama/a@12"),)
    )
    now = report(settings=(in_force("b", NOON, embeddingModel="ollama/b@34"),))
    assert [change.told for change in changes(now, before, ())] == ["model (ollama/a → ollama/b)"]


def test_the_same_settings_in_both_windows_are_no_change():
    before = report(start=NOON - 24 * HOUR, settings=(in_force("a", NOON - HOUR, limit=5),))
    assert changes(report(settings=(in_force("a", NOON + HOUR, limit=5),)), before, ()) == ()


def test_a_trial_between_two_settings_is_passed_over():
    first, last = in_force("a", NOON, limit=5), in_force("c", NOON + 2 * HOUR, limit=6)
    trial = replace(in_force("b", NOON + HOUR, limit=20), tried=True)
    told = changes(report(settings=(first, trial, last)), report(start=NOON - 24 * HOUR), ())
    assert [change.told for change in told] == ["settings (limit 5 → 6)"]


def test_a_trial_has_no_line_in_the_figures_over_time():
    first, last = in_force("a", NOON, limit=5), in_force("c", NOON + 2 * HOUR, limit=6)
    trial = replace(in_force("b", NOON + HOUR, limit=20), tried=True)
    made = report(settings=(first, trial, last))
    made = replace(made, splits={**made.splits, "day": ((f"{NOON:%Y-%m-%d}", NO_SEARCHES),)})
    (line,) = latency_over_time(made, LIGHT).layout.shapes
    assert str(line.x0).startswith(f"{NOON + 2 * HOUR:%Y-%m-%dT%H}")


def test_index_runs_are_told_when_they_ended_in_either_window_and_in_order():
    before = report(start=NOON - 24 * HOUR, settings=(in_force("a", NOON - HOUR, limit=5),))
    now = report(settings=(in_force("a", NOON, limit=5), in_force("b", NOON + 2 * HOUR, limit=6)))
    times = (NOON + 3 * HOUR, NOON - 2 * HOUR, NOON - 30 * HOUR, NOON + 24 * HOUR)
    assert [(change.at - NOON, change.told) for change in changes(now, before, times)] == [
        (-2 * HOUR, "the index was made again"),
        (2 * HOUR, "settings (limit 5 → 6)"),
        (3 * HOUR, "the index was made again"),
    ]
