"""What several tests need: small catalogs, small workspaces, and toolroster run as a process."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from toolroster import ToolDefinition, Workspace
from toolroster.canonical import JsonObject, JsonValue
from toolroster.cli.main import main
from toolroster.diagnostics import Anchor
from toolroster.policy import Manifest, Policy, parse_manifest, parse_policy

ROOT = Path(__file__).parent.parent
"""The project's own workspace."""

NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}


def define(name: str, **members: object) -> ToolDefinition:
    """Return a built-in definition with a description and no parameters, unless `members` say otherwise."""
    given: dict[str, object] = {"description": f"Does {name}.", "input_schema": NO_PARAMETERS, **members}
    return ToolDefinition(name=name, **given)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


def make_policy(**tables: JsonValue) -> Policy:
    """Return a policy of version 1.0.0 with these tables; faults fail the test."""
    policy, faults = parse_policy({"schema": 1, "version": "1.0.0", **tables}, Anchor("policy/roster.toml"))
    assert () == faults
    assert policy is not None
    return policy


def make_manifest(**tables: JsonValue) -> Manifest:
    """Return a manifest with these tables (`alias`, `tombstone`); faults fail the test."""
    manifest, faults = parse_manifest({**tables}, Anchor("policy/manifest.toml"))
    assert () == faults
    assert manifest is not None
    return manifest


def write_tree(root: Path, files: Mapping[str, object]) -> Path:
    """Write files below `root` and return it: bytes as they are, text as UTF-8 with LF, anything else as JSON."""
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else _text_of(content).encode())
    return root


def _text_of(content: object) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def builtin(name: str, **members: object) -> dict[str, object]:
    """Return the content of `catalog/builtin/<name>.json`."""
    return {"name": name, "description": f"Does {name}.", "input_schema": NO_PARAMETERS, **members}


def small_workspace(root: Path, **files: object) -> Workspace:
    """Write a clean workspace of two active tools, one deferred, one alias and one tombstone, and accept its goldens.

    `files` replace or add files before accepting; the keys are paths with `/`.
    """
    write_tree(
        root,
        {
            "policy/roster.toml": (
                'schema = 1\nversion = "1.0.0"\ntargets = ["anthropic", "openai-chat"]\n\n[roster]\n'
                'active = ["read_file", "write_file"]\ndeferred = ["fetch_url"]\n'
                'hidden-compatibility = ["cat_file"]\nremoved = ["old_tool"]\n'
            ),
            "policy/manifest.toml": (
                '[[alias]]\nname = "cat_file"\nreplacement = "read_file"\nfirst_deprecated_version = "0.9.0"\n\n'
                '[[tombstone]]\nname = "old_tool"\nremoved_version = "1.0.0"\n'
            ),
            **{f"catalog/builtin/{name}.json": builtin(name) for name in ("read_file", "write_file", "fetch_url")},
            **files,
        },
    )
    workspace = Workspace(root)
    workspace.accept(environment={})
    return workspace


_AFTER_START = frozenset({"CI", "COLUMNS", "NO_COLOR", "FORCE_COLOR", "TERM"})


def run_cli(
    *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run `toolroster` with `CI` unset unless `env` sets it, and return what a process would give.

    It runs inside this process, which spares the start of an interpreter, unless `env` holds something that only counts when an
    interpreter starts (such as PYTHONHASHSEED).
    """
    own = dict(env or {})
    if own.keys() <= _AFTER_START:
        return _run_inside(arguments, cwd or Path.cwd(), own)
    environment = {key: value for key, value in os.environ.items() if key != "CI"} | own
    command = [sys.executable, "-m", "toolroster", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, check=False, timeout=120)


def _run_inside(arguments: Sequence[str], cwd: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    out, err = io.BytesIO(), io.BytesIO()
    before = Path.cwd()
    with pytest.MonkeyPatch.context() as patch:
        for key in _AFTER_START:
            patch.delenv(key, raising=False)
        for key, value in env.items():
            patch.setenv(key, value)
        patch.setattr(sys, "argv", ["toolroster", *arguments])
        patch.setattr(sys, "stdout", io.TextIOWrapper(out, write_through=True))
        patch.setattr(sys, "stderr", io.TextIOWrapper(err, write_through=True))
        os.chdir(cwd)
        try:
            code = main(arguments)
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 1
        finally:
            os.chdir(before)
        sys.stdout.flush()
        sys.stderr.flush()
        return subprocess.CompletedProcess(["toolroster", *arguments], code, out.getvalue(), err.getvalue())
