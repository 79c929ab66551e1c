from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.support import define, make_manifest, make_policy
from toolroster import CatalogError, LifecycleState, Origin, Surface, ToolDefinition, UnknownNameError, classify
from toolroster.canonical import JsonValue
from toolroster.catalog.synthetic import SYNTHETIC_TOOLS
from toolroster.diagnostics import Fault
from toolroster.policy import Manifest

ACTIVE, DEFERRED = LifecycleState.ACTIVE, LifecycleState.DEFERRED


def external(server: str, tool: str, **members: object) -> ToolDefinition:
    """Return a server's tool under its canonical name."""
    return define(f"mcp__{server}__{tool}", origin=Origin("mcp", server), raw_name=tool, **members)


def plugin(name: str) -> ToolDefinition:
    """Return a plugin's tool."""
    return define(name, origin=Origin("plugin", "extras"))


def survey(definitions: Sequence[ToolDefinition], manifest: Manifest | None = None, /, **tables: JsonValue) -> Surface:
    """Return the surface of these definitions and tables, faults included."""
    return Surface(definitions, make_policy(**tables), manifest)


def faults(definitions: Sequence[ToolDefinition], **tables: JsonValue) -> list[tuple[str, tuple[str | int, ...]]]:
    """Return the rule and the pointer of every fault of these definitions and tables."""
    return [(fault.rule, fault.anchor.pointer) for fault in survey(definitions, **tables).faults]


def heads(surface: Surface) -> dict[str, list[str]]:
    """Return the names in each profile's head."""
    return {profile: [tool.name for tool in surface.head(profile)] for profile in surface.profiles()}


def pools(surface: Surface) -> dict[str, list[str]]:
    """Return the names in each profile's deferred pool."""
    return {profile: [tool.name for tool in surface.deferred(profile)] for profile in surface.profiles()}


# ------------------------------------------------------------------------------------------------- the five sets


def test_every_defined_or_listed_name_has_the_state_of_its_set() -> None:
    """Design.md section 2: the roster is the one place that says which state a name is in."""
    surface = classify(
        [define("b"), define("a"), define("d")],
        make_policy(
            roster={
                "active": ["b", "a"],
                "deferred": ["d"],
                "hidden-compatibility": ["h"],
                "deprecated": ["p"],
                "removed": ["r"],
            }
        ),
        make_manifest(
            alias=[{"name": n, "replacement": "a", "first_deprecated_version": "0.9"} for n in ("h", "p")],
            tombstone=[{"name": "r", "removed_version": "1.0.0"}],
        ),
    )
    assert {
        "a": LifecycleState.ACTIVE,
        "b": LifecycleState.ACTIVE,
        "d": LifecycleState.DEFERRED,
        "h": LifecycleState.HIDDEN_COMPATIBILITY,
        "p": LifecycleState.DEPRECATED,
        "r": LifecycleState.REMOVED,
    } == {name: found.state for name, found in surface.classified.items()}
    assert ["a", "b", "d", "h", "p", "r"] == list(surface.classified)
    assert ("roster", "active", 1) == surface.classified["a"].anchor.pointer
    assert {"default": ["a", "b"]} == heads(surface)
    assert {"default": ["d"]} == pools(surface)


def test_a_retired_name_whose_definition_is_kept_is_in_no_head_and_no_pool() -> None:
    """Design.md section 2: hidden, deprecated and removed names are neither in the head nor in search."""
    surface = survey(
        [define(name) for name in "ahpr"],
        roster={"active": ["a"], "hidden-compatibility": ["h"], "deprecated": ["p"], "removed": ["r"]},
    )
    assert () == surface.faults
    assert {"default": ["a"]} == heads(surface)
    assert {"default": []} == pools(surface)


