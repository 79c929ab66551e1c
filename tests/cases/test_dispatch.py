"""Field cases of dispatch, as design.md reads them: what was seen in the wild, and what this product does instead."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.support import builtin, define, make_manifest, make_policy, small_workspace, write_tree
from toolroster import Surface, ToolDefinition, Workspace, classify
from toolroster.canonical import JsonObject, JsonValue, encode
from toolroster.dispatch import OUTPUT_WARNINGS, RAW_RESULT, REPAIRS, CallContext, Router, encode_result
from toolroster.runtime import ODD_META, Executor, Handler, HandlerContext, Handlers
from toolroster.tools import DEPRECATIONS, ToolCall, ToolResult

OPEN: JsonObject = {"type": "object"}


class Bench:
    """A surface whose tools record every call; unless a handler says otherwise they answer with their arguments."""

    def __init__(self, *tools: ToolDefinition, handlers: Mapping[str, Handler] | None = None, **tables: JsonValue) -> None:
        """Take the tools (active unless `roster` says otherwise), the manifest's rows and the policy's tables."""
        manifest = make_manifest(alias=tables.pop("aliases", []), tombstone=tables.pop("tombstones", []))
        tables.setdefault("roster", {"active": [tool.name for tool in tools]})
        self.surface: Surface = classify(tools, make_policy(**tables), manifest)
        self.ran: list[tuple[str, JsonObject]] = []
        self._handlers = dict(handlers or {})
        registered = Handlers()
        for tool in tools:
            registered.register(tool.name)(self._record)
        self.executor = Executor(Router(self.surface), registered, Path())

    def call(self, name: str, arguments: Mapping[str, object] | str | None = None, **context: object) -> ToolResult:
        """Return the result of one call."""
        return self.executor.execute_sync(ToolCall(name, arguments, "c1"), CallContext(**context))  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]

    def emitted(self) -> str:
        """Return all bytes that a model or a client is ever shown: heads and deferred pools of every target."""
        targets = ("anthropic", "mcp", "openai-chat", "openai-responses")
        prefixes = [
            build("default", target) for target in targets for build in (self.surface.prefix, self.surface.deferred_prefix)
        ]
        return "".join(prefix.data.decode() for prefix in prefixes)

    def _record(self, context: HandlerContext, arguments: JsonObject) -> object:
        self.ran.append((context.tool.name, {**arguments}))
        handler = self._handlers.get(context.tool.name)
        return {**arguments} if handler is None else handler(context, arguments)


def row(name: str, replacement: str, since: str = "0.9.0", **members: JsonValue) -> JsonObject:
    """Return a manifest row of a retired name."""
    return {"name": name, "replacement": replacement, "first_deprecated_version": since, **members}


def fields(result: ToolResult) -> JsonObject:
    """Return the named fields of a structured error, without its message."""
    assert result.is_error
    assert isinstance(result.structured, dict)
    error = result.structured["error"]
    assert isinstance(error, dict)
    return {name: value for name, value in error.items() if name != "message"}


def pointers(result: ToolResult) -> list[JsonValue]:
    """Return where the faults of refused arguments stand."""
    faults = fields(result)["faults"]
    assert isinstance(faults, list)
    return [fault["pointer"] for fault in faults if isinstance(fault, dict)]


def always(value: object) -> Handler:
    """Return a handler that always returns this value."""
    return lambda _context, _arguments: value


# -------------------------------------------------------------------------------------------------------- policy


@pytest.mark.case("TC-027")
def test_a_deny_on_the_current_name_holds_for_the_old_one() -> None:
    """By the old name the tool is plainly unknown, so that a denied caller learns nothing (design.md section 8)."""
    bench = Bench(
        define("edit_text", input_schema=OPEN),
        define("grep_text", input_schema=OPEN),
        aliases=[row("swap_text", "edit_text"), row("find_in_files", "grep_text")],
        roster={"active": ["edit_text", "grep_text"], "hidden-compatibility": ["swap_text", "find_in_files"]},
        permissions={"deny": ["edit_text"]},
    )

    assert {"code": "denied", "tool": "edit_text", "rule": "edit_text"} == fields(bench.call("edit_text"))
    assert {"code": "unknown_tool", "tool": "swap_text"} == fields(bench.call("swap_text"))
    assert [] == bench.ran
    assert not bench.call("find_in_files", {"q": "x"}).is_error
    assert [("grep_text", {"q": "x"})] == bench.ran
    assert "edit_text" not in bench.emitted()
    assert "swap_text" not in bench.emitted()


@pytest.mark.case("TC-028")
@pytest.mark.parametrize("kinds", [*itertools.permutations(("allow", "ask", "deny"))])
def test_an_allow_never_switches_a_deny_off(kinds: Sequence[str], tmp_path: Path) -> None:
    """Neither the order of keys in the file nor a grant of the session does; the check says that one entry is idle."""
    rules: dict[str, JsonValue] = {"allow": ["shell", "read_file"], "ask": ["shell"], "deny": ["shell"]}
    bench = Bench(define("shell"), define("read_file"), permissions={kind: rules[kind] for kind in kinds})

    assert "denied" == bench.call("shell").code
    assert "denied" == bench.call("shell", confirmed=["shell"]).code
    assert "shell" not in bench.emitted()
    assert not bench.call("read_file").is_error

    table = "".join(f"{kind} = {encode(rules[kind]).decode()}\n" for kind in kinds)
    workspace = Workspace(
        write_tree(
            tmp_path,
            {
                "policy/roster.toml": (
                    f'schema = 1\nversion = "1.0.0"\n[roster]\nactive = ["read_file", "shell"]\n[permissions]\n{table}'
                ),
                "catalog/builtin/shell.json": builtin("shell"),
                "catalog/builtin/read_file.json": builtin("read_file"),
            },
        )
    )
    assert "TR702" in [found.rule.code for found in workspace.check()]


TABLE = Bench(
    *(define(name, input_schema=OPEN) for name in ("a", "d", "n")),
    aliases=[row("h", "a"), row("x", "a")],
    tombstones=[{"name": "r", "removed_version": "1.0.0", "replacement": "a"}],
    roster={
        "active": ["a", "n", "tool_call"],
        "deferred": ["d"],
        "hidden-compatibility": ["h"],
        "deprecated": ["x"],
        "removed": ["r"],
    },
    permissions={"deny": ["n"]},
    calls={"cold_call": "refuse"},
)


@pytest.mark.case("TC-031")
@pytest.mark.parametrize(
    ("name", "emitted", "searchable", "answer"),
    [
        ("a", True, False, "runs"),
        ("d", False, True, "not_loaded"),
        ("h", False, False, "runs"),
        ("x", False, False, "runs with a notice"),
        ("r", False, False, "tool_removed"),
        ("n", False, False, "denied"),
        ("u", False, False, "unknown_tool"),
    ],
)
@pytest.mark.parametrize("bridged", [False, True], ids=["dispatch", "bridge"])
def test_one_table_says_what_each_state_means_on_every_surface(
    name: str,
    emitted: bool,  # noqa: FBT001 - a cell of the case's table
    searchable: bool,  # noqa: FBT001 - likewise
    answer: str,
    bridged: bool,  # noqa: FBT001 - likewise
) -> None:
    """Row h is silent here, row d runs once it is loaded (design.md, how to read the cases, c and g)."""
    surface = TABLE.surface
    result = TABLE.call("tool_call", {"name": name}) if bridged else TABLE.call(name)

    assert emitted is (name in [tool.name for tool in surface.head("default")])
    assert searchable is (name in [tool.name for tool in surface.deferred("default")])
    assert answer == (result.code or ("runs with a notice" if DEPRECATIONS in result.metadata else "runs"))
    if searchable:
        assert not TABLE.call(name, loaded=[name]).is_error


# ------------------------------------------------------------------------------------------------------ dispatch


def edit_bench(state: str, **members: object) -> Bench:
    """Return a bench with `edit_text`, and `swap_text` as a retired name of it."""
    return Bench(
        define("edit_text", input_schema=OPEN),
        aliases=[row("swap_text", "edit_text", "0.2.1")],
        roster={"active": ["edit_text"], state: ["swap_text"]},
        **members,  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    )


@pytest.mark.case("TC-032")
@pytest.mark.parametrize("state", ["hidden-compatibility", "deprecated"])
def test_an_old_name_runs_its_replacement_with_the_same_arguments_and_result(state: str) -> None:
    """A notice stands in metadata only, of a deprecated name only; the reply bears the call's own id."""
    bench = edit_bench(state)
    arguments = {"path": "a.txt", "from": "x", "to": "y"}
    new, old = bench.call("edit_text", arguments), bench.call("swap_text", arguments)

    assert [("edit_text", arguments)] * 2 == bench.ran
    assert (new.content, new.structured) == (old.content, old.structured)
    assert {} == new.metadata
    notices = old.metadata.get(DEPRECATIONS, [])
    assert isinstance(notices, list)
    said = [
        {key: notice[key] for key in ("name", "replacement", "first_deprecated_version")}
        for notice in notices
        if isinstance(notice, dict)
    ]
    expected: JsonObject = {"name": "swap_text", "replacement": "edit_text", "first_deprecated_version": "0.2.1"}
    assert ([expected] if state == "deprecated" else []) == said
    reply = encode_result(old, ToolCall("swap_text", arguments, "toolu_1"), "anthropic")
    assert "toolu_1" == reply["tool_use_id"]
    assert "deprecated" not in encode(reply).decode()


