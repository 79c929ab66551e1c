"""Where does a name stand in a TOML or JSON text?

Scans texts that a strict reader has accepted already; JSON may repeat keys and have the bare words NaN and Infinity. Any
other text gives places without meaning, but neither an error nor an endless loop. Nothing here recurses: depth is bounded
by memory alone. Must not know what the names mean, nor where the text came from.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

Pointer: TypeAlias = tuple[str | int, ...]
"""Keys and array indexes from the document's root, `()`; a table of a TOML array of tables has its index."""


@dataclass(frozen=True, slots=True)
class Place:
    """One key or array element; all offsets are code points from the text's start, 0-based.

    Attributes:
        pointer: Keys and indexes from the root.
        key: Offset of the key, its quote included; None for array elements and the root.
        value: Offset of the value; of the `[` for a TOML table that has a header, and of the dotted part that made it for a
            table that has none.
        end: Offset just after the value, the header's brackets or the dotted part.
    """

    pointer: Pointer
    key: int | None
    value: int
    end: int


def scan_json(text: str) -> tuple[Place, ...]:
    """Return the places of a JSON text in text order, the root first; a repeated key is listed each time."""
    places: list[Place] = []
    stack: list[_Frame] = []
    for token in _JSON_TOKEN.finditer(text):
        word, top = token[0], stack[-1] if stack else None
        if word == ":":
            continue
        if word in ("}", "]"):
            if top is not None:
                stack.pop()
                places[top.slot] = Place(top.pointer, top.key, top.start, token.end())
        elif word == ",":
            if top is not None:
                top.index, top.member = top.index + 1, None
        elif top is not None and top.is_object and top.member is None:
            top.member = (_unescape(word[1:-1]), token.start())
        else:
            pointer, key = _find_member(top)
            if word in ("{", "["):
                stack.append(_Frame(pointer, key, token.start(), is_object=word == "{", slot=len(places)))
            places.append(Place(pointer, key, token.start(), token.end()))
    return tuple(places)


def scan_toml(text: str) -> tuple[Place, ...]:
    """Return the places of a TOML text in text order of their keys, the root first; each pointer is listed once.

    Tables that only dotted keys or the headers of their sub-tables name are listed too. A table that also has a header of
    its own stands there, even when a sub-table comes first: that is where its keys belong.
    """
    return _TomlScanner(text).scan()


class TextIndex:
    """Positions in one text, which is scanned when somebody first asks, and only then."""

    def __init__(self, text: str, syntax: Literal["json", "toml"]) -> None:
        """Keep the text; nothing is scanned yet."""
        self._text = text
        self._syntax = syntax

    def place(self, pointer: Pointer) -> Place:
        """Return the first place of a pointer, or else that of its nearest ancestor; the root's at worst."""
        while pointer and pointer not in self._firsts:
            pointer = pointer[:-1]
        return self._firsts.get(pointer, Place((), None, 0, len(self._text)))

    def line_column(self, offset: int) -> tuple[int, int]:
        r"""Return the line and column of an offset: 1-based, in code points; a line ends with its `\n`."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def locate(self, pointer: Pointer, part: Literal["key", "value"] = "value") -> tuple[int, int]:
        """Return the line and column of a pointer's place: of its key, or of its value when it has no key."""
        place = self.place(pointer)
        return self.line_column(place.key if part == "key" and place.key is not None else place.value)

    def duplicates(self) -> tuple[tuple[Place, Place], ...]:
        """Return `(first, later)` for every key that one JSON object repeats, in text order of the later one.

        A TOML text has none: its readers refuse them.
        """
        if self._syntax == "toml":
            return ()
        pairs: list[tuple[Place, Place]] = []
        around: list[Place] = []
        # By the object's offset, not its pointer: two objects share a pointer when their own key is repeated.
        firsts: dict[tuple[int, str | int], Place] = {}
        for place in self._places:
            while around and around[-1].end <= place.value:
                around.pop()
            if place.key is not None:
                first = firsts.setdefault((around[-1].value, place.pointer[-1]), place)
                if first is not place:
                    pairs.append((first, place))
            around.append(place)
        return tuple(pairs)

    @cached_property
    def _places(self) -> tuple[Place, ...]:
        return scan_json(self._text) if self._syntax == "json" else scan_toml(self._text)

    @cached_property
    def _firsts(self) -> dict[Pointer, Place]:
        # The last entry of a dict display wins, so the first occurrence is read last.
        return {place.pointer: place for place in reversed(self._places)}

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self._text))]


