"""What the report says of few votes, few searches and none: never 0 in the place of "not measured"."""

import dataclasses
import json
import re
from datetime import UTC, datetime

import pytest

from medir.contract import report as shapes
from rag_core.errors import UsageError
from rag_core.figures.palette import DARK, LIGHT
from rag_core.figures.report import (
    health_over_time,
    latency_over_time,
    precision_at_depth,
    precision_by_part,
    votes_by_rank,
)
from rag_core.formats.report_csv import HEADER, report_csv
from rag_core.formats.report_html import report_html
from rag_core.report.definitions import DEFINITIONS, explain_number
from rag_core.report.numbers import (
    NO_SEARCHES,
    SPLITS,
    Counterfactual,
    Part,
    Percentiles,
    Precision,
    RankVotes,
    Report,
    Verdict,
)
from rag_core.report.settings_used import Turn, UsedSettings

START, END = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 31, tzinfo=UTC)
HOSTILE = "human:</script><script>alert('x')</script><img src=x onerror=alert(1)>"


def report(whole: Part = NO_SEARCHES, **changes: object) -> Report:
    values: dict[str, object] = {
        "project_id": "entrega",
        "start": START,
        "end": END,
        "zone": "UTC",
        "synthetic": False,
        "whole": whole,
        "ranks": {"util": (), "irrelevante": ()},
        "settings": (),
        "splits": dict.fromkeys(SPLITS, ()),
    }
    return Report(**(values | changes))  # type: ignore[arg-type]


def part(*, useful: int, votes: int, searches: int = 120) -> Part:
    return dataclasses.replace(
        NO_SEARCHES,
        searches=searches,
        shown=searches * 5,
        judged=votes,
        precision={
            depth: Precision(useful=useful, votes=votes, judged_hits=votes) for depth in (1, 3, 5, 10)
        },
        latency=dict.fromkeys(
            ("total", "embed", "vector", "lexical", "rank"), Percentiles.of(searches, 10.0, 20.0, 30.0)
        ),
        first_at=START,
        last_at=START,
    )


FULL = report(
    part(useful=4, votes=5),
    ranks={"util": (RankVotes(rank=1, votes=4),), "irrelevante": (RankVotes(rank=3, votes=1),)},
    synthetic=True,
    settings=tuple(
        UsedSettings(
            settings_id=name * 16, settings={"weightVector": weight}, searches=60, first_at=START, last_at=END
        )
        for name, weight in (("a", 0.6), ("b", 0.5))
    ),
    turns=tuple(
        Turn(at=START, settings_id=name * 16, settings={"weightVector": weight})
        for name, weight in (("a", 0.6), ("b", 0.5))
    ),
    splits=dict.fromkeys(SPLITS, ())
    | {
        "actor": ((HOSTILE, part(useful=4, votes=5)), ("human:bia", NO_SEARCHES)),
        "day": (("2026-01-01", part(useful=4, votes=5)),),
    },
    counterfactual=Counterfactual(
        against="preset:seeds", searches=100, overlap=0.5, rbo=0.25, not_replayable=20
    ),
)


def test_without_a_vote_precision_has_no_value_and_no_interval() -> None:
    nothing = Precision(useful=0, votes=0, judged_hits=0)
    assert (nothing.value, nothing.interval) == (None, None)
    assert shapes.Precision.of(nothing).to_json() == {
        "value": None,
        "useful": 0,
        "votes": 0,
        "judgedHits": 0,
        "low": None,
        "high": None,
    }


def test_one_useful_vote_is_all_of_one_and_its_interval_says_how_little_that_is() -> None:
    # Wilson, 1 of 1: 1 / (1 + z²) = 1 / 4.841459
    one = Precision(useful=1, votes=1, judged_hits=1)
    assert one.value == 1.0
    assert one.interval is not None
    assert (one.interval.low, one.interval.high) == (pytest.approx(0.206549, abs=1e-6), 1.0)


def test_unjudged_hits_are_neither_good_nor_bad() -> None:
    # five hits: useful, unjudged, irrelevant, unjudged, unjudged: 1 of 2 votes, over 2 of 5 hits
    found = dataclasses.replace(
        NO_SEARCHES, shown=5, judged=2, precision={5: Precision(useful=1, votes=2, judged_hits=2)}
    )
    assert found.precision[5].value == 0.5
    assert found.judged_share == 0.4