@pytest.mark.case("TC-032")
@pytest.mark.parametrize("state", ["hidden-compatibility", "deprecated"])
def test_emitted_bytes_are_the_same_with_and_without_an_alias(state: str) -> None:
    """The migration table costs nobody's cache anything."""
    assert Bench(define("edit_text", input_schema=OPEN)).emitted() == edit_bench(state).emitted()


@pytest.mark.case("TC-033")
def test_chains_and_cycles_of_aliases_are_refused_at_check_time_in_one_report(tmp_path: Path) -> None:
    """Design.md, how to read the cases, d: a chain is flattened by its author, not at call time."""
    names = ["vega_ask", "nova_ask", "p", "q", "s", "t"]
    replacements = ["lyra_ask", "vega_ask", "q", "p", "s", "nowhere"]
    rows = "".join(
        f'[[alias]]\nname = "{name}"\nreplacement = "{replacement}"\nfirst_deprecated_version = "0.9.0"\n'
        for name, replacement in zip(names, replacements, strict=True)
    )
    workspace = Workspace(
        write_tree(
            tmp_path,
            {
                "policy/roster.toml": (
                    'schema = 1\nversion = "1.0.0"\n[roster]\nactive = ["lyra_ask"]\n'
                    f"deprecated = {encode([*names]).decode()}\n"
                ),
                "policy/manifest.toml": rows,
                "catalog/builtin/lyra_ask.json": builtin("lyra_ask"),
            },
        )
    )
    found = [(diagnostic.rule.code, diagnostic.message) for diagnostic in workspace.check()]

    cycles = " ".join(text for code, text in found if code == "TR105")
    assert 2 == len([code for code, _ in found if code == "TR105"])
    assert "p -> q -> p" in cycles
    assert "'s'" in cycles
    assert [("TR106", True)] == [(code, "nova_ask -> vega_ask -> lyra_ask" in text) for code, text in found if code == "TR106"]
    assert [True] == ["'nowhere'" in text for code, text in found if code == "TR404"]


