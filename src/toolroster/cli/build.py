"""`toolroster build`: compile every profile and target."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from toolroster.canonical import JsonObject
from toolroster.catalog import render_goldens
from toolroster.cli.output import CLEAN, Verbs, add_format, console, open_workspace, print_rows, status
from toolroster.errors import WorkspaceError
from toolroster.policy import list_builds
from toolroster.report import count, render_table
from toolroster.workspace import Build
from toolroster.workspace.files import write_bytes

_DESCRIPTION = """\
Compile every profile and target and say how each stands to its golden.
Fails only on errors, not on stale goldens.

  toolroster build           a table
  toolroster build -o out    every file that goldens/ would hold, into out/
  toolroster build --profile default --target anthropic --stdout
                             the exact bytes, and nothing else
"""


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "build",
        help="compile every profile and target",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_format(parser, ("text", "json"))
    parser.add_argument("-o", dest="output", metavar="DIR", help="write the files that goldens/ would hold into DIR")
    parser.add_argument("--profile", metavar="P", help="only this profile, for example default or plan@small-model")
    parser.add_argument("--target", metavar="T", help="only this target, for example anthropic")
    parser.add_argument("--stdout", action="store_true", help="write the exact bytes of one head and nothing else")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the builds, or write their bytes; return 0."""
    workspace = open_workspace(arguments)
    surface = workspace.surface()
    if arguments.stdout:
        if arguments.profile is None or arguments.target is None:
            raise WorkspaceError("--stdout writes one head: name it with --profile and --target.")
        sys.stdout.flush()
        sys.stdout.buffer.write(surface.prefix(arguments.profile, arguments.target).data)
        return CLEAN
    if arguments.profile is not None:
        surface.find_profile(arguments.profile)
    pairs = [(str(profile), target) for profile, target in list_builds(surface.policy)]
    if arguments.target is not None and arguments.target not in {target for _, target in pairs}:
        raise WorkspaceError(
            f"no profile is built for target {arguments.target!r}; there are {', '.join(sorted({t for _, t in pairs}))}."
        )
    builds = [
        build
        for build in workspace.build()
        if arguments.profile in (None, build.profile) and arguments.target in (None, build.target)
    ]
    if arguments.output is not None:
        files = render_goldens(surface)
        for path, data in files.items():
            write_bytes(Path(arguments.output) / path, data)
        status("").print(f"wrote {count(len(files), 'file')} to {arguments.output}")
    if arguments.format == "json":
        print_rows([_row(build) for build in builds])
    else:
        columns = ("profile", "target", "tools", "bytes", "golden", "sha256")
        rows = [(b.profile, b.target, b.tools, b.bytes, b.golden, b.sha256[:12]) for b in builds]
        console().print(render_table(columns, rows))
    return CLEAN


def _row(build: Build) -> JsonObject:
    return {
        "profile": build.profile,
        "target": build.target,
        "tools": build.tools,
        "bytes": build.bytes,
        "sha256": build.sha256,
        "semantic_sha256": build.semantic_sha256,
        "golden": build.golden,
    }
