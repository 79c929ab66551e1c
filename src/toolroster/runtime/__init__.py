"""The runtime: handlers, and calls from request to result."""

from __future__ import annotations

from toolroster.runtime.executor import Executor
from toolroster.runtime.handlers import Handler, HandlerContext, Handlers
from toolroster.runtime.outcomes import ODD_META, read_exception, read_return

__all__ = ["ODD_META", "Executor", "Handler", "HandlerContext", "Handlers", "read_exception", "read_return"]
