"""The shapes of the contracts, and a check that a JSON value has one: every key there, null only where allowed."""

from collections.abc import Mapping

NUMBER = (int, float)
TEXT_OR_NULL = (str, None)
NUMBER_OR_NULL = (int, float, None)
COUNT_OR_NULL = (int, None)


def mismatches(value: object, shape: object, where: str = "$") -> list[str]:
    """What is wrong with a value, [] for nothing.

    A shape is a type, a literal string, None, a tuple of alternatives, a list with the shape of its entries, or
    an object; a key that ends in `?` may be left out. Keys beyond the shape are allowed.
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
SETTINGS = {
    "source": str,
    "preset": TEXT_OR_NULL,
    "weightVector": NUMBER,
    "weightLexical": NUMBER,
    "threshold": NUMBER_OR_NULL,
    "thresholdWhenDegraded": NUMBER_OR_NULL,
    "candidatesPerSignal": int,
    "maxPerFile": COUNT_OR_NULL,
    "limit": int,
    "fusion": ("weightedSum", "rrf", "minMax", "zScore"),
    "lexicalOperator": ("any", "all"),
    "lexicalFunction": ("ts_rank", "ts_rank_cd", "coverage"),
    "embeddingModel": TEXT_OR_NULL,
}
ORIGIN = (
    {"kind": "file", "sourcePath": str, "headingPath?": [str], "title?": str},
    {"kind": "session", "sessionId": str, "eventId?": str, "title?": str},
)
SCOPE = ("docs", "adr", "session")
HIT_WITHOUT_CONTENT = {
    "rank": int,
    "chunkId": str,
    "score": NUMBER,
    "vectorScore": NUMBER_OR_NULL,
    "lexicalScore": NUMBER_OR_NULL,
    "scope": SCOPE,
    "origin": ORIGIN,
    "citation": str,
}
HIT = HIT_WITHOUT_CONTENT | {"content": str}
CANDIDATE = HIT_WITHOUT_CONTENT | {
    "rank": COUNT_OR_NULL,
    "wholeRank": int,
    "vectorRank": COUNT_OR_NULL,
    "lexicalRank": COUNT_OR_NULL,
    "fate": ("hit", "threshold", "fileCap", "limit"),
    "ordinal": int,
    "contentHash": str,
}
EXPLAINED = CANDIDATE | {
    "score": NUMBER_OR_NULL,
    "wholeRank": COUNT_OR_NULL,
    "fate": ("hit", "threshold", "fileCap", "limit", "candidates"),
}
SEARCH = {
    "searchId": TEXT_OR_NULL,
    "projectId": str,
    "question": str,
    "scopes": [SCOPE],
    "vectorAvailable": bool,
    "degraded": bool,
    "degradedReason": ("modelMismatch", "provider", "noVectors", "someVectorsMissing", None),
    "threshold": NUMBER_OR_NULL,
    "settings": SETTINGS,
    "timings": {
        "embedMs": NUMBER,
        "vectorMs": NUMBER,
        "lexicalMs": NUMBER,
        "rankMs": NUMBER,
        "totalMs": NUMBER,
    },
    "hits": [HIT],
    "wholeSet?": [CANDIDATE],
    "explanation?": {"place": str, "chunks": [EXPLAINED]},
}
GOLDEN_RUN = {
    "passed": int,
    "total": int,
    "floor": int,
    "trial": bool,
    "settings": SETTINGS,
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
LINT = {"faults": [{"case": TEXT_OR_NULL, "field": TEXT_OR_NULL, "line": COUNT_OR_NULL, "message": str}]}
DOCUMENT_COVERAGE = {
    "inRepository": COUNT_OR_NULL,
    "indexed": int,
    "chunks": int,
    "withoutVector": int,
    "skipped": int,
    "skippedByRule": int,
    "indexedAt": TEXT_OR_NULL,
    "commit": TEXT_OR_NULL,
}
COVERAGE = {
    "project": str,
    "commit": TEXT_OR_NULL,
    "headCommit": TEXT_OR_NULL,
    "moved": bool,
    "scopes": {
        "docs": DOCUMENT_COVERAGE,
        "adr": DOCUMENT_COVERAGE,
        "session": {
            "sessions": int,
            "indexed": int,
            "chunks": int,
            "withoutVector": int,
            "indexedAt": TEXT_OR_NULL,
        },
    },
}
DOCTOR = {"checks": [{"name": str, "ok": bool, "found": str, "remedy": TEXT_OR_NULL}]}