@pytest.mark.parametrize(
    ("n", "given", "why"),
    [
        (0, (None, None, None), "No search was measured."),
        (1, (7.0, None, None), "p95 needs 20 and p99 needs 100 searches; there is 1."),
        (19, (7.0, None, None), "p95 needs 20 and p99 needs 100 searches; there are 19."),
        (20, (7.0, 8.0, None), "p99 needs 100 searches; there are 20."),
        (99, (7.0, 8.0, None), "p99 needs 100 searches; there are 99."),
        (100, (7.0, 8.0, 9.0), None),
    ],
)
def test_percentiles_wait_until_there_are_enough_searches(
    n: int, given: tuple[float | None, ...], why: str | None
) -> None:
    found = Percentiles.of(n, 7.0, 8.0, 9.0)
    assert (found.p50, found.p95, found.p99) == given
    assert found.why == why
    assert ("why" in shapes.Percentiles.of(found).to_json()) is (why is not None)


def test_the_verdict_fails_for_one_thing_only() -> None:
    none_available = dataclasses.replace(NO_SEARCHES, searches=3, degraded=3, vector_unavailable=3, no_hit=3)
    one_available = dataclasses.replace(none_available, vector_unavailable=2)
    assert Verdict.of(NO_SEARCHES) == Verdict(
        passed=True, measured=False, reason="Not measured: the window holds no search."
    )
    assert Verdict.of(none_available).passed is False
    assert "none of 3 searches" in Verdict.of(none_available).reason
    assert Verdict.of(one_available) == Verdict(
        passed=True, measured=True, reason="The vector signal was available in 1 of 3 searches."
    )


def test_one_setting_is_not_mixed_and_two_are() -> None:
    assert report(settings=FULL.settings[:1]).mixed_settings == ()
    assert len(FULL.mixed_settings) == 2


def limited(name: str, limit: int, *, decided: bool = False, at: datetime = START) -> UsedSettings:
    return UsedSettings(
        settings_id=name * 16,
        settings={"weightVector": 0.6, "limit": limit},
        searches=10,
        first_at=at,
        last_at=at,
        decided=decided,
    )


def test_a_callers_limit_makes_no_other_settings_and_a_decided_one_does() -> None:
    # five was the preset's, three and ten were asked for by callers: one rule, so nothing is mixed
    asked = (limited("a", 5, decided=True), limited("b", 3), limited("c", 10))
    assert report(settings=asked).mixed_settings == ()
    # of two decisions, each is a rule; what callers asked for counts with the first
    mixed = report(settings=(*asked, limited("d", 8, decided=True, at=END))).mixed_settings
    assert [(entry.settings_id[0], entry.searches) for entry in mixed] == [("a", 30), ("d", 10)]


def test_the_json_has_the_contracts_keys_and_no_other() -> None:
    told = shapes.ReportAnswer.of(report()).to_json()
    assert list(told) == [
        "project",
        "from",
        "to",
        "verdict",
        "searches",
        "degraded",
        "noHit",
        "vectorUnavailable",
        "precision",
        "ranks",
        "latency",
        "judgedShare",
        "mixedSettings",
        "splits",
    ]
    assert told["splits"] == {name: [] for name in SPLITS}
    assert {"counterfactual", "synthetic"} <= set(shapes.ReportAnswer.of(FULL).to_json())
    assert (
        json.loads(json.dumps(shapes.ReportAnswer.of(FULL).to_json()))
        == shapes.ReportAnswer.of(FULL).to_json()
    )


def test_the_csv_leaves_empty_what_is_not_measured() -> None:
    lines = report_csv(report()).splitlines()
    assert lines[0] == ",".join(HEADER)
    assert "whole,,precision@5,,0,," in lines
    assert "whole,,judgedShare,,0,," in lines


def test_the_csv_has_every_split_and_no_formula() -> None:
    told = report_csv(
        dataclasses.replace(FULL, splits=dict(FULL.splits) | {"actor": (("=1+1", part(useful=1, votes=2)),)})
    )
    assert "actor,'=1+1,precision@5,0.5,2," in told
    assert "against,preset:seeds,rbo,0.25,100,," in told
    assert "whole,,ranks.util.1,4,,," in told


def test_the_html_stands_alone_and_runs_nothing_of_the_data() -> None:
    page = report_html(FULL)
    own = page.split("</style>")[0] + page.split("</head>")[1]
    assert "alert('x')</script>" not in own
    assert "<img" not in own
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", own)
    assert "default-src" in own
    assert "synthetic" in own
    assert "0.80 of 5 votes" in own
    # the gate is a small sign; the headline says what votes, hits and latency say
    assert '<span class="badge">Vector signal ✓ 120 of 120</span>' in own
    assert "Passed" not in own.split("<h2>")[0]
    # Wilson, 4 of 5: 0.376 to 0.964
    assert (
        '<p class="headline">80% of 5 votes on the first five hits say useful (95 % interval 38% to 96%). '
        "0% of 120 searches showed no hit; p95 latency 20 ms (n = 120).</p>" in own
    )


