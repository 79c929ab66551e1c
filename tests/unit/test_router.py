from __future__ import annotations

import pytest

from tests.support import define, make_manifest, make_policy
from toolroster import Capability, Origin, ToolDefinition, UnknownNameError, classify
from toolroster.canonical import JsonObject, JsonValue, encode
from toolroster.dispatch import OUTPUT_WARNINGS, RAW_RESULT, REPAIRS, CallContext, Prepared, Router
from toolroster.tools import (
    DEPRECATIONS,
    NotExecuted,
    RuntimeFailure,
    Success,
    ToolCall,
    ToolOutcome,
    ToolReportedError,
    ToolResult,
)

FETCH_SCHEMA: JsonObject = {
    "type": "object",
    "required": ["id"],
    "properties": {"id": {"type": "string"}, "fmt": {"enum": ["md", "txt"]}, "limit": {"type": "integer"}},
    "additionalProperties": False,
}
READER = Capability(writes=False, checkpointable=True)


def make_router(*tools: ToolDefinition, **tables: JsonValue) -> Router:
    """Return a router over these tools, all active unless the `roster` table says otherwise.

    `aliases` and `tombstones` are the manifest's rows, everything else is a table of the policy.
    """
    manifest = make_manifest(alias=tables.pop("aliases", []), tombstone=tables.pop("tombstones", []))
    tables.setdefault("roster", {"active": [tool.name for tool in tools]})
    return Router(classify(tools, make_policy(**tables), manifest))


def alias(name: str, replacement: str, **members: JsonValue) -> JsonObject:
    """Return a manifest row of a retired name."""
    return {"name": name, "replacement": replacement, "first_deprecated_version": "0.8.0", **members}


def prepare(router: Router, name: str, arguments: JsonObject | str | None = None, **context: object) -> Prepared:
    """Return a call that passes every gate."""
    prepared = router.prepare(ToolCall(name, arguments, "c1"), CallContext(**context))  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    assert isinstance(prepared, Prepared), prepared
    return prepared


def refusal(router: Router, name: str, arguments: JsonObject | str | None = None, **context: object) -> ToolResult:
    """Return the result of a call that some gate refuses."""
    refused = router.prepare(ToolCall(name, arguments, "c1"), CallContext(**context))  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    assert isinstance(refused, ToolResult)
    assert refused.is_error
    return refused


def fields(result: ToolResult) -> JsonObject:
    """Return the named fields of a structured error, without its message."""
    assert isinstance(result.structured, dict)
    error = result.structured["error"]
    assert isinstance(error, dict)
    assert result.code == error["code"]
    assert result.content == error["message"]
    return {name: value for name, value in error.items() if name != "message"}


# --------------------------------------------------------------------------------------------------- gate order

GATES: JsonObject = {
    "roster": {
        "active": ["agent", "asked", "both", "write", "other"],
        "deferred": ["fetch", "store"],
        "removed": ["gone"],
    },
    "permissions": {"deny": ["agent", "both"], "ask": ["asked", "both"], "allow": ["write", "fetch", "store"]},
    "modes": {"plan": {"callable": ["other"]}},
    "calls": {"cold_call": "refuse"},
    "children": {"exclude": ["agent"]},
}


def gates() -> Router:
    """Return a router in which every gate refuses something."""
    return make_router(
        *(define(name, input_schema=FETCH_SCHEMA) for name in ("agent", "asked", "both", "write", "other", "store")),
        define("fetch", input_schema=FETCH_SCHEMA, capability=READER),
        tombstones=[{"name": "gone", "removed_version": "0.9.0"}],
        **GATES,
    )


@pytest.mark.parametrize(
    ("earlier", "later", "name", "context"),
    [
        ("tool_removed", "unknown_tool", "gone", {}),
        ("unknown_tool", "denied", "agent", {"profile": "default+child"}),
        ("denied", "confirmation_required", "both", {}),
        ("confirmation_required", "denied", "asked", {}),
        ("denied", "not_callable_in_mode", "agent", {"profile": "plan"}),
        ("not_callable_in_mode", "access_denied", "write", {"profile": "plan", "read_only": True}),
        ("access_denied", "checkpoint_required", "store", {"read_only": True, "require_checkpoint": True}),
        ("checkpoint_required", "not_loaded", "store", {"require_checkpoint": True}),
        ("not_loaded", "invalid_arguments", "fetch", {}),
        ("invalid_arguments", "activation_failed", "write", {}),
    ],
)
def test_the_earlier_of_two_gates_answers(earlier: str, later: str, name: str, context: JsonObject) -> None:
    """Design.md section 8: resolve, removed, exists, deny, ask, allow, mode, capability, loaded, arguments, activate, run."""
    assert earlier == refusal(gates(), name, "{", **context).code, f"{earlier} goes before {later}"


@pytest.mark.parametrize(
    ("code", "name", "context"),
    [
        ("denied", "agent", {}),
        ("denied", "other", {}),
        ("confirmation_required", "asked", {}),
        ("not_callable_in_mode", "write", {"profile": "plan"}),
        ("access_denied", "store", {"read_only": True, "loaded": ["store"]}),
        ("checkpoint_required", "store", {"require_checkpoint": True, "loaded": ["store"]}),
        ("not_loaded", "store", {}),
    ],
)
def test_each_gate_refuses_alone(code: str, name: str, context: JsonObject) -> None:
    """The second of two gates would have refused, too; otherwise the order above proves nothing."""
    assert code == refusal(gates(), name, {"id": "x"}, **context).code


