"""TR1 but aliases and profiles: is every name in exactly one state, and does every entry of the roster mean something?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolroster.diagnostics import Anchor, Fault, Severity
from toolroster.names import explain_invalid_name
from toolroster.policy.states import LifecycleState
from toolroster.rules.facts import Facts
from toolroster.rules.registry import rule
from toolroster.tools import ToolDefinition

PORTABLE_LENGTH = 64
"""Source: OpenAI, Bedrock and DeepSeek references; read 2026-11. Anthropic takes 128."""


@rule("TR101", "name-in-two-states")
def name_in_two_states(facts: Facts) -> Iterable[Fault]:
    """A name stands in two of the roster's five sets.

    Why:
        A tool can't be shown and hidden at once; whichever set won would be an accident.

    Example:
        [roster]
        active = ["exec_shell", "exec_wait"]
        hidden-compatibility = ["exec_wait"]

    Fix:
        Delete the name from all sets but one.
    """
    return facts.found("name-in-two-states")


@rule("TR102", "state-for-unknown-tool")
def state_for_unknown_tool(facts: Facts) -> Iterable[Fault]:
    """A name is active or deferred, but no catalog file defines it.

    Why:
        A misspelled or stale entry is a tool that the model silently lost.

    Example:
        [roster]
        active = ["read_fil"]       # the tool is called read_file

    Fix:
        Correct the name, add its definition, or move it to a retired set with a manifest row.
    """
    return facts.found("state-for-unknown-tool")


@rule("TR103", "unclassified-tool")
def unclassified_tool(facts: Facts) -> Iterable[Fault]:
    """A defined tool is in none of the five sets, and `[defaults]` says that this is an error.

    Why:
        A new tool reaches models only by decision, never by being there. For built-ins `[defaults]` says `error` unless you
        change it; tools of servers and plugins are deferred.

    Example:
        [roster]
        active = ["read_file"]      # catalog/builtin/ has new_tool.json too

        [defaults]
        builtin = "error"

    Fix:
        Add the name to one set under [roster].
    """
    return facts.found("unclassified-tool")


@rule("TR104", "alias-shadows-tool")
def alias_shadows_tool(facts: Facts) -> Iterator[Fault]:
    """A manifest row retires a name that the roster still shows.

    Why:
        A call by that name would run the replacement instead of the tool that the model was shown.

    Example:
        # policy/roster.toml
        active = ["read_file"]

        # policy/manifest.toml
        [[alias]]
        name = "read_file"
        replacement = "open_file"

    Fix:
        Move the name to the set that fits the row, or delete the row.
    """
    if facts.manifest is None or facts.surface is None:
        return
    rows = [("alias", index, row.name) for index, row in enumerate(facts.manifest.aliases)]
    rows += [("tombstone", index, row.name) for index, row in enumerate(facts.manifest.tombstones)]
    for kind, index, name in rows:
        found = facts.surface.classified.get(name)
        if found is not None and found.state.is_visible:
            message = f"{name!r} has a row as {kind} but is {found.state.value}."
            yield Fault("alias-shadows-tool", message, Anchor("policy/manifest.toml", (kind, index, "name")))


@rule("TR107", "unportable-name")
def unportable_name(facts: Facts) -> Iterable[Fault]:
    """Two built-in names differ only in case, or a name is a device name on Windows.

    Why:
        Their files can't stand beside each other, or at all, on common file systems.

    Example:
        catalog/builtin/con.json
        catalog/builtin/Read_File.json and catalog/builtin/read_file.json

    Fix:
        Rename the tool and keep the old name as an alias.
    """
    return facts.found("unportable-name")


@rule("TR108", "entry-matches-nothing")
def entry_matches_nothing(facts: Facts) -> Iterable[Fault]:
    """A glob in the roster matches no external tool.

    Why:
        A stale or misspelled glob looks as if it decided something. Globs cover the tools of servers and plugins only;
        built-ins are listed one by one.

    Example:
        [roster]
        deferred = ["mcp__note__*"]     # the server is called notes

    Fix:
        Correct the glob, or delete it.
    """
    return facts.found("entry-matches-nothing")


@rule("TR109", "conflicting-globs")
def conflicting_globs(facts: Facts) -> Iterable[Fault]:
    """Two globs in different sets match one name.

    Why:
        Neither is more exact than the other, so the tool's state would hang on their order.

    Example:
        [roster]
        active = ["mcp__notes__*"]
        deferred = ["mcp__*__search"]   # both match mcp__notes__search

    Fix:
        List the name itself in one set; an exact entry beats every glob.
    """
    return facts.found("conflicting-globs")


@rule("TR110", "duplicate-entry")
def duplicate_entry(facts: Facts) -> Iterable[Fault]:
    """A set lists an entry twice.

    Why:
        Whoever deletes one of the two believes that the name is gone.

    Example:
        [roster]
        active = ["read_file", "write_file", "read_file"]

    Fix:
        Delete one of the two.
    """
    return facts.found("duplicate-entry")


@rule("TR111", "invalid-name")
def invalid_name(facts: Facts) -> Iterator[Fault]:
    r"""A name has a character outside A-Z a-z 0-9 _ . - or is longer than 128 characters.

    Why:
        Letters of other scripts, full-width forms and invisible characters make one name look like another. Nothing is
        ever normalised onto a good name.

    Example:
        [roster]
        active = ["list_us\u0435rs"]     # a Cyrillic letter

    Fix:
        Write the name in the characters allowed.
    """
    yield from facts.found("invalid-name")
    if facts.manifest is None:
        return
    rows = [("alias", index, row.name) for index, row in enumerate(facts.manifest.aliases)]
    rows += [("tombstone", index, row.name) for index, row in enumerate(facts.manifest.tombstones)]
    for kind, index, name in rows:
        if (reason := explain_invalid_name(name)) is not None:
            anchor = Anchor("policy/manifest.toml", (kind, index, "name"))
            yield Fault("invalid-name", f"{name!r} has a row as {kind} but is no tool name: {reason}.", anchor)


@rule("TR112", "reserved-name")
def reserved_name(facts: Facts) -> Iterable[Fault]:
    """A server, plugin or hosted tool takes the name of a built-in, of toolroster's own tools, or of an alias.

    Why:
        Whoever controls the server would get the calls that were meant for the trusted tool.

    Example:
        [encoding]
        mcp_name = "{tool}"     # and a server offers tool_search

    Fix:
        Keep the server's names apart with [encoding] mcp_name.
    """
    return facts.found("reserved-name")


@rule("TR113", "duplicate-tool-name")
def duplicate_tool_name(facts: Facts) -> Iterable[Fault]:
    """Two definitions have one canonical name.

    Why:
        Providers refuse the request, and no call could say which of the two it means. Neither is dropped silently.

    Example:
        [encoding]
        mcp_name = "{tool}"     # and two servers offer run_query

    Fix:
        Give each server's tools their own names with [encoding] mcp_name = "mcp__{server}__{tool}".
    """
    return facts.found("duplicate-tool-name")


@rule("TR114", "glob-in-retired-set")
def glob_in_retired_set(facts: Facts) -> Iterable[Fault]:
    """A retired set has a glob.

    Why:
        Each retired name is a promise with a manifest row of its own; a glob can't have one.

    Example:
        [roster]
        removed = ["mcp__old__*"]

    Fix:
        List the names one by one.
    """
    return facts.found("glob-in-retired-set")


@rule("TR115", "shared-implementation")
def shared_implementation(facts: Facts) -> Iterator[Fault]:
    """Two active names run one implementation.

    Why:
        The second name widens the model's choice by nothing, and weaker models waver between the two.

    Example:
        catalog/builtin/exec_shell_wait.json    "implementation": "handlers:exec_shell_wait"
        catalog/builtin/exec_wait.json          "implementation": "handlers:exec_shell_wait"
        policy/roster.toml                      active = ["exec_shell_wait", "exec_wait"]

    Fix:
        Keep one name active and move the other to hidden-compatibility with a manifest row.
    """
    active = [tool for tool in facts.visible() if _state(facts, tool) is LifecycleState.ACTIVE]
    first: dict[str, ToolDefinition] = {}
    for tool in active:
        if tool.implementation is not None:
            other = first.setdefault(tool.implementation, tool)
            if other is not tool:
                message = f"{other.name!r} and {tool.name!r} are both active and both run {tool.implementation!r}."
                yield Fault("shared-implementation", message, tool.anchor.at("implementation"))


@rule("TR116", "shared-niche", severity=Severity.WARNING)
def shared_niche(facts: Facts) -> Iterator[Fault]:
    """Two visible tools state one niche.

    Why:
        A definition's `niche` says in one line what only this tool is for. A tool that does nothing of its own is a
        candidate for retirement. Case and spaces don't count.

    Example:
        catalog/builtin/read_file.json    "niche": "Read one file."
        catalog/builtin/view_file.json    "niche": "Read one file."

    Fix:
        Retire one of the two, or say what each is for.
    """
    first: dict[str, ToolDefinition] = {}
    for tool in facts.visible():
        if tool.niche is not None:
            other = first.setdefault(" ".join(tool.niche.casefold().split()), tool)
            if other is not tool:
                message = f"{other.name!r} and {tool.name!r} state the same niche: {tool.niche!r}."
                yield Fault("shared-niche", message, tool.anchor.at("niche"))


@rule("TR122", "long-name", severity=Severity.WARNING)
def long_name(facts: Facts) -> Iterator[Fault]:
    """A visible tool would be emitted under a name of more than 64 characters.

    Why:
        Most providers take 64 characters at most and refuse the whole request for one longer name. A deferred tool brings the
        refusal in the middle of a conversation.

    Example:
        mcp__acme_internal_developer_platform_integration__search_product_documentation     (79 characters)

    Fix:
        Add a shorter name under [encoding] wire_names, or name the server shorter.
    """
    for tool in facts.visible():
        wire_name = facts.policy.encoding.wire_name(tool.name) if facts.policy is not None else tool.name
        if len(wire_name) > PORTABLE_LENGTH:
            message = (
                f"{tool.name!r} ({tool.origin}, raw name {tool.raw_name!r}) is emitted under a name of "
                f"{len(wire_name)} characters; most providers take {PORTABLE_LENGTH}."
            )
            yield Fault("long-name", message, tool.anchor.at("name"))


def _state(facts: Facts, tool: ToolDefinition) -> LifecycleState | None:
    return facts.surface.classified[tool.name].state if facts.surface is not None else None
