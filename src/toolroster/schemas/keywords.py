"""Where may a schema stand inside a schema, and which objects are maps from names?

Source: JSON Schema 2020-12 core and validation vocabularies, with the older `definitions`, `additionalItems` and
list-valued `items`.
"""

from __future__ import annotations

from typing import Final

SCHEMA_KEYWORDS: Final = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""The value is a schema (`items` may also be a list of schemas)."""

SCHEMA_LIST_KEYWORDS: Final = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
"""The value is a list of schemas."""

SCHEMA_MAP_KEYWORDS: Final = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
"""The value maps names to schemas; the names' order is the author's."""

NAME_LIST_MAP_KEYWORDS: Final = frozenset({"dependentRequired"})
"""The value maps names to lists of names."""
