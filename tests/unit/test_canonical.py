from __future__ import annotations

import enum
import math
from collections import OrderedDict
from pathlib import Path
from types import MappingProxyType

import pytest

from toolroster.canonical import (
    MAX_DEPTH,
    JsonValue,
    copy_json,
    copy_object,
    digest,
    encode,
    encode_sorted,
    find_instabilities,
    parse_json,
    read_json,
    read_toml,
    write_float,
    write_line,
    write_pointer,
    write_pretty,
)
from toolroster.diagnostics import Anchor, Fault
from toolroster.errors import UnstableValueError

PROBE_GOLDEN = Path(__file__).parent / "probe.golden"


def nest(levels: int) -> JsonValue:
    """Return `levels` objects, each inside the one before."""
    value: JsonValue = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


PROBE: JsonValue = {
    "escapes": '" \\ / \b \f \n \r \t',
    "controls": "".join(map(chr, range(0x20))) + "\x7f\x80\x9f",
    "separators": "\u2028\u2029",
    "emoji": "😀 👨‍👩‍👧 🏴󠁧󠁢󠁳󠁣󠁴󠁿",
    "accents": "caf\u00e9 cafe\u0301",
    "noncharacters": "\ufeff\uffff\U0010ffff",
    "markup": "<script>&amp;</script> \u00a0",
    "東京": "non-ASCII key",
    '\n"\\': "escaped key",
    "": "empty key",
    "ordinals": {"\U0001f600": 1, "\uffff": 2, "a": 3, "Z": 4, "_": 5},
    "floats": [1e16, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, -0.0, 1.5, 0.1, -2.5e-8, 1e22, 123456789.125],
    "whole floats": [1.0, -3.0, 9007199254740991.0, 9007199254740992.0],
    "integers": [0, -1, 2**53, 2**63, -(2**63), 2**64 - 1],
    "literals": [True, False, None],
    "empty": [{}, [], "", [[]], [{}], {"": {}}],
    "deep": nest(MAX_DEPTH - 1),
}
"""One level below the limit goes to the object around it."""


def shorten(value: object) -> str | None:
    """Return a short name of a parameter that holds bytes: some of them are very long."""
    return repr(value)[:32] if isinstance(value, bytes) else None


def rules(faults: tuple[Fault, ...]) -> list[str]:
    """Return the rule names of some faults."""
    return [fault.rule for fault in faults]


def positions(faults: tuple[Fault, ...]) -> list[tuple[int, int] | int | None]:
    """Return what places each fault in a text without structure: line and column, or offset."""
    return [fault.anchor.line_column or fault.anchor.offset for fault in faults]


# ------------------------------------------------------------------------------------------------ writing floats


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-1.0, "-1"),
        (1.5, "1.5"),
        (0.1, "0.1"),
        (0.1 + 0.2, "0.30000000000000004"),
        (100.0, "100"),
        (123456789.125, "123456789.125"),
        (333333333.33333329, "333333333.3333333"),
        (1e16, "10000000000000000"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e20, "100000000000000000000"),
        (999999999999999900000.0, "999999999999999900000"),
        (1e21, "1e+21"),
        (1.5e21, "1.5e+21"),
        (-1.5e21, "-1.5e+21"),
        (1e22, "1e+22"),
        (1e100, "1e+100"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (9007199254740993.0, "9007199254740992"),
        (1e-6, "0.000001"),
        (1.5e-6, "0.0000015"),
        (-1e-6, "-0.000001"),
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (1e-100, "1e-100"),
        (5e-324, "5e-324"),
        (-5e-324, "-5e-324"),
        (2.2250738585072014e-308, "2.2250738585072014e-308"),
        (4.35, "4.35"),
        (0.00001234, "0.00001234"),
    ],
)
def test_floats_are_written_in_ecmascripts_shortest_form(value: float, text: str) -> None:
    """ECMA-262 Number::toString is the form of RFC 8785; design.md section 7 asks for it."""
    assert text == write_float(value)
    assert value == float(text)


