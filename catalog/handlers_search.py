"""Searches of the workbench: contents, names, and the layout of the code."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from pathlib import Path

from toolroster.canonical import JsonObject, JsonValue
from toolroster.runtime import HandlerContext
from toolroster.tools import Success

from .workbench_paths import ToolProblem, confine, flag_of, number_of, report_problems, show, text_of, walk

_MAX_FILE = 2_000_000
_MAX_LINE = 400
_MAX_PATTERN = 500
# A group that repeats and is repeated again makes matching take exponential time.
_NESTED_REPEAT = re.compile(r"[+*}]\)[+*{]")
_SYMBOL = re.compile(
    r"^(?:async\s+)?(?:def|class|func|fn|function|struct|enum|trait|interface|type|impl)\s+([A-Za-z_][\w.]*)"
    r"|^(?:pub(?:\([a-z]+\))?\s+|export\s+(?:default\s+)?)(?:async\s+)?(?:fn|struct|enum|trait|function|class|const)\s+([A-Za-z_]\w*)"
)
_SOURCE_ENDINGS = frozenset(
    {".py", ".rs", ".go", ".js", ".jsx", ".ts", ".tsx", ".java", ".c", ".h", ".cc", ".cpp", ".hpp", ".rb", ".cs", ".sh"}
)


@report_problems
def grep_files(context: HandlerContext, arguments: JsonObject) -> object:
    """Return matching lines, files or counts, by path and line."""
    pattern = _compile(arguments)
    start = confine(context.root, text_of(arguments, "path", "."))
    if not start.exists():
        raise ToolProblem(f"there is no {text_of(arguments, 'path', '.')!r}.")
    glob, mode = text_of(arguments, "glob"), text_of(arguments, "mode", "lines")
    limit, around = number_of(arguments, "limit", 100), number_of(arguments, "context_lines", 0)
    shown: list[str] = []
    found = 0
    for path in walk(context.root, start):
        name = show(context.root, path)
        if glob and not (fnmatch.fnmatchcase(name, glob) or fnmatch.fnmatchcase(path.name, glob)):
            continue
        lines = _read_lines(path)
        hits = [number for number, line in enumerate(lines) if pattern.search(line)]
        if not hits:
            continue
        found += len(hits) if mode == "lines" else 1
        if mode == "files":
            shown.append(name)
        elif mode == "count":
            shown.append(f"{name}: {len(hits)}")
        else:
            shown += _show_hits(name, lines, hits[: max(limit - found + len(hits), 0)], around)
    if not found:
        return "[no matches]"
    if mode != "lines":
        shown = shown[:limit]
    more = [f"[{found - limit} more; narrow the search or raise limit]"] if found > limit else []
    return "\n".join(shown + more)


@report_problems
def file_search(context: HandlerContext, arguments: JsonObject) -> object:
    """Return the files whose path holds the query's parts in order, best first: `{"files", "truncated"}`."""
    start = confine(context.root, text_of(arguments, "path", "."))
    parts = [part for part in re.split(r"[\s/]+", text_of(arguments, "query").casefold()) if part]
    wanted = arguments.get("extensions")
    endings = {f".{ending}" for ending in wanted if isinstance(ending, str)} if isinstance(wanted, list) else set[str]()
    limit = number_of(arguments, "limit", 20)
    scored = [
        (score, name)
        for path in walk(context.root, start)
        if (not endings or path.suffix in endings) and (score := _score(name := show(context.root, path), parts)) > 0
    ]
    best = sorted(scored, key=lambda pair: (-pair[0], len(pair[1]), pair[1]))
    files: list[JsonValue] = [{"path": name, "score": round(score, 4)} for score, name in best[:limit]]
    text = "\n".join(name for _, name in best[:limit]) or "[no file matches]"
    return Success(text, {"files": files, "truncated": len(best) > limit})