def test_a_call_that_no_gate_refuses_is_prepared() -> None:
    """The same surface lets the right call through."""
    prepared = prepare(gates(), "fetch", {"id": "x"}, read_only=True, require_checkpoint=True, loaded=["fetch"])

    assert ("fetch", {"id": "x"}, "c1") == (prepared.tool.name, prepared.arguments, prepared.call.call_id)


# --------------------------------------------------------------------------------------------------------- codes


def test_an_unknown_tool_is_named_with_a_close_suggestion() -> None:
    """TC-035: only names that are visible and permitted are suggested."""
    router = make_router(define("doc_edit"), define("page_reload"))

    assert {"code": "unknown_tool", "tool": "doc_edti", "suggestion": "doc_edit"} == fields(refusal(router, "doc_edti"))
    assert {"code": "unknown_tool", "tool": "xyz"} == fields(refusal(router, "xyz"))


def test_denied_hidden_and_excluded_names_are_never_suggested() -> None:
    """TC-035: a suggestion must not reveal what the caller may not have."""
    router = make_router(
        define("shell"),
        define("doc_edit"),
        define("agent"),
        # A definition that outlived its name is no reason to suggest the name.
        define("doc_write"),
        aliases=[alias("doc_write", "doc_edit")],
        roster={"active": ["shell", "doc_edit", "agent"], "hidden-compatibility": ["doc_write"]},
        permissions={"deny": ["shell"]},
        children={"exclude": ["agent"]},
    )

    assert "suggestion" not in fields(refusal(router, "shel"))
    assert "suggestion" not in fields(refusal(router, "doc_writ"))
    assert "agent" == fields(refusal(router, "agnt"))["suggestion"]
    assert "suggestion" not in fields(refusal(router, "agnt", profile="default+child"))


def test_a_removed_tool_is_refused_with_its_tombstone() -> None:
    """TC-034: removed, since when, what to use, and why."""
    router = make_router(
        define("panel_update"),
        tombstones=[{"name": "set_label", "removed_version": "4.1.0", "replacement": "panel_update", "note": 'op="label"'}],
        roster={"active": ["panel_update"], "removed": ["set_label"]},
    )

    assert {
        "code": "tool_removed",
        "tool": "set_label",
        "since": "4.1.0",
        "replacement": "panel_update",
        "note": 'op="label"',
    } == fields(refusal(router, "set_label", {"id": 3}))


@pytest.mark.parametrize(
    ("tables", "profile"),
    [
        ({"permissions": {"deny": ["agent"]}}, "default"),
        ({"permissions": {"allow": ["other"]}}, "default"),
        ({"children": {"exclude": ["agent"]}}, "default+child"),
    ],
)
def test_a_tombstone_of_a_tool_that_the_caller_may_not_use_says_nothing(tables: JsonObject, profile: str) -> None:
    """Design.md section 8: a plain `unknown_tool` for the retired names of what may not be used."""
    router = make_router(
        define("agent"),
        define("other"),
        tombstones=[{"name": "spawn", "removed_version": "0.9.0", "replacement": "agent"}],
        roster={"active": ["agent", "other"], "removed": ["spawn"]},
        **tables,
    )

    assert {"code": "unknown_tool", "tool": "spawn"} == fields(refusal(router, "spawn", profile=profile))


def test_a_denied_tool_is_refused_with_the_rule_that_denies_it() -> None:
    """TC-027: the deciding entry, which may be a glob."""
    router = make_router(define("exec_shell"), permissions={"deny": ["exec_*"]})

    assert {"code": "denied", "tool": "exec_shell", "rule": "exec_*"} == fields(refusal(router, "exec_shell"))


def test_a_tool_outside_a_non_empty_allow_list_is_denied_by_no_rule() -> None:
    """Design.md section 6: a non-empty allow makes the default deny."""
    router = make_router(define("a"), define("b"), permissions={"allow": ["a"]})

    assert {"code": "denied", "tool": "b", "rule": ""} == fields(refusal(router, "b"))
    assert "a" == prepare(router, "a").tool.name


def test_an_asked_tool_runs_once_somebody_has_confirmed_it() -> None:
    """The confirmation is of the canonical tool, whichever of its names is called."""
    router = make_router(
        define("push"),
        aliases=[alias("send", "push")],
        roster={"active": ["push"], "hidden-compatibility": ["send"]},
        permissions={"ask": ["send"]},
    )

    for name in ("push", "send"):
        asked: JsonObject = {"code": "confirmation_required", "tool": "push", "rule": "send"}
        assert asked == fields(refusal(router, name))
        assert asked == fields(refusal(router, name, confirmed=["send", "other"]))
        assert "push" == prepare(router, name, confirmed=["push"]).tool.name


def test_a_confirmation_does_not_lift_a_deny() -> None:
    """Design.md section 8: deny > ask, whatever was confirmed (TC-028's session grant)."""
    router = make_router(define("shell"), permissions={"deny": ["shell"], "ask": ["shell"], "allow": ["shell"]})

    assert "denied" == refusal(router, "shell", confirmed=["shell"]).code


def test_a_mode_decides_what_may_be_called_and_not_what_is_shown() -> None:
    """Design.md section 6: `callable` is authority; it never changes the bytes."""
    router = make_router(define("read"), define("edit"), modes={"plan": {"callable": ["read"]}})

    assert {"code": "not_callable_in_mode", "tool": "edit", "mode": "plan"} == fields(refusal(router, "edit", profile="plan"))
    assert "edit" == prepare(router, "edit").tool.name
    assert "read" == prepare(router, "read", profile="plan").tool.name
    assert router.surface.prefix("default", "mcp").data == router.surface.prefix("plan", "mcp").data