def test_encoded_floats_are_the_same_text_at_any_depth() -> None:
    """Design.md section 7: one encoder for everything, so no container has a float text of its own."""
    assert b'{"a":[1e-7,{"b":1e+21}],"c":10000000000000000}' == encode({"a": [1e-7, {"b": 1e21}], "c": 1e16})


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (1.0, b"1"),
        (-0.0, b"0"),
        (9007199254740991.0, b"9007199254740991"),
        (-9007199254740991.0, b"-9007199254740991"),
        (9007199254740992.0, b"9007199254740992"),
        (2**64 - 1, b"18446744073709551615"),
        (-(2**63), b"-9223372036854775808"),
    ],
)
def test_whole_floats_become_integers_and_integers_keep_64_bits(value: JsonValue, data: bytes) -> None:
    """Design.md section 7: below 2**53 a whole float is an integer, and -0.0 is 0."""
    assert data == encode(value)


# ------------------------------------------------------------------------------------------------------ encoding


def test_awkward_values_give_the_committed_bytes() -> None:
    """Style guide 2.5: a serializer upgrade that changes a byte fails here first."""
    assert PROBE_GOLDEN.read_bytes() == encode(PROBE)


def test_the_committed_bytes_read_back_to_the_awkward_values() -> None:
    """The golden is JSON and says what the probe says, so it can't pin a wrong encoding."""
    reading = read_json("probe.golden", PROBE_GOLDEN.read_bytes())
    assert () == reading.faults
    assert copy_json(PROBE) == reading.value
    assert reading.value == parse_json(PROBE_GOLDEN.read_bytes())


def test_encoding_writes_no_space_no_newline_and_no_needless_escape() -> None:
    """Design.md section 7: UTF-8, `,` and `:` without spaces, no escapes beyond those that JSON needs."""
    value: JsonValue = {"b": [1, 2], "a": "caf\u00e9/<\u2028>\x7f\n\x01"}
    assert b'{"b":[1,2],"a":"caf\xc3\xa9/<\xe2\x80\xa8>\x7f\\n\\u0001"}' == encode(value)


def test_encode_keeps_the_order_of_keys_and_encode_sorted_sorts_them_by_code_point() -> None:
    """Sorting is by code point: neither by locale nor by UTF-16 unit, where U+1F600 would stand before U+FFFF."""
    value: JsonValue = {"b": 1, "\U0001f600": 2, "\uffff": 3, "B": {"z": [{"y": 1, "x": 2}], "_": 0}}
    assert '{"b":1,"\U0001f600":2,"\uffff":3,"B":{"z":[{"y":1,"x":2}],"_":0}}'.encode() == encode(value)
    assert '{"B":{"_":0,"z":[{"x":2,"y":1}]},"b":1,"\uffff":3,"\U0001f600":2}'.encode() == encode_sorted(value)


def test_catalog_files_are_written_with_two_spaces_and_a_final_newline() -> None:
    """A catalog file is read by people: indented, UTF-8, keys in the order they stand."""
    assert '{\n  "b": "é",\n  "a": [\n    1\n  ]\n}\n'.encode() == write_pretty({"b": "é", "a": [1.0]})


def test_a_json_line_is_the_encoders_text() -> None:
    """`--format json` prints one object a line, by the one encoder."""
    assert '{"b":1,"a":"\u2028"}' == write_line({"b": 1, "a": "\u2028"})


def test_a_digest_is_the_sha256_of_the_bytes_in_lower_case_hex() -> None:
    """FIPS 180-4 gives the digest of no bytes."""
    assert "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" == digest(b"")


# ------------------------------------------------------------------------------------------------ copying values


def test_whole_floats_become_integers_only_where_both_are_exact() -> None:
    """Past 2**53 neighbouring integers share one float, so which was meant is unknown."""
    copied = copy_json([3.0, -0.0, 2.0**53 - 1, 2.0**53, -(2.0**53), 1.5])
    assert isinstance(copied, list)
    assert [int, int, int, float, float, float] == [type(item) for item in copied]


class Colour(enum.StrEnum):
    """A string that is not exactly a `str`."""

    RED = "red"


class Level(enum.IntEnum):
    """An integer that is not exactly an `int`."""

    HIGH = 3


