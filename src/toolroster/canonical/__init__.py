"""Value → bytes and text → value: the only place that knows orjson and json."""

from __future__ import annotations

from toolroster.canonical.numbers import MAX_SAFE_INTEGER, write_float
from toolroster.canonical.reading import Reading, parse_json, read_json, read_toml
from toolroster.canonical.values import (
    MAX_DEPTH,
    JsonObject,
    JsonValue,
    Pointer,
    copy_json,
    copy_object,
    find_instabilities,
    write_pointer,
)
from toolroster.canonical.writing import digest, encode, encode_plain, encode_sorted, write_line, write_pretty

__all__ = [
    "MAX_DEPTH",
    "MAX_SAFE_INTEGER",
    "JsonObject",
    "JsonValue",
    "Pointer",
    "Reading",
    "copy_json",
    "copy_object",
    "digest",
    "encode",
    "encode_plain",
    "encode_sorted",
    "find_instabilities",
    "parse_json",
    "read_json",
    "read_toml",
    "write_float",
    "write_line",
    "write_pointer",
    "write_pretty",
]
