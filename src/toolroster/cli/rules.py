"""`toolroster rules`: the rule book."""

from __future__ import annotations

import argparse

from toolroster.cli.output import CLEAN, Verbs, add_format, console, print_rows
from toolroster.report import render_table
from toolroster.rules import RULES


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    description = "List every rule: code, name, severity and what it finds. `toolroster explain TRnnn` shows one whole."
    parser = verbs.add_parser("rules", help="list every rule", description=description)
    add_format(parser, ("text", "json"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the rules by code; return 0."""
    rules = [RULES[code].rule for code in sorted(RULES)]
    if arguments.format == "json":
        print_rows(
            [
                {
                    "code": rule.code,
                    "name": rule.name,
                    "severity": rule.severity.value,
                    "since": rule.since,
                    "summary": rule.summary,
                    "fix": rule.fix,
                }
                for rule in rules
            ]
        )
    else:
        rows = [(rule.code, rule.name, rule.severity.value, rule.summary) for rule in rules]
        console().print(render_table(("code", "name", "severity", "finds"), rows))
    return CLEAN