def test_a_mode_judges_the_tool_by_whichever_name_it_is_called() -> None:
    """Every gate judges the canonical tool: listing it admits its retired names, and nothing else does."""
    router = make_router(
        define("edit"),
        define("read"),
        aliases=[alias("swap", "edit"), alias("cat", "read")],
        roster={"active": ["edit", "read"], "hidden-compatibility": ["swap", "cat"]},
        modes={"plan": {"callable": ["read"]}},
    )

    assert "read" == prepare(router, "cat", profile="plan").tool.name
    assert {"code": "not_callable_in_mode", "tool": "edit", "mode": "plan"} == fields(refusal(router, "swap", profile="plan"))


def test_a_mode_without_callable_allows_every_tool_and_an_empty_one_none() -> None:
    """Absent and empty are two things."""
    router = make_router(define("read"), modes={"agent": {}, "locked": {"callable": []}})

    assert "read" == prepare(router, "read", profile="agent").tool.name
    assert "not_callable_in_mode" == refusal(router, "read", profile="locked").code


def test_a_read_only_plan_refuses_tools_that_write_and_a_checkpointed_one_those_that_can_t_be_rolled_back() -> None:
    """Design.md section 6: unknown capability counts as writing, and not as checkpointable."""
    router = make_router(
        define("unknown"),
        define("read", capability=READER),
        define("patch", capability=Capability(writes=True, checkpointable=True)),
    )

    assert {"code": "access_denied", "tool": "unknown"} == fields(refusal(router, "unknown", read_only=True))
    assert {"code": "checkpoint_required", "tool": "unknown"} == fields(refusal(router, "unknown", require_checkpoint=True))
    assert "access_denied" == refusal(router, "patch", read_only=True, require_checkpoint=True).code
    assert "patch" == prepare(router, "patch", require_checkpoint=True).tool.name
    assert "read" == prepare(router, "read", read_only=True, require_checkpoint=True).tool.name


def test_unusable_arguments_are_refused_with_their_reason_and_offset() -> None:
    """TC-037: nothing runs, and the call's id is answered once."""
    router = make_router(define("ping"))

    assert {"code": "invalid_arguments", "tool": "ping", "reason": "arguments_not_json", "offset": 1} == fields(
        refusal(router, "ping", "{")
    )
    assert {"code": "invalid_arguments", "tool": "ping", "reason": "arguments_not_object"} == fields(
        refusal(router, "ping", "[]")
    )


def test_arguments_that_do_not_fit_are_refused_with_every_fault() -> None:
    """TC-039: places, keywords, what is allowed; unexpected names apart, as they are spelled."""
    router = make_router(define("fetch", input_schema=FETCH_SCHEMA))

    assert {
        "code": "invalid_arguments",
        "tool": "fetch",
        "reason": "arguments_do_not_fit",
        "faults": [
            {"pointer": "/a~1b", "keyword": "additionalProperties", "expectation": "unexpected; allowed are fmt, id, limit"},
            {"pointer": "/fmt", "keyword": "enum", "expectation": 'must satisfy enum ["md","txt"]'},
            {"pointer": "/id", "keyword": "required", "expectation": "required, but missing"},
        ],
        "unexpected": ["a/b"],
    } == fields(refusal(router, "fetch", {"fmt": "pdf", "a/b": 1}))


def test_a_profile_that_the_policy_does_not_have_is_the_caller_s_mistake() -> None:
    """The model chooses tools, the host chooses profiles: this one is an exception, for every name alike."""
    router = make_router(
        define("a"),
        tombstones=[{"name": "gone", "removed_version": "0.9.0"}],
        roster={"active": ["a"], "removed": ["gone"]},
    )

    for name in ("a", "gone", "nope"):
        with pytest.raises(UnknownNameError, match="'plam'"):
            router.prepare(ToolCall(name), CallContext(profile="plam"))


# --------------------------------------------------------------------------------------------------- cold calls


def cold_router(cold_call: str | None = None, **tables: JsonValue) -> Router:
    """Return a router with a deferred tool `fetch`, a retired name of it, and an active tool `other`."""
    calls: JsonObject = {} if cold_call is None else {"calls": {"cold_call": cold_call}}
    return make_router(
        define("fetch", input_schema=FETCH_SCHEMA),
        define("other", input_schema=FETCH_SCHEMA),
        aliases=[alias("get", "fetch")],
        roster={"active": ["other"], "deferred": ["fetch"], "hidden-compatibility": ["get"]},
        **calls,
        **tables,
    )


@pytest.mark.parametrize("cold_call", [None, "run"])
@pytest.mark.parametrize("name", ["fetch", "get"])
def test_a_cold_call_with_valid_arguments_runs_by_default(cold_call: str | None, name: str) -> None:
    """TC-043: one round trip is saved, and nothing is guessed."""
    assert "fetch" == prepare(cold_router(cold_call), name, {"id": "d1"}).tool.name


@pytest.mark.parametrize("arguments", [{}, {"id": "d1", "fmt": "pdf"}, {"id": "d1", "extra": 1}, "{", "[]"])
def test_a_cold_call_with_invalid_arguments_gets_the_schema_back(arguments: JsonObject | str) -> None:
    """TC-043: whoever never saw the schema can mend the call at once."""
    router = cold_router()

    for name in ("fetch", "get"):
        refused = fields(refusal(router, name, arguments))
        assert ("invalid_arguments", FETCH_SCHEMA) == (refused["code"], refused["input_schema"])
    assert "input_schema" not in fields(refusal(router, "fetch", arguments, loaded=["fetch"]))
    assert "input_schema" not in fields(refusal(router, "other", arguments))


