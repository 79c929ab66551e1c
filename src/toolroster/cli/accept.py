"""`toolroster accept`: write the goldens that differ."""

from __future__ import annotations

import argparse

from toolroster.canonical import JsonObject
from toolroster.cli.output import CLEAN, Verbs, add_format, console, open_workspace, print_rows
from toolroster.report import count, make_printable
from toolroster.workspace import Acceptance

_DESCRIPTION = """\
Write the goldens that differ from the build, and pins that are missing.
Nothing else writes goldens.

Says for each file the first changed byte and what happened to each tool.
Refuses while other errors stand, and while CI is set.

  toolroster accept                      all; also deletes goldens of no profile
  toolroster accept default              one profile
  toolroster accept default/anthropic    one profile and target
"""


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "accept",
        help="write the goldens that differ",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("selection", nargs="*", metavar="PROFILE[/TARGET]", help="accept only these")
    add_format(parser, ("text", "json"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write and report; return 0."""
    accepted = open_workspace(arguments).accept(arguments.selection)
    if arguments.format == "json":
        print_rows([_row(item) for item in accepted if item.path.endswith(".json")])
        return CLEAN
    out = console()
    for item in accepted:
        out.print(_headline(item))
        for change in item.changes if item.old_sha256 and item.new_sha256 else ():
            fields = f" ({', '.join(change.fields)})" if change.fields else ""
            out.print(make_printable(f"  {change.kind} {change.name}{fields}"))
    out.print(
        f"{count(len(accepted), 'file')} changed; review and commit them."
        if accepted
        else "nothing to accept: every golden matches."
    )
    return CLEAN


def _headline(item: Acceptance) -> str:
    if not item.old_sha256:
        return f"new      goldens/{item.path}  {item.new_sha256[:12]}"
    if not item.new_sha256:
        return f"deleted  goldens/{item.path}"
    place = f" at byte {item.first_changed_byte}" + (f", in {item.tool!r}" if item.tool else "")
    return f"changed  goldens/{item.path}  {item.old_sha256[:12]} -> {item.new_sha256[:12]}{place}"


def _row(item: Acceptance) -> JsonObject:
    return {
        "profile": item.profile,
        "target": item.target,
        "old_sha256": item.old_sha256,
        "new_sha256": item.new_sha256,
        "first_changed_byte": item.first_changed_byte,
        "tool": item.tool,
    }
