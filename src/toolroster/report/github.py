"""Findings as GitHub Actions workflow commands, which show them in the pull request.

Source: docs.github.com, Workflow commands for GitHub Actions, "Setting an error message"; read 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterable

from toolroster.diagnostics import Diagnostic
from toolroster.report.text import make_printable


def render_github(diagnostics: Iterable[Diagnostic]) -> str:
    """Return one `::error` or `::warning` command a finding, each with its newline."""
    return "".join(f"{_command(diagnostic)}\n" for diagnostic in diagnostics)


def _command(diagnostic: Diagnostic) -> str:
    span, rule = diagnostic.span, diagnostic.rule
    properties = {
        "file": span.path,
        "line": str(span.line),
        "col": str(span.column),
        "title": f"{rule.code} {rule.name}",
    }
    said = ",".join(f"{key}={_escape(value, property_value=True)}" for key, value in properties.items())
    return f"::{rule.severity.value} {said}::{_escape(f'{diagnostic.message} {diagnostic.fix}')}"


def _escape(text: str, *, property_value: bool = False) -> str:
    # Other people's text: what can't be printed is shown escaped, and no newline begins a command of its own.
    escaped = make_printable(text).replace("%", "%25").replace("\n", "%0A")
    return escaped.replace(":", "%3A").replace(",", "%2C") if property_value else escaped