@pytest.mark.parametrize("arguments", [{"id": "d1"}, {}, "{"])
def test_a_policy_may_answer_every_cold_call_with_the_schema(arguments: JsonObject | str) -> None:
    """Design.md section 8, `cold_call = "schema"`."""
    refused = fields(refusal(cold_router("schema"), "fetch", arguments))

    assert {"code": "not_loaded", "tool": "fetch", "input_schema": FETCH_SCHEMA} == refused


@pytest.mark.parametrize("arguments", [{"id": "d1"}, {}, "{"])
def test_a_policy_may_refuse_every_cold_call(arguments: JsonObject | str) -> None:
    """Design.md section 8, `cold_call = "refuse"`; the message says how to load."""
    refused = refusal(cold_router("refuse"), "fetch", arguments)

    assert {"code": "not_loaded", "tool": "fetch"} == fields(refused)
    assert "tool search" in str(refused.content)


@pytest.mark.parametrize("cold_call", ["run", "schema", "refuse"])
@pytest.mark.parametrize("name", ["fetch", "get"])
def test_a_loaded_tool_is_not_cold_by_any_of_its_names(cold_call: str, name: str) -> None:
    """A conversation loads tools, and its transcripts may know them by old names."""
    assert "fetch" == prepare(cold_router(cold_call), name, {"id": "d1"}, loaded=["fetch"]).tool.name
    assert "other" == prepare(cold_router(cold_call), "other", {"id": "d1"}).tool.name


def test_loading_a_retired_name_loads_nothing() -> None:
    """Only what stands in the request's tools is loaded, and a retired name never does."""
    assert "not_loaded" == refusal(cold_router("refuse"), "get", {"id": "d1"}, loaded=["get"]).code


def test_whether_a_call_is_cold_depends_on_the_profile() -> None:
    """A mode may make MCP tools active, and a provider may narrow the head."""
    notes = define("mcp__notes__list", origin=Origin("mcp", "notes"))
    router = make_router(
        notes,
        define("exec"),
        define("read"),
        roster={"active": ["exec", "read"]},
        modes={"yolo": {"mcp": "active", "widens": "MCP tools are active here"}},
        providers={"small": {"target": "openai-chat", "active": ["read"]}},
        calls={"cold_call": "refuse"},
    )

    assert "not_loaded" == refusal(router, notes.name).code
    assert notes.name == prepare(router, notes.name, profile="yolo").tool.name
    assert "exec" == prepare(router, "exec").tool.name
    assert "not_loaded" == refusal(router, "exec", profile="default@small").code
    assert "read" == prepare(router, "read", profile="default@small").tool.name


def test_a_tool_that_sub_agents_do_not_get_is_unknown_to_them_by_all_its_names() -> None:
    """Design.md section 6, `[children] exclude`."""
    router = make_router(
        define("agent"),
        aliases=[alias("spawn", "agent")],
        roster={"active": ["agent"], "deprecated": ["spawn"]},
        children={"exclude": ["agent"]},
    )

    for name in ("agent", "spawn"):
        assert "agent" == prepare(router, name).tool.name
        assert "unknown_tool" == refusal(router, name, profile="default+child").code


# --------------------------------------------------------------------------------------------------- permissions


def aliased(permissions: JsonObject) -> Router:
    """Return a router with one tool and two retired names of it."""
    return make_router(
        define("edit"),
        define("other"),
        aliases=[alias("swap", "edit"), alias("change", "edit")],
        roster={"active": ["edit", "other"], "hidden-compatibility": ["swap"], "deprecated": ["change"]},
        permissions=permissions,
    )


@pytest.mark.parametrize("denied", ["edit", "swap", "change", "ed*", "*ap"])
def test_a_deny_on_any_name_of_a_tool_denies_all_of_them(denied: str) -> None:
    """Design.md section 8; the retired names are plainly unknown, so that they tell nothing."""
    router = aliased({"deny": [denied]})

    assert {"code": "denied", "tool": "edit", "rule": denied} == fields(refusal(router, "edit"))
    assert {"code": "unknown_tool", "tool": "swap"} == fields(refusal(router, "swap"))
    assert {"code": "unknown_tool", "tool": "change"} == fields(refusal(router, "change"))
    assert "other" == prepare(router, "other").tool.name


def test_an_allow_on_a_retired_name_admits_only_calls_by_that_name() -> None:
    """Design.md section 8."""
    router = aliased({"allow": ["swap"]})

    assert "edit" == prepare(router, "swap").tool.name
    assert "denied" == refusal(router, "edit").code
    assert "unknown_tool" == refusal(router, "change").code


def test_an_allow_on_the_canonical_name_admits_every_name() -> None:
    """Otherwise a rename would break old transcripts."""
    router = aliased({"allow": ["edit"]})

    assert ["edit"] * 3 == [prepare(router, name).tool.name for name in ("edit", "swap", "change")]


# -------------------------------------------------------------------------------------------------------- bridge


def bridge(**tables: JsonValue) -> Router:
    """Return a router with the bridge, deferred tools behind it, a retired name of one, and an active tool."""
    roster: JsonObject = {
        "active": ["read_file", "tool_call", "tool_search"],
        "deferred": ["repo_delete", "repo_push", "repo_view"],
        "hidden-compatibility": ["repo_rm"],
        "deprecated": ["repo_show", "call"],
        "removed": ["repo_old"],
    }
    return make_router(
        define("repo_delete"),
        define("repo_push", input_schema=FETCH_SCHEMA),
        define("repo_view", input_schema=FETCH_SCHEMA, capability=READER),
        define("read_file"),
        aliases=[alias("repo_rm", "repo_delete"), alias("repo_show", "repo_view"), alias("call", "tool_call")],
        tombstones=[{"name": "repo_old", "removed_version": "0.9.0"}],
        roster=roster,
        **tables,
    )


