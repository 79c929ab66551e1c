from __future__ import annotations

import json
import re
import tomllib
from dataclasses import FrozenInstanceError
from datetime import UTC, date, datetime, time
from random import Random
from typing import Literal, TypeAlias

import pytest
import tomli_w
from hypothesis import example, given
from hypothesis import strategies as st

from toolroster.positions import Place, Pointer, TextIndex, scan_json, scan_toml

Row: TypeAlias = tuple[Pointer, int | None, int, str]
"""Pointer, offset of the key, offset of the value, text from there to the end."""

Value: TypeAlias = "bool | int | float | str | datetime | date | time | list[Value] | dict[str, Value] | Object | None"
"""What a JSON or TOML reader returns, or a JSON object that may repeat its keys."""


class Object(tuple[tuple[str, "Value"], ...]):
    """A JSON object that may repeat its keys."""

    __slots__ = ()


def list_rows(text: str, places: tuple[Place, ...]) -> list[Row]:
    """Return what the tables below say of each place."""
    return [(place.pointer, place.key, place.value, text[place.value : place.end]) for place in places]


def list_pointers(value: Value, pointer: Pointer = ()) -> list[Pointer]:
    """Return the pointers of a value and of all that is inside it, each before its members'."""
    members: list[tuple[str | int, Value]] = []
    if isinstance(value, dict):
        members += value.items()
    elif isinstance(value, list):
        members += enumerate(value)
    return [pointer, *(found for name, member in members for found in list_pointers(member, (*pointer, name)))]


def get(value: Value, pointer: Pointer) -> Value:
    """Return what stands at a pointer."""
    for part in pointer:
        if isinstance(value, dict):
            value = value[str(part)]
        else:
            assert isinstance(value, list)
            value = value[int(part)]
    return value


def write_nested(levels: int) -> str:
    """Return JSON arrays and objects in turn, each inside the one before."""
    return '[{"a":' * (levels // 2) + "1" + "}]" * (levels // 2)


# ---------------------------------------------------------------------------------------------------- JSON, by hand


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("1", [((), None, 0, "1")]),
        (' "a" \n', [((), None, 1, '"a"')]),
        ("{}", [((), None, 0, "{}")]),
        ("[ ]", [((), None, 0, "[ ]")]),
        (
            '{"a":1,"b":[true,null]}',
            [
                ((), None, 0, '{"a":1,"b":[true,null]}'),
                (("a",), 1, 5, "1"),
                (("b",), 7, 11, "[true,null]"),
                (("b", 0), None, 12, "true"),
                (("b", 1), None, 17, "null"),
            ],
        ),
        (
            '\r\n{ "a" : -1.5e+3 ,\r\n\t"b":{} }\r\n',
            [
                ((), None, 2, '{ "a" : -1.5e+3 ,\r\n\t"b":{} }'),
                (("a",), 4, 10, "-1.5e+3"),
                (("b",), 22, 26, "{}"),
            ],
        ),
        (
            "[NaN,Infinity,-Infinity]",
            [
                ((), None, 0, "[NaN,Infinity,-Infinity]"),
                ((0,), None, 1, "NaN"),
                ((1,), None, 5, "Infinity"),
                ((2,), None, 14, "-Infinity"),
            ],
        ),
        (
            '["{\\"[\\\\", "\\\\", ":,]}"]',
            [
                ((), None, 0, '["{\\"[\\\\", "\\\\", ":,]}"]'),
                ((0,), None, 1, '"{\\"[\\\\"'),
                ((1,), None, 11, '"\\\\"'),
                ((2,), None, 17, '":,]}"'),
            ],
        ),
        (
            '[[{"a":[]}],{}]',
            [
                ((), None, 0, '[[{"a":[]}],{}]'),
                ((0,), None, 1, '[{"a":[]}]'),
                ((0, 0), None, 2, '{"a":[]}'),
                ((0, 0, "a"), 3, 7, "[]"),
                ((1,), None, 12, "{}"),
            ],
        ),
        (
            '{"a":1,"a":{"b":2},"a":3}',
            [
                ((), None, 0, '{"a":1,"a":{"b":2},"a":3}'),
                (("a",), 1, 5, "1"),
                (("a",), 7, 11, '{"b":2}'),
                (("a", "b"), 12, 16, "2"),
                (("a",), 19, 23, "3"),
            ],
        ),
        ('{"😀é":"😀","b":0}', [((), None, 0, '{"😀é":"😀","b":0}'), (("😀é",), 1, 6, '"😀"'), (("b",), 10, 14, "0")]),
    ],
)
def test_json_places_stand_where_the_text_says(text: str, rows: list[Row]) -> None:
    """RFC 8259 says what is a value and what is white space; offsets count code points."""
    assert rows == list_rows(text, scan_json(text))


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ('""', ""),
        (r'"\"\\\/\b\f\n\r\t"', '"\\/\b\f\n\r\t'),
        (r'"\u0041\u00e9\u00E9"', "Aéé"),
        (r'"\\u0041"', "\\u0041"),
        (r'"\ud83d\ude00"', "😀"),
        (r'"\uD83D\uDE00\uD83D"', "😀\ud83d"),
        (r'"\ud83d"', "\ud83d"),
        (r'"\ude00\ud83d"', "\ude00\ud83d"),
        (r'"\ud83d\ud83d\ude00"', "\ud83d😀"),
        (r'"\ud83d\\ude00"', "\ud83d\\ude00"),
        (r'"\ud83dA\ude00"', "\ud83dA\ude00"),
        ('"\ud83d\\ude00"', "\ud83d\ude00"),
    ],
)
def test_json_keys_are_unescaped_in_pointers(word: str, name: str) -> None:
    """RFC 8259 section 7: two escaped halves are one character, and a half without its other half stays one."""
    text = f"{{{word}:1}}"
    assert (name,) == scan_json(text)[1].pointer
    assert [name] == list(json.loads(text))


