"""Dispatch: one call through every gate, and its result."""

from __future__ import annotations

from toolroster.dispatch.arguments import ArgumentFault, adapt_arguments, read_arguments, repair_arguments
from toolroster.dispatch.blocks import encode_result, render_text
from toolroster.dispatch.results import OUTPUT_WARNINGS, RAW_RESULT, refuse
from toolroster.dispatch.router import REPAIRS, CallContext, Prepared, Router

__all__ = [
    "OUTPUT_WARNINGS",
    "RAW_RESULT",
    "REPAIRS",
    "ArgumentFault",
    "CallContext",
    "Prepared",
    "Router",
    "adapt_arguments",
    "encode_result",
    "read_arguments",
    "refuse",
    "render_text",
    "repair_arguments",
]