def test_copies_are_plain_and_share_nothing_with_what_was_copied() -> None:
    """A definition keeps copies, so that nothing outside can change its bytes."""
    given: dict[str, object] = {
        "mapping": MappingProxyType({"b": 1, "a": 2}),
        "ordered": OrderedDict(z=(1, [2]), y=None),
        "colour": Colour.RED,
        "level": Level.HIGH,
        "whole": 3.0,
    }
    copied = copy_object(given)
    assert {
        "mapping": {"b": 1, "a": 2},
        "ordered": {"z": [1, [2]], "y": None},
        "colour": "red",
        "level": 3,
        "whole": 3,
    } == copied
    assert [dict, dict, str, int, int] == [type(item) for item in copied.values()]
    assert ["b", "a"] == list(copied["mapping"] if isinstance(copied["mapping"], dict) else ())
    assert given["mapping"] is not copied["mapping"]


@pytest.mark.parametrize(
    ("value", "pointer", "reason"),
    [
        ({"enum": {"x"}}, "/enum", "set is not a JSON type"),
        ({"default": frozenset({"x"})}, "/default", "frozenset is not a JSON type"),
        ({"a": [0, b"raw"]}, "/a/1", "bytes is not a JSON type"),
        ({"a": {"b": object()}}, "/a/b", "object is not a JSON type"),
        ({"a": {1: "one"}}, "/a", "key 1 is not a string"),
        ({None: 1}, "", "key None is not a string"),
        ({"a/b": {"c~d": "\ud800"}}, "/a~1b/c~0d", "lone surrogate U+D800"),
        (["x\udfff"], "/0", "lone surrogate U+DFFF"),
        ({"a": math.nan}, "/a", "nan is not a JSON number"),
        ({"a": -math.inf}, "/a", "-inf is not a JSON number"),
        (2**64, "", "integer past 64 bits"),
        ([-(2**63) - 1], "/0", "integer past 64 bits"),
        pytest.param(10**5000, "", "integer past 64 bits", id="thousands of digits"),
    ],
)
def test_values_without_a_stable_json_text_are_refused_with_a_pointer(value: object, pointer: str, reason: str) -> None:
    """Design.md section 7: errors with a JSON pointer; the standard encoder would write, guess or drop."""
    with pytest.raises(UnstableValueError) as caught:
        copy_json(value)
    assert ((pointer, reason),) == caught.value.problems
    assert pointer == caught.value.json_pointer


def test_a_surrogate_in_a_key_is_refused() -> None:
    """A lone surrogate has no UTF-8 form, in a key as little as in a value."""
    with pytest.raises(UnstableValueError) as caught:
        copy_json({"\ud800": 1})
    assert (("/\ud800", "lone surrogate U+D800"),) == caught.value.problems


def test_every_place_at_fault_is_named_in_document_order() -> None:
    """One run tells everything that has to be mended."""
    found = find_instabilities({"b": math.nan, "a": [{"x"}, {"c": b""}], "d": 1})
    assert (
        (("b",), "nan is not a JSON number"),
        (("a", 0), "set is not a JSON type"),
        (("a", 1, "c"), "bytes is not a JSON type"),
    ) == found


def test_the_encoders_refuse_what_has_no_stable_text() -> None:
    """TC-025: no output has NaN, Infinity, or a null that replaced one."""
    for write in (encode, encode_sorted, write_pretty):
        with pytest.raises(UnstableValueError, match=r"/a: nan is not a JSON number"):
            write({"a": math.nan})


def test_only_a_mapping_is_an_object() -> None:
    """A schema must be an object; its copy says so when it is none."""
    with pytest.raises(UnstableValueError, match="the value: list is not an object"):
        copy_object([1])


def test_values_nest_to_the_limit_and_not_past_it() -> None:
    """The depth is counted on the way down, so that no input can exhaust the stack."""
    assert nest(MAX_DEPTH) == copy_json(nest(MAX_DEPTH))
    with pytest.raises(UnstableValueError, match=f"nested deeper than {MAX_DEPTH} levels"):
        copy_json(nest(MAX_DEPTH + 1))
    with pytest.raises(UnstableValueError, match=f"nested deeper than {MAX_DEPTH} levels"):
        copy_json(nest(100_000))