# ---------------------------------------------------------------------------------------------------- TOML, by hand


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", []),
        ("# a = 1\n\n", []),
        (
            "a = 1\nb=2 # c = 3\n  c\t=\t0x1F\t\n",
            [(("a",), 0, 4, "1"), (("b",), 6, 8, "2"), (("c",), 20, 24, "0x1F")],
        ),
        (
            "a.b . \"c d\".'e.f' = 1\na.g=2",
            [
                (("a",), 0, 0, "a"),
                (("a", "b"), 2, 2, "b"),
                (("a", "b", "c d"), 6, 6, '"c d"'),
                (("a", "b", "c d", "e.f"), 12, 20, "1"),
                (("a", "g"), 24, 26, "2"),
            ],
        ),
        ("3.14 = 1\n", [(("3",), 0, 0, "3"), (("3", "14"), 2, 7, "1")]),
        ("\"\" = 1\na.'' = 2", [(("",), 0, 5, "1"), (("a",), 7, 7, "a"), (("a", ""), 9, 14, "2")]),
        (
            '[ a . "b]" ] # [c]\nd = 1\n[e]\n',
            [
                (("a",), 2, 2, "a"),
                (("a", "b]"), 6, 0, '[ a . "b]" ]'),
                (("a", "b]", "d"), 19, 23, "1"),
                (("e",), 26, 25, "[e]"),
            ],
        ),
        (
            "[a.b]\nc = 1\n[a]\nd = 2\n[a.e]",
            [
                (("a", "b"), 3, 0, "[a.b]"),
                (("a", "b", "c"), 6, 10, "1"),
                (("a",), 13, 12, "[a]"),
                (("a", "d"), 16, 20, "2"),
                (("a", "e"), 25, 22, "[a.e]"),
            ],
        ),
        (
            "[a]\nb.c = 1\n[a.b.d]\ne = 2",
            [
                (("a",), 1, 0, "[a]"),
                (("a", "b"), 4, 4, "b"),
                (("a", "b", "c"), 6, 10, "1"),
                (("a", "b", "d"), 17, 12, "[a.b.d]"),
                (("a", "b", "d", "e"), 20, 24, "2"),
            ],
        ),
        (
            '[[alias]]\nname = "a"\n[[alias]]\nname = "b"\n[alias.arguments]\nset.x = 1\n',
            [
                (("alias",), 2, 0, "[[alias]]"),
                (("alias", 0), None, 0, "[[alias]]"),
                (("alias", 0, "name"), 10, 17, '"a"'),
                (("alias", 1), None, 21, "[[alias]]"),
                (("alias", 1, "name"), 31, 38, '"b"'),
                (("alias", 1, "arguments"), 49, 42, "[alias.arguments]"),
                (("alias", 1, "arguments", "set"), 60, 60, "set"),
                (("alias", 1, "arguments", "set", "x"), 64, 68, "1"),
            ],
        ),
        (
            "[[ a . b ]]\n[[a.b.c]]\n[[a.b.c]]\n[[a.b]]\n[[a.b.c]]\nd=1",
            [
                (("a",), 3, 3, "a"),
                (("a", "b"), 7, 0, "[[ a . b ]]"),
                (("a", "b", 0), None, 0, "[[ a . b ]]"),
                (("a", "b", 0, "c"), 18, 12, "[[a.b.c]]"),
                (("a", "b", 0, "c", 0), None, 12, "[[a.b.c]]"),
                (("a", "b", 0, "c", 1), None, 22, "[[a.b.c]]"),
                (("a", "b", 1), None, 32, "[[a.b]]"),
                (("a", "b", 1, "c"), 46, 40, "[[a.b.c]]"),
                (("a", "b", 1, "c", 0), None, 40, "[[a.b.c]]"),
                (("a", "b", 1, "c", 0, "d"), 50, 52, "1"),
            ],
        ),
        (
            "a = [ # [\n  1, # ,\n  [2,],\n\n]\nb = []",
            [
                (("a",), 0, 4, "[ # [\n  1, # ,\n  [2,],\n\n]"),
                (("a", 0), None, 12, "1"),
                (("a", 1), None, 21, "[2,]"),
                (("a", 1, 0), None, 22, "2"),
                (("b",), 30, 34, "[]"),
            ],
        ),
        (
            "a = [{b = 1}, {b.c = {}, d=[{}]}]",
            [
                (("a",), 0, 4, "[{b = 1}, {b.c = {}, d=[{}]}]"),
                (("a", 0), None, 5, "{b = 1}"),
                (("a", 0, "b"), 6, 10, "1"),
                (("a", 1), None, 14, "{b.c = {}, d=[{}]}"),
                (("a", 1, "b"), 15, 15, "b"),
                (("a", 1, "b", "c"), 17, 21, "{}"),
                (("a", 1, "d"), 25, 27, "[{}]"),
                (("a", 1, "d", 0), None, 28, "{}"),
            ],
        ),
        (
            "a = 1979-05-27 07:32:00 # b\nb = [07:32:00, -inf, 1e3 ,true]",
            [
                (("a",), 0, 4, "1979-05-27 07:32:00"),
                (("b",), 28, 32, "[07:32:00, -inf, 1e3 ,true]"),
                (("b", 0), None, 33, "07:32:00"),
                (("b", 1), None, 43, "-inf"),
                (("b", 2), None, 49, "1e3"),
                (("b", 3), None, 54, "true"),
            ],
        ),
        (
            'a = \'C:\\\' # \'\nb = "#\\"\\\\" # "\nc = \'\'\nd=""',
            [(("a",), 0, 4, "'C:\\'"), (("b",), 14, 18, '"#\\"\\\\"'), (("c",), 30, 34, "''"), (("d",), 37, 39, '""')],
        ),
        (
            'a = """\nb = 1\n\\""" "" """\nc = """a""""\nd = """""a"""""\ne = """"""\nf = """\\\\"""',
            [
                (("a",), 0, 4, '"""\nb = 1\n\\""" "" """'),
                (("c",), 26, 30, '"""a""""'),
                (("d",), 39, 43, '"""""a"""""'),
                (("e",), 55, 59, '""""""'),
                (("f",), 66, 70, '"""\\\\"""'),
            ],
        ),
        (
            "a = '''\n[b]\n\\''' # '''\nc = [''''a''''', '''''', '''\"\"\"''']",
            [
                (("a",), 0, 4, "'''\n[b]\n\\'''"),
                (("c",), 23, 27, "[''''a''''', '''''', '''\"\"\"''']"),
                (("c", 0), None, 28, "''''a'''''"),
                (("c", 1), None, 40, "''''''"),
                (("c", 2), None, 48, "'''\"\"\"'''"),
            ],
        ),
        (
            "[a]\r\nb = 1\r\nc = [\r\n  2,\r\n]\r\n[d]",
            [
                (("a",), 1, 0, "[a]"),
                (("a", "b"), 5, 9, "1"),
                (("a", "c"), 12, 16, "[\r\n  2,\r\n]"),
                (("a", "c", 0), None, 21, "2"),
                (("d",), 29, 28, "[d]"),
            ],
        ),
    ],
)
def test_toml_places_stand_where_the_text_says(text: str, rows: list[Row]) -> None:
    """TOML 1.0.0 says what is a key and a value; the reader proves that the text is TOML."""
    assert [((), None, 0, text), *rows] == list_rows(text, scan_toml(text))
    check_toml(text)


