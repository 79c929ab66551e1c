from __future__ import annotations

import copy
import itertools
import os
import random
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support import builtin, define, make_manifest, make_policy, write_tree
from toolroster import Origin, Prefix, Surface, ToolDefinition, Workspace, build_prefix, classify
from toolroster.canonical import JsonObject, JsonValue
from toolroster.catalog import TARGETS, render_goldens
from toolroster.policy import Encoding
from toolroster.schemas import PropertyOrder

ORDERS: tuple[PropertyOrder, ...] = ("declared", "sorted")

# ------------------------------------------------------------------------------------------------ random definitions

NAMES = st.sampled_from(["a", "b", "Z", "_", "é", "required", "properties", "default", "enum", "items", "$defs", "\uffff"])
TEXTS = st.text(max_size=6)
SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-9, 9) | TEXTS
DATA: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=3,
)


def members(inner: st.SearchStrategy[JsonValue]) -> st.SearchStrategy[JsonObject]:
    """Return schemas of a few keywords each, whose own schemas come from `inner`."""
    names: st.SearchStrategy[JsonValue] = st.lists(NAMES, max_size=3, unique=True).map(lambda listed: [*listed])
    schema_map = st.dictionaries(NAMES, inner, max_size=3)
    name_lists: st.SearchStrategy[JsonValue] = st.dictionaries(NAMES, names, max_size=2).map(dict[str, JsonValue])
    keywords: dict[str, st.SearchStrategy[JsonValue]] = {
        "type": st.sampled_from(["object", "string"]),
        "description": TEXTS,
        "properties": schema_map,
        "$defs": schema_map,
        "items": inner,
        "not": inner,
        "anyOf": st.lists(inner, max_size=3),
        "required": names,
        "dependentRequired": name_lists,
        "default": DATA,
        "enum": st.lists(DATA, max_size=3),
        "x-note": DATA,
    }
    chosen = st.lists(st.sampled_from(sorted(keywords)), max_size=4, unique=True)
    return chosen.flatmap(lambda keys: st.fixed_dictionaries({key: keywords[key] for key in keys}))


SCHEMAS: st.SearchStrategy[JsonValue] = st.recursive(st.booleans() | st.builds(dict[str, JsonValue]), members, max_leaves=4)
ROOTS = members(SCHEMAS).map(lambda schema: {**schema, "type": "object"})
TOOL_NAMES = st.text("abcXYZ019_-", min_size=1, max_size=6)
ORIGINS = st.sampled_from([Origin("builtin"), Origin("mcp", "s"), Origin("plugin", "p")])
TOOLS = st.lists(st.tuples(TOOL_NAMES, ORIGINS, ROOTS), max_size=3, unique_by=lambda tool: tool[0])

Tools = Sequence[tuple[str, Origin, JsonObject]]
Reorder = Callable[[JsonObject], JsonObject]

# Where a schema may stand, written down once more: a test that asked the code would agree with its mistakes.
_SCHEMAS, _LISTS, _MAPS = {"items", "not"}, {"anyOf"}, {"properties", "$defs"}


def shuffle_keywords(schema: JsonValue, rng: random.Random, *, everything: bool) -> JsonValue:
    """Return an equal schema with the keys of schema objects in another order.

    With `everything`, names, data and the set-like arrays are in another order too.
    """
    if not isinstance(schema, dict):
        return schema
    shuffled: JsonObject = {}
    for keyword in rng.sample(list(schema), len(schema)):
        value = schema[keyword]
        if keyword in _SCHEMAS:
            shuffled[keyword] = shuffle_keywords(value, rng, everything=everything)
        elif keyword in _LISTS and isinstance(value, list):
            shuffled[keyword] = [shuffle_keywords(item, rng, everything=everything) for item in value]
        elif keyword in _MAPS and isinstance(value, dict):
            names = rng.sample(list(value), len(value)) if everything else list(value)
            shuffled[keyword] = {name: shuffle_keywords(value[name], rng, everything=everything) for name in names}
        elif everything and keyword == "required" and isinstance(value, list):
            shuffled[keyword] = rng.sample(value, len(value))
        elif everything and keyword == "dependentRequired" and isinstance(value, dict):
            shuffled[keyword] = {
                name: rng.sample(listed, len(listed))
                for name in rng.sample(list(value), len(value))
                if isinstance(listed := value[name], list)
            }
        else:
            shuffled[keyword] = shuffle_data(value, rng) if everything else value
    return shuffled


