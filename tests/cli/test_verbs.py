"""Every verb under `--json`: one document of the contract's shape on standard output, and an exit code."""

import json
import re
import threading
from pathlib import Path

import click
import pytest
import shapes
from command_line import Caller, Installation

from material import CASES, Repository
from medir.cli.frame import run
from medir.contract.coverage import CoverageAnswer
from medir.contract.hits import Candidate
from medir.contract.search import FullSearchAnswer
from ollama_server import closed_port
from rag_core.database.connections import Database
from rag_core.model import Actor
from rag_core.project.runs import running


@pytest.fixture
def indexed(installation: Installation, repository: Repository, medir_verb: Caller) -> Caller:
    """The project `entrega` is there and indexed."""
    if medir_verb("project", "show", "--project", "entrega", "--json").code:
        assert medir_verb("project", "add", "entrega", "--repo", str(repository.folder), "--json").code == 0
        assert medir_verb("index", "--project", "entrega", "--json").code == 0
    return medir_verb


def refused(medir_verb: Caller, *arguments: str) -> dict[str, object]:
    """The error of a command that must end with 2."""
    ended = medir_verb(*arguments, "--json")
    assert ended.code == 2, ended
    assert shapes.mismatches(ended.document, shapes.ERROR) == []
    error = ended.document["error"]
    assert isinstance(error, dict)
    return error


def test_project_add_and_index_answer_as_the_contract_says(
    medir_verb: Caller, repository: Repository
) -> None:
    added = medir_verb("project", "add", "Nova Frota", "--repo", str(repository.folder), "--json")
    assert added.code == 0
    assert shapes.mismatches(added.document, shapes.PROJECT) == []
    assert added.document["project"] == "nova-frota"
    assert added.document["commit"] == repository.git("rev-parse", "HEAD")
    indexed = medir_verb("index", "--project", "nova-frota", "--mode", "full", "--json")
    assert indexed.code == 0
    assert shapes.mismatches(indexed.document, shapes.INDEX_RUN) == []
    assert indexed.document["scopes"] == {
        "docs": {"files": 3, "chunks": 4},
        "adr": {"files": 2, "chunks": 2},
        "session": {"sessions": 0, "chunks": 0},
    }
    again = medir_verb("index", "--project", "nova-frota", "--dry-run", "--json").document
    assert (again["mode"], again["dryRun"]) == ("incremental", True)
    removed = medir_verb("project", "remove", "nova-frota", "--yes", "--json")
    assert (removed.code, removed.document) == (0, {"removed": "nova-frota"})


def test_a_project_without_any_of_its_folders_is_added_with_a_note_and_one_whose_repository_went_says_so(
    medir_verb: Caller, tmp_path: Path
) -> None:
    made = Repository(tmp_path / "manual", {"manual/a.md": "# A\n"})
    added = medir_verb("project", "add", "manual", "--repo", str(made.folder), "--json")
    assert (added.code, added.document["project"]) == (0, "manual")
    assert "Nothing to index yet: the repository has no folder docs or docs/adr at HEAD." in added.stderr
    assert "medir project set --project manual --docs DIR" in added.stderr
    changed = medir_verb("project", "set", "--project", "manual", "--docs", "manual")
    assert (changed.code, "Nothing to index" in changed.stderr) == (0, False)
    made.folder.rename(tmp_path / "elsewhere")
    for verb in (("index",), ("golden", "run"), ("project", "set", "--docs", "manual")):
        refused = medir_verb(*verb, "--project", "manual", "--json")
        assert refused.code == 2
        assert refused.document["error"] == {
            "code": "usage",
            "message": f"The repository of manual is gone: {made.folder} does not exist.",
            "hint": "Say where it is now: medir project set --project manual --repo PATH.",
        }
    assert medir_verb("project", "remove", "manual", "--yes").code == 0