@pytest.mark.parametrize(
    ("roster", "rule", "pointer"),
    [
        ({"active": ["a", "x"]}, "state-for-unknown-tool", ("roster", "active", 1)),
        ({"active": ["a"], "deferred": ["x"]}, "state-for-unknown-tool", ("roster", "deferred", 0)),
        ({"active": ["a"], "deferred": ["a"]}, "name-in-two-states", ("roster", "deferred", 0)),
        ({"active": ["a"], "removed": ["a"]}, "name-in-two-states", ("roster", "removed", 0)),
        ({"active": ["a", "a"]}, "duplicate-entry", ("roster", "active", 1)),
        ({"active": ["a"], "removed": ["r", "r"]}, "duplicate-entry", ("roster", "removed", 1)),
        ({"active": ["a"], "deferred": ["mcp__*", "mcp__*"]}, "duplicate-entry", ("roster", "deferred", 1)),
        ({"active": ["a"], "removed": ["mcp__*"]}, "glob-in-retired-set", ("roster", "removed", 0)),
        ({"active": ["a"], "deprecated": ["a*"]}, "glob-in-retired-set", ("roster", "deprecated", 0)),
        ({"active": ["a"], "deferred": ["mcp__gone__*"]}, "entry-matches-nothing", ("roster", "deferred", 0)),
        ({"active": ["a", "*"]}, "entry-matches-nothing", ("roster", "active", 1)),
        ({"active": ["a", "é"]}, "invalid-name", ("roster", "active", 1)),
        ({}, "unclassified-tool", ("roster",)),
    ],
)
def test_a_fault_of_the_name_sets_is_placed_at_its_entry(
    roster: dict[str, JsonValue], rule: str, pointer: tuple[str | int, ...]
) -> None:
    """Design.md section 9: all are gathered, and a surface with faults emits nothing."""
    assert (rule, pointer) in faults([define("a")], roster=roster)
    with pytest.raises(CatalogError, match=rule):
        survey([define("a")], roster=roster).prefix("default", "anthropic")


def test_all_faults_of_the_name_sets_are_in_one_error() -> None:
    """A reader mends the file once."""
    with pytest.raises(CatalogError) as caught:
        classify([define("a"), define("new")], make_policy(roster={"active": ["a", "a", "x"], "deferred": ["a"]}))
    assert ["duplicate-entry", "name-in-two-states", "state-for-unknown-tool", "unclassified-tool"] == sorted(
        fault.rule for fault in caught.value.faults
    )
    assert all(fault.message in str(caught.value) for fault in caught.value.faults)


def test_a_misspelled_entry_is_answered_with_a_suggestion() -> None:
    """TC-029: `read_fil (did you mean read_file?)`."""
    messages = [fault.message for fault in survey([define("read_file")], roster={"active": ["read_fil"]}).faults]
    assert any("(did you mean 'read_file'?)" in message for message in messages)


def test_names_of_unreadable_definitions_count_as_known() -> None:
    """A broken file is one finding; that the roster lists its tool is not another."""
    policy = make_policy(roster={"active": ["a", "broken"]}, modes={"plan": {"callable": ["broken"]}})
    assert () == Surface([define("a")], policy, broken=["broken"]).faults


def test_definitions_may_come_in_any_order() -> None:
    """The state of a name hangs on the policy alone."""
    tools = [define("b"), external("s", "x"), define("a")]
    one = survey(tools, roster={"active": ["a", "b"]})
    other = survey(tools[::-1], roster={"active": ["a", "b"]})
    assert dict(one.classified) == dict(other.classified)
    assert list(one.definitions) == list(other.definitions)


# --------------------------------------------------------------------------------------------- globs and defaults


def test_an_unlisted_external_name_takes_its_origins_default_and_a_builtin_is_refused() -> None:
    """Design.md section 6: error for built-ins, deferred for servers and plugins, unless the policy says otherwise."""
    tools = [define("a"), external("s", "x"), plugin("p")]
    surface = survey(tools, roster={"active": ["a"]})
    assert () == surface.faults
    assert (["a"], ["mcp__s__x", "p"]) == (heads(surface)["default"], pools(surface)["default"])
    assert ("defaults", "plugin") == surface.classified["p"].anchor.pointer
    assert [("unclassified-tool", ("roster",))] == faults(tools)


def test_defaults_by_origin_can_be_chosen() -> None:
    """Each origin has a default of its own."""
    tools = [define("a"), external("s", "x"), plugin("p")]
    surface = survey(tools, defaults={"builtin": "deferred", "mcp": "active", "plugin": "active"})
    assert () == surface.faults
    assert (["mcp__s__x", "p"], ["a"]) == (heads(surface)["default"], pools(surface)["default"])
    refused = faults(tools, defaults={"builtin": "active", "mcp": "error", "plugin": "error"})
    assert ["unclassified-tool", "unclassified-tool"] == [rule for rule, _ in refused]


