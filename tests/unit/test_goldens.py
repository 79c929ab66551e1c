from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import ROOT, builtin, define, make_policy, run_cli, small_workspace, write_tree
from toolroster import Workspace
from toolroster.canonical import JsonObject, JsonValue
from toolroster.catalog import classify
from toolroster.catalog.goldens import (
    GOLDEN_PATH,
    ToolChange,
    compare_tools,
    find_first_difference,
    render_checksums,
    render_goldens,
)
from toolroster.catalog.surface import Surface
from toolroster.workspace import lay_out

TOOLS: list[JsonValue] = [
    {"name": "read_file", "description": "Reads.", "input_schema": {"type": "object", "properties": {}}},
    {"name": "write_file", "description": "Schreibt größere Dateien.", "input_schema": {"type": "object", "properties": {}}},
    {
        "name": "fetch_url",
        "description": "Fetches.",
        "input_schema": {"type": "object", "properties": {}},
        "defer_loading": True,
    },
]


def make_surface(**tables: JsonValue) -> Surface:
    """Return a surface of two active tools and a deferred one."""
    usual: JsonObject = {
        "targets": ["anthropic", "mcp"],
        "roster": {"active": ["read_file", "write_file"], "deferred": ["fetch_url"]},
    }
    policy = make_policy(**(usual | tables))
    definitions = [
        define("read_file"),
        define("write_file", description="Schreibt größere Dateien."),
        define("fetch_url"),
    ]
    return classify(definitions, policy)


# -------------------------------------------------------------------------------------------------------- rendering


def test_there_are_three_files_for_each_profile_and_target_and_one_of_checksums() -> None:
    """`.json`, `.deferred.json`, `.txt` and `SHA256SUMS`, by code point (design.md section 6)."""
    files = render_goldens(make_surface(modes={"plan": {}}))
    kinds = [f"{target}{ending}" for target in ("anthropic", "mcp") for ending in (".deferred.json", ".json", ".txt")]
    assert ["SHA256SUMS", *(f"{profile}/{kind}" for profile in ("default", "plan") for kind in kinds)] == list(files)


def test_a_named_provider_has_goldens_for_its_own_target_only() -> None:
    """A provider speaks one format, in every mode; sub-agents have catalogs of their own (design.md section 6)."""
    surface = make_surface(
        providers={"small-model": {"target": "openai-chat", "active": ["read_file"]}}, children={"exclude": ["write_file"]}
    )
    heads = [path for path in render_goldens(surface) if path.endswith(".json") and ".deferred" not in path]
    assert [
        "default+child/anthropic.json",
        "default+child/mcp.json",
        "default/anthropic.json",
        "default/mcp.json",
        "default@small-model+child/openai-chat.json",
        "default@small-model/openai-chat.json",
    ] == heads
    assert heads == [path for path in heads if GOLDEN_PATH.fullmatch(path)]


def test_a_golden_holds_the_exact_bytes_of_the_head_without_a_newline() -> None:
    """The golden is what is sent (design.md section 6)."""
    surface = make_surface()
    files = render_goldens(surface)
    for target in ("anthropic", "mcp"):
        assert surface.prefix("default", target).data == files[f"default/{target}.json"]
    assert b'"input_schema":{"properties":{},"type":"object"}}]' == files["default/anthropic.json"][-50:]


@pytest.mark.parametrize(("target", "opening", "closing"), [("anthropic", b"[", b"]"), ("mcp", b'{"tools":[', b"]}")])
def test_the_deferred_pool_is_encoded_as_the_head_is(target: str, opening: bytes, closing: bytes) -> None:
    """A changed deferred tool is seen in a file of its own (design.md section 6)."""
    surface = make_surface()
    head = surface.prefix("default", target)
    everything = classify([*surface.definitions.values()], make_policy(roster={"active": [*surface.definitions]}))
    entry = everything.prefix("default", target).entries[0]
    assert "fetch_url" == entry.name
    alone = opening + everything.prefix("default", target).data[entry.offset : entry.end] + closing
    assert alone == render_goldens(surface)[f"default/{target}.deferred.json"]
    assert b"fetch_url" not in head.data


