"""`toolroster call`: run one tool."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from toolroster.canonical import JsonObject
from toolroster.cli.output import CLEAN, FINDINGS, Verbs, add_format, console, open_workspace, print_rows, status
from toolroster.dispatch import CallContext, render_text
from toolroster.report import make_printable
from toolroster.tools import DEPRECATIONS, ToolCall, ToolResult

_DESCRIPTION = """\
Run one tool as the model would call it: by any of its names, through every
gate, with its handler in catalog/.

  toolroster call read_file '{"path": "README.md"}'
  echo '{"path": "README.md"}' | toolroster call read_file -
"""


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "call",
        help="run one tool by any of its names",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", metavar="NAME", help="the name to call, retired names included")
    parser.add_argument("arguments", metavar="JSON", nargs="?", default="", help="the arguments; - reads standard input")
    parser.add_argument("--profile", default="default", metavar="P", help="the profile whose mode holds")
    parser.add_argument("--root", metavar="DIR", help="the folder that the tool may work in (default: the current one)")
    parser.add_argument("--confirm", action="store_true", help="answer yes where a rule says ask")
    add_format(parser, ("text", "json"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the tool and print its result; return 1 when it is an error."""
    executor = open_workspace(arguments).executor(root=arguments.root or Path.cwd())
    text = sys.stdin.read() if arguments.arguments == "-" else arguments.arguments
    canonical = executor.router.surface.resolver.resolve(arguments.name).canonical
    confirmed = (canonical,) if arguments.confirm and canonical is not None else ()
    context = CallContext(profile=arguments.profile, confirmed=confirmed)
    result = executor.execute_sync(ToolCall(arguments.name, text), context)
    if arguments.format == "json":
        print_rows([_row(arguments.name, canonical, result)])
    else:
        console().print(make_printable(render_text(result)))
        notices = result.metadata.get(DEPRECATIONS)
        for notice in notices if isinstance(notices, list) else []:
            if isinstance(notice, dict):
                status("").print(f"{arguments.name}: {notice.get('message')}")
    return FINDINGS if result.is_error else CLEAN


def _row(name: str, canonical: str | None, result: ToolResult) -> JsonObject:
    return {
        "name": name,
        "canonical": canonical,
        "content": result.content,
        "structured": result.structured,
        "is_error": result.is_error,
        "code": result.code,
        "metadata": result.metadata,
    }
