"""Examples of the OpenAPI document: one question to the sample, and what follows from it."""

from typing import Any

_SEARCH_ID = "3f9a1c52-6c0b-4b8e-9f7e-0d5c1a2b3c4d"
_CHUNK_ID = "8a7b6c5d-4e3f-4a2b-9c1d-0e9f8a7b6c5d"
_SETTINGS: dict[str, Any] = {
    "source": "preset",
    "preset": "embedded",
    "weightVector": 0.2,
    "weightLexical": 0.8,
    "threshold": 0.032,
    "thresholdWhenDegraded": None,
    "candidatesPerSignal": 20,
    "maxPerFile": 2,
    "limit": 5,
    "fusion": "weightedSum",
    "lexicalOperator": "any",
    "lexicalFunction": "ts_rank",
    "embeddingModel": "embedded/use-multilingual-v3@5f1f8a2c+none",
    "fetchDepth": 20,
}
_ORIGIN: dict[str, Any] = {
    "kind": "file",
    "sourcePath": "docs/adr/0018-frete-congelado-na-coleta.md",
    "headingPath": ["Decisão"],
    "title": "Frete congelado na coleta",
}
_CITATION = "docs/adr/0018-frete-congelado-na-coleta.md › Decisão"
_NOTHING = {
    "n": 1,
    "p50": 21.4,
    "p95": None,
    "p99": None,
    "why": "p95 needs 20 and p99 needs 100 searches; there is 1.",
}
_UNJUDGED = {"value": None, "useful": 0, "votes": 0, "judgedHits": 0, "low": None, "high": None}

SEARCH: dict[str, Any] = {
    "searchId": _SEARCH_ID,
    "projectId": "sample",
    "question": "Quando o frete é calculado?",
    "scopes": ["docs", "adr", "session"],
    "vectorAvailable": True,
    "degraded": False,
    "degradedReason": None,
    "threshold": 0.032,
    "settings": _SETTINGS,
    "timings": {"embedMs": 9.8, "vectorMs": 5.1, "lexicalMs": 4.2, "rankMs": 0.3, "totalMs": 21.4},
    "hits": [
        {
            "rank": 1,
            "chunkId": _CHUNK_ID,
            "content": "O frete é calculado na coleta e não muda até a entrega.",
            "score": 0.214,
            "vectorScore": 0.618,
            "lexicalScore": 0.113,
            "scope": "adr",
            "origin": _ORIGIN,
            "citation": _CITATION,
        }
    ],
}
VOTE: dict[str, Any] = {
    "searchId": _SEARCH_ID,
    "chunkId": _CHUNK_ID,
    "verdict": "util",
    "rank": 1,
    "changed": False,
}
RUN: dict[str, Any] = {
    "runId": "5b1d9e0a-7c3f-4d2e-8a6b-1f0e9d8c7b6a",
    "state": "running",
    "actor": "human:ana",
    "startedAt": "2026-03-01T10:00:00+00:00",
    "finishedAt": None,
    "progress": {"step": "embed", "done": 120, "total": 400},
    "result": None,
    "error": None,
}
COVERAGE: dict[str, Any] = {
    "project": "sample",
    "commit": "1c68150f0c2a9f7d4e4b6f8a1d3c5b7e9f1a2b3c",
    "headCommit": "1c68150f0c2a9f7d4e4b6f8a1d3c5b7e9f1a2b3c",
    "moved": False,
    "scopes": {
        "docs": {
            "inRepository": 36,
            "indexed": 36,
            "chunks": 300,
            "withoutVector": 0,
            "skipped": 0,
            "skippedByRule": 0,
            "indexedAt": "2026-03-01T10:00:00+00:00",
            "commit": "1c68150f0c2a9f7d4e4b6f8a1d3c5b7e9f1a2b3c",
        },
        "adr": {
            "inRepository": 29,
            "indexed": 29,
            "chunks": 120,
            "withoutVector": 0,
            "skipped": 0,
            "skippedByRule": 0,
            "indexedAt": "2026-03-01T10:00:00+00:00",
            "commit": "1c68150f0c2a9f7d4e4b6f8a1d3c5b7e9f1a2b3c",
        },
        "session": {
            "sessions": 8,
            "indexed": 8,
            "chunks": 40,
            "withoutVector": 0,
            "indexedAt": "2026-03-01T10:00:00+00:00",
        },
    },
    "outside": {"files": 2, "examples": ["README.md", "frontend/README.md"]},
}
REPORT: dict[str, Any] = {
    "project": "sample",
    "from": "2026-02-01T00:00:00+00:00",
    "to": "2026-03-01T00:00:00+00:00",
    "verdict": {
        "passed": True,
        "measured": True,
        "reason": "The vector signal was available in 1 of 1 search.",
    },
    "searches": 1,
    "degraded": 0,
    "noHit": 0,
    "vectorUnavailable": 0,
    "precision": dict.fromkeys(("1", "3", "5", "10"), _UNJUDGED),
    "ranks": {"util": [], "irrelevante": []},
    "latency": dict.fromkeys(("total", "embed", "vector", "lexical", "rank"), _NOTHING),
    "judgedShare": 0.0,
    "mixedSettings": [],
    "splits": {name: [] for name in ("settings", "model", "actor", "surface", "scope", "day")},
}
RECORDED_SEARCH: dict[str, Any] = {
    "searchId": _SEARCH_ID,
    "projectId": "sample",
    "question": "Quando o frete é calculado?",
    "askedAt": "2026-03-01T10:00:00+00:00",
    "degraded": False,
    "degradedReason": None,
    "settings": _SETTINGS,
    "hits": [
        {
            "rank": 1,
            "chunkId": _CHUNK_ID,
            "score": 0.214,
            "vectorScore": 0.618,
            "lexicalScore": 0.113,
            "origin": _ORIGIN,
            "citation": _CITATION,
        }
    ],
    "votes": [
        {
            "chunkId": _CHUNK_ID,
            "rank": 1,
            "verdict": "util",
            "actor": "human:ana",
            "updatedAt": "2026-03-01T10:01:00+00:00",
        }
    ],
}