@pytest.mark.case("TC-033")
def test_three_generations_of_names_all_run_with_one_notice_each() -> None:
    """Flattened: each old name has the tool itself as its replacement."""
    bench = Bench(
        define("lyra_ask", input_schema=OPEN),
        aliases=[row("vega_ask", "lyra_ask"), row("nova_ask", "lyra_ask")],
        roster={"active": ["lyra_ask"], "deprecated": ["vega_ask", "nova_ask"]},
    )

    for name in ("nova_ask", "vega_ask"):
        notices = bench.call(name).metadata[DEPRECATIONS]
        assert isinstance(notices, list)
        assert [(name, "lyra_ask")] == [(item["name"], item["replacement"]) for item in notices if isinstance(item, dict)]
    assert [("lyra_ask", {})] * 2 == bench.ran
    assert "_ask" not in bench.emitted().replace("lyra_ask", "")


@pytest.mark.case("TC-034")
def test_a_removed_tool_says_since_when_and_what_to_use() -> None:
    """The case's `hint` is the tombstone's note; an invented name has no such fields."""
    bench = Bench(
        define("panel_update", input_schema=OPEN),
        tombstones=[{"name": "set_label", "removed_version": "0.4.1", "replacement": "panel_update", "note": 'op="label"'}],
        roster={"active": ["panel_update"], "removed": ["set_label"]},
    )

    assert {
        "code": "tool_removed",
        "tool": "set_label",
        "since": "0.4.1",
        "replacement": "panel_update",
        "note": 'op="label"',
    } == fields(bench.call("set_label", {"id": 3, "label": "x"}))
    assert {"code": "unknown_tool", "tool": "never_existed"} == fields(bench.call("never_existed", {}))
    assert [] == bench.ran


