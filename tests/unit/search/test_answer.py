"""An answer in JSON has the contract's keys, and a key is never left out to mean null."""

import dataclasses

from golden_material import chunk, found
from medir.contract.search import FullSearchAnswer
from rag_core.model import (
    ALL_SCOPES,
    CandidateSet,
    CandidateSettings,
    DegradedReason,
    Origin,
    Place,
    Scope,
    SearchSettings,
    Timings,
)
from rag_core.ranking.ranking import rank
from rag_core.search.answer import Answer, ExplainedChunk, Explanation
from rag_core.search.origins import shape_of
from rag_core.settings.presets import SEEDS

SETTINGS = SearchSettings(
    candidates=CandidateSettings(), ranking=SEEDS.ranking, source="preset", preset="seeds"
)
HEADED = Origin(place=Place("file", "docs/a.md"), heading_path=("Guia", "Uso"), title="Guia")
FOUND = found(
    dataclasses.replace(chunk("docs/a.md", vector=(0.5, 1), chunk_id="id-a"), origin=HEADED),
    chunk("docs/b.md", ordinal=4, lexical=(0.25, 1), chunk_id="id-b"),
)


def answer(candidates: CandidateSet = FOUND, **changes: object) -> Answer:
    made = Answer(
        search_id="s1",
        project_id="entrega",
        question="uso?",
        settings=SETTINGS,
        found=candidates,
        ranking=rank(candidates, SETTINGS.ranking),
        contents={"id-a": "texto", "id-b": "outro"},
        timings=Timings(embed_ms=1, vector_ms=2, lexical_ms=3, rank_ms=4, total_ms=11),
        provider_reason=None,
        notice=None,
        explanation=None,
    )
    return dataclasses.replace(made, **changes)


def told(*, whole_set: bool = False, **changes: object) -> dict[str, object]:
    return FullSearchAnswer.in_full(answer(**changes), whole_set=whole_set).to_json()


def test_a_healthy_answer_has_exactly_the_contracts_keys() -> None:
    assert told() == {
        "searchId": "s1",
        "projectId": "entrega",
        "question": "uso?",
        "scopes": ["docs", "adr", "session"],
        "vectorAvailable": True,
        "degraded": False,
        "degradedReason": None,
        "threshold": 0.2,
        "settings": SETTINGS.to_json(),
        "timings": {"embedMs": 1, "vectorMs": 2, "lexicalMs": 3, "rankMs": 4, "totalMs": 11},
        "hits": [
            {
                "rank": 1,
                "chunkId": "id-a",
                "content": "texto",
                "score": 0.3,
                "vectorScore": 0.5,
                "lexicalScore": None,
                "scope": "docs",
                "origin": {
                    "kind": "file",
                    "sourcePath": "docs/a.md",
                    "headingPath": ["Guia", "Uso"],
                    "title": "Guia",
                },
                "citation": "docs/a.md › Guia › Uso",
            }
        ],
    }


def test_the_whole_set_holds_candidates_without_their_texts_and_with_what_replays_ties() -> None:
    whole = told(whole_set=True)["wholeSet"]
    assert isinstance(whole, list)
    assert whole[1] == {
        "rank": None,
        "chunkId": "id-b",
        "score": 0.1,
        "vectorScore": None,
        "lexicalScore": 0.25,
        "scope": "docs",
        "origin": {"kind": "file", "sourcePath": "docs/b.md"},
        "citation": "docs/b.md",
        "ordinal": 4,
        "contentHash": "0" * 64,
        "wholeRank": 2,
        "vectorRank": None,
        "lexicalRank": 1,
        "fate": "threshold",
    }


def test_a_search_that_was_not_recorded_has_a_null_id_and_its_hits() -> None:
    made = told(search_id=None)
    assert made["searchId"] is None
    assert len(made["hits"]) == 1


def test_an_outage_suspends_the_threshold_and_says_why() -> None:
    outage = dataclasses.replace(
        found(chunk("docs/b.md", lexical=(0.25, 1), chunk_id="id-b"), vector_available=False),
        degraded_reason=DegradedReason.PROVIDER,
    )
    made = told(candidates=outage, provider_reason="Ollama does not answer.")
    assert (made["vectorAvailable"], made["degraded"], made["degradedReason"]) == (False, True, "provider")
    assert made["threshold"] is None
    assert made["providerReason"] == "Ollama does not answer."


def test_a_notice_stands_only_where_there_is_something_to_say() -> None:
    assert "notice" not in told()
    assert told(notice="noSearchableTerms")["notice"] == "noSearchableTerms"


def test_an_explained_chunk_that_no_signal_returned_has_the_fate_candidates_and_no_whole_rank() -> None:
    away = ExplainedChunk(
        chunk_id="id-c",
        scope=Scope.DOCS,
        origin=Origin(place=Place("file", "docs/c.md")),
        ordinal=0,
        content_hash="1" * 64,
        entry=None,
        vector_position=31,
        lexical_position=None,
    )
    made = told(explanation=Explanation(place="docs/c.md", left_out=("é",), chunks=(away,)))
    explanation = made["explanation"]
    assert explanation == {
        "place": "docs/c.md",
        "leftOut": ["é"],
        "chunks": [
            {
                "rank": None,
                "chunkId": "id-c",
                "score": None,
                "vectorScore": None,
                "lexicalScore": None,
                "scope": "docs",
                "origin": {"kind": "file", "sourcePath": "docs/c.md"},
                "citation": "docs/c.md",
                "ordinal": 0,
                "contentHash": "1" * 64,
                "wholeRank": None,
                "vectorRank": None,
                "lexicalRank": None,
                "fate": "candidates",
                "vectorPosition": 31,
                "lexicalPosition": None,
            }
        ],
    }


def test_a_sessions_origin_names_session_and_event() -> None:
    spoken = Origin(place=Place("session", "s1"), event_id="e7", title="Plantão")
    assert shape_of(spoken).to_json() == {
        "kind": "session",
        "sessionId": "s1",
        "eventId": "e7",
        "title": "Plantão",
    }


def test_the_scopes_of_an_answer_are_those_that_were_searched() -> None:
    narrow = dataclasses.replace(SETTINGS, candidates=CandidateSettings(scopes=(Scope.ADR,)))
    assert told(settings=narrow)["scopes"] == ["adr"]
    assert told()["scopes"] == list(ALL_SCOPES)
