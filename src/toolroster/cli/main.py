"""The command line: `toolroster [-C DIR] VERB`."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from toolroster.cli import accept, build, call, check, explain, init, rules, schema
from toolroster.cli.output import FINDINGS, UNABLE, print_findings, status, version
from toolroster.diagnostics import CatalogError, SurfaceError
from toolroster.errors import ToolrosterError

_VERBS = (init, build, check, accept, explain, call, rules, schema)
_EPILOG = """\
first steps:
  toolroster init --from tools.json    lay out a workspace from your tool list
  toolroster accept                    write the goldens, the bytes that you commit
  toolroster check                     what CI runs: policy, definitions, bytes

exit codes: 0 clean, 1 findings at error level, 2 could not run
"""


def make_parser() -> argparse.ArgumentParser:
    """Return the parser with every verb."""
    parser = argparse.ArgumentParser(
        prog="toolroster",
        description="The policy engine for the list of tools that an agent sends with every\nmodel call.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"toolroster {version()}")
    parser.add_argument(
        "-C",
        dest="directory",
        metavar="DIR",
        help="the workspace (default: the nearest folder upwards that has policy/roster.toml)",
    )
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for verb in _VERBS:
        verb.add_parser(verbs)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; return 0 when clean, 1 on findings at error level, 2 when it could not run."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # The caller closed it (`>&-`).
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - it lives as long as the process
        # Output is the same bytes on every platform, whatever the locale.
        if (reconfigure := getattr(getattr(sys, name), "reconfigure", None)) is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    try:
        try:
            return _run(argv)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader has what it wanted (`toolroster rules | head`).
        _discard_output()
        return FINDINGS
    except OSError as error:
        # The workspace's own files are read and written with a message of their own; this is the output, on a full disk.
        _discard_output()
        status("").print(f"toolroster: {error}")
        return UNABLE


def _run(argv: Sequence[str] | None) -> int:
    arguments = make_parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
    except SurfaceError as error:
        output_format: str = getattr(arguments, "format", "text")
        # Where standard output is for exact bytes, findings go to standard error.
        with contextlib.redirect_stdout(sys.stderr) if getattr(arguments, "stdout", False) else contextlib.nullcontext():
            print_findings(error.diagnostics, output_format)
        return FINDINGS
    except CatalogError as error:
        for fault in error.faults:
            status("").print(f"toolroster: {fault.message} {fault.fix}".rstrip())
        return UNABLE
    except ToolrosterError as error:
        status("").print(f"toolroster: {error}")
        return UNABLE
    return code


def _discard_output() -> None:
    """Keep the interpreter from complaining at exit of what it can't write any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
