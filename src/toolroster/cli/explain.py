"""`toolroster explain`: what a name means, or what a rule says."""

from __future__ import annotations

import argparse

from toolroster.canonical import JsonObject, JsonValue
from toolroster.catalog import Surface
from toolroster.cli.output import CLEAN, FINDINGS, Verbs, add_format, console, open_workspace, print_rows, status
from toolroster.names import suggest
from toolroster.policy import LifecycleState
from toolroster.report import make_printable
from toolroster.rules import RULES, Facts, RegisteredRule, find_rule

_DESCRIPTION = """\
Say what a tool name means: its state, what runs, where it is shown, who may
call it, and the line that decided it.
With a rule's code or name, say what the rule finds, why, and what to do.

  toolroster explain exec_wait
  toolroster explain TR302
"""


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "explain",
        help="say what a tool name means, or a rule",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", metavar="NAME", help="a tool name, a rule's code or a rule's name")
    parser.add_argument("--profile", default="default", metavar="P", help="where `in_head` and `in_search` are asked")
    add_format(parser, ("text", "json"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the explanation; return 1 for an unknown name."""
    if (registered := find_rule(arguments.name)) is not None:
        return _explain_rule(registered, arguments.format)
    workspace = open_workspace(arguments)
    facts = workspace.read()
    surface = workspace.surface()
    resolution = surface.resolver.resolve(arguments.name)
    if resolution.state is None:
        hint = suggest(arguments.name, [*surface.resolver.names(), *RULES])
        status("").print(make_printable(f"toolroster: no tool or rule is called {arguments.name!r}{hint}."))
        return FINDINGS
    row = describe_name(arguments.name, arguments.profile, facts, surface)
    if arguments.format == "json":
        print_rows([row])
        return CLEAN
    out = console()
    for key, value in row.items():
        if isinstance(value, dict):
            out.print(f"{key:12} {value['path']}:{value['line']}")
        else:
            out.print(f"{key:12} {_word(value)}")
    return CLEAN


def describe_name(name: str, profile: str, facts: Facts, surface: Surface) -> JsonObject:
    """Return the keys that the verb promises, in their order."""
    resolution = surface.resolver.resolve(name)
    row = resolution.alias or resolution.tombstone
    shown = {tool.name for tool in surface.head(profile)}
    searched = {tool.name for tool in surface.deferred(profile)}
    retired = resolution.state is not None and resolution.state.is_retired
    permission = resolution.permission
    span = facts.locate(resolution.decided_by) if resolution.decided_by is not None else None
    deprecated = resolution.state is LifecycleState.DEPRECATED
    return {
        "name": name,
        "state": resolution.state.value if resolution.state is not None else None,
        "canonical": resolution.canonical,
        "replacement": row.replacement if row is not None else None,
        "in_head": not retired and resolution.canonical in shown,
        "in_search": not retired and resolution.canonical in searched,
        "executes": permission is not None and permission.decision != "deny",
        "notice": f"deprecated: use {resolution.canonical} instead" if deprecated else None,
        "permission": permission.decision if permission is not None else None,
        "decided_by": {"path": span.path, "line": span.line} if span is not None else None,
    }


def _word(value: JsonValue) -> str:
    if value is None:
        return "-"
    return ("yes" if value else "no") if isinstance(value, bool) else make_printable(str(value))


def _explain_rule(registered: RegisteredRule, output_format: str) -> int:
    rule = registered.rule
    if output_format == "json":
        print_rows(
            [
                {
                    "code": rule.code,
                    "name": rule.name,
                    "severity": rule.severity.value,
                    "since": rule.since,
                    "summary": rule.summary,
                    "why": registered.why,
                    "example": registered.example,
                    "fix": rule.fix,
                }
            ]
        )
        return CLEAN
    out = console()
    out.print(f"{rule.code} {rule.name} ({rule.severity.value}, since {rule.since})\n\n{rule.summary}\n")
    out.print(f"Why: {registered.why}\n")
    example = "\n".join(f"    {line}" for line in registered.example.splitlines())
    out.print(f"Example:\n\n{example}\n")
    out.print(f"Fix: {rule.fix}")
    return CLEAN
