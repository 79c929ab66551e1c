"""Anthropic Messages API: `[{"name", "description", "input_schema"}]`."""

from __future__ import annotations

import re

from toolroster.canonical import JsonObject
from toolroster.catalog.targets.target import Target
from toolroster.schemas import PropertyOrder, order_root_schema
from toolroster.tools import ToolDefinition


def encode_entry(tool: ToolDefinition, wire_name: str, order: PropertyOrder) -> JsonObject:
    """Return `{"name", "description", "input_schema"}`; an external tool without a description has no such key."""
    entry: JsonObject = {"name": wire_name}
    if tool.description:
        entry["description"] = tool.description
    entry["input_schema"] = order_root_schema(tool.input_schema, order)
    return entry


ANTHROPIC = Target(
    name="anthropic",
    opening=b"[",
    closing=b"]",
    encode_entry=encode_entry,
    name_pattern=re.compile(r"[a-zA-Z0-9_-]{1,128}"),
    name_rule="1 to 128 of a-z A-Z 0-9 _ -",
    source="Messages API errors of 2026-09: names match ^[a-zA-Z0-9_-]{1,128}$",
)
