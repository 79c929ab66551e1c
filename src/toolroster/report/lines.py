"""Findings and rows as JSON, one object a line; nothing at all when there are none."""

from __future__ import annotations

from collections.abc import Iterable

from toolroster.canonical import JsonObject, write_line
from toolroster.diagnostics import Diagnostic


def diagnostic_row(diagnostic: Diagnostic) -> JsonObject:
    """Return `{"code", "name", "severity", "path", "line", "column", "message", "fix"}`."""
    return {
        "code": diagnostic.rule.code,
        "name": diagnostic.rule.name,
        "severity": diagnostic.rule.severity.value,
        "path": make_encodable(diagnostic.span.path),
        "line": diagnostic.span.line,
        "column": diagnostic.span.column,
        "message": make_encodable(diagnostic.message),
        "fix": diagnostic.fix,
    }


def make_encodable(text: str) -> str:
    r"""Return the text with every half of a surrogate pair written as `\udcff`: file names may hold bytes that aren't UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()


def render_rows(rows: Iterable[JsonObject]) -> str:
    """Return one line of JSON a row, each with its newline."""
    return "".join(f"{write_line(row)}\n" for row in rows)
