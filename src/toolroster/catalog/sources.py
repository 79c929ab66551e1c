"""Parsed catalog documents → tool definitions and the faults of each file.

One bad tool never hides the others: whatever can be read is returned, and every fault is named with its tool.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import Field

from toolroster.canonical import JsonObject, JsonValue
from toolroster.diagnostics import Anchor, Fault
from toolroster.errors import UnstableValueError
from toolroster.names import explain_invalid_name
from toolroster.policy.encoding import Encoding
from toolroster.policy.models import PolicyModel, parse_model
from toolroster.tools import BUILTIN, Capability, Origin, ToolDefinition


@dataclass(frozen=True, slots=True)
class Source:
    """What one catalog file holds.

    Attributes:
        definitions: The tools that could be read, in file order.
        faults: Everything wrong with the file.
        broken: Canonical names of tools that could not be read; they count as known, so that nothing else complains of them.
        pins: Recorded digests by raw tool name (MCP catalogs only).
        server: The server's name (MCP catalogs only).
        anchor: Where the file's document stands.
    """

    definitions: tuple[ToolDefinition, ...] = ()
    faults: tuple[Fault, ...] = ()
    broken: tuple[str, ...] = ()
    pins: dict[str, str] = field(default_factory=dict[str, str])
    server: str = ""
    anchor: Anchor = field(default_factory=lambda: Anchor(""))


class _Annotations(PolicyModel):
    title: str | None = None
    readOnlyHint: bool | None = None  # noqa: N815 - MCP's own spelling
    destructiveHint: bool | None = None  # noqa: N815 - MCP's own spelling
    idempotentHint: bool | None = None  # noqa: N815 - MCP's own spelling
    openWorldHint: bool | None = None  # noqa: N815 - MCP's own spelling


class _Capability(PolicyModel):
    writes: bool = True
    checkpointable: bool | None = None


class _Definition(PolicyModel):
    """A built-in's file; the objects inside are JSON of any shape, checked by their own readers."""

    name: str
    title: str | None = None
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    annotations: _Annotations = _Annotations()
    capability: _Capability = _Capability()
    implementation: str | None = None
    niche: str | None = None


class _Server(PolicyModel):
    name: str
    transport: Literal["stdio", "streamable-http", "sse"] = "stdio"
    command: tuple[str, ...] | None = Field(default=None, strict=False)
    url: str | None = None
    protocol_version: str | None = None


class _ServerFile(PolicyModel):
    server: _Server
    tools: list[Any]
    pins: dict[str, str] = Field(default_factory=dict[str, str])


class _PluginFile(PolicyModel):
    tools: list[Any]


def read_builtin(value: JsonValue, anchor: Anchor, stem: str) -> Source:
    """Read `catalog/builtin/<name>.json`: one definition; `stem` is the file's name without `.json`."""
    source = _read_definition(value, anchor, BUILTIN, stem)
    named = value.get("name") if isinstance(value, dict) else None
    if isinstance(named, str) and named != stem:
        fault = _file_name_fault(stem, named, anchor.at("name"))
        return Source(source.definitions, (*source.faults, fault), (*source.broken, stem))
    return source


def read_plugin(value: JsonValue, anchor: Anchor, stem: str) -> Source:
    """Read `catalog/plugin/<name>.json`: `{"tools": [definition, …]}`, each as in a built-in's file."""
    parsed, faults = parse_model(_PluginFile, value, anchor)
    if parsed is None:
        return Source(faults=faults)
    origin = Origin("plugin", stem)
    sources = [_read_definition(tool, anchor.at("tools", index), origin, "") for index, tool in enumerate(parsed.tools)]
    return Source(
        tuple(tool for source in sources for tool in source.definitions),
        tuple(fault for source in sources for fault in source.faults),
        tuple(name for source in sources for name in source.broken),
    )