# Strings are unrolled loops (plain text, then an escape and plain text, …), so that `re` keeps no state a character.
_BASIC_STRING = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
_LITERAL_STRING = r"'[^'\n]*'"
# One or two quotes may stand inside, and next to the closing three.
_LONG_BASIC_STRING = r'"""[^"\\]*(?:(?:\\.|"{1,2}(?!"))[^"\\]*)*"{3,5}'
_LONG_LITERAL_STRING = r"'''[^']*(?:'{1,2}(?!')[^']*)*'{3,5}"
_ONE_KEY = rf"(?:{_BASIC_STRING}|{_LITERAL_STRING}|[A-Za-z0-9_-]+)"

_JSON_TOKEN = re.compile(rf'{_BASIC_STRING}|[{{}}\[\],:]|[^\s{{}}\[\],:"]+')
_SKIP = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BLANK = re.compile(r"[ \t]*")
_KEY = re.compile(_ONE_KEY)
_DOTTED_KEY = re.compile(rf"{_ONE_KEY}(?:[ \t]*\.[ \t]*{_ONE_KEY})*")
# A scalar that is no string may have blanks inside: 1979-05-27 07:32:00.
_SCALAR = re.compile(
    rf"{_LONG_BASIC_STRING}|{_LONG_LITERAL_STRING}|{_BASIC_STRING}|{_LITERAL_STRING}"
    r"|[^ \t\r\n,\]}#]+(?:[ \t]+[^ \t\r\n,\]}#]+)*",
    re.DOTALL,
)

# JSON's pairs of surrogates first: two halves that stand apart stay two code points.
_ESCAPE = re.compile(
    r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\(?:u([0-9a-fA-F]{4})|U00((?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))",
    re.DOTALL,
)
_NAMED_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}


@dataclass(slots=True)
class _Frame:
    """An array, object or inline table that has begun and not ended.

    Attributes:
        pointer: Its own.
        key: Offset of its key.
        start: Offset of its bracket.
        is_object: Whether its members have keys.
        slot: Where scan_json lists it.
        index: How many members ended.
        member: Key of the member being read, and the key's offset (JSON only).
    """

    pointer: Pointer
    key: int | None
    start: int
    is_object: bool
    slot: int = 0
    index: int = 0
    member: tuple[str, int] | None = None


def _find_member(frame: _Frame | None) -> tuple[Pointer, int | None]:
    """Return the pointer and key offset of the value that stands next in a frame; the root's without one."""
    if frame is None:
        return (), None
    if frame.member is None:
        return (*frame.pointer, frame.index), None
    name, key = frame.member
    return (*frame.pointer, name), key