def test_the_bridge_prepares_its_target_with_the_target_s_arguments() -> None:
    """TC-070: only the reply knows the wrapper; the tool, its arguments and what it means are the target's."""
    prepared = prepare(bridge(), "tool_call", {"name": "repo_view", "arguments": {"id": "d1"}})

    assert ("repo_view", {"id": "d1"}) == (prepared.tool.name, prepared.arguments)
    assert ("tool_call", "c1") == (prepared.call.name, prepared.call.call_id)
    assert "repo_view" == prepared.resolution.canonical


@pytest.mark.parametrize("target", ["tool_call", "tool_search", "call"])
def test_the_bridge_calls_neither_itself_nor_search_by_any_name(target: str) -> None:
    """TC-070: mutation testing of another bridge showed that nobody had tried."""
    call: JsonObject = {"name": target, "arguments": {"name": "repo_view", "arguments": {"id": "d1"}}}

    assert {"code": "bridge_recursion", "tool": target} == fields(refusal(bridge(), "tool_call", call))


@pytest.mark.parametrize(
    ("target", "code"), [("nope", "unknown_tool"), ("repo_old", "tool_removed"), ("repo_viex", "unknown_tool")]
)
def test_the_bridge_refuses_what_its_target_would_be_refused_for(target: str, code: str) -> None:
    """Design.md section 7: the router judges the target."""
    router = bridge()

    assert fields(refusal(router, target)) == fields(refusal(router, "tool_call", {"name": target}))
    assert code == refusal(router, "tool_call", {"name": target}).code


def test_the_bridge_runs_active_tools_and_retired_names_under_their_own_rules() -> None:
    """TC-070: `read_file` through the bridge is documented to run with its own rules."""
    router = bridge()

    assert "read_file" == prepare(router, "tool_call", {"name": "read_file"}).tool.name
    assert "repo_delete" == prepare(router, "tool_call", {"name": "repo_rm"}).tool.name


def test_the_wrapper_needs_its_own_permission_and_mode() -> None:
    """Denying the bridge closes it, and a mode must list it."""
    call: JsonObject = {"name": "repo_view", "arguments": {"id": "d1"}}
    closed = bridge(permissions={"deny": ["tool_call"]})
    asked = bridge(permissions={"ask": ["tool_call"]})
    planned = bridge(modes={"plan": {"callable": ["repo_view"]}, "open": {"callable": ["repo_view", "tool_call"]}})

    assert {"code": "denied", "tool": "tool_call", "rule": "tool_call"} == fields(refusal(closed, "tool_call", call))
    assert "confirmation_required" == refusal(asked, "tool_call", call, confirmed=["repo_view"]).code
    assert "repo_view" == prepare(asked, "tool_call", call, confirmed=["tool_call"]).tool.name
    assert "not_callable_in_mode" == refusal(planned, "tool_call", call, profile="plan").code
    assert "repo_view" == prepare(planned, "tool_call", call, profile="open").tool.name


def test_the_bridge_is_as_harmless_as_its_target() -> None:
    """What the wrapper does is what its target does: a read-only plan refuses the target, not the envelope."""
    router = bridge()
    for context in ({"read_only": True}, {"require_checkpoint": True}):
        view = prepare(router, "tool_call", {"name": "repo_view", "arguments": {"id": "d1"}}, **context)
        push = refusal(router, "tool_call", {"name": "repo_push", "arguments": {"id": "d1"}}, **context)
        assert "repo_view" == view.tool.name
        assert fields(refusal(router, "repo_push", {"id": "d1"}, **context)) == fields(push)


@pytest.mark.parametrize(
    "arguments", ["{", {}, {"name": 1}, {"name": "repo_view", "extra": 1}, {"name": "repo_view", "arguments": []}]
)
def test_a_wrapper_that_is_no_call_is_refused_under_its_own_name(arguments: JsonObject | str) -> None:
    """The model must learn which of the two schemas it missed."""
    refused = fields(refusal(bridge(), "tool_call", arguments))

    assert ("invalid_arguments", "tool_call") == (refused["code"], refused["tool"])


def test_arguments_that_the_target_refuses_are_refused_under_its_name() -> None:
    """A cold target answers with its schema, through the bridge as without it."""
    refused = fields(refusal(bridge(), "tool_call", {"name": "repo_view", "arguments": {}}))

    assert ("invalid_arguments", "repo_view", FETCH_SCHEMA) == (refused["code"], refused["tool"], refused["input_schema"])


def test_repairs_hold_for_the_wrapper_as_for_its_target() -> None:
    """TC-038: the product's own tools follow the same rule; pointers lead into the wrapper's arguments."""
    router = bridge(calls={"repair": ["strings"]})
    prepared = prepare(router, "tool_call", {"name": "repo_view", "arguments": '{"id": "d1", "limit": "5"}'})

    assert {"id": "d1", "limit": 5} == prepared.arguments
    assert {REPAIRS: ["/arguments", "/arguments/limit"]} == prepared.metadata
    assert "invalid_arguments" == refusal(bridge(), "tool_call", {"name": "repo_view", "arguments": '{"id": "d1"}'}).code


