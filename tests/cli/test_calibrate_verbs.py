"""Baselines, settings and calibrations from the command line: shapes, exit codes, and numbers that a script checks."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import shapes
from command_line import Caller, Installation

from material import CASES, Repository
from medir.contract.baselines import BaselineAnswer
from rag_core.database.connections import Database
from rag_core.database.runs import recent_runs
from rag_core.model import Candidate, CandidateSet, Origin, Place, RankingSettings, Scope
from rag_core.ranking.ranking import rank

WITH_FOREIGN = (
    CASES + "  - id: vulcao\n    question: Qual vulcão islandês entrou em erupção?\n    no_answer: true\n"
)
TURNED = ({"won": [str], "lost": [str]}, None)
COMPARISON = {
    "name": str,
    "comparable": bool,
    "differs": [str],
    "won": ([str], None),
    "lost": ([str], None),
    "new": [str],
    "gone": [str],
    "changed": [str],
    "reason?": str,
    "lostBecause?": [
        {
            "id": str,
            "what": str,
            "path": shapes.TEXT_OR_NULL,
            "commit": shapes.TEXT_OR_NULL,
            "sentence": str,
        }
    ],
    "effects": {"settings": TURNED, "index": TURNED},
}
IN_FORCE = {
    "settings": dict,
    "adoptedBy": shapes.TEXT_OR_NULL,
    "adoptedAt": shapes.TEXT_OR_NULL,
    "reason": shapes.TEXT_OR_NULL,
    "madeFor": shapes.TEXT_OR_NULL,
}
PIECE = {
    "from": shapes.NUMBER,
    "to": shapes.NUMBER,
    "threshold": [shapes.NUMBER_OR_NULL],
    "value": shapes.NUMBER,
}
FUNCTIONS = {
    "weights": [{"from": shapes.NUMBER, "to": shapes.NUMBER, "value": shapes.NUMBER}],
    "thresholds": [{"from": shapes.NUMBER_OR_NULL, "to": shapes.NUMBER_OR_NULL, "value": shapes.NUMBER}],
    "ceilings": [{"id": str, "below?": bool, "pieces": [PIECE]}],
}
CALIBRATION = {
    "settings": dict,
    "baseline": shapes.TEXT_OR_NULL,
    "cases": int,
    "metrics": {"passed": FUNCTIONS, "rejected": FUNCTIONS, "hit@5": FUNCTIONS, "mrr": FUNCTIONS},
    "safe": {"weight": [[shapes.NUMBER]], "threshold": [[shapes.NUMBER_OR_NULL]]},
    "proposal": {
        "settings": dict,
        "verdict": ("keep", "adopt"),
        "reason": str,
        "metric": str,
        "heldOut": {"value": shapes.NUMBER, "low": shapes.NUMBER, "high": shapes.NUMBER, "n": int},
        "optimism": shapes.NUMBER_OR_NULL,
        "detectable": {"cases": int, "points": shapes.NUMBER},
        "rivals": [dict],
    },
}


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("golden") / "cases.yaml"
    file.write_text(WITH_FOREIGN, encoding="utf-8")
    return file


@pytest.fixture
def medir(
    installation: Installation, repository: Repository, medir_verb: Caller, cases: Path
) -> Iterator[Caller]:
    """The project `entrega`, indexed, with a baseline `antes` of four cases."""
    if medir_verb("project", "show", "--project", "entrega", "--json").code:
        assert medir_verb("project", "add", "entrega", "--repo", str(repository.folder), "--json").code == 0
        assert medir_verb("index", "--project", "entrega", "--json").code == 0
        assert medir_verb("baseline", "freeze", "antes", "--cases", str(cases), "--json").code == 0
    yield medir_verb
    cases.write_text(WITH_FOREIGN, encoding="utf-8")


def frozen_candidates(shown: dict) -> dict[str, CandidateSet]:
    """The candidates of each case, from nothing but what `baseline show --json` printed."""
    return {
        entry["id"]: CandidateSet(
            candidates=tuple(
                Candidate(
                    chunk_id=each["chunkId"],
                    scope=Scope(each["scope"]),
                    origin=Origin(place=Place.parse(each["origin"]["sourcePath"])),
                    ordinal=each["ordinal"],
                    content_hash=each["contentHash"],
                    vector_score=each["vectorScore"],
                    lexical_score=each["lexicalScore"],
                    vector_rank=each["vectorRank"],
                    lexical_rank=each["lexicalRank"],
                )
                for each in entry["candidates"]
            ),
            vector_available=entry["vectorAvailable"],
            degraded=entry["degraded"],
            degraded_reason=None,
            searchable_terms=1,
        )
        for entry in shown["candidates"]
    }


def share_passed(shown: dict, settings: dict, *, weight: float, threshold: float | None) -> float:
    """What ranking itself gives."""
    numbers = RankingSettings(
        weight_vector=weight,
        weight_lexical=1.0 - weight,
        threshold=threshold,
        candidates_per_signal=settings["candidatesPerSignal"],
        max_per_file=settings["maxPerFile"],
        limit=settings["limit"],
    )
    candidates = frozen_candidates(shown)
    passed = []
    for case in shown["run"]["cases"]:
        places = [str(hit.candidate.origin.place) for hit in rank(candidates[case["id"]], numbers).hits]
        passed.append(bool(set(places) & set(case["expected"])) if case["expected"] else not places)
    return sum(passed) / len(passed)


def value_at(pieces: list[dict], x: float) -> float:
    return next(
        piece["value"]
        for piece in pieces
        if piece["from"] == piece["to"] == x or piece["from"] < x < piece["to"]
    )


def value_of_map(ceilings: list[dict], weight: float, threshold: float) -> float:
    """The contract's rule for the map, word for word."""
    total = 0.0
    for case in ceilings:
        for piece in case["pieces"]:
            low, high = piece["from"], piece["to"]
            if not (low == high == weight or low < weight < high):
                continue
            t0, t1 = piece["threshold"]
            if t0 is None:
                total += piece["value"]
                continue
            line = t0 if low == high else t0 + (weight - low) / (high - low) * (t1 - t0)
            total += piece["value"] * ((line < threshold) if case.get("below") else (line >= threshold))
    return total / len(ceilings)


