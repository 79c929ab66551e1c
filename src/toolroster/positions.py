"""Where does a name stand in a TOML or JSON text?

Scans texts that a strict reader has accepted already (JSON may have duplicate keys and the bare words NaN and Infinity).
Depth is bounded by memory alone: nothing here recurses.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Pointer: TypeAlias = tuple[str | int, ...]
"""Keys and array indexes from the document's root."""


@dataclass(frozen=True, slots=True)
class Place:
    """One key or array element.

    Attributes:
        pointer: Keys and indexes from the root; a table of an array of tables has its index.
        key: Code points from the text's start to the key, its quote included; None for array elements and the root.
        value: Offset of the value; of the `[` for a table made by a header, of the dotted part for a table made by one.
        end: Offset just after the value; for a table made by a header, just after the header.
    """

    pointer: Pointer
    key: int | None
    value: int
    end: int


@dataclass(slots=True)
class _Frame:
    """An array or object that has begun and not ended."""

    pointer: Pointer
    key: int | None
    start: int
    is_object: bool
    slot: int
    index: int = 0
    pending: tuple[str, int] | None = None


_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_NAMED_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")

_SKIP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BLANK = re.compile(r"[ \t]*")
_KEY = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|[A-Za-z0-9_-]+')
# Three quotes first; up to two more may stand before the closing three.
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'',
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\n]+")


def scan_json(text: str) -> tuple[Place, ...]:
    """Return the places of a JSON text in text order, the root first; a repeated key is listed each time."""
    places: list[Place] = []
    stack: list[_Frame] = []
    for token in _JSON_TOKEN.finditer(text):
        word, top = token[0], stack[-1] if stack else None
        if word in ("}", "]"):
            if top is not None:
                stack.pop()
                places[top.slot] = Place(top.pointer, top.key, top.start, token.end())
        elif word == ",":
            if top is not None:
                top.index, top.pending = top.index + 1, None
        elif word == ":":
            continue
        elif top is not None and top.is_object and top.pending is None:
            top.pending = (_unescape(word[1:-1]), token.start())
        else:
            pointer, key = _member(top)
            if word in ("{", "["):
                stack.append(_Frame(pointer, key, token.start(), word == "{", len(places)))
            places.append(Place(pointer, key, token.start(), token.end()))
    return tuple(places)


def scan_toml(text: str) -> tuple[Place, ...]:
    """Return the places of a TOML text in text order, the root first; tables made by dotted keys are listed too."""
    return _TomlScanner(text).scan()


class TextIndex:
    """Positions in one text; its structure is read when somebody first asks."""

    def __init__(self, text: str, syntax: Literal["json", "toml"]) -> None:
        """Keep the text; nothing is scanned yet."""
        self._text = text
        self._syntax = syntax
        self._places: tuple[Place, ...] | None = None
        self._by_pointer: dict[Pointer, Place] = {}
        self._line_starts: list[int] = []

    def place(self, pointer: Pointer) -> Place:
        """Return the place of a pointer: its first occurrence, or else that of its nearest ancestor."""
        self._scan()
        while pointer not in self._by_pointer and pointer:
            pointer = pointer[:-1]
        return self._by_pointer.get(pointer, Place((), None, 0, len(self._text)))

    def line_column(self, offset: int) -> tuple[int, int]:
        r"""Return the 1-based line and column, in code points, of an offset; lines end at `\n`."""
        if not self._line_starts:
            self._line_starts = [0, *(found.end() for found in re.finditer("\n", self._text))]
        line = bisect.bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def locate(self, pointer: Pointer, part: Literal["key", "value"] = "value") -> tuple[int, int]:
        """Return the line and column of a pointer's key or value; of its value when it has no key."""
        place = self.place(pointer)
        return self.line_column(place.key if part == "key" and place.key is not None else place.value)

    def duplicates(self) -> tuple[tuple[Place, Place], ...]:
        """Return `(first, later)` for every key that one object repeats, by text order of the later one."""
        self._scan()
        return tuple(
            (self._by_pointer[place.pointer], place)
            for place in self._places or ()
            if place.key is not None and self._by_pointer[place.pointer] is not place
        )

    def _scan(self) -> None:
        if self._places is None:
            self._places = scan_json(self._text) if self._syntax == "json" else scan_toml(self._text)
            for place in self._places:
                self._by_pointer.setdefault(place.pointer, place)


