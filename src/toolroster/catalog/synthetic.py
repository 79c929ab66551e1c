"""The two tools that toolroster itself offers: their bytes are constants.

They never list or count other tools, and their text is fixed by `schema = 1` of the policy file, so that an upgrade of
toolroster never moves a user's bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from toolroster.tools import SYNTHETIC, Capability, ToolDefinition

TOOL_SEARCH: Final = "tool_search"
TOOL_CALL: Final = "tool_call"

SYNTHETIC_TOOLS: Mapping[str, ToolDefinition] = MappingProxyType(
    {
        TOOL_CALL: ToolDefinition(
            name=TOOL_CALL,
            description=(
                "Call a tool that is not in your list of tools, by its exact name. Find the name and its argument "
                "schema with tool_search first. Returns what that tool returns."
            ),
            input_schema={
                "type": "object",
                "properties": {
                    "name": {
                        "type": "string",
                        "description": "Exact name of the tool, as tool_search gave it.",
                    },
                    "arguments": {
                        "type": "object",
                        "description": "Arguments of the tool, by its own input schema.",
                        "additionalProperties": True,
                    },
                },
                "required": ["name"],
                "additionalProperties": False,
            },
            origin=SYNTHETIC,
        ),
        TOOL_SEARCH: ToolDefinition(
            name=TOOL_SEARCH,
            description=(
                "Find further tools by what they do. Use it when no tool in your list fits the task. Returns the best "
                "matching tools with their names, descriptions and argument schemas."
            ),
            input_schema={
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "What the tool should do, in a few words."},
                    "limit": {
                        "type": "integer",
                        "description": "How many tools to return at most.",
                        "minimum": 1,
                        "maximum": 20,
                        "default": 5,
                    },
                },
                "required": ["query"],
                "additionalProperties": False,
            },
            origin=SYNTHETIC,
            capability=Capability(writes=False, checkpointable=True),
        ),
    }
)
"""Both definitions by name; they exist in a catalog only where the policy lists them."""
