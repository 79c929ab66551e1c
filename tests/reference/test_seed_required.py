"""The required tests of the seed (document 2, section 9), under its numbers, over the project's own workspace.

Nothing here knows the workbench's tools: every test walks the policy, the manifest and the catalog that it is given.
Number 6, on sub-agents' catalogs, comes with the sub-agents' own issue.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.support import ROOT, run_cli
from toolroster import LifecycleState, Surface, Workspace
from toolroster.canonical import JsonObject, JsonValue, encode
from toolroster.catalog.goldens import head_path
from toolroster.catalog.synthetic import SYNTHETIC_TOOLS
from toolroster.dispatch import CallContext, Router, adapt_arguments
from toolroster.policy import Alias, Manifest, Profile, Tombstone, list_builds, list_profiles, list_targets
from toolroster.rules import Facts
from toolroster.runtime import Executor, HandlerContext, Handlers
from toolroster.schemas import compile_schema
from toolroster.tools import DEPRECATIONS, Success, ToolCall, ToolDefinition, ToolResult

WORKSPACE = ROOT
"""The workspace that the seed's tests are run over."""


@cache
def facts() -> Facts:
    """Return everything that stands in the workspace."""
    return Workspace(WORKSPACE).read()


@cache
def surface() -> Surface:
    """Return the workspace's surface."""
    return Workspace(WORKSPACE).surface()


def manifest() -> Manifest:
    """Return the workspace's deprecation manifest."""
    return facts().manifest or Manifest()


def state_of(name: str) -> LifecycleState:
    """Return a name's state in the roster."""
    return surface().classified[name].state


def names_in(*states: LifecycleState) -> list[str]:
    """Return the names that are in these states, by code point."""
    return [name for name, found in surface().classified.items() if found.state in states]


RETIRED = (LifecycleState.HIDDEN_COMPATIBILITY, LifecycleState.DEPRECATED)
PROFILES = list_profiles(surface().policy)
BUILDS = list(list_builds(surface().policy))
ALIASES = manifest().aliases
TOMBSTONES = manifest().tombstones
ROWS: list[Alias | Tombstone] = [*ALIASES, *TOMBSTONES]


# ------------------------------------------------------------------------- 1. No retired name is active a second time


def test_1_no_retired_name_is_active_anywhere() -> None:
    """Neither in the default head, nor in the head of any mode or provider."""
    retired = {*names_in(*RETIRED), *(row.name for row in ALIASES)}

    assert set() == retired & {*names_in(LifecycleState.ACTIVE)}
    for profile in PROFILES:
        assert set() == retired & {tool.name for tool in surface().head(str(profile))}
    for name, provider in surface().policy.providers.items():
        assert set() == retired & {*(provider.active or ())}, name


def test_1_no_two_active_tools_are_the_same_implementation() -> None:
    """Two names for one thing are a choice that says nothing."""
    for profile in PROFILES:
        implementations = [tool.implementation for tool in surface().head(str(profile)) if tool.implementation is not None]
        assert sorted(set(implementations)) == sorted(implementations)


# ------------------------------------------------------------------------------ 2. Retired names can't be searched for


@pytest.mark.parametrize("profile", PROFILES, ids=str)
def test_2_retired_names_are_not_in_the_deferred_pool_yet_can_be_called(profile: Profile) -> None:
    """Absent from what tool search may return; present for dispatch."""
    pool = {tool.name for tool in surface().deferred(str(profile))}

    for name in names_in(*RETIRED):
        assert name not in pool
        assert surface().resolver.resolve(name).canonical in surface().definitions
    for target in list_targets(surface().policy, profile):
        entries = [entry.name for entry in surface().deferred_prefix(str(profile), target).entries]
        assert [] == [name for name in names_in(*RETIRED) if name in entries]


# ------------------------------------------------------------------- 3. Every name of the manifest replays like its twin


class Recorder:
    """Runs the workspace's tools by handlers that only write down what they were given."""

    def __init__(self) -> None:
        """Register one handler for every canonical tool."""
        self.ran: list[tuple[str, JsonObject]] = []
        handlers = Handlers()
        for name in surface().definitions:
            handlers.register(name)(self._record)
        self._executor = Executor(Router(surface()), handlers, Path())

    def call(self, name: str, arguments: JsonObject, canonical: str) -> ToolResult:
        """Return the result of a call that somebody has confirmed, in a conversation that has loaded the tool."""
        context = CallContext(confirmed=(canonical,), loaded=(canonical,))
        return self._executor.execute_sync(ToolCall(name, arguments, "call-1"), context)

    def _record(self, context: HandlerContext, arguments: JsonObject) -> object:
        self.ran.append((context.tool.name, arguments))
        output = context.tool.output_schema
        said: JsonObject = {"tool": context.tool.name, "arguments": arguments}
        return Success(encode(said).decode(), None if output is None else make_example(output), {"trace": "t1"})


