from __future__ import annotations

from collections import UserDict
from collections.abc import Mapping
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroster.canonical import JsonObject, JsonValue, copy_json, encode
from toolroster.dispatch import ArgumentFault, adapt_arguments, read_arguments, repair_arguments
from toolroster.policy import ArgumentAdapter
from toolroster.policy.calls import Repair
from toolroster.schemas import MAX_SCHEMA_DEPTH, SchemaFault, compile_schema

SECRET = "hunter2"  # noqa: S105 - what no message may repeat

TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
# A larger whole float has the text of an integer, and is read back as one.
FLOATS = st.floats(-(2**53) + 1, 2**53 - 1)
LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | FLOATS | TEXTS
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3))
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=5)


def nest(levels: int) -> dict[str, object]:
    """Return `levels` objects, each inside the one before."""
    value: dict[str, object] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def fault_of(given_arguments: Mapping[str, object] | str | None) -> ArgumentFault:
    """Return the fault of arguments that can't be used."""
    read = read_arguments(given_arguments)
    assert isinstance(read, ArgumentFault)
    return read


def repair(
    schema: JsonObject, arguments: JsonObject, *repairs: Repair
) -> tuple[JsonObject, tuple[str, ...], tuple[SchemaFault, ...]]:
    """Return the repaired arguments, the pointers of what was repaired, and the faults that are left."""
    return repair_arguments(arguments, compile_schema(schema), repairs)


# ------------------------------------------------------------------------------------------------------- reading


@pytest.mark.parametrize("given_arguments", ["", "   ", "\n\t", '""', ' "" ', "{}", " {} ", None, {}])
def test_nothing_blank_text_and_an_empty_object_are_the_empty_object(
    given_arguments: Mapping[str, object] | str | None,
) -> None:
    """TC-037: a tool without parameters is often called with the empty string."""
    assert {} == read_arguments(given_arguments)


@pytest.mark.parametrize(
    ("text", "reason", "offset"),
    [
        ("null", "arguments_not_object", None),
        ("[]", "arguments_not_object", None),
        ("1", "arguments_not_object", None),
        ("true", "arguments_not_object", None),
        ('"{}"', "arguments_not_object", None),
        ('" "', "arguments_not_object", None),
        ("{", "arguments_not_json", 1),
        ("{}{}", "arguments_not_json", 2),
        ("{'a': 1}", "arguments_not_json", 1),
        ("nope", "arguments_not_json", 0),
        ('{\n "a": 1\n "b": 2}', "arguments_not_json", 11),
        ('{"a": "\u2028\x85\x0c", \r\n oops}', "arguments_not_json", 9),
        ('{"a": "\u2028\x85", \r\n oops}', "arguments_not_json", 15),
        ('{"é😀": oops}', "arguments_not_json", 7),
    ],
)
def test_unusable_text_says_why_and_where(text: str, reason: str, offset: int | None) -> None:
    """TC-037: no JSON, with its offset in code points, is told apart from JSON that is no object."""
    fault = fault_of(text)

    assert (reason, offset) == (fault.reason, fault.offset)


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ('{"path": "a", "path": "b"}', 14),
        ('{"a": {"b": 1, "b": 2}}', 15),
        ('{"\\u0061": 1, "a": 2}', 14),
    ],
)
def test_a_repeated_argument_makes_text_unusable(text: str, offset: int) -> None:
    """Readers differ in which of two equal keys holds, so a gate could judge one and the tool get the other."""
    fault = fault_of(text)

    assert ("arguments_not_json", offset) == (fault.reason, fault.offset)
    assert "twice" in fault.message


@pytest.mark.parametrize(
    "text",
    ['{"a": NaN}', '{"a": -Infinity}', '{"a": 1e999}', '{"a": 18446744073709551616}', '{"a": "\\ud800"}', "\ufeff{}", "\ud800"],
)
def test_text_that_strict_json_does_not_know_is_unusable(text: str) -> None:
    """Design.md section 7: such values are errors everywhere; `1e999` is an infinity to most readers."""
    assert "arguments_not_json" == fault_of(text).reason


