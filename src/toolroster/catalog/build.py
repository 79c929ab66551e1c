"""Selected definitions → the exact bytes of a list of tools.

Deterministic: the same definitions in any order give the same bytes, in every process and on every platform. The order is
part of the contract: built-in, synthetic and hosted tools first, then everything else; inside each part by canonical name,
by code point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolroster.canonical import digest, encode_plain
from toolroster.catalog.prefix import Entry, Prefix
from toolroster.catalog.targets import Target
from toolroster.diagnostics import CatalogError, Fault
from toolroster.policy.encoding import Encoding
from toolroster.tools import Fragment, ToolDefinition


class FragmentCounter:
    """Counts the entries that were really encoded, so that a test can see the cache at work.

    Attributes:
        encoded: Entries encoded since the counter was made.
    """

    def __init__(self) -> None:
        """Start at zero."""
        self.encoded = 0


def build_prefix(
    definitions: Sequence[ToolDefinition],
    target: Target,
    encoding: Encoding,
    counter: FragmentCounter | None = None,
) -> Prefix:
    """Return the prefix of these definitions for one target; hosted tools of other targets are left out.

    The inputs are never changed. An entry's bytes are kept with its definition, so a second build encodes only what is new.

    Raises:
        CatalogError: Two tools have one canonical or wire name, or the target refuses a name; all such faults are
            listed and nothing is emitted.
    """
    tools = sorted(
        (tool for tool in definitions if tool.origin.kind != "hosted" or tool.origin.detail == target.name),
        # Order is part of the contract: bytes follow it.
        key=lambda tool: (not tool.is_first_partition, tool.name),
    )
    if faults := tuple(_find_faults(tools, target, encoding)):
        raise CatalogError(faults)
    fragments = [_encode(tool, target, encoding, counter) for tool in tools]
    entries: list[Entry] = []
    offset = len(target.opening)
    for tool, fragment in zip(tools, fragments, strict=True):
        wire_name = _wire_name(tool, encoding)
        length = len(fragment.data)
        entries.append(Entry(tool.name, wire_name, tool.origin, offset, length, fragment.sha256))
        offset += length + 1
    data = target.opening + b",".join([fragment.data for fragment in fragments]) + target.closing
    return Prefix(target.name, data, tuple(entries), tuple(tools))


def _wire_name(tool: ToolDefinition, encoding: Encoding) -> str:
    """Return the name under which a tool is emitted: a hosted entry is verbatim, so it has its own."""
    named = tool.document.get("name") if tool.origin.kind == "hosted" else None
    return named if isinstance(named, str) else encoding.wire_name(tool.name)


def _encode(tool: ToolDefinition, target: Target, encoding: Encoding, counter: FragmentCounter | None) -> Fragment:
    wire_name = _wire_name(tool, encoding)
    key = (target.name, encoding.property_order, wire_name)
    fragment = tool.fragments.get(key)
    if fragment is None:
        hosted = tool.origin.kind == "hosted"
        entry = tool.document if hosted else target.encode_entry(tool, wire_name, encoding.property_order)
        data = encode_plain(entry)
        fragment = tool.fragments[key] = Fragment(data, digest(data))
        if counter is not None:
            counter.encoded += 1
    return fragment


def _find_faults(tools: Sequence[ToolDefinition], target: Target, encoding: Encoding) -> Iterator[Fault]:
    by_name: dict[str, ToolDefinition] = {}
    by_wire_name: dict[str, list[ToolDefinition]] = {}
    for tool in tools:
        # The same definition given twice is a repeat too, so identity proves nothing.
        if (other := by_name.get(tool.name)) is not None:
            message = f"{tool.name!r} is defined twice: by {other.origin} and by {tool.origin}."
            yield Fault("duplicate-tool-name", message, tool.anchor)
        by_name.setdefault(tool.name, tool)
        by_wire_name.setdefault(_wire_name(tool, encoding), []).append(tool)
    for wire_name, owners in sorted(by_wire_name.items()):
        if len({owner.name for owner in owners}) > 1:
            yield _collision(wire_name, owners)
        for owner in owners:
            if owner.origin.kind != "hosted" and not target.name_pattern.fullmatch(wire_name):
                yield _refused_name(owner, wire_name, target)


def _collision(wire_name: str, owners: Sequence[ToolDefinition]) -> Fault:
    listed = ", ".join(f"{owner.name!r} ({owner.origin}, raw name {owner.raw_name!r})" for owner in owners)
    fix = "Give each of them a name of its own under [encoding] wire_names."
    return Fault("duplicate-wire-name", f"{listed} would all be emitted as {wire_name!r}.", owners[-1].anchor, fix)


def _refused_name(tool: ToolDefinition, wire_name: str, target: Target) -> Fault:
    said = f"{wire_name!r}" if wire_name == tool.name else f"{wire_name!r} (for {tool.name!r})"
    message = (
        f"target {target.name!r} refuses the name {said} of {tool.origin}, raw name {tool.raw_name!r}: "
        f"{len(wire_name)} characters; it takes {target.name_rule}."
    )
    fix = f'Add a wire name for it: [encoding] wire_names = {{ "{tool.name}" = "…" }}.'
    return Fault("name-refused-by-target", message, tool.anchor, fix)
