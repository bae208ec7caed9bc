"""A recorded search is recalled as it was answered, whatever became of the index since."""

import dataclasses
import uuid
from pathlib import Path

import pytest

from material import ANA, DOCUMENTS, Repository, services
from medir.contract.search import FullSearchAnswer
from rag_core.database.connections import Database
from rag_core.errors import UsageError
from rag_core.model import Scope
from rag_core.project.projects import add_project
from rag_core.search.answer import Answer
from rag_core.search.recalling import RecalledSearch, recall

QUESTION = "frete pedágio fila coletor senha rota"


class Told:
    """A project, one search of it, and what is recalled of that."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self.repository = Repository(folder, DOCUMENTS)
        self.project = add_project(database, "entrega", repo=folder)
        self.use = services(database)
        self.use.indexing.run(self.project, actor=ANA)

    def ask(self, **options) -> Answer:
        return self.use.search.ask("entrega", QUESTION, actor=ANA, **options)

    def recall(self, answer: Answer) -> RecalledSearch:
        return recall(self._database, "entrega", uuid.UUID(answer.search_id))


@pytest.fixture
def told(database: Database, tmp_path: Path) -> Told:
    return Told(database, tmp_path / "repository")


def without_times(answer: Answer) -> dict[str, object]:
    found = FullSearchAnswer.in_full(answer, whole_set=True).to_json()
    # a real of four bytes holds them
    found.pop("timings")
    return found


def test_it_is_the_answer_to_the_last_candidate(told: Told) -> None:
    for options in ({}, {"scopes": (Scope.ADR,)}):
        answer = told.ask(**options)
        assert answer.ranking.hits
        recalled = told.recall(answer)
        assert without_times(recalled.answer) == without_times(answer)
        assert recalled.answer.ranking == answer.ranking
        assert set(recalled.answer.found.candidates) == set(answer.found.candidates)
        assert (recalled.asked_by, recalled.gone) == ("human:ana", frozenset())


def test_after_a_full_run_places_ranks_and_texts_stand_and_every_id_is_gone(told: Told) -> None:
    answer = told.ask()
    told.use.indexing.run(told.project, actor=ANA, mode="full")
    recalled = told.recall(answer)
    hits, before = recalled.answer.ranking.hits, answer.ranking.hits
    assert [(hit.rank, hit.score, hit.candidate) for hit in hits] == [
        (hit.rank, hit.score, hit.candidate) for hit in before
    ]
    assert recalled.answer.contents == answer.contents
    assert recalled.gone == frozenset(answer.contents)


def test_a_hit_that_moved_to_another_file_is_told_where_it_was_found(told: Told) -> None:
    answer = told.ask()
    moved = next(hit for hit in answer.ranking.hits if str(hit.candidate.origin.place) == "docs/seguranca.md")
    told.repository.git("mv", "docs/seguranca.md", "docs/senhas.md")
    told.repository.commit({})
    told.use.indexing.run(told.project, actor=ANA)
    recalled = told.recall(answer)
    again = next(hit for hit in recalled.answer.ranking.hits if hit.rank == moved.rank)
    assert again.candidate.chunk_id == moved.candidate.chunk_id
    # its headings were those of the other file
    assert again.candidate.origin.citation == "docs/seguranca.md"
    assert recalled.answer.contents[again.candidate.chunk_id] == answer.contents[moved.candidate.chunk_id]
    assert recalled.gone == frozenset()


def test_what_nobody_asked_and_what_is_another_projects_is_not_there(told: Told, database: Database) -> None:
    answer = told.ask()
    looked = told.use.search.look("entrega", QUESTION)
    assert looked == dataclasses.replace(answer, search_id=None, timings=looked.timings)
    with database.connection() as connection:
        assert connection.execute("select count(*) from rag_searches").fetchone() == (1,)
    for project, search_id in (("entrega", uuid.uuid4()), ("outro", uuid.UUID(answer.search_id))):
        with pytest.raises(UsageError, match="There is no search"):
            recall(database, project, search_id)
