"""How definitions are written: property order, external names, wire names."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from toolroster.policy.models import PolicyModel

_PLACEHOLDERS = ("{server}", "{tool}")


class Encoding(PolicyModel):
    """The `[encoding]` table.

    Attributes:
        property_order: `declared` keeps the author's order of properties; `sorted` sorts every object.
        mcp_name: Template of an MCP tool's canonical name, with `{server}` and `{tool}`.
        wire_names: Canonical name → the name that is emitted, one to one.
    """

    property_order: Literal["declared", "sorted"] = "declared"
    mcp_name: str = "mcp__{server}__{tool}"
    wire_names: dict[str, str] = Field(default_factory=dict[str, str])

    @field_validator("mcp_name")
    @classmethod
    def _check_template(cls, value: str) -> str:
        rest = value
        for placeholder in _PLACEHOLDERS:
            rest = rest.replace(placeholder, "")
        if "{tool}" not in value or "{" in rest or "}" in rest:
            message = "the template must hold {tool}, may hold {server}, and knows no other placeholder"
            raise ValueError(message)
        return value

    def name_external(self, server: str, tool: str) -> str:
        """Return the canonical name of a server's tool."""
        # One pass, so that a server called "{tool}" is not expanded again.
        return "".join({"{server}": server, "{tool}": tool}.get(part, part) for part in _split_template(self.mcp_name))

    def wire_name(self, name: str) -> str:
        """Return the name under which a canonical name is emitted."""
        return self.wire_names.get(name, name)


def _split_template(template: str) -> list[str]:
    parts: list[str] = []
    rest = template
    while rest:
        starts = [(rest.find(placeholder), placeholder) for placeholder in _PLACEHOLDERS if placeholder in rest]
        if not starts:
            return [*parts, rest]
        start, placeholder = min(starts)
        parts += [rest[:start], placeholder]
        rest = rest[start + len(placeholder) :]
    return parts
