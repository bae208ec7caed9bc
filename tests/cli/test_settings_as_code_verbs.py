"""Settings as code and a stale index on the command line: files, texts, exit codes and sentences."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import shapes
from command_line import Caller, Installation

from material import Repository

STALE = ({"commitsBehind": shapes.COUNT_OR_NULL, "textChanged": bool}, None)


@pytest.fixture(scope="module")
def _indexed(installation: Installation, repository: Repository) -> None:
    added = installation.execute("project", "add", "entrega", "--repo", str(repository.folder), "--json")
    assert added.code == 0, added.stderr


@pytest.fixture
def medir(_indexed: None, medir_verb: Caller) -> Caller:
    return medir_verb


@pytest.fixture
def file(repository: Repository):
    settings = repository.folder / "golden_set" / "settings.yaml"
    yield settings
    settings.unlink(missing_ok=True)


def test_a_run_indexes_first_and_says_whether_the_index_is_of_today(
    medir: Caller, repository: Repository
) -> None:
    first = medir("golden", "run", "--index", "--fail-on", "stale", "--json")
    assert first.code == 0, first.stdout
    assert first.document["indexRun"]["mode"] == "incremental"
    assert (
        shapes.mismatches(first.document, shapes.GOLDEN_RUN | {"stale": STALE, "providerChanged": bool}) == []
    )
    assert (first.document["stale"], first.document["providerChanged"]) == (None, False)

    repository.commit({"notes.txt": "no document"})
    moved = medir("golden", "run", "--fail-on", "stale")
    assert moved.code == 0
    assert "The index is 1 commit behind the repository; no indexed text has changed." in moved.stdout

    repository.commit({"docs/nova.md": "# Nova\n\nUma página nova.\n"})
    passed = medir("golden", "run")
    assert passed.code == 0
    lines = passed.stdout.splitlines()
    assert lines[-2:] == [
        "Stale: the index is 2 commits behind the repository, and indexed text has changed since. Run: medir index",
        "Passed.",
    ]
    gated = medir("golden", "run", "--fail-on", "stale", "--json")
    assert (gated.code, gated.document["stale"]) == (1, {"commitsBehind": 2, "textChanged": True})

    again = medir("golden", "run", "--index", "--fail-on", "stale", "--json")
    assert (again.code, again.document["stale"]) == (0, None)


def test_a_run_that_indexes_first_refuses_where_votes_would_be_lost(
    medir: Caller, repository: Repository
) -> None:
    assert medir("index").code == 0
    asked = medir("search", "Uma página nova", "--json").document
    hit = next(hit for hit in asked["hits"] if hit["origin"]["sourcePath"] == "docs/nova.md")
    assert medir("vote", str(asked["searchId"]), str(hit["chunkId"]), "util").code == 0
    repository.remove("docs/nova.md")
    refused = medir("golden", "run", "--index", "--json")
    assert (refused.code, refused.document["error"]["code"]) == (2, "votesAtRisk")
    assert "medir index --yes" in refused.document["error"]["hint"]
    assert medir("index", "--yes").code == 0


def test_a_file_that_could_not_be_indexed_is_done_in_part_where_the_gate_is_met(
    medir: Caller, repository: Repository
) -> None:
    repository.commit({"docs/estranho.md": b"\x81\x8d\x8f"})
    told = medir("golden", "run", "--index")
    assert told.code == 3
    assert told.stdout.splitlines()[-1] == "Passed, but not everything is indexed (exit code 3)."
    sentence = "Not everything is indexed: 1 file could not be indexed (docs/estranho.md)."
    assert sentence in told.stderr
    file = repository.folder.parent / "part.xml"
    part = medir("golden", "run", "--index", "--junit", str(file), "--json")
    assert (part.code, part.document["error"]["code"]) == (3, "partlyIndexed")
    assert part.document["error"]["message"] == sentence
    assert [error.get("message") for error in ET.parse(file).getroot().iter("failure")] == [sentence]
    repository.remove("docs/estranho.md")
    assert medir("golden", "run", "--index").code == 0


def test_a_run_that_is_refused_names_the_case_and_leaves_no_green_junit_file(
    medir: Caller, repository: Repository, tmp_path: Path
) -> None:
    file = tmp_path / "medir.xml"
    asked = ("golden", "run", "--index", "--junit", str(file))
    assert medir(*asked).code == 0
    text = (repository.folder / "docs" / "frete.md").read_text(encoding="utf-8")
    repository.remove("docs/frete.md")
    refused = medir(*asked)
    assert refused.code == 2
    assert "case frete, expected: “docs/frete.md”" in refused.stderr
    (error,) = ET.parse(file).getroot().iter("error")
    assert error.get("message") in refused.stderr
    repository.commit({"docs/frete.md": text})
    assert medir(*asked).code == 0
    assert list(ET.parse(file).getroot().iter("error")) == []
    for more in (("--baseline", "keine"), ("--fail-on", "lost"), ("--project", "keines")):
        assert medir(*asked, *more).code == 2
        assert len(list(ET.parse(file).getroot().iter("error"))) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("golden", "run", "--trec", ""),
        ("golden", "run", "--junit", ""),
        ("golden", "run", "--cases", ""),
        ("golden", "lint", "--cases", ""),
        ("rag", "--html", ""),
        ("project", "add", "p", "--repo", ""),
        ("project", "set", "--golden", ""),
        ("db", "dump", ""),
        ("db", "restore", ""),
        ("sessions", "import", ""),
    ],
)
def test_an_empty_path_is_wrong_use(medir: Caller, arguments: tuple[str, ...]) -> None:
    refused = medir(*arguments, "--json")
    assert (refused.code, refused.document["error"]["code"]) == (2, "usage")
    assert refused.document["error"]["message"].endswith("The path is empty.")


def test_settings_are_written_to_be_committed_and_told_where_they_differ(medir: Caller, file: Path) -> None:
    assert medir("settings", "adopt", "--write", "--reason", "nada").code == 2
    adopted = medir("settings", "adopt", "--weight-vector", "0.25", "--write", "--reason", "medido", "--json")
    assert adopted.code == 0, adopted.stdout
    assert adopted.document["written"] == {
        "file": str(file),
        "written": True,
        "reason": None,
        "text": file.read_text(encoding="utf-8"),
    }
    run = medir("golden", "run", "--json").document
    assert (run["settings"]["source"], run["settings"]["weightVector"]) == ("committed", 0.25)
    assert "settingsDiffer" not in run
    shown = medir("settings", "show", "--json").document
    assert {"settings", "adoptedBy", "adoptedAt", "reason"} <= set(shown)
    assert "differs" not in shown
    sound = {check["name"]: check for check in medir("doctor", "--json").document["checks"]}
    assert sound["settings entrega"]["ok"] is True

    file.write_text("weightVector: 0.5\nlimits: {useful: 0.6}\n")
    differ = medir("settings", "show", "--json").document
    assert differ["differs"] == ["weightVector", "weightLexical"]
    assert (differ["settings"]["weightVector"], differ["committed"]["settings"]["weightVector"]) == (
        0.25,
        0.5,
    )
    assert differ["committed"]["limits"] == {"useful": 0.6, "p95Ms": None, "noHit": None}
    sentence = "weightVector is 0.25 adopted and 0.5 in the file"
    people = medir("settings", "show").stdout
    assert sentence in people
    assert "vector 0.25" in people
    assert "vector 0.5" in people
    told = medir("golden", "run").stdout
    assert sentence in told
    assert told.splitlines()[-2].endswith("This run took the committed ones.")
    in_force = medir("golden", "run", "--in-force", "--json").document
    assert in_force["settings"]["source"] == "adopted"
    checks = medir("doctor", "--json")
    check = next(check for check in checks.document["checks"] if check["name"] == "settings entrega")
    assert (checks.code, check["ok"]) == (2, False)
    assert sentence in check["found"]
    refused = medir("golden", "raise-floor", "--reason", "mais", "--json")
    assert refused.code == 2
    assert sentence in refused.document["error"]["message"]
    assert medir("settings", "adopt", "--committed", "--reason", "revisto").code == 0
    assert "differs" not in medir("settings", "show", "--json").document


def test_a_faulty_file_is_2_with_file_line_and_field_and_a_search_says_so(medir: Caller, file: Path) -> None:
    file.write_text("limit: 5\nthreshold: alto\n")
    for verb in (("golden", "run"), ("golden", "lint"), ("calibrate",), ("baseline", "freeze", "v9")):
        refused = medir(*verb, "--json")
        assert refused.code == 2
        assert refused.document["error"]["where"] == {"file": str(file), "line": 2, "field": "threshold"}
    assert json.loads(medir("search", "frete", "--json").stdout)["settingsProblem"].startswith(
        "settings.yaml, line 2"
    )
    assert "settings.yaml, line 2, threshold" in medir("search", "frete").stdout
    assert "settings.yaml is not heeded." in medir("settings", "show").stdout
    check = next(
        check for check in medir("doctor", "--json").document["checks"] if check["name"] == "settings entrega"
    )
    assert check["ok"] is False
    assert f"{file}, line 2, threshold" in check["found"]


def test_where_the_file_can_not_be_written_the_text_is_printed(
    medir: Caller, file: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.git"
    Repository(tmp_path / "other").git("clone", "--quiet", "--bare", ".", str(bare))
    for verb in (("project", "add", "nua", "--repo", str(bare)), ("index", "--project", "nua")):
        assert medir(*verb).code == 0
    told = medir(
        "settings", "adopt", "--project", "nua", "--weight-vector", "0.25", "--write", "--reason", "medido"
    )
    assert told.code == 0
    assert "Commit this as settings.yaml beside the golden cases:" in told.stdout
    text = told.stdout[told.stdout.index("# Adopted on") :]
    assert "weightVector: 0.25\n" in text
    assert (
        medir("settings", "show", "--project", "nua", "--json").document["settings"]["weightVector"] == 0.25
    )
    assert medir("project", "remove", "nua", "--yes").code == 0
