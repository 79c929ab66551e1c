"""How verbs print: findings and rows to standard output, progress and errors to standard error."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import sys
from collections.abc import Sequence
from typing import TypeAlias

from rich.console import Console

from toolroster.canonical import JsonObject, write_line
from toolroster.diagnostics import Diagnostic
from toolroster.report import (
    diagnostic_row,
    render_diagnostic,
    render_github,
    render_rows,
    render_sarif,
    summarize,
)
from toolroster.rules import RULES
from toolroster.workspace import Workspace

Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
"""What a verb adds its parser to; argparse has no public name for it."""

FORMATS = ("text", "json", "github", "sarif")
CLEAN, FINDINGS, UNABLE = 0, 1, 2
_WIDE = 10_000


def version() -> str:
    """Return the installed version of toolroster."""
    return importlib.metadata.version("toolroster")


def console() -> Console:
    """Return the console of standard output; colour is for terminals, and lines are never wrapped or cut by us."""
    return Console(
        # Said here, since rich has asked other variables in other releases (FORCE_COLOR, TTY_COMPATIBLE).
        force_terminal=sys.stdout.isatty(),
        width=_WIDE,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
    )


def status(message: str) -> Console:
    """Say on standard error, when it is a terminal, what takes its time; return the console for more."""
    terminal = sys.stderr.isatty()
    errors = Console(stderr=True, force_terminal=terminal, highlight=False, markup=False, emoji=False, soft_wrap=True)
    if terminal:
        errors.print(message, style="dim")
    return errors


def open_workspace(arguments: argparse.Namespace) -> Workspace:
    """Return the workspace that `-C` names, or the nearest one from the current folder upwards."""
    folder: str | None = arguments.directory
    if folder is not None:
        return Workspace(folder)
    # Messages name files from where the user stands, never by an absolute path.
    return Workspace(os.path.relpath(Workspace.discover().root))


def print_rows(rows: Sequence[JsonObject]) -> None:
    """Print rows as JSON, one object a line."""
    sys.stdout.write(render_rows(rows))


def print_findings(diagnostics: Sequence[Diagnostic], output_format: str) -> None:
    """Print findings in the format asked for; in text a summary follows, in sarif an empty log is still a log."""
    match output_format:
        case "json":
            sys.stdout.write(render_rows(diagnostic_row(diagnostic) for diagnostic in diagnostics))
        case "github":
            sys.stdout.write(render_github(diagnostics))
        case "sarif":
            log = render_sarif(diagnostics, [RULES[code].rule for code in sorted(RULES)], version())
            sys.stdout.write(f"{write_line(log)}\n")
        case _:
            out = console()
            for diagnostic in diagnostics:
                out.print(render_diagnostic(diagnostic))
            if diagnostics:
                out.print(f"{summarize(diagnostics)}; `toolroster explain TRnnn` says more about a rule.")


def exit_code(diagnostics: Sequence[Diagnostic], *, strict: bool) -> int:
    """Return 1 when there is an error, or with `strict` any finding; else 0."""
    return FINDINGS if any(strict or diagnostic.is_error for diagnostic in diagnostics) else CLEAN


def add_format(parser: argparse.ArgumentParser, formats: Sequence[str] = FORMATS) -> None:
    """Add `--format` to a verb."""
    parser.add_argument(
        "--format",
        choices=formats,
        default="text",
        help="text for people; json is one object a line" + (" (sarif one object)" if "sarif" in formats else ""),
    )
