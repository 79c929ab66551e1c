"""Unified diffs of the workbench: every hunk applies, or nothing is changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolroster.canonical import JsonObject
from toolroster.runtime import HandlerContext

from .handlers_files import replace_file
from .workbench_paths import ToolProblem, confine, flag_of, read_text, report_problems, show, text_of

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NOWHERE = "/dev/null"
_SHOWN_LINES = 5


@dataclass(slots=True)
class Hunk:
    """One hunk.

    Attributes:
        header: Its `@@` line.
        start: First old line, counted from 1; 0 for a new file.
        lines: `(mark, text)`, the mark one of ` `, `-`, `+`; texts with their newline.
    """

    header: str
    start: int
    lines: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    @property
    def before(self) -> list[str]:
        """The lines that must stand in the file."""
        return [text for mark, text in self.lines if mark != "+"]

    @property
    def after(self) -> list[str]:
        """The lines that stand there afterwards."""
        return [text for mark, text in self.lines if mark != "-"]


@dataclass(slots=True)
class FilePatch:
    """The hunks of one file; an old path of None creates it, a new path of None deletes it."""

    old: str | None
    new: str | None
    hunks: list[Hunk] = field(default_factory=list[Hunk])


@report_problems
def apply_patch(context: HandlerContext, arguments: JsonObject) -> object:
    """Apply the patch, or say which hunks don't apply and what stands in their place."""
    patches = parse_patch(text_of(arguments, "patch"))
    if not patches:
        raise ToolProblem("the patch has no file headers (--- old, +++ new).")
    failures: list[str] = []
    results: dict[Path, bytes | None] = {}
    lines = [_plan(context.root, patch, results, failures) for patch in patches]
    if failures:
        raise ToolProblem("nothing was changed.\n" + "\n".join(failures))
    if flag_of(arguments, "dry_run"):
        return "the patch applies:\n" + "\n".join(lines)
    _write(results)
    return "\n".join(lines)


def parse_patch(text: str) -> list[FilePatch]:
    """Return the files of a unified diff, in its order.

    Raises:
        ToolProblem: A hunk stands before any file header, or is shorter than its header says.
    """
    patches: list[FilePatch] = []
    lines = text.splitlines(keepends=True)
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
            patches.append(FilePatch(_header_path(line, "a/"), _header_path(lines[at + 1], "b/")))
            at += 2
        elif (found := _HUNK.match(line)) is not None:
            if not patches:
                raise ToolProblem(f"hunk {line.strip()!r} stands before any file header.")
            hunk, at = _parse_hunk(found, lines, at)
            patches[-1].hunks.append(hunk)
        elif line.startswith("rename from ") and at + 1 < len(lines) and lines[at + 1].startswith("rename to "):
            patches.append(FilePatch(line[len("rename from ") :].strip(), lines[at + 1][len("rename to ") :].strip()))
            at += 2
        else:
            at += 1
    return _merge_renames(patches)


def _header_path(line: str, prefix: str) -> str | None:
    path = line[4:].split("\t", maxsplit=1)[0].strip()
    return None if path == _NOWHERE else path.removeprefix(prefix)


def _parse_hunk(found: re.Match[str], lines: Sequence[str], at: int) -> tuple[Hunk, int]:
    old, new = int(found[2] or 1), int(found[4] or 1)
    hunk = Hunk(found[0], int(found[1]))
    at += 1
    while at < len(lines) and (old or new or lines[at].startswith("\\")):
        mark, text = lines[at][:1], lines[at][1:]
        if lines[at] in ("\n", "\r\n"):
            # Editors strip the space of an empty context line.
            mark, text = " ", lines[at]
        if mark == "\\" and hunk.lines:
            # "\ No newline at end of file" speaks of the line before it.
            last, said = hunk.lines[-1]
            hunk.lines[-1] = (last, said.rstrip("\r\n"))
        elif mark in (" ", "-", "+"):
            hunk.lines.append((mark, text))
            old -= mark != "+"
            new -= mark != "-"
        else:
            break
        at += 1
    if old or new:
        raise ToolProblem(f"hunk {hunk.header!r} is shorter than its header says.")
    return hunk, at


