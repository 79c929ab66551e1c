from __future__ import annotations

import pytest

from toolroster.canonical import JsonObject, JsonValue, copy_json
from toolroster.catalog.imported import Imported
from toolroster.diagnostics import Anchor

SCHEMA: JsonObject = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}, "$comment": "kept"}
MCP: JsonObject = {"name": "add", "description": "Adds.", "inputSchema": SCHEMA}
ANTHROPIC: JsonObject = {"name": "add", "description": "Adds.", "input_schema": SCHEMA}
RESPONSES: JsonObject = {"type": "function", "name": "add", "description": "Adds.", "parameters": SCHEMA}
CHAT: JsonObject = {"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": SCHEMA}}


def add(*values: JsonValue) -> Imported:
    """Return what the documents hold; each is called `tools.json`."""
    imported = Imported()
    for value in values:
        imported.add(value, "tools.json")
    return imported


def only(imported: Imported) -> JsonObject:
    """Return the one definition of an import without faults."""
    assert [] == imported.faults
    (definition,) = imported.definitions.values()
    return definition


@pytest.mark.parametrize("tool", [MCP, ANTHROPIC, RESPONSES, CHAT], ids=["mcp", "anthropic", "responses", "chat"])
def test_every_format_gives_one_definition_and_no_note(tool: JsonObject) -> None:
    """The schema is the given one, member by member and in its order (design.md section 6)."""
    imported = add([tool])
    definition = only(imported)
    assert (["name", "description", "input_schema"], [], {}) == (list(definition), imported.notes, imported.left_out)
    assert SCHEMA == definition["input_schema"]


@pytest.mark.parametrize("tool", [MCP, ANTHROPIC, RESPONSES, CHAT], ids=["mcp", "anthropic", "responses", "chat"])
def test_importing_never_changes_what_was_given(tool: JsonObject) -> None:
    """The documents are the caller's (facts/style.md 2.6)."""
    before = copy_json(tool)
    add([tool])
    assert before == tool


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ([MCP], (0,)),
        ({"tools": [MCP]}, ("tools", 0)),
        ({"result": [MCP]}, ("result", 0)),
        ({"result": {"tools": [MCP]}}, ("result", "tools", 0)),
    ],
)
def test_a_list_is_found_wherever_it_stands_and_anchored_there(document: JsonValue, pointer: tuple[str | int, ...]) -> None:
    """Faults are placed in the file that was given (design.md section 9)."""
    assert {"add": Anchor("tools.json", (*pointer, "name"))} == add(document).anchors


def test_an_empty_list_is_no_fault() -> None:
    """A server without tools is a server."""
    imported = add([])
    assert ({}, []) == (imported.definitions, imported.faults)


@pytest.mark.parametrize(
    "value", [None, True, 7, "tools", {}, {"a": 1}, {"a": None}, {"a": "b", "c": {}}, {"tools": None}, {"result": {}}]
)
def test_what_is_neither_a_list_nor_a_map_is_a_fault(value: JsonValue) -> None:
    """The message says what could have been given (issue 2)."""
    (fault,) = add(value).faults
    assert ("invalid-value", Anchor("tools.json")) == (fault.rule, fault.anchor)
    assert "Give an MCP tools/list result" in fault.fix


@pytest.mark.parametrize("value", [None, True, 7, "add", ["add"]])
def test_a_list_member_that_is_no_object_is_a_fault_and_the_others_are_kept(value: JsonValue) -> None:
    """One bad tool never hides the others (design.md section 9)."""
    imported = add([value, MCP])
    assert [("invalid-value", (0,))] == [(fault.rule, fault.anchor.pointer) for fault in imported.faults]
    assert ["add"] == [*imported.definitions]


@pytest.mark.parametrize("tool", [{}, {"name": None}, {"name": ""}, {"name": 7}, {"type": "function", "function": "add"}])
def test_a_tool_without_a_name_is_a_fault(tool: JsonObject) -> None:
    """Nothing is named by guessing."""
    (fault,) = add([tool]).faults
    assert ("missing-key", "a tool has no name.", (0,)) == (fault.rule, fault.message, fault.anchor.pointer)


