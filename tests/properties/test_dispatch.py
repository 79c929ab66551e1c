"""What must hold for every policy and every sequence of calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from tests.support import ROOT, define, make_manifest, make_policy
from toolroster import LifecycleState, Surface, Workspace, classify
from toolroster.canonical import JsonObject, JsonValue, encode
from toolroster.dispatch import CallContext, Router, adapt_arguments
from toolroster.policy import ArgumentAdapter
from toolroster.runtime import Executor, Handler, HandlerContext, Handlers
from toolroster.tools import DEPRECATIONS, RuntimeFailure, Success, ToolCall, ToolReportedError, ToolResult

ACTIVE, DEFERRED = LifecycleState.ACTIVE, LifecycleState.DEFERRED
HIDDEN, DEPRECATED, REMOVED = LifecycleState.HIDDEN_COMPATIBILITY, LifecycleState.DEPRECATED, LifecycleState.REMOVED
BRIDGE = "tool_call"
TOOLS = ["edit", "exec", "fetch.url", "read"]
OLD_NAMES = ["old_a", "old_b", "old_c"]
GONE = "gone"
WIRE_NAME = "fetch_url"
TARGETS = ("anthropic", "mcp", "openai-chat", "openai-responses")
SCHEMA: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}, "mode": {"type": "string"}}}


# -------------------------------------------------------------------------------------------------------- worlds


@dataclass(frozen=True)
class World:
    """A made-up surface, and what is known of it without asking the code under test.

    Attributes:
        states: Every name's state, the bridge's included.
        replacements: The canonical tool of each retired name that dispatches.
        adapters: How the arguments of some of them are adapted.
        permissions: The entries of `deny`, `ask` and `allow`.
        calls: The `[calls]` table.
        callable: The names that may be called in mode `plan`.
        excluded: The names that sub-agents don't get.
        closed: Whether the tools' schemas take no further arguments.
    """

    states: Mapping[str, LifecycleState]
    replacements: Mapping[str, str]
    adapters: Mapping[str, JsonObject]
    permissions: Mapping[str, list[str]]
    calls: Mapping[str, JsonValue]
    callable: Sequence[str]
    excluded: Sequence[str]
    closed: bool

    def surface(self) -> Surface:
        """Return the surface, made anew: nothing that an earlier one has cached is shared."""
        roster: dict[str, list[JsonValue]] = {}
        for name, state in self.states.items():
            roster.setdefault(state.value, []).append(name)
        aliases: list[JsonValue] = [
            {
                "name": name,
                "replacement": replacement,
                "first_deprecated_version": "0.8.0",
                "note": f"{name} is old.",
                **({"arguments": self.adapters[name]} if name in self.adapters else {}),
            }
            for name, replacement in self.replacements.items()
        ]
        stones: list[JsonValue] = [{"name": name, "removed_version": "0.9.0"} for name in self.named(REMOVED)]
        schema: JsonObject = SCHEMA | {"additionalProperties": not self.closed}
        tools = [define(name, input_schema=schema) for name in self.tools()]
        wire_names: JsonObject = {name: WIRE_NAME for name in self.tools() if name == "fetch.url"}
        policy = make_policy(
            roster={**roster},
            encoding={"wire_names": wire_names},
            permissions={kind: [*entries] for kind, entries in self.permissions.items()},
            modes={"plan": {"callable": [*self.callable]}, "free": {}},
            children={"exclude": [*self.excluded]},
            calls={**self.calls},
        )
        return classify(tools, policy, make_manifest(alias=aliases, tombstone=stones))

    def tools(self) -> list[str]:
        """Return the canonical names, without the bridge."""
        return [name for name in self.named(ACTIVE, DEFERRED) if name != BRIDGE]

    def named(self, *states: LifecycleState) -> list[str]:
        """Return the names in these states."""
        return [name for name, state in self.states.items() if state in states]

    def canonical(self, name: str) -> str:
        """Return the canonical tool of a name that dispatches."""
        return self.replacements.get(name, name)

    def names_of(self, canonical: str) -> list[str]:
        """Return every name by which a tool can be called: its own, on the wire, and the retired ones."""
        wire = [WIRE_NAME] if canonical == "fetch.url" else []
        return [canonical, *wire, *(name for name, found in self.replacements.items() if found == canonical)]

    def is_denied(self, name: str) -> bool:
        """Return whether a call by this name is denied: design.md sections 6 and 8, in its own words."""
        canonical, allow = self.canonical(name), {*self.permissions.get("allow", ())}
        names = {*self.names_of(canonical)}
        if names & {*self.permissions["deny"]}:
            return True
        asked = names & {*self.permissions["ask"]}
        return bool(allow) and not asked and not allow & {canonical, name}


def some(*names: str, most: int = 3) -> st.SearchStrategy[list[str]]:
    """Return a strategy of lists of some of these names."""
    return st.lists(st.sampled_from(sorted(names)), unique=True, max_size=most)


ADAPTERS: list[JsonObject] = [
    {},
    {"rename": {"k": "n"}},
    {"rename": {"n": "mode", "mode": "n"}},
    {"drop": ["x"], "default": {"mode": "plain"}},
    {"set": {"n": 1}},
    {"rename": {"k": "n"}, "input_schema": {"type": "object", "required": ["k"]}},
]


@st.composite
def worlds(draw: st.DrawFn, old_state: LifecycleState | None = None) -> World:
    """Return a world with one tool at least, the bridge, and everything else that a policy may have.

    `old_state` is the state of one retired name that is always there.
    """
    tools = draw(st.lists(st.sampled_from(TOOLS), unique=True, min_size=1))
    states = {name: draw(st.sampled_from([ACTIVE, DEFERRED])) for name in tools}
    old = draw(some(*OLD_NAMES)) or ([] if old_state is None else [*OLD_NAMES[:1]])
    replacements = {name: draw(st.sampled_from(tools)) for name in old}
    adapters = {name: draw(st.sampled_from(ADAPTERS)) for name in old if draw(st.booleans())}
    states |= {name: draw(st.sampled_from([HIDDEN, DEPRECATED])) for name in old}
    if old_state is not None:
        states[old[0]] = old_state
    if draw(st.booleans()):
        states[GONE] = REMOVED
    rule = some(*tools, *old, most=2)
    # Few rules, so that most calls get as far as the handler.
    permissions = {kind: draw(rule) if draw(st.integers(0, 3)) == 3 else [] for kind in ("deny", "ask")}
    if draw(st.integers(0, 3)) == 3:
        permissions["allow"] = [BRIDGE, *draw(rule)]
    calls: JsonObject = {
        "cold_call": draw(st.sampled_from(["run", "schema", "refuse"])),
        "repair": [*draw(some("nulls", "strings"))],
        "strip": [*draw(some("x", "k", most=1))],
        "notice_in_content": draw(st.booleans()),
    }
    return World(
        {**states, BRIDGE: ACTIVE},
        replacements,
        adapters,
        permissions,
        calls,
        callable=[BRIDGE, *draw(some(*tools))],
        excluded=draw(some(*tools, most=1)),
        closed=draw(st.booleans()),
    )


VALUES: list[JsonValue] = [0, 1, 2, 3, 4, 5, "1", "s", "[", None, True, ["a"]]
ARGUMENTS: st.SearchStrategy[JsonObject] = st.dictionaries(
    st.sampled_from(["n", "mode", "k", "x"]), st.sampled_from(VALUES), max_size=3
)
GIVEN: st.SearchStrategy[JsonObject | str | None] = (
    ARGUMENTS | ARGUMENTS | st.sampled_from(["", "{", "[]", "null", '{"n": 1, "n": 2}', None])
)


@st.composite
def contexts(draw: st.DrawFn, world: World) -> CallContext:
    """Return what a call may be judged by."""
    profiles = ["default", "plan", "free", "default+child", "plan+child"]
    return CallContext(
        profile=draw(st.sampled_from(profiles)),
        loaded=draw(some(*world.tools())),
        confirmed=draw(some(*world.tools(), *world.replacements)),
        read_only=draw(st.booleans()) and draw(st.booleans()),
    )


class Bench:
    """Runs a surface's tools by handlers that answer by their arguments alone, in every way that there is."""

    def __init__(self, surface: Surface) -> None:
        """Register one handler for every tool."""
        self.surface = surface
        self.ran: list[str] = []
        handlers = Handlers()
        for name in surface.definitions:
            handlers.register(name)(self._answer)
        self.executor = Executor(Router(surface), handlers, Path())

    def call(self, name: str, given_arguments: Mapping[str, object] | str | None, context: CallContext) -> ToolResult:
        """Return the result of one call."""
        return self.executor.execute_sync(ToolCall(name, given_arguments, "c1"), context)

    def _answer(self, context: HandlerContext, arguments: JsonObject) -> object:
        self.ran.append(context.tool.name)
        number = arguments.get("n")
        answers: dict[object, Handler] = {
            0: lambda _context, _arguments: Success("zero", {"n": 0}, {"trace": "t0", DEPRECATIONS: "mine"}),
            2: lambda _context, _arguments: ToolReportedError("two", None, {"trace": "t2"}),
            3: lambda _context, _arguments: {3},
            4: lambda _context, _arguments: RuntimeFailure("timeout", "four"),
            5: lambda _context, _arguments: {"content": [{"type": "text", "text": "five"}], "_meta": "odd"},
        }
        found = answers.get(number) if isinstance(number, int) and not isinstance(number, bool) else None
        return found(context, arguments) if found is not None else {"tool": context.tool.name, "arguments": arguments}


