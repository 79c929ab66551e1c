from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import pytest

from tests.support import define
from toolroster import CatalogError, Origin, Prefix, ToolDefinition, build_prefix
from toolroster.canonical import JsonObject, digest
from toolroster.catalog import TARGETS, FragmentCounter
from toolroster.policy import Encoding

SCHEMA: JsonObject = {
    "type": "object",
    "required": ["path"],
    "properties": {"path": {"type": "string", "description": "Where."}, "depth": {"type": "integer"}},
    "$schema": "https://json-schema.org/draft/2020-12/schema",
}

FULL = define(
    "read_file",
    title="Read a file",
    description="Reads é.",
    input_schema=SCHEMA,
    output_schema={"type": "object", "properties": {"text": {"type": "string"}}, "$schema": "s"},
    annotations={"readOnlyHint": True, "destructiveHint": False},
    implementation="handlers:read_file",
    niche="Read one file.",
)
"""A definition with every member."""

ORDERED = '{"properties":{"path":{"description":"Where.","type":"string"},"depth":{"type":"integer"}},"required":["path"],"type":"object"}'  # noqa: E501 - exact bytes
ORDERED_WITH_DIALECT = '{"$schema":"https://json-schema.org/draft/2020-12/schema",' + ORDERED[1:]


def external(server: str, tool: str, name: str, **members: object) -> ToolDefinition:
    """Return a server's tool under a canonical name of the caller's choice."""
    return define(name, origin=Origin("mcp", server), raw_name=tool, **members)


def hosted(target: str, name: str, document: JsonObject) -> ToolDefinition:
    """Return a tool that a provider runs."""
    return ToolDefinition(name=name, description="", input_schema={}, origin=Origin("hosted", target), document=document)


def build(*tools: ToolDefinition, target: str = "anthropic", **encoding: object) -> Prefix:
    """Return the prefix of some definitions."""
    return build_prefix(tools, TARGETS[target], Encoding.model_validate(encoding))


def refuse(*tools: ToolDefinition, target: str = "anthropic", **encoding: object) -> dict[str, str]:
    """Return the messages of a build that is refused, by rule."""
    with pytest.raises(CatalogError) as caught:
        build(*tools, target=target, **encoding)
    return {fault.rule: fault.message for fault in caught.value.faults}


# --------------------------------------------------------------------------------------------- the bytes of entries


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("anthropic", f'[{{"name":"read_file","description":"Reads é.","input_schema":{ORDERED}}}]'),
        (
            "openai-chat",
            f'[{{"type":"function","function":{{"name":"read_file","description":"Reads é.","parameters":{ORDERED}}}}}]',
        ),
        (
            "openai-responses",
            f'[{{"type":"function","name":"read_file","description":"Reads é.","parameters":{ORDERED},"strict":false}}]',
        ),
        (
            "mcp",
            (
                '{"tools":[{"name":"read_file","title":"Read a file","description":"Reads é.",'
                f'"inputSchema":{ORDERED_WITH_DIALECT},'
                '"outputSchema":{"$schema":"s","properties":{"text":{"type":"string"}},"type":"object"},'
                '"annotations":{"readOnlyHint":true,"destructiveHint":false}}]}'
            ),
        ),
    ],
)
def test_each_target_has_its_keys_in_its_order_and_no_others(target: str, expected: str) -> None:
    """Design.md section 7 gives the keys of each target; title, annotations and `$schema` are emitted for mcp alone."""
    assert expected.encode() == build(FULL, target=target).data


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("anthropic", '[{"name":"x","input_schema":{"properties":{},"type":"object"}}]'),
        ("openai-chat", '[{"type":"function","function":{"name":"x","parameters":{"properties":{},"type":"object"}}}]'),
        (
            "openai-responses",
            '[{"type":"function","name":"x","parameters":{"properties":{},"type":"object"},"strict":false}]',
        ),
        ("mcp", '{"tools":[{"name":"x","inputSchema":{"properties":{},"type":"object"}}]}'),
    ],
)
def test_an_external_tool_without_a_description_has_no_such_key(target: str, expected: str) -> None:
    """An empty text is not a description; nothing is made up, and no `null` or `""` is sent."""
    assert expected.encode() == build(external("s", "x", "x", description="", input_schema={}), target=target).data


@pytest.mark.parametrize(
    ("target", "expected"),
    [("anthropic", b"[]"), ("openai-chat", b"[]"), ("openai-responses", b"[]"), ("mcp", b'{"tools":[]}')],
)
def test_no_tools_are_an_empty_list(target: str, expected: bytes) -> None:
    """A head may be empty: a provider can defer everything."""
    prefix = build(target=target)
    assert (expected, (), []) == (prefix.data, prefix.entries, prefix.tools)
    assert expected[: expected.index(b"[") + 1] == prefix.native_head
    assert None is prefix.entry_at(0)


