from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroster.canonical import JsonObject, JsonValue, encode, parse_json
from toolroster.schemas import SchemaFault, compile_schema, find_dialect, find_schema_faults
from toolroster.schemas.validators import DIALECTS, Backend

BACKENDS: tuple[Backend, ...] = ("jsonschema-rs", "jsonschema")
D04, D06, D07, D19, D20 = (uri + ("#" if uri.startswith("http:") else "") for uri in DIALECTS)
SECRET = "hunter2"  # noqa: S105 - what no message may repeat

INSTANCES = [
    parse_json(text)
    for text in """
    null true false 0 1 5 -3 1.5 1000000000000000000 "" "a" "abc" "bcd" "abcdefghi"
    [] [1] [1,"a"] ["a",1] [1,"a",2] [1,1] [1,2,3,"a",4]
    {} {"a":1} {"a":"x"} {"a":null} {"b":1} {"a":1,"b":2} {"a":1,"b":2,"c":3} {"x/y":1,"~":2} {"a":{"b":{"c":1}}} {"a":{}}
    {"a":[1,{"b":"s"}]} {"a":1,"zz":[],"_h":1} {"x":"a","y":2} {"enum":1,"required":[2]}
    """.split()  # noqa: SIM905 - JSON, as one would write it
]

EVERYWHERE: tuple[JsonObject, ...] = (
    {},
    {"type": "string"},
    {"type": ["string", "null"]},
    {"type": "integer"},
    {"type": "number"},
    {"enum": [1, "a"]},
    {"minimum": 3},
    {"maximum": 3},
    {"multipleOf": 2},
    {"minLength": 2},
    {"maxLength": 2},
    {"pattern": "^b"},
    {"minItems": 2},
    {"maxItems": 1},
    {"uniqueItems": True},
    {"minProperties": 1},
    {"maxProperties": 1},
    {"required": ["a", "b"]},
    {"properties": {"a": {"type": "integer"}}, "additionalProperties": False},
    {"additionalProperties": False},
    {"additionalProperties": {"type": "string"}},
    {"patternProperties": {"^a": {"type": "string"}}, "additionalProperties": False},
    {"properties": {"a": {}}, "patternProperties": {"^[xy]": {"type": "integer"}}, "additionalProperties": {"type": "array"}},
    {"anyOf": [{"type": "string"}, {"type": "null"}]},
    {"oneOf": [{"type": "integer"}, {"type": "number"}]},
    {"allOf": [{"type": "object"}, {"required": ["a"]}]},
    {"not": {"type": "object"}},
    {"not": {}},
    {"items": {"type": "integer"}},
    {"properties": {"a": {"$ref": "#/definitions/x"}}, "definitions": {"x": {"type": "string"}}},
    {"properties": {"a": {"properties": {"b": {"required": ["d"]}}, "required": ["b"], "additionalProperties": False}}},
    {"properties": {"a": {"items": {"type": "string"}}}},
    {"properties": {"x/y": {"type": "string"}, "~": {"type": "string"}}},
    {"properties": {"required": {"type": "string"}, "enum": {}, "a": {"type": "null"}}, "required": ["required"]},
    {"format": "email"},
)
SINCE_06: tuple[JsonObject, ...] = (
    {"const": {"a": 1}},
    {"const": None},
    {"exclusiveMinimum": 3},
    {"exclusiveMaximum": 3},
    {"contains": {"type": "string"}},
    {"propertyNames": {"pattern": "^a"}},
    {"propertyNames": False},
    {"properties": {"a": False}},
    {"properties": {"enum": False}},
    {"patternProperties": {"a": False}},
    {"items": False},
    {"allOf": [False]},
    {"anyOf": [False]},
    {"allOf": [True, {"properties": {"a": False}}]},
    {"$ref": "#/definitions/n", "definitions": {"n": False}},
)
UP_TO_07: tuple[JsonObject, ...] = (
    {"dependencies": {"a": ["b"]}},
    {"dependencies": {"a": {"required": ["c"]}}},
    {"items": [{"type": "number"}, {"type": "string"}], "additionalItems": False},
    {"items": [{"type": "number"}], "additionalItems": {"type": "string"}},
)
SINCE_07: tuple[JsonObject, ...] = (
    {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["x"]}},
    {"if": True, "then": False},
)
SINCE_2019: tuple[JsonObject, ...] = (
    {"dependentRequired": {"a": ["b", "c"]}},
    {"dependentSchemas": {"a": {"required": ["c"]}}},
    {"dependentSchemas": {"a": False}},
    {"contains": {"type": "integer"}, "minContains": 2},
    {"contains": {"type": "integer"}, "maxContains": 1},
    {"properties": {"a": {}}, "unevaluatedProperties": False},
    {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
    {"unevaluatedProperties": {"type": "string"}},
    {"unevaluatedItems": False},
    {"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "required": ["b"]}}},
    {"properties": {"a": {"$ref": "#/$defs/n", "minimum": 3}}, "$defs": {"n": {"type": "integer"}}},
    {"$defs": {"n": {"$anchor": "q", "type": "string"}}, "properties": {"a": {"$ref": "#q"}}},
)
ONLY_HERE: tuple[JsonObject, ...] = (
    {"$schema": D04, "minimum": 3, "exclusiveMinimum": True},
    {"$schema": D04, "maximum": 1, "exclusiveMaximum": True},
    {"$schema": D19, "items": [{"type": "number"}], "additionalItems": False},
    {"$schema": D19, "$recursiveAnchor": True, "type": "object", "properties": {"a": {"$recursiveRef": "#"}}},
    {"$schema": D20, "prefixItems": [{"type": "number"}, {"type": "string"}], "items": False},
    {"$schema": D20, "prefixItems": [{"type": "number"}], "items": {"type": "string"}},
    {"$schema": D20, "prefixItems": [{"type": "number"}], "unevaluatedItems": False},
    {"$schema": D20, "$dynamicRef": "#n", "$defs": {"x": {"$dynamicAnchor": "n", "type": "string"}}},
    {"prefixItems": [{"type": "number"}, {"type": "string"}], "items": False},
    {"anyOf": [{"$ref": "#/$defs/s"}], "$defs": {"s": {"type": "string"}}},
)


def list_table() -> Iterator[JsonObject]:
    """Yield every schema of the table, each group in the dialects that know its keywords."""
    groups = (
        (EVERYWHERE, (D04, D06, D07, D19, D20)),
        (SINCE_06, (D06, D07, D19, D20)),
        (UP_TO_07, (D04, D06, D07)),
        (SINCE_07, (D07, D19, D20)),
        (SINCE_2019, (D19, D20)),
    )
    for schemas, dialects in groups:
        yield from ({"$schema": dialect, **schema} for schema in schemas for dialect in dialects)
    yield from ONLY_HERE


TABLE = tuple(list_table())


def name_schema(schema: JsonObject) -> str:
    """Return a short id of a schema: the end of its dialect, and the rest."""
    rest = encode({key: value for key, value in schema.items() if key != "$schema"}).decode()
    return f"{str(schema.get('$schema', 'none')).removesuffix('/schema')[-9:]} {rest[:60]}"


def faults_of(schema: JsonObject, instance: JsonValue, backend: Backend | None = None) -> tuple[SchemaFault, ...]:
    """Return the faults of an instance."""
    return compile_schema(schema, backend).find_faults(instance)


# ----------------------------------------------------------------------------------------------------- agreement


@pytest.mark.parametrize("schema", TABLE, ids=name_schema)
def test_both_libraries_find_the_same_faults(schema: JsonObject) -> None:
    """Issue 4: jsonschema-rs when installed, jsonschema as reference; a caller can't tell which."""
    assert () == find_schema_faults(schema)
    fast, reference = (compile_schema(schema, backend) for backend in BACKENDS)

    assert [fast.find_faults(instance) for instance in INSTANCES] == [reference.find_faults(instance) for instance in INSTANCES]


def test_the_table_has_a_valid_and_an_invalid_instance_for_nearly_every_schema() -> None:
    """A table on which everything is valid would prove nothing."""
    always = {"{}", '{"format":"email"}'}
    for schema in TABLE:
        validator = compile_schema(schema)
        rest: JsonObject = {key: value for key, value in schema.items() if key != "$schema"}
        found = {not validator.find_faults(instance) for instance in INSTANCES}
        assert (False in found) is (encode(rest).decode() not in always), rest


LEAF_SCHEMAS: list[JsonObject] = [
    {"type": "string"},
    {"type": "string", "minLength": 1, "maxLength": 2},
    {"type": "string", "pattern": "^a"},
    {"type": "integer", "minimum": 0},
    {"type": ["number", "null"], "exclusiveMaximum": 2},
    {"type": "boolean"},
    {"enum": ["a", 1, None]},
    {"anyOf": [{"type": "integer"}, {"type": "null"}]},
]
NAMES = st.sampled_from("abcd")
LEAVES: st.SearchStrategy[JsonValue] = st.sampled_from([None, True, False, 0, 1, -1, 1.5, "", "a", "ab", "abc"])
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4)
)


