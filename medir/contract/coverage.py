"""What of a project's sources is in its index."""

from dataclasses import dataclass

from rag_core.index.coverage import Coverage, ScopeCoverage
from rag_core.index.left_out import Outside
from rag_core.model import Scope
from rag_core.model.shape import Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentCoverage(Shape):
    """Documents or decisions: `inRepository` is null where the repository can't be read.

    `skipped` counts the files that the last run did not index, `skippedByRule` those of them that a rule leaves out;
    the others could not be indexed.
    """

    in_repository: int | None
    indexed: int
    chunks: int
    without_vector: int
    skipped: int
    skipped_by_rule: int
    indexed_at: str | None
    commit: str | None

    @classmethod
    def of(cls, scope: ScopeCoverage) -> "DocumentCoverage":
        """One of the two scopes that hold files."""
        return cls.drawn(
            scope,
            in_repository=scope.sources,
            skipped=len(scope.skipped_files),
            skipped_by_rule=len(scope.left_out.by_rule),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCoverage(Shape):
    """Sessions."""

    sessions: int | None
    indexed: int
    chunks: int
    without_vector: int
    indexed_at: str | None

    @classmethod
    def of(cls, scope: ScopeCoverage) -> "SessionCoverage":
        """The scope of sessions."""
        return cls.drawn(scope, sessions=scope.sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageScopes(Shape):
    """Each scope."""

    docs: DocumentCoverage
    adr: DocumentCoverage
    session: SessionCoverage


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageAnswer(Shape):
    """What of the sources is in the index. `moved`: the repository has commits that the index has not seen.

    `outside` is null where the repository can't be read. `language` is the project's, `indexLanguage` the one that the
    index was made in, null before the first index run.
    """

    project: str
    language: str
    index_language: str | None
    commit: str | None
    head_commit: str | None
    moved: bool
    scopes: CoverageScopes
    outside: Outside | None

    @classmethod
    def of(cls, measured: Coverage) -> "CoverageAnswer":
        """As it was measured."""
        by_scope = {scope.scope: scope for scope in measured.scopes}
        return cls.drawn(
            measured,
            project=measured.project_id,
            scopes=CoverageScopes(
                docs=DocumentCoverage.of(by_scope[Scope.DOCS]),
                adr=DocumentCoverage.of(by_scope[Scope.ADR]),
                session=SessionCoverage.of(by_scope[Scope.SESSION]),
            ),
        )