def test_sorted_property_order_reaches_schemas_and_annotations_and_not_the_entrys_own_keys() -> None:
    """Design.md section 7: an entry's keys are the target's, in both property orders."""
    data = build(FULL, target="mcp", property_order="sorted").data.decode()
    assert data.startswith('{"tools":[{"name":"read_file","title":"Read a file","description":"Reads é.","inputSchema":')
    assert '"properties":{"depth":{"type":"integer"},"path":{"description":"Where.","type":"string"}}' in data
    assert '"annotations":{"destructiveHint":false,"readOnlyHint":true}' in data


# ------------------------------------------------------------------------------------------------------- the order


@pytest.mark.parametrize("target", list(TARGETS))
def test_own_and_hosted_tools_come_first_and_each_part_is_in_code_point_order(target: str) -> None:
    """Design.md section 7: two partitions, each by canonical name."""
    tools = [
        external("s", "a", "Aaa"),
        define("zeta"),
        define("tool_search", origin=Origin("synthetic")),
        define("Beta"),
        define("plug", origin=Origin("plugin", "p")),
        define("_x"),
        hosted(target, "web", {"type": "web"}),
    ]
    expected = ["Beta", "_x", "tool_search", "web", "zeta", "Aaa", "plug"]
    assert expected == [entry.name for entry in build(*tools, target=target).entries]
    assert build(*tools, target=target).data == build(*tools[::-1], target=target).data


def test_tools_stand_in_the_order_of_canonical_names_whatever_they_are_called_on_the_wire() -> None:
    """Design.md section 7: never by wire name, so a renamed tool stays where it is."""
    prefix = build(define("a"), define("b"), define("c"), wire_names={"a": "zzz", "c": "aaa"})
    assert ["a", "b", "c"] == [entry.name for entry in prefix.entries]
    assert ["zzz", "b", "aaa"] == [entry.wire_name for entry in prefix.entries]
    assert ["zzz", "b", "aaa"] == [tool["name"] for tool in prefix.tools]


# --------------------------------------------------------------------------------------- entries and their offsets


@pytest.mark.parametrize("target", list(TARGETS))
def test_offsets_lengths_and_digests_slice_the_bytes_of_each_entry(target: str) -> None:
    """Design.md section 6: offset at `{`, length in bytes without the comma."""
    tools = [FULL, define("e", description="東京 😀"), external("s", "x", "mcp__s__x"), define("z")]
    prefix = build(*tools, target=target)
    slices = [prefix.data[entry.offset : entry.end] for entry in prefix.entries]
    assert prefix.tools == [json.loads(piece) for piece in slices]
    assert [digest(piece) for piece in slices] == [entry.sha256 for entry in prefix.entries]
    assert [len(piece) for piece in slices] == [entry.length for entry in prefix.entries]
    opening, closing = TARGETS[target].opening, TARGETS[target].closing
    assert prefix.data == opening + b",".join(slices) + closing
    assert digest(prefix.data) == prefix.sha256


def test_the_entry_at_an_offset_is_the_one_that_holds_it() -> None:
    """A report says which tool the first changed byte is in; a comma or bracket belongs to the entry before it."""
    prefix = build(define("a"), define("b"))
    first, second = prefix.entries
    assert [first, first, first, second, second, second] == [
        prefix.entry_at(offset) for offset in (0, first.offset, first.end, second.offset, second.end - 1, len(prefix.data) + 9)
    ]


def test_the_native_head_ends_with_the_last_builtin_or_synthetic_entry() -> None:
    """Design.md section 2: from `[` through the last own entry, without the comma or bracket after it."""
    alone = build(define("a"), define("b"))
    assert alone.data[:-1] == alone.native_head
    tools = (define("a"), define("search", origin=Origin("synthetic")), hosted("anthropic", "web", {"type": "web"}))
    mixed = build(*tools, external("s", "x", "A"))
    assert mixed.data[: mixed.entries[1].end] == mixed.native_head
    assert mixed.data[mixed.entries[1].end :].startswith(b',{"type":"web"}')
    assert b"[" == build(external("s", "x", "A")).native_head
    assert b'{"tools":[{"name":"a"' == build(define("a"), target="mcp").native_head[:21]


def test_tools_are_a_fresh_list_each_time() -> None:
    """A caller may add a cache marker to its request without changing the next one."""
    prefix = build(define("a"), define("b"), target="mcp")
    first = prefix.tools
    first[0]["name"] = "changed"
    first.pop()
    assert ["a", "b"] == [tool["name"] for tool in prefix.tools]
    assert prefix.tools == json.loads(prefix.data)["tools"]