def emit(surface: Surface) -> list[bytes]:
    """Return every byte that the surface shows to anybody, profile by profile and target by target."""
    return [
        build(profile, target).data
        for profile in surface.profiles()
        for target in TARGETS
        for build in (surface.prefix, surface.deferred_prefix)
    ]


def bytes_of(result: ToolResult) -> bytes:
    """Return a whole result as bytes."""
    content: JsonValue = result.content
    return encode([content, result.structured, result.is_error, result.code, result.metadata])


# ---------------------------------------------------------------------------------------------------- properties


@given(worlds(), st.data())
def test_no_call_ever_moves_a_byte_of_any_prefix(world: World, data: st.DataObject) -> None:
    """Issue 4: bytes before and after any calls are equal, whether they were built first or only afterwards."""
    names = [*world.states, WIRE_NAME, "unknown", ""]
    calls = [
        (data.draw(st.sampled_from(names)), data.draw(GIVEN), data.draw(contexts(world)))
        for _ in range(data.draw(st.integers(1, 8)))
    ]
    untouched = emit(world.surface())
    built_before, built_after = Bench(world.surface()), Bench(world.surface())
    emit(built_before.surface)

    for name, arguments, context in calls:
        direct = built_before.call(name, arguments, context)
        bridged = built_before.call(BRIDGE, {"name": name, "arguments": arguments}, context)
        assert bytes_of(direct) == bytes_of(built_after.call(name, arguments, context))
        event(f"code: {direct.code} and {bridged.code}")
        built_after.call(BRIDGE, {"name": name, "arguments": arguments}, context)

    assert untouched == emit(built_before.surface)
    assert untouched == emit(built_after.surface)


