from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator

import pytest

from toolroster.canonical import JsonObject, JsonValue, encode
from toolroster.schemas import (
    PropertyOrder,
    measure_depth,
    order_data,
    order_root_schema,
    order_schema,
    walk_schemas,
)

# Source: JSON Schema 2020-12 core and validation, and draft 07 for the last of the first two.
SCHEMA_KEYWORDS = (
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "additionalItems",
)
SCHEMA_LIST_KEYWORDS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
SCHEMA_MAP_KEYWORDS = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")

ORDERS: tuple[PropertyOrder, ...] = ("declared", "sorted")

BACKWARDS: JsonObject = {"type": "string", "description": "d", "$comment": "c"}
"""A schema whose keys stand in no order."""

IN_ORDER = '{"$comment":"c","description":"d","type":"string"}'
"""Its bytes: the keys of schema objects are sorted in both property orders."""


def text(schema: JsonObject, order: PropertyOrder = "declared") -> str:
    """Return the bytes of a schema in its emitted order, as text."""
    return encode(order_schema(schema, order)).decode()


def chain(levels: int, keyword: str) -> JsonObject:
    """Return a schema of `levels` schemas, each under `keyword` of the one before."""
    schema: JsonObject = {}
    for _ in range(levels - 1):
        schema = {keyword: schema}
    return schema


# ---------------------------------------------------------------------------------------------- where schemas stand


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("keyword", SCHEMA_KEYWORDS)
def test_keys_of_a_schema_under_a_schema_keyword_are_sorted(keyword: str, order: PropertyOrder) -> None:
    """Design.md section 7: schema objects have their keys sorted by code point."""
    assert f'{{"{keyword}":{IN_ORDER}}}' == text({keyword: BACKWARDS}, order)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("keyword", SCHEMA_LIST_KEYWORDS)
def test_keys_of_schemas_in_a_list_are_sorted_and_the_list_keeps_its_order(keyword: str, order: PropertyOrder) -> None:
    """Arrays stay as declared: the order of `prefixItems` has a meaning, and that of `anyOf` is the author's."""
    schema: JsonObject = {keyword: [BACKWARDS, {"type": "null"}, True, {"b": 1, "a": 2}]}
    assert f'{{"{keyword}":[{IN_ORDER},{{"type":"null"}},true,{{"a":2,"b":1}}]}}' == text(schema, order)


@pytest.mark.parametrize("keyword", SCHEMA_MAP_KEYWORDS)
def test_maps_of_schemas_keep_the_declared_order_of_names_unless_sorted(keyword: str) -> None:
    """Design.md section 7: models write arguments in the order of `properties`, so it is the author's."""
    schema: JsonObject = {keyword: {"zeta": BACKWARDS, "alpha": {"b": 1, "a": 2}}}
    assert f'{{"{keyword}":{{"zeta":{IN_ORDER},"alpha":{{"a":2,"b":1}}}}}}' == text(schema, "declared")
    assert f'{{"{keyword}":{{"alpha":{{"a":2,"b":1}},"zeta":{IN_ORDER}}}}}' == text(schema, "sorted")


def test_dependent_required_keeps_its_order_unless_sorted() -> None:
    """It maps names to set-like lists of names; both are sorted only in `sorted`."""
    schema: JsonObject = {"dependentRequired": {"b": ["z", "y"], "a": ["x"]}}
    assert '{"dependentRequired":{"b":["z","y"],"a":["x"]}}' == text(schema, "declared")
    assert '{"dependentRequired":{"a":["x"],"b":["y","z"]}}' == text(schema, "sorted")