@pytest.mark.case("TC-034")
def test_a_tombstone_that_leads_nowhere_fails_the_check(tmp_path: Path) -> None:
    """Advice to use a tool that nobody can see is no advice."""
    workspace = small_workspace(tmp_path)
    manifest = (tmp_path / "policy/manifest.toml").read_text(encoding="utf-8")
    write_tree(tmp_path, {"policy/manifest.toml": manifest + 'replacement = "nowhere"\n'})

    assert ["TR404"] == [found.rule.code for found in workspace.check()]


@pytest.mark.case("TC-035")
def test_an_invented_name_is_unknown_and_not_merely_inactive() -> None:
    """Existence goes before loading, and only visible, permitted names are suggested."""
    bench = Bench(
        *(define(name, input_schema=OPEN) for name in ("doc_edit", "page_reload", "cal_create", "shell")),
        aliases=[row("write", "doc_edit")],
        roster={
            "active": ["doc_edit", "page_reload", "shell"],
            "deferred": ["cal_create"],
            "hidden-compatibility": ["write"],
        },
        permissions={"deny": ["shell"]},
        calls={"cold_call": "refuse"},
    )

    assert "unknown_tool" == bench.call("page_update").code
    assert {"code": "not_loaded", "tool": "cal_create"} == fields(bench.call("cal_create"))
    assert "tool search" in str(bench.call("cal_create").content)
    assert {"code": "unknown_tool", "tool": "doc_edti", "suggestion": "doc_edit"} == fields(bench.call("doc_edti"))
    assert {"code": "unknown_tool", "tool": "shel"} == fields(bench.call("shel"))
    assert {"code": "unknown_tool", "tool": "writ"} == fields(bench.call("writ"))


@pytest.mark.case("TC-036")
@pytest.mark.parametrize("name", ["functions.read_file", " exec", "Read_File", "readFile", "ReadFile_tool", "rm_file"])
def test_a_name_that_is_spelled_otherwise_is_refused(name: str) -> None:
    """Design.md section 3 and issue 4: exact, no folding; so approval and dispatch always see one name."""
    bench = Bench(define("read_file"), define("exec"))

    assert "unknown_tool" == bench.call(name).code
    assert [] == bench.ran


GET: JsonObject = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}


@pytest.mark.case("TC-037")
@pytest.mark.parametrize("text", ["", "   ", '""', "{}"])
def test_no_arguments_are_an_empty_object_however_they_are_spelled(text: str) -> None:
    """Design.md section 8; what is missing then is an argument, not JSON."""
    bench = Bench(define("ping"), define("get", input_schema=GET))

    assert not bench.call("ping", text).is_error
    assert [("ping", {})] == bench.ran
    assert ["/id"] == pointers(bench.call("get", text))


@pytest.mark.case("TC-037")
@pytest.mark.parametrize(
    ("text", "reason", "offset"),
    [
        ("null", "arguments_not_object", None),
        ("{", "arguments_not_json", 1),
        ("[]", "arguments_not_object", None),
        ("{}{}", "arguments_not_json", 2),
    ],
)
def test_unusable_arguments_run_nothing(text: str, reason: str, offset: int | None) -> None:
    """`null` is no object; text that is no JSON comes with its offset."""
    bench = Bench(define("ping"))
    refused = fields(bench.call("ping", text))

    assert (reason, offset) == (refused["reason"], refused.get("offset"))
    assert [] == bench.ran


