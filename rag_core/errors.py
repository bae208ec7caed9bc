"""Every error that a caller can cause or must handle.

    MedirError
    ├── UsageError            wrong arguments, a name that does not exist
    ├── InvalidInput          a file or a value that does not parse; names file, line and field
    │   └── FaultyDocument    a YAML file that people write; carries every fault
    │       ├── FaultyGoldenSet   a golden set that the linter refuses
    │       └── FaultySettings    a settings.yaml that is refused
    ├── Refused               a sound request that is not carried out, e.g. votes would be lost
    │   ├── VotesAtRisk       an index run would delete votes; carries their number
    │   ├── SourcesGone       an index run would leave nothing of a scope
    │   └── Busy              another run holds what this one needs
    ├── Unavailable           a service is missing: database, extension, git, provider
    │   ├── DatabaseUnavailable   no answer, or it went away in the middle
    │   ├── DatabaseBusy      too many connections, or somebody else holds what is needed
    │   ├── DatabaseRefused   it answers, and does not let this be done as it stands
    │   └── OperatorNeeded    only an operator of the database can go on; carries the one command
    │       └── DatabaseReadOnly  it lets itself be read, and no more
    └── EmbeddingFailed       the provider failed; caught by the embedding service, never seen by a user

Each carries a one-sentence `message` and a `hint` that says what to do, a stable `code` for machines,
and where it helps a `where` (file, line, field). Surfaces print these; they never print a traceback.
"""

from collections.abc import Mapping


class MedirError(Exception):
    """The root. `message` says what is wrong, `hint` what to do, `where` the place in an input."""

    code = "error"

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        where: Mapping[str, str | int] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.where = dict(where) if where else None

    def __reduce__(self) -> tuple[object, ...]:
        """All that it holds, so that it can be handed from one process to another whatever its constructor asks."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[MedirError], arguments: tuple[object, ...], held: dict[str, object]) -> MedirError:
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(held)
    return error


class UsageError(MedirError):
    """A command or call that can't be meant."""

    code = "usage"


class InvalidInput(MedirError):
    """Text from outside that does not parse or breaks a rule; nothing was written."""

    code = "invalidInput"


class FaultyDocument(InvalidInput):
    """A YAML file with faults; `faults` lists them all, each with case, field, line and message."""

    code = "faultyDocument"

    def __init__(
        self,
        message: str,
        *,
        faults: tuple[Mapping[str, object], ...],
        hint: str = "",
        where: Mapping[str, str | int] | None = None,
    ) -> None:
        super().__init__(message, hint=hint, where=where)
        self.faults = faults


class FaultyGoldenSet(FaultyDocument):
    """A golden set with faults."""

    code = "faultyGoldenSet"


class FaultySettings(FaultyDocument):
    """A `settings.yaml` with faults."""

    code = "faultySettings"


class Refused(MedirError):
    """A sound request that is deliberately not carried out."""

    code = "refused"


class VotesAtRisk(Refused):
    """An index run would delete `votes` votes, and nobody has agreed to that."""

    code = "votesAtRisk"

    def __init__(self, votes: int) -> None:
        super().__init__(
            f"This run would delete {votes} {'vote' if votes == 1 else 'votes'}.",
            hint="Run `medir index --yes`, with this run's other options, to lose them; or leave the index as it is.",
        )
        self.votes = votes


class SourcesGone(Refused):
    """An index run would leave nothing of a scope that is in the index, and nobody has agreed to that."""

    code = "sourcesGone"


class Busy(Refused):
    """Another run holds the lock that this one needs."""

    code = "busy"


class NotSignedIn(Refused):
    """Nobody can tell who calls: no token where one is needed, or one that is not valid."""

    code = "notSignedIn"


class NotPermitted(Refused):
    """The caller is known, and may not do this."""

    code = "notPermitted"


class Unavailable(MedirError):
    """Something outside the program is missing or does not answer."""

    code = "unavailable"


class DatabaseUnavailable(Unavailable):
    """The database does not answer, or went away in the middle."""

    code = "databaseUnavailable"


class DatabaseBusy(Unavailable):
    """The database answers, and others are in the way: a later try may do."""

    code = "databaseBusy"


class DatabaseRefused(Unavailable):
    """The database answers, and refuses what is asked as it stands there: who asks, where, or what it finds."""

    code = "databaseRefused"


class OperatorNeeded(Unavailable):
    """The role in use may not do this; the hint holds the one command for an operator."""

    code = "operatorNeeded"


class DatabaseReadOnly(OperatorNeeded):
    """The database lets itself be read, and no more: a standby, or read-only by its settings."""

    code = "databaseReadOnly"


class EmbeddingFailed(MedirError):
    """The embedding provider failed. `content_fault` is true when the text, not the provider, is to blame.

    `doubtful`, where it is not: the provider answered, and whether it would answer so to any other text must be asked.
    """

    code = "embeddingFailed"

    def __init__(
        self, message: str, *, hint: str = "", content_fault: bool = False, doubtful: bool = False
    ) -> None:
        super().__init__(message, hint=hint)
        self.content_fault = content_fault
        self.doubtful = doubtful
