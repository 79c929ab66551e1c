"""Value → bytes: the one encoder behind every golden, digest and prefix."""

from __future__ import annotations

import hashlib
import json

import orjson

from toolroster.canonical.numbers import MAX_SAFE_INTEGER, write_float
from toolroster.canonical.values import JsonObject, JsonValue, copy_json


def encode(value: JsonValue) -> bytes:
    """Return the value's bytes: UTF-8, no spaces, no final newline, keys in the order they stand.

    Whole floats below 2**53 are written as integers; other floats in ECMAScript's shortest form, by our own code, since the
    text that JSON libraries give them changed between releases.

    Raises:
        UnstableValueError: The value has no stable JSON text (see `copy_json`).
    """
    return orjson.dumps(_fix_floats(copy_json(value)))


def encode_plain(value: JsonValue) -> bytes:
    """Return `encode` of a value that `copy_json` made, such as a definition's members, without checking it again."""
    return orjson.dumps(_fix_floats(value))


def encode_sorted(value: JsonValue) -> bytes:
    """Return `encode` with the keys of every object sorted by code point; arrays stay as they are.

    Raises:
        UnstableValueError: As `encode`.
    """
    return orjson.dumps(_fix_floats(copy_json(value)), option=orjson.OPT_SORT_KEYS)


def write_pretty(value: JsonValue) -> bytes:
    """Return the value as a catalog file: two spaces of indent, UTF-8, keys in the order they stand, final newline."""
    text = json.dumps(copy_json(value), indent=2, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode()


def write_line(value: JsonObject) -> str:
    """Return one line of JSON text, as `--format json` prints it."""
    return encode(value).decode()


def digest(data: bytes) -> str:
    """Return the SHA-256 of the bytes as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def _fix_floats(value: JsonValue) -> object:
    match value:
        case float():
            if value.is_integer() and abs(value) < MAX_SAFE_INTEGER:
                return int(value)
            return orjson.Fragment(write_float(value))
        case dict():
            return {key: _fix_floats(item) for key, item in value.items()}
        case list():
            return [_fix_floats(item) for item in value]
        case _:
            return value
