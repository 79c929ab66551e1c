"""Is every definition usable, and does every name that the policy mentions exist?

Target-independent faults that make a surface unusable; advice is left to the rules.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from toolroster.catalog.synthetic import SYNTHETIC_TOOLS
from toolroster.diagnostics import Anchor, Fault
from toolroster.names import explain_invalid_name, is_glob, is_windows_device, matches, suggest
from toolroster.policy.profiles import DEFAULT_MODE, list_profiles
from toolroster.policy.roster import ROSTER_PATH, Policy
from toolroster.policy.states import Classified, LifecycleState
from toolroster.schemas import MAX_SCHEMA_DEPTH, measure_depth
from toolroster.tools import ToolDefinition

_ALIAS_STATES = (LifecycleState.HIDDEN_COMPATIBILITY, LifecycleState.DEPRECATED)


def find_definition_faults(definitions: Sequence[ToolDefinition], classified: Mapping[str, Classified]) -> tuple[Fault, ...]:
    """Return every fault of the definitions themselves and of their names together."""
    faults: list[Fault] = []
    for tool in definitions:
        faults += _name_faults(tool)
        if tool.origin.kind != "hosted":
            faults += _schema_faults(tool)
    return (*faults, *_shared_name_faults(definitions), *_retired_name_faults(definitions, classified))


def find_policy_faults(policy: Policy, visible: Collection[str], classified: Mapping[str, Classified]) -> tuple[Fault, ...]:
    """Return every fault of names that the policy mentions; `visible` are the active and deferred names."""
    return (
        *_roster_name_faults(policy),
        *_reference_faults(policy, visible),
        *_provider_faults(policy, classified),
        *_loading_faults(policy),
        *_wire_name_faults(policy, visible),
        *_permission_faults(policy, {*classified, *visible}),
    )


def _name_faults(tool: ToolDefinition) -> Iterator[Fault]:
    anchor = tool.anchor.at("name")
    owner = f"{tool.name!r} ({tool.origin})"
    if (reason := explain_invalid_name(tool.name)) is not None:
        yield Fault("invalid-name", f"{owner} is no tool name: {reason}.", anchor)
    elif not tool.origin.is_external and is_windows_device(tool.name):
        yield Fault("unportable-name", f"{owner} is a device name on Windows, so its file can't exist there.", anchor)


def _schema_faults(tool: ToolDefinition) -> Iterator[Fault]:
    owner = f"{tool.name!r} ({tool.origin})"
    mcp = tool.origin.kind == "mcp"
    key, output_key = ("inputSchema", "outputSchema") if mcp else ("input_schema", "output_schema")
    kind = tool.input_schema.get("type", None if tool.input_schema else "object")
    if kind != "object":
        found = "has no type" if kind is None else f"has type {kind!r}"
        message = f"the input schema of {owner} {found} at its root; arguments are always an object."
        yield Fault("root-not-object", message, tool.anchor.at(key))
    for schema_key, schema in ((key, tool.input_schema), (output_key, tool.output_schema)):
        if schema is not None and (depth := measure_depth(schema)) > MAX_SCHEMA_DEPTH:
            message = f"the {schema_key} of {owner} nests {depth} levels; the limit is {MAX_SCHEMA_DEPTH}."
            yield Fault("schema-too-deep", message, tool.anchor.at(schema_key))
    if not tool.origin.is_external and not tool.description.strip():
        yield Fault("missing-description", f"{owner} has an empty description.", tool.anchor.at("description"))


def _shared_name_faults(definitions: Sequence[ToolDefinition]) -> Iterator[Fault]:
    owners: dict[str, list[ToolDefinition]] = {}
    spellings: dict[str, set[str]] = {}
    for tool in definitions:
        owners.setdefault(tool.name, []).append(tool)
        if not tool.origin.is_external:
            spellings.setdefault(tool.name.casefold(), set()).add(tool.name)
    for name, tools in sorted(owners.items()):
        own = [tool for tool in tools if not tool.origin.is_external]
        reserved_by = str(own[0].origin) if own else "synthetic" if name in SYNTHETIC_TOOLS else ""
        synthetic_clash = name in SYNTHETIC_TOOLS and any(tool.origin.kind != "synthetic" for tool in tools)
        for tool in tools:
            if tool.origin.is_external and reserved_by:
                yield _reserved(tool, f"a {reserved_by} tool")
            elif synthetic_clash and tool.origin.kind != "synthetic":
                yield _reserved(tool, "toolroster's own tool")
        # That nobody may define toolroster's own tools is said above.
        given = [tool for tool in tools if tool.origin.kind != "synthetic"]
        if len({str(tool.origin) for tool in given}) < len(given) or _clash(given):
            yield _duplicate(name, given)
    for names in spellings.values():
        if len(names) > 1:
            said = ", ".join(repr(name) for name in sorted(names))
            anchor = next(tool.anchor for tool in definitions if tool.name == max(names))
            yield Fault("unportable-name", f"{said} differ only in case.", anchor.at("name"))


def _duplicate(name: str, tools: Sequence[ToolDefinition]) -> Fault:
    said = " and ".join(f"{tool.origin} (raw name {tool.raw_name!r})" for tool in tools)
    servers = {tool.origin.detail for tool in tools if tool.origin.kind == "mcp"}
    # A template of names tells servers apart, and nothing else.
    fix = "" if len(servers) > 1 else "Rename one of them, or leave it out of the catalog."
    return Fault("duplicate-tool-name", f"{name!r} is defined by {said}.", tools[-1].anchor.at("name"), fix)


def _clash(tools: Sequence[ToolDefinition]) -> bool:
    """Whether several sources of one kind define a name; one hosted tool per target may share its name."""
    external = [tool for tool in tools if tool.origin.is_external]
    own = [tool for tool in tools if not tool.origin.is_external]
    return len(external) > 1 or (len(own) > 1 and any(tool.origin.kind != "hosted" for tool in own))


def _retired_name_faults(definitions: Iterable[ToolDefinition], classified: Mapping[str, Classified]) -> Iterator[Fault]:
    for tool in definitions:
        found = classified.get(tool.name)
        if found is not None and found.state in _ALIAS_STATES and tool.origin.kind in ("mcp", "plugin", "hosted"):
            yield _reserved(tool, f"a {found.state.value} name, whose calls run its replacement")


def _reserved(tool: ToolDefinition, owner: str) -> Fault:
    message = f"{tool.origin} offers {tool.raw_name!r} under the name {tool.name!r}, which is {owner}."
    apart = "Keep the server's names apart with [encoding] mcp_name" if tool.origin.kind == "mcp" else "Rename the tool"
    fix = f"{apart}, or leave it out of the catalog."
    return Fault("reserved-name", message, tool.anchor.at("name"), fix)


def _roster_name_faults(policy: Policy) -> Iterator[Fault]:
    for state, index, text in policy.roster.entries():
        if (reason := explain_invalid_name(text, glob=True)) is not None:
            anchor = Anchor(ROSTER_PATH, ("roster", state.value, index))
            yield Fault("invalid-name", f"{text!r} in {state.value!r} is no tool name: {reason}.", anchor)


def _reference_faults(policy: Policy, visible: Collection[str]) -> Iterator[Fault]:
    tables: list[tuple[tuple[str | int, ...], tuple[str, ...]]] = [
        (("modes", name, "callable"), mode.callable or ()) for name, mode in policy.modes.items()
    ]
    tables += [
        (("execution", "parallel"), policy.execution.parallel),
        (("execution", "exclusive"), policy.execution.exclusive),
        (("children", "exclude"), policy.children.exclude if policy.children is not None else ()),
    ]
    for name in policy.calls.tools:
        if name not in visible:
            message = f"{name!r} in [calls tools] is no active or deferred tool{suggest(name, visible)}."
            yield Fault("unknown-reference", message, Anchor(ROSTER_PATH, ("calls", "tools", name), "key"))
    for pointer, names in tables:
        for index, name in enumerate(names):
            if name not in visible:
                where = " ".join(str(part) for part in pointer)
                message = f"{name!r} in [{where}] is no active or deferred tool{suggest(name, visible)}."
                yield Fault("unknown-reference", message, Anchor(ROSTER_PATH, (*pointer, index)))
    for name in sorted(set(policy.execution.parallel) & set(policy.execution.exclusive)):
        index = policy.execution.exclusive.index(name)
        message = f"{name!r} is both parallel and exclusive."
        yield Fault("conflicting-execution", message, Anchor(ROSTER_PATH, ("execution", "exclusive", index)))


def _provider_faults(policy: Policy, classified: Mapping[str, Classified]) -> Iterator[Fault]:
    active = {name for name, found in classified.items() if found.state is LifecycleState.ACTIVE}
    for provider_name, provider in policy.providers.items():
        for index, name in enumerate(provider.active or ()):
            if name not in active:
                message = (
                    f"{name!r} is active for provider {provider_name!r} but not in the roster's active set"
                    f"{suggest(name, active)}."
                )
                anchor = Anchor(ROSTER_PATH, ("providers", provider_name, "active", index))
                yield Fault("provider-widens-head", message, anchor)


def _loading_faults(policy: Policy) -> Iterator[Fault]:
    profiles = [str(profile) for profile in list_profiles(policy)]
    for name in policy.loading:
        if name not in (DEFAULT_MODE, *profiles):
            message = f"[loading] names the profile {name!r}, which does not exist{suggest(name, profiles)}."
            yield Fault("unknown-reference", message, Anchor(ROSTER_PATH, ("loading", name), "key"))


def _wire_name_faults(policy: Policy, visible: Collection[str]) -> Iterator[Fault]:
    owners: dict[str, str] = {name: name for name in visible if name not in policy.encoding.wire_names}
    for name, wire_name in policy.encoding.wire_names.items():
        anchor = Anchor(ROSTER_PATH, ("encoding", "wire_names", name))
        if name not in visible:
            message = f"wire_names renames {name!r}, which is no active or deferred tool{suggest(name, visible)}."
            yield Fault("unknown-reference", message, Anchor(anchor.path, anchor.pointer, "key"))
        if (reason := explain_invalid_name(wire_name)) is not None:
            yield Fault("invalid-name", f"wire name {wire_name!r} of {name!r}: {reason}.", anchor)
        owner = owners.setdefault(wire_name, name)
        if owner != name:
            message = f"{owner!r} and {name!r} would both be emitted as {wire_name!r}."
            yield Fault("duplicate-wire-name", message, anchor, "Choose another wire name for one of them.")


def _permission_faults(policy: Policy, names: Collection[str]) -> Iterator[Fault]:
    for kind in ("deny", "ask", "allow"):
        entries: tuple[str, ...] = getattr(policy.permissions, kind)
        for index, entry in enumerate(entries):
            anchor = Anchor(ROSTER_PATH, ("permissions", kind, index))
            if (reason := explain_invalid_name(entry, glob=True)) is not None:
                yield Fault("invalid-name", f"{entry!r} in {kind!r} is no tool name: {reason}.", anchor)
            elif not any(matches(entry, name) for name in names):
                hint = suggest(entry, names) if not is_glob(entry) else ""
                yield Fault("permission-matches-nothing", f"{kind} {entry!r} matches no tool{hint}.", anchor)