def test_a_retired_name_of_the_bridge_and_one_of_its_target_each_leave_a_notice() -> None:
    """Design.md section 8: metadata holds a list of notices."""
    router = bridge(calls={"notice_in_content": True})
    prepared = prepare(router, "call", {"name": "repo_show", "arguments": {"id": "d1"}})
    result = router.finish(prepared, Success("text"))

    assert ["call", "repo_show"] == [notice["name"] for notice in notices(result)]
    assert "text\ndeprecated: use tool_call instead\ndeprecated: use repo_view instead" == result.content
    assert ["call"] == [
        notice["name"] for notice in notices(router.finish(prepare(router, "call", {"name": "read_file"}), Success()))
    ]


def test_a_retired_name_of_the_bridge_may_have_an_adapter() -> None:
    """An alias is an alias, whatever it runs."""
    router = make_router(
        define("read"),
        aliases=[alias("invoke", "tool_call", arguments={"rename": {"tool": "name"}})],
        roster={"active": ["read", "tool_call"], "hidden-compatibility": ["invoke"]},
    )

    assert "read" == prepare(router, "invoke", {"tool": "read"}).tool.name


# ----------------------------------------------------------------------------------------------------- arguments


def test_host_arguments_are_stripped_before_validation_by_tool_or_by_policy() -> None:
    """TC-039: exactly the listed names go, and only then."""
    closed = FETCH_SCHEMA
    router = make_router(
        define("fetch", input_schema=closed),
        define("own", input_schema=closed),
        define("bare", input_schema={"type": "object"}),
        calls={"strip": ["_host"], "tools": {"own": {"strip": ["callId"]}, "bare": {"strip": []}}},
    )

    assert {"id": "x"} == prepare(router, "fetch", {"id": "x", "_host": 1}).arguments
    assert ["callId"] == fields(refusal(router, "fetch", {"id": "x", "callId": 1}))["unexpected"]
    assert {"id": "x"} == prepare(router, "own", {"id": "x", "callId": 1}).arguments
    assert ["_host"] == fields(refusal(router, "own", {"id": "x", "_host": 1}))["unexpected"]
    assert {"_host": 1} == prepare(router, "bare", {"_host": 1}).arguments


def test_repairs_hold_where_policy_or_tool_asks_and_are_recorded() -> None:
    """Issue 4: off by default, per tool or policy, recorded in metadata."""
    tools = [define(name, input_schema=FETCH_SCHEMA) for name in ("plain", "own", "off")]
    default = make_router(*tools)
    some = make_router(*tools, calls={"repair": ["strings"], "tools": {"own": {"repair": ["nulls"]}, "off": {"repair": []}}})

    assert "invalid_arguments" == refusal(default, "plain", {"id": "x", "limit": "5"}).code
    assert {"id": "x", "limit": 5} == prepare(some, "plain", {"id": "x", "limit": "5"}).arguments
    assert {REPAIRS: ["/limit"]} == some.finish(prepare(some, "plain", {"id": "x", "limit": "5"}), Success()).metadata
    assert {} == some.finish(prepare(some, "plain", {"id": "x", "limit": 5}), Success()).metadata
    assert "invalid_arguments" == refusal(some, "plain", {"id": "x", "limit": None}).code
    assert {"id": "x"} == prepare(some, "own", {"id": "x", "limit": None}).arguments
    assert "invalid_arguments" == refusal(some, "own", {"id": "x", "limit": "5"}).code
    assert "invalid_arguments" == refusal(some, "off", {"id": "x", "limit": "5"}).code


def test_a_retired_name_s_arguments_are_validated_adapted_and_validated_again() -> None:
    """Design.md section 6: legacy validation, then rename, drop, default, set, then the replacement's validation."""
    legacy: JsonObject = {"type": "object", "required": ["key"], "properties": {"key": {}, "how": {"type": "string"}}}
    router = make_router(
        define("fetch", input_schema=FETCH_SCHEMA),
        aliases=[alias("get", "fetch", arguments={"rename": {"key": "id", "how": "fmt"}, "input_schema": legacy})],
        roster={"active": ["fetch"], "hidden-compatibility": ["get"]},
    )

    assert {"id": "x", "fmt": "md"} == prepare(router, "get", {"key": "x", "how": "md"}).arguments
    missing = fields(refusal(router, "get", {"how": "md"}))
    assert ("get", "/key", legacy) == (missing["tool"], pointers(missing)[0], missing["input_schema"])
    conflict = fields(refusal(router, "get", {"key": "x", "id": "y"}))
    assert ("get", "arguments_conflict") == (conflict["tool"], conflict["reason"])
    unfit = fields(refusal(router, "get", {"key": "x", "how": "pdf"}))
    assert ("fetch", ["/fmt"]) == (unfit["tool"], pointers(unfit))


def pointers(refused: JsonObject) -> list[JsonValue]:
    """Return where the faults of refused arguments stand."""
    faults = refused["faults"]
    assert isinstance(faults, list)
    return [fault["pointer"] for fault in faults if isinstance(fault, dict)]


def test_wire_names_and_canonical_names_are_both_taken_and_judged_alike() -> None:
    """Design.md section 6: the router takes both; a rule on the canonical name holds for both."""
    open_router = make_router(define("web.run"), encoding={"wire_names": {"web.run": "web_run"}})
    closed = make_router(define("web.run"), encoding={"wire_names": {"web.run": "web_run"}}, permissions={"deny": ["web.run"]})

    assert ["web.run"] * 2 == [prepare(open_router, name).tool.name for name in ("web.run", "web_run")]
    assert ["denied"] * 2 == [refusal(closed, name).code for name in ("web.run", "web_run")]