def test_a_calibration_has_the_contracts_shape_and_is_recorded_as_a_run(
    medir: Caller, cases: Path, module_database: Database
) -> None:
    ended = medir("calibrate", "--cases", str(cases), "--resamples", "20", "--json")
    assert ended.code == 0
    told = ended.document
    assert shapes.mismatches(told, CALIBRATION) == []
    assert (told["cases"], told["baseline"], told["proposal"]["metric"]) == (4, None, "passed")
    with module_database.connection() as connection:
        (kept, *_) = recent_runs(connection, "entrega", "calibration", count=1)
        (searches,) = connection.execute("select count(*) from rag_searches").fetchone() or ()
    assert (kept.state, kept.parameters["resamples"]) == ("done", 20)
    assert kept.result is not None
    assert kept.result["proposal"] == told["proposal"]
    assert searches == 0
    again = medir("calibrate", "--cases", str(cases), "--resamples", "20", "--json")
    assert again.stdout == ended.stdout


def test_on_a_handful_of_cases_the_verdict_is_keep_and_says_that_the_set_can_not_tell(
    medir: Caller, cases: Path
) -> None:
    ended = medir("calibrate", "--cases", str(cases), "--resamples", "5")
    assert ended.code == 0
    first = ended.stdout.splitlines()[0]
    assert first.startswith("Keep: the set can't tell")
    assert ended.stdout.count("This set can never decide") == 1
    assert "Detectable difference: 6 cases won and none lost. Can be won: " in ended.stdout
    for said in ("Detectable difference: 6 cases", "Weights at which nothing is lost", "weighted sum", "rrf"):
        assert said in ended.stdout


