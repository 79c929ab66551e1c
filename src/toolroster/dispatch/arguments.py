"""Call arguments: text → object, legacy shape → the replacement's shape, and repairs where the policy asks for them.

Pure. Faults name a place and an expectation and never the value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from toolroster.canonical import MAX_SAFE_INTEGER, JsonObject, JsonValue, copy_json, read_json
from toolroster.errors import UnstableValueError
from toolroster.policy.calls import Repair
from toolroster.policy.manifest import ArgumentAdapter
from toolroster.schemas import MAX_SCHEMA_DEPTH, SchemaFault, Validator, measure_depth

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_TYPE_KEYWORDS = ("anyOf", "oneOf", "type")
"""What a schema says "no string" with: `anyOf` where a value may also be null."""
_CONTAINER = re.compile(r"[\[{].*[\]}]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ArgumentFault:
    """Why arguments can't be used at all.

    Attributes:
        reason: `arguments_not_json`, `arguments_not_object`, `arguments_too_deep` or `arguments_conflict`.
        message: What is wrong.
        offset: Code points into the text, for text that is no JSON.
    """

    reason: str
    message: str
    offset: int | None = None


_TOO_DEEP = ArgumentFault("arguments_too_deep", f"arguments nest deeper than {MAX_SCHEMA_DEPTH} levels")


def read_arguments(given: Mapping[str, object] | str | None) -> JsonObject | ArgumentFault:
    """Return the arguments as an object; nothing, blank text, `""` and `{}` are the empty object.

    Text is read strictly: a duplicate key or a number that JSON lacks makes it unusable. `null` is no object.
    """
    if given is None:
        return {}
    value = _parse(given) if isinstance(given, str) else _copy(given)
    if isinstance(value, ArgumentFault):
        return value
    if value == "" and isinstance(given, str):
        return {}
    if not isinstance(value, dict):
        return ArgumentFault("arguments_not_object", f"arguments must be an object, found {_kind(value)}")
    return _TOO_DEEP if measure_depth(value) > MAX_SCHEMA_DEPTH else value


def adapt_arguments(arguments: JsonObject, adapter: ArgumentAdapter) -> JsonObject | ArgumentFault:
    """Return a legacy call's arguments in the replacement's shape: rename, drop, default, set, in this order.

    Arguments are renamed all at once, so that two may swap their names, and what is dropped conflicts with nothing.
    """
    adapted: JsonObject = {}
    sources: dict[str, str] = {}
    rename, drop = adapter.rename, adapter.drop
    for name, value in arguments.items():
        if name in drop:
            continue
        renamed = rename.get(name, name)
        first = sources.setdefault(renamed, name)
        if first != name:
            return ArgumentFault("arguments_conflict", f"{first!r} and {name!r} both give the argument {renamed!r}")
        adapted[renamed] = value
    for name, value in adapter.default.items():
        adapted.setdefault(name, copy_json(value))
    for name, value in adapter.set.items():
        adapted[name] = copy_json(value)
    return adapted


def repair_arguments(
    arguments: JsonObject, validator: Validator, repairs: Sequence[Repair]
) -> tuple[JsonObject, tuple[str, ...], tuple[SchemaFault, ...]]:
    """Return `(arguments, pointers of what was repaired, faults that are left)`.

    Only places that the schema refuses are touched, so text that happens to be JSON stays text where text is allowed. A repair
    that does not make its place valid is undone.
    """
    faults = validator.find_faults(arguments)
    repaired: list[str] = []
    for fault in faults if repairs else ():
        candidate = _repair(arguments, fault, repairs)
        if candidate is not None:
            left = validator.find_faults(candidate)
            if not any(_covers(fault.pointer, other.pointer) for other in left):
                arguments, faults = candidate, left
                repaired.append(fault.pointer)
    return arguments, tuple(repaired), faults


def read_pointer(pointer: str) -> list[str]:
    """Return the parts of an RFC 6901 pointer."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _parse(text: str) -> JsonValue | ArgumentFault:
    if not text.strip():
        return {}
    reading = read_json("", text.encode("utf-8", "surrogatepass"))
    if not reading.faults:
        # A whole float becomes an integer here as it does in an object.
        return _copy(reading.value) if isinstance(reading.value, dict) else reading.value
    fault = reading.faults[0]
    if fault.rule == "too-deep":
        return _TOO_DEEP
    offset = fault.anchor.offset
    if fault.anchor.line_column is not None:
        line, column = fault.anchor.line_column
        # A JSON parser counts "\n" alone as the end of a line.
        offset = sum(len(part) + 1 for part in text.split("\n")[: line - 1]) + column - 1
    return ArgumentFault("arguments_not_json", f"arguments are not JSON: {_plain(fault.message)}", offset)


