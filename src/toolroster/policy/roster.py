"""The policy: which state each name is in, and how the surface differs by mode and provider.

One file, `policy/roster.toml`. Everything here is data; what it means for a set of definitions is decided in
`toolroster.catalog.surface`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, field_validator

from toolroster.canonical import JsonValue
from toolroster.diagnostics import Anchor, Fault
from toolroster.policy.budgets import Budget
from toolroster.policy.calls import Calls
from toolroster.policy.encoding import Encoding
from toolroster.policy.models import Names, PolicyModel, parse_model
from toolroster.policy.states import LifecycleState
from toolroster.policy.versions import parse_version

TargetName: TypeAlias = Literal["anthropic", "openai-chat", "openai-responses", "mcp"]
DefaultState: TypeAlias = Literal["error", "deferred", "active"]
Loading: TypeAlias = Literal["append", "bridge", "native"]

ROSTER_PATH = "policy/roster.toml"
DEFAULT_TARGETS: tuple[TargetName, ...] = ("anthropic", "openai-chat", "mcp")
SCHEMA_VERSION = 1
PROFILE_PART = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")


class Roster(PolicyModel):
    """The five name-sets. In `active` and `deferred` an entry may be a glob over external names."""

    active: Names = ()
    deferred: Names = ()
    hidden_compatibility: Annotated[Names, Field(alias="hidden-compatibility")] = ()
    deprecated: Names = ()
    removed: Names = ()

    def entries(self) -> Iterator[tuple[LifecycleState, int, str]]:
        """Yield `(state, index in its list, entry)`, set by set in the order of the states."""
        for state in LifecycleState:
            names: tuple[str, ...] = getattr(self, state.value.replace("-", "_"))
            for index, entry in enumerate(names):
                yield state, index, entry


class Defaults(PolicyModel):
    """The state of a name that no set holds, by origin."""

    builtin: DefaultState = "error"
    mcp: DefaultState = "deferred"
    plugin: DefaultState = "deferred"


class Mode(PolicyModel):
    """One `[modes.<name>]` table.

    Attributes:
        callable: Names that may be called in this mode; left out, all may. Authority only: never changes the bytes.
        mcp: State of MCP tools in this mode; beats `[defaults]` and `deferred`.
        widens: Why this mode's head differs from the default mode's.
        budget: Ceilings that hold in this mode.
    """

    callable: Names | None = None
    mcp: Literal["active", "deferred"] | None = None
    widens: str = ""
    budget: Budget | None = None


class Provider(PolicyModel):
    """One `[providers.<name>]` table.

    Attributes:
        target: The wire format that this provider takes.
        active: The names that stay in its head; the roster's other active names are deferred there. Left out, all stay.
        budget: Ceilings that hold for this provider.
    """

    target: TargetName
    active: Names | None = None
    budget: Budget | None = None


class Execution(PolicyModel):
    """The `[execution]` table: how calls of one turn may overlap; everything else is sequential."""

    parallel: Names = ()
    exclusive: Names = ()


class Permissions(PolicyModel):
    """The `[permissions]` table: names or globs over any name; deny > ask > allow > default."""

    deny: Names = ()
    ask: Names = ()
    allow: Names = ()


class Children(PolicyModel):
    """The `[children]` table: the catalog of a sub-agent.

    Attributes:
        exclude: Names that a sub-agent does not get.
        max_depth: How many levels of sub-agents may be below the first agent.
    """

    exclude: Names = ()
    max_depth: Annotated[int, Field(ge=0)] = 1


class Policy(PolicyModel):
    """The whole of `policy/roster.toml`.

    Attributes:
        schema_version: Version of the file's format; only 1 exists.
        version: The release that this policy describes.
        targets: Wire formats for which goldens are kept.
        published: Frozen releases that clients still hold.
    """

    schema_version: Annotated[int, Field(alias="schema")]
    version: str
    targets: Annotated[tuple[TargetName, ...], Field(strict=False, min_length=1)] = DEFAULT_TARGETS
    published: Names = ()
    roster: Roster = Roster()
    defaults: Defaults = Defaults()
    modes: dict[str, Mode] = Field(default_factory=dict[str, Mode])
    providers: dict[str, Provider] = Field(default_factory=dict[str, Provider])
    encoding: Encoding = Encoding()
    loading: dict[str, Loading] = Field(default_factory=dict[str, Loading])
    execution: Execution = Execution()
    budget: Budget = Budget()
    permissions: Permissions = Permissions()
    calls: Calls = Calls()
    children: Children | None = None

    @field_validator("version")
    @classmethod
    def _check_version(cls, value: str) -> str:
        if parse_version(value) is None:
            message = "it must be a version such as 1.2.0"
            raise ValueError(message)
        return value

    @field_validator("published")
    @classmethod
    def _check_published(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for version in value:
            if parse_version(version) is None:
                message = f"{version!r} is not a version such as 1.2.0"
                raise ValueError(message)
        return value

    @field_validator("modes", "providers")
    @classmethod
    def _check_profile_parts(cls, value: dict[str, object]) -> dict[str, object]:
        for name in value:
            if not PROFILE_PART.fullmatch(name):
                message = f"{name!r} is no profile part; use 1 to 32 of a-z 0-9 -, not beginning with -"
                raise ValueError(message)
        return value


def parse_policy(value: JsonValue, anchor: Anchor) -> tuple[Policy | None, tuple[Fault, ...]]:
    """Return the policy read from a parsed `roster.toml`, or None and every fault in it."""
    if (fault := check_schema_version(value, anchor)) is not None:
        return None, (fault,)
    return parse_model(Policy, value, anchor)


def check_schema_version(value: JsonValue, anchor: Anchor) -> Fault | None:
    """Return the fault of a document whose `schema` is an integer other than 1: nothing else in it can be trusted."""
    version = value.get("schema") if isinstance(value, dict) else None
    if isinstance(version, int) and not isinstance(version, bool) and version != SCHEMA_VERSION:
        message = f"schema {version} is not known to this toolroster; it knows schema {SCHEMA_VERSION}."
        return Fault("unsupported-schema-version", message, anchor.at("schema"))
    return None
