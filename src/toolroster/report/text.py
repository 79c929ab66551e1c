"""Findings and tables as people read them.

Names and descriptions are other people's text: whatever can't be printed is shown escaped, and nothing is taken for markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from toolroster.diagnostics import Diagnostic, Severity

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow"}


def make_printable(text: str) -> str:
    """Return the text with every character that can't be printed written as an escape; newlines are kept."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character == "\n" else character.encode("unicode_escape").decode()
        for character in text
    )


def render_diagnostic(diagnostic: Diagnostic) -> Text:
    """Return three lines: where and which rule, what is wrong, what to do."""
    span, rule = diagnostic.span, diagnostic.rule
    text = Text()
    text.append(f"{make_printable(span.path)}:{span.line}:{span.column}: ")
    text.append(rule.severity.value, style=_STYLES[rule.severity])
    text.append(f" {rule.code} ", style="bold")
    text.append(f"{rule.name}\n  {make_printable(diagnostic.message)}\n")
    text.append("  fix: ", style="green")
    text.append(make_printable(diagnostic.fix))
    return text


def summarize(diagnostics: Iterable[Diagnostic]) -> str:
    """Return `2 errors, 1 warning`, or an empty string when there is nothing."""
    found = [diagnostic.rule.severity for diagnostic in diagnostics]
    counts = [(found.count(severity), severity.value) for severity in Severity]
    return ", ".join(f"{count} {word}{'s' if count > 1 else ''}" for count, word in counts if count)


def render_table(columns: Sequence[str], rows: Iterable[Sequence[str | int]]) -> Table:
    """Return a table without lines; numbers stand to the right, with thousands separators."""
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    body = [list(row) for row in rows]
    for index, column in enumerate(columns):
        numeric = bool(body) and all(isinstance(row[index], int) for row in body)
        table.add_column(column, justify="right" if numeric else "left", no_wrap=True, overflow="ignore")
    for row in body:
        table.add_row(*(Text(f"{cell:,}" if isinstance(cell, int) else make_printable(cell)) for cell in row))
    return table