@pytest.mark.parametrize("order", ["declared", "sorted"])
@pytest.mark.parametrize("target", ["anthropic", "mcp"])
def test_the_table_says_where_each_tool_stands(target: str, order: str) -> None:
    """A header, then name, offset, length and twelve digits of the digest, with tabs between (design.md section 6)."""
    files = render_goldens(make_surface(encoding={"property_order": order}))
    data, table = files[f"default/{target}.json"], files[f"default/{target}.txt"].decode()
    assert table.endswith("\n")
    header, rows = table.splitlines()[:4], [line.split("\t") for line in table.splitlines()[4:]]
    digest = hashlib.sha256(data).hexdigest()
    assert ["# schema 1", f"# property_order {order}", f"# sha256 {digest}", f"# bytes {len(data)}"] == header
    assert ["read_file", "write_file"] == [row[0] for row in rows]
    for name, offset, length, digits in rows:
        entry = data[int(offset) : int(offset) + int(length)]
        assert name == json.loads(entry)["name"]
        assert hashlib.sha256(entry).hexdigest()[:12] == digits
        assert data[int(offset) + int(length) :][:1] in (b",", b"]")


def test_checksums_are_over_the_json_files_in_code_point_order() -> None:
    """`SHA256SUMS` is in the format of sha256sum: digest, two spaces, path (design.md section 6)."""
    files = {"b/mcp.json": b"2", "B/mcp.json": b"1", "b/mcp.deferred.json": b"3", "b/mcp.txt": b"no", "SHA256SUMS": b"no"}
    paths = ["B/mcp.json", "b/mcp.deferred.json", "b/mcp.json"]
    expected = "".join(f"{hashlib.sha256(files[path]).hexdigest()}  {path}\n" for path in paths)
    assert expected.encode() == render_checksums(files)


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="there is no sha256sum here")
def test_sha256sum_itself_takes_the_checksums(tmp_path: Path) -> None:
    """Whoever has no toolroster at hand can still verify the goldens (design.md section 6)."""
    small_workspace(tmp_path)
    command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    verify = subprocess.run(command, cwd=tmp_path / "goldens", capture_output=True, check=False, timeout=60)
    assert (0, b"", 4) == (verify.returncode, verify.stderr, verify.stdout.count(b": OK\n"))


@pytest.mark.parametrize(
    "path",
    [
        "default/notes.txt",
        "docs/readme.txt",
        "anthropic.json",
        "default/anthropic.json.bak",
        "Default/anthropic.json",
        "default/sub/anthropic.json",
        "../anthropic.json",
        "default/anthropic.deferred.txt",
        "default/anthropic.json\n",
    ],
)
def test_a_path_of_another_form_is_no_golden(path: str) -> None:
    """`accept` deletes unused files of the goldens' form and no others (design.md section 6)."""
    assert GOLDEN_PATH.fullmatch(path) is None


# -------------------------------------------------------------------------------------------------------- comparing


@pytest.mark.parametrize(
    ("old", "new", "offset"),
    [(b"abc", b"abd", 2), (b"abc", b"abcd", 3), (b"abcd", b"abc", 3), (b"", b"a", 0), (b"abc", b"abc", 3), (b"a", b"b", 0)],
)
def test_the_first_difference_is_where_two_texts_part(old: bytes, new: bytes, offset: int) -> None:
    """One is the other's beginning: the difference is at the shorter one's end."""
    assert offset == find_first_difference(old, new)


def listed(*names: str, **members: JsonValue) -> bytes:
    """Return the bytes of a list of entries with these names, the last of which has further members."""
    entries: list[dict[str, JsonValue]] = [{"name": name, "description": "d"} for name in names]
    entries[-1] |= members
    return json.dumps(entries).encode()


@pytest.mark.case("TC-053")
@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        (listed("a", "b"), listed("a", "b"), []),
        (listed("a", "b"), listed("a"), [ToolChange("b", "removed")]),
        (listed("a"), listed("a", "b"), [ToolChange("b", "added")]),
        (listed("a"), listed("b"), [ToolChange("a", "removed"), ToolChange("b", "added")]),
        (listed("a", "b"), listed("a", "b", description="e"), [ToolChange("b", "changed", ("description",))]),
        (
            listed("a", input_schema={"type": "object"}),
            listed("a", description="e", strict=False),
            [ToolChange("a", "changed", ("description", "input_schema", "strict"))],
        ),
        (listed("a", "b", "c"), listed("b", "a", "c"), [ToolChange("b", "moved"), ToolChange("a", "moved")]),
        (listed("a", "c"), listed("a", "b", "c"), [ToolChange("b", "added")]),
        (b"", listed("a"), [ToolChange("a", "added")]),
        (listed("a"), b"", [ToolChange("a", "removed")]),
        (b"<<<<<<< HEAD", listed("a"), [ToolChange("a", "added")]),
        (b'"a"', b"[7]", []),
    ],
)
def test_each_tool_that_two_goldens_treat_differently_is_told(old: bytes, new: bytes, changes: list[ToolChange]) -> None:
    """Added, removed, changed with its fields, or moved (design.md section 10, TC-053)."""
    assert changes == [*compare_tools(old, new)]


