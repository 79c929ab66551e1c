from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import make_manifest, make_policy
from toolroster.canonical import JsonObject, JsonValue
from toolroster.diagnostics import Anchor, Fault
from toolroster.policy import (
    Budget,
    Encoding,
    LifecycleState,
    list_builds,
    list_profiles,
    list_targets,
    parse_manifest,
    parse_policy,
    parse_waivers,
)
from toolroster.policy.profiles import find_budget, find_loading, find_mode, find_profile
from toolroster.policy.versions import is_plan, parse_plan, parse_version

HERE = Anchor("policy/x.toml")
ROW: JsonObject = {"name": "old", "replacement": "new", "first_deprecated_version": "1.0.0"}
WAIVER: JsonObject = {"rule": "TR501", "name": "old", "release": "1.0.0", "reason": "Nobody calls it."}


def policy_faults(**tables: JsonValue) -> tuple[Fault, ...]:
    """Return the faults of a policy with these tables; it has none but theirs."""
    policy, faults = parse_policy({"schema": 1, "version": "1.0.0", **tables}, HERE)
    assert (policy is None) is bool(faults)
    return faults


def only(faults: tuple[Fault, ...]) -> Fault:
    """Return the one fault."""
    (fault,) = faults
    return fault


# -------------------------------------------------------------------------------------------------- unknown keys


@pytest.mark.parametrize(
    ("tables", "pointer", "meant"),
    [
        ({"permission": {}}, ("permission",), "permissions"),
        ({"roster": {"actve": []}}, ("roster", "actve"), "active"),
        ({"roster": {"hidden_compatibility": []}}, ("roster", "hidden_compatibility"), "hidden-compatibility"),
        ({"defaults": {"plgin": "active"}}, ("defaults", "plgin"), "plugin"),
        ({"modes": {"plan": {"calable": []}}}, ("modes", "plan", "calable"), "callable"),
        ({"modes": {"plan": {"budget": {"head_tool": 1}}}}, ("modes", "plan", "budget", "head_tool"), "head_tools"),
        ({"providers": {"p": {"target": "mcp", "actives": []}}}, ("providers", "p", "actives"), "active"),
        (
            {"providers": {"p": {"target": "mcp", "budget": {"toolbytes": 1}}}},
            ("providers", "p", "budget", "toolbytes"),
            "tool_bytes",
        ),
        ({"encoding": {"wire_name": {}}}, ("encoding", "wire_name"), "wire_names"),
        ({"execution": {"paralel": []}}, ("execution", "paralel"), "parallel"),
        ({"budget": {"head-bytes": 1}}, ("budget", "head-bytes"), "head_bytes"),
        ({"permissions": {"denny": ["exec_*"]}}, ("permissions", "denny"), "deny"),
        ({"children": {"excludes": []}}, ("children", "excludes"), "exclude"),
    ],
)
@pytest.mark.case("TC-030")
def test_an_unknown_key_at_any_level_of_the_policy_is_refused_with_a_suggestion(
    tables: dict[str, JsonValue], pointer: tuple[str, ...], meant: str
) -> None:
    """TC-030: a misspelled key must not leave a rule out, so no policy is active."""
    fault = only(policy_faults(**tables))
    assert ("unknown-key", Anchor("policy/x.toml", pointer, "key")) == (fault.rule, fault.anchor)
    assert f"unknown key {pointer[-1]!r} (did you mean {meant!r}?)" in fault.message
    assert "" != fault.fix


MISSPELLED_MANIFESTS: list[tuple[JsonObject, tuple[str | int, ...], str]] = [
    ({"alais": []}, ("alais",), "alias"),
    ({"aliases": []}, ("aliases",), "alias"),
    ({"alias": [ROW, {**ROW, "nte": ""}]}, ("alias", 1, "nte"), "note"),
    ({"alias": [{**ROW, "arguments": {"renme": {}}}]}, ("alias", 0, "arguments", "renme"), "rename"),
    (
        {"tombstone": [{"name": "x", "removed_version": "1.0.0", "replacment": "y"}]},
        ("tombstone", 0, "replacment"),
        "replacement",
    ),
]


