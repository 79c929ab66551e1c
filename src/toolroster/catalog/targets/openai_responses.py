"""OpenAI Responses API: `[{"type": "function", "name", "description", "parameters", "strict"}]`."""

from __future__ import annotations

import re

from toolroster.canonical import JsonObject
from toolroster.catalog.targets.target import Target
from toolroster.schemas import PropertyOrder, order_root_schema
from toolroster.tools import ToolDefinition


def encode_entry(tool: ToolDefinition, wire_name: str, order: PropertyOrder) -> JsonObject:
    """Return `{"type", "name", "description", "parameters", "strict": false}`.

    `strict` is always said: left out, the API tries to make the schema strict by itself.
    """
    entry: JsonObject = {"type": "function", "name": wire_name}
    if tool.description:
        entry["description"] = tool.description
    entry["parameters"] = order_root_schema(tool.input_schema, order)
    entry["strict"] = False
    return entry


OPENAI_RESPONSES = Target(
    name="openai-responses",
    opening=b"[",
    closing=b"]",
    encode_entry=encode_entry,
    name_pattern=re.compile(r"[a-zA-Z0-9_-]{1,64}"),
    name_rule="1 to 64 of a-z A-Z 0-9 _ -",
    source="openai/openai-openapi of 2026-08-21; the top-level length is taken from Chat Completions",
)