def test_fields_are_those_of_the_tool_in_every_wire_format() -> None:
    """The wrapping of a format is no field: Chat Completions nests the tool, MCP its list."""
    before, after = {"name": "a", "description": "d"}, {"name": "a", "description": "e"}
    chat = [json.dumps([{"type": "function", "function": entry}]).encode() for entry in (before, after)]
    mcp = [json.dumps({"tools": [entry]}).encode() for entry in (before, after)]
    expected = (ToolChange("a", "changed", ("description",)),)
    assert [expected, expected] == [compare_tools(*chat), compare_tools(*mcp)]


def test_a_hosted_tool_without_a_name_is_told_by_its_type() -> None:
    """Some tools that a provider runs have nothing but a type."""
    old, new = b'[{"type":"web_search"}]', b'[{"type":"web_search","filters":{}}]'
    assert (ToolChange("web_search", "changed", ("filters",)),) == compare_tools(old, new)


# ------------------------------------------------------------------------------------------------------ line endings

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")


def git(cwd: Path, *arguments: str) -> str:
    """Run git, untouched by anybody's configuration, and return what it prints."""
    isolated = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.invalid",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.invalid",
    }
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    done = subprocess.run(
        ["git", *arguments], cwd=cwd, env={**inherited, **isolated}, capture_output=True, check=False, timeout=120
    )
    assert 0 == done.returncode, done.stderr.decode()
    return done.stdout.decode()


def commit(root: Path) -> None:
    """Put a folder under git's control, line endings as they stand."""
    git(root, "init", "--quiet")
    git(root, "-c", "core.autocrlf=false", "add", "--all")
    git(root, "commit", "--quiet", "--message", "all")


def clone_as_windows_does(root: Path) -> Path:
    """Clone with `core.autocrlf=true`, the installer's default on Windows, and return the clone."""
    git(root.parent, "-c", "core.autocrlf=true", "clone", "--quiet", str(root), "copy")
    return root.parent / "copy"


@pytest.fixture
def laid_out(tmp_path: Path) -> Path:
    """Return the folder of an accepted workspace as `init` lays it out."""
    write_tree(tmp_path, {"tools.json": TOOLS})
    lay_out(tmp_path / "agent", [tmp_path / "tools.json"])
    Workspace(tmp_path / "agent").accept(environment={})
    return tmp_path / "agent"


def goldens_of(root: Path) -> dict[str, bytes]:
    """Return the bytes of every golden, by path."""
    folder = root / "goldens"
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@needs_git
@pytest.mark.case("TC-052")
def test_goldens_survive_a_checkout_that_converts_line_endings(laid_out: Path) -> None:
    """`init` writes `goldens/** -text`, so a clone on Windows has the same goldens and is clean (TC-052)."""
    commit(laid_out)
    copy = clone_as_windows_does(laid_out)
    assert b"\r\n" in (copy / "policy/roster.toml").read_bytes()
    assert goldens_of(laid_out) == goldens_of(copy)
    assert () == Workspace(copy).check()


@needs_git
@pytest.mark.case("TC-052")
def test_goldens_that_a_checkout_converted_are_named_with_the_cause(laid_out: Path) -> None:
    """Without the attribute every text golden turns to CRLF; the message counts the bytes and says where (TC-052)."""
    (laid_out / ".gitattributes").unlink()
    commit(laid_out)
    copy = clone_as_windows_does(laid_out)
    before, after = goldens_of(laid_out), goldens_of(copy)
    converted = [path for path in before if before[path] != after[path]]
    assert ["SHA256SUMS", "default/anthropic.txt", "default/mcp.txt", "default/openai-chat.txt"] == converted
    found = Workspace(copy).check()
    assert [("TR308", f"goldens/{path}", True) for path in converted] == [
        (diagnostic.rule.code, diagnostic.span.path, diagnostic.is_error) for diagnostic in found
    ]
    for path, diagnostic in zip(converted, found, strict=True):
        lines, offset = before[path].count(b"\n"), before[path].index(b"\n")
        said = f"goldens/{path} differs only in line endings: {lines} CR bytes too many, the first at byte {offset}."
        assert said == diagnostic.message
        assert "Add `goldens/** -text` to .gitattributes" in diagnostic.fix
    assert 1 == run_cli("check", cwd=copy).returncode


