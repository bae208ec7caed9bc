"""JSON schemas as a model reads them: without the titles that only repeat a field's name, and with plain types.

Clients trip over unions with null. What may be left out of the arguments is simply not required; an answer that may be
null says so in one list of types.
"""

from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from rag_core.model.shape import Shape


class _Plain(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002  as its parent calls it
        """Never: a title made of a field's name says nothing new."""
        return False

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """The inner type; beside null, where an answer may be null."""
        inner = self.generate_inner(schema["schema"])
        if self.mode == "validation":
            return inner
        words = {"enum": [*inner["enum"], None]} if "enum" in inner else {}
        return {**inner, **words, "type": [inner["type"], "null"]}

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Without a default: what is left out says itself in its description what that means, and is never null."""
        inner: Any = schema["schema"]
        return self.generate_inner(inner["schema"] if inner["type"] == "nullable" else inner)

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        """One object with what any of the kinds has; required is what all of them have."""
        kinds = [self.resolve_ref_schema(self.generate_inner(kind)) for kind in schema["choices"].values()]
        told = {"type": "string", "enum": list(schema["choices"])}
        properties = {name: entry for kind in kinds for name, entry in kind["properties"].items()}
        properties[str(schema["discriminator"])] = told
        required = [name for name in properties if all(name in kind["required"] for kind in kinds)]
        return {"type": "object", "properties": properties, "required": required}


def input_schema(model: type[BaseModel]) -> dict[str, object]:
    """The JSON schema of a tool's arguments."""
    return model.model_json_schema(schema_generator=_Plain)


def output_schema(output: type[Shape]) -> dict[str, object]:
    """The JSON schema of what a tool answers."""
    return TypeAdapter(output).json_schema(schema_generator=_Plain, mode="serialization")