def make_example(schema: JsonValue, *, full: bool = False) -> JsonValue:
    """Return an instance of a schema as tools have them: with what is required, or with every member that is defined."""
    given: JsonObject = schema if isinstance(schema, dict) else {}
    for keyword in ("anyOf", "oneOf"):
        match given.get(keyword):
            case [dict(first), *_]:
                rest = {key: value for key, value in given.items() if key != keyword}
                return make_example({**rest, **first}, full=full)
            case _:
                continue
    match given:
        case {"const": value} | {"enum": [value, *_]}:
            return value
        case {"type": "array"}:
            return [make_example(given.get("items"), full=full)] * number_of(given, "minItems", int(full))
        case {"type": [kind, *_]} | {"type": kind} if kind in LEAVES:
            return LEAVES[str(kind)](given)
        case _:
            return make_object(given, full=full)


def make_object(schema: JsonObject, *, full: bool) -> JsonObject:
    """Return an object of a schema."""
    properties, required = schema.get("properties"), schema.get("required")
    known = properties if isinstance(properties, dict) else {}
    wanted = [*known] if full else required if isinstance(required, list) else []
    return {str(name): make_example(known.get(str(name)), full=full) for name in wanted}


def number_of(schema: JsonObject, keyword: str, default: int) -> int:
    """Return a whole number that a keyword of a schema gives."""
    found = schema.get(keyword)
    return max(found, default) if isinstance(found, int) else default


LEAVES: dict[str, Callable[[JsonObject], JsonValue]] = {
    "boolean": lambda _: True,
    "integer": lambda schema: number_of(schema, "minimum", 1),
    "null": lambda _: None,
    "number": lambda schema: number_of(schema, "minimum", 1),
    "string": lambda schema: "x" * number_of(schema, "minLength", 1),
}
"""What stands for a value of each type that holds no others."""


def calls_of(row: Alias) -> list[JsonObject]:
    """Return arguments as old calls by a retired name had them, those alone that its old schema takes."""
    adapter = row.arguments
    schema = surface().definitions[row.replacement].input_schema
    if adapter is not None and adapter.input_schema is not None:
        schema = adapter.input_schema
    examples = [make_example(schema, full=full) for full in (False, True)]
    return [found for found in examples if isinstance(found, dict) and not compile_schema(schema).find_faults(found)]


def adapted(row: Alias, arguments: JsonObject) -> JsonObject:
    """Return the arguments of the canonical call that means the same as a call by a retired name."""
    if row.arguments is None:
        return arguments
    found = adapt_arguments(arguments, row.arguments)
    assert isinstance(found, dict)
    return found


def bytes_of(result: ToolResult) -> bytes:
    """Return a whole result as bytes."""
    content: JsonValue = result.content
    return encode([content, result.structured, result.is_error, result.code, result.metadata])


def is_denied(name: str) -> bool:
    """Return whether a tool may not be called at all."""
    permission = surface().resolver.resolve(name).permission
    return permission is not None and permission.decision == "deny"


def test_3_the_manifest_has_a_row_for_every_name_that_still_dispatches() -> None:
    """Otherwise the tests below would pass over a name."""
    assert names_in(*RETIRED) == sorted(row.name for row in ALIASES)
    assert names_in(LifecycleState.REMOVED) == sorted(row.name for row in TOMBSTONES)


@pytest.mark.parametrize("row", ALIASES, ids=lambda row: row.name)
def test_3_a_call_by_an_old_name_runs_the_same_implementation_with_the_same_result(row: Alias) -> None:
    """Each name of the manifest still executes, as its canonical twin does with the adapted arguments."""
    recorder = Recorder()
    calls = calls_of(row)
    assert calls
    runs = 0
    for arguments in calls:
        old = recorder.call(row.name, arguments, row.replacement)
        if old.code == "invalid_arguments":
            # The old schema took more than the replacement does; one of the calls must fit both.
            continue
        new = recorder.call(row.replacement, adapted(row, arguments), row.replacement)
        if is_denied(row.replacement):
            assert ("unknown_tool", "denied", []) == (old.code, new.code, recorder.ran)
            return
        runs += 1
        assert recorder.ran[-1] == recorder.ran[-2]
        assert (row.replacement, adapted(row, arguments)) == recorder.ran[-1]
        assert not old.is_error
        said = {key: value for key, value in old.metadata.items() if key != DEPRECATIONS}
        assert bytes_of(new) == bytes_of(ToolResult(old.content, old.structured, metadata=said))
    assert runs


@pytest.mark.parametrize("row", ALIASES, ids=lambda row: row.name)
def test_3_a_deprecated_name_is_noticed_in_metadata_and_a_hidden_one_is_not(row: Alias) -> None:
    """The note is present in result metadata, or nothing is added at all: not a byte."""
    recorder = Recorder()
    for arguments in calls_of(row):
        old = recorder.call(row.name, arguments, row.replacement)
        if old.is_error:
            assert {} == old.metadata
            continue
        new = recorder.call(row.replacement, adapted(row, arguments), row.replacement)
        if state_of(row.name) is LifecycleState.HIDDEN_COMPATIBILITY:
            assert bytes_of(new) == bytes_of(old)
        else:
            notice: JsonObject = {
                "name": row.name,
                "replacement": row.replacement,
                "first_deprecated_version": row.first_deprecated_version,
                "planned_removal_version": row.planned_removal_version,
                "note": row.note,
                "message": f"deprecated: use {row.replacement} instead",
            }
            assert new.metadata | {DEPRECATIONS: [notice]} == old.metadata