@st.composite
def object_schemas(draw: st.DrawFn, depth: int = 2) -> JsonObject:
    """Return a schema of an object with members of the kinds that tools have."""
    schema: JsonObject = {"type": "object"}
    names = draw(st.lists(NAMES, unique=True, max_size=3))
    schema["properties"] = {name: draw(member_schemas(depth - 1)) for name in names}
    if draw(st.booleans()):
        schema["required"] = [*draw(st.lists(NAMES, unique=True, min_size=1, max_size=2))]
    if draw(st.booleans()):
        schema["additionalProperties"] = draw(st.booleans() | member_schemas(depth - 1))
    return schema


@st.composite
def member_schemas(draw: st.DrawFn, depth: int) -> JsonObject:
    """Return a schema of a member: a leaf, an array or an object."""
    kind = draw(st.sampled_from(["leaf", "array", "object"] if depth > 0 else ["leaf"]))
    if kind == "object":
        return draw(object_schemas(depth))
    if kind == "array":
        return {"type": "array", "items": draw(member_schemas(depth - 1)), "minItems": draw(st.integers(0, 1))}
    return draw(st.sampled_from(LEAF_SCHEMAS))


@given(object_schemas(), st.dictionaries(NAMES, VALUES, max_size=4) | VALUES)
def test_both_libraries_agree_on_made_up_object_schemas(schema: JsonObject, instance: JsonValue) -> None:
    """Issue 4: on typed object schemas, as tools have them, no call passes one library and fails the other."""
    assert () == find_schema_faults(schema)

    assert faults_of(schema, instance, "jsonschema-rs") == faults_of(schema, instance, "jsonschema")