def test_a_value_that_holds_itself_is_refused() -> None:
    """A cycle is endless nesting."""
    cycle: list[object] = []
    cycle.append(cycle)
    with pytest.raises(UnstableValueError, match="nested deeper"):
        copy_json(cycle)


def test_pointers_are_written_as_rfc_6901_asks() -> None:
    """RFC 6901 section 3: `~` is `~0` and `/` is `~1`."""
    assert "" == write_pointer(())
    assert "/a~1b/c~0d/0/" == write_pointer(("a/b", "c~d", 0, ""))


# -------------------------------------------------------------------------------------------------- reading JSON


@pytest.mark.parametrize(
    ("data", "rule", "position"),
    [
        (b"\xef\xbb\xbf{}", "invalid-syntax", 0),
        (b'{"a":\n "\xff"}', "invalid-syntax", (2, 3)),
        (b'"\xed\xa0\x80"', "invalid-syntax", (1, 2)),
        ("é\n東".encode() + b"\xc3", "invalid-syntax", (2, 2)),
        (b"", "invalid-syntax", (1, 1)),
        (b"[1,\n2,]", "invalid-syntax", (2, 2)),
        (b'{"a": 1 ,\n }', "invalid-syntax", (1, 9)),
        (b'{"a":1} x', "invalid-syntax", (1, 9)),
        (b"'a'", "invalid-syntax", (1, 1)),
        (b"/**/1", "invalid-syntax", (1, 1)),
        (b'"a\tb"', "invalid-syntax", (1, 3)),
        (b'"' + b"[" * 1000, "invalid-syntax", (1, 1)),
        (b"]" * 1000 + b"[" * 1000, "invalid-syntax", (1, 1)),
        (b"[" * 100_000, "too-deep", MAX_DEPTH),
        (b'{"a":' * 2_000 + b"1" + b"}" * 2_000, "too-deep", 5 * MAX_DEPTH),
    ],
    ids=shorten,
)
def test_a_json_text_that_cant_be_read_gives_one_fault_with_its_place(
    data: bytes, rule: str, position: tuple[int, int] | int
) -> None:
    """Design.md section 9: bad syntax is one finding a file, never a traceback; columns count code points."""
    reading = read_json("x.json", data)
    assert None is reading.value
    assert [rule] == rules(reading.faults)
    assert [position] == positions(reading.faults)


@pytest.mark.parametrize(
    ("data", "rule", "pointer"),
    [
        (b'{"a":[1,NaN]}', "unstable-number", ("a", 1)),
        (b'{"a":-Infinity}', "unstable-number", ("a",)),
        (b'{"a":1e400}', "unstable-number", ("a",)),
        (b'{"a":-1e400}', "unstable-number", ("a",)),
        (b"[18446744073709551616]", "unstable-number", (0,)),
        (b"[-9223372036854775809]", "unstable-number", (0,)),
        (b"[" + b"9" * 5_000 + b"]", "unstable-number", (0,)),
        (b"[-" + b"9" * 5_000 + b"]", "unstable-number", (0,)),
        (b'{"a":"\\ud800"}', "lone-surrogate", ("a",)),
        (b'{"a":"\\udc00\\ud800"}', "lone-surrogate", ("a",)),
    ],
    ids=shorten,
)
def test_numbers_and_strings_that_have_no_stable_text_are_placed_by_pointer(
    data: bytes, rule: str, pointer: tuple[str | int, ...]
) -> None:
    """TC-025: readers elsewhere take these silently and write them back as something else."""
    reading = read_json("x.json", data)
    assert [(rule, Anchor("x.json", pointer))] == [(fault.rule, fault.anchor) for fault in reading.faults]


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b" [1, 2.5, -0.0, 1e2]\n", [1, 2.5, -0.0, 100.0]),
        (b'"\\ud83d\\ude00"', "😀"),
        (b"18446744073709551615", 2**64 - 1),
        (b"-9223372036854775808", -(2**63)),
        (b'"[[[{{{"', "[[[{{{"),
        (b'"\\"[[["', '"[[['),
        (b"null", None),
        (b"5e-324", 5e-324),
    ],
    ids=shorten,
)
def test_good_json_is_read_as_it_stands(data: bytes, value: JsonValue) -> None:
    """Strictness refuses nothing that RFC 8259 allows and that has one meaning."""
    reading = read_json("x.json", data)
    assert () == reading.faults
    assert value == reading.value
    assert data.decode() == reading.text