@report_problems
def project_map(context: HandlerContext, arguments: JsonObject) -> object:
    """Return the tree of source files, each with its top-level functions and classes."""
    start = confine(context.root, text_of(arguments, "path", "."))
    if not start.is_dir():
        raise ToolProblem(f"{text_of(arguments, 'path', '.')!r} is no folder.")
    depth, limit = number_of(arguments, "depth", 4), number_of(arguments, "max_files", 300)
    symbols = arguments.get("symbols") is not False
    folders: dict[str, list[Path]] = {}
    for path in walk(context.root, start):
        inside = path.relative_to(start)
        if path.suffix in _SOURCE_ENDINGS and len(inside.parts) <= depth:
            folders.setdefault(inside.parent.as_posix(), []).append(path)
    kept = _shorten({folder: len(paths) for folder, paths in folders.items()}, limit)
    lines: list[str] = []
    for folder in sorted(folders):
        lines.append("./" if folder == "." else f"{folder}/")
        for path in folders[folder][: kept[folder]]:
            names = ", ".join(_symbols(path)) if symbols else ""
            lines.append(f"  {path.name}" + (f": {names}" if names else ""))
        if len(folders[folder]) > kept[folder]:
            lines.append(f"  [{len(folders[folder]) - kept[folder]} more files]")
    return "\n".join(lines) or "[no source files]"


def _compile(arguments: JsonObject) -> re.Pattern[str]:
    text = text_of(arguments, "pattern")
    flags = re.IGNORECASE if flag_of(arguments, "ignore_case") else re.NOFLAG
    if flag_of(arguments, "literal"):
        return re.compile(re.escape(text), flags)
    if len(text) > _MAX_PATTERN or _NESTED_REPEAT.search(text):
        raise ToolProblem("the pattern is too long or repeats a repetition; simplify it, or set literal.")
    try:
        return re.compile(text, flags)
    except re.error as error:
        raise ToolProblem(f"invalid pattern: {error.msg} at position {error.pos}; set literal for plain text.") from None


def _read_lines(path: Path) -> list[str]:
    """Return a file's lines; none for binary, huge or unreadable files, which a search passes over."""
    try:
        if path.stat().st_size > _MAX_FILE:
            return []
        data = path.read_bytes()
    except OSError:
        return []
    return [] if b"\0" in data else data.decode("utf-8", "replace").splitlines()


def _show_hits(name: str, lines: list[str], hits: list[int], around: int) -> Iterator[str]:
    last = -1
    for hit in hits:
        first = max(hit - around, last + 1, 0)
        if around and last >= 0 and first > last + 1:
            yield "--"
        for number in range(first, min(hit + around + 1, len(lines))):
            mark = ":" if number in hits else "-"
            yield f"{name}{mark}{number + 1}{mark}{lines[number][:_MAX_LINE]}"
            last = number


def _score(name: str, parts: list[str]) -> float:
    """Return how well a path matches, in (0, 1]; 0 when the parts don't occur in order."""
    folded, at, first = name.casefold(), 0, 0
    for index, part in enumerate(parts):
        found = folded.find(part, at)
        if found < 0:
            return 0.0
        first = found if index == 0 else first
        at = found + len(part)
    covered = sum(len(part) for part in parts) / len(folded)
    in_name = first >= folded.rfind("/") + 1
    return (0.5 if in_name else 0.0) + covered / 2


def _shorten(counts: dict[str, int], limit: int) -> dict[str, int]:
    """Return how many files of each folder to show: the largest folders give way first."""
    if sum(counts.values()) <= limit:
        return counts
    ceiling = 1
    while sum(min(count, ceiling + 1) for count in counts.values()) <= limit:
        ceiling += 1
    return {folder: min(count, ceiling) for folder, count in counts.items()}


def _symbols(path: Path) -> list[str]:
    found = [match for line in _read_lines(path) if (match := _SYMBOL.match(line)) is not None]
    return list(dict.fromkeys(match[1] or match[2] for match in found))[:40]
