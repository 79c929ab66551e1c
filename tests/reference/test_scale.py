"""Large catalogs: what must not grow with their size, counted instead of timed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import builtin, write_tree
from toolroster import Workspace


def _large_workspace(root: Path, count: int) -> Workspace:
    names = [f"tool_{number:05d}" for number in range(count)]
    active = ", ".join(f'"{name}"' for name in names[:20])
    roster = (
        'schema = 1\nversion = "1.0.0"\ntargets = ["anthropic"]\n'
        f'[roster]\nactive = [{active}]\n[defaults]\nbuiltin = "deferred"\n'
    )
    write_tree(root, {"policy/roster.toml": roster, **{f"catalog/builtin/{name}.json": builtin(name) for name in names}})
    return Workspace(root)


def _check_incremental(workspace: Workspace, count: int) -> None:
    workspace.accept(environment={})
    assert count == workspace.encoded
    assert () == workspace.check()
    assert count == workspace.encoded
    write_tree(workspace.root, {"catalog/builtin/tool_00003.json": builtin("tool_00003", description="Does more.")})
    assert ["TR302"] == [found.rule.code for found in workspace.check()]
    assert count + 1 == workspace.encoded
    assert ["default/anthropic.json", "default/anthropic.txt"] == [
        item.path for item in workspace.accept(environment={}) if item.profile
    ]
    assert count + 1 == workspace.encoded


def test_one_change_in_two_hundred_tools_encodes_one_tool(tmp_path: Path) -> None:
    """In one process a second build re-encodes what changed, and nothing else (issue 3)."""
    _check_incremental(_large_workspace(tmp_path, 200), 200)


@pytest.mark.slow
def test_ten_thousand_tools_build_check_and_change_one_by_one(tmp_path: Path) -> None:
    """The same at the size of a corpus (issue 3)."""
    _check_incremental(_large_workspace(tmp_path, 10_000), 10_000)