# ------------------------------------------------------------------------------------------------------ dialects

TUPLE_07: JsonObject = {
    "type": "object",
    "properties": {"p": {"type": "array", "items": [{"type": "number"}, {"type": "string"}], "additionalItems": False}},
}
TUPLE_20: JsonObject = {
    "type": "object",
    "properties": {"p": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "items": False}},
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "schema", [{"$schema": D07, **TUPLE_07}, {"$schema": D20, **TUPLE_20}, TUPLE_20], ids=["07", "2020-12", "none"]
)
def test_a_schema_is_read_in_the_dialect_that_it_names(schema: JsonObject, backend: Backend) -> None:
    """TC-041: T7, T20 and T0 give valid, invalid, invalid."""
    instances: tuple[JsonValue, ...] = ({"p": [1, "a"]}, {"p": ["a", 1]}, {"p": [1, "a", 2]})

    assert [True, False, False] == [not faults_of(schema, instance, backend) for instance in instances]


@pytest.mark.parametrize("uri", [uri + tail for uri in DIALECTS for tail in ("", "#")])
def test_a_dialect_is_known_with_and_without_its_empty_fragment(uri: str) -> None:
    """Both spellings are common in the wild."""
    assert DIALECTS[uri.removesuffix("#")] == find_dialect({"$schema": uri})


@pytest.mark.parametrize("said", ["https://example.test/draft-99", "", "draft-07", 7, None, ["x"]])
def test_an_unknown_dialect_is_never_skipped_over(said: JsonValue) -> None:
    """TC-041, TX: an error when the schema is loaded, not a guard that is missing when it is called."""
    schema: JsonObject = {"$schema": said}

    assert None is find_dialect(schema)
    with pytest.raises(ValueError, match="not known"):
        compile_schema(schema)
    with pytest.raises(ValueError, match="not known"):
        find_schema_faults(schema)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_list_of_items_without_its_dialect_is_a_fault_of_the_schema(backend: Backend) -> None:
    """TC-041, T7 without `$schema`: refused at load at `/properties/p/items`."""
    faults = find_schema_faults(TUPLE_07, backend)

    assert ["/properties/p/items"] == [fault.pointer for fault in faults]


