from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import define, make_manifest, make_policy
from toolroster import LifecycleState, Surface
from toolroster.canonical import JsonValue
from toolroster.policy import Manifest
from toolroster.policy.roster import Permissions
from toolroster.resolution import Permission, Resolution, Resolver, judge

MANIFEST = make_manifest(
    alias=[
        {"name": "swap_text", "replacement": "edit_text", "first_deprecated_version": "0.8", "note": "Use edit_text."},
        {"name": "change_text", "replacement": "edit_text", "first_deprecated_version": "0.9"},
        {"name": "find_in_files", "replacement": "grep_text", "first_deprecated_version": "0.9"},
    ],
    tombstone=[{"name": "old_tool", "removed_version": "0.9", "replacement": "grep_text", "note": "It is gone."}],
)
ROSTER: JsonValue = {
    "active": ["edit_text", "grep_text"],
    "deferred": ["web.run"],
    "hidden-compatibility": ["swap_text", "find_in_files"],
    "deprecated": ["change_text"],
    "removed": ["old_tool"],
}


def resolver(manifest: Manifest = MANIFEST, **tables: JsonValue) -> Resolver:
    """Return the resolver of three tools with three retired names and one tombstone, under these tables."""
    policy = make_policy(**{"roster": ROSTER, **tables})
    return Surface([define(name) for name in ("edit_text", "grep_text", "web.run")], policy, manifest).resolver


def decide(found: Resolution) -> tuple[str, str] | None:
    """Return the decision on a resolution and the entry that made it."""
    return (found.permission.decision, found.permission.rule) if found.permission is not None else None


def decisions(names: Sequence[str], **permissions: JsonValue) -> list[tuple[str, str] | None]:
    """Return what is decided on each of some names under these permissions."""
    under = resolver(permissions=permissions)
    return [decide(under.resolve(name)) for name in names]


# ---------------------------------------------------------------------------------------------- what a name means


def test_a_visible_name_resolves_to_itself() -> None:
    """Active and deferred tools run under their own names."""
    found = resolver().resolve("edit_text")
    assert ("edit_text", "edit_text", LifecycleState.ACTIVE) == (found.requested, found.canonical, found.state)
    assert (None, None) == (found.alias, found.tombstone)
    assert found.decided_by is not None
    assert ("roster", "active", 0) == found.decided_by.pointer
    assert LifecycleState.DEFERRED is resolver().resolve("web.run").state


@pytest.mark.parametrize(
    ("name", "canonical", "state"),
    [
        ("swap_text", "edit_text", LifecycleState.HIDDEN_COMPATIBILITY),
        ("find_in_files", "grep_text", LifecycleState.HIDDEN_COMPATIBILITY),
        ("change_text", "edit_text", LifecycleState.DEPRECATED),
    ],
)
def test_a_retired_name_resolves_to_its_replacement_with_its_row(name: str, canonical: str, state: LifecycleState) -> None:
    """Design.md section 2: hidden and deprecated names execute as their replacements."""
    found = resolver().resolve(name)
    assert (name, canonical, state) == (found.requested, found.canonical, found.state)
    assert found.alias is not None
    assert name == found.alias.name
    assert ("allow", "") == decide(found)


def test_a_removed_name_resolves_to_its_tombstone_and_runs_nothing() -> None:
    """Design.md section 2: a structured error with the tombstone, even where a replacement is named."""
    found = resolver().resolve("old_tool")
    assert (None, None, LifecycleState.REMOVED) == (found.canonical, found.permission, found.state)
    assert found.tombstone is not None
    assert ("grep_text", "It is gone.") == (found.tombstone.replacement, found.tombstone.note)


@pytest.mark.parametrize(
    "name",
    ["", "edit", "Edit_text", "EDIT_TEXT", "edit_text ", " edit_text", "edit-text", "edit_text\n", "\uff45dit_text", "*"],
)
def test_an_unknown_name_resolves_to_nothing_and_is_never_guessed(name: str) -> None:
    """Names are exact: not folded, trimmed or normalised; a guess would run a tool that nobody named."""
    assert Resolution(name, None, None, None) == resolver().resolve(name)


