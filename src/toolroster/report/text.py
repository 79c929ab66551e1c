"""Findings and tables as people read them.

Names and descriptions are other people's text: whatever can't be printed is shown escaped, and nothing is taken for markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.text import Text

from toolroster.diagnostics import Diagnostic, Severity

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow"}


def make_printable(text: str) -> str:
    """Return the text with every character that can't be printed written as an escape; newlines and tabs are kept."""
    return "\n".join("\t".join(_make_line(cell) for cell in line.split("\t")) for line in text.split("\n"))


def render_diagnostic(diagnostic: Diagnostic) -> Text:
    """Return three lines: where and which rule, what is wrong, what to do."""
    span, rule = diagnostic.span, diagnostic.rule
    text = Text()
    text.append(f"{_make_line(span.path)}:{span.line}:{span.column}: ")
    text.append(rule.severity.value, style=_STYLES[rule.severity])
    text.append(f" {rule.code} ", style="bold")
    text.append(f"{rule.name}\n  {_make_line(diagnostic.message)}\n")
    text.append("  fix: ", style="green")
    text.append(_make_line(diagnostic.fix))
    return text


def count(number: int, noun: str, plural: str = "") -> str:
    """Return `1 error` or `2 errors`; `plural` is for nouns that don't just take an s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def summarize(diagnostics: Iterable[Diagnostic]) -> str:
    """Return `2 errors, 1 warning`, or an empty string when there is nothing."""
    found = [diagnostic.rule.severity for diagnostic in diagnostics]
    counts = [(found.count(severity), severity.value) for severity in Severity]
    return ", ".join(count(number, word) for number, word in counts if number)


def render_table(columns: Sequence[str], rows: Iterable[Sequence[str | int]]) -> Text:
    """Return a table without lines; numbers stand to the right, with thousands separators.

    Nothing is cut off to fit a terminal, and no line ends in spaces.
    """
    body = [list(row) for row in rows]
    numeric = [bool(body) and all(isinstance(row[index], int) for row in body) for index in range(len(columns))]
    cells = [[f"{cell:,}" if isinstance(cell, int) else _make_line(cell) for cell in row] for row in body]
    widths = [max(cell_len(cell) for cell in column) for column in zip(columns, *cells, strict=True)]
    lines = [_render_row(row, widths, numeric) for row in (columns, *cells)]
    return Text("\n").join([Text(lines[0], style="bold"), *map(Text, lines[1:])])


def _render_row(row: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    blanks = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
    padded = [blank + cell if right else cell + blank for cell, blank, right in zip(row, blanks, numeric, strict=True)]
    return "  ".join(padded).rstrip()


def _make_line(text: str) -> str:
    """Return `make_printable` of text that must stay on one line, so that a file's name can't pass for a finding."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else character.encode("unicode_escape").decode() for character in text)
