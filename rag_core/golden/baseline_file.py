"""The file of a baseline: a frozen golden run as JSON, with a checksum over all of it. Pure.

One line an element, so that git shows what differs between two of them. The checksum is over the content and not
its spelling: other line endings or spaces are the same baseline, another digit is not. Question vectors are
float32, little-endian, in base64; scores are written so that reading gives the same float64.
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from rag_core.errors import InvalidInput
from rag_core.golden.cases import GoldenCase
from rag_core.model import (
    EMBEDDING_DIMENSIONS,
    Candidate,
    CandidateSet,
    DegradedReason,
    Origin,
    Place,
    Scope,
    canonical_digest,
)
from rag_core.model.shape import keyed

FORMAT = 1
MAX_BYTES = 24_000_000
"""A golden run of 89 cases has 1.7 MB."""

_MAX_PARTS = 2_000_000
_NAMED_WEIGHS = 4
_KEYS = frozenset(
    {"format", "name", "frozenAt", "checksum", "identity", "cases", "vectors", "chunks", "candidates", "run"}
)

_IDENTITY = frozenset(
    {"settings", "limit", "casesDigest", "index", "textSearchConfig", "degraded", "allowDegraded", "versions"}
)
_INDEX = frozenset({"fingerprint", "commit", "model", "chunkerVersion", "queryVersion"})

Json = Mapping[str, object]
_Row = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Baseline:
    """A golden run that never changes again.

    `identity` is all that the run stood on: settings, limit, index, text search configuration, whether it was
    degraded, versions. `cases`, `vectors` (shape (768,), None where a question had none) and `found` are in one
    order. `run` is the contract's golden run, results among it.
    """

    name: str
    frozen_at: str
    identity: Json
    cases: tuple[GoldenCase, ...]
    vectors: tuple[NDArray[np.float32] | None, ...]
    found: tuple[CandidateSet, ...]
    run: Json

    def __post_init__(self) -> None:
        index = self.identity.get("index")
        if not (isinstance(index, Mapping) and set(index) >= _INDEX and set(self.identity) >= _IDENTITY):
            raise ValueError(
                "a baseline's identity names settings, limit, cases, index, text search and versions"
            )
        if not len(self.cases) == len(self.vectors) == len(self.found):
            raise ValueError("a baseline holds a vector and candidates for each of its cases")
        if tuple(self.passed) != tuple(case.id for case in self.cases):
            raise ValueError("a baseline holds one result for each of its cases, in their order")

    @property
    def passed(self) -> dict[str, bool]:
        """Whether each case passed, by id."""
        results = cast("Sequence[_Row]", self.run["cases"])
        return {str(result["id"]): result["passed"] is True for result in results}

    @property
    def content(self) -> dict[str, object]:
        """Everything in the file but its checksum."""
        chunks: dict[str, int] = {}
        rows: list[object] = []
        for found in self.found:
            for candidate in found.candidates:
                if candidate.chunk_id not in chunks:
                    chunks[candidate.chunk_id] = len(rows)
                    rows.append(_chunk_row(candidate))
        return {
            "format": FORMAT,
            "name": self.name,
            "frozenAt": self.frozen_at,
            "identity": self.identity,
            "cases": [_case_row(case) for case in self.cases],
            "vectors": [_vector_text(vector) for vector in self.vectors],
            "chunks": rows,
            "candidates": [_set_row(found, chunks) for found in self.found],
            "run": self.run,
        }

    @property
    def checksum(self) -> str:
        """SHA-256 of the content, 64 hex digits."""
        return canonical_digest(self.content)


def encode_baseline(baseline: Baseline) -> str:
    """The text of a baseline's file; `decode_baseline` is the inverse."""
    content = baseline.content
    parts = {"format": content["format"], "checksum": canonical_digest(content)} | content
    lines = [f"{_compact(key)}: {_spread(value)}" for key, value in parts.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def decode_baseline(text: str, *, file: str) -> Baseline:
    """Read a baseline's file: all of it, or nothing.

    `file` is the name to call it by in messages.

    Raises:
        InvalidInput: It is truncated or no JSON, of a newer format, or its content does not match its checksum.
    """
    # many small parts take far more memory than their text, and those with a name of their own the most
    if sum(map(text.count, ",[{")) + _NAMED_WEIGHS * text.count(":") > _MAX_PARTS:
        raise _refusal(file, f"it has more than {_MAX_PARTS:,} parts")
    document = _parse(text, file)
    found_format = document.get("format")
    if not isinstance(found_format, int) or isinstance(found_format, bool) or found_format < 1:
        raise _refusal(file, "it does not say of which format it is")
    if found_format > FORMAT:
        raise _refusal(
            file,
            f"it has format {found_format}, and this Medir reads up to {FORMAT}",
            hint="Use the newer Medir that wrote it, or freeze a baseline with this one.",
        )
    if set(document) != _KEYS:
        odd = sorted(_KEYS.symmetric_difference(document))
        raise _refusal(file, f"these keys are missing or unknown: {', '.join(odd)}")
    content = {key: value for key, value in document.items() if key != "checksum"}
    if canonical_digest(content) != document["checksum"]:
        raise _refusal(file, "its content does not match its checksum, so it was changed after it was frozen")
    try:
        return _read(document)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, binascii.Error) as error:
        raise _refusal(file, f"its content is malformed: {error}") from error


