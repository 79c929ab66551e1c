from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support import run_cli, write_tree
from toolroster import Workspace
from toolroster.canonical import JsonObject, JsonValue, parse_json
from toolroster.diagnostics import CatalogError
from toolroster.workspace import lay_out

READ_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Where."},
        "limit": {"type": "integer", "minimum": 1},
        "encoding": {"type": "string", "enum": ["utf-8", "latin-1"]},
    },
    "required": ["path"],
}
NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}
DESCRIPTIONS = {"read_file": "Reads a file.", "list_roots": "Lists the folders that may be read."}

MCP_TOOLS: list[JsonValue] = [
    {"name": "read_file", "description": DESCRIPTIONS["read_file"], "inputSchema": READ_SCHEMA},
    {"name": "list_roots", "description": DESCRIPTIONS["list_roots"], "inputSchema": NO_PARAMETERS},
]
CHAT_TOOLS: list[JsonValue] = [
    {
        "type": "function",
        "function": {"name": "read_file", "description": DESCRIPTIONS["read_file"], "parameters": READ_SCHEMA, "strict": False},
    },
    # Chat Completions takes a function without parameters.
    {"type": "function", "function": {"name": "list_roots", "description": DESCRIPTIONS["list_roots"]}},
]
RESPONSES_TOOLS: list[JsonValue] = [
    {
        "type": "function",
        "name": "read_file",
        "description": DESCRIPTIONS["read_file"],
        "parameters": READ_SCHEMA,
        "strict": False,
    },
    {"type": "function", "name": "list_roots", "description": DESCRIPTIONS["list_roots"], "parameters": None},
]
ANTHROPIC_TOOLS: list[JsonValue] = [
    {"name": "read_file", "description": DESCRIPTIONS["read_file"], "input_schema": READ_SCHEMA},
    {"type": "custom", "name": "list_roots", "description": DESCRIPTIONS["list_roots"], "input_schema": NO_PARAMETERS},
]
LISTS: dict[str, JsonValue] = {
    "MCP tools, bare": MCP_TOOLS,
    "MCP tools/list result": {"tools": MCP_TOOLS},
    "MCP tools/list response": {"jsonrpc": "2.0", "id": 1, "result": {"tools": MCP_TOOLS}},
    "OpenAI Chat Completions": CHAT_TOOLS,
    "OpenAI Chat Completions request": {"model": "m", "messages": [], "tools": CHAT_TOOLS},
    "OpenAI Responses": RESPONSES_TOOLS,
    "Anthropic": ANTHROPIC_TOOLS,
}