STRINGY: JsonObject = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "tags": {"type": "array", "items": {"type": "string"}},
        "ms": {"type": "integer"},
        "body": {"type": "string"},
        "opt": {"type": ["string", "array"]},
    },
}
SENT: JsonObject = {"tags": '["a"]', "ms": "2000", "body": '{"k":1}', "opt": "[1]"}


@pytest.mark.case("TC-038")
def test_stringified_arguments_are_refused_by_default() -> None:
    """Strict: at `/ms` and `/tags`, with what was expected there."""
    bench = Bench(define("send", input_schema=STRINGY))
    refused = bench.call("send", SENT)

    assert ["/ms", "/tags"] == pointers(refused)
    assert "expected array" in str(refused.content)
    assert [] == bench.ran


@pytest.mark.case("TC-038")
def test_stringified_arguments_are_read_where_the_policy_asks_and_the_schema_takes_no_string() -> None:
    """Content that looks like JSON is left alone, and metadata lists what was read."""
    bench = Bench(define("send", input_schema=STRINGY), calls={"repair": ["strings"]})
    result = bench.call("send", SENT)

    assert [("send", {"tags": ["a"], "ms": 2000, "body": '{"k":1}', "opt": "[1]"})] == bench.ran
    assert ["/ms", "/tags"] == result.metadata[REPAIRS]
    for text in ("2000.5", "0x10", " 2000"):
        assert ["/ms"] == pointers(bench.call("send", {"ms": text}))


@pytest.mark.case("TC-038")
def test_the_product_s_own_tools_follow_the_same_rule() -> None:
    """The bridge's `arguments` and search's `limit` are repaired like anybody's."""
    bench = Bench(
        define("send", input_schema=STRINGY),
        roster={"active": ["tool_call", "tool_search"], "deferred": ["send"]},
        calls={"repair": ["strings"]},
    )
    bench.call("tool_call", {"name": "send", "arguments": '{"ms": "5"}'})

    assert [("send", {"ms": 5})] == bench.ran
    assert "activation_failed" == bench.call("tool_search", {"query": "x", "limit": "3"}).code
    assert "invalid_arguments" == bench.call("tool_search", {"query": "x", "limit": "three"}).code


@pytest.mark.case("TC-039")
def test_an_unexpected_argument_is_refused_by_a_closed_schema_and_passed_by_an_open_one() -> None:
    """Nothing is stripped silently; the refusal names what is unexpected and what is allowed, and no value."""
    properties: JsonObject = {"q": {"type": "string"}}
    bench = Bench(
        define("closed", input_schema={"type": "object", "properties": properties, "additionalProperties": False}),
        define("open", input_schema={"type": "object", "properties": properties}),
    )
    sent: JsonObject = {"q": "x", "_host_progress": "- [ ] secret", "hostCallId": "c1"}
    refused = bench.call("closed", sent)

    assert ["_host_progress", "hostCallId"] == fields(refused)["unexpected"]
    assert "allowed are q" in str(refused.content)
    assert "secret" not in repr(refused)
    assert [] == bench.ran
    assert not bench.call("open", sent).is_error
    assert [("open", sent)] == bench.ran


@pytest.mark.case("TC-039")
def test_host_arguments_go_where_the_policy_lists_them_and_exactly_those() -> None:
    """`strip` is the host's own list."""
    bench = Bench(define("open", input_schema=OPEN), calls={"strip": ["_host_progress"]})
    bench.call("open", {"q": "x", "_host_progress": 1, "hostCallId": "c1"})

    assert [("open", {"q": "x", "hostCallId": "c1"})] == bench.ran


def returning(**changes: object) -> dict[str, Handler]:
    """Return a handler of `edit_text` that returns an MCP result with metadata of its own."""
    result: dict[str, object] = {
        "content": "ok",
        "structuredContent": {"n": 3},
        "_meta": {"trace": "t1", "deprecation": "mine"},
        "isError": False,
    }
    return {"edit_text": always(result | changes)}


