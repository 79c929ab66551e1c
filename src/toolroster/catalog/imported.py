"""Tool lists as other people write them → catalog documents.

Takes MCP `tools/list` results, OpenAI (Chat Completions and Responses) and Anthropic tool lists, and maps from old names
to new. Nothing is renamed and no schema is touched; members that a catalog file has no place for are named in `notes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolroster.canonical import JsonObject, JsonValue
from toolroster.diagnostics import Anchor, Fault

_KEPT = {
    "name": "name",
    "title": "title",
    "description": "description",
    "input_schema": "input_schema",
    "inputSchema": "input_schema",
    "parameters": "input_schema",
    "output_schema": "output_schema",
    "outputSchema": "output_schema",
    "annotations": "annotations",
}
_ORDER = ("name", "title", "description", "input_schema", "output_schema", "annotations")
_HINTS = ("title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}


@dataclass(slots=True)
class Imported:
    """What the given documents hold.

    Attributes:
        definitions: Built-in documents by name, in the order given.
        hosted: Provider-run entries, verbatim, by `(target, name)`.
        originals: The tools as they were given, by name.
        anchors: Where each definition stands, by name.
        deferred: Names that the list itself defers.
        aliases: Old name → new name.
        notes: What was left out, one sentence each.
        faults: What can't be imported.
    """

    definitions: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    hosted: dict[tuple[str, str], JsonObject] = field(default_factory=dict[tuple[str, str], JsonObject])
    originals: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    anchors: dict[str, Anchor] = field(default_factory=dict[str, Anchor])
    deferred: list[str] = field(default_factory=list[str])
    aliases: dict[str, str] = field(default_factory=dict[str, str])
    notes: list[str] = field(default_factory=list[str])
    faults: list[Fault] = field(default_factory=list[Fault])

    def add(self, value: JsonValue, path: str) -> None:
        """Add one parsed document, a list of tools or a map of aliases; `path` places faults."""
        tools, pointer = _find_tools(value)
        if tools is not None:
            anthropic = any(isinstance(tool, dict) and "input_schema" in tool for tool in tools)
            for index, tool in enumerate(tools):
                self._add_tool(tool, Anchor(path, (*pointer, index)), anthropic=anthropic)
        elif isinstance(value, dict) and value and all(isinstance(new, str) for new in value.values()):
            self.aliases.update({old: str(new) for old, new in value.items()})
        else:
            message = "neither a list of tools nor an object that maps old names to new ones."
            fix = 'Give an MCP tools/list result, an OpenAI or Anthropic list of tools, or {"old_name": "new_name"}.'
            self.faults.append(Fault("invalid-value", message, Anchor(path), fix))

    def mcp_tool(self, name: str) -> JsonObject:
        """Return an imported tool as an MCP tool object: an MCP original as it was, another list's tool in MCP's terms."""
        original = self.originals[name]
        if "inputSchema" in original:
            return original
        spelling = {"input_schema": "inputSchema", "output_schema": "outputSchema"}
        return {spelling.get(key, key): item for key, item in self.definitions[name].items()}

    def _add_tool(self, value: JsonValue, anchor: Anchor, *, anthropic: bool) -> None:
        if not isinstance(value, dict):
            self.faults.append(Fault("invalid-value", "a tool must be an object.", anchor))
            return
        function = value.get("function")
        tool = {**value, **function} if isinstance(function, dict) else value
        kind = tool.get("type")
        if isinstance(kind, str) and (kind not in ("function", "custom") or "format" in tool):
            target = "anthropic" if anthropic or "name" in tool else "openai-responses"
            name = tool.get("name", kind)
            self.hosted[(target, str(name))] = value
            return
        name = tool.get("name")
        if not isinstance(name, str) or not name:
            self.faults.append(Fault("missing-key", "a tool has no name.", anchor, "Add 'name'."))
        elif name in self.definitions:
            message = f"{name!r} is defined twice."
            self.faults.append(Fault("duplicate-tool-name", message, anchor.at("name"), "Keep one of the two."))
        else:
            self._add_definition(name, tool)
            self.anchors[name] = anchor.at("name")
            self.originals[name] = tool

    def _add_definition(self, name: str, tool: Mapping[str, JsonValue]) -> None:
        found: JsonObject = {}
        left_out: list[str] = []
        for key, item in tool.items():
            if key in _KEPT and item is not None:
                found[_KEPT[key]] = item
            elif item is not None and key not in ("type", "function", "defer_loading") and (key, item) != ("strict", False):
                left_out.append(key)
        hints = found.get("annotations")
        if isinstance(hints, dict):
            left_out += [f"annotations.{key}" for key in hints if key not in _HINTS]
            found["annotations"] = {key: hint for key, hint in hints.items() if key in _HINTS}
        found.setdefault("input_schema", dict(_NO_PARAMETERS) if "type" in tool else None)
        found.setdefault("description", "")
        if left_out:
            self.notes.append(f"{name!r}: left out {', '.join(sorted(left_out))}.")
        if tool.get("defer_loading") is True:
            self.deferred.append(name)
        self.definitions[name] = {key: found[key] for key in _ORDER if key in found}


def _find_tools(value: JsonValue) -> tuple[list[JsonValue] | None, tuple[str | int, ...]]:
    pointer: tuple[str | int, ...] = ()
    for key in ("result", "tools"):
        if isinstance(value, dict) and isinstance(value.get(key), dict | list):
            value, pointer = value[key], (*pointer, key)
    return (value, pointer) if isinstance(value, list) else (None, pointer)
