"""`medir rag`, `vote` and `searches purge` as a script meets them: one JSON document, an exit code that means it."""

import csv
import io
import json
from pathlib import Path

import pytest

from material import ANA, Services, make_project, services
from medir.cli import medir
from medir.cli.frame import run
from rag_core.database.connections import Database
from rag_core.search.answer import Answer


@pytest.fixture
def made(database: Database, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Services:
    """The project `entrega`, indexed, in an installation of its own."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("MEDIR_HOME", str(tmp_path / "home"))
    opened = services(database)
    opened.indexing.run(make_project(database, tmp_path / "repository"), actor=ANA)
    return opened


@pytest.fixture
def answer(made: Services) -> Answer:
    return made.search.ask("entrega", "Quando o frete é calculado?", actor=ANA)


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, object]]:
    """The exit code and the one document of a verb with `--json`."""
    code = run(medir, [*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def degrade(made: Services) -> None:
    with made.database.connection() as connection:
        connection.execute("update rag_searches set degraded = true, vector_available = false")


def test_the_report_of_an_empty_window_is_not_measured_and_exits_0(
    made: Services, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = call(capsys, "rag")
    assert code == 0
    assert told["verdict"] == {
        "passed": True,
        "measured": False,
        "reason": "Not measured: the window holds no search.",
    }
    assert run(medir, ["rag"]) == 0
    printed = capsys.readouterr().out
    assert "Not measured" in printed
    assert "0.000" not in printed


def test_the_report_exits_1_when_no_search_had_its_vector_signal_and_0_for_one_that_had(
    made: Services, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    degrade(made)
    code, told = call(capsys, "rag")
    verdict = told["verdict"]
    assert isinstance(verdict, dict)
    assert (code, verdict["passed"]) == (1, False)
    assert "vector signal" in str(verdict["reason"])
    assert run(medir, ["rag"]) == 1
    printed = capsys.readouterr().out
    assert "Vector signal ✗ 0 of 1" in printed
    assert "The vector signal was available in none of 1 search" in printed
    made.search.ask("entrega", "A fila guarda eventos", actor=ANA)
    assert call(capsys, "rag")[0] == 0


def test_a_vote_is_cast_and_changed_and_seen_in_the_report(
    made: Services, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    reference = [str(answer.search_id), answer.ranking.hits[0].candidate.chunk_id]
    assert call(capsys, "vote", *reference, "util") == (
        0,
        {"searchId": reference[0], "chunkId": reference[1], "verdict": "util", "rank": 1, "changed": False},
    )
    assert call(capsys, "vote", *reference, "irrelevante")[1]["changed"] is True
    _, told = call(capsys, "rag", "--since", "1h")
    precision = told["precision"]
    assert isinstance(precision, dict)
    assert (precision["1"]["value"], precision["1"]["votes"], precision["1"]["useful"]) == (0.0, 1, 0)
    assert told["ranks"] == {"util": [], "irrelevante": [{"rank": 1, "votes": 1}]}


@pytest.mark.parametrize(
    ("search_id", "verdict", "field"), [("nonsense", "util", "searchId"), (None, "perhaps", "verdict")]
)
def test_a_vote_that_is_refused_exits_2_and_says_where(
    answer: Answer, capsys: pytest.CaptureFixture[str], search_id: str | None, verdict: str, field: str
) -> None:
    chunk_id = answer.ranking.hits[0].candidate.chunk_id
    code, told = call(capsys, "vote", search_id or str(answer.search_id), chunk_id, verdict)
    error = told["error"]
    assert isinstance(error, dict)
    assert (code, error["code"], error["where"]) == (2, "invalidInput", {"field": field})


@pytest.mark.parametrize(
    "arguments",
    [
        ("--from", "2026-01-01T00:00:00"),
        ("--since", "soon"),
        ("--since", "7d", "--to", "2026-01-01T00:00:00Z"),
        ("--tz", "Mars/Olympus"),
        ("--against", "seeds"),
        ("--explain", "recall"),
        ("--csv",),
    ],
    ids=["no offset", "no duration", "two windows", "no zone", "no settings", "no number", "csv and json"],
)
def test_what_can_not_be_meant_exits_2_with_one_document(
    made: Services, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    code, told = call(capsys, "rag", *arguments)
    assert code == 2
    assert list(told) == ["error"]


def test_the_window_counts_its_beginning_and_not_its_end(
    made: Services, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    with made.database.connection() as connection:
        connection.execute("update rag_searches set created_at = '2026-01-02T00:00:00Z'")

    def searches(start: str, end: str) -> object:
        return call(capsys, "rag", "--from", start, "--to", end)[1]["searches"]

    assert searches("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z") == 1
    assert searches("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z") == 0
    assert searches("2026-01-01T21:00:00-03:00", "2026-01-01T21:00:01-03:00") == 1


def test_days_are_those_of_the_zone_that_is_asked_for(
    made: Services, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    with made.database.connection() as connection:
        connection.execute("update rag_searches set created_at = '2026-01-02T01:00:00Z'")
    window = ("--from", "2026-01-01T00:00:00Z", "--to", "2026-01-03T00:00:00Z")
    for zone, day in (("UTC", "2026-01-02"), ("America/Sao_Paulo", "2026-01-01")):
        splits = call(capsys, "rag", *window, "--tz", zone)[1]["splits"]
        assert isinstance(splits, dict)
        assert [part["key"] for part in splits["day"]] == [day]


def test_csv_is_a_table_and_html_one_file(
    answer: Answer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    assert run(medir, ["rag", "--csv", "--html", str(page)]) == 0
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {line["split"] for line in lines} == {
        "whole",
        "settings",
        "model",
        "actor",
        "surface",
        "scope",
        "day",
    }
    assert next(line["value"] for line in lines if line["number"] == "searches") == "1"
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "Plotly.newPlot" in text


def test_a_page_that_can_not_be_written_exits_2(
    answer: Answer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, told = call(capsys, "rag", "--html", str(tmp_path / "nowhere" / "report.html"))
    assert (code, list(told)) == (2, ["error"])


def test_against_other_settings_needs_no_vote(answer: Answer, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = call(capsys, "rag", "--against", f"settings:{answer.settings.id}")
    assert code == 0
    assert told["counterfactual"] == {
        "against": f"settings:{answer.settings.id}",
        "searches": 1,
        "overlap": 1.0,
        "rbo": pytest.approx(1.0),
        "notReplayable": 0,
    }
    assert run(medir, ["rag", "--against", f"settings:{answer.settings.id}"]) == 0
    assert "rank-biased overlap: 1.000" in capsys.readouterr().out


def test_synthetic_rows_show_when_asked_for(made: Services, capsys: pytest.CaptureFixture[str]) -> None:
    made.search.ask("entrega", "Quando o frete é calculado?", actor=ANA, synthetic=True)
    assert call(capsys, "rag")[1]["searches"] == 0
    told = call(capsys, "rag", "--synthetic")[1]
    assert (told["searches"], told["synthetic"]) == (1, True)


def test_a_number_is_explained_without_a_database(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://127.0.0.1:1/nowhere")
    code, told = call(capsys, "rag", "--explain", "precision@5")
    assert (code, told["number"]) == (0, "precision")
    assert "never k" in str(told["definition"])


def test_a_purge_refuses_until_it_is_told_to(
    made: Services, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = call(capsys, "searches", "purge", "--actor", "human:ana")
    assert (code, list(told)) == (2, ["error"])
    assert call(capsys, "searches", "purge", "--actor", "human:ana", "--yes") == (
        0,
        {"project": "entrega", "searches": 1, "votes": 0},
    )
    assert call(capsys, "searches", "purge", "--before", "2026-01-01", "--yes")[0] == 2