@pytest.mark.parametrize("state", ["hidden-compatibility", "deprecated"])
@pytest.mark.parametrize("replacement", ["zzz", "old_tool", "swap_text", "twin"])
def test_a_retired_name_whose_replacement_cant_be_seen_runs_nothing(state: str, replacement: str) -> None:
    """TC-033: chains, cycles and dangling rows are refused at check time; until they are mended, nothing runs."""
    manifest = make_manifest(
        alias=[
            {"name": "twin", "replacement": replacement, "first_deprecated_version": "0.9"},
            {"name": "swap_text", "replacement": "edit_text", "first_deprecated_version": "0.9"},
        ]
    )
    roster: JsonValue = {"active": ["edit_text"], "removed": ["old_tool"], "hidden-compatibility": ["swap_text"]}
    assert isinstance(roster, dict)
    listed = roster.get(state)
    roster[state] = [*(listed if isinstance(listed, list) else []), "twin"]
    found = resolver(manifest, roster=roster).resolve("twin")
    assert (None, None, LifecycleState(state)) == (found.canonical, found.permission, found.state)


def test_a_retired_name_without_a_row_runs_nothing() -> None:
    """Without a row nobody said what it means."""
    found = resolver(make_manifest()).resolve("swap_text")
    assert (None, None, LifecycleState.HIDDEN_COMPATIBILITY) == (found.canonical, found.permission, found.state)


def test_a_row_alone_retires_no_name() -> None:
    """Design.md section 2: the roster is the one place that says which state a name is in."""
    found = resolver(roster={"active": ["edit_text", "grep_text"], "deferred": ["web.run"]}).resolve("swap_text")
    assert (None, None) == (found.canonical, found.state)


# ----------------------------------------------------------------------------------------------------- wire names


def test_a_wire_name_resolves_to_the_tool_that_is_emitted_under_it() -> None:
    """Design.md section 6: the router takes both names."""
    under = resolver(encoding={"wire_names": {"web.run": "web_run"}})
    one, other = under.resolve("web.run"), under.resolve("web_run")
    assert ("web.run", "web.run", "web_run") == (one.canonical, other.canonical, other.requested)
    assert (one.state, one.decided_by, one.permission) == (other.state, other.decided_by, other.permission)


@pytest.mark.parametrize("permissions", [{"deny": ["web.run"]}, {"ask": ["web*"]}, {"allow": ["web.run"]}])
def test_a_call_by_wire_name_is_judged_as_one_by_canonical_name(permissions: JsonValue) -> None:
    """A rename for the wire opens no hole."""
    under = resolver(encoding={"wire_names": {"web.run": "web_run"}}, permissions=permissions)
    assert decide(under.resolve("web.run")) == decide(under.resolve("web_run"))
    assert None is not decide(under.resolve("web_run"))


def test_a_wire_name_never_takes_another_tools_name() -> None:
    """A surface with such a clash emits nothing; even so, a known name keeps its meaning."""
    under = resolver(encoding={"wire_names": {"web.run": "swap_text"}})
    assert "edit_text" == under.resolve("swap_text").canonical


def test_names_lists_everything_that_resolves_in_code_point_order() -> None:
    """Retired, removed and wire names included."""
    assert (
        "change_text",
        "edit_text",
        "find_in_files",
        "grep_text",
        "old_tool",
        "swap_text",
        "web.run",
        "web_run",
    ) == resolver(encoding={"wire_names": {"web.run": "web_run"}}).names()


def test_the_retired_names_of_a_tool_are_listed_in_code_point_order() -> None:
    """Removed names are not among them: they dispatch to nothing."""
    under = resolver()
    assert ("change_text", "swap_text") == under.retired_names("edit_text")
    assert ("find_in_files",) == under.retired_names("grep_text")
    assert () == under.retired_names("web.run")
    assert () == under.retired_names("zzz")


# ---------------------------------------------------------------------------------------------------- permissions


@pytest.mark.parametrize("entry", ["edit_text", "swap_text", "change_text", "*_text", "swap*"])
@pytest.mark.case("TC-027")
def test_a_deny_on_any_name_of_a_tool_denies_all_its_names(entry: str) -> None:
    """TC-027: the alias must not open the hole; the answer names the rule."""
    names = ["edit_text", "swap_text", "change_text"]
    assert [("deny", entry)] * 3 == decisions(names, deny=[entry])


@pytest.mark.case("TC-027")
def test_a_deny_on_one_tool_leaves_the_others_alone() -> None:
    """TC-027: `find_in_files` runs `grep_text`."""
    assert [("allow", ""), ("allow", "")] == decisions(["find_in_files", "grep_text"], deny=["edit_text"])


@pytest.mark.parametrize("entry", ["edit_text", "swap_text", "change_text"])
def test_an_ask_on_any_name_of_a_tool_asks_for_all_its_names(entry: str) -> None:
    """Design.md section 8: what holds for deny holds for ask, or a rename would skip the confirmation."""
    assert [("ask", entry)] * 3 == decisions(["edit_text", "swap_text", "change_text"], ask=[entry])


