"""What golden cases expect, held against a project's index and its repository."""

import dataclasses
from collections.abc import Mapping, Sequence

from rag_core.errors import MedirError
from rag_core.golden.cases import Expectation, GoldenSet, expectations_of, with_places_meant
from rag_core.golden.faults import Fault
from rag_core.golden.linter import lint, unindexed_paths
from rag_core.model import Place, Project, Scope
from rag_core.model.place_names import PlaceNames
from rag_core.sources.documents import list_documents
from rag_core.sources.project_repository import repository_of
from rag_core.sources.whereabouts import Searched, find_deletions, find_whereabouts


def lint_places(
    project: Project, golden: GoldenSet, indexed: Mapping[Place, Scope]
) -> tuple[GoldenSet, tuple[Fault, ...]]:
    """The set by the names that its places have, its cases that can't be won, and where a file is instead.

    `indexed` are the places that have chunks, each with the scope of its chunks.
    """
    in_repository = _paths_in_repository(project)
    for names in _names(indexed, in_repository):
        golden = with_places_meant(golden, names)
    return golden, _faults(project, expectations_of(golden), indexed, in_repository)


def lint_expectations(
    project: Project, expected: Sequence[Expectation], indexed: Mapping[Place, Scope]
) -> tuple[Fault, ...]:
    """The same of a set that has other faults: what its cases expect and can't have."""
    in_repository = _paths_in_repository(project)
    for names in _names(indexed, in_repository):
        expected = [dataclasses.replace(each, place=names.meant(each.place)) for each in expected]
    return _faults(project, expected, indexed, in_repository)


def _names(
    indexed: Mapping[Place, Scope], in_repository: frozenset[str] | None
) -> tuple[PlaceNames, PlaceNames]:
    # what is in the index goes first: it is what is asked
    return PlaceNames(indexed), PlaceNames([Place("file", path) for path in in_repository or ()])


def _faults(
    project: Project,
    expected: Sequence[Expectation],
    indexed: Mapping[Place, Scope],
    in_repository: frozenset[str] | None,
) -> tuple[Fault, ...]:
    elsewhere, deleted = _whereabouts(project, expected, indexed, in_repository)
    return lint(expected, indexed=indexed, in_repository=in_repository, elsewhere=elsewhere, deleted=deleted)


def _paths_in_repository(project: Project) -> frozenset[str] | None:
    try:
        return list_documents(
            repository_of(project), ref=project.ref, root=project.root, folders=project.folders
        )
    except MedirError:
        # the index can still be judged where the repository has gone away
        return None


def _whereabouts(
    project: Project,
    expected: Sequence[Expectation],
    indexed: Mapping[Place, Scope],
    in_repository: frozenset[str] | None,
) -> tuple[dict[str, str], dict[str, str]]:
    """Where expected files are that are not indexed, and which commits deleted those that are nowhere."""
    if in_repository is None:
        return {}, {}
    paths = unindexed_paths(expected, indexed=indexed, in_repository=in_repository)
    if not paths:
        return {}, {}
    searched = Searched(
        project_id=project.project_id, ref=project.ref, root=project.root, folders=project.folders
    )
    try:
        repository = repository_of(project)
        elsewhere = find_whereabouts(repository, searched, paths)
        nowhere = [path for path in paths if path not in elsewhere and path not in in_repository]
        return elsewhere, find_deletions(repository, searched, nowhere)
    except MedirError:
        return {}, {}
