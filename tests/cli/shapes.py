"""The shapes of the contracts, and a check that a JSON value has one: every key there, null only where allowed."""

import json
from collections.abc import Mapping
from types import UnionType

from pydantic import TypeAdapter, ValidationError

from medir.doctor import Check
from rag_core.golden.faults import Fault
from rag_core.model.settings import SettingsShape
from rag_core.model.shape import Shape
from rag_core.search.origins import FileOrigin, SessionOrigin

NUMBER = (int, float)
TEXT_OR_NULL = (str, None)
NUMBER_OR_NULL = (int, float, None)
COUNT_OR_NULL = (int, None)


def mismatches(value: object, shape: object, where: str = "$") -> list[str]:
    """What is wrong with a value, [] for nothing.

    A shape is a type, a literal string, None, a tuple of alternatives, a list with the shape of its entries, or
    an object; a key that ends in `?` may be left out. Keys beyond such an object are allowed. A shape of the contract
    is held to the letter: its keys and no other.
    """
    if isinstance(shape, tuple):
        tried = [mismatches(value, one, where) for one in shape]
        return [] if [] in tried else [f"{where}: {value!r} is none of {shape}"]
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{where}: {value!r} is no list"]
        return [m for i, entry in enumerate(value) for m in mismatches(entry, shape[0], f"{where}[{i}]")]
    if isinstance(shape, Mapping):
        return _object_mismatches(value, shape, where)
    if isinstance(shape, UnionType) or (isinstance(shape, type) and issubclass(shape, Shape)):
        return _shape_mismatches(value, shape, where)
    return _plain_mismatches(value, shape, where)


def _shape_mismatches(value: object, shape: object, where: str) -> list[str]:
    try:
        TypeAdapter(shape).validate_json(json.dumps(value), strict=True, extra="forbid")
    except ValidationError as error:
        return [f"{where}.{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
    return []


def _plain_mismatches(value: object, shape: object, where: str) -> list[str]:
    if isinstance(shape, type):
        fits = isinstance(value, shape) and not (isinstance(value, bool) and shape is not bool)
        return [] if fits else [f"{where}: {value!r} is no {shape.__name__}"]
    return [] if value == shape else [f"{where}: {value!r} is not {shape!r}"]


def _object_mismatches(value: object, shape: Mapping[str, object], where: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{where}: {value!r} is no object"]
    found: list[str] = []
    for key, inner in shape.items():
        name = key.removesuffix("?")
        if name in value:
            found += mismatches(value[name], inner, f"{where}.{name}")
        elif not key.endswith("?"):
            found.append(f"{where}.{name} is missing")
    return found


ERROR = {"error": {"code": str, "message": str, "hint": str, "where?": dict}}
SCOPE = ("docs", "adr", "session")
HIT_WITHOUT_CONTENT = {
    "rank": int,
    "chunkId": str,
    "score": NUMBER,
    "vectorScore": NUMBER_OR_NULL,
    "lexicalScore": NUMBER_OR_NULL,
    "scope": SCOPE,
    "origin": FileOrigin | SessionOrigin,
    "citation": str,
}
GOLDEN_RUN = {
    "passed": int,
    "total": int,
    "floor": int,
    "trial": bool,
    "settings": SettingsShape,
    "index": {
        "fingerprint": str,
        "commit": TEXT_OR_NULL,
        "model": TEXT_OR_NULL,
        "chunkerVersion": str,
        "queryVersion": str,
        "chunks": int,
        "withoutVector": int,
    },
    "cases": [
        {
            "id": str,
            "question": str,
            "expected": [str],
            "tags": [str],
            "mustPass": bool,
            "passed": bool,
            "rank": COUNT_OR_NULL,
            "wholeRank": COUNT_OR_NULL,
            "vectorRank": COUNT_OR_NULL,
            "lexicalRank": COUNT_OR_NULL,
            "removedBy": (None, "candidates", "threshold", "fileCap", "limit"),
            "hits": [HIT_WITHOUT_CONTENT],
        }
    ],
}
INDEX_RUN = {
    "runId": str,
    "mode": ("full", "incremental"),
    "commit": TEXT_OR_NULL,
    "scopes": {
        "docs?": {"files": int, "chunks": int},
        "adr?": {"files": int, "chunks": int},
        "session?": {"chunks": int},
    },
    "embedding": {"available": bool, "embedded": int, "reused": int, "skipped": int, "reason": TEXT_OR_NULL},
    "skipped": [{"path": str, "reason": str, "byRule": bool}],
    "notes": [{"path": str, "note": str}],
    "votesLost": int,
}
PROJECT = {
    "project": str,
    "name": str,
    "repo": str,
    "root": str,
    "ref": str,
    "golden": TEXT_OR_NULL,
    "language": str,
    "commit": TEXT_OR_NULL,
}
DATABASE_STATUS = {
    "url": TEXT_OR_NULL,
    "version": TEXT_OR_NULL,
    "vectorVersion": TEXT_OR_NULL,
    "migration": COUNT_OR_NULL,
    "embedded": bool,
}
SESSIONS_IMPORT = {
    "project": str,
    "sessions": int,
    "events": int,
    "refused": [{"line": int, "reason": str}],
    "masked": int,
    "notes": [{"line": int, "note": str}],
}
LINT = {"faults": [Fault]}
DOCTOR = {"checks": [Check]}
