"""Outcomes → results, and refusals: what the caller gets.

A result that fails its output schema says that the tool did run, so that nobody runs it again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from toolroster.canonical import JsonObject, JsonValue
from toolroster.schemas import SchemaFault
from toolroster.tools import (
    Code,
    Content,
    NotExecuted,
    RuntimeFailure,
    Success,
    ToolOutcome,
    ToolReportedError,
    ToolResult,
)

OUTPUT_WARNINGS = "dev.toolroster/output-warnings"
"""Metadata key of output faults that were let pass: a list of `{"pointer", "keyword", "expectation"}`."""
RAW_RESULT = "dev.toolroster/raw-result"
"""Metadata key of the result that failed its output schema: `{"content", "structured"}`."""

_CATEGORIES: dict[str, Code] = {
    "timeout": "timeout",
    "cancelled": "cancelled",
    "server_unavailable": "server_unavailable",
}

FindFaults: TypeAlias = Callable[[JsonValue], tuple[SchemaFault, ...]]


def refuse(code: Code, message: str, **fields: JsonValue) -> ToolResult:
    """Return an error result: the message as content, `{"error": {"code", "message", …fields}}` as structure.

    Fields that are None are left out.
    """
    error: JsonObject = {"code": code, "message": message}
    error |= {name: value for name, value in fields.items() if value is not None}
    return ToolResult(content=message, structured={"error": error}, is_error=True, code=code)


def view_outcome(tool: str, outcome: ToolOutcome, find_faults: FindFaults | None, *, strict: bool) -> ToolResult:
    """Return the result of one outcome.

    Args:
        tool: Canonical name of the tool.
        outcome: How the call ended.
        find_faults: Validates a success's structure; None for a tool without an output schema.
        strict: Whether an invalid output is an error; otherwise it is a result with a warning in metadata.
    """
    match outcome:
        case NotExecuted():
            return refuse(outcome.code, outcome.message, tool=tool, executed=False)
        case RuntimeFailure():
            code = _CATEGORIES.get(outcome.category, "handler_failed")
            # After a time-out or a cancellation nobody knows how far the tool came.
            executed: JsonValue = "unknown" if code in ("timeout", "cancelled", "server_unavailable") else True
            return refuse(code, outcome.message, tool=tool, category=outcome.category, executed=executed, retry_safe=False)
        case ToolReportedError():
            return ToolResult(outcome.content, outcome.structured, True, "tool_error", outcome.metadata)  # noqa: FBT003 - a field
        case Success():
            faults = find_faults(outcome.structured) if find_faults is not None else ()
            return _view_success(tool, outcome, faults, strict=strict)


def append_line(content: Content, line: str) -> Content:
    """Return the content with one more line of text at its end; the content given stays as it was."""
    if isinstance(content, str):
        return f"{content}\n{line}" if content else line
    return [*content, {"type": "text", "text": line}]


def _view_success(tool: str, outcome: Success, faults: tuple[SchemaFault, ...], *, strict: bool) -> ToolResult:
    if not faults:
        return ToolResult(outcome.content, outcome.structured, metadata=outcome.metadata)
    said: list[JsonValue] = [
        {"pointer": fault.pointer, "keyword": fault.keyword, "expectation": fault.expectation} for fault in faults
    ]
    if not strict:
        return ToolResult(outcome.content, outcome.structured, metadata={**outcome.metadata, OUTPUT_WARNINGS: said})
    listed = "; ".join(f"{fault.pointer or '/'}: {fault.expectation}" for fault in faults)
    message = f"{tool!r} did run, but its result is not what it promises ({listed}). Don't run it again."
    refusal = refuse("output_invalid", message, tool=tool, executed=True, retry_safe=False, faults=said)
    raw: JsonObject = {
        "content": outcome.content if isinstance(outcome.content, str) else [*outcome.content],
        "structured": outcome.structured,
    }
    return ToolResult(refusal.content, refusal.structured, True, "output_invalid", {**outcome.metadata, RAW_RESULT: raw})  # noqa: FBT003 - a field
