"""The session event log: its entries, which of them are spoken and so can be cited, and what was said in them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

INDEXED_EVENT_TYPES = ("chat.message", "agent.response")

# in this order: where agents keep a text, and what their blocks of text call themselves
_HOLDERS = ("text", "content", "parts", "value")
_TEXT_BLOCKS = (None, "text", "input_text", "output_text", "message", "markdown")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEvent:
    """One entry of a session's log, before it has a number in it. `created_at` is aware."""

    session_id: str
    event_id: str
    type: str
    created_at: datetime
    actor_kind: str
    actor_id: str
    title: str | None
    payload: dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A spoken event of a session: what is indexed."""

    session_id: str
    event_id: str
    title: str | None
    text: str


def spoken_text(payload: Mapping[str, object]) -> str:
    r"""What was said in a spoken event; "" where nothing was that can be read.

    `text` is a text, or blocks of content as agents log them: the blocks of text are taken, as paragraphs, and
    images, thoughts, calls of tools and their results are left out.

    Examples:
        >>> spoken_text({"text": [{"type": "text", "text": "Sete dias."}, {"type": "tool_use", "text": "x"}]})
        'Sete dias.'
    """
    return "\n\n".join(_held(payload))


def _held(holder: Mapping[str, object]) -> list[str]:
    """The texts under the first key that has any."""
    for key in _HOLDERS:
        texts = list(_texts(holder.get(key)))
        if texts:
            return texts
    return []


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if value.strip():
            yield value
    elif isinstance(value, list):
        for entry in value:
            yield from _texts(entry)
    elif isinstance(value, dict) and value.get("type", value.get("content_type")) in _TEXT_BLOCKS:
        yield from _held({str(key): entry for key, entry in value.items()})
