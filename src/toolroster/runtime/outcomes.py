"""What a handler returned or raised → a `ToolOutcome`."""

from __future__ import annotations

from toolroster.canonical import JsonObject, JsonValue, copy_json, copy_object, encode
from toolroster.errors import UnstableValueError
from toolroster.tools import RuntimeFailure, Success, ToolOutcome, ToolReportedError

ODD_META = "dev.toolroster/odd-meta"
"""Metadata key under which a handler's `_meta` is kept when it is no object."""

_MCP_KEYS = frozenset({"content", "structuredContent", "isError", "_meta"})


def read_return(value: object) -> ToolOutcome:
    """Return the outcome of what a handler returned; see `Handler` for the forms that it may take.

    A value that is no JSON is the handler's mistake, and the tool did run: `handler_failed`.
    """
    if isinstance(value, RuntimeFailure):
        return value
    try:
        return _read(value)
    except UnstableValueError as error:
        return RuntimeFailure("TypeError", f"the handler returned what is no JSON: {error}")


def read_exception(error: BaseException) -> RuntimeFailure:
    """Return the outcome of a handler that raised; a `TimeoutError` is a time-out."""
    if isinstance(error, TimeoutError):
        return RuntimeFailure("timeout", "the tool did not answer in time; it may still take effect.")
    # An error may quote a file name that has no UTF-8 form.
    text = f"the tool failed: {type(error).__name__}: {error}".encode("utf-8", "replace").decode()
    return RuntimeFailure(type(error).__name__, text)


def _read(value: object) -> ToolOutcome:
    if isinstance(value, Success | ToolReportedError):
        content = value.content if isinstance(value.content, list) else [value.content]
        texts = [copy_json(part) for part in content]
        said = texts if isinstance(value.content, list) else str(texts[0])
        return type(value)(said, copy_json(value.structured), copy_object(value.metadata))
    plain = copy_json(value)
    if plain is None:
        return Success()
    if isinstance(plain, str):
        return Success(plain)
    if isinstance(plain, dict) and plain.keys() <= _MCP_KEYS and plain.keys() & {"content", "structuredContent"}:
        return _read_mcp(plain)
    return Success(encode(plain).decode(), plain)


def _read_mcp(result: JsonObject) -> ToolOutcome:
    content, meta = result.get("content"), result.get("_meta")
    text = content if isinstance(content, str | list) else ""
    metadata: JsonObject = meta if isinstance(meta, dict) else {} if meta is None else {ODD_META: meta}
    structured: JsonValue = result.get("structuredContent")
    kind = ToolReportedError if result.get("isError") is True else Success
    return kind(text, structured, metadata)