@pytest.mark.parametrize(
    "given_arguments",
    [
        {"a": float("nan")},
        {"a": [float("inf")]},
        {"a": 2**64},
        {"a": {"b", "c"}},
        {"a": b"bytes"},
        {"a": "\ud800"},
        {"\udfff": 1},
        {"a": object()},
        {1: "a"},
    ],
)
def test_an_object_that_is_no_json_is_unusable(given_arguments: Mapping[str, object]) -> None:
    """A validator would crash on it, or read it otherwise than the tool does."""
    assert "arguments_not_json" == fault_of(given_arguments).reason


@pytest.mark.parametrize(
    "given_arguments",
    [
        {"a": 1, "b": "x", "c": None, "d": True},
        {"a": ["x", {"b": 1}]},
        {"a": ("x",)},
        MappingProxyType({"a": 1}),
        UserDict(a=1),
    ],
)
def test_the_arguments_read_are_a_copy_in_plain_json_types(given_arguments: Mapping[str, object]) -> None:
    """A tool that changes its arguments changes nothing that somebody else holds."""
    read = read_arguments(given_arguments)

    assert copy_json(given_arguments) == read
    assert isinstance(read, dict)
    assert read is not given_arguments
    assert all(value is not given_arguments[name] for name, value in read.items() if isinstance(value, list))


def test_subclasses_of_texts_and_integers_are_read_as_plain_ones() -> None:
    """An enumeration's member is a text to Python and a stranger to a JSON library."""

    class Name(str):
        __slots__ = ()

    class Count(int):
        pass

    read = read_arguments({Name("path"): Name("a"), "count": Count(3)})

    assert {"path": "a", "count": 3} == read
    assert isinstance(read, dict)
    assert [str, int] == [type(value) for value in read.values()]
    assert [str, str] == [type(name) for name in read]


@given(OBJECTS)
def test_text_and_object_of_one_call_are_read_alike(arguments: JsonObject) -> None:
    """A provider delivers text, a test an object; the tool can't tell which (3.0 is 3 in both)."""
    text = encode(arguments).decode()

    assert encode(copy_json(arguments)) == encode(copy_json(read_arguments(text)))
    assert read_arguments(text) == read_arguments(arguments) == copy_json(arguments)
    assert repr(read_arguments(text)) == repr(read_arguments(arguments))


# --------------------------------------------------------------------------------------------------------- depth


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000 + "]" * 100_000, "[" * 100_000, '{"a":' * 2_000 + "1" + "}" * 2_000, '{"a":' * 65 + "1" + "}" * 65],
    ids=["100,000 brackets", "100,000 open brackets", "2,000 objects", "65 objects"],
)
def test_text_that_nests_too_deep_is_refused_before_any_parser_recurses(text: str) -> None:
    """TC-069: depth is counted, not run into."""
    assert ArgumentFault("arguments_too_deep", "arguments nest deeper than 64 levels") == fault_of(text)


@pytest.mark.parametrize("levels", [65, 127, 128, 129, 2_000])
def test_an_object_that_nests_too_deep_is_refused_with_the_same_limit(levels: int) -> None:
    """TC-069: objects are judged like texts, however far past the limit they go."""
    assert ArgumentFault("arguments_too_deep", "arguments nest deeper than 64 levels") == fault_of(nest(levels))


def test_arguments_at_the_limit_are_accepted() -> None:
    """TC-069: the limit itself is allowed, in both forms."""
    deepest = nest(MAX_SCHEMA_DEPTH)

    assert deepest == read_arguments(deepest)
    assert deepest == read_arguments('{"a":' * (MAX_SCHEMA_DEPTH - 1) + "{}" + "}" * (MAX_SCHEMA_DEPTH - 1))


def test_brackets_inside_texts_do_not_count_as_depth() -> None:
    """A file's content may hold any number of brackets."""
    brackets = "[" * 100_000

    assert {"body": brackets} == read_arguments('{"body": "' + brackets + '"}')


# ------------------------------------------------------------------------------------------------------ adapters


def adapt(arguments: JsonObject, **members: object) -> JsonObject | ArgumentFault:
    """Return arguments adapted by a manifest row's `[alias.arguments]`."""
    return adapt_arguments(arguments, ArgumentAdapter.model_validate(members))


def test_an_adapter_renames_drops_defaults_and_sets_in_this_order() -> None:
    """Design.md section 6: rename, drop, default, set."""
    adapted = adapt(
        {"cmd": "ls", "verbose": True, "kept": 1, "action": "write"},
        rename={"cmd": "command"},
        drop=["verbose"],
        default={"limit": 10, "command": "unused"},
        set={"action": "read"},
    )

    assert {"command": "ls", "kept": 1, "action": "read", "limit": 10} == adapted


