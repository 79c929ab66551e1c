"""Tool lists as other people write them → catalog documents.

Takes MCP `tools/list` results, OpenAI (Chat Completions and Responses) and Anthropic tool lists, and maps from old names
to new. Nothing is renamed and no schema is touched; members that a catalog file has no place for are named in `notes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
_SCHEMAS = frozenset({"input_schema", "inputSchema", "parameters"})
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
        hosted_anchors: Where each provider-run entry stands, by `(target, name)`.
        alias_anchors: Where each alias stands, by old name.
        deferred: Names that the list itself defers.
        aliases: Old name → new name.
        left_out: Members that a built-in's file has no place for, by name.
        notes: What else a reader should know, one sentence each.
        faults: What can't be imported.
    """

    definitions: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    hosted: dict[tuple[str, str], JsonObject] = field(default_factory=dict[tuple[str, str], JsonObject])
    originals: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    anchors: dict[str, Anchor] = field(default_factory=dict[str, Anchor])
    hosted_anchors: dict[tuple[str, str], Anchor] = field(default_factory=dict[tuple[str, str], Anchor])
    alias_anchors: dict[str, Anchor] = field(default_factory=dict[str, Anchor])
    deferred: list[str] = field(default_factory=list[str])
    aliases: dict[str, str] = field(default_factory=dict[str, str])
    left_out: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    notes: list[str] = field(default_factory=list[str])
    faults: list[Fault] = field(default_factory=list[Fault])

    def add(self, value: JsonValue, path: str) -> None:
        """Add one parsed document, a list of tools or a map of aliases; `path` places faults."""
        tools, pointer, unfinished = _find_tools(value)
        if tools is not None:
            dialect = _find_dialect(tools)
            for index, tool in enumerate(tools):
                self._add_tool(tool, Anchor(path, (*pointer, index)), dialect)
            if unfinished:
                self.notes.append(f"{path} is one page of several (nextCursor): the tools of the other pages are missing.")
        elif isinstance(value, dict) and value and all(isinstance(new, str) for new in value.values()):
            for old, new in value.items():
                self._add_alias(old, str(new), Anchor(path, (old,), "key"))
        else:
            message = "neither a list of tools nor an object that maps old names to new ones."
            fix = 'Give an MCP tools/list result, an OpenAI or Anthropic list of tools, or {"old_name": "new_name"}.'
            self.faults.append(Fault("invalid-value", message, Anchor(path), fix))

    def is_mcp(self, name: str) -> bool:
        """Return whether an imported tool was given as an MCP tool object."""
        return "inputSchema" in self.originals[name]

    def mcp_tool(self, name: str) -> JsonObject:
        """Return an imported tool as an MCP tool object: an MCP original as it was, another list's tool in MCP's terms."""
        if self.is_mcp(name):
            return self.originals[name]
        spelling = {"input_schema": "inputSchema", "output_schema": "outputSchema"}
        return {spelling.get(key, key): item for key, item in self.definitions[name].items()}

    def describe_left_out(self, name: str) -> str:
        """Return the sentence that says which members of an imported tool a built-in's file has no place for."""
        return f"{name!r}: left out {', '.join(self.left_out[name])}."

    def _add_alias(self, old: str, new: str, anchor: Anchor) -> None:
        if self.aliases.setdefault(old, new) != new:
            message = f"{old!r} is mapped to {self.aliases[old]!r} and to {new!r}."
            self.faults.append(Fault("duplicate-key", message, anchor, "Keep one of the two."))
        self.alias_anchors.setdefault(old, anchor)

    def _add_tool(self, value: JsonValue, anchor: Anchor, dialect: str) -> None:
        if not isinstance(value, dict):
            self.faults.append(Fault("invalid-value", "a tool must be an object.", anchor))
            return
        function = value.get("function")
        tool = {**value, **function} if isinstance(function, dict) else value
        kind = tool.get("type")
        if isinstance(kind, str) and kind != "function" and (kind != "custom" or _SCHEMAS.isdisjoint(tool)):
            self._add_hosted(value, kind, anchor, dialect)
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

    def _add_hosted(self, value: JsonObject, kind: str, anchor: Anchor, dialect: str) -> None:
        # OpenAI's free-form tools are called custom, like Anthropic's own tools, and have no schema; Chat Completions
        # wraps them as it wraps functions.
        custom = value.get("custom")
        named = {**value, **custom} if isinstance(custom, dict) else value
        target = "openai-chat" if named is not value else "openai-responses" if kind == "custom" else dialect
        key = (target or ("anthropic" if "name" in named else "openai-responses"), str(named.get("name", kind)))
        if key in self.hosted:
            message = f"{key[1]!r} stands twice among the tools that {key[0]} runs."
            fix = f"Leave one of the two out, and write it as a file of its own below catalog/hosted/{key[0]}/ afterwards."
            self.faults.append(Fault("duplicate-tool-name", message, anchor, fix))
        else:
            self.hosted[key] = value
            self.hosted_anchors[key] = anchor

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
            self.left_out[name] = tuple(sorted(left_out))
        if tool.get("defer_loading") is True:
            self.deferred.append(name)
        self.definitions[name] = {key: found[key] for key in _ORDER if key in found}


def _find_tools(value: JsonValue) -> tuple[list[JsonValue] | None, tuple[str | int, ...], bool]:
    """Return the list of tools, where it stands, and whether there are further pages of it."""
    pointer: tuple[str | int, ...] = ()
    unfinished = False
    for key in ("result", "tools"):
        if isinstance(value, dict) and isinstance(value.get(key), dict | list):
            unfinished = bool(value.get("nextCursor"))
            value, pointer = value[key], (*pointer, key)
    return (value if isinstance(value, list) else None), pointer, unfinished


def _find_dialect(tools: Sequence[JsonValue]) -> str:
    """Return whose list it is, by the tools that have a schema; empty when there is none to tell by."""
    if any(isinstance(tool, dict) and "input_schema" in tool for tool in tools):
        return "anthropic"
    return "openai-responses" if any(isinstance(tool, dict) and tool.get("type") == "function" for tool in tools) else ""
