"""One call through every gate: pure `prepare`, then somebody runs the tool, then pure `finish`.

Gate order: resolve, removed, exists, deny, ask, allow, mode, capability, loaded, arguments. Every gate judges the
canonical tool; the requested name is only used for the reply and the notice.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from toolroster.canonical import JsonObject, JsonValue
from toolroster.catalog.surface import Surface
from toolroster.catalog.synthetic import SYNTHETIC_TOOLS, TOOL_CALL
from toolroster.dispatch.arguments import ArgumentFault, adapt_arguments, read_arguments, read_pointer, repair_arguments
from toolroster.dispatch.notices import find_notice
from toolroster.dispatch.results import append_line, refuse, view_outcome
from toolroster.names import suggest_close
from toolroster.policy.profiles import find_mode
from toolroster.policy.states import LifecycleState
from toolroster.resolution import Resolution
from toolroster.schemas import SchemaFault, Validator, compile_schema
from toolroster.tools import DEPRECATIONS, NotExecuted, ToolCall, ToolDefinition, ToolOutcome, ToolResult

REPAIRS = "dev.toolroster/repairs"
"""Metadata key of repaired arguments: a list of JSON pointers."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a call is judged by, besides the policy.

    Attributes:
        profile: The profile whose mode holds now.
        loaded: Deferred tools that the conversation has loaded.
        confirmed: Tools (canonical names) that somebody has confirmed, for `ask`.
        read_only: Whether the plan allows no tool that writes.
        require_checkpoint: Whether the plan allows only tools whose changes can be rolled back.
    """

    profile: str = "default"
    loaded: Collection[str] = ()
    confirmed: Collection[str] = ()
    read_only: bool = False
    require_checkpoint: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call that passed every gate.

    Attributes:
        call: The call as it was made; the reply is paired by its id and name.
        tool: The tool to run.
        arguments: Its arguments, adapted, repaired and valid.
        resolution: What the requested name meant.
        metadata: What `finish` adds to the result once the tool was entered.
    """

    call: ToolCall
    tool: ToolDefinition
    arguments: JsonObject
    resolution: Resolution
    metadata: JsonObject = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True)
class _View:
    """What one profile changes: the states of its tools, and the tools that may be called in its mode (None: all)."""

    mode: str
    states: Mapping[str, LifecycleState]
    callable: Collection[str] | None