@pytest.mark.parametrize("keyword", ["default", "const", "x-unknown", "dependencies"])
def test_data_stays_as_declared_unless_sorted(keyword: str) -> None:
    """A default is a value, not a schema: even its `properties` and `required` are data, in `sorted` too."""
    schema: JsonObject = {keyword: {"type": 1, "required": ["b", "a"], "properties": {"z": {"b": 1, "a": 2}, "y": 0}}}
    declared = '{"type":1,"required":["b","a"],"properties":{"z":{"b":1,"a":2},"y":0}}'
    in_order = '{"properties":{"y":0,"z":{"a":2,"b":1}},"required":["b","a"],"type":1}'
    assert f'{{"{keyword}":{declared}}}' == text(schema, "declared")
    assert f'{{"{keyword}":{in_order}}}' == text(schema, "sorted")


@pytest.mark.parametrize("keyword", ["enum", "examples"])
def test_members_of_enum_and_examples_are_data_in_the_declared_order(keyword: str) -> None:
    """Design.md section 7: arrays stay as declared; objects inside them are data."""
    schema: JsonObject = {keyword: [3, 1, {"required": ["b", "a"], "b": [2, 1]}, []]}
    assert f'{{"{keyword}":[3,1,{{"required":["b","a"],"b":[2,1]}},[]]}}' == text(schema, "declared")
    assert f'{{"{keyword}":[3,1,{{"b":[2,1],"required":["b","a"]}},[]]}}' == text(schema, "sorted")


def test_required_is_sorted_only_in_schema_position_and_only_in_sorted() -> None:
    """RC-1 sorts `required` as a set; `declared` keeps what the author wrote."""
    schema: JsonObject = {"required": ["b", "B", "a"], "items": {"required": ["z", "y"]}}
    assert '{"items":{"required":["z","y"]},"required":["b","B","a"]}' == text(schema, "declared")
    assert '{"items":{"required":["y","z"]},"required":["B","a","b"]}' == text(schema, "sorted")


@pytest.mark.parametrize("order", ORDERS)
def test_an_empty_required_is_dropped_from_every_schema_and_from_nothing_else(order: PropertyOrder) -> None:
    """Design.md section 7: some providers refuse an empty `required`; in data it is a value like any other."""
    schema: JsonObject = {
        "default": {"required": []},
        "enum": [{"required": []}],
        "properties": {"required": {"required": [], "type": "array"}},
        "required": [],
    }
    expected = '{"default":{"required":[]},"enum":[{"required":[]}],"properties":{"required":{"type":"array"}}}'
    assert expected == text(schema, order)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", ["required", "properties", "default", "enum", "items", "$defs", "const"])
def test_a_property_named_like_a_keyword_is_no_keyword(name: str, order: PropertyOrder) -> None:
    """A name map holds names: what stands under one is a schema, whatever the name."""
    schema: JsonObject = {"properties": {name: {"type": "string", "enum": ["b", "a"], "description": "d"}}}
    assert f'{{"properties":{{"{name}":{{"description":"d","enum":["b","a"],"type":"string"}}}}}}' == text(schema, order)


def test_a_property_named_required_keeps_its_list_of_names() -> None:
    """`properties.required` is malformed when it is a list; it is kept as data, never taken for the keyword."""
    schema: JsonObject = {"properties": {"required": ["b", "a"]}}
    assert '{"properties":{"required":["b","a"]}}' == text(schema, "sorted")


@pytest.mark.parametrize("order", ORDERS)
def test_boolean_schemas_are_kept_wherever_a_schema_may_stand(order: PropertyOrder) -> None:
    """JSON Schema 2020-12 core 4.3.2: `true` and `false` are schemas."""
    schema: JsonObject = {
        "additionalProperties": False,
        "allOf": [True, False],
        "items": True,
        "properties": {"a": True, "b": False},
    }
    assert encode(schema).decode() == text(schema, order)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "schema",
    [
        {"properties": ["b", "a"]},
        {"allOf": {"b": 1, "a": 2}},
        {"not": ["b", "a"]},
        {"required": "a"},
        {"required": {"b": 1}},
        {"dependentRequired": ["b", "a"]},
        {"dependentRequired": {"b": "a", "c": [2, 1]}},
        {"properties": {"a": None}},
        {"items": None},
        {"required": ["b", 1, "a"]},
    ],
)
def test_malformed_keywords_are_kept_and_never_raise(schema: JsonObject, order: PropertyOrder) -> None:
    """Ordering judges nothing: what is wrong with a schema is for the rules to say."""
    assert order_schema(schema, order) == schema