def test_a_glob_covers_external_names_only() -> None:
    """Design.md section 6: globs match external names only; a built-in reaches models only by its own name."""
    tools = [define("mcp__s__own"), external("s", "x"), plugin("mcp__s__y")]
    surface = survey(tools, roster={"active": ["mcp__s__*"], "deferred": ["mcp__s__own"]})
    assert () == surface.faults
    assert ["mcp__s__x", "mcp__s__y"] == heads(surface)["default"]
    assert "glob" == surface.classified["mcp__s__x"].decided
    assert ("unclassified-tool", ("roster",)) in faults(tools, roster={"active": ["mcp__s__*"]})


def test_an_exact_entry_beats_a_glob() -> None:
    """Design.md section 6: exact beats glob, in a visible set and in a retired one."""
    tools = [external("s", name) for name in ("x", "y", "z")]
    surface = survey(tools, roster={"active": ["mcp__s__x"], "deferred": ["mcp__s__*"], "removed": ["mcp__s__z"]})
    assert () == surface.faults
    assert (["mcp__s__x"], ["mcp__s__y"]) == (heads(surface)["default"], pools(surface)["default"])
    assert "entry" == surface.classified["mcp__s__x"].decided


def test_two_globs_that_disagree_on_a_name_are_an_error() -> None:
    """Design.md section 6: neither is more exact, so the state would hang on their order."""
    tools = [external("s", "list"), external("t", "list"), external("s", "get")]
    roster: JsonValue = {"active": ["mcp__s__*"], "deferred": ["mcp__*__list"]}
    found = [fault for fault in survey(tools, roster=roster).faults if fault.rule == "conflicting-globs"]
    assert ["'mcp__s__list' is matched by 'mcp__s__*' (active) and 'mcp__*__list' (deferred)."] == [
        fault.message for fault in found
    ]


def test_two_globs_that_agree_are_no_error_and_an_exact_entry_settles_a_conflict() -> None:
    """Only a disagreement is ambiguous."""
    tools = [external("s", "list"), external("s", "get")]
    assert [] == faults(tools, roster={"active": ["mcp__s__*", "mcp__*__list"]})
    assert [] == faults(tools, roster={"active": ["mcp__s__*", "mcp__s__list"], "deferred": ["mcp__*__list"]})


def test_globs_are_case_sensitive() -> None:
    """Names are never folded."""
    assert ("entry-matches-nothing", ("roster", "active", 0)) in faults([external("s", "x")], roster={"active": ["MCP__*"]})


# -------------------------------------------------------------------------------------------- modes and providers


def test_a_modes_mcp_state_beats_defaults_and_deferred_and_no_other_set() -> None:
    """Design.md section 6: a mode's `mcp` beats `[defaults]` and `deferred`, never a retired set."""
    tools = [
        define("own"),
        define("lazy"),
        external("s", "by_default"),
        external("s", "by_entry"),
        external("t", "by_glob"),
        external("s", "retired"),
        plugin("plug"),
    ]
    surface = survey(
        tools,
        roster={
            "active": ["own"],
            "deferred": ["lazy", "mcp__s__by_entry", "mcp__t__*"],
            "removed": ["mcp__s__retired"],
        },
        modes={"yolo": {"mcp": "active", "widens": "on purpose"}},
    )
    assert () == surface.faults
    assert {
        "default": ["own"],
        "yolo": ["mcp__s__by_default", "mcp__s__by_entry", "mcp__t__by_glob", "own"],
    } == heads(surface)
    assert ["lazy", "plug"] == pools(surface)["yolo"]