def _parse(text: str, file: str) -> dict[str, object]:
    try:
        document: object = json.loads(
            text.removeprefix("\ufeff"), object_pairs_hook=_without_doubles, parse_constant=_no_number
        )
    except json.JSONDecodeError as error:
        raise _refusal(
            file, f"it is truncated or no JSON (line {error.lineno}: {error.msg.lower()})"
        ) from error
    except (ValueError, RecursionError) as error:
        raise _refusal(file, f"it is no baseline: {error}") from error
    if not isinstance(document, dict):
        raise _refusal(file, "it is no JSON object")
    return document


def _without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands in it twice")
    return found


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")


def _refusal(file: str, reason: str, *, hint: str = "") -> InvalidInput:
    return InvalidInput(
        f"The baseline {file} is refused: {reason}.",
        hint=hint or "Bring back the file as it was committed, or freeze another baseline.",
        where={"file": file},
    )


def _read(document: Mapping[str, object]) -> Baseline:
    chunks = [_read_chunk(row) for row in cast("Sequence[Sequence[object]]", document["chunks"])]
    return Baseline(
        name=str(document["name"]),
        frozen_at=str(document["frozenAt"]),
        identity=cast("Json", document["identity"]),
        cases=tuple(_read_case(row) for row in cast("Sequence[_Row]", document["cases"])),
        vectors=tuple(_read_vector(text) for text in cast("Sequence[str | None]", document["vectors"])),
        found=tuple(_read_set(row, chunks) for row in cast("Sequence[_Row]", document["candidates"])),
        run=cast("Json", document["run"]),
    )


def _case_row(case: GoldenCase) -> dict[str, object]:
    return {
        **keyed(case, "id", "question"),
        "expected": [str(place) for place in case.expected],
        **keyed(case, "no_answer", "scope", "tags", "split", "must_pass", "digest"),
    }


def recorded_case(row: Json) -> GoldenCase:
    """A case as a golden run records it; its split is no part of that."""
    expected = tuple(Place.parse(place) for place in cast("Sequence[str]", row["expected"]))
    scope = cast("Sequence[str] | None", row["scope"])
    return GoldenCase(
        id=str(row["id"]),
        question=str(row["question"]),
        expected=expected,
        no_answer=not expected,
        scope=None if scope is None else tuple(Scope(name) for name in scope),
        tags=tuple(cast("Sequence[str]", row["tags"])),
        must_pass=row["mustPass"] is True,
    )


