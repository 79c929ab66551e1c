"""`toolroster init`: lay out a workspace."""

from __future__ import annotations

import argparse
from pathlib import Path

from toolroster.cli.output import CLEAN, Verbs, add_format, console, print_rows, status
from toolroster.report import count
from toolroster.workspace import lay_out

_DESCRIPTION = """\
Lay out a workspace: catalog/, policy/, goldens/, a line in .gitattributes and
a CI step. Overwrites nothing.

--from takes any number of JSON files: MCP tools/list results, OpenAI (Chat
Completions, Responses) or Anthropic lists of tools, and maps of retired names,
{"old_name": "new_name"}. Every tool becomes an active built-in with a file of
its own; with --server NAME they become the deferred tools of that MCP server.

  toolroster -C agent init --from tools.json aliases.json
  toolroster -C agent accept
  toolroster -C agent check
"""


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "init",
        help="lay out a workspace, optionally from a tool list that you have",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--from",
        dest="sources",
        metavar="FILE",
        nargs="+",
        action="extend",
        default=[],
        help="JSON to import",
    )
    parser.add_argument(
        "--aliases",
        dest="sources",
        metavar="FILE",
        nargs="+",
        action="extend",
        help="the same, for maps of retired names",
    )
    parser.add_argument("--server", metavar="NAME", default="", help="import the tools as those of this MCP server")
    add_format(parser, ("text", "json"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the workspace and say what comes next; return 0."""
    root = Path(arguments.directory or ".")
    layout = lay_out(root, [Path(source) for source in arguments.sources], arguments.server)
    for note in layout.notes:
        status("").print(note)
    if arguments.format == "json":
        print_rows(
            [
                {
                    "written": [*layout.written],
                    "active": layout.active,
                    "deferred": layout.deferred,
                    "aliases": layout.aliases,
                }
            ]
        )
        return CLEAN
    out = console()
    active, aliases = count(layout.active, "active tool"), count(layout.aliases, "alias", "aliases")
    counts = f"{active}, {layout.deferred:,} deferred, {aliases}"
    out.print(f"{count(len(layout.written), 'file')} written to {root.as_posix()}: {counts}.")
    out.print("Next: read policy/roster.toml, then `toolroster accept` writes the goldens and `toolroster check` keeps them.")
    return CLEAN