def test_a_mode_can_defer_what_is_active_by_default_and_leaves_active_entries_alone() -> None:
    """`mcp` beats `[defaults]` and `deferred`; a name that the roster lists as active stays."""
    surface = survey(
        [external("s", "x"), external("s", "kept"), external("t", "globbed")],
        roster={"active": ["mcp__s__kept", "mcp__t__*"]},
        defaults={"mcp": "active"},
        modes={"lean": {"mcp": "deferred", "widens": "on purpose"}},
    )
    assert ["mcp__s__kept", "mcp__s__x", "mcp__t__globbed"] == heads(surface)["default"]
    assert ["mcp__s__kept", "mcp__t__globbed"] == heads(surface)["lean"]
    assert ["mcp__s__x"] == pools(surface)["lean"]


@pytest.mark.case("TC-004")
def test_what_may_be_called_in_a_mode_never_changes_its_bytes() -> None:
    """TC-004: `callable` is authority; the head is the same byte for byte."""
    surface = survey(
        [define(name) for name in ("diff_apply", "leave_plan", "read_text", "shell")],
        roster={"active": ["shell", "read_text", "leave_plan", "diff_apply"]},
        modes={"plan": {"callable": ["leave_plan", "read_text"]}},
    )
    for target in ("anthropic", "openai-chat", "openai-responses", "mcp"):
        assert surface.prefix("default", target).data == surface.prefix("plan", target).data


def test_a_provider_narrows_the_head_and_the_other_active_names_are_deferred_there() -> None:
    """Design.md section 6: `active` of a provider is a subset of the roster's."""
    surface = survey(
        [define(name) for name in "abcd"],
        roster={"active": ["a", "b", "c"], "deferred": ["d"]},
        providers={
            "small": {"target": "openai-chat", "active": ["c", "a"]},
            "none": {"target": "mcp", "active": []},
            "all": {"target": "anthropic"},
        },
    )
    assert () == surface.faults
    assert {
        "default": ["a", "b", "c"],
        "default@all": ["a", "b", "c"],
        "default@none": [],
        "default@small": ["a", "c"],
    } == heads(surface)
    assert {
        "default": ["d"],
        "default@all": ["d"],
        "default@none": ["a", "b", "c", "d"],
        "default@small": ["b", "d"],
    } == pools(surface)


def test_a_mode_widens_only_within_what_a_provider_keeps() -> None:
    """Both apply: what a mode makes active and a provider does not list is deferred there."""
    surface = survey(
        [define("a"), external("s", "x")],
        roster={"active": ["a"]},
        modes={"yolo": {"mcp": "active", "widens": "on purpose"}},
        providers={"small": {"target": "mcp", "active": ["a"]}},
    )
    assert {
        "default": ["a"],
        "default@small": ["a"],
        "yolo": ["a", "mcp__s__x"],
        "yolo@small": ["a"],
    } == heads(surface)


def test_a_provider_that_lists_more_than_the_roster_is_an_error() -> None:
    """A provider can only narrow; otherwise the roster would no longer say which state a name is in."""
    found = faults(
        [define("a"), define("d")],
        roster={"active": ["a"], "deferred": ["d"]},
        providers={"p": {"target": "mcp", "active": ["a", "d", "zzz"]}},
    )
    assert [
        ("provider-widens-head", ("providers", "p", "active", 1)),
        ("provider-widens-head", ("providers", "p", "active", 2)),
    ] == found


# -------------------------------------------------------------------------------- sub-agents, denied, synthetic


def test_a_sub_agents_catalog_lacks_what_is_excluded_and_nothing_else() -> None:
    """Design.md section 6: an excluded name is neither in a child's head nor in its search."""
    surface = survey(
        [define("agent"), define("read"), define("lazy"), define("slow")],
        roster={"active": ["agent", "read"], "deferred": ["lazy", "slow"]},
        children={"exclude": ["agent", "slow"]},
    )
    assert () == surface.faults
    assert {"default": ["agent", "read"], "default+child": ["read"]} == heads(surface)
    assert {"default": ["lazy", "slow"], "default+child": ["lazy"]} == pools(surface)
    child = surface.find_profile("default+child")
    assert [None, ACTIVE, DEFERRED, None] == [surface.state_in(name, child) for name in ("agent", "read", "lazy", "unheard")]


