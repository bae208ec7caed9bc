"""What `medir doctor` says of a part of the machine."""

import pytest

from medir.doctor import check_pgvector


@pytest.mark.parametrize("version", ["0.8.4", "0.8.6", "0.9.0", "1.0"])
def test_a_sound_pgvector_is_named_and_needs_nothing(version: str) -> None:
    check = check_pgvector(version)
    assert (check.ok, check.found, check.remedy) == (True, f"pgvector {version}", None)


@pytest.mark.parametrize("version", ["0.8.0", "0.8.3", "0.7.4", None])
def test_an_older_pgvector_or_none_comes_with_its_remedy(version: str | None) -> None:
    check = check_pgvector(version)
    assert not check.ok
    assert "pgvector 0.8.4 or newer" in str(check.remedy)
