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
        "path": diagnostic.span.path,
        "line": diagnostic.span.line,
        "column": diagnostic.span.column,
        "message": diagnostic.message,
        "fix": diagnostic.fix,
    }


def render_rows(rows: Iterable[JsonObject]) -> str:
    """Return one line of JSON a row, each with its newline."""
    return "".join(f"{write_line(row)}\n" for row in rows)