def test_an_index_run_waits_for_the_one_at_work_and_says_so(
    indexed: Caller, module_database: Database
) -> None:
    bia = Actor(kind="human", id="bia", surface="cli")
    held, free = threading.Event(), threading.Event()

    def hold() -> None:
        with running(module_database, "entrega", "index", actor=bia, parameters={}, exclusive=True):
            held.set()
            free.wait(60)

    other = threading.Thread(target=hold)
    other.start()
    held.wait(60)
    threading.Timer(1.0, free.set).start()
    ended = indexed("index", "--project", "entrega", "--json")
    other.join()
    assert (ended.code, ended.document["changes"]["kept"]) == (0, 6)
    assert "by human:bia. Waiting for it to end." in ended.stderr


def test_a_search_has_the_contracts_shape(indexed: Caller) -> None:
    ended = indexed("search", "Quando o frete é calculado?", "--project", "entrega", "--json")
    assert ended.code == 0
    assert shapes.mismatches(ended.document, FullSearchAnswer) == []
    assert "wholeSet" not in ended.document
    assert "explanation" not in ended.document
    assert isinstance(ended.document["searchId"], str)
    assert ended.document["settings"]["preset"] == "embedded"


def test_a_search_shows_its_whole_set_and_a_places_way_when_asked(indexed: Caller) -> None:
    ended = indexed(
        "search", "frete na coleta", "--project", "entrega", "--json", "--whole", "--explain", "docs/seguranca.md",
        "--scope", "docs", "--candidates", "1", "--threshold", "none", "--max-per-file", "none", "--weight-vector",
        "0.5", "--limit", "1", "--lexical-operator", "all", "--lexical-function", "coverage",
    )  # fmt: skip
    assert ended.code == 0
    document = ended.document
    assert shapes.mismatches(document, FullSearchAnswer) == []
    assert document["scopes"] == ["docs"]
    whole = document["wholeSet"]
    assert [entry["wholeRank"] for entry in whole] == list(range(1, len(whole) + 1))
    chunks = document["explanation"]["chunks"]
    assert [chunk["fate"] for chunk in chunks] == ["candidates"]
    settings = document["settings"]
    assert (settings["source"], settings["limit"]) == ("trial", 1)
    assert (settings["weightVector"], settings["weightLexical"]) == (0.5, 0.5)
    assert (settings["threshold"], settings["maxPerFile"]) == (None, None)
    assert (settings["lexicalOperator"], settings["lexicalFunction"]) == ("all", "coverage")


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("docs/segurança.md", "“docs/seguranca.md”"),
        ("seguranca.md", "“docs/seguranca.md”"),
        ("docs/adr/0001-file.md", "“docs/adr/0001-fila.md”"),
    ],
)
def test_a_place_that_is_mistyped_is_refused_and_the_one_that_was_meant_is_named(
    indexed: Caller, asked: str, meant: str
) -> None:
    error = refused(indexed, "search", "frete", "--project", "entrega", "--explain", asked)
    assert error["code"] == "usage"
    assert error["message"] == f"“{asked}” is not in the index; did you mean {meant}?"
    assert "session:ID" in str(error["hint"])


def test_a_place_like_none_that_there_is_is_refused_without_a_guess(indexed: Caller) -> None:
    error = refused(indexed, "search", "frete", "--project", "entrega", "--explain", "zzz")
    assert error["message"] == "“zzz” is not in the index."


def test_what_a_search_prints_holds_all_that_a_vote_needs(indexed: Caller) -> None:
    printed = indexed("search", "Quando o frete é calculado?", "--project", "entrega").stdout
    chunks = re.findall(r"^chunk ([0-9a-f-]{36})$", printed, re.MULTILINE)
    (invited,) = re.findall(r"^Judge a hit: medir (vote .+) CHUNK util\|irrelevante$", printed, re.MULTILINE)
    assert len(chunks) == printed.count("(score ")
    voted = indexed(*invited.split(), chunks[1], "util")
    assert (voted.code, voted.stdout) == (0, "util on the hit of rank 2.\n")


