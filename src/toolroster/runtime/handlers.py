"""Which function runs a tool? Handlers register by name, or are found by a definition's `implementation`.

This is the only place that imports user code.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from toolroster.canonical import JsonObject, digest
from toolroster.errors import HandlerMissingError, WorkspaceError
from toolroster.names import suggest
from toolroster.tools import ToolCall, ToolDefinition

HandlerT = TypeVar("HandlerT", bound="Handler")


@dataclass(frozen=True, slots=True)
class HandlerContext:
    """What a handler is told besides its arguments.

    Attributes:
        call: The call as it was made; a handler sees the requested name only here.
        tool: The canonical tool that runs.
        root: The folder that the tool may work in.
    """

    call: ToolCall
    tool: ToolDefinition
    root: Path


Handler = Callable[[HandlerContext, JsonObject], object]
"""`(context, arguments) -> result`, sync or async.

A result is text; a `Success` or `ToolReportedError`; an MCP result `{"content", "structuredContent", "isError", "_meta"}`
when it has no other keys and one of the first two; or any other JSON value, which becomes the structured result.
"""


class Handlers:
    """Handlers by tool name; what is registered beats what a definition's `implementation` names."""

    def __init__(self, folder: Path | None = None) -> None:
        """Look `implementation = "module:function"` up in `<folder>/<module>.py`, which is imported when first needed."""
        self._folder = folder
        self._registered: dict[str, Handler] = {}
        self._modules: dict[str, Mapping[str, object]] = {}

    def register(self, name: str) -> Callable[[HandlerT], HandlerT]:
        """Register the decorated function as the handler of a tool, by its canonical name."""

        def decorate(handler: HandlerT) -> HandlerT:
            self._registered[name] = handler
            return handler

        return decorate

    def find(self, tool: ToolDefinition) -> Handler:
        """Return a tool's handler.

        Raises:
            HandlerMissingError: Nothing runs the tool.
            WorkspaceError: The module of its `implementation` can't be imported.
        """
        if tool.name in self._registered:
            return self._registered[tool.name]
        module, _, function = (tool.implementation or "").partition(":")
        if self._folder is None or not function:
            raise HandlerMissingError(tool.name, "it has no registered handler and no implementation that can be looked up")
        members = self._load(module)
        found = members.get(function)
        if not callable(found):
            hint = suggest(function, (name for name, member in members.items() if callable(member)))
            raise HandlerMissingError(tool.name, f"{module}.py has no function {function!r}{hint}")
        return found

    def _load(self, module: str) -> Mapping[str, object]:
        if module in self._modules:
            return self._modules[module]
        folder = self._folder or Path()
        path = folder / f"{module}.py"
        if not module.isidentifier() or not path.is_file():
            raise WorkspaceError(f"there is no {folder.name}/{module}.py, which an 'implementation' names.")
        try:
            loaded = importlib.import_module(f"{_make_package(folder)}.{module}")
        except Exception as error:
            raise WorkspaceError(f"importing {folder.name}/{module}.py failed: {type(error).__name__}: {error}") from error
        self._modules[module] = vars(loaded)
        return self._modules[module]


def _make_package(folder: Path) -> str:
    """Return the name of a package that holds the folder's modules, so that they can import each other relatively.

    The name is the folder's own, so that a module called like a library shadows nothing.
    """
    resolved = folder.resolve().as_posix()
    name = f"_toolroster_handlers_{digest(resolved.encode())[:16]}"
    if name not in sys.modules:
        package = ModuleType(name)
        package.__path__ = [resolved]
        sys.modules[name] = package
    return name