def test_a_script_that_knows_the_contract_alone_finds_every_number_right(medir: Caller, cases: Path) -> None:
    # the preset's numbers over candidates of the lexical way that `antes` was frozen in
    way = ("--lexical-function", "bm25", "--title-weight", "0.5")
    given = ("--threshold", "0.12", "--preset", "seeds", *way, "--cases", str(cases))
    told = medir("calibrate", *given, "--resamples", "1", "--json").document
    shown = medir("baseline", "show", "antes", "--cases", str(cases), "--json").document
    settings, found = told["settings"], told["metrics"]["passed"]
    ends = [piece["from"] for piece in found["weights"] if piece["from"] == piece["to"]]
    middles = [(piece["from"] + piece["to"]) / 2 for piece in found["weights"]]
    random = np.random.default_rng(0)
    for weight in {*ends, *middles, *random.random(100).tolist()}:
        live = share_passed(shown, settings, weight=weight, threshold=0.12)
        assert value_at(found["weights"], weight) == pytest.approx(live)
    steps = found["thresholds"]
    for threshold in [*[step["to"] for step in steps[:-1]], *random.uniform(-0.1, 0.7, 50).tolist()]:
        live = share_passed(shown, settings, weight=0.6, threshold=threshold)
        covering = next(
            step
            for step in steps
            if (step["from"] is None or step["from"] < threshold)
            and (step["to"] is None or threshold <= step["to"])
        )
        assert covering["value"] == pytest.approx(live)
    for weight, threshold in random.uniform((0, -0.1), (1, 0.7), (200, 2)).tolist():
        live = share_passed(shown, settings, weight=weight, threshold=threshold)
        assert value_of_map(found["ceilings"], weight, threshold) == pytest.approx(live)
    assert len({step["value"] for step in steps}) > 1


def test_rrf_has_no_weights_and_is_calibrated_all_the_same(medir: Caller, cases: Path) -> None:
    told = medir("calibrate", "--fusion", "rrf", "--cases", str(cases), "--resamples", "1", "--json").document
    assert shapes.mismatches(told, CALIBRATION) == []
    assert len({piece["value"] for piece in told["metrics"]["passed"]["weights"]}) == 1


def test_weighted_rrf_is_calibrated_at_its_k_and_stands_among_the_rivals_once_with_the_best(
    medir: Caller, cases: Path
) -> None:
    told = medir(
        "calibrate",
        "--fusion",
        "weightedRrf",
        "--rrf-k",
        "2",
        "--cases",
        str(cases),
        "--resamples",
        "1",
        "--json",
    ).document
    assert shapes.mismatches(told, CALIBRATION) == []
    assert (told["settings"]["fusion"], told["settings"]["rrfK"]) == ("weightedRrf", 2)
    (rival,) = [each for each in told["proposal"]["rivals"] if each["name"] == "weightedRrf"]
    assert rival["rrfK"] in (1, 2, 10, 60)
    assert all(
        ("rrfK" in each) == (each["fusion"] in ("rrf", "weightedRrf")) for each in told["proposal"]["rivals"]
    )


def test_the_cases_of_a_named_baseline_are_those_not_to_be_lost(medir: Caller, cases: Path) -> None:
    strict = ("--cases", str(cases), "--resamples", "1", "--threshold", "0.99", "--json")
    today = medir("calibrate", *strict).document
    assert today["safe"]["weight"] != []
    against = medir("calibrate", "--baseline", "antes", *strict).document
    assert against["baseline"] == "antes"
    assert against["safe"]["weight"] == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--metric", "accuracy"), "There is no measure"),
        (("--wrong-citation-price", "-1"), "price"),
        (("--wrong-citation-price", "nan"), "price"),
        (("--resamples", "0"), "resamples"),
        (("--seed", "-1"), "seed"),
        (("--baseline", "nenhuma"), "no baseline 'nenhuma'"),
    ],
)
def test_what_can_not_be_calibrated_is_refused_before_any_work(
    medir: Caller, cases: Path, given: tuple[str, ...], said: str
) -> None:
    ended = medir("calibrate", "--cases", str(cases), *given, "--json")
    assert ended.code == 2
    assert said in ended.document["error"]["message"]