def test_a_search_without_hits_invites_to_no_vote(indexed: Caller) -> None:
    printed = indexed("search", "vulcanologia", "--project", "entrega", "--threshold", "0.9").stdout
    assert "\nNo hit: " in f"\n{printed}"
    assert "vote" not in printed


def test_an_empty_search_is_good(indexed: Caller) -> None:
    ended = indexed("search", "vulcanologia", "--project", "entrega", "--threshold", "0.9", "--json")
    assert (ended.code, ended.document["hits"]) == (0, [])


def test_a_degraded_search_is_good_and_says_so_quickly(indexed: Caller, installation: Installation) -> None:
    away = {"MEDIR_EMBEDDING": "ollama", "OLLAMA_HOST": f"127.0.0.1:{closed_port()}"}
    elsewhere = Installation(home=installation.home, environment={**installation.environment, **away})
    other = Caller(elsewhere, indexed._capture)
    ended = other("search", "Quando o frete é calculado?", "--project", "entrega", "--json")
    assert ended.code == 0
    assert shapes.mismatches(ended.document, FullSearchAnswer) == []
    assert (ended.document["vectorAvailable"], ended.document["degraded"]) == (False, True)
    assert ended.document["hits"]
    place = ("--whole", "--explain", "docs/seguranca.md")
    printed = other("search", "Quando o frete é calculado?", "--project", "entrega", *place).stdout
    # the signal was not run: nobody knows what it would have found
    assert "vector not run, lexical 0." in printed
    assert "vector rank not run" in printed
    assert "neither" not in printed


def test_a_golden_run_has_the_contracts_shape(indexed: Caller) -> None:
    ended = indexed("golden", "run", "--project", "entrega", "--json")
    assert ended.code == 0
    assert shapes.mismatches(ended.document, shapes.GOLDEN_RUN) == []
    assert (ended.document["passed"], ended.document["total"], ended.document["floor"]) == (3, 3, 3)


def test_two_golden_runs_are_byte_equal_but_for_the_lines_of_time_fields(indexed: Caller) -> None:
    def lines() -> list[str]:
        printed = indexed("golden", "run", "--project", "entrega", "--json").stdout
        return [line for line in printed.splitlines() if not line.split('":')[0].endswith(("Ms", "At"))]

    assert lines() == lines()


def test_a_floor_above_what_passes_is_1_and_the_run_is_printed_all_the_same(indexed: Caller) -> None:
    ended = indexed("golden", "run", "--project", "entrega", "--threshold", "0.99", "--json")
    assert ended.code == 1
    assert shapes.mismatches(ended.document, shapes.GOLDEN_RUN) == []
    assert (ended.document["passed"], ended.document["trial"]) == (0, True)


def test_a_misspelt_expected_path_is_2_and_names_the_case(indexed: Caller, tmp_path: Path) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text(CASES.replace("docs/frete.md", "docs/fretes.md"), encoding="utf-8")
    error = refused(indexed, "golden", "run", "--project", "entrega", "--cases", str(file))
    assert error["code"] == "faultyGoldenSet"
    assert error["faults"][0]["case"] == "frete"
    linted = indexed("golden", "lint", "--project", "entrega", "--cases", str(file), "--json")
    assert linted.code == 2
    assert shapes.mismatches(linted.document, shapes.LINT) == []
    assert linted.document["faults"][0]["case"] == "frete"
    told = indexed("golden", "run", "--project", "entrega", "--cases", str(file))
    assert told.code == 2
    assert "frete" in told.stderr
    assert told.stdout == ""


def test_a_sound_set_has_no_faults(indexed: Caller) -> None:
    linted = indexed("golden", "lint", "--project", "entrega", "--json")
    assert (linted.code, linted.document) == (0, {"faults": []})


