"""What does a definition mean, whatever the order of its keys? The form over which pins and semantic digests are taken."""

from __future__ import annotations

from toolroster.canonical import JsonObject, digest, encode_sorted
from toolroster.schemas import order_root_schema
from toolroster.tools import Fragment, ToolDefinition

_SCHEMA_MEMBERS = frozenset({"input_schema", "output_schema", "inputSchema", "outputSchema"})
_KEY = ("", "meaning")


def encode_meaning(tool: ToolDefinition) -> Fragment:
    """Return the whole definition, every member of its file, in the `sorted` form, with its digest; encoded once.

    No reorder of keys, of `required` or of `dependentRequired` changes it.
    """
    found = tool.fragments.get(_KEY)
    if found is None:
        meaning: JsonObject = {
            member: order_root_schema(value, "sorted", keep_dialect=True)
            if member in _SCHEMA_MEMBERS and isinstance(value, dict)
            else value
            for member, value in tool.document.items()
        }
        data = encode_sorted(meaning)
        found = tool.fragments[_KEY] = Fragment(data, digest(data))
    return found
