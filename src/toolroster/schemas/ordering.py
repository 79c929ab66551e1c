"""In which order are the members of a schema written?

`declared`: schema objects by code point, maps from names as declared (models write arguments in that order), data as
declared. `sorted`: every object by code point, and the set-like arrays `required` and `dependentRequired` too.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from toolroster.canonical import JsonObject, JsonValue
from toolroster.schemas.keywords import (
    NAME_LIST_MAP_KEYWORDS,
    SCHEMA_KEYWORDS,
    SCHEMA_LIST_KEYWORDS,
    SCHEMA_MAP_KEYWORDS,
)

PropertyOrder: TypeAlias = Literal["declared", "sorted"]


def order_root_schema(schema: JsonObject, order: PropertyOrder, *, keep_dialect: bool = False) -> JsonObject:
    """Return a tool's root schema in its emitted order; the input is left as it was.

    `{}` and `{"type": "object"}` gain `"properties": {}`, so that "no parameters" has one form. A root `$schema` is
    dropped unless `keep_dialect`.
    """
    root = schema if keep_dialect else {key: value for key, value in schema.items() if key != "$schema"}
    said = {key for key, value in root.items() if key != "$schema" and (key, value) != ("required", [])}
    if said <= {"type"} and root.get("type", "object") == "object":
        root = {"type": "object", "properties": {}, **root}
    return order_schema(root, order)


def order_schema(schema: JsonObject, order: PropertyOrder) -> JsonObject:
    """Return a schema in its emitted order, recursively; an empty `required` is dropped."""
    return {
        keyword: _order_keyword(keyword, schema[keyword], order)
        for keyword in sorted(schema)
        if not (keyword == "required" and schema[keyword] == [])
    }


def order_data(value: JsonValue, order: PropertyOrder) -> JsonValue:
    """Return data (a default, a const, annotations, an unknown keyword's value) in its emitted order."""
    if order == "declared":
        return value
    match value:
        case dict():
            return {key: order_data(value[key], order) for key in sorted(value)}
        case list():
            return [order_data(item, order) for item in value]
        case _:
            return value


def _order_keyword(keyword: str, value: JsonValue, order: PropertyOrder) -> JsonValue:
    match value:
        case dict() if keyword in SCHEMA_MAP_KEYWORDS:
            names = sorted(value) if order == "sorted" else value
            return {name: _order_member(value[name], order) for name in names}
        case dict() if keyword in NAME_LIST_MAP_KEYWORDS:
            names = sorted(value) if order == "sorted" else value
            return {name: _order_names(value[name], order) for name in names}
        case dict() if keyword in SCHEMA_KEYWORDS:
            return order_schema(value, order)
        case list() if keyword in SCHEMA_LIST_KEYWORDS:
            return [_order_member(item, order) for item in value]
        case list() if keyword == "required":
            return _order_names(value, order)
        case _:
            return order_data(value, order)


def _order_member(value: JsonValue, order: PropertyOrder) -> JsonValue:
    # A boolean schema, or garbage where a schema should stand, is kept as it is.
    return order_schema(value, order) if isinstance(value, dict) else order_data(value, order)


def _order_names(value: JsonValue, order: PropertyOrder) -> JsonValue:
    names = [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
    if order == "sorted" and isinstance(value, list) and len(names) == len(value):
        return [*sorted(names)]
    return order_data(value, order)