def test_a_prefix_never_changes() -> None:
    """Design.md section 5: immutable."""
    prefix = build(define("a"))
    with pytest.raises(FrozenInstanceError):
        prefix.data = b""  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(FrozenInstanceError):
        prefix.entries[0].name = "b"  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]


def test_an_entry_is_encoded_once_for_each_target_order_and_wire_name() -> None:
    """The second build of an unchanged catalog encodes nothing."""
    counter = FragmentCounter()
    tools = [define("a"), define("b")]

    def encoded(target: str, encoding: Encoding) -> int:
        before = counter.encoded
        build_prefix(tools, TARGETS[target], encoding, counter)
        return counter.encoded - before

    assert 2 == encoded("anthropic", Encoding())
    assert 0 == encoded("anthropic", Encoding())
    assert 2 == encoded("mcp", Encoding())
    assert 2 == encoded("anthropic", Encoding(property_order="sorted"))
    assert 1 == encoded("anthropic", Encoding(wire_names={"a": "c"}))
    assert 0 == encoded("anthropic", Encoding(wire_names={"a": "c"}))


# --------------------------------------------------------------------------------------------------- hosted tools


def test_a_hosted_tool_is_emitted_verbatim_and_only_for_its_target() -> None:
    """Design.md section 2: the provider runs it, so its entry is the provider's own, key by key."""
    document: JsonObject = {
        "type": "web_search_20250305",
        "name": "web_search",
        "max_uses": 5,
        "user_location": {"type": "approximate", "country": "DE", "city": "Köln"},
        "required": [],
    }
    tools = [define("read"), hosted("anthropic", "web_search", document)]
    verbatim = (
        '{"type":"web_search_20250305","name":"web_search","max_uses":5,'
        '"user_location":{"type":"approximate","country":"DE","city":"Köln"},"required":[]}'
    )
    for order in ("declared", "sorted"):
        assert build(*tools, property_order=order).data.endswith(f",{verbatim}]".encode())
    for target in ("openai-chat", "openai-responses", "mcp"):
        assert ["read"] == [entry.name for entry in build(*tools, target=target).entries]


def test_hosted_tools_of_two_targets_may_share_a_name() -> None:
    """Each head has the one that its provider runs."""
    tools = [
        hosted("anthropic", "web_search", {"type": "web_search_20250305", "name": "web_search"}),
        hosted("openai-responses", "web_search", {"type": "web_search"}),
    ]
    assert b'[{"type":"web_search_20250305","name":"web_search"}]' == build(*tools).data
    assert b'[{"type":"web_search"}]' == build(*tools, target="openai-responses").data


def test_a_hosted_tools_name_on_the_wire_is_the_one_in_its_entry() -> None:
    """It is emitted verbatim, so a wire name can't rename it, and its own name can clash."""
    web = hosted("anthropic", "search", {"type": "web_search_20250305", "name": "web_search"})
    assert ["web_search"] == [entry.wire_name for entry in build(web, wire_names={"search": "find"}).entries]
    message = refuse(web, define("web_search"))["duplicate-wire-name"]
    assert "'search' (hosted:anthropic" in message
    assert "'web_search' (builtin" in message


# --------------------------------------------------------------------------------------------- what is refused


def test_two_tools_with_one_wire_name_are_refused_naming_all_of_them() -> None:
    """TC-006: nothing is emitted, and every owner of the name is listed."""
    message = refuse(
        define("web.run"),
        define("web_run"),
        external("north", "web:run", "mcp__north__web"),
        wire_names={"web.run": "web_run", "mcp__north__web": "web_run"},
    )["duplicate-wire-name"]
    for party in ("'web.run' (builtin", "'web_run' (builtin", "'mcp__north__web' (mcp:north, raw name 'web:run')"):
        assert party in message


def test_two_definitions_of_one_name_are_refused_naming_both_origins() -> None:
    """TC-005: never last-wins, first-wins, or two entries with one name."""
    message = refuse(external("pg_main", "run_query", "run_query"), external("ch_logs", "run_query", "run_query"))
    assert {"duplicate-tool-name"} == set(message)
    for party in ("'run_query'", "mcp:pg_main", "mcp:ch_logs"):
        assert party in message["duplicate-tool-name"]


def test_one_definition_given_twice_is_refused() -> None:
    """A provider refuses the second entry, whoever wrote it."""
    tool = define("a")
    assert {"duplicate-tool-name"} == set(refuse(tool, tool))