def test_malformed_required_with_other_members_than_names_is_not_sorted() -> None:
    """Sorting half of a list would be a guess."""
    assert '{"required":["b",1,"a"]}' == text({"required": ["b", 1, "a"]}, "sorted")


def test_sorting_is_by_code_point() -> None:
    """TC-023: neither case nor locale nor UTF-16 units decide."""
    schema: JsonObject = {"properties": {"b": {}, "\U0001f600": {}, "\uffff": {}, "B": {}, "_": {}, "é": {}}}
    assert ["B", "_", "b", "é", "\uffff", "\U0001f600"] == list(keys(order_schema(schema, "sorted")["properties"]))


def keys(value: JsonValue) -> Iterator[str]:
    """Yield the keys of an object, in order."""
    return iter(value if isinstance(value, dict) else {})


# ------------------------------------------------------------------------------------------------------ the root


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("keep_dialect", [True, False])
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "properties": {}},
        {"properties": {}, "type": "object"},
        {"type": "object", "properties": {}, "required": []},
        {"type": "object", "required": []},
        {"required": []},
        {},
    ],
)
@pytest.mark.case("TC-014")
def test_no_parameters_has_one_form(schema: JsonObject, order: PropertyOrder, *, keep_dialect: bool) -> None:
    """TC-014: all spellings of "no parameters" give one byte form."""
    ordered = order_root_schema(schema, order, keep_dialect=keep_dialect)
    assert b'{"properties":{},"type":"object"}' == encode(ordered)


@pytest.mark.parametrize(
    "schema",
    [
        {"additionalProperties": False, "type": "object"},
        {"$ref": "#/$defs/a"},
        {"anyOf": [{"type": "object"}]},
        {"type": "string"},
        {"type": ["object", "null"]},
        {"description": "d", "type": "object"},
    ],
)
def test_a_root_that_says_more_gains_nothing(schema: JsonObject) -> None:
    """Design.md section 7 names `{}` and `{"type":"object"}`; any other root is the author's."""
    assert encode(schema) == encode(order_root_schema(schema, "declared"))


@pytest.mark.parametrize("order", ORDERS)
def test_only_the_roots_dialect_is_dropped_and_only_where_it_is_not_kept(order: PropertyOrder) -> None:
    """Design.md section 7: a root `$schema` is emitted for mcp alone; below the root it is a schema's own."""
    inner: JsonObject = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    schema: JsonObject = {"type": "object", "properties": {"a": inner}, "$schema": "http://json-schema.org/draft-07/schema#"}
    assert {"type": "object", "properties": {"a": inner}} == order_root_schema(schema, order)
    assert schema == order_root_schema(schema, order, keep_dialect=True)
    assert ["$schema", "properties", "type"] == list(order_root_schema(schema, order, keep_dialect=True))


def test_a_root_with_a_dialect_alone_means_no_parameters() -> None:
    """A dialect says how to read a schema, not what it takes."""
    dialect = "http://json-schema.org/draft-07/schema#"
    assert b'{"properties":{},"type":"object"}' == encode(order_root_schema({"$schema": dialect}, "declared"))
    kept = order_root_schema({"$schema": dialect, "type": "object"}, "declared", keep_dialect=True)
    assert f'{{"$schema":"{dialect}","properties":{{}},"type":"object"}}'.encode() == encode(kept)


def test_an_inner_empty_object_schema_gains_nothing() -> None:
    """The normal form is the root's: an inner `{}` accepts anything, which `properties` would belie."""
    schema: JsonObject = {"properties": {"a": {}, "b": {"type": "object"}}, "type": "object"}
    assert encode(schema) == encode(order_root_schema(schema, "declared"))