def test_a_name_that_stands_twice_is_a_fault_and_the_first_is_kept() -> None:
    """In one file and in two (issue 2)."""
    other: JsonObject = {**MCP, "description": "Other."}
    for imported in (add([MCP, other]), add([MCP], {"tools": [other]})):
        assert ["duplicate-tool-name"] == [fault.rule for fault in imported.faults]
        assert "Adds." == imported.definitions["add"]["description"]


def test_members_without_a_place_are_left_out_by_name() -> None:
    """Title, output schema and hints have a place in a catalog file; the rest is told, sorted (issue 2)."""
    tool: JsonObject = {
        **MCP,
        "title": "Add",
        "outputSchema": SCHEMA,
        "annotations": {"title": "Add", "readOnlyHint": True, "x-cost": 3},
        "icons": [],
        "execution": {},
    }
    imported = add([tool])
    assert {
        "name": "add",
        "title": "Add",
        "description": "Adds.",
        "input_schema": SCHEMA,
        "output_schema": SCHEMA,
        "annotations": {"title": "Add", "readOnlyHint": True},
    } == only(imported)
    assert {"add": ("annotations.x-cost", "execution", "icons")} == imported.left_out
    assert "'add': left out annotations.x-cost, execution, icons." == imported.describe_left_out("add")


@pytest.mark.parametrize(("strict", "left_out"), [(None, {}), (False, {}), (True, {"add": ("strict",)})])
def test_strict_is_told_only_where_it_was_asked_for(strict: JsonValue, left_out: dict[str, tuple[str, ...]]) -> None:
    """`strict: false` is what the encoder writes anyway (design.md section 7)."""
    assert left_out == add([{**RESPONSES, "strict": strict}]).left_out


def test_null_members_are_absent() -> None:
    """`null` = absent (design.md section 6)."""
    tool: JsonObject = {**MCP, "title": None, "outputSchema": None, "annotations": None, "_meta": None}
    imported = add([tool])
    assert (["name", "description", "input_schema"], {}) == (list(only(imported)), imported.left_out)


def test_a_function_without_parameters_has_none_and_another_tool_without_a_schema_is_left_to_the_check() -> None:
    """OpenAI lets functions leave `parameters` out; MCP and Anthropic demand a schema, and the check says that it's missing."""
    function: JsonObject = {"type": "function", "name": "now", "description": "Tells the time."}
    assert {"type": "object", "properties": {}} == only(add([function]))["input_schema"]
    assert only(add([{"name": "now", "description": "Tells the time."}]))["input_schema"] is None


def test_two_functions_without_parameters_share_no_object() -> None:
    """A change of one definition can never show in another."""
    functions: list[JsonValue] = [{"type": "function", "name": name} for name in ("a", "b")]
    imported = add(functions)
    first, second = (imported.definitions[name]["input_schema"] for name in ("a", "b"))
    assert first == second
    assert first is not second


@pytest.mark.parametrize(("value", "deferred"), [(True, ["add"]), (False, []), (None, []), ("yes", []), (1, [])])
def test_only_defer_loading_that_is_true_defers(value: JsonValue, deferred: list[str]) -> None:
    """Anthropic's flag is a boolean; it is no member of the definition (design.md section 7)."""
    imported = add([{**ANTHROPIC, "defer_loading": value}])
    assert (deferred, False) == (imported.deferred, "defer_loading" in only(imported))


