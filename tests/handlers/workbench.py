"""The workbench's handlers as `toolroster call` runs them, without its policy: one tool, one root, real files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tests.support import ROOT
from toolroster import Policy, ToolDefinition
from toolroster.canonical import JsonValue, read_json
from toolroster.catalog.sources import read_builtin
from toolroster.catalog.surface import Surface
from toolroster.diagnostics import Anchor
from toolroster.dispatch import Router
from toolroster.policy import parse_policy
from toolroster.runtime import Executor, Handlers
from toolroster.tools import ToolCall, ToolResult


@cache
def definitions() -> tuple[ToolDefinition, ...]:
    """Return the workbench's built-in definitions, by file."""
    found: list[ToolDefinition] = []
    for path in sorted((ROOT / "catalog" / "builtin").glob("*.json")):
        value = read_json(path.name, path.read_bytes()).value
        found += read_builtin(value, Anchor(path.name), path.stem).definitions
    return tuple(found)


@cache
def everything_active() -> Policy:
    """Return a policy under which every built-in is active and nothing is denied."""
    policy, faults = parse_policy(
        {"schema": 1, "version": "1.0.0", "defaults": {"builtin": "active"}}, Anchor("policy/roster.toml")
    )
    assert () == faults
    assert policy is not None
    return policy


@cache
def handlers() -> Handlers:
    """Return the workbench's handlers, imported once."""
    return Handlers(ROOT / "catalog")


def run(root: Path, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
    """Run one tool in `root`, through validation and its real handler."""
    router = Router(Surface(definitions(), everything_active()))
    return Executor(router, handlers(), root).execute_sync(ToolCall(name, arguments))
