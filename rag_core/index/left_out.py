"""What of a repository is not in the index, in two kinds and in the same words wherever it is told.

A file that a run skips is either *left out by rule* (a link, another repository's, a pointer, no document), which is as
it should be, or it *could not be indexed*, which is not. Documents outside the project's folders were never looked at.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag_core.chunking import FORMAT_NAMES
from rag_core.model.shape import Shape
from rag_core.sources.documents import SkipReason
from rag_core.words.plurals import counted

BY_RULE, FAULTY = "left out by rule", "could not be indexed"
_EXAMPLES = 5
_RULES = frozenset(str(reason) for reason in SkipReason if reason.by_rule)

Skipped = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """The files that a run skipped, `{path, reason}` each, in the order that it met them."""

    by_rule: tuple[Skipped, ...]
    faulty: tuple[Skipped, ...]

    @classmethod
    def of(cls, skipped: Iterable[Skipped]) -> "LeftOut":
        """The entries of an index run's or a scope's `skipped`, told apart."""
        entries = tuple(skipped)
        return cls(
            by_rule=tuple(entry for entry in entries if is_by_rule(entry)),
            faulty=tuple(entry for entry in entries if not is_by_rule(entry)),
        )

    @property
    def told(self) -> str:
        """Both numbers in words.

        Examples:
            >>> LeftOut.of([{"path": "docs/a.png", "reason": "notMarkdown"}]).told
            '1 file left out by rule, 0 could not be indexed'
        """
        return f"{counted(len(self.by_rule), 'file')} {BY_RULE}, {len(self.faulty):,} {FAULTY}"


def is_by_rule(entry: Skipped) -> bool:
    """Whether a skipped file is left out on purpose."""
    return str(entry["reason"]) in _RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside(Shape):
    """Documents of the project's repository, below its root, in none of its folders; `examples` are the first."""

    files: int
    examples: tuple[str, ...]

    @classmethod
    def of(cls, paths: Sequence[str]) -> "Outside":
        """All of them, in the repository's order."""
        return cls(files=len(paths), examples=tuple(paths[:_EXAMPLES]))

    @property
    def told(self) -> str:
        """How many there are and the first of them; empty where there is none.

        Examples:
            >>> Outside.of(["README.md"]).told
            '1 Markdown file lies outside the indexed folders: README.md'
        """
        if not self.files:
            return ""
        lie = counted(self.files, f"{FORMAT_NAMES} file lies", f"{FORMAT_NAMES} files lie")
        more = ", …" if self.files > len(self.examples) else ""
        return f"{lie} outside the indexed folders: {', '.join(self.examples)}{more}"
