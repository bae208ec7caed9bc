"""A session's messages are plain text, cut by size alone."""

from rag_core.chunking import chunk_message
from rag_core.model import Chunk, Place, Scope


def chunks(text: str, *, title: str | None = None, first_ordinal: int = 0) -> tuple[Chunk, ...]:
    return chunk_message(text, session_id="s1", event_id="e7", title=title, first_ordinal=first_ordinal)


def test_a_blank_message_has_no_chunks() -> None:
    assert chunks("") == ()
    assert chunks(" \r\n\0\n") == ()


def test_a_chunk_leads_back_to_its_session_and_event() -> None:
    (chunk,) = chunks("Qual fila usamos?", title="Filas")
    assert chunk.scope is Scope.SESSION
    assert chunk.origin.place == Place("session", "s1")
    assert (chunk.origin.event_id, chunk.origin.title, chunk.origin.heading_path) == ("e7", "Filas", ())
    assert chunk.origin.citation == "session:s1 › e7"


def test_markdown_is_not_read_in_a_message() -> None:
    text = "---\ntitle: x\n---\n# canal\n<!-- visto -->\n## outro\nfim"
    (chunk,) = chunks(text)
    assert chunk.content == text
    assert chunk.origin.title is None


def test_a_long_message_is_cut_as_a_section_is_and_ordinals_go_on() -> None:
    words = [f"w{number:08d}" for number in range(200)]
    first, second = chunks(" ".join(words), first_ordinal=5)
    assert (first.ordinal, second.ordinal) == (5, 6)
    assert first.content == " ".join(words[:120])
    assert second.content == " ".join(words[105:])


def test_a_table_in_a_message_is_text() -> None:
    text = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 200
    assert all(chunk.content in text for chunk in chunks(text))


def test_line_ends_byte_order_mark_and_nuls_are_cleaned() -> None:
    assert [chunk.content for chunk in chunks("\ufeffum\r\ndois\rtr\0ês")] == ["um\ndois\ntrês"]