def test_a_floor_that_run_refuses_is_a_fault_for_lint_too(indexed: Caller, repository: Repository) -> None:
    file = repository.folder / "golden_set" / "cases.yaml"
    committed = file.read_text(encoding="utf-8")
    highest = repository.git("rev-parse", "HEAD")
    try:
        file.write_text(committed.replace("floor: 3", "floor: 1"), encoding="utf-8")
        linted = indexed("golden", "lint", "--project", "entrega", "--json")
        message = f"The floor is 1, but it was 3 in commit {highest[:12]}; it only rises."
        assert (linted.code, linted.document) == (
            2,
            {"faults": [{"case": None, "field": "floor", "line": 1, "message": message}]},
        )
        ran = indexed("golden", "run", "--project", "entrega", "--json")
        assert (ran.code, ran.document["error"]["message"]) == (1, message)
    finally:
        file.write_text(committed, encoding="utf-8")


def test_after_a_format_fault_lint_lists_it_and_sends_nobody_back_to_lint(
    indexed: Caller, tmp_path: Path
) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text("floor: many\ncases:\n  - id: a\n    question: b\n", encoding="utf-8")
    linted = indexed("golden", "lint", "--project", "entrega", "--cases", str(file), "--json")
    assert linted.code == 2
    assert [(fault["field"], fault["line"]) for fault in linted.document["faults"]] == [
        ("floor", 1),
        ("expected", 3),
    ]
    assert linted.document["error"]["hint"] == "Mend the cases file, then try again."
    told = indexed("golden", "lint", "--project", "entrega", "--cases", str(file))
    assert "line 1, floor: floor must be a whole number" in told.stdout
    assert "lint" not in told.stdout + told.stderr


def test_a_fault_of_a_case_hides_no_expected_file_that_is_missing(indexed: Caller, tmp_path: Path) -> None:
    file = tmp_path / "cases.yaml"
    broken = CASES.replace(
        "expected: docs/frete.md", "expected: [docs/fretes.md, docs/frete.md, docs/frete.md]"
    )
    file.write_text(broken.replace("scope: adr", "scope: ard"), encoding="utf-8")
    for verb, faults in (("lint", None), ("run", "error")):
        told = indexed("golden", verb, "--project", "entrega", "--cases", str(file), "--json")
        assert told.code == 2
        found = told.document["faults"] if faults is None else told.document["error"]["faults"]
        assert [(fault["case"], fault["field"]) for fault in found] == [
            ("frete", "expected"),
            ("frete", "expected"),
            ("fila", "scope"),
        ]
        assert "“docs/fretes.md” does not exist in the repository; did you mean" in found[1]["message"]


def test_a_file_outside_the_folders_is_said_to_be_there_with_the_command_that_indexes_it(
    indexed: Caller, tmp_path: Path
) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text(CASES.replace("docs/frete.md", "golden_set/cases.yaml"), encoding="utf-8")
    linted = indexed("golden", "lint", "--project", "entrega", "--cases", str(file), "--json")
    assert linted.document["faults"][0]["message"] == (
        "“golden_set/cases.yaml” is in the repository but not in the index; only Markdown (*.md) is indexed."
    )


def test_a_cases_file_that_does_not_parse_names_file_and_line(indexed: Caller, tmp_path: Path) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text("floor: 1\ncases:\n  - id: [\n", encoding="utf-8")
    error = refused(indexed, "golden", "run", "--project", "entrega", "--cases", str(file))
    assert str(file) in json.dumps(error, ensure_ascii=False)


def test_a_case_is_explained(indexed: Caller) -> None:
    ended = indexed("golden", "explain", "frete", "--project", "entrega", "--json")
    assert ended.code == 0
    assert shapes.mismatches(ended.document["wholeSet"], [Candidate]) == []
    assert refused(indexed, "golden", "explain", "fretes", "--project", "entrega")["code"] == "usage"


def test_the_floor_is_raised_with_a_reason(indexed: Caller, tmp_path: Path) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text(CASES.replace("floor: 3", "floor: 1"), encoding="utf-8")
    verb = ("golden", "raise-floor", "--project", "entrega", "--cases", str(file))
    assert refused(indexed, *verb)["code"] == "usage"
    raised = indexed(*verb, "--reason", "melhorou", "--json")
    assert raised.code == 0
    assert (raised.document["from"], raised.document["to"]) == (1, 3)
    assert "floor: 3" in file.read_text(encoding="utf-8")