def test_names_are_matched_exactly() -> None:
    """TC-036, answered by refusing: no folding, trimming or guessing, so every gate sees one name."""
    router = make_router(define("read_file"), define("exec"))

    for name in (
        "functions.read_file",
        " exec",
        "Read_File",
        "readFile",
        "ReadFile_tool",
        "rm_file",
        "",
        "exec\n",
        "x" * 100_000,
    ):
        assert "unknown_tool" == refusal(router, name).code


def test_judging_a_call_leaves_the_call_as_it_was() -> None:
    """The reply and the log need it as the model made it."""
    router = make_router(define("fetch", input_schema=FETCH_SCHEMA), calls={"repair": ["strings", "nulls"], "strip": ["_host"]})
    arguments: JsonObject = {"id": "x", "limit": "5", "_host": 1, "fmt": None}
    before = encode(arguments)

    prepare(router, "fetch", arguments)

    assert before == encode(arguments)


# ------------------------------------------------------------------------------------------------------- finish


def deprecated(**calls: JsonValue) -> Router:
    """Return a router with a tool, a hidden and a deprecated name of it."""
    return make_router(
        define("edit", output_schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}),
        aliases=[alias("swap", "edit", note="Old."), alias("hush", "edit", note="Never said.")],
        roster={"active": ["edit"], "deprecated": ["swap"], "hidden-compatibility": ["hush"]},
        calls=calls,
    )


def notices(result: ToolResult) -> list[JsonObject]:
    """Return the deprecation notices of a result."""
    found = result.metadata.get(DEPRECATIONS, [])
    assert isinstance(found, list)
    return [notice for notice in found if isinstance(notice, dict)]


OK = Success("ok", {"n": 3}, {"trace": "t1", "deprecation": "mine"})
ENTERED: dict[str, ToolOutcome] = {
    "success": OK,
    "tool_error": ToolReportedError("no", {"n": 3}, {"trace": "t1"}),
    "handler_failed": RuntimeFailure("ValueError", "the tool failed: ValueError: x"),
    "timeout": RuntimeFailure("timeout", "the tool did not answer in time"),
    "cancelled": RuntimeFailure("cancelled", "the call was cancelled"),
    "server_unavailable": RuntimeFailure("server_unavailable", "the server went away"),
    "output_invalid": Success("ok", {"n": "3"}),
}


@pytest.mark.parametrize("code", ENTERED)
def test_a_notice_is_added_whenever_the_tool_was_entered(code: str) -> None:
    """Design.md section 8: errors included, in metadata only, in the product's own namespace."""
    router = deprecated(output_validation="error")
    result = router.finish(prepare(router, "swap"), ENTERED[code])

    assert code == (result.code or "success")
    assert [
        {
            "name": "swap",
            "replacement": "edit",
            "first_deprecated_version": "0.8.0",
            "planned_removal_version": "TBD",
            "note": "Old.",
            "message": "deprecated: use edit instead",
        }
    ] == notices(result)
    assert "deprecated" not in f"{result.content}{result.structured}"


@pytest.mark.parametrize("code", ENTERED)
def test_a_hidden_name_adds_nothing(code: str) -> None:
    """Design.md section 2: the result, nothing added: equal in every field and byte."""
    router = deprecated(output_validation="error", notice_in_content=True)

    by_hidden = router.finish(prepare(router, "hush"), ENTERED[code])
    by_canonical = router.finish(prepare(router, "edit"), ENTERED[code])

    assert by_canonical == by_hidden
    assert repr(by_canonical) == repr(by_hidden)
    assert [] == notices(by_hidden)


@pytest.mark.parametrize("code", ENTERED)
def test_a_deprecated_name_changes_metadata_only(code: str) -> None:
    """Issue 4: the two calls differ in metadata only."""
    router = deprecated(output_validation="error")
    by_old = router.finish(prepare(router, "swap"), ENTERED[code])
    by_new = router.finish(prepare(router, "edit"), ENTERED[code])

    assert by_new.metadata == {key: value for key, value in by_old.metadata.items() if key != DEPRECATIONS}
    assert (by_new.content, by_new.structured, by_new.is_error, by_new.code) == (
        by_old.content,
        by_old.structured,
        by_old.is_error,
        by_old.code,
    )


def test_a_refused_call_has_no_notice_and_neither_has_one_that_was_never_entered() -> None:
    """Design.md section 8: notices tell what ran; nothing did."""
    router = deprecated()

    assert {} == refusal(router, "swap", "{").metadata
    assert {} == router.finish(prepare(router, "swap"), NotExecuted("activation_failed", "no handler")).metadata


def test_handler_metadata_is_kept_beside_a_notice() -> None:
    """TC-040: `trace` and the handler's own `deprecation` are still there."""
    router = deprecated()
    metadata = router.finish(prepare(router, "swap"), OK).metadata

    assert ("t1", "mine") == (metadata["trace"], metadata["deprecation"])
    assert ["trace", "deprecation", DEPRECATIONS] == list(metadata)


def test_finishing_changes_neither_the_outcome_nor_the_prepared_call() -> None:
    """Both are frozen values, and so are the objects in them."""
    router = deprecated(notice_in_content=True)
    outcome = Success([{"type": "text", "text": "ok"}], {"n": 1}, {"trace": "t1"})
    prepared = prepare(router, "swap")
    before = repr((outcome, prepared))

    router.finish(prepared, outcome)

    assert before == repr((outcome, prepared))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("ok", "ok\ndeprecated: use edit instead"),
        ("", "deprecated: use edit instead"),
        (
            [{"type": "image", "data": "AA==", "mimeType": "image/png"}],
            [
                {"type": "image", "data": "AA==", "mimeType": "image/png"},
                {"type": "text", "text": "deprecated: use edit instead"},
            ],
        ),
    ],
)
def test_a_host_may_ask_for_one_line_of_notice_in_the_content(content: str | list[JsonValue], expected: JsonValue) -> None:
    """Issue 4, provider boundary: opt-in, for hosts that want the model to see it; for deprecated names only."""
    router = deprecated(notice_in_content=True)
    outcome = Success(content, {"n": 1})

    assert expected == router.finish(prepare(router, "swap"), outcome).content
    assert content == router.finish(prepare(router, "edit"), outcome).content
    assert content == deprecated().finish(prepare(deprecated(), "swap"), outcome).content


