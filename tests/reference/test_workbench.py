"""The project's own surface is a real agent's: what the design promises is seen on it."""

from __future__ import annotations

import json
import tomllib
from functools import cache

import pytest

from tests.support import ROOT
from toolroster import Surface, Workspace
from toolroster.cli.explain import describe_name
from toolroster.policy import list_builds
from toolroster.rules import Facts, run_rules


@cache
def _facts() -> Facts:
    return Workspace(ROOT).read()


@cache
def _surface() -> Surface:
    return Workspace(ROOT).surface()


def _names() -> list[str]:
    roster = tomllib.loads((ROOT / "policy/roster.toml").read_text(encoding="utf-8"))["roster"]
    listed = [name for names in roster.values() for name in names if "*" not in name]
    servers = [json.loads(path.read_bytes()) for path in sorted((ROOT / "catalog/mcp").glob("*.json"))]
    return [*listed, *(f"mcp__{server['server']['name']}__{tool['name']}" for server in servers for tool in server["tools"])]


def test_the_surface_is_clean_without_a_single_warning() -> None:
    """What the project asks of its users, it keeps itself."""
    assert () == run_rules(_facts())


@pytest.mark.case("TC-004")
@pytest.mark.parametrize("target", ["anthropic", "mcp", "openai-chat", "openai-responses"])
def test_plan_default_and_yolo_share_one_native_head(target: str) -> None:
    """A mode narrows authority, never bytes; a mode that widens does it behind the native head (issue 3)."""
    heads = [_surface().prefix(mode, target) for mode in ("default", "plan", "yolo")]
    assert 1 == len({head.native_head for head in heads})
    assert heads[0].data == heads[1].data
    assert heads[2].data.startswith(heads[0].native_head + b",")


@pytest.mark.case("TC-031")
@pytest.mark.parametrize("name", _names())
def test_explain_answers_for_every_name_with_the_deciding_line(name: str) -> None:
    """The line named is the one that holds the name, or the glob that covers it (issue 3)."""
    row = describe_name(name, "default", _facts(), _surface())
    decided = row["decided_by"]
    assert isinstance(decided, dict)
    line = (ROOT / str(decided["path"])).read_text(encoding="utf-8").splitlines()[int(str(decided["line"])) - 1]
    assert f'"{name}"' in line or ("*" in line and name.startswith(line.split('"')[1].rstrip("*")))
    state, denied = row["state"], row["permission"] == "deny"
    assert (state == "active" and not denied, state == "deferred" and not denied) == (
        row["in_head"] or name == "hosted_web_search",
        row["in_search"],
    )
    assert (state != "removed" and not denied) == row["executes"]
    assert (state == "deprecated") == (row["notice"] is not None)


def test_no_retired_name_and_no_note_stands_in_any_golden() -> None:
    """Retired names and notices never reach a prefix, on every profile and target."""
    surface = _surface()
    retired = {name for name, found in surface.classified.items() if found.state.is_retired}
    manifest = _facts().manifest
    assert manifest is not None
    notes = [row.note for row in manifest.aliases if row.note] + [row.note for row in manifest.tombstones if row.note]
    for profile, target in list_builds(surface.policy):
        for prefix in (surface.prefix(str(profile), target), surface.deferred_prefix(str(profile), target)):
            assert set() == retired & {entry.wire_name for entry in prefix.entries}
            assert [] == [note for note in notes if note.encode() in prefix.data]


def test_every_head_has_room_left_in_its_budget() -> None:
    """The budgets are real: at least one tool fits before a ceiling is reached, and no ceiling is twice what is used."""
    head = _surface().prefix("default", "mcp")
    ceiling = _surface().policy.budget.head_bytes
    assert ceiling is not None
    assert len(head.data) < ceiling < 2 * len(head.data)