@pytest.mark.parametrize(
    ("permissions", "shown"),
    [
        ({"deny": ["b"]}, ["a"]),
        ({"deny": ["old_b"]}, ["a"]),
        ({"deny": ["*b"]}, ["a"]),
        ({"allow": ["b"]}, ["b"]),
        ({"allow": ["b", "a"], "deny": ["b"]}, ["a"]),
        ({"ask": ["a", "b"]}, ["a", "b"]),
        ({"allow": ["old_b"]}, []),
    ],
)
def test_a_denied_tool_is_neither_in_the_head_nor_in_search(permissions: JsonValue, shown: list[str]) -> None:
    """TC-027, TC-028: a deny on any name of a tool hides all of it; what is not allowed is not shown either."""
    manifest = make_manifest(
        alias=[
            {"name": "old_b", "replacement": "b", "first_deprecated_version": "0.9"},
            {"name": "old_d", "replacement": "d", "first_deprecated_version": "0.9"},
        ]
    )
    for kind, pick in (("active", heads), ("deferred", pools)):
        surface = survey(
            [define("a"), define("b")],
            manifest,
            roster={kind: ["a", "b"], "hidden-compatibility": ["old_b"]},
            permissions=permissions,
        )
        assert () == surface.faults
        assert shown == pick(surface)["default"]


def test_synthetic_tools_exist_only_where_the_policy_lists_them() -> None:
    """Design.md section 6: upgrading toolroster never moves a user's bytes."""
    assert ["tool_call", "tool_search"] == list(SYNTHETIC_TOOLS)
    assert [] == heads(survey([]))["default"]
    surface = survey([define("a")], roster={"active": ["a", "tool_search"], "deferred": ["tool_call"]})
    assert () == surface.faults
    assert (["a", "tool_search"], ["tool_call"]) == (heads(surface)["default"], pools(surface)["default"])
    retired = survey([define("a")], roster={"active": ["a"], "removed": ["tool_search"]})
    assert {"default": ["a"]} == heads(retired)


# ---------------------------------------------------------------------------------- names that the policy mentions


@pytest.mark.parametrize(
    ("tables", "rule", "pointer"),
    [
        ({"modes": {"plan": {"callable": ["b", "x"]}}}, "unknown-reference", ("modes", "plan", "callable", 1)),
        ({"execution": {"parallel": ["x"]}}, "unknown-reference", ("execution", "parallel", 0)),
        ({"execution": {"exclusive": ["x"]}}, "unknown-reference", ("execution", "exclusive", 0)),
        (
            {"execution": {"parallel": ["b"], "exclusive": ["b"]}},
            "conflicting-execution",
            ("execution", "exclusive", 0),
        ),
        ({"children": {"exclude": ["x"]}}, "unknown-reference", ("children", "exclude", 0)),
        ({"calls": {"tools": {"x": {}}}}, "unknown-reference", ("calls", "tools", "x")),
        ({"loading": {"plan": "bridge"}}, "unknown-reference", ("loading", "plan")),
        ({"encoding": {"wire_names": {"x": "y"}}}, "unknown-reference", ("encoding", "wire_names", "x")),
        ({"encoding": {"wire_names": {"b": "é"}}}, "invalid-name", ("encoding", "wire_names", "b")),
        ({"encoding": {"wire_names": {"b": "c"}}}, "duplicate-wire-name", ("encoding", "wire_names", "b")),
        ({"permissions": {"deny": ["b", "x"]}}, "permission-matches-nothing", ("permissions", "deny", 1)),
        ({"permissions": {"ask": ["x*"]}}, "permission-matches-nothing", ("permissions", "ask", 0)),
        ({"permissions": {"allow": ["b", ""]}}, "invalid-name", ("permissions", "allow", 1)),
        ({"permissions": {"deny": ["list\uff3fusers"]}}, "invalid-name", ("permissions", "deny", 0)),
    ],
)
def test_a_name_that_the_policy_mentions_and_nobody_has_is_an_error(
    tables: dict[str, JsonValue], rule: str, pointer: tuple[str | int, ...]
) -> None:
    """TC-029: a rule that matches nothing is a rule that somebody believes in."""
    assert [(rule, pointer)] == faults([define("b"), define("c")], roster={"active": ["b", "c"]}, **tables)


def test_permissions_may_name_retired_names() -> None:
    """Design.md section 6: a glob in `[permissions]` matches any name."""
    assert [] == faults(
        [define("b")],
        roster={"active": ["b"], "removed": ["gone"], "deprecated": ["old"]},
        permissions={"deny": ["gone", "ol*"]},
    )