def read_hosted(value: JsonValue, anchor: Anchor, target: str, stem: str) -> Source:
    """Read `catalog/hosted/<target>/<name>.json`: an entry that is emitted verbatim; the file's name is the canonical name."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        message = f"a hosted tool is an object with the provider's own 'type'; {stem!r} has none."
        fault = Fault("invalid-value", message, anchor, "Write the entry exactly as the provider documents it.")
        return Source(faults=(fault,), broken=(stem,))
    tool = ToolDefinition(
        name=stem,
        description="",
        input_schema={},
        origin=Origin("hosted", target),
        document=value,
        anchor=anchor,
    )
    return Source((tool,))


def read_server(value: JsonValue, anchor: Anchor, stem: str, encoding: Encoding) -> Source:
    """Read `catalog/mcp/<server>.json`: `{"server": {…}, "tools": [MCP tool object, …], "pins": {…}}`."""
    parsed, faults = parse_model(_ServerFile, value, anchor)
    if parsed is None:
        return Source(faults=faults)
    server = parsed.server.name
    found: list[Fault] = []
    if server != stem:
        found.append(_file_name_fault(stem, server, anchor.at("server", "name")))
    if (reason := explain_invalid_name(server)) is not None:
        found.append(Fault("invalid-name", f"server name {server!r}: {reason}.", anchor.at("server", "name")))
    definitions: list[ToolDefinition] = []
    broken: list[str] = []
    tools: list[JsonValue] = parsed.tools
    for index, tool in enumerate(tools):
        place = anchor.at("tools", index)
        definition, tool_faults = _read_mcp_tool(tool, place, server, encoding)
        found += tool_faults
        if definition is not None:
            definitions.append(definition)
        elif isinstance(tool, dict) and (raw_name := _text(tool, "name")) is not None:
            broken.append(encoding.name_external(server, raw_name))
    return Source(tuple(definitions), tuple(found), tuple(broken), parsed.pins, server, anchor)


def _read_definition(value: JsonValue, anchor: Anchor, origin: Origin, stem: str) -> Source:
    named = value.get("name") if isinstance(value, dict) else None
    broken = (named,) if isinstance(named, str) else (stem,) if stem else ()
    checked, faults = value, list[Fault]()
    if isinstance(value, dict):
        faults += _schema_faults(value, "input_schema", anchor, str(named or stem))
        faults += _schema_faults(value, "output_schema", anchor, str(named or stem), required=False)
        # Stand-ins, so that the model below reports everything but the schemas, which are reported above.
        checked = {**value, "input_schema": {}, "output_schema": None}
    parsed, model_faults = parse_model(_Definition, checked, anchor, drop_nulls=True)
    faults += model_faults
    if parsed is None or faults or not isinstance(value, dict):
        return Source(faults=tuple(faults), broken=broken)
    capability = parsed.capability
    checkpointable = not capability.writes if capability.checkpointable is None else capability.checkpointable
    document: JsonObject = {key: item for key, item in value.items() if item is not None}
    try:
        tool = ToolDefinition(
            name=parsed.name,
            description=parsed.description,
            input_schema=_object(value, "input_schema") or {},
            origin=origin,
            title=parsed.title,
            output_schema=_object(value, "output_schema"),
            annotations=_object(value, "annotations") or {},
            capability=Capability(capability.writes, checkpointable),
            implementation=parsed.implementation,
            niche=parsed.niche,
            document=document,
            anchor=anchor,
        )
    except UnstableValueError:
        # The reader of the text has placed and reported it already.
        return Source(broken=broken)
    return Source((tool,))


def _read_mcp_tool(
    value: JsonValue, anchor: Anchor, server: str, encoding: Encoding
) -> tuple[ToolDefinition | None, tuple[Fault, ...]]:
    if not isinstance(value, dict):
        return None, (Fault("invalid-value", f"a tool of server {server!r} must be an object.", anchor),)
    raw_name = value.get("name")
    if not isinstance(raw_name, str):
        return None, (Fault("missing-key", f"a tool of server {server!r} has no name.", anchor, "Add 'name'."),)
    label = f"{server}/{raw_name}"
    faults = [
        *_schema_faults(value, "inputSchema", anchor, label),
        *_schema_faults(value, "outputSchema", anchor, label, required=False),
        *_type_faults(value, anchor, label),
    ]
    if faults:
        return None, tuple(faults)
    hints = _object(value, "annotations") or {}
    writes = hints.get("readOnlyHint") is not True
    try:
        tool = ToolDefinition(
            name=encoding.name_external(server, raw_name),
            raw_name=raw_name,
            description=_text(value, "description") or "",
            input_schema=_object(value, "inputSchema") or {},
            origin=Origin("mcp", server),
            title=_text(value, "title"),
            output_schema=_object(value, "outputSchema"),
            annotations=hints,
            capability=Capability(writes, checkpointable=not writes),
            document={key: item for key, item in value.items() if item is not None},
            anchor=anchor,
        )
    except UnstableValueError:
        return None, ()
    return tool, ()


def _schema_faults(value: JsonObject, key: str, anchor: Anchor, label: str, *, required: bool = True) -> Iterator[Fault]:
    schema = value.get(key)
    if schema is None:
        if required:
            fix = f'Add one; "no parameters" is "{key}": {{"type": "object", "properties": {{}}}}.'
            yield Fault("missing-input-schema", f"{label!r} has no {key!r}.", anchor, fix)
    elif not isinstance(schema, dict):
        message = f"{label!r}: {key!r} must be a schema object, found {type(schema).__name__}."
        yield Fault("root-not-object", message, anchor.at(key))


def _type_faults(value: JsonObject, anchor: Anchor, label: str) -> Iterator[Fault]:
    for key, kind, words in (
        ("description", str, "a string"),
        ("title", str, "a string"),
        ("annotations", dict, "an object"),
    ):
        if value.get(key) is not None and not isinstance(value[key], kind):
            yield Fault("invalid-value", f"{label!r}: {key!r} must be {words}.", anchor.at(key))


def _object(value: JsonObject, key: str) -> JsonObject | None:
    found = value.get(key)
    return found if isinstance(found, dict) else None


def _text(value: JsonObject, key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) else None


def _file_name_fault(stem: str, named: str, anchor: Anchor) -> Fault:
    message = f"file {stem!r} defines {named!r}."
    return Fault(
        "file-name-mismatch",
        message,
        anchor,
        f"Rename the file to {named + '.json'!r}, or the tool to {stem!r}.",
    )