def test_toml_inline_tables_may_have_several_lines() -> None:
    """TOML 1.1.0 lets them have newlines, comments and a trailing comma; the reader of Python 3.11 doesn't yet."""
    text = "a = {\n  b = 1, # }\n  c = {\r\n    d = 2,\n  },\n}\ne = 3"
    assert [
        ((), None, 0, text),
        (("a",), 0, 4, text.removeprefix("a = ").removesuffix("\ne = 3")),
        (("a", "b"), 8, 12, "1"),
        (("a", "c"), 21, 25, "{\r\n    d = 2,\n  }"),
        (("a", "c", "d"), 32, 36, "2"),
        (("e",), 46, 50, "3"),
    ] == list_rows(text, scan_toml(text))


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("a-B_1", "a-B_1"),
        ("'a\\n\"'", 'a\\n"'),
        (r'"\b\t\n\f\r\"\\"', '\b\t\n\f\r"\\'),
        (r'"\u00e9\U0001F600\U0010ffff"', "é😀\U0010ffff"),
        (r'"\\u00e9"', "\\u00e9"),
        ('"it\'s = [a.b] # {}"', "it's = [a.b] # {}"),
        ('"東京"', "東京"),
    ],
)
def test_toml_keys_are_unescaped_in_pointers(word: str, name: str) -> None:
    """TOML 1.0.0, "Keys": quoted keys follow the rules of basic and literal strings."""
    text = f"{word}.{word} = {{{word} = 1}}\n[[x.{word}]]"
    assert [(), (name,), (name, name), (name, name, name), ("x",), ("x", name), ("x", name, 0)] == [
        place.pointer for place in scan_toml(text)
    ]
    assert {name: {name: {name: 1}}, "x": {name: [{}]}} == tomllib.loads(text)