def shuffle_data(value: JsonValue, rng: random.Random) -> JsonValue:
    """Return an equal value with the keys of its objects in another order."""
    match value:
        case dict():
            return {key: shuffle_data(value[key], rng) for key in rng.sample(list(value), len(value))}
        case list():
            return [shuffle_data(item, rng) for item in value]
        case _:
            return value


def build_all(tools: Tools, order: PropertyOrder, reorder: Reorder = lambda schema: schema) -> dict[str, Prefix]:
    """Return the prefix of every target, with each schema reordered first."""
    definitions = [
        define(name, origin=origin, input_schema=reorder(schema), output_schema=reorder(schema), annotations={"title": name})
        for name, origin, schema in tools
    ]
    return {name: build_prefix(definitions, target, Encoding(property_order=order)) for name, target in TARGETS.items()}


def bytes_of(prefixes: Mapping[str, Prefix]) -> dict[str, bytes]:
    """Return the bytes of each target's prefix."""
    return {name: prefix.data for name, prefix in prefixes.items()}


def digests_of(prefixes: Mapping[str, Prefix]) -> set[str]:
    """Return the semantic digests of some prefixes."""
    return {prefix.semantic_sha256 for prefix in prefixes.values()}


@given(TOOLS, st.randoms(use_true_random=False), st.sampled_from(ORDERS))
def test_bytes_are_equal_for_any_order_of_definitions_and_keywords(
    tools: Tools, rng: random.Random, order: PropertyOrder
) -> None:
    """Issue 2: bytes are equal over every permutation of files and keyword keys, in both property orders."""

    def reorder(schema: JsonObject) -> JsonObject:
        shuffled = shuffle_keywords(schema, rng, everything=False)
        assert isinstance(shuffled, dict)
        return shuffled

    one = build_all(tools, order)
    other = build_all(rng.sample(tools, len(tools)), order, reorder)
    assert bytes_of(one) == bytes_of(other)
    assert digests_of(one) == digests_of(other)


@given(TOOLS, st.randoms(use_true_random=False))
def test_sorted_bytes_are_equal_for_any_order_of_keys_and_set_like_arrays(tools: Tools, rng: random.Random) -> None:
    """TC-022: in `sorted` no order of keys matters anywhere, nor that of `required` and `dependentRequired`.

    Under `declared` the bytes may differ; the semantic digests don't.
    """

    def reorder(schema: JsonObject) -> JsonObject:
        shuffled = shuffle_keywords(schema, rng, everything=True)
        assert isinstance(shuffled, dict)
        return shuffled

    assert bytes_of(build_all(tools, "sorted")) == bytes_of(build_all(tools, "sorted", reorder))
    assert digests_of(build_all(tools, "declared")) == digests_of(build_all(tools, "declared", reorder))


def test_bytes_are_equal_over_every_permutation_of_five_definitions() -> None:
    """Issue 2 says every permutation; of five definitions all 120 can be tried."""
    tools = [
        define("b"),
        define("B"),
        define("tool_search", origin=Origin("synthetic")),
        define("a", origin=Origin("mcp", "s")),
        define("_", origin=Origin("plugin", "p")),
    ]
    for target in TARGETS.values():
        built = {build_prefix(order, target, Encoding()).data for order in itertools.permutations(tools)}
        assert 1 == len(built)


