"""What is a tool call, how can it end, and what does the caller get?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from toolroster.canonical import JsonObject, JsonValue

Content: TypeAlias = "str | list[JsonValue]"
"""What the model reads: text, or MCP content blocks."""

Code: TypeAlias = Literal[
    "unknown_tool",
    "tool_removed",
    "denied",
    "confirmation_required",
    "not_callable_in_mode",
    "access_denied",
    "checkpoint_required",
    "not_loaded",
    "invalid_arguments",
    "activation_failed",
    "tool_error",
    "handler_failed",
    "output_invalid",
    "timeout",
    "cancelled",
    "plan_closed",
    "server_unavailable",
    "bridge_recursion",
]
"""Why a call did not succeed; the same words everywhere."""

DEPRECATIONS = "dev.toolroster/deprecations"
"""Metadata key of deprecation notices: a list of `{"name", "replacement", "first_deprecated_version",
"planned_removal_version", "note", "message"}`."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call as the model made it.

    Attributes:
        name: The name that was called, exactly.
        arguments: The arguments as an object, or the JSON text that the provider delivered; None and blank text mean none.
        call_id: The provider's id of the call; the reply is paired by it.
    """

    name: str
    arguments: Mapping[str, object] | str | None = None
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the caller gets: the view of an outcome.

    Attributes:
        content: What the model reads.
        structured: The structured result; of an error `{"error": {"code", "message", …}}`.
        is_error: Whether the call failed or was refused.
        code: Why, when `is_error`.
        metadata: For the host, never for the model: notices, repairs, the handler's own entries.
    """

    content: Content = ""
    structured: JsonValue = None
    is_error: bool = False
    code: Code | None = None
    metadata: JsonObject = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True)
class Success:
    """The tool ran and returned.

    Attributes:
        content: What the model reads.
        structured: The structured result.
        metadata: The handler's own entries.
    """

    content: Content = ""
    structured: JsonValue = None
    metadata: JsonObject = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True)
class ToolReportedError:
    """The tool ran and said itself that it failed; its attributes are those of `Success`."""

    content: Content = ""
    structured: JsonValue = None
    metadata: JsonObject = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True)
class RuntimeFailure:
    """The tool was entered, and ended in an exception, a time-out or a cancellation.

    Attributes:
        category: `timeout`, `cancelled`, `server_unavailable`, or the exception's class name.
        message: What happened, for the model; holds no argument values.
    """

    category: str
    message: str


@dataclass(frozen=True, slots=True)
class NotExecuted:
    """The tool was never entered, so a retry is safe.

    Attributes:
        code: Why.
        message: What happened, for the model.
    """

    code: Code
    message: str


ToolOutcome: TypeAlias = Success | ToolReportedError | RuntimeFailure | NotExecuted
"""How a call ended; the class is the status."""