def _merge_renames(patches: list[FilePatch]) -> list[FilePatch]:
    """Join a rename with the hunks that follow it under file headers of the same names."""
    merged: list[FilePatch] = []
    for patch in patches:
        last = merged[-1] if merged else None
        if last is not None and not last.hunks and (last.old, last.new) == (patch.old, patch.new) and last.old != last.new:
            last.hunks = patch.hunks
        else:
            merged.append(patch)
    return merged


def _plan(root: Path, patch: FilePatch, results: dict[Path, bytes | None], failures: list[str]) -> str:
    """Put the file's new bytes into `results` (None deletes), or what fails into `failures`; return the line to show."""
    source = confine(root, patch.old) if patch.old is not None else None
    target = confine(root, patch.new) if patch.new is not None else None
    if source is None and target is None:
        raise ToolProblem("a file header names no file on either side.")
    if source is not None and results.get(source, b"") is None:
        raise ToolProblem(f"{patch.old} is changed after the patch deleted it.")
    if target is not None and target != source and (target.exists() or target in results):
        raise ToolProblem(f"{patch.new} exists already.")
    text = ""
    if source is not None:
        planned = results.get(source)
        text = planned.decode() if planned is not None else read_text(source)
    changed = _apply(text.splitlines(keepends=True), patch, failures)
    if source is not None and source != target:
        results[source] = None
    if target is None:
        return f"deleted {show(root, source)}" if source is not None else ""
    results[target] = "".join(changed).encode()
    if source is None:
        return f"created {show(root, target)}"
    word = "changed" if source == target else f"renamed {show(root, source)} to"
    return f"{word} {show(root, target)} ({len(patch.hunks)} hunks)"


def _apply(lines: list[str], patch: FilePatch, failures: list[str]) -> list[str]:
    shift = 0
    for hunk in patch.hunks:
        before = hunk.before
        # A hunk without old lines counts the line after which it stands.
        wanted = hunk.start - 1 + shift if before else hunk.start + shift
        at = _find(lines, before, wanted)
        if at is None:
            stands = lines[max(wanted, 0) : max(wanted, 0) + _SHOWN_LINES]
            there = "".join(f"    {line.rstrip()}\n" for line in stands) or "    [end of file]"
            failures.append(f"{patch.old or patch.new}: hunk {hunk.header} does not apply; there stands:\n{there}")
            continue
        lines[at : at + len(before)] = hunk.after
        shift += len(hunk.after) - len(before) + (at - wanted if before else 0)
    return lines


def _find(lines: Sequence[str], before: Sequence[str], wanted: int) -> int | None:
    """Return the place nearest to `wanted` where the lines stand; the earlier one of two that are equally near."""
    if not before:
        return min(max(wanted, 0), len(lines))
    places = [at for at in range(len(lines) - len(before) + 1) if _equal(lines[at : at + len(before)], before)]
    return min(places, key=lambda at: (abs(at - wanted), at), default=None)


def _equal(lines: Sequence[str], before: Sequence[str]) -> bool:
    # A patch that was pasted often lacks its last newline; that alone is no difference.
    return [line.rstrip("\r\n") for line in lines] == [line.rstrip("\r\n") for line in before]


def _write(results: dict[Path, bytes | None]) -> None:
    """Write every file, and put all of them back when one can't be written.

    Raises:
        OSError: A file could not be written; nothing was changed.
    """
    old = {path: path.read_bytes() if path.is_file() else None for path in results}
    done: list[Path] = []
    try:
        for path, data in results.items():
            done.append(path)
            _put(path, data)
    except OSError:
        for path in done:
            _put(path, old[path])
        raise


def _put(path: Path, data: bytes | None) -> None:
    if data is None:
        path.unlink(missing_ok=True)
    else:
        replace_file(path, data)
