"""What is a tool definition, and where does it come from?

Knows nothing of lifecycle states: a state is policy, laid over definitions by the catalog.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from toolroster.canonical import JsonObject, JsonValue, copy_object
from toolroster.diagnostics import Anchor

OriginKind: TypeAlias = Literal["builtin", "synthetic", "mcp", "plugin", "hosted"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a definition comes from.

    Attributes:
        kind: `builtin`, `synthetic` (made by toolroster), `mcp`, `plugin`, or `hosted` (the provider runs it).
        detail: The server, plugin or target; empty for `builtin` and `synthetic`.
    """

    kind: OriginKind
    detail: str = ""

    def __str__(self) -> str:
        """Return `builtin`, `synthetic`, `mcp:<server>`, `plugin:<name>` or `hosted:<target>`."""
        return f"{self.kind}:{self.detail}" if self.detail else self.kind

    @property
    def is_external(self) -> bool:
        """Whether somebody else writes the definition: an MCP server or a plugin."""
        return self.kind in ("mcp", "plugin")


BUILTIN = Origin("builtin")
SYNTHETIC = Origin("synthetic")


@dataclass(frozen=True, slots=True)
class Capability:
    """What a tool may do to the world.

    Attributes:
        writes: Whether it changes anything outside itself; unknown counts as yes.
        checkpointable: Whether its changes can be rolled back; true for a tool that writes nothing.
    """

    writes: bool = True
    checkpointable: bool = False


class Fragment(NamedTuple):
    """Bytes that were encoded once, with their digest.

    Attributes:
        data: The bytes.
        sha256: Their SHA-256, 64 hex digits.
    """

    data: bytes
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """One tool as the model is told of it, plus what toolroster needs to know to run and judge it.

    The definition copies what it is given and never changes; treat its objects as read-only.

    Attributes:
        name: Canonical name, unique in a catalog.
        description: What the model reads; may be empty only for external tools.
        input_schema: JSON Schema of the arguments, as declared.
        origin: Where the definition comes from.
        title: Name for people; only the `mcp` target emits it.
        output_schema: JSON Schema of the structured result, as declared.
        annotations: MCP tool annotations, as declared.
        capability: What the tool may do.
        implementation: `module:function` of a built-in's handler.
        niche: One line that says what only this tool is for.
        raw_name: The name that the tool's own server knows; the canonical name elsewhere.
        document: The whole definition as it stands in its file, without null members; digests are taken over it.
        anchor: Where the definition stands.
    """

    name: str
    description: str
    input_schema: JsonObject
    origin: Origin = BUILTIN
    title: str | None = None
    output_schema: JsonObject | None = None
    annotations: JsonObject = field(default_factory=dict[str, JsonValue])
    capability: Capability = field(default_factory=Capability)
    implementation: str | None = None
    niche: str | None = None
    raw_name: str = ""
    document: JsonObject = field(default_factory=dict[str, JsonValue])
    anchor: Anchor = field(default_factory=lambda: Anchor(""), compare=False)
    fragments: dict[tuple[str, ...], Fragment] = field(
        default_factory=dict[tuple[str, ...], Fragment], compare=False, repr=False
    )
    """Encoded bytes per target, filled by the catalog builder; lives and dies with the definition."""

    def __post_init__(self) -> None:
        """Copy every object, so that nothing outside can change the definition.

        Raises:
            UnstableValueError: A schema or annotation has no stable JSON text.
        """
        put = object.__setattr__
        put(self, "input_schema", copy_object(self.input_schema))
        if self.output_schema is not None:
            put(self, "output_schema", copy_object(self.output_schema))
        put(self, "annotations", copy_object(self.annotations))
        put(self, "raw_name", self.raw_name or self.name)
        put(self, "document", copy_object(self.document) if self.document else _document(self))

    @property
    def is_first_partition(self) -> bool:
        """Whether the tool stands in the head's first partition: built-in, synthetic and hosted tools."""
        return not self.origin.is_external


def _document(tool: ToolDefinition) -> JsonObject:
    members: Mapping[str, object] = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
        "annotations": tool.annotations or None,
        "capability": None
        if tool.capability == Capability()
        else {"writes": tool.capability.writes, "checkpointable": tool.capability.checkpointable},
        "implementation": tool.implementation,
        "niche": tool.niche,
    }
    return copy_object({key: value for key, value in members.items() if value is not None})