def _plain(message: str) -> str:
    return message.removeprefix("not valid JSON: ").rstrip(".")


def _copy(given: Mapping[str, object]) -> JsonValue | ArgumentFault:
    if (flat := _copy_flat(given)) is not None:
        return flat
    try:
        return copy_json(given)
    except UnstableValueError as error:
        pointer, reason = error.problems[0]
        if reason.startswith("nested"):
            return _TOO_DEEP
        return ArgumentFault("arguments_not_json", f"argument {pointer}: {reason}")


def _copy_flat(given: Mapping[str, object]) -> JsonObject | None:
    """Return the copy of an object of texts, small integers, booleans and nulls, as most calls have; of any other None."""
    copy: JsonObject = {}
    for name, value in given.items():
        if type(name) is not str or not name.isascii() or not _is_plain(value):
            return None
        copy[name] = value
    return copy


def _is_plain(value: object) -> TypeGuard[str | int | bool | None]:
    if type(value) is str:
        return value.isascii()
    return value is None or isinstance(value, bool) or (type(value) is int and abs(value) < MAX_SAFE_INTEGER)


def _kind(value: JsonValue) -> str:
    if value is None:
        return "null"
    names: dict[type[object], str] = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "an array"}
    return names.get(type(value), "an object")


def _covers(pointer: str, other: str) -> bool:
    return other == pointer or other.startswith(pointer + "/")


def _repair(arguments: JsonObject, fault: SchemaFault, repairs: Sequence[Repair]) -> JsonObject | None:
    """Return the arguments with the fault's place repaired, or None when no repair fits it."""
    parts = read_pointer(fault.pointer)
    copy = copy_json(arguments)
    parent: JsonValue = copy
    for part in parts[:-1]:
        parent = _child(parent, part)
    if not parts or not isinstance(copy, dict):
        return None
    value = _child(parent, parts[-1])
    if "nulls" in repairs and value is None and isinstance(parent, dict) and parts[-1] in parent:
        del parent[parts[-1]]
        return copy
    if "strings" in repairs and isinstance(value, str) and fault.keyword in _TYPE_KEYWORDS:
        parsed = _parse_repair(value)
        if isinstance(parent, dict):
            parent[parts[-1]] = parsed
        elif isinstance(parent, list):
            parent[int(parts[-1])] = parsed
        # What the text held may nest deeper than validators take.
        return copy if parsed is not None and measure_depth(copy) <= MAX_SCHEMA_DEPTH else None
    return None


def _child(parent: JsonValue, part: str) -> JsonValue:
    if isinstance(parent, dict):
        return parent.get(part)
    if isinstance(parent, list) and part.isdecimal() and int(part) < len(parent):
        return parent[int(part)]
    return None


def _parse_repair(text: str) -> JsonValue:
    """Return the value that a text spells exactly, or None; `" 2000"`, `"0x10"` and `"null"` spell nothing."""
    if text in ("true", "false") or _NUMBER.fullmatch(text) or _CONTAINER.fullmatch(text):
        reading = read_json("", text.encode("utf-8", "surrogatepass"))
        return None if reading.faults else copy_json(reading.value)
    return None