def _read_case(row: _Row) -> GoldenCase:
    split = row["split"]
    case = replace(
        recorded_case(row),
        no_answer=row["noAnswer"] is True,
        split="calibrate" if split == "calibrate" else "holdout" if split == "holdout" else None,
    )
    if case.digest != row["digest"]:
        raise ValueError(f"the case {case.id} does not match its digest")
    return case


def _vector_text(vector: NDArray[np.float32] | None) -> str | None:
    return None if vector is None else base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode()


def _read_vector(text: str | None) -> NDArray[np.float32] | None:
    if text is None:
        return None
    vector = np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4").astype(np.float32)
    if vector.shape != (EMBEDDING_DIMENSIONS,) or not np.isfinite(vector).all():
        raise ValueError(f"a question's vector is not {EMBEDDING_DIMENSIONS} finite numbers")
    return vector


def _chunk_row(candidate: Candidate) -> list[object]:
    origin = candidate.origin
    return [
        candidate.chunk_id,
        str(candidate.scope),
        str(origin.place),
        candidate.ordinal,
        candidate.content_hash,
        list(origin.heading_path),
        origin.title,
        origin.event_id,
    ]


def _read_chunk(row: Sequence[object]) -> tuple[str, Scope, Origin, int, str]:
    chunk_id, scope, place, ordinal, content_hash, heading_path, title, event_id = row
    origin = Origin(
        place=Place.parse(str(place)),
        heading_path=tuple(cast("Sequence[str]", heading_path)),
        title=None if title is None else str(title),
        event_id=None if event_id is None else str(event_id),
    )
    return str(chunk_id), Scope(str(scope)), origin, cast("int", ordinal), str(content_hash)


def _set_row(found: CandidateSet, chunks: Mapping[str, int]) -> dict[str, object]:
    candidates = found.candidates
    return {
        **keyed(found, "vector_available", "degraded", "degraded_reason", "searchable_terms"),
        "chunks": [chunks[candidate.chunk_id] for candidate in candidates],
        "vectorScores": [candidate.vector_score for candidate in candidates],
        "vectorRanks": [candidate.vector_rank for candidate in candidates],
        "lexicalScores": [candidate.lexical_score for candidate in candidates],
        "lexicalRanks": [candidate.lexical_rank for candidate in candidates],
    }


def _read_set(row: _Row, chunks: Sequence[tuple[str, Scope, Origin, int, str]]) -> CandidateSet:
    reason = row["degradedReason"]
    columns = [
        cast("Sequence[object]", row[key])
        for key in ("chunks", "vectorScores", "vectorRanks", "lexicalScores", "lexicalRanks")
    ]
    candidates: list[Candidate] = []
    for number, vector, vector_rank, lexical, lexical_rank in zip(*columns, strict=True):
        chunk_id, scope, origin, ordinal, content_hash = chunks[cast("int", number)]
        candidates.append(
            Candidate(
                chunk_id=chunk_id,
                scope=scope,
                origin=origin,
                ordinal=ordinal,
                content_hash=content_hash,
                vector_score=_score(vector),
                lexical_score=_score(lexical),
                vector_rank=cast("int | None", vector_rank),
                lexical_rank=cast("int | None", lexical_rank),
            )
        )
    return CandidateSet(
        candidates=tuple(candidates),
        vector_available=row["vectorAvailable"] is True,
        degraded=row["degraded"] is True,
        degraded_reason=None if reason is None else DegradedReason(str(reason)),
        searchable_terms=cast("int", row["searchableTerms"]),
    )


def _score(value: object) -> float | None:
    return None if value is None else float(cast("float", value))


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _spread(value: object) -> str:
    if isinstance(value, Mapping):
        lines = [f"  {_compact(key)}: {_compact(inner)}" for key, inner in value.items()]
        return "{\n" + ",\n".join(lines) + "\n}"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f"  {_compact(each)}" for each in value) + "\n]"
    return _compact(value)