def test_a_schema_without_a_dialect_is_one_of_2020_12() -> None:
    """MCP SEP-1613 makes it the default."""
    assert "Draft202012Validator" == find_dialect({})


# -------------------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_fault_names_the_place_the_keyword_and_what_is_expected(backend: Backend) -> None:
    """Issue 4: the path of the fault, without the value; missing members are named where they should stand."""
    schema: JsonObject = {
        "type": "object",
        "required": ["id", "name"],
        "properties": {
            "id": {"type": "string"},
            "n": {"type": ["integer", "null"]},
            "kind": {"enum": ["md", "txt"]},
            "list": {"type": "array", "items": {"minimum": 3}},
            "never": False,
        },
        "additionalProperties": False,
    }
    instance: JsonValue = {"n": "x", "kind": "pdf", "list": [5, 1], "never": 1, "a/b": 1}

    assert (
        SchemaFault("/a~1b", "additionalProperties", "unexpected; allowed are id, kind, list, n, never"),
        SchemaFault("/id", "required", "required, but missing"),
        SchemaFault("/kind", "enum", 'must satisfy enum ["md","txt"]'),
        SchemaFault("/list/1", "minimum", "must satisfy minimum 3"),
        SchemaFault("/n", "type", "expected integer or null"),
        SchemaFault("/name", "required", "required, but missing"),
        SchemaFault("/never", "false", "nothing is allowed here"),
    ) == faults_of(schema, instance, backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_long_values_of_keywords_are_left_out_of_messages(backend: Backend) -> None:
    """A message is read by a model, and paid for."""
    schema: JsonObject = {"enum": [f"choice-{number}" for number in range(1_000)]}

    assert (SchemaFault("", "enum", "must satisfy enum"),) == faults_of(schema, "x", backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("schema", TABLE, ids=name_schema)
def test_no_fault_repeats_a_value_of_the_instance(schema: JsonObject, backend: Backend) -> None:
    """TC-039: error text does not echo argument values."""
    instances: tuple[JsonValue, ...] = (
        SECRET,
        [SECRET, SECRET],
        {"a": SECRET, "b": [SECRET], "zz": {"c": SECRET}},
        {"a": {"b": SECRET}},
        {"x": SECRET, "required": [SECRET]},
    )
    validator = compile_schema(schema, backend)

    assert SECRET not in repr([validator.find_faults(instance) for instance in instances])


@pytest.mark.parametrize("backend", BACKENDS)
def test_finding_faults_changes_neither_schema_nor_instance(backend: Backend) -> None:
    """A validator is asked about the very arguments that the tool then gets."""
    schema: JsonObject = {"type": "object", "properties": {"a": False, "b": {"items": False}}}
    instance: JsonValue = {"a": 1, "b": [1]}
    before = encode(schema), encode(instance)

    faults_of(schema, instance, backend)

    assert before == (encode(schema), encode(instance))


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_can_t_be_judged_is_not_valid(backend: Backend) -> None:
    """A validator that gives up must refuse: the reference recurses many frames a level."""
    steps: JsonObject = {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}}
    for _ in range(4):
        steps = {"allOf": [{"anyOf": [steps, {"type": "integer"}]}]}
    schema: JsonObject = {"$defs": {"n": steps}, "$ref": "#/$defs/n"}
    deep: JsonObject = {"a": "x"}
    for _ in range(120):
        deep = {"a": deep}

    assert faults_of(schema, deep, backend)


# ------------------------------------------------------------------------------------------------------ patterns


@pytest.mark.parametrize("pattern", ["^(?!x)", "(?<=a)b", r"(a)\1"])
def test_a_pattern_with_look_around_falls_back_to_the_reference(pattern: str) -> None:
    """The linear engine has no look-around and no back-references; the guard is kept all the same."""
    schema: JsonObject = {"properties": {"a": {"type": "string", "pattern": pattern}}}

    assert () == find_schema_faults(schema)
    with pytest.raises(ValueError, match="pattern"):
        compile_schema(schema, "jsonschema-rs")
    assert faults_of(schema, {"a": "x"}, "jsonschema") == faults_of(schema, {"a": "x"})
    assert faults_of(schema, {"a": "x"})
    assert not faults_of(schema, {"a": "aab"})


def test_a_pattern_that_only_the_quick_library_reads_is_no_fault_where_it_is_installed() -> None:
    r"""Python's own engine knows no `\p{…}`, which ECMA-262 has."""
    schema: JsonObject = {"pattern": r"^\p{L}+$"}

    assert () == find_schema_faults(schema)
    assert () == faults_of(schema, "é")
    assert faults_of(schema, "1")
    assert ["/pattern"] == [fault.pointer for fault in find_schema_faults(schema, "jsonschema")]
    with pytest.raises(ValueError, match="/pattern"):
        compile_schema(schema, "jsonschema")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"pattern": "("}, "/pattern"),
        ({"properties": {"a": {"pattern": "a{2,1}"}}}, "/properties/a/pattern"),
        ({"patternProperties": {"^(": {}}}, "/patternProperties/^("),
        ({"items": {"patternProperties": {"/[": {}}}}, "/items/patternProperties/~1["),
    ],
)
def test_a_pattern_that_no_library_reads_is_a_fault_of_the_schema(schema: JsonObject, pointer: str, backend: Backend) -> None:
    """Without this the first call would crash instead of the check."""
    assert [(pointer, "pattern")] == [(fault.pointer, fault.keyword) for fault in find_schema_faults(schema, backend)]