def test_an_adapter_leaves_what_it_is_given_as_it_was() -> None:
    """A call is logged after it was adapted; its own arguments must still be there."""
    arguments: JsonObject = {"cmd": "ls"}

    adapt(arguments, rename={"cmd": "command"}, set={"a": 1})

    assert {"cmd": "ls"} == arguments


def test_values_that_an_adapter_puts_in_are_copies() -> None:
    """A handler that changes its arguments does not change the manifest."""
    adapter = ArgumentAdapter.model_validate({"set": {"tags": []}, "default": {"more": []}})
    first = adapt_arguments({}, adapter)
    assert isinstance(first, dict)
    for value in first.values():
        assert isinstance(value, list)
        value.append("changed")

    assert {"tags": [], "more": []} == adapt_arguments({}, adapter)


@pytest.mark.parametrize(
    ("arguments", "rename", "named"),
    [
        ({"cmd": "a", "command": "b"}, {"cmd": "command"}, ["cmd", "command"]),
        ({"command": "b", "cmd": "a"}, {"cmd": "command"}, ["cmd", "command"]),
        ({"cmd": "a", "run": "b"}, {"cmd": "command", "run": "command"}, ["cmd", "run", "command"]),
    ],
)
def test_two_arguments_for_one_are_a_conflict_that_names_both(
    arguments: JsonObject, rename: dict[str, str], named: list[str]
) -> None:
    """Neither order of the arguments makes one of them win silently."""
    fault = adapt(arguments, rename=rename)

    assert isinstance(fault, ArgumentFault)
    assert "arguments_conflict" == fault.reason
    assert [] == [name for name in named if repr(name) not in fault.message]


def test_two_arguments_may_swap_their_names() -> None:
    """All names change at once, so a swap is no conflict."""
    assert {"to": 1, "from": 2} == adapt({"from": 1, "to": 2}, rename={"from": "to", "to": "from"})


@pytest.mark.parametrize("arguments", [{"cmd": "a", "command": "b"}, {"command": "b", "cmd": "a"}])
def test_a_dropped_argument_conflicts_with_nothing(arguments: JsonObject) -> None:
    """What the replacement does not take can't be in the way of what it takes, in either order."""
    assert {"command": "a"} == adapt(arguments, rename={"cmd": "command"}, drop=["command"])


def test_a_default_stands_back_behind_an_argument_even_if_it_is_null() -> None:
    """Absent and null are two things."""
    assert {"limit": None} == adapt({"limit": None}, default={"limit": 10})


# ------------------------------------------------------------------------------------------------------- repairs

STRINGS: JsonObject = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "tags": {"type": "array", "items": {"type": "string"}},
        "ms": {"type": "integer"},
        "ratio": {"type": "number"},
        "flag": {"type": "boolean"},
        "body": {"type": "string"},
        "opt": {"type": ["string", "array"]},
        "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "deep": {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "integer"}}}},
    },
}


def test_without_repairs_stringified_values_are_faults_at_their_places() -> None:
    """TC-038, strict: `/tags` and `/ms` are refused, and nothing else is."""
    arguments: JsonObject = {"tags": '["a"]', "ms": "2000", "body": '{"k":1}', "opt": "[1]"}

    left, repaired, faults = repair(STRINGS, arguments)

    assert arguments == left
    assert () == repaired
    assert [("/ms", "type"), ("/tags", "type")] == [(fault.pointer, fault.keyword) for fault in faults]


def test_strings_are_read_only_where_the_schema_takes_none() -> None:
    """TC-038: text that is wanted as text stays text, whatever it looks like."""
    arguments: JsonObject = {"tags": '["a"]', "ms": "2000", "body": '{"k":1}', "opt": "[1]"}

    left, repaired, faults = repair(STRINGS, arguments, "strings")

    assert {"tags": ["a"], "ms": 2000, "body": '{"k":1}', "opt": "[1]"} == left
    assert ("/ms", "/tags") == repaired
    assert () == faults
    assert {"tags": '["a"]', "ms": "2000", "body": '{"k":1}', "opt": "[1]"} == arguments