def test_an_allow_on_a_retired_name_admits_only_calls_by_that_name() -> None:
    """Design.md section 8: an allow on a legacy name admits only calls requested by that name."""
    names = ["swap_text", "edit_text", "change_text", "grep_text"]
    assert [("allow", "swap_text"), ("deny", ""), ("deny", ""), ("deny", "")] == decisions(names, allow=["swap_text"])


def test_an_allow_on_the_canonical_name_admits_all_its_names() -> None:
    """Old transcripts run on: the tool is the one that was allowed."""
    names = ["edit_text", "swap_text", "change_text", "find_in_files"]
    assert [("allow", "edit_text")] * 3 + [("deny", "")] == decisions(names, allow=["edit_text"])


def test_a_non_empty_allow_makes_the_default_deny() -> None:
    """Design.md section 6: deny > ask > allow > default."""
    assert [("allow", ""), ("deny", "")] == [
        *decisions(["edit_text"]),
        *decisions(["edit_text"], allow=["grep_text"]),
    ]


@pytest.mark.case("TC-028")
def test_deny_beats_ask_which_beats_allow() -> None:
    """TC-028: an allow-list must not shadow the deny-list."""
    both: dict[str, JsonValue] = {"allow": ["edit_text", "grep_text"], "ask": ["edit_text", "web.run"]}
    names = ["edit_text", "grep_text", "web.run"]
    assert [("ask", "edit_text"), ("allow", "grep_text"), ("ask", "web.run")] == decisions(names, **both)
    assert ("deny", "edit_text") == decisions(names, **both, deny=["edit_text"])[0]


def test_the_deciding_entry_is_placed() -> None:
    """`explain` shows the line that decided."""
    found = resolver(permissions={"deny": ["zzz", "swap_*"]}).resolve("edit_text").permission
    assert found is not None
    assert ("policy/roster.toml", ("permissions", "deny", 1)) == (found.anchor.path, found.anchor.pointer)
    default = resolver().resolve("edit_text").permission
    assert default is not None
    assert ("permissions",) == default.anchor.pointer


def test_permission_globs_are_case_sensitive_and_match_whole_names() -> None:
    """Names are never folded."""
    assert [("allow", ""), ("allow", "")] == decisions(["edit_text", "edit_text"], deny=["EDIT_TEXT", "dit_*"])


NAMES = ("edit_text", "swap_text", "change_text", "grep_text", "find_in_files")
ENTRIES = st.lists(st.sampled_from([*NAMES, "*", "*_text", "swap*", "nobody", "grep_*"]), max_size=5)
CLASSES = (("edit_text", ("swap_text", "change_text")), ("grep_text", ("find_in_files",)))


@given(ENTRIES, ENTRIES, ENTRIES, st.data())
@pytest.mark.case("TC-028")
def test_deny_wins_whatever_the_order_of_entries(
    deny: list[str], ask: list[str], allow: list[str], data: st.DataObject
) -> None:
    """TC-028: the same rules in another order decide the same, and one match of a deny denies the whole class."""
    shuffled = [data.draw(st.permutations(entries)) for entries in (deny, ask, allow)]
    one = Permissions(deny=tuple(deny), ask=tuple(ask), allow=tuple(allow))
    other = Permissions(deny=tuple(shuffled[0]), ask=tuple(shuffled[1]), allow=tuple(shuffled[2]))
    for canonical, retired in CLASSES:
        members = (canonical, *retired)
        denied = any(judge(Permissions(deny=tuple(deny)), name, name).decision == "deny" for name in members)
        asked = any(judge(Permissions(ask=tuple(ask)), name, name).decision == "ask" for name in members)
        for requested in members:
            found: Permission = judge(one, canonical, requested, retired)
            assert judge(other, canonical, requested, retired).decision == found.decision
            assert denied is (found.decision == "deny") or (not denied and not asked and bool(allow))
            if not denied:
                assert asked is (found.decision == "ask")


@given(ENTRIES, ENTRIES, ENTRIES, st.sampled_from(NAMES))
def test_one_more_deny_never_admits_anything(deny: list[str], ask: list[str], allow: list[str], more: str) -> None:
    """A rule that forbids can't widen what is permitted, for the tool it names or for any other."""
    before = Permissions(deny=tuple(deny), ask=tuple(ask), allow=tuple(allow))
    after = Permissions(deny=(more, *deny), ask=tuple(ask), allow=tuple(allow))
    for canonical, retired in CLASSES:
        for requested in (canonical, *retired):
            was = judge(before, canonical, requested, retired).decision
            now = judge(after, canonical, requested, retired).decision
            assert now in ("deny", was)
            assert ("deny" == now) is (was == "deny" or more in (canonical, *retired))