@pytest.mark.parametrize(("target", "limit"), [("openai-chat", 64), ("openai-responses", 64), ("anthropic", 128), ("mcp", 128)])
@pytest.mark.case("TC-007")
def test_a_name_as_long_as_a_target_takes_is_emitted_and_one_longer_is_refused(target: str, limit: int) -> None:
    """TC-007: the limit is the target's own; nothing is cut."""
    good, bad = "x" * limit, external("acme", "long_one", "y" * (limit + 1))
    assert [good] == [entry.wire_name for entry in build(define(good), target=target).entries]
    message = refuse(define("a"), bad, target=target)["name-refused-by-target"]
    for word in (repr(target), "mcp:acme", "'long_one'", repr(bad.name), f"{limit + 1} characters"):
        assert word in message
    assert ["short"] == [entry.wire_name for entry in build(bad, target=target, wire_names={bad.name: "short"}).entries]


@pytest.mark.parametrize(
    ("target", "name", "taken"),
    [
        ("anthropic", "web.run", False),
        ("openai-chat", "web.run", False),
        ("openai-responses", "web.run", False),
        ("mcp", "web.run", True),
        ("anthropic", "web-run_2", True),
        ("openai-chat", "Web-run_2", True),
        ("mcp", "web run", False),
        ("anthropic", "web_run\n", False),
        ("openai-chat", "wéb", False),
        ("mcp", "", False),
    ],
)
def test_a_name_that_a_target_does_not_take_is_refused_never_cleaned_up(target: str, name: str, *, taken: bool) -> None:
    """Design.md section 7: nothing is renamed silently; the message names tool, target and fix."""
    if taken:
        assert [name] == [entry.wire_name for entry in build(define(name), target=target).entries]
    else:
        assert repr(name) in refuse(define(name), target=target)["name-refused-by-target"]


def test_a_refused_wire_name_is_named_with_the_tool_that_has_it() -> None:
    """The reader finds the entry under `[encoding]`, not in the catalog."""
    message = refuse(define("run"), wire_names={"run": "web.run"})["name-refused-by-target"]
    assert "'web.run' (for 'run')" in message


def test_all_faults_are_in_one_error_and_every_fault_says_what_to_do() -> None:
    """Design.md section 7: errors before anything is emitted."""
    with pytest.raises(CatalogError) as caught:
        build(
            define("a.b"),
            define("c"),
            define("d"),
            external("s", "e", "e"),
            external("t", "e", "e"),
            define("x" * 65),
            target="openai-chat",
            wire_names={"c": "same", "d": "same"},
        )
    assert ["duplicate-tool-name", "duplicate-wire-name", "name-refused-by-target", "name-refused-by-target"] == sorted(
        fault.rule for fault in caught.value.faults
    )
    for fault in caught.value.faults:
        assert f"{fault.rule}: {fault.message}" in str(caught.value)
    assert all("wire_names" in fault.fix for fault in caught.value.faults if fault.rule != "duplicate-tool-name")


def test_a_refused_build_leaves_nothing_behind() -> None:
    """The tools that were good can be built at once."""
    good, bad = define("a"), define("b.c")
    counter = FragmentCounter()
    with pytest.raises(CatalogError):
        build_prefix([good, bad], TARGETS["anthropic"], Encoding(), counter)
    assert 0 == counter.encoded
    assert {} == good.fragments


# ------------------------------------------------------------------------------------------------ semantic digest


def test_the_semantic_digest_sees_every_member_and_no_order_of_keys() -> None:
    """Design.md section 7: over the whole definition encoded as `sorted`, so it covers what a target leaves out."""
    plain = build(FULL)
    again = define(
        "read_file",
        title="Read a file",
        description="Reads é.",
        input_schema=dict(reversed(SCHEMA.items())),
        output_schema={"$schema": "s", "properties": {"text": {"type": "string"}}, "type": "object"},
        annotations={"destructiveHint": False, "readOnlyHint": True},
        implementation="handlers:read_file",
        niche="Read one file.",
    )
    assert (plain.data, plain.semantic_sha256) == (build(again).data, build(again).semantic_sha256)
    retitled = define("read_file", description="Reads é.", input_schema=SCHEMA, title="Read")
    untitled = define("read_file", description="Reads é.", input_schema=SCHEMA)
    assert build(untitled).data == build(retitled).data
    assert build(untitled).semantic_sha256 != build(retitled).semantic_sha256
    other_dialect = define("read_file", description="Reads é.", input_schema={**SCHEMA, "$schema": "draft-07"})
    assert build(untitled).data == build(other_dialect).data
    assert build(untitled).semantic_sha256 != build(other_dialect).semantic_sha256


def test_the_semantic_digest_is_the_same_for_every_target_and_property_order() -> None:
    """It says what the definitions mean, not how they are written."""
    digests = {
        build(FULL, define("z"), target=target, property_order=order).semantic_sha256
        for target in TARGETS
        for order in ("declared", "sorted")
    }
    assert 1 == len(digests)