@pytest.mark.case("TC-040")
def test_all_fields_of_a_result_reach_the_caller_beside_the_notice() -> None:
    """The notice has a namespace of its own, so the handler's `deprecation` is still there."""
    bench = edit_bench("deprecated", handlers=returning())
    new, old = bench.call("edit_text"), bench.call("swap_text")

    assert ToolResult("ok", {"n": 3}, metadata={"trace": "t1", "deprecation": "mine"}) == new
    assert new.metadata == {key: value for key, value in old.metadata.items() if key != DEPRECATIONS}
    assert DEPRECATIONS in old.metadata
    assert ("ok", {"n": 3}) == (old.content, old.structured)


@pytest.mark.case("TC-040")
@pytest.mark.parametrize(("meta", "kept"), [(None, {}), ("text", {ODD_META: "text"})])
def test_an_odd_meta_crashes_nothing(meta: JsonValue, kept: JsonObject) -> None:
    """Null is empty; another type is kept aside under a key of its own."""
    assert kept == edit_bench("deprecated", handlers=returning(_meta=meta)).call("edit_text").metadata


@pytest.mark.case("TC-040")
def test_an_error_through_an_old_name_has_its_notice_too() -> None:
    """The tool was entered, and the caller still uses an old name."""
    result = edit_bench("deprecated", handlers=returning(isError=True)).call("swap_text")

    assert ("tool_error", "ok", "t1") == (result.code, result.content, result.metadata["trace"])
    assert DEPRECATIONS in result.metadata


ITEMS: JsonValue = [{"type": "number"}, {"type": "string"}]
T7: JsonObject = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {"p": {"type": "array", "items": ITEMS, "additionalItems": False}},
}
T0: JsonObject = {"type": "object", "properties": {"p": {"type": "array", "prefixItems": ITEMS, "items": False}}}
T20: JsonObject = {"$schema": "https://json-schema.org/draft/2020-12/schema", **T0}


@pytest.mark.case("TC-041")
def test_every_schema_is_judged_in_its_own_dialect() -> None:
    """Valid, invalid, invalid, for draft-07, 2020-12 and none."""
    bench = Bench(*(define(name, input_schema=schema) for name, schema in (("t7", T7), ("t20", T20), ("t0", T0))))
    calls: list[JsonObject] = [{"p": [1, "a"]}, {"p": ["a", 1]}, {"p": [1, "a", 2]}]

    for name in ("t7", "t20", "t0"):
        assert [None, "invalid_arguments", "invalid_arguments"] == [bench.call(name, sent).code for sent in calls]


@pytest.mark.case("TC-041")
@pytest.mark.parametrize(
    ("schema", "code", "pointer"),
    [
        ({**T20, "$schema": "https://example.test/draft-99"}, "TR213", "draft-99"),
        ({key: value for key, value in T7.items() if key != "$schema"}, "TR214", "/properties/p/items"),
    ],
)
def test_a_schema_that_can_t_be_judged_is_refused_when_it_is_loaded(
    schema: JsonObject, code: str, pointer: str, tmp_path: Path
) -> None:
    """TX and T7 without its dialect: an error of the check, never a validation that is skipped."""
    workspace = small_workspace(tmp_path)
    write_tree(tmp_path, {"catalog/builtin/read_file.json": builtin("read_file", input_schema=schema)})
    found = [diagnostic for diagnostic in workspace.check() if diagnostic.rule.code == code]

    assert [True] == [diagnostic.is_error and pointer in diagnostic.message for diagnostic in found]


@pytest.mark.case("TC-041")
def test_the_dialect_is_no_part_of_the_emitted_bytes() -> None:
    """Naming it moves no model's prefix; an MCP client is told, since it may validate (design.md section 7)."""
    bare, named = (Bench(define("t", input_schema=schema)).surface for schema in (T0, T20))

    for target in ("anthropic", "openai-chat", "openai-responses"):
        assert bare.prefix("default", target).data == named.prefix("default", target).data
    assert b"2020-12" in named.prefix("default", "mcp").data