def test_projects_are_listed_shown_and_changed(indexed: Caller, repository: Repository) -> None:
    listed = indexed("project", "list", "--json")
    assert listed.code == 0
    assert shapes.mismatches(json.loads(listed.stdout), [shapes.PROJECT]) == []
    shown = indexed("project", "show", "--project", "entrega", "--json").document
    assert shapes.mismatches(shown, shapes.PROJECT) == []
    changed = indexed("project", "set", "--project", "entrega", "--ref", "main", "--json").document
    assert changed == shown | {"ref": "main"}


def test_another_language_asks_for_a_new_index_and_what_is_none_is_refused(indexed: Caller) -> None:
    named = ("--project", "entrega")
    error = refused(indexed, "project", "set", *named, "--language", "klingon")
    assert "klingon" in str(error["message"])
    assert "english (en)" in str(error["hint"])
    try:
        changed = indexed("project", "set", *named, "--language", "EN-us", "--json")
        assert changed.document["language"] == "english"
        assert "another language" in changed.stderr
        assert "medir index --project entrega" in changed.stderr
        measured = indexed("coverage", *named, "--json").document
        assert (measured["language"], measured["indexLanguage"]) == ("english", "portuguese")
        stale = indexed("golden", "run", *named, "--fail-on", "stale", "--json")
        assert stale.document["wordsChanged"] == {"made": "portuguese+2", "wanted": "english+2"}
        assert stale.code == 1
        printed = indexed("golden", "run", *named).stdout
        assert "The index was made in another language" in " ".join(printed.split())
    finally:
        back = indexed("project", "set", *named, "--language", "portuguese", "--json")
    assert (back.document["language"], back.stderr) == ("portuguese", "")


def test_a_project_is_not_removed_where_nobody_can_be_asked(indexed: Caller) -> None:
    assert refused(indexed, "project", "remove", "--project", "entrega")["hint"] == "Add --yes."
    assert indexed("project", "show", "--project", "entrega", "--json").code == 0


def test_the_databases_state_is_told_without_its_password(indexed: Caller) -> None:
    ended = indexed("db", "status", "--json")
    assert ended.code == 0
    assert shapes.mismatches(ended.document, shapes.DATABASE_STATUS) == []
    assert ended.document["embedded"] is False
    assert isinstance(ended.document["migration"], int)
    migrated = indexed("db", "migrate", "--json")
    assert (migrated.code, migrated.document) == (0, {"applied": []})


def test_the_embedded_servers_verbs_are_refused_where_another_server_is_named(indexed: Caller) -> None:
    assert refused(indexed, "db", "start")["code"] == "usage"
    assert refused(indexed, "db", "stop")["code"] == "usage"


EVENT = {
    "sessionId": "s1",
    "eventId": "e1",
    "type": "chat.message",
    "createdAt": "2026-01-02T03:04:05Z",
    "actor": {"kind": "human", "id": "ana"},
    "payload": {"text": "A fila travou de novo."},
}


def test_sessions_are_imported_and_a_bad_line_is_done_in_part(indexed: Caller, tmp_path: Path) -> None:
    file = tmp_path / "sessions.jsonl"
    file.write_text(json.dumps(EVENT) + "\n", encoding="utf-8")
    whole = indexed("sessions", "import", str(file), "--project", "entrega", "--json")
    assert whole.code == 0
    assert shapes.mismatches(whole.document, shapes.SESSIONS_IMPORT) == []
    assert (whole.document["sessions"], whole.document["events"]) == (1, 1)
    file.write_text(json.dumps(EVENT | {"eventId": "e2"}) + "\n{broken\n", encoding="utf-8")
    partly = indexed("sessions", "import", str(file), "--project", "entrega", "--json")
    assert partly.code == 3
    assert [entry["line"] for entry in partly.document["refused"]] == [2]


