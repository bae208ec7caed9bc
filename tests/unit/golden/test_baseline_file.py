"""A baseline's file: what goes in comes out, and whatever was done to it since is refused by reason."""

import dataclasses
import json

import numpy as np
import pytest

from golden_material import chunk, found
from rag_core.errors import InvalidInput
from rag_core.golden.baseline_file import FORMAT, Baseline, decode_baseline, encode_baseline
from rag_core.golden.cases import GoldenCase
from rag_core.model import CandidateSet, Origin, Place, Scope, canonical_digest

FRETE = GoldenCase(
    id="frete",
    question="Quando o frete é calculado?",
    expected=(Place("file", "docs/frete.md"), Place("session", "s1")),
    scope=(Scope.DOCS, Scope.SESSION),
    tags=("preço",),
    split="holdout",
    must_pass=True,
)
NADA = GoldenCase(id="nada", question="Vulcões?", no_answer=True)
THIRD = 1 / 3


def candidates() -> CandidateSet:
    titled = dataclasses.replace(
        chunk("docs/frete.md", vector=(THIRD, 1), lexical=(0.0, 2)),
        origin=Origin(place=Place("file", "docs/frete.md"), heading_path=("Frete", "Pedágio"), title="Frete"),
    )
    return found(
        titled, chunk("docs/frete.md", ordinal=1, vector=(-0.25, 2)), chunk("session:s1", lexical=(1e-7, 1))
    )


def baseline() -> Baseline:
    index = {
        "fingerprint": "f1",
        "commit": None,
        "model": "embedded/bag@0123+none",
        "chunkerVersion": "1",
        "queryVersion": "2",
    }
    return Baseline(
        name="antes",
        frozen_at="2026-01-02T03:04:05+00:00",
        identity={
            "settings": {"weightVector": 0.1},
            "limit": 5,
            "casesDigest": "d",
            "index": index,
            "textSearchConfig": "portuguese",
            "degraded": False,
            "allowDegraded": False,
            "versions": {"medir": "0.1.0"},
        },
        cases=(FRETE, NADA),
        vectors=(np.linspace(-1, 1, 768, dtype=np.float32), None),
        found=(candidates(), found(vector_available=False)),
        run={"passed": 1, "cases": [{"id": "frete", "passed": True}, {"id": "nada", "passed": False}]},
    )


def changed(**parts: object) -> str:
    """The file with parts replaced, and a checksum that is right for them."""
    document = json.loads(encode_baseline(baseline())) | parts
    content = {key: value for key, value in document.items() if key != "checksum"}
    return json.dumps(content | {"checksum": canonical_digest(content)})


def refusal(text: str) -> str:
    with pytest.raises(InvalidInput) as refused:
        decode_baseline(text, file="baselines/antes.json")
    assert "baselines/antes.json" in refused.value.message
    return refused.value.message


def test_what_was_frozen_is_read_back_to_the_last_digit() -> None:
    before, after = baseline(), decode_baseline(encode_baseline(baseline()), file="antes.json")

    assert after.content == before.content
    assert after.found == before.found
    assert after.found[0].candidates[0].vector_score == THIRD
    assert after.cases == (FRETE, NADA)
    assert after.vectors[1] is None
    first, again = before.vectors[0], after.vectors[0]
    assert first is not None
    assert again is not None
    assert again.dtype == np.float32
    assert first.tobytes() == again.tobytes()
    assert after.checksum == before.checksum


def test_the_results_are_told_by_case() -> None:
    assert baseline().passed == {"frete": True, "nada": False}


def test_each_case_and_each_chunk_has_a_line_of_its_own() -> None:
    lines = encode_baseline(baseline()).splitlines()

    assert sum(line.startswith('  {"id":"frete"') for line in lines) == 1
    assert sum("docs/frete.md" in line and line.startswith("  [") for line in lines) == 2


def test_other_line_endings_and_spaces_are_the_same_baseline() -> None:
    text = encode_baseline(baseline())

    for other in (text.replace("\n", "\r\n"), json.dumps(json.loads(text), indent=4), "\ufeff" + text):
        assert decode_baseline(other, file="antes.json").checksum == baseline().checksum


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"weightVector":0.1', '"weightVector":0.2'),
        ("0.3333333333333333", "0.3333333333333334"),
        ('"passed":true', '"passed":false'),
        ("docs/frete.md", "docs/outro.md"),
        ("2026-01-02", "2026-01-03"),
        ('"mustPass":true', '"mustPass":false'),
    ],
)
def test_a_changed_digit_anywhere_is_noticed(old: str, new: str) -> None:
    text = encode_baseline(baseline())
    assert old in text

    assert "does not match its checksum" in refusal(text.replace(old, new))


def test_a_file_cut_anywhere_is_said_to_be_truncated() -> None:
    text = encode_baseline(baseline())

    for length in (0, 1, len(text) // 2, len(text) - 3):
        assert "truncated or no JSON" in refusal(text[:length])


def test_a_newer_format_is_refused_by_its_number_before_anything_else_is_looked_at() -> None:
    with pytest.raises(
        InvalidInput, match=f"has format {FORMAT + 1}, and this Medir reads up to {FORMAT}"
    ) as refused:
        decode_baseline(changed(format=FORMAT + 1, novelty=[]), file="antes.json")
    assert "newer Medir" in refused.value.hint


@pytest.mark.parametrize("nothing", [None, "1", 0, True, 1.5])
def test_a_file_without_a_format_is_no_baseline(nothing: object) -> None:
    assert "does not say of which format" in refusal(changed(format=nothing))


def test_missing_and_unknown_keys_are_named() -> None:
    document = json.loads(encode_baseline(baseline()))
    del document["vectors"]

    assert "missing or unknown: extra, vectors" in refusal(json.dumps(document | {"extra": 1}))


@pytest.mark.parametrize("text", ["[]", "3", '{"format": 1, "format": 1}', '{"format": NaN}', "[" * 100_000])
def test_what_is_json_but_no_baseline_is_refused(text: str) -> None:
    assert "is refused" in refusal(text)


@pytest.mark.parametrize(
    "parts",
    [
        {"cases": []},
        {"cases": None},
        {"vectors": ["AAAA", None]},
        {"vectors": ["?", None]},
        {"chunks": []},
        {"chunks": [[1]]},
        {"identity": {}},
        {"identity": []},
        {"run": {}},
        {"run": {"cases": [{"id": "outro", "passed": True}]}},
        {"candidates": [{}, {}]},
    ],
)
def test_content_that_can_not_be_meant_is_refused_although_its_checksum_is_right(
    parts: dict[str, object],
) -> None:
    assert "malformed" in refusal(changed(**parts))