def test_toml_keys_may_have_the_escapes_of_newer_toml() -> None:
    r"""TOML 1.1.0 adds `\e` and `\xHH`, which the reader of Python 3.11 doesn't know yet."""
    assert ("\x1bAé",) == scan_toml(r'"\e\x41\xE9" = 1')[1].pointer


# -------------------------------------------------------------------------------------------------------- the index

DOCUMENT = '{\n  "a": {"b": [1, 2]},\r\n  "é": null, "c": 3\n}'


@pytest.mark.parametrize(
    ("pointer", "found"),
    [
        ((), ()),
        (("a", "b", 1), ("a", "b", 1)),
        (("a", "b", 2), ("a", "b")),
        (("a", "x", "b", 1), ("a",)),
        (("c", "d"), ("c",)),
        (("x", "b"), ()),
        ((0,), ()),
    ],
)
def test_a_missing_pointer_has_the_place_of_its_nearest_ancestor(pointer: Pointer, found: Pointer) -> None:
    """Style guide 2.3: a finding about something absent points at what should have named it."""
    assert found == TextIndex(DOCUMENT, "json").place(pointer).pointer


@pytest.mark.parametrize("syntax", ["json", "toml"])
def test_a_text_without_any_value_has_a_root(syntax: Literal["json", "toml"]) -> None:
    """The root is the last resort of every look-up, so it can't be missing."""
    assert Place((), None, 0, 0) == TextIndex("", syntax).place(("a", 0))


@pytest.mark.parametrize(
    ("pointer", "key", "value"),
    [
        ((), (1, 1), (1, 1)),
        (("a",), (2, 3), (2, 8)),
        (("a", "b"), (2, 9), (2, 14)),
        (("a", "b", 1), (2, 18), (2, 18)),
        (("é",), (3, 3), (3, 8)),
        (("c",), (3, 14), (3, 19)),
    ],
)
def test_a_key_and_its_value_are_located_apart(pointer: Pointer, key: tuple[int, int], value: tuple[int, int]) -> None:
    """Design.md section 9: line and column are 1-based; what has no key is located by its value."""
    index = TextIndex(DOCUMENT, "json")
    assert key == index.locate(pointer, "key")
    assert value == index.locate(pointer, "value")
    assert value == index.locate(pointer)


def test_a_toml_table_is_located_by_its_header() -> None:
    """A key that a table lacks would be written below its own header, not below a sub-table's."""
    index = TextIndex("[a.b]\nc = 1\n\n  [a]\n[[d.e]]\n[[d.e]]\nf.g = 1", "toml")
    assert (4, 3) == index.locate(("a", "missing"))
    assert (4, 4) == index.locate(("a", "missing"), "key")
    assert (5, 3) == index.locate(("d", "missing"))
    assert (6, 1) == index.locate(("d", "e", 1, "missing"), "key")
    assert (7, 1) == index.locate(("d", "e", 1, "f", "missing"))