def test_two_patterns_that_no_one_library_reads_together_are_a_fault() -> None:
    """One engine has to compile the whole schema."""
    schema: JsonObject = {"properties": {"a": {"pattern": r"\p{L}"}, "b": {"pattern": "(?=x)"}}}

    assert ["/properties/a/pattern"] == [fault.pointer for fault in find_schema_faults(schema)]


def test_an_evil_pattern_takes_no_time() -> None:
    """facts/lifecycle.md section 4: 28 characters held the reference for 50 seconds."""
    schema: JsonObject = {"type": "string", "pattern": "^(a+)+$"}

    assert () != faults_of(schema, "a" * 10_000 + "!")


# ---------------------------------------------------------------------------------------------------- references


@pytest.fixture
def nobody() -> Iterator[socket.socket]:
    """Yield a listening socket of this machine, on which nobody should ever call."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        yield server


def references(target: str) -> tuple[JsonObject, ...]:
    """Return schemas that refer to a target in every way that there is."""
    return (
        {"$ref": target},
        {"$schema": D04, "properties": {"a": {"$ref": target}}},
        {"$schema": D07, "properties": {"a": {"$ref": target}}},
        {"$schema": D19, "$recursiveRef": target},
        {"$dynamicRef": target},
        {"$id": "http://example.test/a", "properties": {"a": {"allOf": [{"$ref": target}]}}},
    )


@pytest.mark.parametrize("number", range(len(references(""))))
@pytest.mark.parametrize("backend", BACKENDS)
def test_nothing_is_ever_fetched(nobody: socket.socket, number: int, backend: Backend) -> None:
    """TC-068: both libraries fetch by default; a server's schema could make the agent's machine call anywhere."""
    schema = references(f"http://127.0.0.1:{nobody.getsockname()[1]}/schema.json")[number]

    assert "leads out of the schema" in find_schema_faults(schema, backend)[0].expectation
    try:
        compile_schema(schema, backend).find_faults({"a": 1})
    except ValueError as error:
        assert "retriev" in str(error).lower()  # noqa: PT017 - whether it fails at once or when asked is the library's matter
    with pytest.raises(BlockingIOError):
        nobody.accept()


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "other.json", "//127.0.0.1/x", "https://json-schema.org/draft/2020-12/schema"]
)
@pytest.mark.parametrize("backend", BACKENDS)
def test_every_reference_out_of_the_schema_is_a_fault(target: str, backend: Backend) -> None:
    """TC-068: files and even the dialects' own documents are outside."""
    for schema in references(target):
        assert "leads out of the schema" in find_schema_faults(schema, backend)[0].expectation


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("target", ["#/$defs/nope", "#nope", "#/properties/0", "#/allOf/7"])
def test_a_reference_to_nowhere_is_a_fault_of_the_schema(target: str, backend: Backend) -> None:
    """It would crash the first call."""
    schema: JsonObject = {"properties": {"a": {"$ref": target}}, "allOf": [{}]}

    assert ["/properties/a/$ref"] == [fault.pointer for fault in find_schema_faults(schema, backend)]