BOOKING: JsonObject = {
    "type": "object",
    "properties": {"booking": {"type": "string"}, "total": {"type": "number"}},
    "required": ["booking", "total"],
}
BOOKED: JsonObject = {"booking": "b-1", "total": "12.50"}


@pytest.mark.case("TC-042")
def test_an_invalid_output_says_that_the_tool_did_run() -> None:
    """With `output_validation = "error"`: executed, not to be retried, at `/total`, with the raw result kept."""
    bench = Bench(
        define("book_room", output_schema=BOOKING),
        handlers={"book_room": always(BOOKED)},
        calls={"output_validation": "error"},
    )
    result = bench.call("book_room")
    refused = fields(result)

    assert ("output_invalid", True, False) == (refused["code"], refused["executed"], refused["retry_safe"])
    assert ["/total"] == pointers(result)
    assert {"content": encode(BOOKED).decode(), "structured": BOOKED} == result.metadata[RAW_RESULT]
    assert 1 == len(bench.ran)


@pytest.mark.case("TC-042")
def test_an_invalid_output_is_a_warning_by_default() -> None:
    """Design.md, how to read the cases, i: the raw result as success, with the fault in metadata."""
    result = Bench(define("book_room", output_schema=BOOKING), handlers={"book_room": always(BOOKED)}).call("book_room")

    assert (False, BOOKED) == (result.is_error, result.structured)
    assert [{"pointer": "/total", "keyword": "type", "expectation": "expected number"}] == result.metadata[OUTPUT_WARNINGS]


@pytest.mark.case("TC-042")
def test_a_time_out_leaves_open_whether_the_tool_ran() -> None:
    """The call may still take effect."""

    def late(_: HandlerContext, __: JsonObject) -> object:
        raise TimeoutError

    refused = fields(Bench(define("book_room"), handlers={"book_room": late}).call("book_room"))

    assert ("timeout", "unknown", False) == (refused["code"], refused["executed"], refused["retry_safe"])


NOTE: JsonObject = {
    "type": "object",
    "required": ["note_id"],
    "properties": {"note_id": {"type": "string"}, "fmt": {"enum": ["md", "txt"]}},
    "additionalProperties": False,
}


@pytest.mark.case("TC-043")
@pytest.mark.parametrize(
    ("cold_call", "codes", "schema_shown"),
    [
        ("run", ["invalid_arguments", "invalid_arguments", None], True),
        ("schema", ["not_loaded", "not_loaded", "not_loaded"], True),
        ("refuse", ["not_loaded", "not_loaded", "not_loaded"], False),
    ],
)
def test_a_blind_call_of_a_deferred_tool_is_mended_in_one_round_trip(
    cold_call: str,
    codes: list[str | None],
    schema_shown: bool,  # noqa: FBT001 - a cell of the table
) -> None:
    """One rule for all tools, by policy; by default valid arguments run and invalid ones get the schema back."""
    bench = Bench(define("note_fetch", input_schema=NOTE), roster={"deferred": ["note_fetch"]}, calls={"cold_call": cold_call})
    results = [bench.call("note_fetch", sent) for sent in ({}, {"note_id": "d1", "fmt": "pdf"}, {"note_id": "d1"})]

    assert codes == [result.code for result in results]
    for result in results:
        if result.is_error:
            assert (NOTE if schema_shown else None) == fields(result).get("input_schema")
    assert ([("note_fetch", {"note_id": "d1"})] if cold_call == "run" else []) == bench.ran


NULLABLE: JsonObject = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "cursor": {"type": "string"},
        "parent": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "tag": {"enum": ["a", None]},
    },
}


@pytest.mark.case("TC-044")
def test_a_null_is_refused_or_dropped_only_where_the_schema_takes_none() -> None:
    """Strict by default; with `nulls` it is dropped where it is neither taken nor required."""
    strict = Bench(define("list", input_schema=NULLABLE))
    lenient = Bench(define("list", input_schema=NULLABLE), calls={"repair": ["nulls", "strings"]})
    sent: JsonObject = {"name": "n", "cursor": None, "parent": None, "tag": None}

    assert ["/cursor"] == pointers(strict.call("list", sent))
    assert {REPAIRS: ["/cursor"]} == lenient.call("list", sent).metadata
    assert [("list", {"name": "n", "parent": None, "tag": None})] == lenient.ran
    for bench in (strict, lenient):
        assert ["/name"] == pointers(bench.call("list", {"name": None}))
        assert {"name": "null", "cursor": "null"} == bench.call("list", {"name": "null", "cursor": "null"}).structured