class Router:
    """Judges calls under one surface; safe to share between threads and conversations."""

    def __init__(self, surface: Surface) -> None:
        """Take a surface without faults."""
        self.surface = surface
        self._validators: dict[str, Validator] = {}
        self._views: dict[str, _View] = {}

    def prepare(self, call: ToolCall, context: CallContext | None = None) -> Prepared | ToolResult:
        """Return the call ready to run, or the refusal; nothing is run and nothing is raised for a wrong call.

        Raises:
            UnknownNameError: The context names a profile that the policy does not have.
        """
        context = context or CallContext()
        view = self._view(context.profile)
        resolution = self.surface.resolver.resolve(call.name)
        tool = self._judge(resolution, view, context)
        if isinstance(tool, ToolResult):
            return tool
        prepared = self._prepare_arguments(call, tool, resolution, view, context)
        if isinstance(prepared, Prepared) and _is_bridge(tool):
            return self._prepare_bridged(prepared, context)
        return prepared

    def finish(self, prepared: Prepared, outcome: ToolOutcome) -> ToolResult:
        """Return the result of a prepared call; never raises for what the tool did.

        Notices and repairs are added whenever the tool was entered, errors included.
        """
        schema = prepared.tool.output_schema
        validate = None
        if schema is not None:
            validate = self.validator(f"{prepared.tool.name} (output)", schema).find_faults
        strict = self.surface.policy.calls.output_validation_of(prepared.tool.name) == "error"
        result = view_outcome(prepared.tool.name, outcome, validate, strict=strict)
        if isinstance(outcome, NotExecuted):
            return result
        result = replace(result, metadata={**result.metadata, **prepared.metadata})
        if self.surface.policy.calls.notice_in_content:
            for notice in _list(prepared.metadata, DEPRECATIONS):
                line = str(notice["message"]) if isinstance(notice, dict) else ""
                result = replace(result, content=append_line(result.content, line))
        return result

    def validator(self, key: str, schema: JsonObject) -> Validator:
        """Return the compiled schema; compiled once a key."""
        found = self._validators.get(key)
        if found is None:
            found = self._validators.setdefault(key, compile_schema(schema))
        return found

    def _view(self, profile_name: str) -> _View:
        """Return what a profile changes; found once a profile, so that a call is a few look-ups."""
        view = self._views.get(profile_name)
        if view is None:
            profile = self.surface.find_profile(profile_name)
            states = {name: self.surface.state_in(name, profile) for name in self.surface.definitions}
            names = find_mode(self.surface.policy, profile).callable
            view = _View(
                profile.mode,
                {name: state for name, state in states.items() if state is not None},
                None if names is None else frozenset(names),
            )
            self._views[profile_name] = view
        return view

    def _judge(self, resolution: Resolution, view: _View, context: CallContext) -> ToolDefinition | ToolResult:
        """Return the tool that may run, or the refusal of the first gate that does not need the arguments."""
        if resolution.state is LifecycleState.REMOVED:
            return self._refuse_removed(resolution, view)
        tool = self.surface.definitions.get(resolution.canonical) if resolution.canonical is not None else None
        if tool is None or tool.name not in view.states:
            return self._refuse_unknown(resolution.requested, view)
        refusal = self._judge_permission(tool, resolution, view, context)
        if refusal is not None:
            return refusal
        if view.callable is not None and tool.name not in view.callable:
            message = f"{tool.name!r} can't be called in mode {view.mode!r}."
            return refuse("not_callable_in_mode", message, tool=tool.name, mode=view.mode)
        # What the bridge does is what its target does, and that is judged in its turn.
        return tool if _is_bridge(tool) else _judge_capability(tool, context) or tool

    def _judge_permission(
        self, tool: ToolDefinition, resolution: Resolution, view: _View, context: CallContext
    ) -> ToolResult | None:
        permission = resolution.permission
        if permission is None or permission.decision == "allow":
            return None
        if permission.decision == "ask":
            if tool.name in context.confirmed:
                return None
            message = f"{tool.name!r} needs somebody's confirmation first."
            return refuse("confirmation_required", message, tool=tool.name, rule=permission.rule)
        if resolution.state is not None and resolution.state.is_retired:
            # Whoever may not use the tool learns nothing from its old names.
            return self._refuse_unknown(resolution.requested, view)
        return refuse("denied", f"{tool.name!r} is denied by the policy.", tool=tool.name, rule=permission.rule)

    def _refuse_removed(self, resolution: Resolution, view: _View) -> ToolResult:
        row = resolution.tombstone
        replacement = row.replacement if row is not None else None
        if replacement is not None and not self._is_offered(replacement, view):
            return self._refuse_unknown(resolution.requested, view)
        use = f" Use {replacement!r} instead." if replacement is not None else ""
        since = row.removed_version if row is not None else None
        return refuse(
            "tool_removed",
            f"{resolution.requested!r} was removed{f' in {since}' if since else ''}.{use}",
            tool=resolution.requested,
            since=since,
            replacement=replacement,
            note=row.note if row is not None and row.note else None,
        )

    def _refuse_unknown(self, requested: str, view: _View) -> ToolResult:
        close = suggest_close(requested, (name for name in view.states if self._is_offered(name, view)))
        hint = f" Did you mean {close!r}?" if close is not None else ""
        return refuse("unknown_tool", f"there is no tool {requested!r}.{hint}", tool=requested, suggestion=close)

    def _is_offered(self, name: str, view: _View) -> bool:
        """Whether a profile's callers may be told of a name: it is visible there, and not denied."""
        state, permission = view.states.get(name), self.surface.resolver.resolve(name).permission
        return state is not None and state.is_visible and permission is not None and permission.decision != "deny"

    def _prepare_bridged(self, wrapper: Prepared, context: CallContext) -> Prepared | ToolResult:
        """Judge the target of `tool_call`; the wrapper itself is only the envelope.

        Notices of both names are kept; pointers of repairs lead into the wrapper's arguments.
        """
        call, name, arguments = wrapper.call, str(wrapper.arguments["name"]), wrapper.arguments.get("arguments")
        target = self.surface.resolver.resolve(name)
        if target.canonical in SYNTHETIC_TOOLS:
            message = f"{TOOL_CALL!r} does not call {name!r}; call it directly."
            return refuse("bridge_recursion", message, tool=name)
        inner = self.prepare(ToolCall(name, arguments if isinstance(arguments, dict) else {}, call.call_id), context)
        if isinstance(inner, ToolResult):
            return inner
        repairs: list[JsonValue] = [f"/arguments{pointer}" for pointer in _list(inner.metadata, REPAIRS)]
        metadata: JsonObject = {}
        for key, own in ((REPAIRS, repairs), (DEPRECATIONS, _list(inner.metadata, DEPRECATIONS))):
            if entries := [*_list(wrapper.metadata, key), *own]:
                metadata[key] = entries
        return Prepared(call, inner.tool, inner.arguments, inner.resolution, metadata)

    def _prepare_arguments(
        self, call: ToolCall, tool: ToolDefinition, resolution: Resolution, view: _View, context: CallContext
    ) -> Prepared | ToolResult:
        calls = self.surface.policy.calls
        cold = view.states[tool.name] is LifecycleState.DEFERRED and tool.name not in context.loaded
        if cold and calls.cold_call != "run":
            shown = tool.input_schema if calls.cold_call == "schema" else None
            message = f"{tool.name!r} is not loaded in this conversation; find it with tool search first."
            return refuse("not_loaded", message, tool=tool.name, input_schema=shown)
        # Whoever never saw the schema gets it with the first refusal.
        shown = tool.input_schema if cold else None
        arguments = self._adapt(call, tool, resolution, shown)
        if isinstance(arguments, ToolResult):
            return arguments
        validator = self.validator(tool.name, tool.input_schema)
        arguments, repaired, faults = repair_arguments(arguments, validator, calls.repairs_of(tool.name))
        if faults:
            return _refuse_faults(tool.name, faults, shown)
        metadata: JsonObject = {}
        if repaired:
            metadata[REPAIRS] = [*repaired]
        if (notice := find_notice(resolution)) is not None:
            metadata[DEPRECATIONS] = [notice]
        return Prepared(call, tool, arguments, resolution, metadata)

    def _adapt(
        self, call: ToolCall, tool: ToolDefinition, resolution: Resolution, shown: JsonObject | None
    ) -> JsonObject | ToolResult:
        """Return the call's arguments in the tool's shape, not yet validated, or the refusal."""
        arguments = read_arguments(call.arguments)
        if isinstance(arguments, ArgumentFault):
            return _refuse_arguments(tool.name, arguments, shown)
        for name in self.surface.policy.calls.strip_of(tool.name):
            arguments.pop(name, None)
        adapter = resolution.alias.arguments if resolution.alias is not None else None
        if adapter is None:
            return arguments
        if adapter.input_schema is not None:
            legacy = self.validator(f"{resolution.requested} (legacy)", adapter.input_schema)
            if faults := legacy.find_faults(arguments):
                return _refuse_faults(resolution.requested, faults, adapter.input_schema)
        adapted = adapt_arguments(arguments, adapter)
        return _refuse_arguments(resolution.requested, adapted, shown) if isinstance(adapted, ArgumentFault) else adapted