@given(st.lists(NAMES, min_size=2, max_size=5, unique=True), st.data())
def test_a_pure_reorder_of_properties_changes_the_bytes_and_not_the_meaning(declared: list[str], data: st.DataObject) -> None:
    """Design.md section 7: `sha256` is over the emitted bytes, `semantic_sha256` over the `sorted` form."""
    names = data.draw(st.permutations(declared))
    assume(names != declared)
    properties: JsonObject = {name: {"type": "string", "title": name} for name in declared}
    one = build_all([("a", Origin("builtin"), {"type": "object", "properties": properties})], "declared")
    reordered: JsonObject = {name: properties[name] for name in names}
    other = build_all([("a", Origin("builtin"), {"type": "object", "properties": reordered})], "declared")
    for target in TARGETS:
        assert one[target].sha256 != other[target].sha256
        assert one[target].semantic_sha256 == other[target].semantic_sha256
        assert len(one[target].data) == len(other[target].data)


# ----------------------------------------------------------------------------------------------------------- inputs


def freeze(value: JsonValue) -> object:
    """Return a read-only copy: mapping proxies for objects, tuples for arrays."""
    match value:
        case dict():
            return MappingProxyType({key: freeze(item) for key, item in value.items()})
        case list():
            return tuple(freeze(item) for item in value)
        case _:
            return value


def visible_members(tool: ToolDefinition) -> tuple[object, ...]:
    """Return what a definition says, order of keys included; not its cache of encoded bytes."""
    return (
        tool.name,
        tool.description,
        repr(tool.input_schema),
        repr(tool.output_schema),
        repr(tool.annotations),
        repr(tool.document),
    )


@given(ROOTS, st.sampled_from(ORDERS))
@pytest.mark.case("TC-008")
def test_building_never_changes_its_inputs(schema: JsonObject, order: PropertyOrder) -> None:
    """TC-008: a schema cleaned in place for one target would be damaged for the next."""
    annotations: JsonObject = {"readOnlyHint": True}
    given_before = copy.deepcopy((schema, annotations))
    tool = define("a", input_schema=schema, output_schema=schema, annotations=annotations)
    tools = [tool, define("b", input_schema=schema)]
    before = [copy.deepcopy(visible_members(tool)) for tool in tools]
    first = {name: build_prefix(tools, target, Encoding(property_order=order)).data for name, target in TARGETS.items()}
    again = {name: build_prefix(tools, target, Encoding(property_order=order)).data for name, target in TARGETS.items()}
    assert first == again
    assert before == [visible_members(tool) for tool in tools]
    assert (repr(given_before), 2) == (repr((schema, annotations)), len(tools))


@given(ROOTS)
@pytest.mark.case("TC-008")
def test_read_only_inputs_give_the_same_bytes(schema: JsonObject) -> None:
    """TC-008: a frozen schema as input must not raise."""
    plain = define("a", input_schema=schema, annotations={"readOnlyHint": True})
    frozen = define("a", input_schema=freeze(schema), annotations=MappingProxyType({"readOnlyHint": True}))
    for target in TARGETS.values():
        one = build_prefix((plain,), target, Encoding())
        other = build_prefix((frozen,), target, Encoding())
        assert (one.data, one.semantic_sha256) == (other.data, other.semantic_sha256)


def test_changing_what_was_given_never_changes_a_definition() -> None:
    """A definition copies what it is given, at every depth."""
    schema: JsonObject = {"type": "object", "properties": {"a": {"enum": [1]}}}
    tool = define("a", input_schema=schema)
    before = build_prefix([tool], TARGETS["mcp"], Encoding()).data
    properties = schema["properties"]
    assert isinstance(properties, dict)
    properties["a"] = {}
    schema["type"] = "string"
    assert before == build_prefix([define("a", input_schema=tool.input_schema)], TARGETS["mcp"], Encoding()).data