# ----------------------------------------------------------------------------------------------- usable definitions


def definition_rules(*tools: ToolDefinition, **tables: JsonValue) -> list[str]:
    """Return the rules that these definitions break when all of them are deferred."""
    found: tuple[Fault, ...] = survey(
        tools, defaults={"builtin": "deferred", "mcp": "deferred", "plugin": "deferred"}, **tables
    ).faults
    return [fault.rule for fault in found]


@pytest.mark.parametrize(
    ("members", "rules"),
    [
        ({"input_schema": {}}, []),
        ({"input_schema": {"type": "object"}}, []),
        ({"input_schema": {"type": "string"}}, ["root-not-object"]),
        ({"input_schema": {"properties": {}}}, ["root-not-object"]),
        ({"input_schema": {"type": ["object", "null"]}}, ["root-not-object"]),
        ({"description": ""}, ["missing-description"]),
        ({"description": " \n"}, ["missing-description"]),
    ],
)
def test_a_builtin_needs_a_description_and_an_object_for_arguments(members: dict[str, object], rules: list[str]) -> None:
    """Design.md section 6: `description` is required and not empty; MCP asks for an object at the root."""
    assert rules == definition_rules(define("a", **members))


def test_an_external_tool_may_lack_a_description() -> None:
    """MCP makes it optional; nothing is made up for it."""
    assert [] == definition_rules(external("s", "x", description=""))


@pytest.mark.parametrize(
    ("names", "rules"),
    [
        (["read", "write"], []),
        (["read", "Read"], ["unportable-name"]),
        (["con"], ["unportable-name"]),
        (["a b"], ["invalid-name"]),
        (["a", "a"], ["duplicate-tool-name"]),
    ],
)
def test_builtin_names_are_portable_and_unique(names: list[str], rules: list[str]) -> None:
    """Design.md section 6: names that differ only in case, and Windows device names, are errors."""
    assert rules == definition_rules(*map(define, names))


def test_external_names_may_differ_in_case_alone() -> None:
    """They share a file, and their servers tell them apart."""
    assert [] == definition_rules(external("s", "read"), external("s", "Read"))


def test_one_hosted_tool_per_target_may_share_a_name_and_none_may_take_a_builtins() -> None:
    """A provider's web search is one tool for the user, whichever provider runs it."""
    hosted = [
        define("web_search", origin=Origin("hosted", target), document={"type": "web_search"})
        for target in ("anthropic", "openai-responses")
    ]
    assert [] == definition_rules(*hosted)
    assert "duplicate-tool-name" in definition_rules(*hosted, define("web_search"))
    assert "duplicate-tool-name" in definition_rules(hosted[0], hosted[0])


# ------------------------------------------------------------------------------------------------------- look-ups


def test_unknown_profiles_and_targets_are_refused_with_what_there_is() -> None:
    """Errors quote the value and end with what to do."""
    surface = survey([define("a")], roster={"active": ["a"]}, modes={"plan": {}})
    with pytest.raises(UnknownNameError, match=r"no profile 'plann' \(did you mean 'plan'\?\)"):
        surface.prefix("plann", "anthropic")
    with pytest.raises(UnknownNameError, match=r"no target 'anthropc' \(did you mean 'anthropic'\?\)"):
        surface.prefix("plan", "anthropc")
    with pytest.raises(UnknownNameError, match="default@x"):
        surface.head("default@x")
    with pytest.raises(UnknownNameError, match="PLAN"):
        surface.deferred("PLAN")


def test_a_surface_never_changes() -> None:
    """Design.md section 5: immutable, so that a prefix of the next turn is a prefix of this one."""
    surface = survey([define("a")], roster={"active": ["a"]})
    with pytest.raises(TypeError):
        surface.classified["a"] = surface.classified["a"]  # type: ignore[index] # pyright: ignore[reportIndexIssue]
    with pytest.raises(TypeError):
        surface.definitions["b"] = define("b")  # type: ignore[index] # pyright: ignore[reportIndexIssue]
    assert surface.prefix("default", "anthropic") is surface.prefix("default", "anthropic")
