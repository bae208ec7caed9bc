"""What was said in an event, in the shapes in which people and agents log it."""

import pytest

from rag_core.model.session_events import spoken_text


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        ({"text": " Sete dias.\n"}, " Sete dias.\n"),
        ({"text": [{"type": "text", "text": "Sete"}, {"type": "text", "text": "dias."}]}, "Sete\n\ndias."),
        ({"text": ["Sete", "dias."]}, "Sete\n\ndias."),
        ({"text": {"type": "text", "text": "Sete."}}, "Sete."),
        ({"text": {"type": "text", "text": {"value": "Sete.", "annotations": ["x"]}}}, "Sete."),
        ({"content": [{"type": "output_text", "text": "Sete."}]}, "Sete."),
        ({"content": {"content_type": "text", "parts": ["Sete.", {"x": 1}]}}, "Sete."),
        ({"text": [{"type": "message", "content": [{"type": "input_text", "text": "Sete."}]}]}, "Sete."),
        ({"text": [{"text": "Sete."}]}, "Sete."),
        ({"text": "", "content": "Sete."}, "Sete."),
        ({"text": "Sete.", "content": "Outra coisa."}, "Sete."),
        ({"type": "tool_use", "text": "Sete."}, "Sete."),
    ],
)
def test_every_shape_of_a_text_is_read(payload: dict[str, object], text: str) -> None:
    assert spoken_text(payload) == text


@pytest.mark.parametrize("kind", ["tool_use", "tool_result", "image", "thinking", "document", 7, ["text"]])
def test_blocks_of_any_other_kind_are_left_out(kind: object) -> None:
    block = {"type": kind, "text": "não foi dito", "content": [{"type": "text", "text": "nem isto"}]}
    assert spoken_text({"text": [block]}) == ""
    assert spoken_text({"text": [block, {"type": "text", "text": "Sete."}]}) == "Sete."


@pytest.mark.parametrize(
    "payload", [{}, {"text": None}, {"text": 7}, {"text": " \u00a0"}, {"text": [[], {}]}]
)
def test_where_nothing_can_be_read_nothing_was_said(payload: dict[str, object]) -> None:
    assert spoken_text(payload) == ""
