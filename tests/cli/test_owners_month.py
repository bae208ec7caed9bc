"""An owner's month on two machines: what the gate says at each step, and that both say the same.

The tests are the steps of one month, in order; each goes on from the one before it. Ana owns the golden set. Bruno's
machine pulls what she pushes, and is a pipeline too: there the gate is a process of its own.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import month_material as library
import pytest
from command_line import Caller, Installation, Outcome
from month_material import Machine, told

from bag_of_words import bag
from material import Repository, WorkingTree
from ollama_server import OllamaServer
from rag_core.database.server.server import EmbeddedServer

MODEL = "nomic-embed-text:latest"
CASES_FILE = "golden_set/cases.yaml"
SETTINGS_FILE = "golden_set/settings.yaml"
GATE = ("golden", "run", "--index", "--baseline", "v1", "--fail-on", "lost")


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What a machine is made of."""

    clone: WorkingTree
    installation: Installation


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """Both machines, and the Ollama that both ask."""

    ollama: OllamaServer
    ana: Desk
    bruno: Desk
    commits: dict[str, str]


@pytest.fixture(scope="module")
def month(open_homes: Callable[[], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Month]:
    folder = tmp_path_factory.mktemp("month")
    ana = Repository(folder / "ana", {**library.DOCUMENTS, CASES_FILE: library.CASES})
    ana.git("clone", "--quiet", "--bare", str(ana.folder), str(folder / "origin.git"))
    ana.git("remote", "add", "origin", str(folder / "origin.git"))
    ana.git("clone", "--quiet", str(folder / "origin.git"), str(folder / "bruno"))
    with OllamaServer() as ollama:
        # another digest is another model: its vectors point elsewhere
        ollama.vector = lambda text, _: bag(text.partition(": ")[2], ollama.models[MODEL])
        desks = [
            _desk(clone, home=open_homes(), ollama=ollama) for clone in (ana, WorkingTree(folder / "bruno"))
        ]
        yield Month(ollama=ollama, ana=desks[0], bruno=desks[1], commits={})


def _desk(clone: WorkingTree, *, home: Path, ollama: OllamaServer) -> Desk:
    environment = {"MEDIR_EMBEDDING": "ollama", "OLLAMA_HOST": ollama.host}
    installation = Installation(home=home, environment=environment)
    EmbeddedServer(home).keep()
    for arguments in (("project", "add", "Bibliotecas", "--repo", str(clone.folder)), ("index",)):
        done = installation.execute(*arguments)
        assert done.code == 0, done.stderr
    return Desk(clone=clone, installation=installation)


@pytest.fixture
def ana(month: Month, capsys: pytest.CaptureFixture[str]) -> Machine:
    return Machine(clone=month.ana.clone, medir=Caller(month.ana.installation, capsys))


@pytest.fixture
def bruno(month: Month, capsys: pytest.CaptureFixture[str]) -> Machine:
    return Machine(clone=month.bruno.clone, medir=Caller(month.bruno.installation, capsys))


@pytest.fixture
def on_both(month: Month, ana: Machine, bruno: Machine) -> Callable[..., Outcome]:
    """Runs a verb on both machines, which must end alike and tell the same; returns what Ana's said."""

    def run(*arguments: str) -> Outcome:
        bruno.pull()
        here = ana.medir(*arguments, "--json")
        as_pipeline = arguments[: len(GATE)] == GATE
        there = (month.bruno.installation.execute if as_pipeline else bruno.medir)(*arguments, "--json")
        assert here.code == there.code, (here.stdout, there.stdout)
        assert told(here.document) == told(there.document)
        return here

    return run


def test_numbers_are_adopted_into_a_file_and_the_floor_rises_to_what_passes_under_them(ana: Machine) -> None:
    first = ana.medir("golden", "run", "--json")
    assert (first.code, first.document["passed"], first.document["floor"]) == (0, 9, 0)
    assert failing(first) == ["malote"]

    adopted = ana.medir(
        "settings", "adopt", "--threshold", "0.08", "--reason", "O malote ficava de fora", "--write"
    )
    assert adopted.code == 0, adopted.stderr
    assert "threshold: 0.08" in (ana.clone.folder / SETTINGS_FILE).read_text(encoding="utf-8")
    second = ana.medir("golden", "run", "--json")
    assert (second.code, second.document["passed"]) == (0, 10)
    assert settings(second)["threshold"] == 0.08

    raised = ana.medir("golden", "raise-floor", "--reason", "Tudo passa", "--json")
    assert (raised.code, raised.document["from"], raised.document["to"]) == (0, 0, 10)
    assert ana.medir("baseline", "freeze", "v1").code == 0
    ana.share("Números, piso e primeira referência")


def test_another_machine_judges_by_the_same_numbers_that_it_pulled(
    on_both: Callable[..., Outcome], bruno: Machine
) -> None:
    gate = on_both(*GATE)
    assert (gate.code, gate.document["passed"], gate.document["floor"]) == (0, 10, 10)
    assert (settings(gate)["source"], settings(gate)["threshold"]) == ("committed", 0.08)
    assert (compared(gate)["comparable"], compared(gate)["lost"]) == (True, [])
    shown = bruno.medir("settings", "show", "--json").document
    assert shown["settings"]["source"] == "committed"
    # the floor holds under the committed numbers only, and a trial of others is red on both
    trial = on_both("golden", "run", "--preset", "seeds")
    assert (trial.code, trial.document["passed"], trial.document["trial"]) == (1, 9, True)


def test_edited_documents_lose_nothing_and_an_index_behind_them_is_said(
    ana: Machine, bruno: Machine, on_both: Callable[..., Outcome]
) -> None:
    ana.edit("docs/salas.md", old="vale duas horas", new="vale três horas e pode ser renovada")
    ana.edit("docs/adr/0004-horarios.md", old="vinte horas", new="vinte e uma horas")
    ana.share("Salas por três horas")

    behind = on_both("golden", "run", "--baseline", "v1", "--fail-on", "lost")
    assert behind.code == 0
    assert behind.document["stale"] == {"commitsBehind": 1, "textChanged": True}
    assert behind.document["providerChanged"] is False
    red = bruno.medir("golden", "run", "--fail-on", "stale")
    assert (red.code, "1 commit behind" in red.stdout) == (1, True)
    assert on_both("golden", "run", "--baseline", "v1", "--fail-on", "lost", "--fail-on", "stale").code == 1

    mended = on_both(*GATE, "--fail-on", "stale")
    assert (mended.code, mended.document["stale"]) == (0, None)
    assert {"index", "commit"} <= set(compared(mended)["differs"])
    assert (compared(mended)["comparable"], compared(mended)["lost"]) == (True, [])


def test_new_cases_are_named_and_hold_nothing_up(ana: Machine, on_both: Callable[..., Outcome]) -> None:
    file = ana.clone.folder / CASES_FILE
    file.write_text(file.read_text(encoding="utf-8") + library.NEW_CASES, encoding="utf-8")
    ana.share("Dois casos novos")
    gate = on_both(*GATE)
    assert (gate.code, gate.document["passed"], gate.document["total"]) == (0, 12, 12)
    assert (compared(gate)["new"], compared(gate)["gone"], compared(gate)["lost"]) == (
        ["doacoes", "copias"],
        [],
        [],
    )


def test_a_case_whose_answer_was_deleted_is_lost_by_name_with_file_and_commit(
    month: Month, ana: Machine, bruno: Machine, on_both: Callable[..., Outcome], tmp_path: Path
) -> None:
    ana.edit("docs/multas.md", old=library.FINE_ANSWER, new="")
    month.commits["multa"] = ana.share("Enxuga as multas")
    # one more edit, so that the commit that is named is not merely the last
    ana.edit("docs/cadastro.md", old="recente", new="de residência")
    ana.share("Comprovante de residência")

    junit = tmp_path / "junit.xml"
    gate = on_both(*GATE, "--junit", str(junit))
    # the floor of 10 is met: it is the lost case alone that makes it red
    assert (gate.code, gate.document["passed"], compared(gate)["lost"]) == (1, 11, ["multa"])
    assert "multa" in failures_in(junit)
    assert on_both("golden", "run").code == 0

    for said in (
        everything_said(bruno.medir(*GATE)),
        everything_said(ana.medir("golden", "explain", "multa", "--baseline", "v1")),
    ):
        assert "multa" in said
        assert "docs/multas.md" in said
        assert month.commits["multa"][:7] in said
        # no number brings back a text that is gone
        assert "passes with" not in said

    assert ana.medir("baseline", "freeze", "sem-multa").code == 0
    diff = ana.medir("baseline", "diff", "v1", "sem-multa", "--json")
    assert (diff.code, diff.document["lost"], diff.document["new"]) == (1, ["multa"], ["doacoes", "copias"])
    (ana.clone.folder / "golden_set/baselines/sem-multa.json").unlink()


def test_a_lost_must_pass_case_is_named_first_and_nothing_hides_it(
    month: Month, ana: Machine, bruno: Machine, on_both: Callable[..., Outcome]
) -> None:
    ana.edit("docs/predio.md", old=library.FIRE_ANSWER, new="")
    month.commits["incendio"] = ana.share("Enxuga o prédio")
    gate = on_both(*GATE)
    assert (gate.code, gate.document["passed"], gate.document["floor"]) == (1, 10, 10)
    assert compared(gate)["lost"] == ["multa", "incendio"]
    assert gate.document["lostMustPass"] == ["incendio"]
    assert on_both("golden", "run").code == 1

    said = everything_said(bruno.medir(*GATE))
    verdict = said[said.index("pass, floor") :]
    assert verdict.index("incendio") < verdict.index("multa")
    assert month.commits["incendio"][:7] in verdict

    with other_limit(ana) as cases:
        incomparable = ana.medir(*GATE, "--cases", str(cases), "--json")
    assert (incomparable.code, compared(incomparable)["comparable"]) == (1, False)


def test_mended_documents_make_it_green_again(
    month: Month, ana: Machine, on_both: Callable[..., Outcome]
) -> None:
    for case in ("incendio", "multa"):
        ana.clone.git("revert", "--no-edit", month.commits[case])
    ana.share("As respostas voltam")
    gate = on_both(*GATE)
    assert (gate.code, gate.document["passed"], gate.document["lostMustPass"]) == (0, 12, [])
    assert (compared(gate)["won"], compared(gate)["lost"]) == ([], [])


def test_under_another_limit_nobody_can_say_and_the_gate_says_why(ana: Machine) -> None:
    with other_limit(ana) as cases:
        held = ana.medir(*GATE, "--cases", str(cases), "--json")
        said = everything_said(ana.medir(*GATE, "--cases", str(cases)))
    assert held.code == 2
    assert (compared(held)["comparable"], compared(held)["won"], compared(held)["lost"]) == (
        False,
        None,
        None,
    )
    assert "limit" in compared(held)["differs"]
    assert "limit" in said


def test_a_retired_case_is_named_and_is_no_loss(ana: Machine, on_both: Callable[..., Outcome]) -> None:
    text = (ana.clone.folder / CASES_FILE).read_text(encoding="utf-8")
    case = text[text.index("  - id: bibliobus") : text.index("  - id: catalogo")]
    ana.edit(CASES_FILE, old=case, new="")
    ana.share("O bibliobus parou")
    gate = on_both(*GATE)
    assert (gate.code, gate.document["passed"], gate.document["total"]) == (0, 11, 11)
    assert (compared(gate)["gone"], compared(gate)["lost"]) == (["bibliobus"], [])


def test_a_floor_lowered_by_hand_is_refused_and_lint_sees_it_too(
    ana: Machine, bruno: Machine, on_both: Callable[..., Outcome]
) -> None:
    ana.edit(CASES_FILE, old="floor: 10", new="floor: 9")
    ana.share("Um piso mais baixo")
    run = on_both("golden", "run")
    assert (run.code, run.document["passed"], run.document["floor"]) == (1, 11, 9)
    history = run.document["floorHistory"]
    assert history["highest"] == 10
    assert history["commit"][:7] in everything_said(bruno.medir("golden", "run"))
    linted = bruno.medir("golden", "lint", "--json")
    assert linted.code != 0
    assert "floor" in [fault["field"] for fault in linted.document["faults"]]

    ana.edit(CASES_FILE, old="floor: 9", new="floor: 10")
    ana.share("O piso volta")
    assert on_both(*GATE).code == 0
    assert on_both("golden", "lint").code == 0


def test_numbers_changed_in_one_database_only_are_told_beside_the_files(
    ana: Machine, bruno: Machine, on_both: Callable[..., Outcome]
) -> None:
    adopted = bruno.medir("settings", "adopt", "--threshold", "0.2", "--reason", "Só aqui")
    assert adopted.code == 0, adopted.stderr
    gate = bruno.medir(*GATE)
    assert gate.code == 0
    shown = bruno.medir("settings", "show")
    doctor = bruno.medir("doctor")
    for outcome in (gate, shown, doctor):
        assert "0.08" in everything_said(outcome)
        assert "0.2" in everything_said(outcome)
    # the file is what both judge by; what is in force in one database can be judged too
    by_file = [machine.medir("golden", "run", "--json") for machine in (ana, bruno)]
    assert [settings(run)["source"] for run in by_file] == ["committed", "committed"]
    assert [run.document["passed"] for run in by_file] == [11, 11]
    in_force = bruno.medir("golden", "run", "--in-force", "--json")
    assert (settings(in_force)["source"], settings(in_force)["threshold"]) == ("adopted", 0.2)
    assert failing(in_force) == ["malote"]
    refused = bruno.medir("golden", "raise-floor", "--reason", "Onze passam")
    assert refused.code == 2
    assert all(number in refused.stderr for number in ("0.08", "0.2"))
    assert "floor: 10" in (bruno.clone.folder / CASES_FILE).read_text(encoding="utf-8")

    assert bruno.medir("settings", "adopt", "--threshold", "0.08", "--reason", "Como no arquivo").code == 0
    raised = bruno.medir("golden", "raise-floor", "--reason", "Onze passam", "--json")
    assert (raised.code, raised.document["to"]) == (0, 11)
    bruno.clone.git("checkout", "--", CASES_FILE)
    assert ana.medir("golden", "raise-floor", "--reason", "Onze passam").code == 0
    ana.share("O piso sobe a onze")
    assert on_both(*GATE).document["floor"] == 11


def test_another_model_behind_the_same_name_is_said_until_the_index_is_its_own(
    month: Month, bruno: Machine, on_both: Callable[..., Outcome]
) -> None:
    month.ollama.models[MODEL] = "f" * 64
    kept = on_both("golden", "run", "--baseline", "v1", "--fail-on", "lost")
    assert (kept.code, kept.document["passed"], kept.document["providerChanged"]) == (0, 11, True)
    assert "model" in everything_said(bruno.medir("golden", "run"))
    asked = bruno.medir("search", "Quanto custa a multa?", "--json")
    assert asked.document["degradedReason"] == "modelMismatch"
    assert [on_both("index").code, on_both(*GATE).code] == [2, 2]

    assert on_both("index", "--mode", "full", "--yes").code == 0
    gate = on_both(*GATE)
    assert (gate.code, gate.document["passed"], gate.document["providerChanged"]) == (0, 11, False)
    assert "model" in compared(gate)["differs"]
    assert (compared(gate)["comparable"], compared(gate)["lost"]) == (True, [])


def test_the_months_end_is_frozen_and_held_against_its_beginning(
    ana: Machine, on_both: Callable[..., Outcome]
) -> None:
    assert ana.medir("baseline", "freeze", "v2").code == 0
    ana.share("Referência do fim do mês")
    diff = on_both("baseline", "diff", "v1", "v2")
    assert (diff.code, diff.document["won"], diff.document["lost"]) == (0, [], [])
    assert (diff.document["new"], diff.document["gone"]) == (["doacoes", "copias"], ["bibliobus"])
    assert on_both("baseline", "verify", "v2").code == 0


def settings(run: Outcome) -> dict[str, object]:
    return run.document["settings"]


def compared(run: Outcome) -> dict[str, object]:
    return run.document["baseline"]


def failing(run: Outcome) -> list[str]:
    return [case["id"] for case in run.document["cases"] if not case["passed"]]


def everything_said(outcome: Outcome) -> str:
    return outcome.stdout + outcome.stderr


def failures_in(junit: Path) -> list[str]:
    """The failed tests, as a pipeline reads them."""
    tests = ET.parse(junit).getroot().iter("testcase")
    return [test.attrib["name"] for test in tests if test.find("failure") is not None]


@contextmanager
def other_limit(machine: Machine) -> Iterator[Path]:
    """The machine's cases under another limit, in a file beside its baselines that is never committed."""
    file = machine.clone.folder / "golden_set/other_limit.yaml"
    file.write_text(
        f"limit: 4\n{(machine.clone.folder / CASES_FILE).read_text(encoding='utf-8')}", encoding="utf-8"
    )
    yield file
    file.unlink()
