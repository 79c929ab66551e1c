"""Tool definitions, calls, outcomes and results."""

from __future__ import annotations

from toolroster.tools.calls import (
    DEPRECATIONS,
    Code,
    Content,
    NotExecuted,
    RuntimeFailure,
    Success,
    ToolCall,
    ToolOutcome,
    ToolReportedError,
    ToolResult,
)
from toolroster.tools.definition import BUILTIN, SYNTHETIC, Capability, Fragment, Origin, OriginKind, ToolDefinition

__all__ = [
    "BUILTIN",
    "DEPRECATIONS",
    "SYNTHETIC",
    "Capability",
    "Code",
    "Content",
    "Fragment",
    "NotExecuted",
    "Origin",
    "OriginKind",
    "RuntimeFailure",
    "Success",
    "ToolCall",
    "ToolDefinition",
    "ToolOutcome",
    "ToolReportedError",
    "ToolResult",
]
