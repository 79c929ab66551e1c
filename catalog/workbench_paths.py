"""Which paths may a workbench tool touch? Only those that stay inside its root when every link is followed."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from toolroster.canonical import JsonObject
from toolroster.runtime import HandlerContext
from toolroster.tools import ToolReportedError

SKIPPED_FOLDERS = frozenset({".git", ".hg", ".venv", ".venvs", "node_modules", "__pycache__", ".mypy_cache", ".ruff_cache"})
"""Folders that searches never enter."""

SyncHandler: TypeAlias = Callable[[HandlerContext, JsonObject], object]


class ToolProblem(Exception):  # noqa: N818 - it is no mistake of the program, and the model reads it
    """Raised by a handler when the tool can't do what was asked; the text is for the model."""


class ConfinementError(ToolProblem):
    """Raised for a path that leads out of the tool's root."""


def report_problems(handler: SyncHandler) -> SyncHandler:
    """Return the handler with its `ToolProblem`s turned into errors that the tool itself reports."""

    @functools.wraps(handler)
    def reporting(context: HandlerContext, arguments: JsonObject) -> object:
        try:
            return handler(context, arguments)
        except ToolProblem as problem:
            return ToolReportedError(str(problem))
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError) as error:
            name = Path(str(error.filename)).name if error.filename else "the file"
            return ToolReportedError(f"{name}: {error.strerror}.")

    return reporting


def confine(root: Path, path: str) -> Path:
    """Return where a relative path leads, every link followed.

    Raises:
        ConfinementError: The path is absolute, or leads out of the root by `..` or by a link.
    """
    home = root.resolve()
    if Path(path).is_absolute() or "\0" in path:
        raise ConfinementError(f"{path!r}: give a path relative to the workspace.")
    found = (home / path).resolve()
    if found != home and home not in found.parents:
        raise ConfinementError(f"{path!r} leads out of the workspace.")
    return found


def show(root: Path, path: Path) -> str:
    """Return a path inside the root as a POSIX path relative to it."""
    return path.relative_to(root.resolve()).as_posix()


def walk(root: Path, start: Path) -> Iterator[Path]:
    """Yield the files below `start` by path, without skipped folders and without following links out of the root."""
    home = root.resolve()
    if start.is_file():
        yield start
        return
    for base, folders, names in os.walk(start):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS and not (Path(base) / name).is_symlink())
        for name in sorted(names):
            path = Path(base) / name
            if path.is_file() and home in path.resolve().parents:
                yield path


def read_text(path: Path) -> str:
    """Return a file's text.

    Raises:
        ToolProblem: The file is no UTF-8 text.
        OSError: The file can't be read.
    """
    data = path.read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ToolProblem(f"{path.name} is no UTF-8 text ({len(data)} bytes).") from None


def text_of(arguments: JsonObject, name: str, default: str = "") -> str:
    """Return a text argument; the schema has checked its type."""
    value = arguments.get(name, default)
    return value if isinstance(value, str) else default


def number_of(arguments: JsonObject, name: str, default: int) -> int:
    """Return a whole-number argument; the schema has checked its type and bounds."""
    value = arguments.get(name, default)
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def flag_of(arguments: JsonObject, name: str) -> bool:
    """Return a flag that is off unless it is given."""
    return arguments.get(name) is True
