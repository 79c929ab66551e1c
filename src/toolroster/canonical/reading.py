"""Text → value: strict reading of JSON and TOML, with every fault placed.

Refuses what readers silently accept elsewhere: duplicate keys, NaN, a byte order mark, bad UTF-8, nesting past the limit.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import Final

import orjson

from toolroster.canonical.values import MAX_DEPTH, JsonObject, JsonValue, find_instabilities, write_pointer
from toolroster.diagnostics import Anchor, Fault
from toolroster.positions import TextIndex

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_JSON_BLANKS = " \t\r\n"
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)
# Multi-line strings first, so that their quotes don't read as short strings.
_TOML_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?|#[^\n]*|[\[{]|[\]}]',
    re.DOTALL,
)
_TOML_POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_TOML_DUPLICATE = re.compile(r"Cannot (?:overwrite|declare|mutate)|Duplicate")


@dataclass(frozen=True, slots=True)
class Reading:
    """What came out of one text.

    Attributes:
        value: The parsed value; None when the text could not be parsed (`faults` then says why).
        text: The decoded text; empty when it is not UTF-8.
        faults: Every fault found, in text order.
    """

    value: JsonValue
    text: str
    faults: tuple[Fault, ...]


def read_json(path: str, data: bytes) -> Reading:
    """Read a strict JSON document; `path` is only used to place faults."""
    text, faults = _decode(path, data)
    if faults:
        return Reading(None, text, faults)
    if (deep := _find_too_deep(path, text, _JSON_TOKEN)) is not None:
        return Reading(None, text, (deep,))
    repeats: list[str] = []
    try:
        value = json.loads(
            text,
            object_pairs_hook=lambda pairs: _collect_pairs(pairs, repeats),
            parse_constant=float,
            parse_int=_parse_integer,
        )
    except json.JSONDecodeError as error:
        return Reading(None, text, (_json_fault(path, text, error),))
    return Reading(value, text, (*_duplicate_faults(path, text, repeats), *_stability_faults(path, value)))


def read_toml(path: str, data: bytes) -> Reading:
    """Read a strict TOML 1.0 document; `path` is only used to place faults."""
    text, faults = _decode(path, data)
    if faults:
        return Reading(None, text, faults)
    if (deep := _find_too_deep(path, text, _TOML_TOKEN)) is not None:
        return Reading(None, text, (deep,))
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Reading(None, text, (_toml_fault(path, text, str(error)),))
    except ValueError:
        # int() of the standard library refuses decimal integers of thousands of digits, and doesn't say where.
        return Reading(None, text, (Fault("unstable-number", "an integer is past 64 bits.", Anchor(path, offset=0)),))
    # Dotted keys nest without brackets, and dates are no JSON: both are found in the value.
    return Reading(value, text, _stability_faults(path, value))


def parse_json(data: bytes | str) -> JsonValue:
    """Return the value of JSON that toolroster itself wrote; quick, and without positions.

    Raises:
        ValueError: The text is not JSON.
    """
    value: JsonValue = orjson.loads(data)
    return value


def _decode(path: str, data: bytes) -> tuple[str, tuple[Fault, ...]]:
    if data.startswith(_BYTE_ORDER_MARK):
        fix = "Save the file as UTF-8 without a byte order mark."
        fault = Fault("invalid-syntax", "the file begins with a byte order mark.", Anchor(path, offset=0), fix)
        return "", (fault,)
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        line_column = (before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
        message = f"byte {error.start} (0x{data[error.start]:02X}) is not valid UTF-8."
        return "", (Fault("invalid-syntax", message, Anchor(path, line_column=line_column), "Save the file as UTF-8."),)


def _find_too_deep(path: str, text: str, token: re.Pattern[str]) -> Fault | None:
    """Count brackets outside strings, without recursion, before any recursive parser sees the text."""
    depth = 0
    for found in token.finditer(text):
        if found[0] in ("[", "{"):
            depth += 1
            if depth > MAX_DEPTH:
                message = f"nested deeper than {MAX_DEPTH} levels."
                return Fault("too-deep", message, Anchor(path, offset=found.start()))
        elif found[0] in ("]", "}"):
            depth -= 1
    return None


def _collect_pairs(pairs: list[tuple[str, JsonValue]], repeats: list[str]) -> JsonObject:
    collected = dict(pairs)
    if len(collected) != len(pairs):
        repeats.append("")
    return collected


def _parse_integer(digits: str) -> int | float:
    # A float stands in for an integer of thousands of digits, which int() refuses: both are past 64 bits.
    return int(digits) if len(digits) < 64 else float("inf")  # noqa: PLR2004 - 64 bits need at most 20 digits


def _duplicate_faults(path: str, text: str, repeats: list[str]) -> tuple[Fault, ...]:
    if not repeats:
        return ()
    index = TextIndex(text, "json")
    faults: list[Fault] = []
    for first, later in index.duplicates():
        line, column = index.line_column(first.key or 0)
        message = f"key {str(later.pointer[-1])!r} stands twice in one object; first at line {line}, column {column}."
        faults.append(Fault("duplicate-key", message, Anchor(path, later.pointer, offset=later.key)))
    return tuple(faults)


def _stability_faults(path: str, value: JsonValue) -> tuple[Fault, ...]:
    return tuple(
        Fault(_rule_for(reason), f"{write_pointer(pointer) or 'the document'}: {reason}.", Anchor(path, pointer))
        for pointer, reason in find_instabilities(value)
    )


def _rule_for(reason: str) -> str:
    """Return the name of the rule that a reason given by `find_instabilities` breaks."""
    if reason.startswith("lone surrogate"):
        return "lone-surrogate"
    if reason.startswith("nested"):
        return "too-deep"
    return "unstable-number" if "number" in reason or "integer" in reason else "invalid-value"


def _json_fault(path: str, text: str, error: json.JSONDecodeError) -> Fault:
    """Return the fault of a syntax error; a comma before a closing bracket reads the same on every Python."""
    message, at = error.msg, error.pos
    before = text[:at].rstrip(_JSON_BLANKS)
    if text[at : at + 1] in ("]", "}") and before.endswith(","):
        at = len(before) - 1
    if text[at : at + 1] == "," and text[at + 1 :].lstrip(_JSON_BLANKS)[:1] in ("]", "}"):
        message = "Illegal trailing comma"
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return Fault("invalid-syntax", f"not valid JSON: {message}.", Anchor(path, line_column=(line, column)))


def _toml_fault(path: str, text: str, message: str) -> Fault:
    position = _TOML_POSITION.search(message)
    words = message[: position.start()] if position else message
    rule = "duplicate-key" if _TOML_DUPLICATE.search(words) else "invalid-syntax"
    if position and position[1]:
        anchor = Anchor(path, line_column=(int(position[1]), int(position[2])))
    else:
        anchor = Anchor(path, offset=len(text))
    return Fault(rule, f"not valid TOML: {words}.", anchor)