@given(worlds(HIDDEN), st.data())
def test_a_hidden_name_is_its_replacement_with_adapted_arguments_byte_for_byte(world: World, data: st.DataObject) -> None:
    """Design.md section 2: identical to its replacement called with the adapted arguments; nothing added."""
    name = data.draw(st.sampled_from(world.named(HIDDEN)))
    arguments, context = data.draw(ARGUMENTS), data.draw(contexts(world))
    canonical, strip = world.canonical(name), world.calls["strip"]
    assert isinstance(strip, list)
    kept = {key: value for key, value in arguments.items() if key not in strip}
    adapter = ArgumentAdapter.model_validate(world.adapters.get(name, {}))
    adapted = adapt_arguments(kept, adapter)
    bench = Bench(world.surface())
    by_name = bench.call(name, arguments, context)
    if not isinstance(adapted, dict) or (adapter.input_schema is not None and "k" not in kept):
        event("old arguments refused")
        assert by_name.is_error
        assert [] == bench.ran
        return
    # The host's own arguments are stripped from the call as it was made; what an adapter makes of the rest is the tool's.
    twin = Bench(replace(world, calls={**world.calls, "strip": []}).surface())
    by_canonical = twin.call(canonical, adapted, context)
    event(f"code: {by_canonical.code}")

    if world.is_denied(name) or by_canonical.code == "unknown_tool":
        # Told under the name that was called.
        assert "unknown_tool" == by_name.code
    elif world.is_denied(canonical):
        # An allow on the old name admits it alone.
        assert "denied" == by_canonical.code
    else:
        assert bytes_of(by_canonical) == bytes_of(by_name)
        assert twin.ran == bench.ran