def init(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run `toolroster -C agent init` in a folder."""
    return run_cli("-C", "agent", "init", *arguments, cwd=cwd)


def import_into(tmp_path: Path, *documents: JsonValue, server: str = "") -> Workspace:
    """Import documents as `init --from` does, which must have nothing to note, and return the workspace."""
    names = [f"tools{index}.json" for index in range(len(documents))]
    write_tree(tmp_path, dict(zip(names, documents, strict=True)))
    layout = lay_out(tmp_path / "agent", [tmp_path / name for name in names], server)
    assert () == layout.notes
    return Workspace(tmp_path / "agent")


def accept_and_check(workspace: Workspace) -> None:
    """Accept the goldens; then nothing must be left to say."""
    workspace.accept(environment={})
    assert () == workspace.check()


def roster(workspace: Workspace) -> Mapping[str, list[str]]:
    """Return the workspace's name-sets as they stand in its roster file."""
    sets: Mapping[str, list[str]] = tomllib.loads((workspace.root / "policy/roster.toml").read_text(encoding="utf-8"))["roster"]
    return sets


def read(workspace: Workspace, path: str) -> JsonObject:
    """Return the object in a file of the workspace."""
    value: JsonObject = json.loads((workspace.root / path).read_text(encoding="utf-8"))
    return value


def tree(folder: Path) -> dict[str, bytes | None]:
    """Return the bytes of every file below a folder, and None for every folder, by path."""
    return {
        path.relative_to(folder).as_posix(): None if path.is_dir() else path.read_bytes() for path in sorted(folder.rglob("*"))
    }


# ------------------------------------------------------------------------------------------------ a new workspace


def test_a_new_workspace_is_clean_after_accept(tmp_path: Path) -> None:
    """`init` then `accept` leaves `check` at 0 (design.md section 10)."""
    exits = [run_cli(verb, cwd=tmp_path).returncode for verb in ("init", "accept", "check")]
    assert [0, 0, 0] == exits
    assert {
        ".gitattributes",
        ".github/workflows/toolroster.yml",
        "goldens/SHA256SUMS",
        "goldens/default/anthropic.json",
        "goldens/default/mcp.json",
        "goldens/default/openai-chat.json",
        "policy/manifest.toml",
        "policy/roster.toml",
        "policy/waivers.toml",
    } <= tree(tmp_path).keys()


def test_a_new_workspace_has_a_ci_step_that_checks(tmp_path: Path) -> None:
    """`init` lays out a CI step (design.md section 10)."""
    init(tmp_path)
    step = (tmp_path / "agent/.github/workflows/toolroster.yml").read_text(encoding="utf-8")
    assert "      - run: toolroster check\n" in step


def test_every_file_of_a_new_workspace_has_lf_line_endings_only(tmp_path: Path) -> None:
    """The writer opens files in binary, so that Windows writes LF too (TC-052)."""
    write_tree(tmp_path, {"tools.json": {"tools": MCP_TOOLS}})
    init(tmp_path, "--from", "tools.json")
    assert [] == [path for path, data in tree(tmp_path / "agent").items() if data is not None and b"\r" in data]


# ------------------------------------------------------------------------------------------------ lists of tools


@pytest.mark.parametrize("kind", LISTS)
def test_every_kind_of_list_gives_the_same_built_in_tools(kind: str, tmp_path: Path) -> None:
    """MCP, OpenAI and Anthropic lists become one file a tool, schemas untouched, and pass the check (issue 2)."""
    workspace = import_into(tmp_path, LISTS[kind])
    assert ["list_roots", "read_file"] == roster(workspace)["active"]
    expected = {"name": "read_file", "description": DESCRIPTIONS["read_file"], "input_schema": READ_SCHEMA}
    assert json.dumps(expected) == json.dumps(read(workspace, "catalog/builtin/read_file.json"))
    expected = {"name": "list_roots", "description": DESCRIPTIONS["list_roots"], "input_schema": NO_PARAMETERS}
    assert expected == read(workspace, "catalog/builtin/list_roots.json")
    accept_and_check(workspace)


def test_what_was_imported_comes_out_as_it_went_in(tmp_path: Path) -> None:
    """The built head of a provider's own format is the list that was imported, sorted by name (design.md section 7)."""
    workspace = import_into(tmp_path, ANTHROPIC_TOOLS)
    _, read_file = workspace.surface().prefix("default", target="anthropic").tools
    assert ANTHROPIC_TOOLS[0] == read_file


def test_several_files_are_imported_together(tmp_path: Path) -> None:
    """`--from` takes any number of files, in any of the formats (design.md section 10)."""
    workspace = import_into(tmp_path, MCP_TOOLS[:1], CHAT_TOOLS[1:])
    assert ["list_roots", "read_file"] == roster(workspace)["active"]


def test_a_titled_annotated_mcp_tool_keeps_what_a_catalog_file_has_a_place_for(tmp_path: Path) -> None:
    """Title, output schema and MCP's hints are kept, null members are not (design.md section 6)."""
    tool: JsonObject = {
        "name": "stat",
        "title": "File facts",
        "description": "Tells size and time.",
        "inputSchema": READ_SCHEMA,
        "outputSchema": {"type": "object", "properties": {"size": {"type": "integer"}}},
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
        "execution": None,
    }
    workspace = import_into(tmp_path, [tool])
    expected: JsonObject = {
        "name": "stat",
        "title": "File facts",
        "description": "Tells size and time.",
        "input_schema": READ_SCHEMA,
        "output_schema": tool["outputSchema"],
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }
    assert expected == read(workspace, "catalog/builtin/stat.json")
    accept_and_check(workspace)


def test_a_tool_that_the_list_defers_is_deferred(tmp_path: Path) -> None:
    """Anthropic's `defer_loading` says that a tool stays out of the head (design.md section 7)."""
    workspace = import_into(tmp_path, [ANTHROPIC_TOOLS[0], {**as_object(ANTHROPIC_TOOLS[1]), "defer_loading": True}])
    assert (["read_file"], ["list_roots"]) == (roster(workspace)["active"], roster(workspace)["deferred"])
    assert "defer_loading" not in read(workspace, "catalog/builtin/list_roots.json")
    accept_and_check(workspace)


def test_members_without_a_place_are_named_for_each_tool(tmp_path: Path) -> None:
    """Nothing is dropped silently (issue 2)."""
    cached: JsonObject = {"cache_control": {"type": "ephemeral"}, "input_examples": []}
    hinted: JsonObject = {"annotations": {"readOnlyHint": True, "vendor/color": "red"}}
    write_tree(tmp_path, {"tools.json": [as_object(ANTHROPIC_TOOLS[0]) | cached, as_object(MCP_TOOLS[1]) | hinted]})
    done = init(tmp_path, "--from", "tools.json")
    assert (
        0,
        ["'read_file': left out cache_control, input_examples.", "'list_roots': left out annotations.vendor/color."],
    ) == (
        done.returncode,
        done.stderr.decode().splitlines(),
    )


def test_one_page_of_a_list_is_said_to_be_one_page(tmp_path: Path) -> None:
    """A server that answers in pages has more tools than its first answer holds (MCP 2025-11-25, pagination)."""
    write_tree(tmp_path, {"page.json": {"jsonrpc": "2.0", "id": 1, "result": {"tools": MCP_TOOLS, "nextCursor": "2"}}})
    done = init(tmp_path, "--from", "page.json")
    message = b"page.json is one page of several (nextCursor): the tools of the other pages are missing.\n"
    assert (0, message) == (done.returncode, done.stderr)


# ------------------------------------------------------------------------------------- tools that the provider runs


def test_a_hosted_tool_of_anthropic_is_emitted_verbatim_for_anthropic_alone(tmp_path: Path) -> None:
    """A tool that the provider runs is kept as it was given, for its own target (design.md section 2)."""
    hosted: JsonObject = {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}
    workspace = import_into(tmp_path, [*ANTHROPIC_TOOLS, hosted])
    assert hosted == read(workspace, "catalog/hosted/anthropic/web_search.json")
    accept_and_check(workspace)
    surface = workspace.surface()
    assert hosted in surface.prefix("default", target="anthropic").tools
    assert 2 == len(surface.prefix("default", target="openai-chat").entries)


def test_hosted_tools_of_responses_bring_their_target_with_them(tmp_path: Path) -> None:
    """No tool is dropped silently: a list for the Responses API gets goldens for it (design.md section 7)."""
    hosted: list[JsonValue] = [
        {"type": "web_search"},
        {"type": "mcp", "server_label": "notes", "server_url": "https://notes.example/mcp"},
        {"type": "custom", "name": "run_query", "description": "Takes a query as plain text.", "format": {"type": "text"}},
    ]
    workspace = import_into(tmp_path, [*RESPONSES_TOOLS, *hosted])
    accept_and_check(workspace)
    tools = workspace.surface().prefix("default", target="openai-responses").tools
    assert ["list_roots", "mcp", "read_file", "run_query", "web_search"] == [tool.get("name", tool["type"]) for tool in tools]
    assert [] == [tool for tool in hosted if tool not in tools]
    assert tools == json.loads((workspace.root / "goldens/default/openai-responses.json").read_bytes())


def test_a_free_form_tool_of_chat_completions_is_emitted_verbatim(tmp_path: Path) -> None:
    """A custom tool has no schema, so it can't become a function (OpenAI, Chat Completions, `tools`)."""
    custom: JsonObject = {"type": "custom", "custom": {"name": "run_query", "format": {"type": "text"}}}
    workspace = import_into(tmp_path, [*CHAT_TOOLS, custom])
    accept_and_check(workspace)
    assert custom in workspace.surface().prefix("default", target="openai-chat").tools


# ---------------------------------------------------------------------------------------------- maps of old names


@pytest.mark.parametrize("options", [("--from", "aliases.json"), ("--aliases", "aliases.json")])
def test_a_map_of_old_names_becomes_aliases_that_dispatch(options: tuple[str, ...], tmp_path: Path) -> None:
    """An old name runs its replacement, unseen by the model (design.md section 2)."""
    write_tree(tmp_path, {"tools.json": MCP_TOOLS, "aliases.json": {"open_file": "read_file", "cat": "read_file"}})
    done = init(tmp_path, "--from", "tools.json", *options)
    assert (0, b"") == (done.returncode, done.stderr)
    workspace = Workspace(tmp_path / "agent")
    assert ["cat", "open_file"] == roster(workspace)["hidden-compatibility"]
    accept_and_check(workspace)
    resolver = workspace.surface().resolver
    assert ["read_file", "read_file"] == [resolver.resolve(name).canonical for name in ("cat", "open_file")]
    assert ["list_roots", "read_file"] == [tool.name for tool in workspace.surface().head("default")]


# -------------------------------------------------------------------------------------------------- an MCP server


def test_with_a_server_the_tools_stay_that_servers(tmp_path: Path) -> None:
    """`--server` writes one catalog file of the tools as the server gave them, and defers them (design.md section 6)."""
    tool: JsonObject = {**as_object(MCP_TOOLS[0]), "icons": [{"src": "https://notes.example/i.png"}], "_meta": {"a": 1}}
    workspace = import_into(tmp_path, {"tools": [tool, MCP_TOOLS[1]]}, server="notes")
    document = read(workspace, "catalog/mcp/notes.json")
    assert {"name": "notes", "transport": "stdio"} == document["server"]
    assert [MCP_TOOLS[1], tool] == document["tools"]
    workspace.accept(environment={})
    assert () == workspace.check()
    names = ["mcp__notes__list_roots", "mcp__notes__read_file"]
    assert ([], names) == (
        [tool.name for tool in workspace.surface().head("default")],
        [tool.name for tool in workspace.surface().deferred("default")],
    )
    pins = read(workspace, "catalog/mcp/notes.json")["pins"]
    assert ["list_roots", "read_file"] == list(as_object(pins))


def test_with_a_server_old_names_are_that_servers_too(tmp_path: Path) -> None:
    """A server that renames a tool renames what the model calls: `mcp__<server>__<old>` runs `mcp__<server>__<new>`."""
    workspace = import_into(tmp_path, MCP_TOOLS, {"cat": "read_file"}, server="notes")
    accept_and_check(workspace)
    assert "mcp__notes__read_file" == workspace.surface().resolver.resolve("mcp__notes__cat").canonical


def test_with_a_server_another_list_is_written_in_mcps_terms(tmp_path: Path) -> None:
    """A list copied from a request can stand in for a server that isn't at hand."""
    workspace = import_into(tmp_path, CHAT_TOOLS, server="notes")
    tools = read(workspace, "catalog/mcp/notes.json")["tools"]
    assert [MCP_TOOLS[1], MCP_TOOLS[0]] == tools
    accept_and_check(workspace)


def test_with_a_server_names_need_not_be_file_names(tmp_path: Path) -> None:
    """A server's tools share one file, so case and device names are no trouble (design.md section 6)."""
    tools: list[JsonValue] = [{**as_object(MCP_TOOLS[0]), "name": name} for name in ("con", "Read", "read")]
    workspace = import_into(tmp_path, tools, server="notes")
    workspace.accept(environment={})
    assert ["look-alike-name"] == [found.rule.name for found in workspace.check()]


@pytest.mark.parametrize(
    ("server", "said"),
    [
        ("no/tes", "'no/tes' is no server name: character 3 is U+002F (SOLIDUS)"),
        ("../notes", "'../notes' is no server name: character 3 is U+002F (SOLIDUS)"),
        ("NUL", "'NUL' is no server name: it is a device name on Windows."),
    ],
)
def test_a_server_name_that_is_no_file_name_is_refused(server: str, said: str, tmp_path: Path) -> None:
    """The server's name is its file's name (design.md section 4)."""
    write_tree(tmp_path, {"tools.json": MCP_TOOLS})
    before = tree(tmp_path)
    done = init(tmp_path, "--from", "tools.json", "--server", server)
    assert (2, b"") == (done.returncode, done.stdout)
    assert said in done.stderr.decode()
    assert before == tree(tmp_path)


# --------------------------------------------------------------------------------- nothing is overwritten or half written


@pytest.mark.parametrize(
    "path",
    [
        "policy/roster.toml",
        "policy/manifest.toml",
        "policy/waivers.toml",
        ".github/workflows/toolroster.yml",
        "catalog/builtin/read_file.json",
    ],
)
def test_a_file_that_exists_is_never_overwritten(path: str, tmp_path: Path) -> None:
    """`init` names what is in its way and writes nothing at all (design.md section 10)."""
    write_tree(tmp_path, {"tools.json": MCP_TOOLS, f"agent/{path}": "mine\n"})
    before = tree(tmp_path)
    done = init(tmp_path, "--from", "tools.json")
    message = f"toolroster: agent already has {path}. Nothing was written; move them away or choose another folder.\n"
    assert (2, message) == (done.returncode, done.stderr.decode())
    assert before == tree(tmp_path)


@pytest.mark.parametrize("path", ["catalog", "catalog/builtin", "goldens", "policy", ".github", ".github/workflows"])
def test_a_file_where_a_folder_should_be_leaves_nothing_half_written(path: str, tmp_path: Path) -> None:
    """What was written before the fault is taken back, and the user's own files stay as they were (design.md section 10)."""
    write_tree(tmp_path, {"tools.json": MCP_TOOLS, f"agent/{path}": "mine\n", "agent/.gitattributes": "* text=auto\n"})
    before = tree(tmp_path)
    done = init(tmp_path, "--from", "tools.json")
    assert (2, b"") == (done.returncode, done.stdout)
    assert done.stderr.startswith(b"toolroster: can't ")
    assert before == tree(tmp_path)


def test_a_second_init_changes_nothing(tmp_path: Path) -> None:
    """Whoever runs `init` twice is told so (design.md section 10)."""
    init(tmp_path)
    before = tree(tmp_path)
    assert 2 == init(tmp_path).returncode
    assert before == tree(tmp_path)


TWICE = '[{"name": "a", "inputSchema": {}},\n {"name": "a", "inputSchema": {}}]'
REFUSED: dict[str, tuple[str, str]] = {
    "no JSON": ('{"tools": [\n  {"name": "a",}\n]}', "tools.json:2:15: not valid JSON: "),
    "cut off": ('{"tools": [', "tools.json:1:12: not valid JSON: "),
    "empty": ("", "tools.json:1:1: not valid JSON: "),
    "a byte order mark": ("\ufeff[]", "tools.json:1:1: the file begins with a byte order mark."),
    "a key twice": ('[{"name": "a",\n  "name": "b"}]', "tools.json:2:3: key 'name' stands twice in one object"),
    "not a number": ('[{"name": "a", "x": NaN}]', "tools.json:1:21: /0/x: nan is not a JSON number."),
    "null": ("null", "tools.json:1:1: neither a list of tools nor an object that maps old names to new ones."),
    "a string": ('"tools"', "tools.json:1:1: neither a list of tools nor an object"),
    "an empty object": ("{}", "tools.json:1:1: neither a list of tools nor an object"),
    "one tool alone": ('{"name": "a", "inputSchema": {}}', "tools.json:1:1: neither a list of tools nor an object"),
    "tools by name": ('{"tools": {"a": {}}}', "tools.json:1:1: neither a list of tools nor an object"),
    "a list of names": ('["a",\n "b"]', "tools.json:2:2: a tool must be an object."),
    "a tool without a name": ('{"tools": [\n  {"inputSchema": {}}]}', "tools.json:2:3: a tool has no name."),
    "a tool with an empty name": ('[{"name": ""}]', "tools.json:1:2: a tool has no name."),
    "a tool with a number for a name": ('[{"name": 7}]', "tools.json:1:2: a tool has no name."),
    "a name twice": (TWICE, "tools.json:2:11: 'a' is defined twice."),
    "a name with a space": (
        '[{"name": "read file"}]',
        "tools.json:1:11: 'read file' is no tool name: character 5 is U+0020 (SPACE)",
    ),
    "a name with a path": ('[{"name": "../a"}]', "tools.json:1:11: '../a' is no tool name: character 3 is U+002F (SOLIDUS)"),
    "a name that is too long": (f'[{{"name": "{"a" * 129}"}}]', "it is 129 characters long; the limit is 128."),
    "names that differ in case": (
        '[{"name": "Read", "inputSchema": {}},\n {"name": "read", "inputSchema": {}}]',
        "tools.json:2:11: 'Read' and 'read' differ only in case.",
    ),
    "a device of Windows": ('[{"name": "aux"}]', "tools.json:1:11: 'aux' is a device name on Windows."),
    "a device with an ending": ('[{"name": "COM1.read"}]', "tools.json:1:11: 'COM1.read' is a device name on Windows."),
    "a hosted tool with a path": (
        '[{"type": "web_search_1", "name": "../../../escaped"}]',
        "tools.json:1:2: '../../../escaped' is no tool name: character 3 is U+002F (SOLIDUS)",
    ),
    "a hosted type with a path": ('[{"type": "a/b"}]', "tools.json:1:2: 'a/b' is no tool name: character 2 is U+002F"),
    "a hosted tool on a device": ('[{"type": "nul"}]', "tools.json:1:2: 'nul' is a device name on Windows."),
    "a hosted tool twice": (
        '[{"type": "mcp", "server_label": "a"},\n {"type": "mcp", "server_label": "b"}]',
        "tools.json:2:2: 'mcp' stands twice among the tools that openai-responses runs.",
    ),
    "a hosted tool with a tool's name": (
        '[{"name": "web_search", "input_schema": {}},\n {"type": "web_search_1", "name": "web_search"}]',
        "tools.json:2:2: 'web_search' is a tool of the list, and one that the provider runs.",
    ),
    "an old name that is none": ('{"old": "a",\n "o d": "a"}', "tools.json:2:2: 'o d' is no tool name: character 2 is U+0020"),
    "a new name that is none": ('{"old":\n "a\u007f"}', "tools.json:2:2: 'a\\x7f' is no tool name: character 2 is U+007F"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_a_file_that_cannot_be_imported_is_placed_and_nothing_is_written(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File, line, column and reason are told; the folder stays as it was (issue 2)."""
    text, said = REFUSED[fault]
    write_tree(tmp_path, {"tools.json": text})
    before = tree(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CatalogError) as caught:
        lay_out(Path("agent"), [Path("tools.json")])
    assert said in str(caught.value)
    assert before == tree(tmp_path)


def test_all_faults_of_all_files_are_listed_at_once(tmp_path: Path) -> None:
    """Nobody should have to run `init` once for each fault (design.md section 9)."""
    write_tree(
        tmp_path, {"a.json": '[{"name": "a b"}, 7]', "b.json": "[", "c.json": {"old": "new"}, "d.json": {"old": "other"}}
    )
    before = tree(tmp_path)
    done = init(tmp_path, "--from", "a.json", "b.json", "c.json", "--aliases", "d.json")
    assert (b"", before) == (done.stdout, tree(tmp_path))
    places = [line.removeprefix("toolroster: ").partition(": ")[0] for line in done.stderr.decode().splitlines()]
    assert (2, ["a.json:1:11", "a.json:1:19", "b.json:1:2", "d.json:2:3"]) == (done.returncode, sorted(places))


def test_a_name_in_two_files_is_defined_twice(tmp_path: Path) -> None:
    """Two files never overwrite each other (issue 2)."""
    write_tree(tmp_path, {"a.json": MCP_TOOLS, "b.json": CHAT_TOOLS})
    done = init(tmp_path, "--from", "a.json", "b.json")
    assert 2 == done.returncode
    assert "'read_file' is defined twice." in done.stderr.decode()


@pytest.mark.parametrize("source", ["missing.json", "."])
def test_a_source_that_cannot_be_read_is_named(source: str, tmp_path: Path) -> None:
    """An unreadable file is exit 2 (design.md section 10)."""
    done = init(tmp_path, "--from", source)
    assert (2, b"") == (done.returncode, done.stdout)
    assert done.stderr.startswith(f"toolroster: can't read {source}: ".encode())
    assert {} == tree(tmp_path)


# ------------------------------------------------------------------------------------------------- .gitattributes

NOTE = b"# Goldens are exact bytes: no checkout may convert their line endings.\ngoldens/** -text\n"


@pytest.mark.case("TC-052")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, NOTE),
        (b"", NOTE),
        (b"*.py text\n", b"*.py text\n" + NOTE),
        (b"*.py text", b"*.py text\n" + NOTE),
        (b"*.py text\r\n", b"*.py text\r\n" + NOTE),
        (b"caf\xe9 -text\n", b"caf\xe9 -text\n" + NOTE),
        (b"* text=auto\ngoldens/** -text\n*.py text\n", b"* text=auto\ngoldens/** -text\n*.py text\n"),
        (b"goldens/** -text\r\n", b"goldens/** -text\r\n"),
    ],
)
def test_gitattributes_gets_the_line_once_and_keeps_every_other_byte(
    before: bytes | None, after: bytes, tmp_path: Path
) -> None:
    """The line keeps checkouts from converting goldens; the rest of the file is the user's (design.md section 10)."""
    if before is not None:
        write_tree(tmp_path, {"agent/.gitattributes": before})
    assert 0 == init(tmp_path).returncode
    assert after == (tmp_path / "agent/.gitattributes").read_bytes()


# ------------------------------------------------------------------------------------------------- a large catalog

VERBS = ["add", "archive", "close", "copy", "count", "create", "delete", "find", "list", "merge", "move", "open", "read"]
NOUNS = ["board", "branch", "card", "comment", "label", "Note", "project", "review", "team"]
PROPERTIES = ("zone", "owner", "body", "page", "number", "after")


def large_catalog() -> list[JsonValue]:
    """Return 117 tools of a made-up service in no order; every tool declares its parameters in an order of its own."""
    tools: list[JsonValue] = []
    for number, (verb, noun) in enumerate((verb, noun) for noun in reversed(NOUNS) for verb in VERBS):
        turned = PROPERTIES[number % 6 :] + PROPERTIES[: number % 6]
        properties: JsonObject = {name: {"type": "string", "description": f"The {name}."} for name in turned}
        tools.append(
            {
                "name": f"{verb}_{noun}",
                "description": f"Use it to {verb} one {noun} of the service.",
                "inputSchema": {"type": "object", "properties": properties, "required": [turned[0]]},
                "annotations": {"readOnlyHint": verb in ("count", "find", "list", "read")},
            }
        )
    return tools


def test_a_catalog_of_117_tools_and_25_old_names_is_clean_after_accept(tmp_path: Path) -> None:
    """A real catalog's size, imported whole (issue 2)."""
    tools = large_catalog()
    names = [str(as_object(tool)["name"]) for tool in tools]
    workspace = import_into(tmp_path, {"tools": tools}, {f"old_{name}": name for name in names[:25]})
    accept_and_check(workspace)
    assert 0 == run_cli("check", cwd=workspace.root).returncode
    assert 117 == len(workspace.surface().prefix("default", target="mcp").entries)


def test_40_active_tools_of_117_build_in_code_point_order_with_their_parameters_as_declared(tmp_path: Path) -> None:
    """Order is by code point, never by locale or insertion; models write arguments in declared order (design.md section 7)."""
    tools = {str(as_object(tool)["name"]): as_object(tool) for tool in large_catalog()}
    workspace = import_into(tmp_path, {"tools": [*tools.values()]})
    names = [*tools]
    active = [*names[::3], names[1]]
    deferred = [name for name in names if name not in active]
    text = f'schema = 1\nversion = "1.0.0"\n[roster]\nactive = {json.dumps(active)}\ndeferred = {json.dumps(deferred)}\n'
    write_tree(workspace.root, {"policy/roster.toml": text})
    accept_and_check(workspace)
    for pool, expected in (("", active), (".deferred", deferred)):
        data = (workspace.root / f"goldens/default/anthropic{pool}.json").read_bytes()
        entries = parse_json(data)
        assert isinstance(entries, list)
        built = [as_object(entry) for entry in entries]
        assert sorted(expected) == [entry["name"] for entry in built]
        for entry in built:
            declared = as_object(tools[str(entry["name"])]["inputSchema"])["properties"]
            assert list(as_object(declared)) == list(as_object(as_object(entry["input_schema"])["properties"]))
    assert (40, 77) == (len(active), len(deferred))


def as_object(value: JsonValue) -> JsonObject:
    """Return a value that the test knows to be an object."""
    assert isinstance(value, dict)
    return value
