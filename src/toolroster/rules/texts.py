"""Which texts of a definition does a model read?"""

from __future__ import annotations

from collections.abc import Iterator

from toolroster.canonical import JsonValue, Pointer
from toolroster.schemas import walk_schemas
from toolroster.tools import ToolDefinition


def list_texts(tool: ToolDefinition) -> Iterator[tuple[Pointer, str]]:
    """Yield `(pointer within the definition's file, text)` of every description and title that a target may emit."""
    mcp = tool.origin.kind == "mcp"
    yield ("description",), tool.description
    for key, schema in (
        ("inputSchema" if mcp else "input_schema", tool.input_schema),
        ("outputSchema" if mcp else "output_schema", tool.output_schema),
    ):
        for pointer, subschema in walk_schemas(schema or {}):
            for word in ("description", "title"):
                text: JsonValue = subschema.get(word)
                if isinstance(text, str):
                    yield (key, *pointer, word), text
