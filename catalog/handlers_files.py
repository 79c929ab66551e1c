"""Files of the workbench: read, write, edit, list. Everything stays inside the context's root."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from toolroster.canonical import JsonObject
from toolroster.runtime import HandlerContext

from .workbench_paths import (
    SKIPPED_FOLDERS,
    ToolProblem,
    confine,
    flag_of,
    number_of,
    read_text,
    report_problems,
    show,
    text_of,
)

_MAX_LINE = 2_000


@report_problems
def read_file(context: HandlerContext, arguments: JsonObject) -> object:
    """Return the asked lines with their numbers, and what follows them."""
    path = confine(context.root, text_of(arguments, "path"))
    lines = read_text(path).splitlines()
    start = number_of(arguments, "start_line", 1)
    end = min(start - 1 + number_of(arguments, "max_lines", 1_000), len(lines))
    if start > max(len(lines), 1):
        raise ToolProblem(f"{show(context.root, path)} has {len(lines)} lines; there is no line {start}.")
    shown = [f"{number}\t{line[:_MAX_LINE]}" for number, line in enumerate(lines[start - 1 : end], start)]
    if end < len(lines):
        shown.append(f"[{len(lines) - end} more lines; read on with start_line {end + 1}]")
    return "\n".join(shown) if shown else "[the file is empty]"


@report_problems
def write_file(context: HandlerContext, arguments: JsonObject) -> object:
    """Write the whole file and say how many bytes, and whether it is new."""
    path = confine(context.root, text_of(arguments, "path"))
    existed = path.exists()
    if existed and flag_of(arguments, "create_only"):
        raise ToolProblem(f"{show(context.root, path)} exists; leave create_only out to replace it.")
    data = text_of(arguments, "content").encode()
    replace_file(path, data)
    return f"{'replaced' if existed else 'created'} {show(context.root, path)} ({len(data)} bytes)"


@report_problems
def edit_file(context: HandlerContext, arguments: JsonObject) -> object:
    """Replace the text where it occurs exactly as often as expected, and return the changed lines."""
    path = confine(context.root, text_of(arguments, "path"))
    text, old, new = read_text(path), text_of(arguments, "old_text"), text_of(arguments, "new_text")
    expected, found = number_of(arguments, "expected_count", 1), text.count(old)
    if found != expected:
        raise ToolProblem(
            f"old_text occurs {found} times in {show(context.root, path)}, expected {expected}; nothing was changed."
        )
    changed = text.replace(old, new)
    replace_file(path, changed.encode())
    first = text[: text.index(old)].count("\n") + 1
    lines = changed.splitlines()[first - 1 : first + new.count("\n")]
    return "\n".join(f"{number}\t{line[:_MAX_LINE]}" for number, line in enumerate(lines, first)) or "[text deleted]"


@report_problems
def list_dir(context: HandlerContext, arguments: JsonObject) -> object:
    """Return the entries, folders first, one a line: kind, size, path."""
    start = confine(context.root, text_of(arguments, "path", "."))
    if not start.is_dir():
        raise ToolProblem(f"{text_of(arguments, 'path', '.')!r} is no folder.")
    hidden, limit = flag_of(arguments, "include_hidden"), number_of(arguments, "limit", 200)
    lines: list[str] = []
    pending = [(start, number_of(arguments, "depth", 1))]
    while pending:
        folder, depth = pending.pop(0)
        entries = [entry for entry in folder.iterdir() if hidden or not entry.name.startswith(".")]
        for entry in sorted(entries, key=lambda entry: (not entry.is_dir(), entry.name)):
            is_folder = entry.is_dir() and not entry.is_symlink()
            name = entry.relative_to(context.root.resolve()).as_posix()
            kind = "link" if entry.is_symlink() else "file"
            lines.append(f"dir\t-\t{name}/" if is_folder else f"{kind}\t{entry.lstat().st_size}\t{name}")
            if is_folder and depth > 1 and entry.name not in SKIPPED_FOLDERS:
                pending.append((entry, depth - 1))
    more = [f"[{len(lines) - limit} more entries]"] if len(lines) > limit else []
    return "\n".join(lines[:limit] + more) or "[the folder is empty]"


def replace_file(path: Path, data: bytes) -> None:
    """Write a file in one step; a reader sees the old bytes or the new ones, never half of them.

    Raises:
        OSError: The file can't be written; the old one is whole.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.is_file() else 0o644
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".write.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(temporary).unlink()
        raise
