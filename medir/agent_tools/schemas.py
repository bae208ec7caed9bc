"""JSON schemas as a model reads them: without the titles that only repeat a field's name, and with plain types.

Clients trip over unions with null. What may be left out of the arguments is simply not required; an answer that may be
null says so in one list of types.
"""

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema


class _Plain(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002  as its parent calls it
        """Never: a title made of a field's name says nothing new."""
        return False

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """The inner type; beside null, where an answer may be null."""
        inner = self.generate_inner(schema["schema"])
        return inner | {"type": [inner["type"], "null"]} if self.mode == "serialization" else inner

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Without a default: what is left out says itself in its description what that means."""
        return self.generate_inner(schema["schema"])


def input_schema(model: type[BaseModel]) -> dict[str, object]:
    """The JSON schema of a tool's arguments."""
    return model.model_json_schema(schema_generator=_Plain)


def output_schema(output: type[object]) -> dict[str, object]:
    """The JSON schema of a typed dictionary that a tool answers."""
    return TypeAdapter(output).json_schema(schema_generator=_Plain, mode="serialization")
