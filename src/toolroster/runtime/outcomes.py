"""What a handler returned or raised → a `ToolOutcome`."""

from __future__ import annotations

from toolroster.canonical import JsonObject, JsonValue, copy_json, encode
from toolroster.errors import UnstableValueError
from toolroster.tools import RuntimeFailure, Success, ToolOutcome, ToolReportedError

ODD_META = "dev.toolroster/odd-meta"
"""Metadata key under which a handler's `_meta` is kept when it is no object."""

_MCP_KEYS = frozenset({"content", "structuredContent", "isError", "_meta"})


def read_return(value: object) -> ToolOutcome:
    """Return the outcome of what a handler returned; see `Handler` for the forms that it may take.

    A value that is no JSON is the handler's mistake, and the tool did run: `handler_failed`.
    """
    if isinstance(value, Success | ToolReportedError):
        return value
    if value is None:
        return Success()
    if isinstance(value, str):
        return Success(value)
    try:
        plain = copy_json(value)
    except UnstableValueError as error:
        return RuntimeFailure("TypeError", f"the handler returned what is no JSON: {error}")
    if isinstance(plain, dict) and plain.keys() <= _MCP_KEYS and plain.keys() & {"content", "structuredContent"}:
        return _read_mcp(plain)
    return Success(encode(plain).decode(), plain)


def read_exception(error: BaseException) -> RuntimeFailure:
    """Return the outcome of a handler that raised; a `TimeoutError` is a time-out."""
    if isinstance(error, TimeoutError):
        return RuntimeFailure("timeout", "the tool did not answer in time; it may still take effect.")
    return RuntimeFailure(type(error).__name__, f"the tool failed: {type(error).__name__}: {error}")


def _read_mcp(result: JsonObject) -> ToolOutcome:
    content, meta = result.get("content"), result.get("_meta")
    text = content if isinstance(content, str | list) else ""
    metadata: JsonObject = meta if isinstance(meta, dict) else {} if meta is None else {ODD_META: meta}
    structured: JsonValue = result.get("structuredContent")
    kind = ToolReportedError if result.get("isError") is True else Success
    return kind(text, structured, metadata)
