"""OpenAI Chat Completions: `[{"type": "function", "function": {"name", "description", "parameters"}}]`."""

from __future__ import annotations

import re

from toolroster.canonical import JsonObject
from toolroster.catalog.targets.target import Target
from toolroster.schemas import PropertyOrder, order_root_schema
from toolroster.tools import ToolDefinition


def encode_entry(tool: ToolDefinition, wire_name: str, order: PropertyOrder) -> JsonObject:
    """Return `{"type", "function": {"name", "description", "parameters"}}`; an empty description is left out."""
    function: JsonObject = {"name": wire_name}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = order_root_schema(tool.input_schema, order)
    return {"type": "function", "function": function}


OPENAI_CHAT = Target(
    name="openai-chat",
    opening=b"[",
    closing=b"]",
    encode_entry=encode_entry,
    name_pattern=re.compile(r"[a-zA-Z0-9_-]{1,64}"),
    name_rule="1 to 64 of a-z A-Z 0-9 _ -",
    source="openai 3.57.0, FunctionDefinition: a-z, A-Z, 0-9, underscores and dashes, at most 64",
)