def test_json_nests_to_the_limit_and_not_past_it() -> None:
    """The limit is stated and exact; brackets inside strings don't count."""
    accepted = b'["[[[[", ' + b"[" * (MAX_DEPTH - 1) + b"]" * (MAX_DEPTH - 1) + b"]"
    assert () == read_json("x.json", accepted).faults
    refused = b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1)
    assert ["too-deep"] == rules(read_json("x.json", refused).faults)


def test_every_duplicate_json_key_is_named_with_both_places() -> None:
    """A reader that takes the last of two keys hides what a reviewer read."""
    data = b'{"a": 1,\n "b": {"c": 1, "c": 2},\n "a": 3}'
    faults = read_json("x.json", data).faults
    assert ["duplicate-key", "duplicate-key"] == rules(faults)
    assert [("b", "c"), ("a",)] == [fault.anchor.pointer for fault in faults]
    assert [data.index(b'"c": 2'), data.rindex(b'"a"')] == [fault.anchor.offset for fault in faults]
    assert [
        "key 'c' stands twice in one object; first at line 2, column 8.",
        "key 'a' stands twice in one object; first at line 1, column 2.",
    ] == [fault.message for fault in faults]


def test_one_key_in_two_objects_is_no_duplicate() -> None:
    """Only one object's own keys can clash."""
    assert () == read_json("x.json", b'[{"a":{"a":1}},{"a":2}]').faults


def test_a_duplicate_key_and_a_bad_number_are_both_named() -> None:
    """Design.md section 9: all faults are gathered."""
    faults = read_json("x.json", b'{"a":1,"a":2,"b":NaN}').faults
    assert ["duplicate-key", "unstable-number"] == rules(faults)


# -------------------------------------------------------------------------------------------------- reading TOML


@pytest.mark.parametrize(
    ("data", "rule", "position"),
    [
        (b"\xef\xbb\xbfa = 1", "invalid-syntax", 0),
        (b"a = 1\nb = '\xff'", "invalid-syntax", (2, 6)),
        (b"a = [1 2]", "invalid-syntax", (1, 8)),
        (b"a = 1\na = 2", "duplicate-key", 11),
        (b"a = 1\na = 2\n", "duplicate-key", (2, 6)),
        (b"[a]\n[a]\n", "duplicate-key", (2, 3)),
        (b"a = {b = 1, b = 2}", "duplicate-key", (1, 18)),
        (b"a.b = 1\na.b.c = 2\n", "duplicate-key", (2, 10)),
        (b"a = 2026-02-31", "invalid-syntax", (1, 5)),
        (b"a = 2026-13-01T00:00:00Z", "invalid-syntax", (1, 9)),
        (b'a = "\\ud800"', "invalid-syntax", (1, 12)),
        (b"a = 1\rb = 2", "invalid-syntax", (1, 6)),
        (b"a =", "invalid-syntax", 3),
        (b"a = " + b"[" * 100_000, "too-deep", 4 + MAX_DEPTH),
        (b"a = " + b"{a=" * 2_000, "too-deep", 4 + 3 * MAX_DEPTH),
    ],
    ids=shorten,
)
def test_a_toml_text_that_cant_be_read_gives_one_fault_with_its_place(
    data: bytes, rule: str, position: tuple[int, int] | int
) -> None:
    """Design.md section 9: bad syntax is one finding a file, never a traceback."""
    reading = read_toml("x.toml", data)
    assert None is reading.value
    assert [rule] == rules(reading.faults)
    assert [position] == positions(reading.faults)