def test_a_file_that_cannot_be_indexed_is_done_in_part_and_what_is_left_out_by_rule_is_good(
    medir_verb: Caller, tmp_path: Path
) -> None:
    files: dict[str, str | bytes] = {"docs/a.md": "# A\n\nTexto.\n", "docs/figura.png": b"\x89PNG"}
    made = Repository(tmp_path / "parcial", files)
    medir_verb("project", "add", "parcial", "--repo", str(made.folder))
    good = medir_verb("index", "--project", "parcial", "--json")
    assert good.code == 0
    assert [entry["byRule"] for entry in good.document["skipped"]] == [True]
    made.commit({"docs/bytes.md": b"\x81\x8d\xff\xfe\x00 \x90"})
    partly = medir_verb("index", "--project", "parcial", "--json")
    assert partly.code == 3
    assert shapes.mismatches(partly.document, shapes.INDEX_RUN) == []
    medir_verb("project", "remove", "--project", "parcial", "--yes")


def test_coverage_and_doctor_have_the_contracts_shapes(indexed: Caller) -> None:
    covered = indexed("coverage", "--project", "entrega", "--json")
    assert covered.code == 0
    assert shapes.mismatches(covered.document, CoverageAnswer) == []
    assert covered.document["moved"] is False
    examined = indexed("doctor", "--json")
    assert examined.code == 0
    assert shapes.mismatches(examined.document, shapes.DOCTOR) == []
    found = {check["name"]: check["found"] for check in examined.document["checks"]}
    assert "telemetryLost" in found
    assert "Make a token before a proxy is put in front" in found["callers"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("search",),
        ("serch", "frete"),
        ("search", "frete", "--project", "nobody"),
        ("search", "frete", "--project", "No Slug"),
        ("search", "  ", "--project", "entrega"),
        ("search", "a" * 2001, "--project", "entrega"),
        ("search", "frete", "--project", "entrega", "--scope", "code"),
        ("search", "frete", "--project", "entrega", "--weight-vector", "1.5"),
        ("search", "frete", "--project", "entrega", "--limit", "51"),
        ("search", "frete", "--project", "entrega", "--candidates", "1001"),
        ("project", "add", "vazio", "--repo", ".", "--docs", ""),
        ("index", "--project", "entrega", "--session", "nenhuma"),
        ("search", "frete", "--project", "entrega", "--weight-vector", "nan"),
        ("search", "frete", "--project", "entrega", "--threshold", "nan"),
        ("search", "frete", "--project", "entrega", "--threshold", "low"),
        ("search", "frete", "--project", "entrega", "--limit", "0"),
        ("search", "frete", "--project", "entrega", "--candidates", "0"),
        ("search", "frete", "--project", "entrega", "--max-per-file", "0"),
        ("search", "frete", "--project", "entrega", "--preset", "best"),
        ("search", "frete", "--project", "entrega", "--fusion", "mmr"),
        ("search", "frete", "--project", "entrega", "--rrf-k", "10"),
        ("search", "frete", "--project", "entrega", "--fusion", "rrf", "--rrf-k", "0"),
        ("index", "--project", "entrega", "--ref", "no-such-branch"),
        ("index", "--project", "entrega", "--session", "no-such-session"),
        ("index", "--project", "entrega", "--session", "s1", "--scope", "docs"),
        ("project", "add", "x", "--repo", "/no/such/folder"),
        ("project", "add", "???", "--repo", "/"),
        ("golden", "run", "--project", "entrega", "--cases", "/no/such/file.yaml"),
        ("sessions", "import", "/no/such/file.jsonl", "--project", "entrega"),
        ("serve", "--host", "0.0.0.0"),
        ("serve", "--port", "eighty"),
        ("up", "--port", "99999"),
        ("db", "restore", "/no/such/file"),
    ],
)
def test_wrong_use_and_refusals_are_2_with_one_document_that_says_what_to_do(
    indexed: Caller, arguments: tuple[str, ...]
) -> None:
    error = refused(indexed, *arguments)
    assert error["message"]
    assert error["hint"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("project", "show", "--project", "caf\udce9"),
        ("index", "--project", "entrega", "--session", "caf\udce9"),
        ("index", "--project", "entrega", "--ref", "caf\udce9"),
        ("golden", "explain", "caf\udce9", "--project", "entrega"),
        ("search", "frete", "--project", "entrega", "--explain", "caf\udce9"),
        ("golden", "run", "--project", "entrega", "--cases", "caf\udce9.yaml"),
    ],
)
def test_bytes_that_are_no_utf_8_are_wrong_use_and_no_fault(
    indexed: Caller, arguments: tuple[str, ...]
) -> None:
    assert refused(indexed, *arguments)["hint"]