def test_a_repeated_key_has_the_place_of_its_first_occurrence() -> None:
    """The later occurrence is the fault, so the first one is where the key stands."""
    index = TextIndex('{"a": 1, "b": 2, "a": {"c": 3}}', "json")
    assert Place(("a",), 1, 6, 7) == index.place(("a",))
    assert Place(("a", "c"), 23, 28, 29) == index.place(("a", "c"))


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ('{"a": 1, "b": {"a": 2}, "c": [{"a": 3}, {"a": 4}]}', []),
        ('{"a": 1, "a": 2}', [(("a",), 1, 9)]),
        ('{"a": 1, "b": 2, "a": 3, "b": 4, "a": 5}', [(("a",), 1, 17), (("b",), 9, 25), (("a",), 1, 33)]),
        ('[{"a": {}, "\\u0061": {}}]', [((0, "a"), 2, 11)]),
        # Two objects under one repeated key: what stands once in each is no repetition.
        ('{"a": {"x": 1}, "a": {"x": 2}}', [(("a",), 1, 16)]),
        ('{"a": {"x": 1}, "a": {"x": 2, "x": 3}}', [(("a",), 1, 16), (("a", "x"), 22, 30)]),
        ('{"a": [{"x": 1}], "a": [{"x": 2}]}', [(("a",), 1, 18)]),
    ],
)
def test_each_repetition_is_paired_with_the_first_key_of_the_same_object(
    text: str,
    pairs: list[tuple[Pointer, int, int]],
) -> None:
    """Design.md section 7 refuses duplicate keys, which RFC 8259 section 4 defines by object."""
    assert pairs == [(later.pointer, first.key, later.key) for first, later in TextIndex(text, "json").duplicates()]


def test_toml_has_no_duplicates() -> None:
    """A TOML reader refuses them; a table of which two headers speak is one table."""
    assert () == TextIndex("[a.b]\nx = 1\n[a]\nx = 1\n[[c]]\nx = 1\n[[c]]\nx = 1\n[c.d]", "toml").duplicates()


def test_a_place_cannot_be_changed() -> None:
    """Style guide 2.6: frozen everywhere, so that an index can hand out what it keeps."""
    with pytest.raises(FrozenInstanceError):
        setattr(TextIndex("1", "json").place(()), "value", 1)  # noqa: B010 - the type checkers refuse the plain form


@given(st.text("ab\u00e9\U0001f600\r\n"))
@example("\r\n\n\r\r\n")
def test_lines_and_columns_agree_with_counting_one_by_one(text: str) -> None:
    r"""Design.md section 9: columns count code points; `\r\n` ends one line, and its `\r` belongs to it."""
    index, line, column = TextIndex(text, "toml"), 1, 1
    for offset, character in enumerate(text):
        assert (line, column) == index.line_column(offset)
        line, column = (line + 1, 1) if character == "\n" else (line, column + 1)
    assert (line, column) == index.line_column(len(text))


# -------------------------------------------------------------------------------------------------- JSON, properties


