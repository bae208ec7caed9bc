"""`settings.yaml`: what it may say, what refuses it by line and field, and how it is written without losing a word."""

import dataclasses
import os
from pathlib import Path

import pytest

from rag_core.database.index.identity import IndexIdentity
from rag_core.errors import FaultySettings, InvalidInput
from rag_core.model import Fusion
from rag_core.model.settings import changed_numbers
from rag_core.project.projects import Project
from rag_core.settings.committed import Limits, committing
from rag_core.settings.file_reading import parse_settings
from rag_core.settings.file_writing import write_settings
from rag_core.settings.golden_folder import CommittedFile, CommittedFiles, read_committed
from rag_core.settings.in_force import Disagreement, SettingsSources
from rag_core.settings.overrides import UNSET, Overrides
from rag_core.settings.presets import preset_of

MODEL = "embedded/use-multilingual-v3@0123456789ab+none"


def parsed(text: str):
    return parse_settings(text.encode(), file="settings.yaml")


def settings(**numbers: object):
    index = IndexIdentity(
        embedding_model=MODEL, chunker_version="1", text_search_config="portuguese", generation=1
    )
    sources = SettingsSources(index=index, adopted=None, committed=CommittedFile())
    made = sources.resolve(overrides=Overrides(**numbers))
    return dataclasses.replace(made, preset=preset_of(made))


def test_a_file_may_hold_only_some_of_the_keys():
    said = parsed("weightVector: 0.3\nlimit: 8\n")
    assert said.numbers == Overrides(weight_vector=0.3, limit=8)
    assert (said.made_for, said.limits) == (None, Limits())


def test_null_is_none_and_not_left_out():
    numbers = parsed("threshold: null\nmaxPerFile: ~\nthresholdWhenDegraded:\n").numbers
    assert (numbers.threshold, numbers.max_per_file, numbers.threshold_when_degraded) == (None, None, None)
    assert parsed("limit: 8").numbers.threshold == UNSET


def test_the_settings_of_an_answer_are_a_file_as_they_stand():
    # the keys of `settings` in JSON, those that follow from the rest among them; JSON is YAML
    said = settings(weight_vector=0.3, threshold=0.05)
    told = said.to_json()
    lines = "".join(f"{key}: {'null' if value is None else value}\n" for key, value in told.items())
    assert parsed(lines) == committing(said)


def test_limits_are_read_as_what_they_limit():
    said = parsed("limits:\n  useful: 0.5\n  p95Ms: 300\n  noHit: 0\n")
    assert said.limits == Limits(useful=0.5, p95_ms=300.0, no_hit=0.0)
    assert said.limits.to_json() == {"useful": 0.5, "p95Ms": 300.0, "noHit": 0.0}
    assert said.numbers == Overrides()
    assert parsed("limits: {useful: 0.5, noHit: null}").limits == Limits(useful=0.5)


def test_the_lexical_weight_is_the_rest_of_the_other():
    assert parsed("weightLexical: 0.75").numbers.weight_vector == 0.25
    assert parsed("weightVector: 0.7\nweightLexical: 0.3").numbers.weight_vector == 0.7