@pytest.mark.parametrize(("document", "pointer", "meant"), MISSPELLED_MANIFESTS)
def test_an_unknown_key_of_the_manifest_is_refused_with_a_suggestion(
    document: JsonObject, pointer: tuple[str | int, ...], meant: str
) -> None:
    """A row whose note or adapter is not read would promise what nobody keeps."""
    manifest, faults = parse_manifest(document, HERE)
    assert None is manifest
    assert ("unknown-key", Anchor("policy/x.toml", pointer, "key")) == (only(faults).rule, only(faults).anchor)
    assert f"(did you mean {meant!r}?)" in only(faults).message


def test_an_unknown_key_of_the_waivers_is_refused_with_a_suggestion() -> None:
    """A waiver that is wider than it reads hides findings."""
    waivers, faults = parse_waivers({"waiver": [{**WAIVER, "finger_print": "x"}]}, HERE)
    assert None is waivers
    assert ("waiver", 0, "finger_print") == only(faults).anchor.pointer
    assert "(did you mean 'fingerprint'?)" in only(faults).message


def test_an_unknown_key_that_resembles_nothing_has_no_suggestion() -> None:
    """A far-fetched guess would send the reader the wrong way."""
    assert "did you mean" not in only(policy_faults(zzz=1)).message


# ----------------------------------------------------------------------------------- missing keys, types, literals


def test_schema_and_version_must_be_said() -> None:
    """Design.md section 6: both stand in every roster file; an empty file is no policy."""
    policy, faults = parse_policy({}, HERE)
    assert None is policy
    assert ["missing-key", "missing-key"] == [fault.rule for fault in faults]
    assert [True, True] == ["'schema'" in faults[0].message, "'version'" in faults[1].message]


@pytest.mark.parametrize("document", [[], None, 3, "text", [{"schema": 1}]])
def test_a_document_that_is_no_table_is_refused(document: JsonValue) -> None:
    """Whatever a reader hands over, the answer is a fault."""
    for parse in (parse_policy, parse_manifest, parse_waivers):
        parsed, faults = parse(document, HERE)
        assert None is parsed
        assert ("invalid-value", HERE) == (only(faults).rule, only(faults).anchor)


def test_a_provider_must_say_its_target() -> None:
    """Goldens of a named provider are kept for its own target only, so it needs one."""
    fault = only(policy_faults(providers={"small": {}}))
    assert ("missing-key", ("providers", "small")) == (fault.rule, fault.anchor.pointer)
    assert "'target'" in fault.message


@pytest.mark.parametrize("key", ["name", "replacement", "first_deprecated_version"])
def test_an_alias_row_must_say_name_replacement_and_first_release(key: str) -> None:
    """Design.md section 6 marks none of the three as optional."""
    manifest, faults = parse_manifest({"alias": [{k: v for k, v in ROW.items() if k != key}]}, HERE)
    assert None is manifest
    assert ("missing-key", ("alias", 0)) == (only(faults).rule, only(faults).anchor.pointer)
    assert f"{key!r}" in only(faults).message


@pytest.mark.parametrize("key", ["name", "removed_version"])
def test_a_tombstone_must_say_name_and_release(key: str) -> None:
    """Replacement, first deprecation, planned removal and note are optional on a tombstone."""
    row: JsonObject = {"name": "gone", "removed_version": "1.0.0"}
    manifest, faults = parse_manifest({"tombstone": [{k: v for k, v in row.items() if k != key}]}, HERE)
    assert None is manifest
    assert ("missing-key", ("tombstone", 0)) == (only(faults).rule, only(faults).anchor.pointer)


