"""`toolroster check`: every rule, goldens and budgets; never writes."""

from __future__ import annotations

import argparse

from toolroster.cli.output import Verbs, add_format, console, exit_code, open_workspace, print_findings, status
from toolroster.report import count

_DESCRIPTION = """\
Check policy, definitions, goldens and budgets. Never writes.

Each finding names its place, its rule, what is wrong and what to do.
Exit code 1 when one is an error.
"""


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "check",
        help="check policy, definitions, goldens and budgets",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_format(parser)
    parser.add_argument("--strict", action="store_true", help="warnings fail too")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print every finding; return 1 when one is an error, or with `--strict` when there is any."""
    workspace = open_workspace(arguments)
    status("checking …")
    diagnostics = workspace.check()
    print_findings(diagnostics, arguments.format)
    if not diagnostics and arguments.format == "text":
        surface = workspace.surface()
        out = console()
        out.print(
            f"clean: {count(len(surface.classified), 'name')}, {count(len(surface.profiles()), 'profile')}.", style="green"
        )
    return exit_code(diagnostics, strict=arguments.strict)
