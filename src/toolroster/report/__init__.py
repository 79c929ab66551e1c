"""Findings and rows, rendered: text, json, github, sarif."""

from __future__ import annotations

from toolroster.report.github import render_github
from toolroster.report.lines import diagnostic_row, render_rows
from toolroster.report.rule_pages import render_rule_index, render_rule_page
from toolroster.report.sarif import render_sarif
from toolroster.report.text import count, make_printable, render_diagnostic, render_table, summarize

__all__ = [
    "count",
    "diagnostic_row",
    "make_printable",
    "render_diagnostic",
    "render_github",
    "render_rows",
    "render_rule_index",
    "render_rule_page",
    "render_sarif",
    "render_table",
    "summarize",
]