def test_the_html_of_an_empty_window_says_not_measured() -> None:
    page = report_html(report()).split("</head>")[1]
    assert "Not measured: the window holds no search." in page
    assert "— not measured" in page
    assert "0.000" not in page


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("shown", [report(), FULL], ids=["nothing", "full"])
def test_every_figure_names_its_axes_or_says_why_it_is_empty(shown: Report, theme: object) -> None:
    for figure in (
        precision_at_depth(shown.whole, theme),  # type: ignore[arg-type]
        votes_by_rank(shown, theme),  # type: ignore[arg-type]
        latency_over_time(shown, theme),  # type: ignore[arg-type]
        health_over_time(shown, theme),  # type: ignore[arg-type]
        precision_by_part(shown.splits["actor"], theme, title="Precision@5 by actor"),  # type: ignore[arg-type]
    ):
        assert figure.layout.title.text
        assert figure.layout.xaxis.title.text
        said = [annotation.text or "" for annotation in figure.layout.annotations]
        assert any(text.startswith("Not measured") for text in said) is (shown is not FULL)


def test_a_lone_day_fills_its_axis_and_is_named_once() -> None:
    for draw in (latency_over_time, health_over_time):
        axis = draw(FULL, LIGHT).layout.xaxis
        assert [str(end) for end in axis.range] == ["2026-01-01", "2026-01-02"]
        assert (axis.dtick, axis.ticklabelmode) == (86_400_000, "period")


def test_a_mark_of_other_settings_stands_at_wall_time_in_the_zone_of_the_days() -> None:
    # half past one in London is half past ten of the evening before in São Paulo
    at = datetime.fromisoformat("2026-01-02T01:30:00+00:00")
    second, turn = (
        dataclasses.replace(FULL.settings[1], first_at=at),
        dataclasses.replace(FULL.turns[1], at=at),
    )
    shown = dataclasses.replace(
        FULL, zone="America/Sao_Paulo", settings=(FULL.settings[0], second), turns=(FULL.turns[0], turn)
    )
    for draw in (latency_over_time, health_over_time):
        # the window's first settings are no change
        (mark,) = draw(shown, LIGHT).layout.shapes
        assert mark.x0 == mark.x1 == "2026-01-01T22:30:00"
    page = report_html(shown)
    assert "<td>2026-01-01 22:30</td>" in page
    assert "America/Sao_Paulo" in page


def test_days_of_degraded_searches_alone_say_that_no_latency_was_measured() -> None:
    degraded = dataclasses.replace(NO_SEARCHES, searches=4, degraded=4)
    shown = dataclasses.replace(FULL, splits=dict(FULL.splits) | {"day": (("2026-01-01", degraded),)})
    said = [annotation.text for annotation in latency_over_time(shown, LIGHT).layout.annotations]
    assert said == ["Not measured: no search that was not degraded"]


def test_a_part_without_votes_is_named_with_a_dash_in_the_figure() -> None:
    figure = precision_by_part(FULL.splits["actor"], LIGHT, title="Precision@5 by actor")
    assert "human:bia  — not measured" in figure.data[0].y
    assert not any("<script>" in label for label in figure.data[0].y)


@pytest.mark.parametrize(
    ("asked", "number"),
    [
        ("precision", "precision"),
        ("precision@5", "precision"),
        ("latency.total.p95", "p95"),
        ("judgedshare", "judgedShare"),
        ("high", "low"),
        ("counterfactual", "overlap"),
    ],
)
def test_numbers_are_explained_by_the_names_they_go_by(asked: str, number: str) -> None:
    assert explain_number(asked) == (number, DEFINITIONS[number])


def test_a_number_that_the_report_does_not_have_is_refused_with_those_it_has() -> None:
    with pytest.raises(UsageError) as caught:
        explain_number("recall")
    assert "judgedShare" in caught.value.hint


def test_every_number_of_the_json_has_a_definition() -> None:
    told = shapes.ReportAnswer.of(FULL).to_json()
    counterfactual, whole = told["counterfactual"], told["precision"]
    assert isinstance(counterfactual, dict)
    assert isinstance(whole, dict)
    numbers = set(told) - {"project", "from", "to", "counterfactual", "synthetic"}
    numbers |= {
        "overlap",
        "rbo",
        "notReplayable",
        "useful",
        "votes",
        "judgedHits",
        "low",
        "p50",
        "p95",
        "p99",
    }
    assert numbers == set(DEFINITIONS)
