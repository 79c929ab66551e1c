"""What does a definition mean, whatever the order of its keys? The form over which pins and semantic digests are taken."""

from __future__ import annotations

from toolroster.canonical import JsonObject, encode_sorted
from toolroster.schemas import order_root_schema
from toolroster.tools import ToolDefinition

_SCHEMA_MEMBERS = frozenset({"input_schema", "output_schema", "inputSchema", "outputSchema"})


def encode_meaning(tool: ToolDefinition) -> bytes:
    """Return the whole definition, every member of its file, in the `sorted` form; kept with the definition.

    No reorder of keys, of `required` or of `dependentRequired` changes it.
    """
    key = ("", "meaning")
    if key not in tool.fragments:
        meaning: JsonObject = {
            member: order_root_schema(value, "sorted", keep_dialect=True)
            if member in _SCHEMA_MEMBERS and isinstance(value, dict)
            else value
            for member, value in tool.document.items()
        }
        tool.fragments[key] = encode_sorted(meaning)
    return tool.fragments[key]