@pytest.mark.parametrize(
    ("tools", "key"),
    [
        ([ANTHROPIC, {"type": "bash_20250124", "name": "bash"}], ("anthropic", "bash")),
        ([{"type": "bash_20250124", "name": "bash"}], ("anthropic", "bash")),
        ([ANTHROPIC, {"type": "mcp_toolset", "mcp_server_name": "notes"}], ("anthropic", "mcp_toolset")),
        ([{"type": "web_search"}], ("openai-responses", "web_search")),
        ([RESPONSES, {"type": "namespace", "name": "crm", "description": "Customers."}], ("openai-responses", "crm")),
        ([{"type": "custom", "name": "query", "format": {"type": "text"}}], ("openai-responses", "query")),
        ([{"type": "custom", "name": "query"}], ("openai-responses", "query")),
        ([CHAT, {"type": "custom", "custom": {"name": "query"}}], ("openai-chat", "query")),
    ],
)
def test_a_tool_that_the_provider_runs_is_kept_verbatim_for_its_target(tools: list[JsonValue], key: tuple[str, str]) -> None:
    """Whose list it is tells the other tools in it; where there are none, whether it has a name (design.md section 2)."""
    imported = add(tools)
    assert ({key: tools[-1]}, []) == (imported.hosted, imported.faults)
    assert Anchor("tools.json", (len(tools) - 1,)) == imported.hosted_anchors[key]


def test_an_anthropic_tool_of_type_custom_is_the_users_own() -> None:
    """`custom` with a schema is what Anthropic calls every tool that the provider does not run."""
    imported = add([{"type": "custom", **ANTHROPIC}])
    assert ({}, ["name", "description", "input_schema"]) == (imported.hosted, list(only(imported)))


def test_two_hosted_tools_of_one_name_are_a_fault() -> None:
    """Neither is dropped silently (design.md section 7)."""
    tools: list[JsonValue] = [{"type": "mcp", "server_label": "a"}, {"type": "mcp", "server_label": "b"}]
    imported = add(tools)
    assert ["duplicate-tool-name"] == [fault.rule for fault in imported.faults]
    assert tools[0] == imported.hosted["openai-responses", "mcp"]


def test_two_providers_may_run_tools_of_one_name() -> None:
    """Each stands in a folder of its own target (design.md section 4)."""
    anthropic: JsonObject = {"type": "web_search_20250305", "name": "web_search"}
    imported = add([ANTHROPIC, anthropic], [{"type": "web_search"}])
    assert {("anthropic", "web_search"), ("openai-responses", "web_search")} == imported.hosted.keys()
    assert [] == imported.faults


def test_a_map_of_names_is_a_map_of_aliases() -> None:
    """Old name → new name, with the old name's place (issue 2)."""
    imported = add({"plus": "add", "sum": "add"})
    assert {"plus": "add", "sum": "add"} == imported.aliases
    assert Anchor("tools.json", ("sum",), "key") == imported.alias_anchors["sum"]


def test_maps_that_agree_are_one_map_and_maps_that_disagree_are_a_fault() -> None:
    """One old name never quietly beats another (issue 2)."""
    assert [] == add({"plus": "add"}, {"plus": "add", "sum": "add"}).faults
    imported = add({"plus": "add"}, {"plus": "sum"})
    assert ["'plus' is mapped to 'add' and to 'sum'."] == [fault.message for fault in imported.faults]
    assert {"plus": "add"} == imported.aliases


@pytest.mark.parametrize(("cursor", "notes"), [("2", 1), ("", 0), (None, 0)])
def test_a_page_with_a_cursor_is_not_the_whole_list(cursor: JsonValue, notes: int) -> None:
    """`nextCursor` says that there are more tools (MCP 2025-11-25, pagination)."""
    assert notes == len(add({"tools": [MCP], "nextCursor": cursor}).notes)
    assert notes == len(add({"id": 1, "result": {"tools": [MCP], "nextCursor": cursor}}).notes)


def test_an_mcp_tool_comes_back_as_it_was_given() -> None:
    """A server's own file keeps every member (design.md section 6)."""
    tool: JsonObject = {**MCP, "icons": [{"src": "i.png"}], "_meta": {"x": 1}}
    imported = add([tool])
    assert (True, tool) == (imported.is_mcp("add"), imported.mcp_tool("add"))


@pytest.mark.parametrize("tool", [ANTHROPIC, RESPONSES, CHAT], ids=["anthropic", "responses", "chat"])
def test_another_lists_tool_comes_back_in_mcps_terms(tool: JsonObject) -> None:
    """`inputSchema`, as MCP spells it, and no member of another format (design.md section 6)."""
    imported = add([tool])
    assert (False, MCP) == (imported.is_mcp("add"), imported.mcp_tool("add"))