@dataclass(slots=True)
class _TomlScanner:
    text: str
    places: list[Place] = field(default_factory=list[Place])
    known: set[Pointer] = field(default_factory=set[Pointer])
    counts: dict[Pointer, int] = field(default_factory=dict[Pointer, int])

    def scan(self) -> tuple[Place, ...]:
        self.places.append(Place((), None, 0, len(self.text)))
        table: Pointer = ()
        at = self._skip(0)
        while at < len(self.text):
            if self.text[at] == "[":
                table, at = self._scan_header(at)
            else:
                at = self._scan_value(*self._scan_key(at, table))
            at = self._skip(at)
        return tuple(self.places)

    def _skip(self, at: int) -> int:
        found = _SKIP.match(self.text, at)
        return found.end() if found else at

    def _skip_blanks(self, at: int) -> int:
        found = _BLANK.match(self.text, at)
        return found.end() if found else at

    def _scan_parts(self, at: int) -> tuple[list[tuple[str, int, int]], int]:
        """Return `(name, start, end)` of every part of a dotted key, and the offset after it."""
        parts: list[tuple[str, int, int]] = []
        while True:
            at = self._skip_blanks(at)
            found = _KEY.match(self.text, at)
            if found is None:
                return parts, at
            parts.append((_read_key(found[0]), found.start(), found.end()))
            at = self._skip_blanks(found.end())
            if not self.text.startswith(".", at):
                return parts, at
            at += 1

    def _enter(self, pointer: Pointer, parts: list[tuple[str, int, int]]) -> Pointer:
        """Return where the parts lead, listing each table that they make."""
        for name, start, end in parts:
            pointer = (*pointer, name)
            if pointer in self.counts:
                pointer = (*pointer, self.counts[pointer] - 1)
            elif pointer not in self.known:
                self._add(Place(pointer, start, start, end))
        return pointer

    def _add(self, place: Place) -> None:
        self.known.add(place.pointer)
        self.places.append(place)

    def _scan_header(self, at: int) -> tuple[Pointer, int]:
        brackets = 2 if self.text.startswith("[[", at) else 1
        parts, end = self._scan_parts(at + brackets)
        end = min(self._skip_blanks(end) + brackets, len(self.text))
        outer = self._enter((), parts[:-1])
        name, start, _ = parts[-1]
        pointer: Pointer = (*outer, name)
        if brackets == 1:
            self._add(Place(pointer, start, at, end))
            return pointer, end
        index = self.counts.get(pointer, 0)
        self.counts[pointer] = index + 1
        if index == 0:
            self._add(Place(pointer, start, at, end))
        self._add(Place((*pointer, index), None, at, end))
        return (*pointer, index), end

    def _scan_key(self, at: int, table: Pointer) -> tuple[int, Pointer, int]:
        """Return `(offset of the value, pointer, offset of the key)`."""
        parts, at = self._scan_parts(at)
        outer = self._enter(table, parts[:-1])
        name, start, _ = parts[-1]
        # One character for the equals sign.
        return self._skip_blanks(at + 1), (*outer, name), start

    def _scan_value(self, at: int, pointer: Pointer, key: int | None) -> int:
        """List the value at `at` and everything inside it; return the offset after it."""
        stack: list[_Frame] = []
        while True:
            opening = self.text[at : at + 1]
            if opening in ("[", "{"):
                stack.append(_Frame(pointer, key, at, opening == "{", len(self.places)))
                self._add(Place(pointer, key, at, at + 1))
                at = self._skip(at + 1)
            else:
                end = self._end_of_scalar(at)
                self._add(Place(pointer, key, at, end))
                at = end
                if stack:
                    at = self._next_member(stack[-1], at)
            while stack and self.text[at : at + 1] in ("]", "}"):
                frame = stack.pop()
                at += 1
                self.places[frame.slot] = Place(frame.pointer, frame.key, frame.start, at)
                if stack:
                    at = self._next_member(stack[-1], at)
            if not stack or at >= len(self.text):
                return at
            top = stack[-1]
            if top.is_object:
                at, pointer, key = self._scan_key(at, top.pointer)
            else:
                pointer, key = (*top.pointer, top.index), None

    def _next_member(self, frame: _Frame, at: int) -> int:
        at = self._skip(at)
        if self.text.startswith(",", at):
            frame.index += 1
            at = self._skip(at + 1)
        return at

    def _end_of_scalar(self, at: int) -> int:
        found = _STRING.match(self.text, at)
        if found is not None:
            return found.end()
        found = _SCALAR.match(self.text, at)
        return at + len(found[0].rstrip()) if found is not None else at + 1


def _member(frame: _Frame | None) -> tuple[Pointer, int | None]:
    if frame is None:
        return (), None
    if frame.pending is None:
        return (*frame.pointer, frame.index), None
    name, key = frame.pending
    return (*frame.pointer, name), key


def _read_key(word: str) -> str:
    if word.startswith("'"):
        return word[1:-1]
    return _unescape(word[1:-1]) if word.startswith('"') else word


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(_replace_escape, text)
    return _SURROGATE_PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), plain)


def _replace_escape(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code:
        return chr(int(code, 16))
    return _NAMED_ESCAPES.get(found[4], found[4])