@pytest.mark.parametrize("text", ["2000.5", "0x10", " 2000", "2000 ", "+1", "1_000", "", "null", "true", "٣", "1e400", "NaN"])
def test_text_that_does_not_spell_exactly_what_is_wanted_is_refused(text: str) -> None:
    """TC-038: a repair that guesses is worse than a refusal."""
    left, repaired, faults = repair(STRINGS, {"ms": text}, "strings")

    assert {"ms": text} == left
    assert () == repaired
    assert ["/ms"] == [fault.pointer for fault in faults]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("ms", "-7", -7),
        ("ms", "2e3", 2000),
        ("ratio", "0.25", 0.25),
        ("flag", "true", True),
        ("flag", "false", False),
        ("either", "5", 5),
        ("deep", '{"list": [1, 2]}', {"list": [1, 2]}),
    ],
)
def test_every_json_type_but_text_and_null_can_be_spelled(name: str, text: str, value: JsonValue) -> None:
    """TC-038: numbers, booleans, arrays and objects; a place that may also be null says so with `anyOf`."""
    left, repaired, _ = repair(STRINGS, {name: text}, "strings")

    assert {name: value} == left
    assert type(value) is type(left[name])
    assert (f"/{name}",) == repaired


@pytest.mark.parametrize(
    "schema", [{"type": ["string", "integer"], "minLength": 5}, {"type": ["string", "array"], "pattern": "^x"}]
)
def test_text_that_is_refused_for_its_length_or_pattern_stays_text(schema: JsonObject) -> None:
    """TC-038: text is taken there, though not this one; another type would be a guess."""
    for text in ("12", "[1]"):
        left, repaired, faults = repair({"properties": {"a": schema}}, {"a": text}, "strings")
        assert ({"a": text}, ()) == (left, repaired)
        assert ["/a"] == [fault.pointer for fault in faults]


@pytest.mark.parametrize("repairs", [("nulls",), ("nulls", "strings")])
def test_a_missing_argument_is_nothing_to_repair(repairs: tuple[Repair, ...]) -> None:
    """What is absent is not null, and nothing can be dropped."""
    left, repaired, faults = repair({"properties": {"a": {}}, "required": ["a"]}, {}, *repairs)

    assert ({}, ()) == (left, repaired)
    assert ["/a"] == [fault.pointer for fault in faults]


def test_repairs_reach_into_objects_and_arrays() -> None:
    """Models stringify single members of a list, too."""
    left, repaired, faults = repair(STRINGS, {"deep": {"list": ["1", 2, "3"]}}, "strings")

    assert {"deep": {"list": [1, 2, 3]}} == left
    assert ("/deep/list/0", "/deep/list/2") == repaired
    assert () == faults


def test_a_repair_that_leaves_its_place_invalid_is_undone() -> None:
    """Half a repair would be reported as a fault of what the model never sent."""
    arguments: JsonObject = {"tags": "[1]", "deep": '{"list": "x"}'}

    left, repaired, faults = repair(STRINGS, arguments, "strings")

    assert arguments == left
    assert () == repaired
    assert ["/deep", "/tags"] == [fault.pointer for fault in faults]


def test_one_bad_place_does_not_undo_the_repair_of_another() -> None:
    """Places are repaired one by one, and the faults that are left are all named."""
    left, repaired, faults = repair(STRINGS, {"ms": "5", "flag": "perhaps"}, "strings")

    assert {"ms": 5, "flag": "perhaps"} == left
    assert ("/ms",) == repaired
    assert ["/flag"] == [fault.pointer for fault in faults]


def test_names_with_slashes_and_tildes_are_repaired_at_their_place() -> None:
    """RFC 6901 escapes them in a pointer; the arguments have them as they are."""
    schema: JsonObject = {"type": "object", "properties": {"a/b": {"type": "integer"}, "~": {"type": "integer"}}}

    left, repaired, _ = repair(schema, {"a/b": "1", "~": "2"}, "strings")

    assert {"a/b": 1, "~": 2} == left
    assert ("/a~1b", "/~0") == repaired


def test_a_text_that_would_nest_too_deep_is_not_read() -> None:
    """TC-069: the limit holds for what comes out of a text as well, before any validator sees it."""
    text = "[" * 120 + "]" * 120

    left, repaired, faults = repair(
        {"properties": {"a": {"type": "array"}, "b": {"type": "array"}}}, {"a": text, "b": text}, "strings"
    )

    assert {"a": text, "b": text} == left
    assert () == repaired
    assert ["/a", "/b"] == [fault.pointer for fault in faults]