def join_halves(text: str) -> str:
    """Return the text as a JSON reader would: two halves of a surrogate pair that stand together are one character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


JSON_CHARACTERS = st.characters(exclude_categories=()) | st.sampled_from('\\"/\n\ud83d\ude00{}[],:')
JSON_TEXT = st.text(JSON_CHARACTERS, max_size=6).map(join_halves)
JSON_SCALARS: st.SearchStrategy[Value] = st.none() | st.booleans() | st.integers() | st.floats() | JSON_TEXT
JSON_VALUES: st.SearchStrategy[Value] = st.recursive(
    JSON_SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(JSON_TEXT, inner, max_size=4),
    max_leaves=15,
)
REPEATING: st.SearchStrategy[Value] = st.recursive(
    JSON_SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.lists(st.tuples(st.sampled_from(["a", "b", "\n"]), inner), max_size=5).map(Object)
    ),
    max_leaves=15,
)
RANDOM = st.randoms(use_true_random=False)


class JsonWriter:
    """Writes JSON with random white space and escapes, and notes where it wrote what."""

    def __init__(self, random: Random) -> None:
        """Start with an empty text."""
        self.random = random
        self.text = ""
        self.places: list[Place] = []
        self.pairs: list[tuple[Place, Place]] = []

    def write(self, value: Value, pointer: Pointer = (), key: int | None = None) -> Place:
        """Write a value between white space; a lone half of a surrogate pair is always escaped."""
        self.blank()
        start, slot = len(self.text), len(self.places)
        self.places.append(Place((), None, 0, 0))
        if isinstance(value, dict | Object):
            self.write_members([*value.items()] if isinstance(value, dict) else [*value], pointer)
        elif isinstance(value, list):
            self.text += "["
            for position, member in enumerate(value):
                self.text += "," if position else ""
                self.write(member, (*pointer, position))
            self.blank()
            self.text += "]"
        else:
            self.text += self.quote(value) if isinstance(value, str) else json.dumps(value)
        self.places[slot] = Place(pointer, key, start, len(self.text))
        self.blank()
        return self.places[slot]

    def write_members(self, members: list[tuple[str, Value]], pointer: Pointer) -> None:
        """Write an object, and note the keys that it repeats."""
        firsts: dict[str, Place] = {}
        later: list[tuple[str, int]] = []
        self.text += "{"
        for position, (name, member) in enumerate(members):
            self.text += "," if position else ""
            self.blank()
            key, slot = len(self.text), len(self.places)
            self.text += self.quote(name)
            self.blank()
            self.text += ":"
            place = self.write(member, (*pointer, name), key)
            if firsts.setdefault(name, place) is not place:
                later.append((name, slot))
        self.blank()
        self.text += "}"
        self.pairs += [(firsts[name], self.places[slot]) for name, slot in later]

    def blank(self) -> None:
        """Write nothing or white space."""
        self.text += self.random.choice(["", "", " ", "\n", "\r\n", "\t", "\n    "])

    def quote(self, text: str) -> str:
        """Return a string, escaped no more than it must be or more."""
        if self.random.random() < 0.5:
            return json.dumps(text)
        return '"' + "".join(self.quote_character(character) for character in text) + '"'

    def quote_character(self, character: str) -> str:
        """Return one character or its escape."""
        if ord(character) < 0x10000 and (0xD800 <= ord(character) < 0xE000 or self.random.random() < 0.2):
            return f"\\u{ord(character):04X}"
        return json.dumps(character, ensure_ascii=False)[1:-1]


@given(JSON_VALUES, RANDOM)
def test_every_json_pointer_is_found_once_and_its_text_reads_back(value: Value, random: Random) -> None:
    """Style guide 2.5: every position found re-reads to the same value, every key to the same string."""
    writer = JsonWriter(random)
    writer.write(value)
    text, read = writer.text, json.loads(writer.text)
    places = scan_json(text)
    assert list_pointers(read) == [place.pointer for place in places]
    for place in places:
        assert repr(get(read, place.pointer)) == repr(json.loads(text[place.value : place.end]))
        if place.key is None:
            assert not place.pointer or isinstance(place.pointer[-1], int)
        else:
            assert place.pointer[-1] == json.JSONDecoder().raw_decode(text, place.key)[0]


@given(REPEATING, RANDOM)
def test_json_places_and_duplicates_are_those_that_were_written(value: Value, random: Random) -> None:
    """Whoever writes a text knows where everything stands, repeated keys included."""
    writer = JsonWriter(random)
    writer.write(value)
    assert tuple(writer.places) == scan_json(writer.text)
    pairs = sorted(writer.pairs, key=lambda pair: pair[1].value)
    assert tuple(pairs) == TextIndex(writer.text, "json").duplicates()


# -------------------------------------------------------------------------------------------------- TOML, properties

TOML_TEXT = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\"'\\\n#[]{}=.,"), max_size=6)
TOML_KEYS = st.sampled_from(["a", "b", "c-1", "2", ""]) | TOML_TEXT
TOML_SCALARS: st.SearchStrategy[Value] = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | TOML_TEXT
    | st.datetimes(timezones=st.none() | st.just(UTC))
    | st.dates()
    | st.times()
)


def to_value(tables: st.SearchStrategy[dict[str, Value]]) -> st.SearchStrategy[Value]:
    """Return the same strategy under its wider type: a list of tables is no list of values to a type checker."""
    return tables


TOML_VALUES: st.SearchStrategy[Value] = st.recursive(
    TOML_SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TOML_KEYS, inner, max_size=3)
        | st.lists(to_value(st.dictionaries(TOML_KEYS, inner, max_size=3)), max_size=3)
    ),
    max_leaves=15,
)
TOML_TABLES = st.dictionaries(TOML_KEYS, TOML_VALUES, max_size=4)


def list_headed(value: Value) -> list[tuple[str, dict[str, Value]]]:
    """Return the tables that a value is, each with the bracket of its header; none when it needs an equals sign."""
    if isinstance(value, dict):
        return [("[", value)]
    tables = [("[[", table) for table in value if isinstance(table, dict)] if isinstance(value, list) else []
    return tables if isinstance(value, list) and len(tables) == len(value) else []


class TomlWriter:
    """Writes TOML in randomly chosen forms: headers, arrays of tables, dotted keys, inline tables, four strings."""

    def __init__(self, random: Random) -> None:
        """Start with an empty text."""
        self.random = random
        self.text = ""

    def flip(self) -> bool:
        """Return True or False."""
        return self.random.random() < 0.5

    def write(self, table: dict[str, Value], path: tuple[str, ...] = (), header: str = "") -> None:
        """Write one table: its header and pairs, and before or after them the sub-tables that have headers."""
        apart = {name: headed for name, value in table.items() if (headed := list_headed(value)) and self.flip()}
        below = [name for name in table if name not in apart]
        late = header == "[" and self.flip()
        if not late:
            self.write_pairs(table, below, path, header)
        for name, headed in apart.items():
            for bracket, inner in headed:
                self.write(inner, (*path, name), bracket)
        # The header of a table without pairs may be left out when a sub-table's header makes the table.
        if late and (below or not apart or self.flip()):
            self.write_pairs(table, below, path, header)

    def write_pairs(self, table: dict[str, Value], names: list[str], path: tuple[str, ...], header: str) -> None:
        """Write a table's header and the pairs below it."""
        if header:
            self.text += self.blank() + header + self.blank() + self.join(path) + self.blank() + "]" * len(header) + self.end()
        for name in names:
            self.write_pair((name,), table[name])

    def write_pair(self, path: tuple[str, ...], value: Value) -> None:
        """Write one line, or one for each member of a table as dotted keys."""
        if isinstance(value, dict) and value and self.flip():
            for name, member in value.items():
                self.write_pair((*path, name), member)
        else:
            self.text += self.blank() + self.pair(path, value) + self.end()

    def pair(self, path: tuple[str, ...], value: Value) -> str:
        """Return `key = value`."""
        return self.join(path) + self.blank() + "=" + self.blank() + self.value(value)

    def join(self, path: tuple[str, ...]) -> str:
        """Return a dotted key."""
        return (self.blank() + "." + self.blank()).join(map(self.key, path))

    def key(self, name: str) -> str:
        """Return one part of a key."""
        if re.fullmatch("[A-Za-z0-9_-]+", name) and self.flip():
            return name
        return f"'{name}'" if re.fullmatch(r"[^'\x00-\x08\x0a-\x1f\x7f]*", name) and self.flip() else self.quote(name)

    def value(self, value: Value) -> str:
        """Return a value in one line or several."""
        if isinstance(value, list):
            members = "".join(self.fill() + self.value(member) + self.fill() + "," for member in value)
            return "[" + (members if self.flip() else members.removesuffix(",")) + self.fill() + "]"
        if isinstance(value, dict):
            pairs = (self.blank() + pair + self.blank() for name in value for pair in self.pairs((name,), value[name]))
            return "{" + ",".join(pairs) + "}"
        if isinstance(value, str):
            return self.string(value)
        return tomli_w.dumps({"v": value}).removeprefix("v = ").rstrip("\n")

    def pairs(self, path: tuple[str, ...], value: Value) -> list[str]:
        """Return what an inline table has between its commas."""
        if isinstance(value, dict) and value and self.flip():
            return [pair for name in value for pair in self.pairs((*path, name), value[name])]
        return [self.pair(path, value)]

    def string(self, text: str) -> str:
        """Return one of the four kinds of string."""
        if re.fullmatch(r"[^'\x00-\x08\x0a-\x1f\x7f]*", text) and self.flip():
            return f"'{text}'"
        if "'''" not in text and not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text) and self.flip():
            return f"'''\n{text}'''"
        if self.flip():
            return self.quote(text)
        # Newlines stay, and quotes unless three stand together.
        body = self.quote(text)[1:-1].replace("\\n", "\n") if "\\" not in text else self.quote(text)[1:-1]
        body = body if '"""' in text or "\\" in text else body.replace('\\"', '"')
        return f'"""\n{body}"""'

    def quote(self, text: str) -> str:
        """Return a basic string."""
        word = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
        return word.replace("é", "\\U000000e9") if self.flip() else word

    def blank(self) -> str:
        """Return what may stand inside a line."""
        return self.random.choice(["", "", " ", "\t "])

    def fill(self) -> str:
        """Return what may stand inside an array."""
        return self.random.choice(["", "", " ", "\n", "\n\t", ' # ]"\n', "\r\n"])

    def end(self) -> str:
        """Return the end of a line, or of several."""
        return self.blank() + self.random.choice(["\n", "\n", "\r\n", "# a = '''\n", "\n\n", "\n  # [x]\r\n"])