# -------------------------------------------------------------------------------------------------------- processes

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MCP_TOOLS: list[JsonValue] = [
    {"name": "list-tags", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
    {
        "name": "search",
        "title": "Search",
        "description": "Searches notes — 東京 😀.",
        "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}, "n": {"maximum": 1.5}}, "required": ["q"]},
        "outputSchema": {"type": "object", "properties": {"hits": {"type": "array", "items": {"type": "string"}}}},
    },
    {"name": "write", "description": "Writes a note.", "inputSchema": {"type": "object", "$schema": DIALECT}},
]

FILES: dict[str, object] = {
    "policy/roster.toml": (
        'schema = 1\nversion = "1.0.0"\ntargets = ["anthropic", "openai-chat", "openai-responses", "mcp"]\n\n[roster]\n'
        'active = ["read_file", "Write_file", "_x", "agent", "tool_search", "mcp__notes__search", "plug", "web_search"]\n'
        'deferred = ["fetch_url", "tts", "mcp__notes__*"]\nhidden-compatibility = ["cat_file"]\nremoved = ["old_tool"]\n\n'
        '[modes.plan]\ncallable = ["read_file"]\n[modes.yolo]\nmcp = "active"\nwidens = "on purpose"\n\n'
        '[providers.small]\ntarget = "openai-chat"\nactive = ["read_file"]\n\n'
        '[children]\nexclude = ["agent"]\n'
    ),
    "policy/manifest.toml": (
        '[[alias]]\nname = "cat_file"\nreplacement = "read_file"\nfirst_deprecated_version = "0.9.0"\n\n'
        '[[tombstone]]\nname = "old_tool"\nremoved_version = "1.0.0"\n'
    ),
    **{
        f"catalog/builtin/{name}.json": builtin(name, input_schema={"type": "object", "properties": {"b": {}, "a": {}}})
        for name in ("read_file", "Write_file", "_x", "agent", "fetch_url", "tts")
    },
    "catalog/mcp/notes.json": {"server": {"name": "notes", "command": ["notes"]}, "tools": MCP_TOOLS, "pins": {}},
    "catalog/plugin/extras.json": {"tools": [builtin("plug"), builtin("quiet")]},
    "catalog/hosted/anthropic/web_search.json": {"type": "web_search_20250305", "name": "web_search"},
    "catalog/hosted/openai-responses/web_search.json": {"type": "web_search"},
}
"""A workspace with tools of every origin, in every state but one."""

PRINT_GOLDENS = """
import locale, sys
from toolroster import Workspace
from toolroster.catalog import render_goldens
try:
    locale.setlocale(locale.LC_ALL, "")
except locale.Error:
    pass  # the machine lacks it; the environment variable is there all the same
for path, data in render_goldens(Workspace(sys.argv[1]).surface()).items():
    sys.stdout.buffer.write(path.encode() + b"\\n" + data + b"\\n")
"""


def goldens(root: Path) -> dict[str, bytes]:
    """Return what is built from a workspace, by path."""
    return dict(render_goldens(Workspace(root).surface()))


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace whose goldens are accepted."""
    root = write_tree(tmp_path_factory.mktemp("workspace"), FILES)
    Workspace(root).accept(environment={})
    return root


@pytest.mark.parametrize(
    ("seed", "language"), [("0", "C"), ("1", "tr_TR.UTF-8"), ("4242", "en_US.UTF-8")], ids=["0-C", "1-tr", "4242-en"]
)
@pytest.mark.case("TC-001")
def test_bytes_are_equal_in_every_process_whatever_its_hash_seed_and_locale(workspace: Path, seed: str, language: str) -> None:
    """TC-001, TC-023: PYTHONHASHSEED 0, 1, 4242 and three locales give the bytes of this process."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG"))}
    environment |= {"PYTHONHASHSEED": seed, "LC_ALL": language, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-c", PRINT_GOLDENS, str(workspace)]
    done = subprocess.run(command, env=environment, capture_output=True, check=True, timeout=120)
    expected = b"".join(path.encode() + b"\n" + data + b"\n" for path, data in goldens(workspace).items())
    assert expected == done.stdout
    assert len(expected) > 10_000  # the comparison is of something


def test_bytes_are_equal_for_any_order_in_which_files_were_made(workspace: Path, tmp_path: Path) -> None:
    """Issue 2: directory listings in any order give the same bytes."""
    other = write_tree(tmp_path, dict(reversed(FILES.items())))
    Workspace(other).accept(environment={})
    assert goldens(workspace) == goldens(other)


def test_bytes_are_equal_wherever_the_workspace_stands(workspace: Path, tmp_path: Path) -> None:
    """Design.md section 10: no clock, no absolute path, no hash order in output."""
    other = write_tree(tmp_path / "elsewhere" / "ünïcode dir", FILES)
    Workspace(other).accept(environment={})
    for path, data in goldens(workspace).items():
        assert data == (other / "goldens" / path).read_bytes()


# ------------------------------------------------------------------------------------------------- a diet of one tool


def without(prefix: Prefix, name: str) -> bytes:
    """Return a prefix's bytes without one entry and one comma beside it."""
    entry = next(entry for entry in prefix.entries if entry.name == name)
    before, after = prefix.data[: entry.offset], prefix.data[entry.end :]
    if after.startswith(b","):
        return before + after[1:]
    return before.removesuffix(b",") + after


@given(st.sets(TOOL_NAMES, min_size=2, max_size=6), st.data(), st.sampled_from(["hidden-compatibility", "deprecated"]))
def test_retiring_a_name_removes_its_bytes_and_one_comma_and_nothing_else(
    names: set[str], data: st.DataObject, state: str
) -> None:
    """Issue 2: the definition stays, a manifest row is added, and the head loses that tool's bytes alone."""
    assume(len({name.casefold() for name in names}) == len(names))
    retired, replacement = data.draw(st.permutations(sorted(names)))[:2]
    tools = [define(name, origin=Origin("builtin")) for name in sorted(names)]
    before = classify(tools, make_policy(roster={"active": [*sorted(names)]}))
    kept: list[JsonValue] = [*sorted(names - {retired})]
    roster: JsonObject = {"active": kept, state: [retired]}
    row: JsonObject = {"name": retired, "replacement": replacement, "first_deprecated_version": "1.0.0", "note": "Gone soon."}
    after = classify(tools, make_policy(roster=roster), make_manifest(alias=[row]))
    for target in TARGETS:
        assert without(before.prefix("default", target), retired) == after.prefix("default", target).data
        assert before.deferred_prefix("default", target).data == after.deferred_prefix("default", target).data


@pytest.mark.parametrize("name", ["Write_file", "_x", "read_file"])
def test_retiring_a_name_of_a_workspace_changes_the_goldens_by_that_tool_alone(
    workspace: Path, tmp_path: Path, name: str
) -> None:
    """Issue 2: one line moved in the roster, one row in the manifest; the definition's file stays."""
    roster, manifest = str(FILES["policy/roster.toml"]), str(FILES["policy/manifest.toml"])
    moved = roster.replace(f'"{name}", ', "", 1).replace('["cat_file"]', f'["cat_file", "{name}"]')
    moved = moved.replace('callable = ["read_file"]', 'callable = ["agent"]')
    moved = moved.replace('active = ["read_file"]', 'active = ["agent"]')
    row = f'[[alias]]\nname = "{name}"\nreplacement = "agent"\nfirst_deprecated_version = "1.0.0"\n\n'
    manifest = row + manifest.replace('replacement = "read_file"', 'replacement = "agent"')
    other = write_tree(tmp_path, {**FILES, "policy/roster.toml": moved, "policy/manifest.toml": manifest})
    Workspace(other).accept(environment={})
    before: Surface = Workspace(workspace).surface()
    for profile in ("default", "plan", "yolo", "default+child"):
        for target in TARGETS:
            golden = (other / "goldens" / profile / f"{target}.json").read_bytes()
            assert without(before.prefix(profile, target), name) == golden
            pool = (other / "goldens" / profile / f"{target}.deferred.json").read_bytes()
            assert before.deferred_prefix(profile, target).data == pool