@dataclass(slots=True)
class _TomlScanner:
    """One scan of one text.

    Attributes:
        text: The whole text.
        places: What was found, in text order; a dict, because a header takes over from the dotted part before it.
        counts: Number of tables so far, for each array of tables.
    """

    text: str
    places: dict[Pointer, Place] = field(default_factory=dict[Pointer, Place])
    counts: dict[Pointer, int] = field(default_factory=dict[Pointer, int])

    def scan(self) -> tuple[Place, ...]:
        self._add((), None, 0, len(self.text))
        table: Pointer = ()
        at = self._pass(_SKIP, 0)
        while at < len(self.text):
            if self.text[at] == "[":
                table, at = self._scan_header(at)
            else:
                at = self._scan_value(*self._scan_key(at, table))
            at = self._pass(_SKIP, at)
        return tuple(self.places.values())

    def _pass(self, pattern: re.Pattern[str], at: int) -> int:
        """Return the offset after what matches at `at`; `at` itself when nothing does."""
        found = pattern.match(self.text, at)
        return at if found is None else found.end()

    def _add(self, pointer: Pointer, key: int | None, value: int, end: int) -> None:
        self.places[pointer] = Place(pointer, key, value, end)

    def _scan_parts(self, at: int) -> tuple[list[tuple[str, int, int]], int]:
        """Return `(name, start, end)` of every part of the dotted key at `at`, and the offset after it."""
        end = self._pass(_DOTTED_KEY, at)
        parts = [(_read_key(found[0]), found.start(), found.end()) for found in _KEY.finditer(self.text, at, end)]
        # In TOML there is always a key; elsewhere one character counts as one, so that every scan ends.
        return (parts, end) if parts else ([(self.text[at : at + 1], at, at + 1)], at + 1)

    def _enter(self, pointer: Pointer, parts: list[tuple[str, int, int]]) -> Pointer:
        """Return where the parts lead from `pointer`, listing each table that they make."""
        for name, start, end in parts:
            pointer = (*pointer, name)
            if pointer in self.counts:
                pointer = (*pointer, self.counts[pointer] - 1)
            elif pointer not in self.places:
                self._add(pointer, start, start, end)
        return pointer

    def _scan_header(self, at: int) -> tuple[Pointer, int]:
        """List the table that the header at `at` opens; return its pointer and the offset after the header."""
        brackets = 2 if self.text.startswith("[[", at) else 1
        parts, end = self._scan_parts(self._pass(_BLANK, at + brackets))
        end = min(self._pass(_BLANK, end) + brackets, len(self.text))
        name, start, _ = parts[-1]
        pointer: Pointer = (*self._enter((), parts[:-1]), name)
        index = self.counts.get(pointer, 0)
        if index == 0:
            # Popped, so that it is listed where it now stands.
            self.places.pop(pointer, None)
            self._add(pointer, start, at, end)
        if brackets == 1:
            return pointer, end
        self.counts[pointer] = index + 1
        self._add((*pointer, index), None, at, end)
        return (*pointer, index), end

    def _scan_key(self, at: int, table: Pointer) -> tuple[int, Pointer, int]:
        """Return `(offset of the value, pointer, offset of the key)` for the dotted key at `at`."""
        parts, end = self._scan_parts(at)
        name, start, _ = parts[-1]
        equals = self._pass(_BLANK, end)
        return self._pass(_BLANK, equals + 1), (*self._enter(table, parts[:-1]), name), start

    def _scan_value(self, at: int, pointer: Pointer, key: int | None) -> int:
        """List the value at `at` and everything inside it; return the offset after it."""
        stack: list[_Frame] = []
        while True:
            if self.text.startswith(("[", "{"), at):
                stack.append(_Frame(pointer, key, at, is_object=self.text[at] == "{"))
                # Listed before its members; its end is set when it is known.
                self._add(pointer, key, at, at + 1)
                at = self._pass(_SKIP, at + 1)
            else:
                end = self._pass(_SCALAR, at)
                self._add(pointer, key, at, end)
                at = self._end_member(stack, end)
            while stack and self.text.startswith(("]", "}"), at):
                frame = stack.pop()
                self._add(frame.pointer, frame.key, frame.start, at + 1)
                at = self._end_member(stack, at + 1)
            if not stack or at >= len(self.text):
                return at
            top = stack[-1]
            if top.is_object:
                at, pointer, key = self._scan_key(at, top.pointer)
            else:
                pointer, key = (*top.pointer, top.index), None

    def _end_member(self, stack: list[_Frame], at: int) -> int:
        """Return where the next member or the closing bracket stands; `at` when no array or table is open."""
        if not stack:
            return at
        stack[-1].index += 1
        at = self._pass(_SKIP, at)
        return self._pass(_SKIP, at + 1) if self.text.startswith(",", at) else at


def _read_key(word: str) -> str:
    if word.startswith("'"):
        return word[1:-1]
    return _unescape(word[1:-1]) if word.startswith('"') else word


def _unescape(text: str) -> str:
    return _ESCAPE.sub(_replace_escape, text)


def _replace_escape(found: re.Match[str]) -> str:
    high, low, *codes, named = found.groups()
    if high is not None:
        return (chr(int(high, 16)) + chr(int(low, 16))).encode("utf-16", "surrogatepass").decode("utf-16")
    code = next(filter(None, codes), None)
    return _NAMED_ESCAPES.get(named, named) if code is None else chr(int(code, 16))
