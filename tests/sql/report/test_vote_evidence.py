"""Votes beside a choice: which judged hits two settings would still show."""

import dataclasses
from pathlib import Path

import pytest

from material import ANA, Services, make_project, services
from rag_core.clock import SystemClock
from rag_core.database.connections import Database
from rag_core.model import SearchSettings
from rag_core.report.vote_evidence import VoteEvidence, weigh_votes
from rag_core.search.answer import Answer
from rag_core.search.votes import cast_vote
from rag_core.settings.overrides import Overrides

EVERYTHING = Overrides(threshold=None, max_per_file=None)


@pytest.fixture
def made(database: Database, tmp_path: Path) -> Services:
    """The project `entrega`, indexed."""
    opened = services(database)
    opened.indexing.run(make_project(database, tmp_path / "repository"), actor=ANA)
    return opened


def ask(made: Services, question: str = "Quando o frete é calculado?", **options: object) -> Answer:
    asked = made.search.ask("entrega", question, actor=ANA, overrides=EVERYTHING, **options)
    assert len(asked.ranking.hits) >= 2
    return asked


def vote(made: Services, asked: Answer, rank: int, verdict: str) -> None:
    cast_vote(
        made.database,
        SystemClock(),
        "entrega",
        search_id=str(asked.search_id),
        chunk_id=asked.ranking.hits[rank - 1].candidate.chunk_id,
        verdict=verdict,
        actor=ANA,
    )


def shorter(asked: Answer, limit: int) -> SearchSettings:
    return asked.settings.with_ranking(dataclasses.replace(asked.settings.ranking, limit=limit))


def weigh(made: Services, today: SearchSettings, proposal: SearchSettings) -> VoteEvidence:
    return weigh_votes(made.database, "entrega", today, proposal)


def test_a_setting_that_shows_less_loses_what_was_voted_on_below_its_limit(made: Services) -> None:
    asked = ask(made)
    vote(made, asked, 1, "util")
    vote(made, asked, 2, "irrelevante")
    found = weigh(made, asked.settings, shorter(asked, 1))
    assert (found.searches, found.not_replayable) == (1, 0)
    assert found.useful.to_json() == {"votes": 1, "shownToday": 1, "shownByProposal": 1}
    assert found.irrelevant.to_json() == {"votes": 1, "shownToday": 1, "shownByProposal": 0}
    assert "of 1 useful ones today's settings still show 1, the proposal 1" in found.sentence


def test_a_search_without_votes_and_a_synthetic_one_say_nothing(made: Services) -> None:
    asked = ask(made)
    vote(made, ask(made, synthetic=True), 1, "util")
    found = weigh(made, asked.settings, shorter(asked, 1))
    assert (found.searches, found.not_replayable, found.useful.votes) == (0, 0, 0)
    assert found.sentence == "Votes: none that can be replayed under these settings."


def test_what_would_need_other_candidates_is_counted_and_not_weighed(made: Services) -> None:
    asked = ask(made)
    vote(made, asked, 1, "util")
    deeper = dataclasses.replace(asked.settings.ranking, candidates_per_signal=500)
    found = weigh(made, asked.settings, asked.settings.with_ranking(deeper))
    assert (found.searches, found.not_replayable, found.useful.votes) == (0, 1, 0)


def test_only_the_latest_voted_searches_are_weighed(made: Services) -> None:
    asked = [ask(made) for _ in range(3)]
    for number, each in enumerate(asked):
        vote(made, each, 1, "util" if number else "irrelevante")
    settings = asked[0].settings
    found = weigh_votes(made.database, "entrega", settings, settings, most=2)
    assert (found.searches, found.useful.votes, found.irrelevant.votes) == (2, 2, 0)
