"""Why a run did not end well, as its row tells it to whoever opens the page later."""

from rag_core.errors import MedirError, Refused
from rag_core.model import Run


def recorded_failure(last: Run | None, *, advice: str) -> MedirError | None:
    """The error that ended the run, with its code; None where it goes on or ended well.

    `advice` is what to do after a process that died without a word.
    """
    if last is None or last.state not in ("failed", "interrupted", "cancelled"):
        return None
    if last.error is None:
        return Refused(
            f"The run of {last.started_at:%d %b %H:%M} UTC did not end: its process died.", hint=advice
        )
    failure = Refused(last.error.message, hint=last.error.hint)
    failure.code = last.error.code
    return failure