# -------------------------------------------------------------------------------------------------------- search


@pytest.mark.case("TC-050")
def test_denied_and_retired_names_are_not_in_the_deferred_pool() -> None:
    """What search may return; no description, schema or count reveals the others."""
    bench = Bench(
        define("web_search", input_schema=OPEN),
        define("cal_create", input_schema=OPEN),
        aliases=[row("web_find", "web_search"), row("cal_new", "cal_create")],
        tombstones=[{"name": "cal_old", "removed_version": "1.0.0"}],
        roster={
            "deferred": ["web_search", "cal_create"],
            "hidden-compatibility": ["web_find"],
            "deprecated": ["cal_new"],
            "removed": ["cal_old"],
        },
        permissions={"deny": ["web_search"]},
    )

    assert ["cal_create"] == [tool.name for tool in bench.surface.deferred("default")]
    assert [] == [name for name in ("web_search", "web_find", "cal_new", "cal_old") if name in bench.emitted()]
    assert "denied" == bench.call("web_search", loaded=["web_search"]).code
    assert "unknown_tool" == bench.call("web_find", loaded=["web_search"]).code
    assert [] == bench.ran


# ------------------------------------------------------------------------------------------------------ security


@pytest.mark.case("TC-069")
@pytest.mark.parametrize("text", ["[" * 100_000 + "]" * 100_000, '{"a":' * 2_000 + "1" + "}" * 2_000])
def test_deep_arguments_are_refused_and_the_next_call_works(text: str) -> None:
    """Depth is counted before anything recurses; one level below the limit is fine."""
    bench = Bench(define("open", input_schema=OPEN))

    assert "arguments_too_deep" == fields(bench.call("open", text))["reason"]
    assert [] == bench.ran
    assert not bench.call("open", '{"a":' * 63 + "1" + "}" * 63).is_error


@pytest.mark.case("TC-070")
def test_the_bridge_is_judged_by_its_target() -> None:
    """Denied, denied (as plainly unknown by the old name), asked, runs, refused as recursion, runs by its own rules."""
    bench = Bench(
        *(define(name, input_schema=OPEN) for name in ("repo_delete", "repo_push", "repo_view", "read_file")),
        aliases=[row("repo_rm", "repo_delete")],
        roster={
            "active": ["read_file", "tool_call"],
            "deferred": ["repo_delete", "repo_push", "repo_view"],
            "hidden-compatibility": ["repo_rm"],
        },
        permissions={"deny": ["repo_delete"], "ask": ["repo_push"], "allow": ["tool_call", "*"]},
    )

    assert {"code": "denied", "tool": "repo_delete", "rule": "repo_delete"} == fields(
        bench.call("tool_call", {"name": "repo_delete"})
    )
    assert {"code": "unknown_tool", "tool": "repo_rm"} == fields(bench.call("tool_call", {"name": "repo_rm"}))
    assert {"code": "confirmation_required", "tool": "repo_push", "rule": "repo_push"} == fields(
        bench.call("tool_call", {"name": "repo_push"}, confirmed=["tool_call"])
    )
    nested: JsonObject = {"name": "tool_call", "arguments": {"name": "repo_delete"}}
    assert {"code": "bridge_recursion", "tool": "tool_call"} == fields(bench.call("tool_call", nested))
    assert [] == bench.ran
    assert not bench.call("tool_call", {"name": "repo_view", "arguments": {"id": 1}}).is_error
    assert not bench.call("tool_call", {"name": "repo_push"}, confirmed=["repo_push"]).is_error
    assert not bench.call("tool_call", {"name": "read_file"}).is_error
    assert [("repo_view", {"id": 1}), ("repo_push", {}), ("read_file", {})] == bench.ran