def check_toml(text: str) -> None:
    """Check that the places of a text are those of its value, and that each reads back."""
    value = tomllib.loads(text)
    places = scan_toml(text)
    assert sorted(list_pointers(value), key=repr) == sorted((place.pointer for place in places), key=repr)
    for place in places[1:]:
        found, written = get(value, place.pointer), text[place.value : place.end]
        if place.key == place.value:
            assert isinstance(found, dict)
            assert {place.pointer[-1]: 0} == tomllib.loads(f"{written} = 0")
        elif written.startswith("[") and (isinstance(found, dict) or (place.key is not None and place.key > place.value)):
            check_header(place, text)
        else:
            assert repr(found) == repr(tomllib.loads(f"v = {written}")["v"])
            if place.key is not None:
                assert {place.pointer[-1]: 0} == tomllib.loads(f"{text[place.key : place.value]}0")


def check_header(place: Place, text: str) -> None:
    """Check that a header names the table or tables that it stands for, and that the key is its last part."""
    header = text[place.value : place.end]
    made: Value = [{}] if header.startswith("[[") else {}
    if place.key is not None:
        opening = "[[" if header.startswith("[[") else "["
        assert {place.pointer[-1]: made} == tomllib.loads(opening + text[place.key : place.end])
    for name in reversed([part for part in place.pointer if isinstance(part, str)]):
        made = {name: made}
    assert made == tomllib.loads(header)


