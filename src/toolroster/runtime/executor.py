"""One call from request to result: the router's gates around a handler, sync and async.

Only cancellation propagates; whatever else goes wrong becomes a result.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable
from pathlib import Path

from toolroster.canonical import JsonObject
from toolroster.dispatch import CallContext, Prepared, Router
from toolroster.errors import HandlerMissingError, ToolrosterError
from toolroster.runtime.handlers import Handler, HandlerContext, Handlers
from toolroster.runtime.outcomes import read_exception, read_return
from toolroster.tools import NotExecuted, ToolCall, ToolOutcome, ToolResult


class Executor:
    """Runs calls of one surface with one set of handlers."""

    def __init__(self, router: Router, handlers: Handlers, root: Path) -> None:
        """Take the router, the handlers, and the folder that tools may work in."""
        self.router = router
        self.handlers = handlers
        self.root = root

    async def execute(self, call: ToolCall, context: CallContext | None = None) -> ToolResult:
        """Return the result of one call; a sync handler runs in a worker thread.

        Raises:
            asyncio.CancelledError: The caller was cancelled.
        """
        prepared = self.router.prepare(call, context)
        if isinstance(prepared, ToolResult):
            return prepared
        return self.router.finish(prepared, await self._run(prepared))

    def execute_sync(self, call: ToolCall, context: CallContext | None = None) -> ToolResult:
        """Return the result of one call, from a thread that runs no event loop; an async handler gets a loop of its own."""
        prepared = self.router.prepare(call, context)
        if isinstance(prepared, ToolResult):
            return prepared
        return self.router.finish(prepared, self._run_sync(prepared))

    async def _run(self, prepared: Prepared) -> ToolOutcome:
        try:
            handler = self.handlers.find(prepared.tool)
        except ToolrosterError as error:
            return _not_found(prepared, error)
        arguments = (self._context(prepared), prepared.arguments)
        try:
            if inspect.iscoroutinefunction(handler):
                return read_return(await handler(*arguments))
            value = await asyncio.to_thread(_enter, handler, *arguments)
            return read_return(await value if inspect.isawaitable(value) else value)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a handler raises becomes a result
            return read_exception(error)

    def _run_sync(self, prepared: Prepared) -> ToolOutcome:
        try:
            handler = self.handlers.find(prepared.tool)
        except ToolrosterError as error:
            return _not_found(prepared, error)
        try:
            value = handler(self._context(prepared), prepared.arguments)
            return read_return(asyncio.run(_wait(value)) if inspect.isawaitable(value) else value)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a handler raises becomes a result
            return read_exception(error)

    def _context(self, prepared: Prepared) -> HandlerContext:
        return HandlerContext(prepared.call, prepared.tool, self.root)


def _not_found(prepared: Prepared, error: ToolrosterError) -> ToolOutcome:
    if prepared.tool.origin.kind == "mcp" and isinstance(error, HandlerMissingError):
        server = prepared.tool.origin.detail
        return NotExecuted("server_unavailable", f"no connection to the server {server!r} of {prepared.tool.name!r}.")
    return NotExecuted("activation_failed", str(error))


def _enter(handler: Handler, context: HandlerContext, arguments: JsonObject) -> object:
    """Call a handler; a future takes no StopIteration, and whoever waits for it would wait for ever."""
    try:
        return handler(context, arguments)
    except StopIteration as error:
        return read_exception(error)


async def _wait(value: Awaitable[object]) -> object:
    return await value
