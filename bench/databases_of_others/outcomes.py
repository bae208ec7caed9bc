"""How a verb or a page ended, and whether it may end so."""

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A verb's exit code, None without an end, and what it said where it was refused.

    A page has 0 where it draws, 2 where a banner says what is refused, 70 where it holds a fault of ours.
    """

    verb: str
    code: int | None
    seconds: float
    message: str = ""
    hint: str = ""
    faulty: bool = False


def judged(verb: str, code: int, seconds: float, said: str, aside: str) -> Outcome:
    """What a verb said on its two streams, and whether it may end so."""
    error: dict[str, str] = {}
    faulty = code not in (0, 1, 2, 3) or "Traceback" in aside or "fault of Medir's own" in said + aside
    try:
        document = json.loads(said or "{}")
        error = document.get("error", {}) if isinstance(document, dict) else {}
        if code == 2 and verb == "doctor":
            wrong = [check for check in document["checks"] if not check["ok"]]
            error = {"message": wrong[0]["found"], "hint": wrong[0]["remedy"]} if wrong else {}
    except ValueError:
        faulty = True
    message, hint = str(error.get("message") or ""), str(error.get("hint") or "")
    if code == 2:
        faulty = faulty or not (message and hint)
    return Outcome(verb=verb, code=code, seconds=seconds, message=message, hint=hint, faulty=faulty)


def without_end(verb: str, seconds: float) -> Outcome:
    return Outcome(verb=verb, code=None, seconds=seconds, faulty=True)