@given(worlds(DEPRECATED), st.data())
def test_a_deprecated_name_adds_its_notice_and_nothing_else(world: World, data: st.DataObject) -> None:
    """Design.md section 2: the result, and a notice in result metadata only, whenever the tool was entered."""
    world = replace(world, adapters={}, calls={**world.calls, "notice_in_content": False})
    name = data.draw(st.sampled_from(world.named(DEPRECATED)))
    arguments, context = data.draw(GIVEN), data.draw(contexts(world))
    bench, twin = Bench(world.surface()), Bench(world.surface())
    by_name, by_canonical = bench.call(name, arguments, context), twin.call(world.canonical(name), arguments, context)
    event(f"ran: {bool(bench.ran)}, code: {by_name.code}")

    notices = by_name.metadata.get(DEPRECATIONS)
    said = [notice["name"] for notice in notices if isinstance(notice, dict)] if isinstance(notices, list) else []
    assert ([name] if bench.ran else []) == said
    if "unknown_tool" not in (by_name.code, by_canonical.code) and not world.is_denied(world.canonical(name)):
        assert twin.ran == bench.ran
        assert without_notice(by_canonical) == without_notice(by_name)


def without_notice(result: ToolResult) -> ToolResult:
    """Return a result without deprecation notices."""
    return replace(result, metadata={key: value for key, value in result.metadata.items() if key != DEPRECATIONS})


@given(worlds(), st.data())
def test_a_denied_class_can_t_be_reached_by_any_path(world: World, data: st.DataObject) -> None:
    """Design.md section 8: a deny on any member denies all, by every name, mode, bridge, loading and confirmation."""
    tool = data.draw(st.sampled_from(world.tools()))
    names = world.names_of(tool)
    entry = data.draw(st.sampled_from([name for name in names if name != WIRE_NAME] + [f"{tool[:2]}*"]))
    allow = ["*", *(name for name in names if name != WIRE_NAME)]
    denied = replace(world, permissions={"deny": [entry], "ask": [tool], "allow": allow})
    surface = denied.surface()
    bench = Bench(surface)
    for profile in surface.profiles():
        context = CallContext(profile=profile, loaded=denied.tools(), confirmed=[*denied.states, *names])
        for name in names:
            for arguments in (None, {"n": 1}, data.draw(GIVEN)):
                results = [
                    bench.call(name, arguments, context),
                    bench.call(BRIDGE, {"name": name, "arguments": arguments or {}}, context),
                    bench.call(BRIDGE, {"name": BRIDGE, "arguments": {"name": name}}, context),
                ]
                assert all(result.is_error for result in results)
        assert tool not in [found.name for found in (*surface.head(profile), *surface.deferred(profile))]
    assert tool not in bench.ran


# ---------------------------------------------------------------------------------------------- the constitution


@dataclass(frozen=True)
class Cells:
    """One row of the table of design.md section 2."""

    in_head: bool
    in_search: bool
    executes: bool
    noticed: bool = False


