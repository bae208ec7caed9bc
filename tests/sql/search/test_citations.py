"""The words that a hit is marked with are those that the search counted."""

from pathlib import Path

from material import ANA, make_project, services
from rag_core.database.connections import Database
from rag_core.search.citations import read_matched_words

TEXT = "# Acordo\n\nA negociação de fretes segue a RN-058; os canais são dois.\n"


def test_words_are_marked_in_every_spelling_that_the_search_counts(
    database: Database, tmp_path: Path
) -> None:
    project = make_project(database, tmp_path / "repository", {"docs/acordo.md": TEXT})
    services(database).indexing.run(project, actor=ANA)

    assert "negociação" in read_matched_words(database, project.project_id, "negociacao", [TEXT])[0]
    assert "canais" in read_matched_words(database, project.project_id, "canal", [TEXT])[0]
    assert read_matched_words(database, project.project_id, "sorvete", [TEXT]) == (frozenset(),)


def test_words_are_marked_through_what_typography_hides(database: Database, tmp_path: Path) -> None:
    text = "# Acordo\n\nA RN\u2011058 vale; a nego\u00adciação em Flutter/nativo de 2010\u20132014.\n"
    project = make_project(database, tmp_path / "repository", {"docs/acordo.md": text})
    services(database).indexing.run(project, actor=ANA)

    def marked(question: str) -> frozenset[str]:
        return read_matched_words(database, project.project_id, question, [text])[0]

    assert marked("RN-058") == {"RN\u2011058"}
    assert marked("negociação") == {"nego\u00adciação"}
    assert marked("nativo") == {"Flutter/nativo"}
    assert marked("2014") == {"2010\u20132014"}
    assert marked("é a") == frozenset()