@pytest.mark.parametrize(
    ("text", "line", "field", "says"),
    [
        ("limit: 5\nweightvector: 0.3", 2, "weightvector", "did you mean weightVector?"),
        ("k9: 1.2", 1, "k9", "is not a key of the settings"),
        ("limit: 5\nlimit: 6", 2, "limit", "given twice; the first is on line 1"),
        ("weightVector: .nan", 1, "weightVector", "finite number"),
        ("threshold: -.inf", 1, "threshold", "finite number such as 0.2, or null"),
        ("threshold: 1e999", 1, "threshold", "finite number"),
        ("threshold: none", 1, "threshold", "or null for none"),
        ("weightVector: '0.3'", 1, "weightVector", "finite number"),
        ("weightVector: true", 1, "weightVector", "finite number"),
        ("weightVector: 1.01", 1, "weightVector", "between 0 and 1"),
        ("weightVector: 0.5\nweightLexical: 0.6", 2, "weightLexical", "add up to 1.1"),
        ("limit: 0", 1, "limit", "between 1 and 50"),
        ("limit: 51", 1, "limit", "between 1 and 50"),
        ("limit: 5.0", 1, "limit", "whole number"),
        ("limit:", 1, "limit", "has no value"),
        ("candidatesPerSignal: 1001", 1, "candidatesPerSignal", "between 1 and 1,000"),
        ("maxPerFile: 0", 1, "maxPerFile", "at least 1"),
        ("fusion: rff", 1, "fusion", "weightedSum, rrf, weightedRrf, minMax or zScore"),
        ("rrfK: 10", 1, "rrfK", "a fusion that takes a k: rrf or weightedRrf"),
        ("fusion: minMax\nrrfK: 10", 2, "rrfK", "a fusion that takes a k: rrf or weightedRrf"),
        ("fusion: rrf\nrrfK: 0", 2, "rrfK", "lies between 1 and 10,000"),
        ("fusion: rrf\nrrfK:", 2, "rrfK", "has no value"),
        ("fusion: [rrf]", 1, "fusion", "must be text"),
        ("lexicalOperator: none", 1, "lexicalOperator", "any or all"),
        ("preset: best", 1, "preset", "seeds, embedded or embedded-strict"),
        ("embeddingModel: nomic", 1, "embeddingModel", "no model's id"),
        ("limits: 3", 1, "limits", "must be a mapping"),
        ("limits:\n  useful: 1.5", 2, "limits.useful", "between 0 and 1"),
        ("limits:\n  p95Ms: 0", 2, "limits.p95Ms", "over 0"),
        ("limits:\n  p95: 300", 2, "p95", "did you mean p95Ms?"),
        ("", None, None, "holds no settings"),
        ("- limit: 5", 1, None, "holds no settings"),
        ("!!python/object/apply:os.system [ls]", 1, None, "holds no settings"),
        ("limit: 5\nfusion: {", 3, None, "not valid YAML"),
        ("limit: 5\n---\nlimit: 6", None, None, "not valid YAML"),
        ("limit: \x00", 1, None, "character that no text file has"),
    ],
)
def test_what_is_wrong_is_named_by_file_line_and_field(
    text: str, line: int | None, field: str | None, says: str
):
    with pytest.raises(FaultySettings) as refused:
        parsed(text)
    assert says in refused.value.message
    assert refused.value.where is not None
    assert refused.value.where["file"] == "settings.yaml"
    if line is not None and "valid YAML" not in says:
        assert refused.value.where.get("line") == line
    assert refused.value.where.get("field") == field


@pytest.mark.parametrize(
    "use",
    [
        *(f"{key}: *i" for key in ("limits", "weightVector", "limit", "threshold", "preset", "fusion")),
        "limits: {useful: *i}",
        "limit: !!int [*i]",
        "? *i\n: 1",
    ],
)
def test_aliases_are_never_expanded_and_a_bomb_of_them_is_refused_at_once(use: str):
    bomb = "a: &a [x, x]\n" + "".join(
        f"{key}: &{key} [{', '.join([f'*{before}'] * 9)}]\n"
        for before, key in zip("abcdefgh", "bcdefghi", strict=True)
    )
    with pytest.raises(FaultySettings, match="not a key of the settings"):
        parsed(f"{bomb}{use}\n")


def test_all_faults_are_told_at_once():
    with pytest.raises(FaultySettings) as refused:
        parsed("limit: 0\nfusion: x\nlimits: {useful: 2}")
    assert [fault["field"] for fault in refused.value.faults] == ["limit", "fusion", "limits.useful"]


def test_a_new_file_holds_every_number_in_full():
    text = write_settings(
        settings(weight_vector=0.3, threshold=None), before=None, adopted="2026-12-01 by human:ana: medido"
    )
    assert text.splitlines()[0] == "# Adopted on 2026-12-01 by human:ana: medido"
    assert [line for line in text.splitlines() if not line.startswith("#")] == [
        "preset: null",
        "weightVector: 0.3",
        "threshold: null",
        "thresholdWhenDegraded: null",
        "candidatesPerSignal: 100",
        "maxPerFile: 2",
        "limit: 5",
        "fusion: weightedSum",
        "lexicalOperator: any",
        "lexicalFunction: bm25",
        f"embeddingModel: {MODEL}",
        "k1: 1.2",
        "b: 0.75",
        "titleWeight: 0.5",
    ]


def test_a_file_that_is_there_keeps_its_order_comments_line_endings_and_limits():
    before = (
        "\ufeff# Adopted on 2026-01-01 by human:rui: antes\r\n# nossa busca\r\nlimit: 7 # sete\r\n"
        "source: trial\r\nweightVector: 0.5\r\n\r\n# o relatório\r\nlimits:\r\n  useful: 0.5 # metade\r\n"
    )
    text = write_settings(
        settings(weight_vector=0.3), before=before.encode(), adopted="2026-12-01 by human:ana: depois"
    )
    lines = text.split("\r\n")
    assert "\n" not in text.replace("\r\n", "")
    assert lines[:3] == [
        "\ufeff# Adopted on 2026-12-01 by human:ana: depois",
        "# nossa busca",
        "limit: 5 # sete",
    ]
    assert "weightVector: 0.3" in lines
    assert lines[-4:] == ["# o relatório", "limits:", "  useful: 0.5 # metade", ""]
    assert "source" not in text
    assert "rui" not in text
    assert parse_settings(text.encode(), file="f") == committing(
        settings(weight_vector=0.3), limits=Limits(useful=0.5)
    )


