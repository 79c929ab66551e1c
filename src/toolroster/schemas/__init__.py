"""JSON Schema: keywords, walking and emitted order."""

from __future__ import annotations

from toolroster.schemas.ordering import PropertyOrder, order_data, order_root_schema, order_schema
from toolroster.schemas.validators import SchemaFault, Validator, compile_schema, find_dialect, find_schema_faults
from toolroster.schemas.walking import MAX_SCHEMA_DEPTH, measure_depth, walk_schemas

__all__ = [
    "MAX_SCHEMA_DEPTH",
    "PropertyOrder",
    "SchemaFault",
    "Validator",
    "compile_schema",
    "find_dialect",
    "find_schema_faults",
    "measure_depth",
    "order_data",
    "order_root_schema",
    "order_schema",
    "walk_schemas",
]
