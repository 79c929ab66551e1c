"""Which schemas does a schema hold, and how deep does it nest?"""

from __future__ import annotations

from collections.abc import Iterator

from toolroster.canonical import JsonObject, JsonValue, Pointer
from toolroster.schemas.keywords import SCHEMA_KEYWORDS, SCHEMA_LIST_KEYWORDS, SCHEMA_MAP_KEYWORDS

MAX_SCHEMA_DEPTH = 64
"""Levels of arrays and objects that a tool's schema, or a call's arguments, may nest."""


def walk_schemas(schema: JsonObject) -> Iterator[tuple[Pointer, JsonObject]]:
    """Yield `(pointer, subschema)` for every schema object, the root first, in document order; not recursive."""
    stack: list[tuple[Pointer, JsonValue]] = [((), schema)]
    while stack:
        pointer, value = stack.pop()
        if not isinstance(value, dict):
            continue
        yield pointer, value
        stack.extend(reversed(list(_members(pointer, value))))


def measure_depth(value: JsonValue) -> int:
    """Return how many levels of arrays and objects a value nests: 0 for a scalar, 1 for `{}`; not recursive."""
    deepest = 0
    stack = [(value, 1)] if isinstance(value, (dict, list)) else []
    while stack:
        item, depth = stack.pop()
        deepest = max(deepest, depth)
        children = item.values() if isinstance(item, dict) else item
        stack.extend([(child, depth + 1) for child in children if isinstance(child, (dict, list))])
    return deepest


def _members(pointer: Pointer, schema: JsonObject) -> Iterator[tuple[Pointer, JsonValue]]:
    for keyword, value in schema.items():
        match value:
            case dict() if keyword in SCHEMA_MAP_KEYWORDS:
                yield from (((*pointer, keyword, name), member) for name, member in value.items())
            case dict() if keyword in SCHEMA_KEYWORDS:
                yield (*pointer, keyword), value
            case list() if keyword in SCHEMA_LIST_KEYWORDS:
                yield from (((*pointer, keyword, index), member) for index, member in enumerate(value))
            case _:
                continue