@needs_git
@pytest.mark.case("TC-052")
def test_the_fix_that_the_message_names_helps(laid_out: Path) -> None:
    """Add the attribute, delete the goldens, check them out again: clean (TC-052)."""
    (laid_out / ".gitattributes").unlink()
    commit(laid_out)
    copy = clone_as_windows_does(laid_out)
    assert () != Workspace(copy).check()
    write_tree(copy, {".gitattributes": "goldens/** -text\n"})
    shutil.rmtree(copy / "goldens")
    git(copy, "checkout", "--", "goldens")
    assert () == Workspace(copy).check()


@pytest.mark.case("TC-052")
def test_accept_turns_converted_goldens_back(laid_out: Path) -> None:
    """The writer writes LF wherever it runs (TC-052)."""
    before = goldens_of(laid_out)
    for path in ("SHA256SUMS", "default/anthropic.txt"):
        (laid_out / "goldens" / path).write_bytes(before[path].replace(b"\n", b"\r\n"))
    accepted = Workspace(laid_out).accept(environment={})
    assert (["SHA256SUMS", "default/anthropic.txt"], before) == ([item.path for item in accepted], goldens_of(laid_out))


def test_a_carriage_return_and_a_change_are_a_change(laid_out: Path) -> None:
    """Only a golden whose sole difference is line endings is said to be converted."""
    path = laid_out / "goldens/default/anthropic.txt"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n").replace(b"read_file", b"read_fyle"))
    assert ["TR302"] == [found.rule.code for found in Workspace(laid_out).check()]


@needs_git
@pytest.mark.case("TC-052")
def test_git_converts_no_golden_of_a_new_workspace(laid_out: Path) -> None:
    """`text` is unset for every golden of a workspace that `init` laid out (TC-052)."""
    git(laid_out, "init", "--quiet")
    paths = [f"goldens/{path}" for path in goldens_of(laid_out)]
    said = git(laid_out, "check-attr", "text", "--", *paths).splitlines()
    assert [f"{path}: text: unset" for path in paths] == said


@needs_git
@pytest.mark.case("TC-052")
def test_git_converts_no_golden_of_a_workspace_inside_another_repository(laid_out: Path) -> None:
    """The workspace's own line beats what the repository around it says."""
    write_tree(laid_out.parent, {".gitattributes": "* text=auto eol=crlf\n"})
    git(laid_out.parent, "init", "--quiet")
    said = git(laid_out.parent, "check-attr", "text", "--", "agent/goldens/default/anthropic.json", "agent/policy/roster.toml")
    assert ["agent/goldens/default/anthropic.json: text: unset", "agent/policy/roster.toml: text: auto"] == said.splitlines()


@needs_git
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this copy of the project is no git repository")
@pytest.mark.case("TC-052")
def test_git_converts_no_golden_of_this_repository() -> None:
    """Neither the project's own goldens nor those of its tests' small repositories (TC-052)."""
    paths = [
        "goldens/default/anthropic.json",
        "goldens/default/anthropic.txt",
        "goldens/SHA256SUMS",
        "goldens/releases/1.0.0.json",
        "tests/rules/TR302_changed-golden/dirty/goldens/default/anthropic.json",
        "tests/unit/probe.golden",
    ]
    said = git(ROOT, "-c", f"safe.directory={ROOT}", "check-attr", "text", "--", *paths).splitlines()
    assert [f"{path}: text: unset" for path in paths] == said


def test_a_golden_is_one_line_whatever_the_descriptions_hold(tmp_path: Path) -> None:
    """Newlines are escaped inside JSON, so no line ending of a golden's bytes can be converted (design.md section 7)."""
    small_workspace(tmp_path, **{"catalog/builtin/read_file.json": builtin("read_file", description="One.\r\nTwo.\n")})
    assert [] == [path for path, data in goldens_of(tmp_path).items() if path.endswith(".json") and re.search(rb"[\r\n]", data)]
