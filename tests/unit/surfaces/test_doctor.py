"""What `medir doctor` says of a part of the machine."""

import pytest

from medir.doctor import check_language, check_pgvector
from rag_core.database.index.identity import IndexIdentity
from rag_core.model import Project


@pytest.mark.parametrize("version", ["0.8.4", "0.8.6", "0.9.0", "1.0"])
def test_a_sound_pgvector_is_named_and_needs_nothing(version: str) -> None:
    check = check_pgvector(version)
    assert (check.ok, check.found, check.remedy) == (True, f"pgvector {version}", None)


@pytest.mark.parametrize("version", ["0.8.0", "0.8.3", "0.7.4", None])
def test_an_older_pgvector_or_none_comes_with_its_remedy(version: str | None) -> None:
    check = check_pgvector(version)
    assert not check.ok
    assert "pgvector 0.8.4 or newer" in str(check.remedy)


def test_an_index_in_another_language_is_told_with_the_command_that_mends_it() -> None:
    project = Project(
        project_id="p", name="p", repo="/", root="", ref="HEAD", golden=None, language="english"
    )

    def found(config: str) -> list[tuple[bool, str | None]]:
        index = IndexIdentity(
            embedding_model=None, chunker_version="2", text_search_config=config, generation=1
        )
        return [(check.ok, check.remedy) for check in check_language(project, index)]

    assert list(check_language(project, None)) == []
    assert found("english+2") == []
    assert found("portuguese+2") == [(False, "Run: medir index --project p")]
    assert found("english") == [(False, "Run: medir index --project p")]
