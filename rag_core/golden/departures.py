"""What became of a file that is not there any more: it was renamed, once or more often, or deleted. Pure."""

from dataclasses import dataclass

from rag_core.golden.document import shown

COMMIT_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A commit after which a file was no longer there; `to` is its name since then, None where it was deleted."""

    commit: str
    to: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """The names that a file had one after the other, as git tells them.

    Raises:
        ValueError: There is no step, or one after a deletion.
    """

    steps: tuple[Left, ...]

    def __post_init__(self) -> None:
        if not self.steps or any(step.to is None for step in self.steps[:-1]):
            raise ValueError("a departure ends with its deletion, and has at least one step")

    @property
    def moved_to(self) -> str | None:
        """The name that it has now; None where it was deleted in the end."""
        return self.steps[-1].to

    @property
    def words(self) -> str:
        """A clause that follows the file's name.

        Examples:
            >>> Departure(steps=(Left(commit="a" * 40, to="b.md"), Left(commit="b" * 40, to=None))).words
            'was renamed to “b.md” in commit aaaaaaaaaaaa, and that was deleted in commit bbbbbbbbbbbb'
        """
        told = [
            f"deleted in commit {step.commit[:COMMIT_DIGITS]}"
            if step.to is None
            else f"renamed to {shown(step.to)} in commit {step.commit[:COMMIT_DIGITS]}"
            for step in self.steps
        ]
        return "was " + ", and that was ".join(told)