@pytest.mark.parametrize("order", ORDERS)
def test_ordering_leaves_its_input_as_it_was(order: PropertyOrder) -> None:
    """TC-008: a shared schema must not be damaged for the next target."""
    schema: JsonObject = {
        "required": ["b", "a"],
        "properties": {"b": {"required": [], "default": {"z": 1, "y": 2}}, "a": BACKWARDS},
        "$schema": "s",
        "dependentRequired": {"b": ["z", "a"]},
    }
    before = copy.deepcopy(schema)
    order_root_schema(schema, order)
    assert before == schema
    assert encode(before) == encode(schema)


def test_ordering_is_idempotent_and_forgets_the_order_of_keyword_keys() -> None:
    """The order in which a generator wrote its keywords carries no meaning."""
    members: list[tuple[str, JsonValue]] = [
        ("type", "object"),
        ("required", ["b", "a"]),
        ("properties", {"b": BACKWARDS, "a": True}),
        ("$defs", {"z": {}, "y": {}}),
    ]
    for order in ORDERS:
        texts = {text(dict(permuted), order) for permuted in itertools.permutations(members)}
        assert 1 == len(texts)
        assert texts == {text(order_schema(dict(members), order), order)}


def test_data_is_the_same_value_in_both_orders() -> None:
    """Annotations are data: `sorted` sorts their keys at every depth and leaves arrays alone."""
    value: JsonValue = {"b": [2, {"d": 1, "c": [{"f": 1, "e": 2}]}], "a": "x"}
    assert encode(value) == encode(order_data(value, "declared"))
    assert b'{"a":"x","b":[2,{"c":[{"e":2,"f":1}],"d":1}]}' == encode(order_data(value, "sorted"))


# ------------------------------------------------------------------------------------------------------- walking


def test_walking_yields_every_schema_with_its_pointer_in_document_order() -> None:
    """Rules report where a schema stands, so the pointer must lead there."""
    schema: JsonObject = {
        "properties": {"b": {"items": {"type": "string"}}, "properties": {"not": {}}, "flag": True},
        "allOf": [{"if": {}, "then": {}}, True],
        "items": [{"title": "first"}, {"title": "second"}],
        "default": {"properties": {"not": {}}},
        "enum": [{"items": {}}],
        "x-unknown": {"items": {}},
        "dependentRequired": {"a": ["b"]},
        "$defs": {"d": {}},
    }
    assert [
        (),
        ("properties", "b"),
        ("properties", "b", "items"),
        ("properties", "properties"),
        ("properties", "properties", "not"),
        ("allOf", 0),
        ("allOf", 0, "if"),
        ("allOf", 0, "then"),
        ("items", 0),
        ("items", 1),
        ("$defs", "d"),
    ] == [pointer for pointer, _ in walk_schemas(schema)]


DEPTHS: list[tuple[JsonValue, int]] = [
    ("text", 0),
    (None, 0),
    ({}, 1),
    ([], 1),
    ({"a": 1}, 1),
    ({"a": [{}]}, 3),
    ([[], [[1]], {"a": {}}], 3),
]


@pytest.mark.parametrize(("value", "depth"), DEPTHS)
def test_depth_counts_arrays_and_objects(value: JsonValue, depth: int) -> None:
    """The stated limit is in levels of arrays and objects."""
    assert depth == measure_depth(value)


@pytest.mark.case("TC-069")
def test_two_thousand_levels_are_measured_and_walked_without_recursion() -> None:
    """TC-069: depth is checked before any recursive step."""
    assert 2_000 == measure_depth(chain(2_000, "not"))
    assert 2_000 == sum(1 for _ in walk_schemas(chain(2_000, "not")))
    listed: JsonValue = []
    for _ in range(1_999):
        listed = [listed]
    assert 2_000 == measure_depth(listed)
