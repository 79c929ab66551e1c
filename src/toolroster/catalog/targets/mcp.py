"""MCP `tools/list` result: `{"tools": [{"name", "title", "description", "inputSchema", "outputSchema", "annotations"}]}`."""

from __future__ import annotations

import re

from toolroster.canonical import JsonObject
from toolroster.catalog.targets.target import Target
from toolroster.schemas import PropertyOrder, order_data, order_root_schema
from toolroster.tools import ToolDefinition


def encode_entry(tool: ToolDefinition, wire_name: str, order: PropertyOrder) -> JsonObject:
    """Return an MCP tool object; members that the definition lacks are left out, a root `$schema` is kept."""
    entry: JsonObject = {"name": wire_name}
    if tool.title is not None:
        entry["title"] = tool.title
    if tool.description:
        entry["description"] = tool.description
    entry["inputSchema"] = order_root_schema(tool.input_schema, order, keep_dialect=True)
    if tool.output_schema is not None:
        entry["outputSchema"] = order_root_schema(tool.output_schema, order, keep_dialect=True)
    if tool.annotations:
        entry["annotations"] = order_data(tool.annotations, order)
    return entry


MCP = Target(
    name="mcp",
    opening=b'{"tools":[',
    closing=b"]}",
    encode_entry=encode_entry,
    name_pattern=re.compile(r"[A-Za-z0-9_.-]{1,128}"),
    name_rule="1 to 128 of A-Z a-z 0-9 _ . -",
    source="MCP 2026-07-28, server/tools",
)
