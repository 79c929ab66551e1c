"""Which Python values have one stable JSON text, and how deep may they nest?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from toolroster.canonical.numbers import MAX_SAFE_INTEGER
from toolroster.errors import UnstableValueError

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
JsonObject: TypeAlias = "dict[str, JsonValue]"
Pointer: TypeAlias = "tuple[str | int, ...]"

MAX_DEPTH = 128
"""Levels of arrays and objects that any value or document may nest."""

_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**64 - 1


def write_pointer(pointer: Pointer) -> str:
    """Return the RFC 6901 text of a pointer; `()` is the empty string."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in pointer)


def find_instabilities(value: object) -> tuple[tuple[Pointer, str], ...]:
    """Return `(pointer, reason)` for every place that has no stable JSON text, in document order."""
    found: list[tuple[Pointer, str]] = []
    _copy(value, (), lambda pointer, reason: found.append((pointer, reason)))
    return tuple(found)


def copy_json(value: object) -> JsonValue:
    """Return a deep copy in plain `dict`, `list`, `str`, `int`, `float`, `bool` and `None`.

    Any mapping becomes a `dict`, a list or tuple becomes a `list`, and a whole float below 2**53 becomes an `int`
    (`-0.0` is 0). The order of keys and items is kept.

    Raises:
        UnstableValueError: NaN, an infinity, an integer past 64 bits, a lone surrogate, a key that is no string, a type
            that JSON lacks (a set has no order), or nesting past `MAX_DEPTH`. All such places are named at once.
    """
    found: list[tuple[str, str]] = []
    copy = _copy(value, (), lambda pointer, reason: found.append((write_pointer(pointer), reason)))
    if found:
        raise UnstableValueError(tuple(found))
    return copy


def copy_object(value: object) -> JsonObject:
    """Return `copy_json` of a mapping.

    Raises:
        UnstableValueError: As `copy_json`, and when the value is no mapping.
    """
    copy = copy_json(value)
    if not isinstance(copy, dict):
        raise UnstableValueError((("", f"{type(value).__name__} is not an object"),))
    return copy


def _copy(value: object, pointer: Pointer, report: Callable[[Pointer, str], None]) -> JsonValue:  # noqa: PLR0911 - one exit per JSON type
    match value:
        case None | bool():
            return value
        case str():
            if not value.isascii() and (surrogate := next((c for c in value if "\ud800" <= c <= "\udfff"), "")):
                report(pointer, f"lone surrogate U+{ord(surrogate):04X}")
            return str.__str__(value)
        case int():
            if not _MIN_INTEGER <= value <= _MAX_INTEGER:
                report(pointer, "integer past 64 bits")
            return int(value)
        case float():
            if not math.isfinite(value):
                report(pointer, f"{value} is not a JSON number")
                return None
            return int(value) if value.is_integer() and abs(value) < MAX_SAFE_INTEGER else float(value)
        case Mapping() | list() | tuple():
            if len(pointer) >= MAX_DEPTH:
                report(pointer, f"nested deeper than {MAX_DEPTH} levels")
                return None
            # What a container given from outside holds is checked member by member.
            return _copy_container(cast("Mapping[object, object] | list[object] | tuple[object, ...]", value), pointer, report)
        case _:
            report(pointer, f"{type(value).__name__} is not a JSON type")
            return None


def _copy_container(
    value: Mapping[object, object] | list[object] | tuple[object, ...],
    pointer: Pointer,
    report: Callable[[Pointer, str], None],
) -> JsonValue:
    if not isinstance(value, Mapping):
        return [_copy(item, (*pointer, index), report) for index, item in enumerate(value)]
    copy: JsonObject = {}
    for key, item in value.items():
        if not isinstance(key, str):
            report(pointer, f"key {key!r} is not a string")
            continue
        _copy(key, (*pointer, key), report)
        copy[str.__str__(key)] = _copy(item, (*pointer, key), report)
    return copy