CONSTITUTION = {
    ACTIVE: Cells(in_head=True, in_search=False, executes=True),
    DEFERRED: Cells(in_head=False, in_search=True, executes=True),
    HIDDEN: Cells(in_head=False, in_search=False, executes=True),
    DEPRECATED: Cells(in_head=False, in_search=False, executes=True, noticed=True),
    REMOVED: Cells(in_head=False, in_search=False, executes=False),
}
NOWHERE = Cells(in_head=False, in_search=False, executes=False)
"""What a denied or an unknown name has."""


def walk(surface: Surface, name: str, result: ToolResult, *, ran: bool) -> dict[str, Cells]:
    """Return what a name has, as each path sees it, given the result of a call by it."""
    heads = {target: {entry.wire_name for entry in surface.prefix("default", target).entries} for target in TARGETS}
    pools = {target: {entry.wire_name for entry in surface.deferred_prefix("default", target).entries} for target in TARGETS}
    listed = {tool.name for tool in surface.head("default")}
    pool = {tool.name for tool in surface.deferred("default")}
    wire = surface.policy.encoding.wire_name(name)
    noticed = DEPRECATIONS in result.metadata
    seen = {f"{target} bytes": Cells(wire in heads[target], wire in pools[target], ran, noticed) for target in TARGETS}
    return seen | {"lists": Cells(name in listed, name in pool, ran, noticed)}


@given(worlds())
def test_every_name_has_the_cells_of_its_state_on_every_path(world: World) -> None:
    """Design.md section 2: the table is the product's constitution; each cell is proved on each path."""
    world = replace(world, calls={}, adapters={}, excluded=[], closed=False)
    surface = world.surface()
    bench = Bench(surface)
    context = CallContext(confirmed=[*world.tools()])
    for name in [*world.states, "unknown"]:
        if name == BRIDGE:
            continue
        state = world.states.get(name)
        denied = state is None or (state is not REMOVED and world.is_denied(name))
        expected = NOWHERE if denied or state is None else CONSTITUTION[state]
        if state in (ACTIVE, DEFERRED) and not denied:
            event(f"{state} shown")
        for path in ("dispatch", "bridge"):
            bench.ran.clear()
            if path == "bridge":
                result = bench.call(BRIDGE, {"name": name, "arguments": {"n": 1}}, context)
            else:
                result = bench.call(name, {"n": 1}, context)
            ran = bench.ran == [world.canonical(name)]
            assert ran is bool(bench.ran)
            assert ran is not result.is_error
            for place, cells in walk(surface, name, result, ran=ran).items():
                assert expected == cells, f"{name} by {path} in {place}"


@cache
def workbench() -> Surface:
    """Return the project's own surface."""
    return Workspace(ROOT).surface()


@pytest.mark.parametrize("path", ["dispatch", "bridge"])
@pytest.mark.parametrize("name", workbench().classified)
def test_every_name_of_the_workbench_has_the_cells_of_its_state(name: str, path: str) -> None:
    """Design.md section 2, over the reference surface; a call that fits no schema says whether it would have run."""
    surface = workbench()
    state = surface.classified[name].state
    resolution = surface.resolver.resolve(name)
    denied = resolution.permission is not None and resolution.permission.decision == "deny"
    if path == "bridge" and BRIDGE not in surface.definitions:
        return
    given_arguments: JsonObject = {"name": name} if path == "bridge" else {}
    context = CallContext(confirmed=(resolution.canonical or "",))
    prepared = Router(surface).prepare(ToolCall(BRIDGE if path == "bridge" else name, given_arguments), context)
    reached = not isinstance(prepared, ToolResult) or prepared.code in ("invalid_arguments", "bridge_recursion")
    expected = NOWHERE if denied else CONSTITUTION[state]

    assert expected.executes is reached
    hosted = surface.definitions[name].origin if name in surface.definitions else None
    for target in TARGETS:
        shown = hosted is None or hosted.kind != "hosted" or hosted.detail == target
        entries = {entry.wire_name for entry in surface.prefix("default", target).entries}
        pool = {entry.wire_name for entry in surface.deferred_prefix("default", target).entries}
        wire = surface.policy.encoding.wire_name(name)
        assert (expected.in_head and shown, expected.in_search and shown) == (wire in entries, wire in pool)