def test_a_run_against_a_baseline_fails_on_a_lost_case_only_when_asked_to(medir: Caller, cases: Path) -> None:
    run = ("golden", "run", "--cases", str(cases), "--baseline", "antes")
    cases.write_text(
        WITH_FOREIGN.replace("floor: 3", "floor: 0").replace("must_pass: true", "note: a"), "utf-8"
    )
    same = medir(*run, "--fail-on", "lost", "--json")
    assert same.code == 0
    assert shapes.mismatches(same.document["baseline"], COMPARISON) == []
    assert same.document["baseline"]["comparable"] is True
    strict = (*run, "--threshold", "0.99", "--json")
    assert medir(*strict).code == 0
    lost = medir(*strict, "--fail-on", "lost")
    assert lost.code == 1
    assert set(lost.document["baseline"]["lost"]) == {"frete", "motorista", "fila"}
    said = "Lost since the baseline antes: frete, motorista, fila."
    assert (lost.document["error"]["code"], lost.document["error"]["message"]) == ("gateNotMet", said)
    assert said in lost.stderr
    because = {told["id"]: told for told in lost.document["baseline"]["lostBecause"]}
    assert set(because) == {"frete", "motorista", "fila"}
    assert because["fila"]["what"] == "settings"
    assert because["fila"]["sentence"].startswith("The settings changed: threshold 0.99 (was ")


def test_a_run_on_other_ground_shows_the_parts_and_exits_with_the_floors_code_or_2(
    medir: Caller, cases: Path
) -> None:
    run = ("golden", "run", "--cases", str(cases), "--baseline", "antes", "--json")
    cases.write_text(WITH_FOREIGN.replace("limit: 5", "limit: 3"), encoding="utf-8")
    met = medir(*run)
    assert met.code == 0
    told = met.document["baseline"]
    assert shapes.mismatches(told, COMPARISON) == []
    assert (told["comparable"], told["won"], told["lost"], told["differs"]) == (False, None, None, ["limit"])
    assert medir(*run, "--threshold", "0.99").code == 1
    apart = medir(*run, "--fail-on", "lost")
    assert (apart.code, apart.document["error"]["code"]) == (2, "notComparable")
    assert "the limit is 3, and was 5 in antes" in apart.document["error"]["message"]
    # the floor is judged first, and its 1 is not hidden
    assert medir(*run, "--fail-on", "lost", "--threshold", "0.99").code == 1
    assert medir("golden", "run", "--cases", str(cases), "--fail-on", "lost", "--json").code == 2


def test_baselines_are_listed_shown_verified_and_compared_and_never_overwritten(
    medir: Caller, cases: Path
) -> None:
    beside = ("--cases", str(cases), "--json")
    taken = medir("baseline", "freeze", "antes", *beside)
    assert (taken.code, taken.document["error"]["code"]) == (2, "refused")
    shown = medir("baseline", "show", "antes", *beside).document
    assert shown["name"] == "antes"
    assert shapes.mismatches(shown, BaselineAnswer) == []
    sound = medir("baseline", "verify", "antes", *beside)
    assert (sound.code, sound.document) == (0, {"name": "antes", "valid": True, "reason": None})
    cases.write_text(WITH_FOREIGN.replace("limit: 5", "limit: 3"), encoding="utf-8")
    assert medir("baseline", "freeze", "menos", *beside).code == 0
    apart = medir("baseline", "diff", "antes", "menos", *beside)
    assert (apart.code, apart.document["comparable"]) == (2, False)
    assert "the limit is 3, and was 5 in antes" in apart.document["error"]["message"]
    assert medir("baseline", "diff", "antes", "antes", *beside).code == 0
    file = cases.parent / "baselines" / "menos.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"limit":3', '"limit":4'), encoding="utf-8")
    listed = medir("baseline", "list", *beside)
    assert listed.code == 0
    assert [(each["name"], each["valid"]) for each in listed.document["baselines"]] == [
        ("antes", True),
        ("menos", False),
    ]
    broken = medir("baseline", "verify", "menos", *beside)
    assert (broken.code, broken.document["valid"]) == (2, False)
    assert "menos" in broken.document["reason"]
    refused = medir("golden", "run", "--baseline", "menos", *beside)
    assert (refused.code, refused.document["error"]["code"]) == (2, "invalidInput")
    file.unlink()