@pytest.mark.parametrize(
    ("tables", "pointer"),
    [
        ({"roster": []}, ("roster",)),
        ({"roster": {"active": "read_file"}}, ("roster", "active")),
        ({"roster": {"active": ["a", 1]}}, ("roster", "active", 1)),
        ({"roster": {"removed": {"a": True}}}, ("roster", "removed")),
        ({"published": [1]}, ("published", 0)),
        ({"targets": "anthropic"}, ("targets",)),
        ({"modes": {"plan": []}}, ("modes", "plan")),
        ({"modes": {"plan": {"widens": True}}}, ("modes", "plan", "widens")),
        ({"budget": {"head_tools": 1.5}}, ("budget", "head_tools")),
        ({"budget": {"head_tools": True}}, ("budget", "head_tools")),
        ({"budget": {"head_bytes": "24_000"}}, ("budget", "head_bytes")),
        ({"budget": {"tool_bytes": -1}}, ("budget", "tool_bytes")),
        ({"encoding": {"wire_names": {"a": 1}}}, ("encoding", "wire_names", "a")),
        ({"permissions": {"deny": "exec_shell"}}, ("permissions", "deny")),
        ({"children": {"max_depth": -1}}, ("children", "max_depth")),
        ({"loading": "append"}, ("loading",)),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_where_it_stands(
    tables: dict[str, JsonValue], pointer: tuple[str | int, ...]
) -> None:
    """Nothing is coerced: `deny = "x"` is no list of one, and true is not 1."""
    fault = only(policy_faults(**tables))
    assert ("invalid-value", Anchor("policy/x.toml", pointer)) == (fault.rule, fault.anchor)


@pytest.mark.parametrize(
    ("tables", "pointer", "hint"),
    [
        ({"targets": ["mcp", "anthropc"]}, ("targets", 1), "'anthropic'"),
        ({"defaults": {"mcp": "defered"}}, ("defaults", "mcp"), "'deferred'"),
        ({"modes": {"plan": {"mcp": "acitve"}}}, ("modes", "plan", "mcp"), "'active'"),
        ({"providers": {"p": {"target": "openai"}}}, ("providers", "p", "target"), "'openai-chat'"),
        ({"encoding": {"property_order": "sort"}}, ("encoding", "property_order"), "'sorted'"),
        ({"loading": {"default": "apend"}}, ("loading", "default"), "'append'"),
    ],
)
def test_a_word_that_is_none_of_the_choices_is_refused_with_a_suggestion(
    tables: dict[str, JsonValue], pointer: tuple[str | int, ...], hint: str
) -> None:
    """A half-understood policy is not enforced, so it is not used at all."""
    fault = only(policy_faults(**tables))
    assert ("invalid-value", pointer) == (fault.rule, fault.anchor.pointer)
    assert f"did you mean {hint}?" in fault.message


def test_a_modes_mcp_state_has_no_error_choice() -> None:
    """`error` is a default for unlisted names; a mode that refuses its tools would have no head."""
    assert "invalid-value" == only(policy_faults(modes={"plan": {"mcp": "error"}})).rule


@pytest.mark.parametrize("part", ["", "Plan", "a_b", "-a", "a@b", "a+child", "a" * 33, "ä", "a\n"])
def test_a_profile_part_is_short_lower_case_and_dashed(part: str) -> None:
    """Design.md section 2: `[a-z0-9][a-z0-9-]{0,31}`; a part is a folder's name under goldens/."""
    assert "invalid-value" == only(policy_faults(modes={part: {}})).rule
    assert "invalid-value" == only(policy_faults(providers={part: {"target": "mcp"}})).rule
    assert () == policy_faults(modes={"a" * 32: {}, "0-": {}})


@pytest.mark.parametrize(
    "template", ["mcp__{server}", "", "{tool}{name}", "{tool}}", "{{tool}}", "{tool} {", "{ tool }", "{tool!r}"]
)
def test_a_name_template_must_hold_the_tool_and_no_other_placeholder(template: str) -> None:
    """Two tools of one server must get two names."""
    assert ("encoding", "mcp_name") == only(policy_faults(encoding={"mcp_name": template})).anchor.pointer


def test_several_faults_are_gathered_in_one_go() -> None:
    """TC-030: all three faults in one report."""
    faults = policy_faults(
        roster={"actve": [], "deferred": [1]},
        defaults={"mcp": "on"},
        providers={"p": {}},
        budget={"head_tools": "x"},
        version="soon",
        zzz=1,
    )
    assert {
        ("unknown-key", ("roster", "actve")),
        ("invalid-value", ("roster", "deferred", 0)),
        ("invalid-value", ("defaults", "mcp")),
        ("missing-key", ("providers", "p")),
        ("invalid-value", ("budget", "head_tools")),
        ("invalid-value", ("version",)),
        ("unknown-key", ("zzz",)),
    } == {(fault.rule, fault.anchor.pointer) for fault in faults}


def test_several_faults_of_a_manifest_are_gathered_in_one_go() -> None:
    """A reader mends the file once."""
    _, faults = parse_manifest(
        {
            "alias": [{"name": "a"}, {**ROW, "replay_supported": 1, "planned_removal_version": "soon"}],
            "tombstone": [{"name": "b", "removed_version": "never"}],
        },
        HERE,
    )
    assert [
        ("missing-key", ("alias", 0)),
        ("missing-key", ("alias", 0)),
        ("invalid-value", ("alias", 1, "planned_removal_version")),
        ("invalid-value", ("alias", 1, "replay_supported")),
        ("invalid-value", ("tombstone", 0, "removed_version")),
    ] == [(fault.rule, fault.anchor.pointer) for fault in faults]


# ------------------------------------------------------------------------------------------------ schema version


@pytest.mark.parametrize("number", [0, 2, -1, 2**63])
def test_an_unknown_schema_version_is_the_only_fault(number: int) -> None:
    """A newer format may mean something else by the same keys, so nothing else is judged."""
    policy, faults = parse_policy({"schema": number, "unheard": True}, HERE)
    assert None is policy
    assert ("unsupported-schema-version", ("schema",)) == (only(faults).rule, only(faults).anchor.pointer)


@pytest.mark.parametrize("value", [True, 1.0, "1", [1]])
def test_a_schema_version_is_an_integer(value: JsonValue) -> None:
    """True equals 1 in Python, and in no file."""
    policy, faults = parse_policy({"schema": value, "version": "1.0.0"}, HERE)
    assert None is policy
    assert ("invalid-value", ("schema",)) == (only(faults).rule, only(faults).anchor.pointer)


# ------------------------------------------------------------------------------------- the policy, once it is read


def test_a_policy_that_says_only_schema_and_version_has_the_stated_defaults() -> None:
    """Design.md section 6: missing sets are empty, and left-out targets are anthropic, openai-chat and mcp."""
    policy = make_policy()
    assert [] == list(policy.roster.entries())
    assert ("anthropic", "openai-chat", "mcp") == policy.targets
    assert ("error", "deferred", "deferred") == (
        policy.defaults.builtin,
        policy.defaults.mcp,
        policy.defaults.plugin,
    )
    assert ("declared", "mcp__{server}__{tool}") == (policy.encoding.property_order, policy.encoding.mcp_name)
    assert None is policy.children


def test_roster_entries_come_set_by_set_with_their_index() -> None:
    """An entry's place is its set and its index there; duplicates are the rules' business."""
    policy = make_policy(
        roster={"removed": ["r"], "hidden-compatibility": ["h"], "active": ["b", "a", "b"], "deferred": ["mcp__*"]}
    )
    assert [
        (LifecycleState.ACTIVE, 0, "b"),
        (LifecycleState.ACTIVE, 1, "a"),
        (LifecycleState.ACTIVE, 2, "b"),
        (LifecycleState.DEFERRED, 0, "mcp__*"),
        (LifecycleState.HIDDEN_COMPATIBILITY, 0, "h"),
        (LifecycleState.REMOVED, 0, "r"),
    ] == list(policy.roster.entries())


def test_a_policy_never_changes() -> None:
    """A surface is made by a policy and outlives its caller's second thoughts."""
    with pytest.raises(ValueError, match="frozen"):
        make_policy().version = "2.0.0"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("state", "visible", "dispatches"),
    [
        (LifecycleState.ACTIVE, True, True),
        (LifecycleState.DEFERRED, True, True),
        (LifecycleState.HIDDEN_COMPATIBILITY, False, True),
        (LifecycleState.DEPRECATED, False, True),
        (LifecycleState.REMOVED, False, False),
    ],
)
def test_the_five_states_say_what_the_table_says(state: LifecycleState, *, visible: bool, dispatches: bool) -> None:
    """Design.md section 2: the table of states is the product's constitution."""
    assert (visible, not visible, dispatches) == (state.is_visible, state.is_retired, state.dispatches)


def test_there_are_five_states_in_the_order_of_the_table() -> None:
    """Their values are the keys of `[roster]`."""
    assert ["active", "deferred", "hidden-compatibility", "deprecated", "removed"] == [str(s) for s in LifecycleState]


# ------------------------------------------------------------------------------------------------------ profiles


def test_profiles_are_modes_at_providers_with_default_first() -> None:
    """Design.md section 2: the mode `default` and one unnamed provider always exist."""
    assert ["default"] == [str(profile) for profile in list_profiles(make_policy())]
    policy = make_policy(
        modes={"yolo": {}, "plan": {}},
        providers={"small": {"target": "openai-chat"}, "big": {"target": "anthropic"}},
    )
    assert [
        "default",
        "default@big",
        "default@small",
        "plan",
        "plan@big",
        "plan@small",
        "yolo",
        "yolo@big",
        "yolo@small",
    ] == [str(profile) for profile in list_profiles(policy)]


def test_a_table_for_the_default_mode_makes_no_second_profile() -> None:
    """`[modes.default]` gives the mode that exists anyway its own settings."""
    policy = make_policy(modes={"default": {"callable": ["a"]}, "a": {}})
    assert ["default", "a"] == [str(profile) for profile in list_profiles(policy)]


def test_sub_agents_have_profiles_of_their_own_only_where_the_policy_says_so() -> None:
    """Design.md section 6: `[children]` adds the suffix `+child`."""
    policy = make_policy(modes={"plan": {}}, providers={"p": {"target": "mcp"}}, children={})
    assert [
        "default",
        "default@p",
        "plan",
        "plan@p",
        "default+child",
        "default@p+child",
        "plan+child",
        "plan@p+child",
    ] == [str(profile) for profile in list_profiles(policy)]


def test_a_profile_is_found_by_its_exact_name() -> None:
    """Names are never folded or guessed."""
    policy = make_policy(modes={"plan": {}}, children={})
    assert [True, True, False, False] == [
        find_profile(policy, name) is not None for name in ("plan", "plan+child", "Plan", "plan@")
    ]


def test_a_named_provider_has_its_own_target_only() -> None:
    """Design.md section 6: a named provider gets goldens for its own target only, in every mode."""
    policy = make_policy(
        targets=["openai-chat", "anthropic", "anthropic"],
        modes={"plan": {}},
        providers={"p": {"target": "mcp"}},
    )
    assert [("anthropic", "openai-chat"), ("mcp",), ("anthropic", "openai-chat"), ("mcp",)] == [
        list_targets(policy, profile) for profile in list_profiles(policy)
    ]
    assert [
        "default/anthropic",
        "default/openai-chat",
        "default@p/mcp",
        "plan/anthropic",
        "plan/openai-chat",
        "plan@p/mcp",
    ] == [f"{profile}/{target}" for profile, target in list_builds(policy)]


def test_a_mode_without_a_table_changes_nothing() -> None:
    """The default mode needs no table."""
    policy = make_policy(modes={"plan": {"callable": ["a"]}})
    plan = find_profile(policy, "plan")
    default = find_profile(policy, "default")
    assert plan is not None
    assert default is not None
    assert ("a",) == find_mode(policy, plan).callable
    assert (None, None, "") == (
        find_mode(policy, default).callable,
        find_mode(policy, default).mcp,
        find_mode(policy, default).widens,
    )


# ------------------------------------------------------------------------------------------- budgets and loading


def test_the_budget_of_a_provider_beats_the_modes_which_beats_the_general_one() -> None:
    """Design.md section 6: ceilings for each head, each stated where it differs."""
    policy = make_policy(
        budget={"head_tools": 20, "head_bytes": 24_000, "tool_bytes": 4_000},
        modes={"plan": {"budget": {"head_tools": 10, "head_bytes": 9_000}}},
        providers={"small": {"target": "mcp", "budget": {"head_tools": 5}}, "big": {"target": "mcp"}},
        children={},
    )
    expected = {
        "default": Budget(head_tools=20, head_bytes=24_000, tool_bytes=4_000),
        "default@big": Budget(head_tools=20, head_bytes=24_000, tool_bytes=4_000),
        "default@small": Budget(head_tools=5, head_bytes=24_000, tool_bytes=4_000),
        "plan": Budget(head_tools=10, head_bytes=9_000, tool_bytes=4_000),
        "plan@big": Budget(head_tools=10, head_bytes=9_000, tool_bytes=4_000),
        "plan@small": Budget(head_tools=5, head_bytes=9_000, tool_bytes=4_000),
    }
    own = [profile for profile in list_profiles(policy) if not profile.child]
    assert expected == {str(profile): find_budget(policy, profile) for profile in own}


def test_a_ceiling_that_nobody_states_does_not_hold() -> None:
    """A budget is a decision; none is made up. Zero is a ceiling too."""
    policy = make_policy(modes={"plan": {"budget": {"head_tools": 0}}})
    default, plan = list_profiles(policy)
    assert Budget() == find_budget(policy, default)
    assert Budget(head_tools=0) == find_budget(policy, plan)


def test_loading_is_the_profiles_own_choice_or_the_defaults_or_append() -> None:
    """Design.md section 6: `[loading]` names profiles; `append` is what it is without the table."""
    policy = make_policy(
        modes={"plan": {}},
        providers={"p": {"target": "anthropic"}},
        loading={"default": "bridge", "plan@p": "native"},
    )
    assert {"default": "bridge", "default@p": "bridge", "plan": "bridge", "plan@p": "native"} == {
        str(profile): find_loading(policy, profile) for profile in list_profiles(policy)
    }
    (default,) = list_profiles(make_policy())
    assert "append" == find_loading(make_policy(), default)


# ------------------------------------------------------------------------------------------------------ encoding


@pytest.mark.parametrize(
    ("template", "server", "tool", "name"),
    [
        ("mcp__{server}__{tool}", "notes", "list-tags", "mcp__notes__list-tags"),
        ("{tool}", "notes", "list", "list"),
        ("{server}-{tool}-x", "notes", "list", "notes-list-x"),
        ("{tool}.{server}.{tool}", "s", "t", "t.s.t"),
        ("mcp__{server}__{tool}", "{tool}", "{server}", "mcp__{tool}__{server}"),
    ],
)
def test_an_external_name_is_the_template_filled_in_once(template: str, server: str, tool: str, name: str) -> None:
    """What a server calls itself is data: a server named `{tool}` is not expanded again."""
    assert name == Encoding(mcp_name=template).name_external(server, tool)


@given(st.text(max_size=8), st.text(max_size=8))
def test_a_template_keeps_server_and_tool_letter_by_letter(server: str, tool: str) -> None:
    """Nothing is renamed silently: a bad letter is reported, not replaced."""
    assert f"a_{server}_{tool}" == Encoding(mcp_name="a_{server}_{tool}").name_external(server, tool)


def test_a_wire_name_is_the_one_given_or_the_name_itself() -> None:
    """Design.md section 6: wire names are explicit."""
    encoding = Encoding(wire_names={"web.run": "web_run"})
    assert ["web_run", "web_run", "Web.run"] == [encoding.wire_name(n) for n in ("web.run", "web_run", "Web.run")]


# ------------------------------------------------------------------------------------------------------ versions


@pytest.mark.parametrize("text", ["1", "0.9.1", "2026.1", "1.0.0rc1", "1.0.0.post2", "v1.2"])
def test_versions_are_read(text: str) -> None:
    """Source: PEP 440, through `packaging`."""
    assert None is not parse_version(text)


@pytest.mark.parametrize("text", ["", "soon", "1.x", "TBD", ">=1", "1,2", "latest"])
def test_other_texts_are_no_versions(text: str) -> None:
    """A release is named by a number that can be compared."""
    assert None is parse_version(text)


def test_versions_are_compared_as_numbers() -> None:
    """As text, 0.10.0 would stand before 0.9.0."""
    versions = [parse_version(text) for text in ("0.9.0", "0.10.0", "1.0.0rc1", "1.0.0")]
    assert versions == sorted(version for version in reversed(versions) if version is not None)


@pytest.mark.parametrize(
    ("text", "plan", "earliest"),
    [
        ("1.0", True, "1.0"),
        (">=0.9", True, "0.9"),
        (">= 0.9", True, "0.9"),
        ("TBD", True, None),
        ("tbd", False, None),
        (">=", False, None),
        (">=TBD", False, None),
        ("<2", False, None),
        ("soon", False, None),
        ("", False, None),
    ],
)
def test_a_planned_removal_is_a_version_a_lower_bound_or_to_be_decided(text: str, earliest: str | None, *, plan: bool) -> None:
    """Design.md section 6: a version, `">=0.9"`, or `"TBD"`."""
    assert plan is is_plan(text)
    assert (None if earliest is None else parse_version(earliest)) == parse_plan(text)


@pytest.mark.parametrize("tables", [{"version": "next"}, {"published": ["0.8", "next"]}])
def test_a_policys_releases_are_versions(tables: dict[str, JsonValue]) -> None:
    """The audit compares them."""
    fault = only(policy_faults(**tables))
    assert "invalid-value" == fault.rule
    assert "'next'" in fault.message


# ------------------------------------------------------------------------------------------ manifest and waivers


def test_a_manifest_keeps_its_rows_in_file_order_with_their_defaults() -> None:
    """Design.md section 6: an alias is kept, replays, and has no note unless its row says otherwise."""
    manifest = make_manifest(alias=[{**ROW, "name": "b"}, {**ROW, "name": "a"}])
    assert ["b", "a"] == [row.name for row in manifest.aliases]
    row = manifest.aliases[0]
    assert ("TBD", True, "", None) == (row.planned_removal_version, row.replay_supported, row.note, row.arguments)
    assert () == manifest.tombstones


def test_a_tombstone_keeps_what_had_been_announced() -> None:
    """Design.md section 6: replacement, first deprecation, planned removal and note are optional."""
    announced: JsonObject = {"first_deprecated_version": "0.8.0", "planned_removal_version": ">=0.9"}
    row = make_manifest(tombstone=[{"name": "x", "removed_version": "1.0.0", **announced}]).tombstones[0]
    assert ("0.8.0", ">=0.9") == (row.first_deprecated_version, row.planned_removal_version)
    for key in announced:
        _, faults = parse_manifest({"tombstone": [{"name": "x", "removed_version": "1.0.0", key: "soon"}]}, HERE)
        assert ("tombstone", 0, key) == only(faults).anchor.pointer


def test_published_releases_are_kept_as_they_are_written() -> None:
    """They name files under goldens/releases/."""
    assert ("0.8.53", "0.9") == make_policy(published=["0.8.53", "0.9"]).published


def test_an_adapter_takes_json_of_any_shape() -> None:
    """Legacy arguments are whatever the retired tool took."""
    manifest = make_manifest(
        alias=[
            {
                **ROW,
                "arguments": {
                    "rename": {"cmd": "command"},
                    "drop": ["verbose"],
                    "default": {"depth": [1, {"a": None}]},
                    "set": {"action": "read"},
                    "input_schema": {"type": "object"},
                },
            }
        ]
    )
    adapter = manifest.aliases[0].arguments
    assert adapter is not None
    assert ({"cmd": "command"}, ("verbose",)) == (adapter.rename, adapter.drop)
    assert ({"depth": [1, {"a": None}]}, {"action": "read"}) == (adapter.default, adapter.set)
    assert {"type": "object"} == adapter.input_schema


def test_a_manifests_document_reads_back_to_the_manifest() -> None:
    """A release freezes the document; nothing may be lost on the way."""
    manifest = make_manifest(
        alias=[{**ROW, "note": "n", "arguments": {"set": {"a": 1}}}],
        tombstone=[{"name": "gone", "removed_version": "1.0.0", "replacement": "new"}],
    )
    assert manifest == make_manifest(**manifest.document())
    assert ["alias", "tombstone"] == list(manifest.document())


def test_a_waiver_must_give_its_reason() -> None:
    """An exception without a reason is a finding that somebody switched off."""
    waivers, faults = parse_waivers({"waiver": [{**WAIVER, "reason": ""}, WAIVER]}, HERE)
    assert None is waivers
    assert ("waiver", 0, "reason") == only(faults).anchor.pointer
    waivers, faults = parse_waivers({"waiver": [WAIVER]}, HERE)
    assert () == faults
    assert waivers is not None
    assert ["old"] == [waiver.name for waiver in waivers.waivers]