NULLS: JsonObject = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "cursor": {"type": "string"},
        "parent": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "tag": {"enum": ["a", None]},
        "inner": {"type": "object", "properties": {"x": {"type": "integer"}}},
        "list": {"type": "array", "items": {"type": "integer"}},
    },
}


def test_without_repairs_a_null_is_a_fault_where_the_schema_takes_none() -> None:
    """TC-044, strict: at `/cursor` only."""
    _, repaired, faults = repair(NULLS, {"name": "n", "cursor": None, "parent": None, "tag": None})

    assert () == repaired
    assert ["/cursor"] == [fault.pointer for fault in faults]


def test_a_null_is_dropped_only_where_it_is_not_taken_and_not_required() -> None:
    """TC-044: kept where null is allowed; never turned into a text."""
    left, repaired, faults = repair(NULLS, {"name": "n", "cursor": None, "parent": None, "tag": None}, "nulls")

    assert {"name": "n", "parent": None, "tag": None} == left
    assert ("/cursor",) == repaired
    assert () == faults


@pytest.mark.parametrize("repairs", [(), ("nulls",), ("nulls", "strings")])
def test_a_null_for_a_required_argument_is_refused(repairs: tuple[Repair, ...]) -> None:
    """TC-044: invalid with the repair and without it, and still said to be null rather than missing."""
    left, repaired, faults = repair(NULLS, {"name": None}, *repairs)

    assert {"name": None} == left
    assert () == repaired
    assert [("/name", "type")] == [(fault.pointer, fault.keyword) for fault in faults]


def test_the_text_null_is_never_read_as_null() -> None:
    """TC-044: `"null"` is four letters."""
    left, repaired, faults = repair(NULLS, {"name": "null", "inner": {"x": "null"}}, "nulls", "strings")

    assert {"name": "null", "inner": {"x": "null"}} == left
    assert () == repaired
    assert ["/inner/x"] == [fault.pointer for fault in faults]


def test_a_null_inside_an_object_is_dropped_and_inside_an_array_kept() -> None:
    """An array's items have places; dropping one would move the others."""
    left, repaired, faults = repair(NULLS, {"name": "n", "inner": {"x": None}, "list": [1, None]}, "nulls")

    assert {"name": "n", "inner": {}, "list": [1, None]} == left
    assert ("/inner/x",) == repaired
    assert ["/list/1"] == [fault.pointer for fault in faults]


def test_valid_arguments_are_never_touched_by_repairs() -> None:
    """TC-038 and TC-044: only places that the schema refuses are repaired."""
    arguments: JsonObject = {"tags": ["[1]", "null"], "ms": 1, "body": "5", "opt": "true"}

    assert (arguments, (), ()) == repair(STRINGS, arguments, "strings", "nulls")


# ------------------------------------------------------------------------------------------------------- secrecy


@pytest.mark.parametrize(
    "given_arguments",
    [
        f'{{"a": "{SECRET}", "a": 1}}',
        f'{{"a": {SECRET}}}',
        f'{{"a": "{SECRET}"',
        f'["{SECRET}"]',
        f'"{SECRET}"',
        f'{{"a": ["{SECRET}", 1e999]}}',
        {"a": SECRET, "b": {SECRET}},
        {"a": [SECRET, float("nan")]},
        {"a": (SECRET + "\ud800")},
    ],
)
def test_a_fault_of_unusable_arguments_never_repeats_a_value(given_arguments: Mapping[str, object] | str) -> None:
    """TC-039: error text does not echo argument values; they may be secrets."""
    assert SECRET not in repr(fault_of(given_arguments))


def test_a_conflict_never_repeats_a_value() -> None:
    """TC-039, for legacy arguments."""
    assert SECRET not in repr(adapt({"a": SECRET, "b": SECRET}, rename={"a": "c", "b": "c"}))


@given(
    st.dictionaries(
        st.sampled_from(sorted([*STRINGS, "tags", "ms", "body", "opt", "either"])), st.just(SECRET) | st.just([SECRET])
    )
)
def test_faults_after_repairs_never_repeat_a_value(arguments: JsonObject) -> None:
    """TC-039: a place and an expectation, whatever stood there."""
    _, _, faults = repair(STRINGS, arguments, "strings", "nulls")

    assert SECRET not in repr(faults)