@pytest.mark.parametrize(("profile", "target"), BUILDS, ids=str)
def test_3_no_note_and_no_old_name_is_in_any_prefix(profile: Profile, target: str) -> None:
    """Nothing about retired names is written into a name, a schema, a description or the array."""
    for prefix in (surface().prefix(str(profile), target), surface().deferred_prefix(str(profile), target)):
        entries = {entry.name for entry in prefix.entries}
        text = prefix.data.decode()
        assert set() == entries & {row.name for row in ROWS}
        assert [] == [row.note for row in ROWS if row.note and row.note in text]
        assert [] == [row.name for row in ALIASES if f"deprecated: use {row.replacement} instead" in text]
        assert DEPRECATIONS not in text


@pytest.mark.parametrize("row", TOMBSTONES, ids=lambda row: row.name)
def test_3_a_removed_name_is_not_registered_at_all(row: Tombstone) -> None:
    """A hard error, and nothing runs."""
    recorder = Recorder()
    result = recorder.call(row.name, {}, row.name)

    assert result.code in ("tool_removed", "unknown_tool")
    assert {} == result.metadata
    assert [] == recorder.ran


# -------------------------------------------------------------------------- 4. The bytes of the active block are pinned


@pytest.mark.parametrize(("profile", "target"), BUILDS, ids=str)
def test_4_the_active_block_is_the_committed_golden(profile: Profile, target: str) -> None:
    """The golden moves only by a reviewed, deliberate edit."""
    assert facts().goldens[head_path(str(profile), target)] == surface().prefix(str(profile), target).data


@pytest.mark.parametrize(("profile", "target"), BUILDS, ids=str)
def test_4_the_native_head_is_the_same_in_every_mode(profile: Profile, target: str) -> None:
    """Plan, agent and the permissive mode share one native head; a mode may only widen behind it."""
    twin = Profile(provider=profile.provider, child=profile.child)

    assert surface().prefix(str(twin), target).native_head == surface().prefix(str(profile), target).native_head


@pytest.mark.parametrize("target", list_targets(surface().policy, Profile()))
def test_4_the_active_block_is_stable_from_run_to_run(target: str) -> None:
    """Another process, another hash seed and another object give the same bytes."""
    expected = surface().prefix("default", target).data
    arguments = ("build", "--profile", "default", "--target", target, "--stdout")
    done = run_cli("-C", str(WORKSPACE), *arguments, env={"PYTHONHASHSEED": "4242"})

    assert (0, expected) == (done.returncode, done.stdout)
    assert expected == Workspace(WORKSPACE).surface().prefix("default", target).data


# -------------------------------------------------------------------- 5. One visible launcher of sub-agents, nothing else

LAUNCHER = "agent"
LEGACY_LAUNCHERS = [row for row in ROWS if row.replacement == LAUNCHER]


def names_shown() -> set[str]:
    """Return every name that any model can come to see, as it is emitted."""
    prefixes = [
        build(str(profile), target) for profile, target in BUILDS for build in (surface().prefix, surface().deferred_prefix)
    ]
    return {entry.name for prefix in prefixes for entry in prefix.entries}


@pytest.mark.skipif(LAUNCHER not in surface().definitions, reason="the workspace has no sub-agents")
def test_5_agent_is_the_only_visible_launcher() -> None:
    """By name or by implementation, nothing else starts or manages a sub-agent."""

    def launches(tool: ToolDefinition) -> bool:
        words = tool.name.replace("-", "_").replace(".", "_").split("_")
        return "agent" in words or "subagent" in words or (tool.implementation or "").endswith(":agent")

    shown = names_shown()
    assert [LAUNCHER] == [name for name, tool in surface().definitions.items() if name in shown and launches(tool)]


@pytest.mark.skipif(not LEGACY_LAUNCHERS, reason="the workspace has no legacy launchers")
@pytest.mark.parametrize("row", LEGACY_LAUNCHERS, ids=lambda row: row.name)
def test_5_legacy_launchers_are_not_advertised(row: Alias | Tombstone) -> None:
    """Neither as a tool of any prefix, nor in the words of a tool that toolroster itself offers."""
    assert row.name not in names_shown()
    assert [] == [tool.name for tool in SYNTHETIC_TOOLS.values() if row.name in tool.description]


def test_the_list_is_as_long_as_the_seed_s_but_for_the_last() -> None:
    """Numbers 1 to 5 are all here, and the roster that they walk is not empty."""
    numbers = {name.split("_")[1] for name in globals() if name.startswith("test_") and name.split("_")[1].isdecimal()}
    roster = tomllib.loads((WORKSPACE / "policy/roster.toml").read_text(encoding="utf-8"))["roster"]

    assert {"1", "2", "3", "4", "5"} == numbers
    assert roster["active"]