def _is_bridge(tool: ToolDefinition) -> bool:
    return tool.name == TOOL_CALL and tool.origin.kind == "synthetic"


def _list(metadata: JsonObject, key: str) -> list[JsonValue]:
    found = metadata.get(key)
    return found if isinstance(found, list) else []


def _judge_capability(tool: ToolDefinition, context: CallContext) -> ToolResult | None:
    if context.read_only and tool.capability.writes:
        return refuse("access_denied", f"{tool.name!r} writes, and the plan is read-only.", tool=tool.name)
    if context.require_checkpoint and not tool.capability.checkpointable:
        message = f"{tool.name!r} can't be rolled back, and the plan asks for checkpoints."
        return refuse("checkpoint_required", message, tool=tool.name)
    return None


def _refuse_arguments(tool: str, fault: ArgumentFault, schema: JsonObject | None) -> ToolResult:
    return refuse(
        "invalid_arguments",
        f"{tool!r} was not run. {fault.message[:1].upper()}{fault.message[1:]}.",
        tool=tool,
        reason=fault.reason,
        offset=fault.offset,
        input_schema=schema,
    )


def _refuse_faults(tool: str, faults: tuple[SchemaFault, ...], schema: JsonObject | None) -> ToolResult:
    listed = "; ".join(f"{fault.pointer or '/'}: {fault.expectation}" for fault in faults)
    unexpected: list[JsonValue] = [
        read_pointer(fault.pointer)[-1]
        for fault in faults
        if fault.keyword in ("additionalProperties", "unevaluatedProperties")
    ]
    return refuse(
        "invalid_arguments",
        f"{tool!r} was not run. {listed}.",
        tool=tool,
        reason="arguments_do_not_fit",
        faults=[{"pointer": fault.pointer, "keyword": fault.keyword, "expectation": fault.expectation} for fault in faults],
        unexpected=unexpected or None,
        input_schema=schema,
    )