def test_a_run_is_exported_for_trec_and_for_build_servers(medir: Caller, cases: Path, tmp_path: Path) -> None:
    run, xml = tmp_path / "run.txt", tmp_path / "golden.xml"
    given = ("golden", "run", "--cases", str(cases), "--trec", str(run), "--junit", str(xml))
    assert medir(*given, "--json").code == 0
    lines = [line.split() for line in run.read_text(encoding="utf-8").splitlines()]
    assert all(len(line) == 6 for line in lines)
    assert ["frete", "0", "docs/frete.md", "1"] in [
        line.split() for line in (tmp_path / "run.txt.qrels").read_text(encoding="utf-8").splitlines()
    ]
    assert xml.read_text(encoding="utf-8").startswith("<?xml")
    nowhere = medir("golden", "run", "--cases", str(cases), "--trec", str(tmp_path / "x" / "run"), "--json")
    assert nowhere.code == 2


def test_settings_are_shown_adopted_for_a_reason_and_remembered(medir: Caller) -> None:
    project = ("--project", "entrega", "--json")
    before = medir("settings", "show", *project).document
    assert shapes.mismatches(before, IN_FORCE) == []
    assert before["adoptedBy"] is None
    assert medir("settings", "adopt", "--weight-vector", "0.3", *project).code == 2
    assert medir("settings", "adopt", "--reason", "porque sim", *project).code == 2
    adopted = medir("settings", "adopt", "--weight-vector", "0.25", "--reason", "medido", *project)
    assert adopted.code == 0
    assert adopted.document["settings"]["weightVector"] == 0.25
    assert medir("settings", "show", *project).document == adopted.document
    history = medir("settings", "history", *project).document["history"]
    assert [decision["reason"] for decision in history] == ["medido"]
    answer = medir("search", "Quando o frete é calculado?", *project).document
    assert (answer["settings"]["source"], answer["settings"]["weightVector"]) == ("adopted", 0.25)
    assert json.loads(json.dumps(history[0])) == adopted.document


def test_the_gate_answers_after_every_commit_and_names_a_lost_case_that_must_pass_first(
    medir: Caller, cases: Path, repository: Repository
) -> None:
    run = ("golden", "run", "--project", "entrega", "--cases", str(cases), "--baseline", "antes")
    cases.write_text(WITH_FOREIGN.replace("floor: 3", "floor: 1"), encoding="utf-8")
    kept = (repository.folder / "docs/motorista.md").read_text(encoding="utf-8")
    repository.commit({"docs/novo.md": "# Novo\n\nUma página sobre balanças.\n"})
    assert medir("index", "--project", "entrega", "--json").code == 0
    other = medir(*run, "--fail-on", "lost", "--json")
    assert (other.code, other.document["baseline"]["lost"]) == (0, [])
    assert "index" in other.document["baseline"]["differs"]
    # five pages take the place of the one whose text is gone
    rivals = {
        f"docs/app-{number}.md": f"# Rede {number}\n\nO aplicativo do motorista funciona sem rede.\n"
        for number in range(5)
    }
    taken = repository.commit({**rivals, "docs/motorista.md": "# Motorista\n\nA balança pesa a carga.\n"})
    assert medir("index", "--project", "entrega", "--json").code == 0
    try:
        lost = medir(*run, "--fail-on", "lost", "--json", "--limit", "1")
        # another limit can't be compared, and the floor's 1 is not hidden by that
        assert lost.code == 1
        assert lost.document["error"]["message"].startswith("Must pass, and fails: motorista. ")
        assert "can't be said: the limit is 1, and was 5" in lost.document["error"]["message"]
        lost = medir(*run, "--fail-on", "lost")
        assert lost.code == 1
        first = lost.stderr.splitlines()[0]
        assert first == "Must pass, and fails: motorista."
        assert "Lost since the baseline antes: motorista (must pass)" in lost.stderr
        assert f"which was found, is another one, since commit {taken[:12]}." in lost.stdout
        explained = medir(
            "golden", "explain", "motorista", "--project", "entrega", "--cases", str(cases), "--baseline",
            "antes", "--json",
        ).document  # fmt: skip
        assert explained["passedIn"] == "the baseline antes"
        assert explained["lostBecause"][0]["what"] == "textChanged"
        assert [remedy["kind"] for remedy in explained["remedies"]] == ["text"]
        assert taken[:12] in explained["remedies"][0]["sentence"]
    finally:
        repository.commit({"docs/motorista.md": kept})
        for added in (*rivals, "docs/novo.md"):
            repository.remove(added)
        assert medir("index", "--project", "entrega", "--json").code == 0
