"""Why a search was degraded, in words. Pure."""

from typing import assert_never

from rag_core.model import DegradedReason


def why_degraded(reason: DegradedReason, *, chunks: str = "chunks") -> str:
    """The reason as a clause: `the index has no vectors`.

    `chunks` is what they are called where it is said.
    """
    match reason:
        case DegradedReason.MODEL_MISMATCH:
            return "the configured embedding model is not the one that made the index"
        case DegradedReason.PROVIDER:
            return "the question could not be embedded"
        case DegradedReason.NO_VECTORS:
            return "the index has no vectors"
        case DegradedReason.SOME_VECTORS_MISSING:
            return f"some {chunks} have no vector yet, and can be found by their words only"
        case _:
            assert_never(reason)


def why_recorded(reason: str) -> str:
    """The same of a reason as a row has it, which may be of an older kind: told as it stands then."""
    known = next((each for each in DegradedReason if each == reason), None)
    return reason if known is None else why_degraded(known)
