"""What the Report page says of its numbers: latencies by step, the cumulative curve, the pattern of ranks, changes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from rag_core.figures.palette import DARK, LIGHT
from rag_core.figures.report import latency_over_time
from rag_core.figures.report_trends import cumulative_latency, latency_by_step
from rag_core.report.changes import changes
from rag_core.report.making import LatencyCurve
from rag_core.report.numbers import (
    NO_SEARCHES,
    SPLITS,
    STEPS,
    JudgedSearches,
    Percentiles,
    Report,
)
from rag_core.report.rank_pattern import rank_pattern, told_pattern
from rag_core.report.settings_used import UsedSettings, turns_of

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def report(
    *,
    start: datetime = NOON,
    settings: tuple[UsedSettings, ...] = (),
    turns: str | None = None,
) -> Report:
    by_id = {entry.settings_id: entry for entry in settings}
    began = [(by_id[name].first_at, name) for name in (by_id if turns is None else turns)]
    return Report(
        project_id="p",
        start=start,
        end=start + 24 * HOUR,
        zone="UTC",
        synthetic=False,
        whole=NO_SEARCHES,
        ranks={"util": (), "irrelevante": ()},
        settings=settings,
        turns=turns_of(began, by_id),
        splits=dict.fromkeys(SPLITS, ()),
    )


def in_force(name: str, at: datetime, **numbers: object) -> UsedSettings:
    return UsedSettings(settings_id=name, settings=numbers, searches=1, first_at=at, last_at=at)


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
    assert words_of(figure) == ["p50", "p95"]


def judged(answered: int, known: int, first: int = 0, first_judged: int = 0) -> JudgedSearches:
    return JudgedSearches(
        answered=answered, unanswered=known - answered, first_judged=first_judged, first_useful=first
    )


def test_one_answer_questions_that_are_answered_first_have_the_right_order_and_no_poor_index():
    # 30 questions, five hits each judged, one answer: 27 useful of 150 votes, and yet 27 of 30 are answered
    one_answer = judged(27, 30, first=27, first_judged=27)
    assert rank_pattern(one_answer) == "right order"
    told = told_pattern(one_answer)
    assert "27 of 30 judged searches had a useful hit" in told
    assert "index" not in told


def test_few_searches_with_any_useful_hit_look_like_a_poor_index():
    # Wilson: 5 of 30 ends at 0.336; 5 of 20 at 0.469, and 6 of 20 at 0.519, which chance could have made
    assert rank_pattern(judged(5, 30)) == "poor index"
    assert rank_pattern(judged(5, 20)) == "poor index"
    assert rank_pattern(judged(6, 20)) == "too few"
    assert "5 of 30 judged searches had a useful hit. This looks like a poor index" in told_pattern(
        judged(5, 30)
    )


def test_useful_hits_that_are_seldom_the_first_look_like_wrong_weights():
    # Wilson: 8 of 27 ends at 0.485, 9 of 27 at 0.522
    assert rank_pattern(judged(27, 30, first=8, first_judged=27)) == "wrong weights"
    assert rank_pattern(judged(27, 30, first=9, first_judged=27)) == "no pattern"
    # 15 of 20 begins at 0.531, 14 of 20 at 0.481
    assert rank_pattern(judged(20, 20, first=15, first_judged=20)) == "right order"
    assert rank_pattern(judged(20, 20, first=14, first_judged=20)) == "no pattern"


def test_nothing_is_said_of_fewer_than_twenty_searches():
    assert rank_pattern(judged(0, 0)) == "not measured"
    assert rank_pattern(judged(0, 19)) == "too few"
    assert rank_pattern(judged(19, 19, first=19, first_judged=19)) == "too few"
    # nobody judged the first hit of those with a useful one further down
    assert rank_pattern(judged(30, 30)) == "too few"
    for silent in (judged(0, 19), judged(30, 30), judged(27, 30, first=14, first_judged=27)):
        assert "poor index" not in told_pattern(silent)
        assert "wrong weights" not in told_pattern(silent)


def test_a_change_of_settings_is_told_by_the_numbers_that_differ():
    before = report(start=NOON - 24 * HOUR, settings=(in_force("a", NOON - HOUR, threshold=0.2, cap=5),))
    now = report(settings=(in_force("b", NOON + HOUR, threshold=None, cap=5),))
    (change,) = changes(now, before, ())
    assert change.told == "settings (threshold 0.2 → none)"
    assert change.at == NOON + HOUR


def test_a_change_of_model_has_a_name_of_its_own():
    before = report(
        start=NOON - 24 * HOUR, settings=(in_force("a", NOON - HOUR, embeddingModel="ollama/a@12"),)
    )
    now = report(settings=(in_force("b", NOON, embeddingModel="ollama/b@34"),))
    assert [change.told for change in changes(now, before, ())] == ["model (ollama/a → ollama/b)"]


def test_the_same_settings_in_both_windows_are_no_change():
    before = report(start=NOON - 24 * HOUR, settings=(in_force("a", NOON - HOUR, cap=5),))
    assert changes(report(settings=(in_force("a", NOON + HOUR, cap=5),)), before, ()) == ()


def test_a_trial_between_two_settings_is_passed_over():
    first, last = in_force("a", NOON, cap=5), in_force("c", NOON + 2 * HOUR, cap=6)
    trial = in_force("b", NOON + HOUR, cap=20)
    told = changes(report(settings=(first, trial, last), turns="ac"), report(start=NOON - 24 * HOUR), ())
    assert [change.told for change in told] == ["settings (cap 5 → 6)"]


def test_settings_that_come_back_are_a_change():
    settings = {"a": in_force("a", NOON, cap=5), "b": in_force("b", NOON + HOUR, cap=6)}
    began = [(NOON, "a"), (NOON + HOUR, "b"), (NOON + 2 * HOUR, "a")]
    made = replace(report(settings=tuple(settings.values())), turns=turns_of(began, settings))
    told = changes(made, report(start=NOON - 24 * HOUR), ())
    assert [(change.at - NOON, change.told) for change in told] == [
        (HOUR, "settings (cap 5 → 6)"),
        (2 * HOUR, "settings (cap 6 → 5)"),
    ]


def test_a_limit_that_a_caller_chose_is_no_change_and_one_that_was_adopted_is():
    five, three = in_force("a", NOON, limit=5), in_force("b", NOON + HOUR, limit=3)
    made = report(settings=(replace(five, decided=True), three))
    assert len(made.turns) == 1
    assert changes(made, report(start=NOON - 24 * HOUR), ()) == ()
    adopted = report(settings=(replace(five, decided=True), replace(three, decided=True)))
    told = changes(adopted, report(start=NOON - 24 * HOUR), ())
    assert [change.told for change in told] == ["settings (limit 5 → 3)"]


def test_a_trial_has_no_line_in_the_figures_over_time():
    first, last = in_force("a", NOON, cap=5), in_force("c", NOON + 2 * HOUR, cap=6)
    made = report(settings=(first, in_force("b", NOON + HOUR, cap=20), last), turns="ac")
    made = replace(made, splits={**made.splits, "day": ((f"{NOON:%Y-%m-%d}", NO_SEARCHES),)})
    (line,) = latency_over_time(made, LIGHT).layout.shapes
    assert str(line.x0).startswith(f"{NOON + 2 * HOUR:%Y-%m-%dT%H}")


def test_index_runs_are_told_when_they_ended_in_either_window_and_in_order():
    before = report(start=NOON - 24 * HOUR, settings=(in_force("a", NOON - HOUR, cap=5),))
    now = report(settings=(in_force("a", NOON, cap=5), in_force("b", NOON + 2 * HOUR, cap=6)))
    times = (NOON + 3 * HOUR, NOON - 2 * HOUR, NOON - 30 * HOUR, NOON + 24 * HOUR)
    assert [(change.at - NOON, change.told) for change in changes(now, before, times)] == [
        (-2 * HOUR, "reindexed"),
        (2 * HOUR, "settings (cap 5 → 6)"),
        (3 * HOUR, "reindexed"),
    ]