# ------------------------------------------------------------------------------------------------------ outcomes


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (NotExecuted("activation_failed", "m"), {"code": "activation_failed", "tool": "edit", "executed": False}),
        (NotExecuted("server_unavailable", "m"), {"code": "server_unavailable", "tool": "edit", "executed": False}),
        (NotExecuted("cancelled", "m"), {"code": "cancelled", "tool": "edit", "executed": False}),
        (
            RuntimeFailure("KeyError", "m"),
            {"code": "handler_failed", "tool": "edit", "category": "KeyError", "executed": True, "retry_safe": False},
        ),
        (
            RuntimeFailure("timeout", "m"),
            {"code": "timeout", "tool": "edit", "category": "timeout", "executed": "unknown", "retry_safe": False},
        ),
        (
            RuntimeFailure("cancelled", "m"),
            {"code": "cancelled", "tool": "edit", "category": "cancelled", "executed": "unknown", "retry_safe": False},
        ),
        (
            RuntimeFailure("server_unavailable", "m"),
            {
                "code": "server_unavailable",
                "tool": "edit",
                "category": "server_unavailable",
                "executed": "unknown",
                "retry_safe": False,
            },
        ),
    ],
)
def test_every_failure_says_whether_the_tool_ran(outcome: ToolOutcome, expected: JsonObject) -> None:
    """TC-042: after a time-out nobody knows, and whoever doesn't know must not retry."""
    router = deprecated()

    assert expected == fields(router.finish(prepare(router, "edit"), outcome))


def test_a_tool_that_reports_an_error_is_passed_on_as_it_is() -> None:
    """The tool's own words and structure are the best there are."""
    router = deprecated()
    result = router.finish(prepare(router, "edit"), ToolReportedError("no such file", {"path": "a"}, {"trace": 1}))

    assert ToolResult("no such file", {"path": "a"}, is_error=True, code="tool_error", metadata={"trace": 1}) == result


BOOKING: JsonObject = {
    "type": "object",
    "properties": {"booking": {"type": "string"}, "total": {"type": "number"}},
    "required": ["booking", "total"],
}
BOOKED = Success("booked", {"booking": "b-1", "total": "12.50"}, {"trace": "t1"})
TOTAL: JsonObject = {"pointer": "/total", "keyword": "type", "expectation": "expected number"}


def test_an_output_that_does_not_fit_is_a_warning_in_metadata_by_default() -> None:
    """TC-042: the side effect happened, so the result stands."""
    router = make_router(define("book", output_schema=BOOKING))
    result = router.finish(prepare(router, "book"), BOOKED)

    assert (BOOKED.content, BOOKED.structured, False, None) == (
        result.content,
        result.structured,
        result.is_error,
        result.code,
    )
    assert {"trace": "t1", OUTPUT_WARNINGS: [TOTAL]} == result.metadata


def test_an_output_that_does_not_fit_may_be_an_error_that_says_that_the_tool_did_run() -> None:
    """TC-042: `executed`, not to be retried, with the raw result kept for the caller."""
    router = make_router(
        define("book", output_schema=BOOKING),
        define("lax", output_schema=BOOKING),
        calls={"output_validation": "error", "tools": {"lax": {"output_validation": "warning"}}},
    )
    result = router.finish(prepare(router, "book"), BOOKED)

    assert {"code": "output_invalid", "tool": "book", "executed": True, "retry_safe": False, "faults": [TOTAL]} == fields(
        result
    )
    assert {"trace": "t1", RAW_RESULT: {"content": "booked", "structured": BOOKED.structured}} == result.metadata
    assert "did run" in str(result.content)
    assert "12.50" not in str(result.content)
    assert not router.finish(prepare(router, "lax"), BOOKED).is_error


def test_an_output_that_fits_is_passed_on_and_one_without_a_schema_is_not_judged() -> None:
    """Only promises are checked."""
    router = make_router(define("book", output_schema=BOOKING), define("free"), calls={"output_validation": "error"})

    assert ToolResult("", {"booking": "b", "total": 1}) == router.finish(
        prepare(router, "book"), Success("", {"booking": "b", "total": 1})
    )
    assert ToolResult("x", None) == router.finish(prepare(router, "free"), Success("x"))
    assert "output_invalid" == router.finish(prepare(router, "book"), Success("text only")).code


def test_errors_are_not_judged_by_the_output_schema() -> None:
    """An error has no result to promise anything about."""
    router = make_router(define("book", output_schema=BOOKING), calls={"output_validation": "error"})

    assert "tool_error" == router.finish(prepare(router, "book"), ToolReportedError("full", {"reason": "full"})).code


def test_one_router_compiles_each_schema_once() -> None:
    """A call is a few look-ups; compiling is a thousand times as slow."""
    router = make_router(define("fetch", input_schema=FETCH_SCHEMA))

    prepare(router, "fetch", {"id": "x"})
    first = router.validator("fetch", FETCH_SCHEMA)
    prepare(router, "fetch", {"id": "y"})

    assert first is router.validator("fetch", FETCH_SCHEMA)
