"""JSON schemas as a model reads them: without the titles that only repeat a field's name."""

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema


class _Untitled(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002  as its parent calls it
        """Never: a title made of a field's name says nothing new."""
        return False


def input_schema(model: type[BaseModel]) -> dict[str, object]:
    """The JSON schema of a tool's arguments."""
    return model.model_json_schema(schema_generator=_Untitled)


def output_schema(output: type[object]) -> dict[str, object]:
    """The JSON schema of a typed dictionary that a tool answers."""
    return TypeAdapter(output).json_schema(schema_generator=_Untitled)