@pytest.mark.parametrize(
    ("data", "rule", "pointer"),
    [
        (b"a = [1, nan]", "unstable-number", ("a", 1)),
        (b"a = -inf", "unstable-number", ("a",)),
        (b"a = 1e400", "unstable-number", ("a",)),
        (b"a = 18446744073709551616", "unstable-number", ("a",)),
        (b"a = 0x1_0000_0000_0000_0000", "unstable-number", ("a",)),
        (b"[t]\na = 2026-02-01", "invalid-value", ("t", "a")),
        (b"a = 07:32:00", "invalid-value", ("a",)),
    ],
    ids=shorten,
)
def test_toml_values_without_a_stable_json_text_are_placed_by_pointer(
    data: bytes, rule: str, pointer: tuple[str | int, ...]
) -> None:
    """An adapter's arguments are JSON of any shape: what JSON lacks is refused where it stands, not at the call."""
    reading = read_toml("x.toml", data)
    assert [(rule, Anchor("x.toml", pointer))] == [(fault.rule, fault.anchor) for fault in reading.faults]


@pytest.mark.parametrize("digits", [b"9" * 5_000, b"0x" + b"F" * 5_000], ids=shorten)
def test_a_toml_integer_of_thousands_of_digits_is_an_unstable_number(digits: bytes) -> None:
    """Python's own limit on decimal digits is a ValueError of the standard library, not of TOML."""
    assert ["unstable-number"] == rules(read_toml("x.toml", b"a = " + digits).faults)


@pytest.mark.parametrize("text", ["{keys} = 1", "[{keys}]\na = 1", "[[{keys}]]\na = 1", "a = {{ {keys} = 1 }}"])
def test_dotted_toml_keys_that_nest_very_deep_are_refused(text: str) -> None:
    """A dotted key nests without a bracket, so counting brackets alone would let it through to a recursive reader."""
    reading = read_toml("x.toml", text.format(keys=".".join("k" * 2_000)).encode())
    assert ["too-deep"] == rules(reading.faults)


def test_toml_nests_to_the_limit_and_not_past_it() -> None:
    """The document's own table is the first level, as an object is in JSON."""
    accepted = b"# [[[[\na = " + b"[" * (MAX_DEPTH - 1) + b"]" * (MAX_DEPTH - 1)
    assert () == read_toml("x.toml", accepted).faults
    refused = b"a = " + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert ["too-deep"] == rules(read_toml("x.toml", refused).faults)
    assert () == read_toml("x.toml", b".".join([b"a"] * MAX_DEPTH) + b" = 1").faults
    assert ["too-deep"] == rules(read_toml("x.toml", b".".join([b"a"] * (MAX_DEPTH + 1)) + b" = 1").faults)


@pytest.mark.parametrize(
    "data",
    [
        b"a = '[[['",
        b'a = "\\"[[["',
        b"a = '''[[[\n'[' [[['''''",
        b'a = """\n"[" \\""" [[[ """""',
        b'# [[[ "\na = 1',
        b"'[[[' = 1",
        b"a = 1\r\n\r\nb = 2\r\n",
    ],
    ids=shorten,
)
def test_brackets_in_toml_strings_and_comments_dont_nest(data: bytes) -> None:
    """A text is refused for what it says, not for what it looks like; CRLF is TOML's newline too."""
    many = data.replace(b"[[[", b"[" * (MAX_DEPTH + 1))
    assert () == read_toml("x.toml", many).faults


def test_good_toml_is_read_as_it_stands() -> None:
    """The text is kept beside the value, for positions."""
    data = 'schema = 1\n[roster]\nactive = ["a", "é"]\n'.encode()
    reading = read_toml("x.toml", data)
    assert {"schema": 1, "roster": {"active": ["a", "é"]}} == reading.value
    assert data.decode() == reading.text


def test_quick_reading_refuses_what_is_no_json() -> None:
    """`parse_json` reads toolroster's own output; anything else is a ValueError."""
    assert {"a": [1, 2.5]} == parse_json('{"a":[1,2.5]}')
    with pytest.raises(ValueError, match="unexpected"):
        parse_json(b"{]")