@pytest.mark.parametrize(
    "target", ["#", "#/$defs/x", "#x", "#/$defs/a~1b", "#/$defs/c%20d", "#/allOf/0", "http://example.test/root"]
)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_reference_inside_the_schema_is_no_fault(target: str, backend: Backend) -> None:
    """Every spelling of a place inside is understood."""
    schema: JsonObject = {
        "$id": "http://example.test/root",
        "properties": {"a": {"$ref": target}},
        "allOf": [{}],
        "$defs": {"x": {"$anchor": "x"}, "a/b": {}, "c d": {}},
    }

    assert () == find_schema_faults(schema, backend)
    assert () == faults_of(schema, {"a": {}}, backend)


@pytest.mark.parametrize(
    "schema",
    [
        {"$id": "http://example.test/a", "properties": {"a": {"$ref": "http://example.test/a#/nope"}}},
        {"properties": {"a": {"$id": "http://example.test/a", "$ref": "#/$defs/q"}}, "$defs": {"q": {}}},
        {"$ref": "#/properties/a/x", "properties": {"a": {"x": 3}}},
    ],
)
def test_a_reference_that_only_the_compiler_can_follow_is_found_by_compiling(schema: JsonObject) -> None:
    """A base URI moves what a reference means; whoever can't follow it refuses every call."""
    assert find_schema_faults(schema, "jsonschema-rs")
    assert faults_of(schema, {"a": {"b": 1}}, "jsonschema")


# ------------------------------------------------------------------------------------------------ faulty schemas

FAULTY: tuple[tuple[JsonObject, list[str]], ...] = (
    ({"type": "objekt"}, ["/type"]),
    ({"type": ["object", 1]}, ["/type"]),
    ({"properties": []}, ["/properties"]),
    ({"properties": {"a": 3}}, ["/properties/a"]),
    ({"required": "a"}, ["/required"]),
    ({"required": ["a", "a"]}, ["/required"]),
    ({"required": [1]}, ["/required/0"]),
    ({"minLength": -1}, ["/minLength"]),
    ({"multipleOf": 0}, ["/multipleOf"]),
    ({"enum": {}}, ["/enum"]),
    ({"$ref": 1}, ["/$ref"]),
    ({"pattern": 1}, ["/pattern"]),
    ({"anyOf": []}, ["/anyOf"]),
    ({"additionalProperties": "no"}, ["/additionalProperties"]),
    ({"title": None}, ["/title"]),
    ({"properties": {"a": {"type": "strin"}, "b": {"minimum": "x"}}}, ["/properties/a/type", "/properties/b/minimum"]),
    ({"$schema": D04, "required": []}, ["/required"]),
    ({"$schema": D04, "exclusiveMinimum": 3}, ["", "/exclusiveMinimum"]),
    ({"$schema": D07, "items": 3}, ["/items"]),
    ({"$schema": D07, "dependencies": {"a": 1}}, ["/dependencies/a"]),
)


@pytest.mark.parametrize(("schema", "pointers"), FAULTY, ids=lambda given: encode(given).decode()[:60])
def test_every_fault_of_a_schema_is_found_and_the_same_with_either_library(schema: JsonObject, pointers: list[str]) -> None:
    """Design.md section 9: all findings are gathered, and what is installed changes none of them."""
    assert pointers == sorted({fault.pointer for fault in find_schema_faults(schema, "jsonschema")})
    assert find_schema_faults(schema, "jsonschema") == find_schema_faults(schema, "jsonschema-rs")


@given(
    object_schemas(),
    st.sampled_from(["type", "required", "properties", "minLength"]),
    st.sampled_from([None, 1.5, "x", [1], True]),
)
def test_both_libraries_agree_on_the_form_of_made_up_schemas(schema: JsonObject, keyword: str, value: JsonValue) -> None:
    """A schema that one library takes is taken with the other, too."""
    changed = {**schema, keyword: value}

    assert find_schema_faults(changed, "jsonschema-rs") == find_schema_faults(changed, "jsonschema")
