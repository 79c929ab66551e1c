"""The deprecation manifest: one row for each retired name.

Nothing that builds the prefix may import this module; an import contract holds it.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, field_validator

from toolroster.canonical import JsonObject, JsonValue
from toolroster.diagnostics import Anchor, Fault
from toolroster.policy.models import PolicyModel, parse_model
from toolroster.policy.versions import TO_BE_DECIDED, is_plan, parse_version


def _check_version(value: str) -> str:
    if parse_version(value) is None:
        message = "it must be a version such as 1.2.0"
        raise ValueError(message)
    return value


def _check_plan(value: str) -> str:
    if not is_plan(value):
        message = 'it must be a version, ">=" and a version, or "TBD"'
        raise ValueError(message)
    return value


class ArgumentAdapter(PolicyModel):
    """How the arguments of a legacy call become those of its replacement: rename, drop, default, set, in this order.

    Attributes:
        rename: Legacy argument → the replacement's argument.
        drop: Legacy arguments that the replacement does not take.
        default: Arguments that are added when absent.
        set: Arguments that are always put in.
        input_schema: The legacy schema, where it differed.
    """

    rename: dict[str, str] = Field(default_factory=dict[str, str])
    drop: Annotated[tuple[str, ...], Field(strict=False)] = ()
    # JSON of any shape: pydantic has no cheaper way to say it, and the catalog's reader checks it.
    default: dict[str, Any] = Field(default_factory=dict[str, Any])
    set: dict[str, Any] = Field(default_factory=dict[str, Any])
    input_schema: dict[str, Any] | None = None


class Alias(PolicyModel):
    """A retired name that still dispatches to its replacement.

    Attributes:
        name: The retired name.
        replacement: The canonical tool that runs.
        first_deprecated_version: The release that retired the name.
        planned_removal_version: A version, `>=` and a version, or `TBD`.
        replay_supported: Whether old transcripts that call the name are promised to run.
        note: One sentence for callers of a deprecated name; never reaches the prefix.
        arguments: How legacy arguments are adapted; None when they fit as they are.
    """

    name: str
    replacement: str
    first_deprecated_version: str
    planned_removal_version: str = TO_BE_DECIDED
    replay_supported: bool = True
    note: str = ""
    arguments: ArgumentAdapter | None = None

    check_first = field_validator("first_deprecated_version")(_check_version)
    check_planned = field_validator("planned_removal_version")(_check_plan)


class Tombstone(PolicyModel):
    """The row of a removed name; it stays for ever and reserves the name.

    Attributes:
        name: The removed name.
        removed_version: The release that removed it.
        replacement: What to use instead, where there is something.
        first_deprecated_version: The release that retired the name before it was removed.
        planned_removal_version: The removal that had been announced.
        note: One sentence for callers.
    """

    name: str
    removed_version: str
    replacement: str | None = None
    first_deprecated_version: str | None = None
    planned_removal_version: str | None = None
    note: str = ""

    check_removed = field_validator("removed_version")(_check_version)

    @field_validator("first_deprecated_version")
    @classmethod
    def _check_first(cls, value: str | None) -> str | None:
        return value if value is None else _check_version(value)

    @field_validator("planned_removal_version")
    @classmethod
    def _check_planned(cls, value: str | None) -> str | None:
        return value if value is None else _check_plan(value)


class Manifest(PolicyModel):
    """The whole of `policy/manifest.toml`, rows in file order."""

    aliases: Annotated[tuple[Alias, ...], Field(strict=False, alias="alias")] = ()
    tombstones: Annotated[tuple[Tombstone, ...], Field(strict=False, alias="tombstone")] = ()

    def document(self) -> JsonObject:
        """Return the rows as JSON: `{"alias": [...], "tombstone": [...]}`, without absent members."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


def parse_manifest(value: JsonValue, anchor: Anchor) -> tuple[Manifest | None, tuple[Fault, ...]]:
    """Return the manifest read from a parsed `manifest.toml`, or None and every fault in it."""
    return parse_model(Manifest, value, anchor)