def test_a_question_with_bytes_that_are_no_utf_8_is_answered(indexed: Caller) -> None:
    ended = indexed("search", "frete na coleta \udce9", "--project", "entrega", "--json")
    assert ended.code == 0
    assert ended.document["hits"]


def test_people_get_the_same_refusal_as_two_lines_on_standard_error(indexed: Caller) -> None:
    ended = indexed("search", "frete", "--project", "nobody")
    assert (ended.code, ended.stdout) == (2, "")
    assert len(ended.stderr.splitlines()) == 2
    assert "Traceback" not in ended.stderr


def test_a_server_that_does_not_answer_is_2_with_one_document(
    installation: Installation, capsys: pytest.CaptureFixture[str]
) -> None:
    unreachable = f"postgresql://ana:segredo@127.0.0.1:{closed_port()}/medir"
    away = Caller(Installation(home=installation.home, environment={"DATABASE_URL": unreachable}), capsys)
    for arguments in (("search", "frete"), ("index",), ("db", "status"), ("project", "list")):
        error = refused(away, *arguments)
        assert error["code"] == "databaseUnavailable"
        assert "segredo" not in json.dumps(error)


@click.command()
@click.option("--json", is_flag=True)
def faulty(json: bool) -> None:
    """A verb with a fault in it."""
    raise ZeroDivisionError("a secret")


def test_a_fault_of_ours_is_70_and_its_traceback_goes_to_a_file(
    installation: Installation, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEDIR_HOME", str(installation.home))
    assert run(faulty, ["--json"]) == 70
    written = capsys.readouterr()
    error = json.loads(written.out)["error"]
    assert error["code"] == "fault"
    assert "secret" not in written.out + written.err
    log = installation.home / "faults.log"
    assert str(log) in error["hint"]
    assert "ZeroDivisionError: a secret" in log.read_text(encoding="utf-8")
    assert run(faulty, []) == 70
    told = capsys.readouterr()
    assert told.out == ""
    assert "Traceback" not in told.err


def test_a_fault_is_70_also_where_nothing_can_be_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MEDIR_HOME", str(tmp_path / "missing"))
    assert run(faulty, ["--json"]) == 70
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "fault"


@click.command()
@click.option("--json", is_flag=True)
def interrupted(json: bool) -> None:
    """A verb during which somebody presses Ctrl-C."""
    raise KeyboardInterrupt


def test_ctrl_c_is_130_and_one_document_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(interrupted, ["--json"]) == 130
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "interrupted"


def test_tables_for_people_go_to_standard_output_without_any_json(indexed: Caller) -> None:
    searched = indexed("search", "Quando o frete é calculado?", "--project", "entrega")
    assert searched.code == 0
    assert "1. docs/frete.md › Frete" in searched.stdout
    ran = indexed("golden", "run", "--project", "entrega")
    assert ran.code == 0
    assert "3 of 3 pass, floor 3" in ran.stdout
    for verb in (
        ("golden", "explain", "frete"),
        ("golden", "lint"),
        ("coverage",),
        ("project", "show"),
        ("index",),
    ):
        ended = indexed(*verb, "--project", "entrega")
        assert ended.code == 0, ended
        assert ended.stdout
    for verb in (("project", "list"), ("db", "status"), ("db", "migrate"), ("doctor",)):
        assert indexed(*verb).stdout
