"""Surface → the golden files: exact bytes to commit, byte for byte.

Paths are POSIX, relative to `goldens/`. What is on disk is compared elsewhere; this module only says what should be there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from toolroster.canonical import JsonObject, JsonValue, digest, parse_json
from toolroster.catalog.prefix import Prefix
from toolroster.catalog.surface import Surface
from toolroster.catalog.targets import TARGETS
from toolroster.policy.profiles import list_builds
from toolroster.policy.roster import SCHEMA_VERSION

CHECKSUMS = "SHA256SUMS"
RELEASES = "releases/"
GOLDEN_PATH = re.compile(rf"[a-z0-9][a-z0-9@+-]*/({'|'.join(TARGETS)})(\.deferred\.json|\.json|\.txt)")
"""The form of every golden's path but `SHA256SUMS`; `accept` never deletes a file of any other form."""


def head_path(profile: str, target: str) -> str:
    """Return the path of the golden that holds the exact bytes of a head."""
    return f"{profile}/{target}.json"


def deferred_path(profile: str, target: str) -> str:
    """Return the path of the golden that holds a deferred pool."""
    return f"{profile}/{target}.deferred.json"


def table_path(profile: str, target: str) -> str:
    """Return the path of the golden that lists where each tool of a head stands."""
    return f"{profile}/{target}.txt"


def render_goldens(surface: Surface) -> Mapping[str, bytes]:
    """Return every golden of a surface by path, paths by code point.

    Raises:
        CatalogError: The surface can't be built.
    """
    files: dict[str, bytes] = {}
    for profile, target in list_builds(surface.policy):
        prefix = surface.prefix(str(profile), target)
        files[head_path(str(profile), target)] = prefix.data
        files[deferred_path(str(profile), target)] = surface.deferred_prefix(str(profile), target).data
        files[table_path(str(profile), target)] = render_table(prefix, surface.policy.encoding.property_order)
    files[CHECKSUMS] = render_checksums(files)
    return {path: files[path] for path in sorted(files)}


def render_table(prefix: Prefix, property_order: str) -> bytes:
    """Return the `.txt` golden: a header, then `name TAB offset TAB length TAB first 12 hex digits` a tool."""
    lines = [
        f"# schema {SCHEMA_VERSION}",
        f"# property_order {property_order}",
        f"# sha256 {prefix.sha256}",
        f"# bytes {len(prefix.data)}",
        *(f"{entry.name}\t{entry.offset}\t{entry.length}\t{entry.sha256[:12]}" for entry in prefix.entries),
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def render_checksums(files: Mapping[str, bytes]) -> bytes:
    """Return `SHA256SUMS` over the `.json` files, as `sha256sum --check` reads it."""
    paths = sorted(path for path in files if path.endswith(".json"))
    return "".join(f"{digest(files[path])}  {path}\n" for path in paths).encode()


def find_first_difference(old: bytes, new: bytes) -> int:
    """Return the offset of the first byte that differs; the shorter length when one is the other's beginning."""
    return next(
        (at for at, (left, right) in enumerate(zip(old, new, strict=False)) if left != right),
        min(len(old), len(new)),
    )


@dataclass(frozen=True, slots=True)
class ToolChange:
    """What happened to one tool between two goldens.

    Attributes:
        name: Wire name.
        kind: `added`, `removed`, `changed`, or `moved` (same entry, other order).
        fields: The members of the entry that differ, by code point; empty unless `changed`.
    """

    name: str
    kind: Literal["added", "removed", "changed", "moved"]
    fields: tuple[str, ...] = ()


def compare_tools(old: bytes, new: bytes) -> tuple[ToolChange, ...]:
    """Return the tools that two goldens of one target treat differently, by wire name.

    A golden that is not JSON (somebody edited it) counts as empty.
    """
    before, after = _entries(old), _entries(new)
    changes: list[ToolChange] = []
    for name in sorted({*before, *after}):
        if name not in after or name not in before:
            changes.append(ToolChange(name, "added" if name in after else "removed"))
        elif before[name] != after[name]:
            fields = {key for key in {*before[name], *after[name]} if before[name].get(key) != after[name].get(key)}
            changes.append(ToolChange(name, "changed", tuple(sorted(fields))))
    kept_before = [name for name in before if name in after]
    kept_after = [name for name in after if name in before]
    if kept_before != kept_after:
        changes += [ToolChange(a, "moved") for a, b in zip(kept_after, kept_before, strict=True) if a != b]
    return tuple(changes)


def _entries(data: bytes) -> dict[str, JsonObject]:
    try:
        value: JsonValue = parse_json(data)
    except ValueError:
        return {}
    listed = value.get("tools") if isinstance(value, dict) else value
    entries: dict[str, JsonObject] = {}
    for item in listed if isinstance(listed, list) else []:
        if isinstance(item, dict):
            function = item.get("function")
            flat = {**item, **function} if isinstance(function, dict) else item
            flat.pop("function", None)
            entries[str(flat.get("name", flat.get("type", "")))] = flat
    return entries