def test_a_k_is_written_under_a_fusion_that_takes_one_and_leaves_with_it():
    with_k = settings(fusion=Fusion.RRF, rrf_k=10)
    text = write_settings(with_k, before=b"limit: 5\n", adopted="x")
    assert "fusion: rrf\nrrfK: 10\n" in text
    assert parsed(text) == committing(with_k)
    again = write_settings(settings(), before=text.replace("\nrrfK", " # um\nrrfK").encode(), adopted="x")
    assert "fusion: weightedSum # um\nlexicalOperator: any\n" in again
    assert "rrfK" not in again


def test_a_number_that_only_one_of_two_decisions_has_is_told_as_none_of_the_other():
    adopted, committed = settings(fusion=Fusion.RRF), settings()
    differs = changed_numbers(adopted.to_json(), committed.to_json())
    sentence = Disagreement(differs=differs, adopted=adopted, committed=committed).sentence
    assert "fusion is rrf adopted and weightedSum in the file" in sentence
    assert "rrfK is 60 adopted and none in the file" in sentence


@pytest.mark.parametrize(
    "before",
    [
        "{limit: 7, limits: {useful: 0.5}}",
        "limit:\nlimits: {useful: 0.5}\nthreshold:   # keiner",
        "limits: {useful: 0.5}",
        "limits:\n  useful: 0.5\n",
        "fetchDepth: 20\nlimit: 'x'",
        "fusion: 'rrf'\nlimit: 3\nlimits: {useful: 0.5}\n...\n",
        "limit: &n 3\nmaxPerFile: *n\n",
        "weightLexical: 0.5\nlimits: {useful: 0.5}\nweightVector: 0.5\n",
    ],
)
def test_whatever_spelling_a_file_has_it_is_written_rightly_or_refused(before: str):
    wanted = settings(weight_vector=0.3)
    try:
        text = write_settings(wanted, before=before.encode(), adopted="x")
    except InvalidInput:
        assert "&n" in before or "'x'" in before or "limit:\n" in before
        return
    assert parse_settings(text.encode(), file="f") == committing(wanted, limits=Limits(useful=0.5))


def test_a_number_is_written_to_its_last_bit_and_a_preset_by_its_name():
    exact = settings(weight_vector=0.1 + 0.2, threshold=1e-05)
    again = parse_settings(write_settings(exact, before=None, adopted="x").encode(), file="f")
    assert (again.numbers.weight_vector, again.numbers.threshold) == (0.30000000000000004, 1e-05)
    assert "preset: embedded\n" in write_settings(settings(), before=None, adopted="x")


@pytest.mark.parametrize("kind", ["link", "device", "folder", "large", "pipe"])
def test_only_a_regular_file_of_moderate_size_is_read(tmp_path: Path, kind: str):
    file = tmp_path / "settings.yaml"
    if kind == "link":
        (tmp_path / "other.yaml").write_text("limit: 5\n")
        file.symlink_to(tmp_path / "other.yaml")
    elif kind == "device":
        file.symlink_to("/dev/zero")
    elif kind == "folder":
        file.mkdir()
    elif kind == "large":
        file.write_text("# " + "x" * 100_000)
    else:
        os.mkfifo(file)
    problem = read_committed(file).problem
    assert problem is not None
    assert problem.where == {"file": str(file)}
    assert {"link": "symbolic link", "device": "symbolic link", "large": "larger than 100 kB"}.get(
        kind, "no regular file"
    ) in problem.message


def test_no_file_is_no_fault_and_a_fault_is_kept_as_such(tmp_path: Path):
    assert read_committed(tmp_path / "settings.yaml").problem is None
    (tmp_path / "settings.yaml").write_text("limit: 0\n")
    found = read_committed(tmp_path / "settings.yaml")
    assert found.settings is None
    assert found.told_problem == (
        "settings.yaml, line 1, limit: limit is 0; it lies between 1 and 50. Searches go on without the file."
    )
    with pytest.raises(FaultySettings):
        found.sound()


def test_a_file_is_parsed_again_only_when_it_has_changed(tmp_path: Path):
    project = Project(project_id="p", name="p", repo=str(tmp_path), root="", ref="HEAD", golden=str(tmp_path))
    file, files = tmp_path / "settings.yaml", CommittedFiles()
    assert files.of(project).settings is None
    file.write_text("limit: 3\n")
    first = files.of(project)
    assert first.settings is not None
    assert first.settings.numbers.limit == 3
    assert files.of(project) is first
    file.write_text("limit: 40\n")
    assert files.of(project).settings == parsed("limit: 40")
    file.unlink()
    assert files.of(project).settings is None