@given(TOML_TABLES, st.booleans())
def test_every_place_of_toml_by_another_writer_reads_back(table: dict[str, Value], multiline: bool) -> None:  # noqa: FBT001 - drawn
    """Style guide 2.5: every position found re-reads to the same value, every key to the same string."""
    check_toml(tomli_w.dumps(table, multiline_strings=multiline))


@given(TOML_TABLES, RANDOM)
def test_every_place_of_toml_in_any_form_reads_back(table: dict[str, Value], random: Random) -> None:
    """TOML 1.0.0 has several forms for one value; the places follow the form, and the pointers only the value."""
    writer = TomlWriter(random)
    writer.write(table)
    assert sorted(list_pointers(table), key=repr) == sorted(list_pointers(tomllib.loads(writer.text)), key=repr)
    check_toml(writer.text)


@given(TOML_TABLES, RANDOM)
def test_carriage_returns_move_no_line_and_no_column(table: dict[str, Value], random: Random) -> None:
    r"""Design.md section 9: the `\r` before a `\n` belongs to the line that it ends."""
    writer = TomlWriter(random)
    writer.write(table)
    check_carriage_returns(writer.text.replace("\r", ""), "toml")
    check_carriage_returns(json.dumps(json.loads(json.dumps(table, default=str)), indent=2), "json")


def check_carriage_returns(text: str, syntax: Literal["json", "toml"]) -> None:
    """Check that both kinds of line end give the same lines and columns."""
    places = scan_json(text) if syntax == "json" else scan_toml(text)
    plain, returned = TextIndex(text, syntax), TextIndex(text.replace("\n", "\r\n"), syntax)
    for place in places:
        assert plain.locate(place.pointer, "key") == returned.locate(place.pointer, "key")
        assert plain.locate(place.pointer) == returned.locate(place.pointer)


# ---------------------------------------------------------------------------------------------------- depth and noise


def test_json_may_be_nested_2000_levels_deep() -> None:
    """A hostile file must become a finding, so reading it must not exhaust Python's stack."""
    places = scan_json(write_nested(2_000))
    assert 2_001 == len(places)
    assert (0, "a") * 1_000 == places[-1].pointer
    assert (6_000, 6_001) == (places[-1].value, places[-1].end)


@pytest.mark.parametrize(
    "text",
    ["v=" + "[" * 1_999 + "1" + "]" * 1_999, "v=" + "{a=" * 1_999 + "1" + "}" * 1_999, ".".join("a" * 2_000) + "=1"],
    ids=["arrays", "inline tables", "dotted key"],
)
def test_toml_may_be_nested_2000_levels_deep(text: str) -> None:
    """Brackets and dots both nest, and neither may exhaust Python's stack."""
    places = scan_toml(text)
    assert 2_001 == len(places)
    assert 2_000 == len(places[-1].pointer)


@given(st.text("[]{}\"'=.,:#\\ \t\r\n\x0b\u00a0ax1uU0"))
@example('a = ["')
@example("a = [\x0b")
@example("a = {,")
@example("[[")
@example("[a]\n[[a]]\n[a.b]")
@example('"\\UFFFFFFFF" = 1')
@example('{"\\UFFFFFFFF":}]')
def test_a_scan_of_anything_ends_inside_the_text(text: str) -> None:
    """A file that no reader accepts is found by its line and column, but nobody may hang or crash on it."""
    for syntax, places in (("json", scan_json(text)), ("toml", scan_toml(text))):
        for place in places:
            assert 0 <= place.value <= place.end <= len(text), syntax
            assert place.key is None or 0 <= place.key <= len(text), syntax
